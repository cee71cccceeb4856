"""The base of sources that read a folder or a ZIP file: how images are named, matched and split, and which source
recognises a tree."""

from __future__ import annotations

import codecs
import itertools
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from ranking.core import Problem, Source
from ranking.core.settings import Settings, setting
from ranking.core.text import counted, listed, readable
from ranking.datasets.registry import SOURCES
from ranking.datasets.source_settings import seed_of_test, share_of_test
from ranking.datasets.splits import PART, PARTS, moved_whole, split_with_report
from ranking.files import FileTree, Unusable, open_tree
from ranking.files.files import IMAGE_SUFFIXES, image_name
from ranking.files.tree import parent, stem, suffix

# examples in a row that stands for many problems
SHOWN = 3


@dataclass(frozen=True)
class Recognised:
    """How certainly a source recognises a tree, the reason as a sentence, and the settings that fit the tree.

    sure: at least 0.9 if files begin as in this format only; 0.8 if their contents were read and fit; 0.4 for a layout
    that other formats have too, such as folders with images. The import form proposes the source with the highest
    value.
    """

    sure: float
    why: str
    settings: Settings = field(default_factory=dict)


@dataclass
class TreeSource(Source):
    """A format of folders and ZIP files. layout: what it reads, as text."""

    order: ClassVar[int] = 1
    layout: ClassVar[str]

    folder: str = setting(
        "",
        label="Folder or ZIP file",
        help="A folder or ZIP file on the computer that runs this app. Nothing outside it is read.",
    )
    split: str = setting(
        "as named",
        label="Split",
        help="Which images form the test split: those in files or folders named test, otherwise val; or a random share "
        "of all images.",
        choices={"as named": "from the names", "draw": "random"},
        advanced=True,
    )
    test_share: float = share_of_test(0.4, "The share of images in a random test split.", advanced=True)
    seed: int = seed_of_test()
    _split_from = ""
    # whether groups, which the user chose, override named parts
    _moves_groups: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def recognise(cls, tree: FileTree) -> Recognised | None:
        """Return how certainly this source recognises `tree`, and why; None if it does not."""

    def title(self) -> str:
        return readable(self._tree.parts[-1] if self._tree.parts else "") or self.name

    def split_from(self) -> str:
        """The origin of the split, as text, once `records` has yielded an image."""
        return self._split_from

    def columns(self) -> list[str]:
        """Return the column names of a table, whose roles the user can choose; [] for other formats."""
        return []

    def as_read(self) -> tuple[dict[str, str], str]:
        """Return the settings that name the columns of each role, and a sentence about them; InputError if the roles
        are unknown."""
        return {}, ""

    def _names_parts(self) -> str:
        """Return what names the parts of images, as text."""
        return "their folders or files"

    def _which_test(
        self, parts: Sequence[str | None], groups: Sequence[Sequence[str]] | None = None
    ) -> tuple[list[bool], list[Problem]]:
        """Return which images are test images, from the part of each; and a report row if the split is random.

        Test images are those of the part "test", if other parts exist too, otherwise those of "val". If neither gives a
        split, a random share of all images is held out; images with a common group stay together if there are enough
        groups.
        """
        named = set(parts)
        chosen = next((part for part in ("test", "val") if part in named and named != {part}), None)
        if self.split != "draw" and chosen is not None:
            tested = [part == chosen for part in parts]
            self._split_from = f"named {chosen} by {self._names_parts()}"
            if self._moves_groups and groups is not None:
                return moved_whole(tested, groups)
            return tested, list(_on_both_sides(tested, groups or []))
        why = (
            "by the setting Split" if self.split == "draw" else "because no file or folder names a test split"
        )
        self._split_from = f"{self.test_share:.0%} held out at random, seed {self.seed}, {why}"
        tested, rows = split_with_report(groups or [()] * len(parts), self.test_share, self.seed)
        if self.split == "draw":
            return tested, rows
        came = listed(sorted(part for part in named if part is not None)) or "none"
        done = f"{self.test_share:.0%} of {counted(len(parts), 'image')} held out at random, seed {self.seed}"
        return tested, [Problem("parts", "a training part and a test part", came, done), *rows]

    @cached_property
    def _tree(self) -> FileTree:
        return open_tree(self.folder, self.layout)

    def _shown_place(self) -> str:
        """Return the name of the folder or ZIP file in errors."""
        return readable(str(self._tree.place), 255)


def tree_sources() -> list[str]:
    """Return the names of the sources that read a folder or a ZIP file, in the order of the import form."""
    return [name for name in SOURCES.names() if issubclass(SOURCES.get(name), TreeSource)]


def detect(tree: FileTree) -> dict[str, Recognised]:
    """Return the sources that recognise `tree`, by name, the most certain first."""
    recognised = {}
    for source in SOURCES.names():
        kind = SOURCES.get(source)
        if issubclass(kind, TreeSource) and (answer := kind.recognise(tree)) is not None:
            recognised[source] = answer
    return dict(sorted(recognised.items(), key=lambda item: -item[1].sure))


def _on_both_sides(tested: Sequence[bool], groups: Sequence[Sequence[str]]) -> Iterator[Problem]:
    """Yield a report row if images of one group are in the training part and in the test part."""
    of_test = {group for of_image, test in zip(groups, tested, strict=False) if test for group in of_image}
    of_train = {
        group for of_image, test in zip(groups, tested, strict=False) if not test for group in of_image
    }
    if both := sorted(of_test & of_train):
        came = f"{counted(len(both), 'group')} on both: {listed(both)}"
        yield Problem(
            "groups",
            "a group on one side of the split",
            came,
            "kept as named; the setting Split can sample at random",
        )


@dataclass
class Grouped:
    """Report rows, grouped: one row per kind of problem, with the number of problems and the first examples."""

    _came: dict[tuple[str, str, str], list[str]] = field(default_factory=dict)
    _counts: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def add(self, file: str, expected: str, came: str, done: str) -> None:
        """Add a problem of `file`."""
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
        """Return the rows as one sentence."""
        return "; ".join(f"{row.file}: expected {row.expected}, got {row.came}" for row in self.rows())


def is_image(name: str) -> bool:
    """Return whether a file name has the suffix of an image format that can be decoded."""
    return suffix(name) in IMAGE_SUFFIXES


def display_names(names: Sequence[str]) -> dict[str, str]:
    """Return the display names of images, from their names in a tree: without common folders, and without suffix where
    names stay different.

    >>> display_names(["data/a.jpg", "data/b.png"]), display_names(["x/a.jpg", "y/a.jpg", "y/a.png"])
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
    """Return the innermost folder that contains all of those names.

    >>> shared_folder(["a/b/c.jpg", "a/b/d/e.jpg"]), shared_folder(["a", "ab"])
    ('a/b', '')
    """
    folders = [parent(name).split("/") for name in names]
    shared = itertools.takewhile(lambda parts: len(set(parts)) == 1, zip(*folders, strict=False))
    return "/".join(parts[0] for parts in shared)


def part_of(name: str) -> str | None:
    """Return the part of a data set that the folders of a file name: "train", "val", "test", or None.

    >>> part_of("images/val2017/1.jpg"), part_of("obj_train_data/1.jpg"), part_of("test.jpg")
    ('val', 'train', None)
    """
    for folder in reversed(parent(name).split("/")):
        matched = PART.fullmatch(folder.lower())
        if matched is not None and matched[1] in PARTS:
            return PARTS[matched[1]]
    return None


def part_of_annotations(name: str) -> str | None:
    """Return the same for an annotation file, whose own name may contain the part.

    >>> [part_of_annotations(name) for name in ("labels/instances_train2017.json", "valid/coco.json", "a.json")]
    ['train', 'val', None]
    """
    words = [PARTS[word] for word in re.findall("[a-z]+", stem(name).lower()) if word in PARTS]
    return words[-1] if words else part_of(name)


def beginning(tree: FileTree, ending: str, size: int, known: Callable[[bytes], object]) -> list[str]:
    """Return the files of a tree with that suffix whose first `size` bytes, without a byte order mark, are `known`."""
    names = []
    for name in tree.names:
        if suffix(name) == ending:
            try:
                head = tree.head(name, size)
            except Unusable:
                # the import reports the reason; here it is only not recognised
                continue
            if known(head.removeprefix(codecs.BOM_UTF8)):
                names.append(name)
    return names
