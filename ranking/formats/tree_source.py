"""What sources share that read a folder or a ZIP file: how images are named, matched and split; and which source reads
a tree."""

from __future__ import annotations

import codecs
import itertools
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from ranking.core import Problem, Source
from ranking.core.settings import setting
from ranking.core.text import counted, listed, readable
from ranking.datasets.registry import SOURCES
from ranking.datasets.source_settings import seed_of_test, share_of_test
from ranking.datasets.splits import PART, PARTS, drawn_with_report, moved_whole
from ranking.files import FileTree, Unusable, open_tree
from ranking.files.files import IMAGE_SUFFIXES, image_name
from ranking.files.tree import parent, stem, suffix

SHOWN = 3  # examples in a row that stands for many


@dataclass(frozen=True)
class Recognised:
    """How surely a source reads a tree, and why, in a sentence for a person; and the settings that fit the tree.

    sure: 0.9 or more where files begin as those of the format alone do; 0.8 where their contents were read and fit;
    0.4 for what many a set of another format has too, such as folders with images. The surest is what a person sees.
    """

    sure: float
    why: str
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass
class TreeSource(Source):
    """A format of folders and ZIP files. `expected`: what it reads, in words."""

    order: ClassVar[int] = 1
    expected: ClassVar[str]

    folder: str = setting(
        "",
        label="Folder or ZIP file",
        help="A folder or ZIP file on the computer that runs this app. Nothing outside of it is read.",
    )
    split: str = setting(
        "as named",
        label="Split",
        help="Which images test. As named: those in folders, or of files, that are called test, else val. Draw: some "
        "of all.",
        choices=("as named", "draw"),
        advanced=True,
    )
    test_share: float = share_of_test(
        0.4, "How many images are drawn for the test where none are named for it.", advanced=True
    )
    seed: int = seed_of_test()
    _split_from = ""
    _moves_groups: ClassVar[bool] = False  # whether groups, which a person chose, override named parts

    @classmethod
    @abstractmethod
    def recognise(cls, tree: FileTree) -> Recognised | None:
        """Whether this source reads `tree`, how surely, and why."""

    def title(self) -> str:
        return readable(self._tree.parts[-1] if self._tree.parts else "") or self.name

    def split_from(self) -> str:
        """Where the split comes from, in words, once `records` has yielded an image."""
        return self._split_from

    def columns(self) -> list[str]:
        """The names of the columns of a table, where a person may choose what each holds; [] of other formats."""
        return []

    def as_read(self) -> tuple[dict[str, str], str]:
        """The settings that name the columns as they are read, and the same in words; InputError where that is not
        known."""
        return {}, ""

    def _names_parts(self) -> str:
        """What names the parts of images, in words."""
        return "their folders or files"

    def _which_test(
        self, parts: Sequence[str | None], groups: Sequence[Sequence[str]] | None = None
    ) -> tuple[list[bool], list[Problem]]:
        """Which of the images test, by the part of each; and a row where that had to be drawn.

        Those of "test" do where others are there too, else those of "val"; where neither helps, a share of all, and
        of images that have a group of `groups` in common all or none, where there are groups enough.
        """
        named = set(parts)
        chosen = next((part for part in ("test", "val") if part in named and named != {part}), None)
        if self.split != "draw" and chosen is not None:
            tested = [part == chosen for part in parts]
            self._split_from = f"those named {chosen} by {self._names_parts()}"
            if self._moves_groups and groups is not None:
                return moved_whole(tested, groups)
            return tested, list(_on_both_sides(tested, groups or []))
        why = "by the setting Split" if self.split == "draw" else "because nothing names a part for the test"
        self._split_from = f"{self.test_share:.0%} drawn for the test, seed {self.seed}, {why}"
        tested, rows = drawn_with_report(groups or [()] * len(parts), self.test_share, self.seed)
        if self.split == "draw":
            return tested, rows
        came = listed(sorted(part for part in named if part is not None)) or "none"
        done = f"{self.test_share:.0%} of {counted(len(parts), 'image')} drawn for the test, seed {self.seed}"
        return tested, [Problem("parts", "a part for training and one for testing", came, done), *rows]

    @cached_property
    def _tree(self) -> FileTree:
        return open_tree(self.folder, self.expected)

    def _shown_place(self) -> str:
        """The folder or ZIP file, as errors name it."""
        return readable(str(self._tree.place), 255)


def tree_sources() -> list[str]:
    """The sources that read a folder or a ZIP file, in the order of the form."""
    return [name for name in SOURCES.names() if issubclass(SOURCES.get(name), TreeSource)]


def detect(tree: FileTree) -> dict[str, Recognised]:
    """What each source that recognises `tree` says of it, by name, the surest first."""
    recognised = {}
    for source in SOURCES.names():
        kind = SOURCES.get(source)
        if issubclass(kind, TreeSource) and (answer := kind.recognise(tree)) is not None:
            recognised[source] = answer
    return dict(sorted(recognised.items(), key=lambda item: -item[1].sure))


def _on_both_sides(tested: Sequence[bool], groups: Sequence[Sequence[str]]) -> Iterator[Problem]:
    """A row where images of one group are named for training and for the test."""
    of_test = {group for of_image, test in zip(groups, tested, strict=False) if test for group in of_image}
    of_train = {
        group for of_image, test in zip(groups, tested, strict=False) if not test for group in of_image
    }
    if both := sorted(of_test & of_train):
        came = f"{counted(len(both), 'group')} on both: {listed(both)}"
        yield Problem(
            "groups", "a group on one side of the split", came, "kept as named; the setting Split can draw"
        )


@dataclass
class Grouped:
    """Rows of the report, grouped: one for each kind of problem, with how many there are and the first of them."""

    _came: dict[tuple[str, str, str], list[str]] = field(default_factory=dict)
    _counts: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def add(self, file: str, expected: str, came: str, done: str) -> None:
        """One more thing of `file` of which something else was expected."""
        key = (file, expected, done)
        self._counts[key] = self._counts.get(key, 0) + 1
        examples = self._came.setdefault(key, [])
        if len(examples) < SHOWN:
            examples.append(readable(came))

    def rows(self) -> Iterator[Problem]:
        for key, examples in self._came.items():
            file, expected, done = key
            count, came = self._counts[key], "; ".join(examples)
            came = came if count == 1 else f"{count:,} times: {came}" + ("; ..." if count > SHOWN else "")
            yield Problem(file, expected, came, done)

    def reasons(self) -> str:
        """The rows in one sentence."""
        return "; ".join(f"{row.file}: expected {row.expected}, got {row.came}" for row in self.rows())


def is_image(name: str) -> bool:
    """Whether a file calls itself an image that can be decoded."""
    return suffix(name) in IMAGE_SUFFIXES


def called(names: Sequence[str]) -> dict[str, str]:
    """How the images of those names in a tree are called: without the folders that all share, and without ending
    where no two become one.

    >>> called(["data/a.jpg", "data/b.png"]), called(["x/a.jpg", "y/a.jpg", "y/a.png"])
    ({'data/a.jpg': 'a', 'data/b.png': 'b'}, {'x/a.jpg': 'x/a', 'y/a.jpg': 'y/a.jpg', 'y/a.png': 'y/a.png'})
    """
    start = len(shared_folder(names))
    counts = Counter(map(bare, names))
    return {
        name: image_name((bare(name) if counts[bare(name)] == 1 else name)[start:].lstrip("/"))
        for name in names
    }


def bare(name: str) -> str:
    """
    >>> bare("a.b/c.jpg")
    'a.b/c'
    """
    return name[: len(name) - len(suffix(name))]


def shared_folder(names: Sequence[str]) -> str:
    """The innermost folder that holds all of those names.

    >>> shared_folder(["a/b/c.jpg", "a/b/d/e.jpg"]), shared_folder(["a", "ab"])
    ('a/b', '')
    """
    folders = [parent(name).split("/") for name in names]
    shared = itertools.takewhile(lambda parts: len(set(parts)) == 1, zip(*folders, strict=False))
    return "/".join(parts[0] for parts in shared)


def part_of(name: str) -> str | None:
    """Which part of a set the folders of a file say it belongs to: "train", "val", "test", or None.

    >>> part_of("images/val2017/1.jpg"), part_of("obj_train_data/1.jpg"), part_of("test.jpg")
    ('val', 'train', None)
    """
    for folder in reversed(parent(name).split("/")):
        matched = PART.fullmatch(folder.lower())
        if matched is not None and matched[1] in PARTS:
            return PARTS[matched[1]]
    return None


def part_of_annotations(name: str) -> str | None:
    """The same of a file of annotations, whose own name may say it.

    >>> [part_of_annotations(name) for name in ("labels/instances_train2017.json", "valid/coco.json", "a.json")]
    ['train', 'val', None]
    """
    words = [PARTS[word] for word in re.findall("[a-z]+", stem(name).lower()) if word in PARTS]
    return words[-1] if words else part_of(name)


def beginning(tree: FileTree, ending: str, size: int, known: Callable[[bytes], object]) -> list[str]:
    """The files of a tree with that ending whose first `size` bytes, without a mark of UTF-8, are `known`."""
    names = []
    for name in tree.names:
        if suffix(name) == ending:
            try:
                head = tree.head(name, size)
            except Unusable:  # the import reports why; here it is only not recognised
                continue
            if known(head.removeprefix(codecs.BOM_UTF8)):
                names.append(name)
    return names
