"""The base of sources that read a folder or a ZIP file: how images are named, matched and split, and which source
recognises a tree."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from ranking.core import Decision, Problem, Source, SourceImage
from ranking.core.errors import InputError
from ranking.core.settings import Settings, setting
from ranking.core.text import counted, listed, readable
from ranking.datasets.registry import SOURCES
from ranking.datasets.source_settings import seed_of_test, share_of_test
from ranking.datasets.splits import moved_whole, part_word, split_with_report
from ranking.files import FileInTree, FileTree, open_tree
from ranking.files.archive_names import AS_FOUND, ENCODINGS
from ranking.files.tree import base, stem, suffix
from ranking.formats.column_names import is_numbered_split
from ranking.formats.file_beginnings import tool_formats
from ranking.formats.file_names import is_image, mask_words, shared_folder
from ranking.formats.image_names import ImageNames
from ranking.formats.split_lists import (
    MAX_LISTS,
    MAY_SPLIT,
    SUFFIXES,
    SplitLists,
    lines_of,
    names_split,
    split_lists,
)

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


# files without labels, which are left out without a row of the report
NO_DATA = (
    ".md", ".rst", ".html", ".htm", ".pdf", ".py", ".ipynb", ".sh", ".bat", ".log", ".cfg", ".toml", ".lock", ".bib",
)  # fmt: skip
# the values of the setting Split, beside random
FOUND, STATED, LISTS, FOLDERS, RANDOM = "as found", "annotations", "lists", "folders", "random"


@dataclass
class TreeSource(Source):
    """A format of folders and archives. layout: what it reads, as text.

    A format yields its images and problems in `_records`; this class adds the rows of the tree, and one for each kind
    of file that the format has not opened.
    """

    order: ClassVar[int] = 1
    layout: ClassVar[str]
    path_setting: ClassVar[str] = "folder"

    folder: str = setting(
        "",
        label="Folder or archive",
        help="A folder or an archive on the computer that runs this app. Nothing outside it is read.",
    )
    split: str = setting(
        FOUND,
        label="Split",
        help="What states the split: the annotations, lists such as test.txt, or folders; or a random share of the "
        "images is held out. If no image is named test, those named val form the test split.",
        choices=(FOUND, STATED, LISTS, FOLDERS, RANDOM),
        advanced=True,
    )
    lists: str = setting(
        "",
        label="Set of lists",
        help="Which lists state the split, if several sets of lists state different ones, such as train_1.txt and "
        "test_1.txt, train_2.txt and test_2.txt: what the names of the set have in common. Empty: you are asked.",
        advanced=True,
    )
    name_encoding: str = setting(
        AS_FOUND,
        label="Encoding of file names",
        help="The encoding of file names in an archive that does not state it.",
        choices=(AS_FOUND, *ENCODINGS),
        advanced=True,
    )
    test_share: float = share_of_test(0.4, "The share of images in a random test split.", advanced=True)
    seed: int = seed_of_test()

    @classmethod
    @abstractmethod
    def recognise(cls, tree: FileTree) -> Recognised | None:
        """Return how certainly this source recognises `tree`, and why; None if it does not."""

    @abstractmethod
    def _records(self) -> Iterator[SourceImage | Problem]:
        """Yield the images, and the problems of the annotations."""

    def records(self) -> Iterator[SourceImage | Problem]:
        yield from self._tree.problems
        for item in self._records():
            file = item.data if isinstance(item, SourceImage) else None
            if not isinstance(file, FileInTree) or file.name not in self._unlisted:
                yield item
        yield from self._left_out()

    def decisions(self) -> list[Decision]:
        return [*self._tree.decisions, *self._decided.values(), *self._index.decisions()]

    def title(self) -> str:
        return readable(self._tree.parts[-1] if self._tree.parts else "") or self.name

    def _decide(self, decision: Decision) -> None:
        """Add a decision, or replace the one about the same thing."""
        self._decided[decision.about] = decision

    def _left_out(self) -> Iterator[Problem]:
        """Yield report rows about files that were not opened; those without labels are a decision."""
        yield from tool_formats(self._tree, self._unopened)
        images = list(filter(is_image, self._unopened))
        others = [name for name in self._unopened if not is_image(name)]
        texts = list(filter(has_no_data, others))
        files = [name for name in others if not has_no_data(name)]
        kinds: dict[str, list[str]] = {}
        for name in images:
            kind = self._in_list.get(name, " in folders of masks" if mask_words(name) else "")
            kinds.setdefault(kind, []).append(name)
        for kind, some in sorted(kinds.items()):
            count = counted(len(some), "image") + kind
            yield Problem(count, self._needs, f"none for {self._listed(some)}", f"{count} ignored")
        if texts:
            self._decide(Decision("other files", "not read", f"{_kinds(texts)}: {self._listed(texts)}"))
        if files:
            yield Problem(
                f"files: {_kinds(files)}",
                f"only files that the format {self.name} reads",
                self._listed(files),
                "not read",
            )

    @property
    def _unopened(self) -> list[str]:
        return [name for name in self._tree.names if name not in self._tree.opened]

    def _listed(self, names: Sequence[str]) -> str:
        """Return names of files without the folder that contains all."""
        top = len(shared_folder(self._tree.names))
        return listed([readable(name[top:].lstrip("/"), 255) for name in names])

    def _which_test(
        self,
        names: Sequence[str],
        stated: Sequence[str | None] = (),
        stated_by: str = "",
        groups: Sequence[Sequence[str]] = (),
        moves_groups: bool = False,
        are_kept: Sequence[bool] = (),
    ) -> tuple[list[bool], list[Problem]]:
        """Return which images are test images; and report rows.

        names: of the images in the tree. stated: the part of each by the annotations, which `stated_by` names. Test
        images are those of the part "test", if other parts exist too, otherwise those of "val": by the annotations, by
        lists, or by folders, whichever gives a split first. If none does, a random share of all images is held out;
        images with a common group stay together if there are enough groups. moves_groups: whether groups, which
        the user chose, override named parts. are_kept: which images have labels, if some have none; only
        these state which part is the test split.
        """
        are_kept = are_kept or [True] * len(names)
        lists = split_lists(self._tree, self._index, self.lists)
        of_list = {part: f" of {lists.of(part)}" for part in set(lists.parts.values())}
        self._in_list.update({name: of_list[part] for name, part in lists.parts.items()})
        found = {
            STATED: (stated_by, stated),
            LISTS: (lists.in_words(), [lists.parts.get(name) for name in names]),
            FOLDERS: ("folders", list(map(self._index.part_of, names))),
        }
        tests = {
            way: test for way, (_, parts) in found.items() if (test := _tested(parts, are_kept)) is not None
        }
        way = next(iter(tests), RANDOM) if self.split == FOUND else self.split
        if way not in (RANDOM, *tests):
            expected = f"one that states a test split: {', '.join([*tests, RANDOM])}"
            raise InputError("split", expected, way)
        if way not in tests:
            tested, rows = split_with_report(groups or [()] * len(names), self.test_share, self.seed)
            count = counted(len(names), "image")
            evidence = f"{self.test_share:.0%} of {count} held out at random, seed {self.seed}"
            if self.split != RANDOM:
                named = {part for _, parts in found.values() for part in parts if part is not None}
                without = Counter(of_list[lists.parts[name]] for name in lists.parts.keys() - set(names))
                unread = listed([counted(number, "image") + kind for kind, number in sorted(without.items())])
                row, why = self._without_split(listed(sorted(named)), unread, evidence)
                rows, evidence = [row, *rows], f"{evidence}, because {why}"
            self._decide_split(tested, RANDOM, evidence, list(tests))
            return tested, rows
        (by, parts), tested = found[way], tests[way]
        evidence = f"stated by {by} for {counted(sum(part is not None for part in parts), 'image')}"
        differ = [other for other in tests if tests[other] != tested]
        evidence += f"; another test split is stated by {found[differ[0]][0]}" if differ else ""
        kept = [part for part, is_kept in zip(parts, are_kept, strict=True) if is_kept]
        if {"test", "val"} <= set(kept):
            count = counted(kept.count("val"), "image")
            said = f"{count} named val by {by}, beside {kept.count('test'):,} named test"
            self._decide(Decision("validation images", "training images", said))
        is_open = self.split == FOUND and (bool(differ) or (way == LISTS and lists.is_open))
        self._decide_split(
            tested, way, evidence, [*(other for other in tests if other != way), RANDOM], is_open
        )
        rows = self._rows_of(lists) if way == LISTS else []
        if way == LISTS and "train" in parts:
            rows += self._leave_out([name for name, part in zip(names, parts, strict=True) if part is None])
        if moves_groups:
            tested, more = moved_whole(tested, groups)
            return tested, [*rows, *more]
        return tested, [*rows, *_on_both_sides(tested, groups)]

    def _rows_of(self, lists: SplitLists) -> list[Problem]:
        """Return report rows about lists that state the split, and decide between sets of them."""
        if lists.sets:
            name, *others = lists.sets
            evidence = f"{counted(len(lists.sets), 'set')} of lists state different test images"
            is_open = name != self.lists
            self._decide(Decision("set of lists", name, evidence, "lists", name, tuple(others), is_open))
        return list(lists.rows())

    def _without_split(self, named: str, ignored: str, held: str) -> tuple[Problem, str]:
        """Return the report row about a random split that nobody chose, and why it is random. named: the parts.
        ignored: the images of lists that are not read."""
        unread = [
            name
            for name in self._tree.names
            if suffix(name) in MAY_SPLIT and name not in self._tree.opened
            if names_split(name) or is_numbered_split(stem(name))
        ]
        texts = [name for name in self._unopened if suffix(name) in SUFFIXES and not has_no_data(name)]
        # a header such as Train/Val/Test; of many texts, the uppermost are looked at
        for name in sorted(texts, key=lambda name: name.count("/"))[:MAX_LISTS]:
            head = " ".join(lines_of(self._tree, name)[:1])
            if name not in unread and {"train", "test"} <= set(
                map(part_word, head.replace("/", " ").split())
            ):
                unread.append(name)
        if not unread:
            why = f"the files name only {named}" if named else "nothing states a split"
            came = f"only {named}" if named else "no split"
            if ignored:
                why = f"{f'all images that are read are {named}' if named else why}; not read: {ignored}"
            return Problem("test split", "training and test images", came, held), why
        for name in unread:
            self._tree.note_opened(name)
        shown = listed([readable(name) for name in unread])
        expected = "text files of training or test images, with one name per line"
        why = f"{shown} may state a split, but cannot be read as lists of images"
        return Problem("split", expected, shown, "not read; the split is random"), why

    def _leave_out(self, names: Sequence[str]) -> Iterator[Problem]:
        """Leave out images that no list names, where lists name the images of each part; yield a report row."""
        self._unlisted.update(self._tree.file(name).name for name in names)
        if names:
            came = f"in no list: {self._listed(names)}"
            yield Problem(counted(len(names), "image"), "every image in a list of the split", came, "ignored")

    def _decide_split(
        self,
        tested: Sequence[bool],
        way: str,
        evidence: str,
        others: Sequence[str],
        is_open: bool = False,
    ) -> None:
        chosen = f"{sum(tested):,} of {counted(len(tested), 'image')} for testing"
        self._decide(Decision("split", chosen, evidence, "split", way, tuple(others), is_open))

    # what an image needs, in the report row about images without it
    _needs: ClassVar[str] = "annotations for every image"

    @cached_property
    def _decided(self) -> dict[str, Decision]:
        return {}

    @cached_property
    def _in_list(self) -> dict[str, str]:
        """The images that lists name, and of which list, in words."""
        return {}

    @cached_property
    def _unlisted(self) -> set[str]:
        return set()

    @cached_property
    def _tree(self) -> FileTree:
        return open_tree(self.folder, self.layout, self.name_encoding)

    @cached_property
    def _index(self) -> ImageNames:
        return ImageNames(self._tree)

    def _shown_place(self) -> str:
        """Return the name of the folder or archive in errors."""
        return readable(str(self._tree.place), 255)


def _kinds(names: Sequence[str]) -> str:
    endings = Counter(suffix(name) or "without a suffix" for name in names).most_common()
    return listed([f"{count:,} {readable(ending, 20)}" for ending, count in endings], 8)


def has_no_data(name: str) -> bool:
    """Return whether a file is known to have no labels."""
    last = base(name).lower()
    return suffix(name) in NO_DATA or last.startswith(("readme", "license"))


def _tested(parts: Sequence[str | None], are_kept: Sequence[bool]) -> list[bool] | None:
    """Return which images have the part "test", or else "val", if others have another part; None if that is no
    split. are_kept: which images count."""
    named = {part for part, is_kept in zip(parts, are_kept, strict=False) if is_kept}
    chosen = next((part for part in ("test", "val") if part in named and named != {part}), None)
    return None if chosen is None else [part == chosen for part in parts]


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
    sides: dict[str, set[bool]] = {}
    for of_image, test in zip(groups, tested, strict=False):
        for group in of_image:
            sides.setdefault(group, set()).add(test)
    if both := sorted(group for group, of_group in sides.items() if len(of_group) == 2):
        came = f"{counted(len(both), 'group')} on both sides: {listed(both)}"
        done = "kept as stated; the setting Split offers a random split"
        yield Problem("groups", "each group on one side of the split", came, done)


@dataclass
class Grouped:
    """Report rows, grouped: one row per kind of problem, with the number of problems and the first examples."""

    _came: dict[tuple[str, str, str], list[str]] = field(default_factory=dict)

    def add(self, file: str, expected: str, came: str, done: str) -> None:
        """Add a problem of `file`."""
        examples = self._came.setdefault((file, expected, done), [])
        examples.append(readable(came) if len(examples) < SHOWN else "")

    def rows(self) -> Iterator[Problem]:
        for (file, expected, done), examples in self._came.items():
            came, count = "; ".join(examples[:SHOWN]), len(examples)
            came = came if count == 1 else f"{count:,} times: {came}" + ("; ..." if count > SHOWN else "")
            yield Problem(file, expected, came, done)

    def reasons(self) -> str:
        """Return the rows as one sentence."""
        return "; ".join(f"{row.file}: expected {row.expected}, got {row.came}" for row in self.rows())
