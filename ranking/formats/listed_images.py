"""The base of formats whose files list images with their boxes: one file for many images, or one for each."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from ranking.core import Decision, Problem, SourceBox, SourceImage
from ranking.core.errors import InputError
from ranking.core.text import counted, listed, readable
from ranking.datasets.source_settings import COPIES, group_of, group_of_images
from ranking.files import FileTree, Limits, Unusable
from ranking.files.tree import parent
from ranking.formats.file_names import display_names, is_image, part_of_annotations
from ranking.formats.json_file import read_json
from ranking.formats.split_lists import SplitLists, joined
from ranking.formats.tree_source import SHOWN, STATED, Grouped, Recognised, TreeSource

HEAD = 4096
LEFT_OUT, IMAGE_LEFT_OUT = "annotation ignored", "image ignored"


class Entry(NamedTuple):
    """What a file says about an image. image: its name there. size, upright: as in `SourceImage`. part: of the data
    set, if the file or the entry states it."""

    file: str
    image: str
    boxes: tuple[SourceBox, ...]
    size: tuple[int, int] | None = None
    part: str | None = None
    group: str | None = None
    upright: bool | None = None


@dataclass
class ListedImages(TreeSource):
    """A format yields the entries of each file in `_entries`, and may read them otherwise in `_interpreted` when all
    are known. This class finds their images, joins the entries of one image, and splits by the parts of the files.

    kind: what such files are called. sure: as in `Recognised`.
    """

    kind: ClassVar[str]
    sure: ClassVar[float] = 0.9
    _needs: ClassVar[str] = "an entry for every image"

    group: str = group_of_images()

    @classmethod
    @abstractmethod
    def files(cls, tree: FileTree) -> list[str]:
        """Return the files of a tree in this format."""

    @abstractmethod
    def _entries(self, root: Any, file: str) -> Iterator[Entry]:
        """Yield the entries of a file with the content `root`, and report its problems; Unusable if it has another
        format."""

    def _interpreted(self, entries: list[Entry]) -> list[Entry]:
        """Leave out annotations without a box, except where no annotation, or none of a file of several images, has
        one: then they are of the whole image."""
        boxed = {entry.file for entry in entries for box in entry.boxes if box.box}
        bare = Counter(entry.file for entry in entries for box in entry.boxes if not box.box)
        several = Counter(entry.file for entry in entries if entry.boxes)
        self._labelled.update(file for file in bare.keys() - boxed if not boxed or several[file] > 1)
        if self._labelled:
            count = counted(sum(bare[file] for file in self._labelled), "annotation")
            of = readable(f"none of {count} in {listed(sorted(self._labelled))}")
            self._decide(Decision("boxes", "whole images", f"{of} has a box or an outline"))
        for entry in entries:
            for box in entry.boxes if entry.file not in self._labelled else ():
                if not box.box:
                    came = f"{entry.image}, annotation {box.number}: none"
                    self._report(entry.file, "a box, as other annotations have", came, LEFT_OUT)
        return [entry if entry.file in self._labelled else _without_labels(entry) for entry in entries]

    def _with_boxes(self, entries: list[Entry]) -> list[Entry]:
        """Leave out the labels of a whole image where another file has boxes, and report those that no box has."""
        known = {name for entry in entries for box in entry.boxes if box.box for name in box.classes}
        labels = [entry for entry in entries if known and entry.file in self._labelled]
        for entry in labels:
            if lost := [name for box in entry.boxes for name in box.classes if name not in known]:
                came = f"{entry.image}: {listed(lost)}"
                self._report(entry.file, "a box, as other labels of the image have", came, LEFT_OUT)
        return [_without_labels(entry) if entry in labels else entry for entry in entries]

    @cached_property
    def _labelled(self) -> set[str]:
        """The files without boxes, whose annotations are of whole images."""
        return set()

    def _by_mark(
        self,
        entries: list[Entry],
        mark: str,
        is_marked: Callable[[SourceBox], bool],
        setting: str,
        keep: bool,
    ) -> list[Entry]:
        """Keep or leave out the boxes that have a mark, and report it. setting: it decides."""
        marks = [is_marked(box) for entry in entries for box in entry.boxes]
        if not any(marks):
            return entries
        now, other, done = ("keep", "leave out", "kept") if keep else ("leave out", "keep", "ignored")
        evidence = f"{mark} is 1 for {sum(marks):,} of {counted(len(marks), 'box')}"
        self._decide(Decision(f"boxes with {mark}", done, evidence, setting, now, (other,)))
        if all(marks) and not keep:
            raise InputError(self._shown_place(), f"boxes without {mark}", evidence, f"set {setting} to keep")
        self._problems.add(counted(sum(marks), "box"), f"boxes without {mark}", f"{mark} 1", done)
        return changed(entries, lambda box: box if keep or not is_marked(box) else None)

    def _join_equal(self, names: Mapping[Any, str], file: str) -> None:
        """Decide that numbers with the same name are one class. names: by number, in a file."""
        numbers: dict[str, list[str]] = {}
        for number, name in names.items():
            numbers.setdefault(name, []).append(str(number))
        if equal := [f"{name} is {' and '.join(some)}" for name, some in numbers.items() if len(some) > 1]:
            evidence = f"in {readable(file)}, numbers have the same name: {listed(equal)}"
            self._decide(Decision("classes with the same name", "one class", evidence))

    def _content(self, file: str) -> Any:
        return read_json(self._tree, file, Limits.from_environment())

    def _image_of(self, entry: Entry) -> str:
        """Return the name in the tree of the image of an entry; Unusable if there is none."""
        return self._index.find(entry.image, parent(entry.file), part_of_annotations(entry.file))

    @classmethod
    def recognise(cls, tree: FileTree) -> Recognised | None:
        """Recognise files that begin as in this format; without images, the import says so."""
        files, images = cls.files(tree), sum(map(is_image, tree.names))
        if not files:
            return None
        begin = "begins" if len(files) == 1 else "begin"
        shown = listed([readable(name) for name in files])
        return Recognised(
            cls.sure, f"{shown} {begin} like {cls.kind}, and there are {counted(images, 'image')}"
        )

    def __len__(self) -> int:
        return len(self._images)

    def _records(self) -> Iterator[SourceImage | Problem]:
        images, lists = self._images, self._lists
        yield from self._problems.rows()
        shown = self._shown(list(images))
        groups = {
            name: entry.group or group_of(f"{shown[name]}.jpg", self.group) for name, entry in images.items()
        }
        # a box may have a group of its own
        units = [
            sorted({group for box in entry.boxes or [None] if (group := (box and box.group) or groups[name])})
            for name, entry in images.items()
        ]
        parts = [lists.parts.get(name) or self._index.part_of(name) for name in images] if lists.parts else []
        chosen = self.group != COPIES
        kept = [bool(entry.boxes) for entry in images.values()]
        tested, rows = self._which_test(
            list(images), parts, lists.in_words(), units, moves_groups=chosen, are_kept=kept
        )
        if self._decided["split"].value == STATED:
            yield from self._rows_of(lists)
        yield from rows
        for (name, entry), test in zip(images.items(), tested, strict=True):
            boxes = entry.boxes
            if groups[name]:
                boxes = tuple(replace(box, group=box.group or groups[name]) for box in boxes)
            data = self._tree.file(name)
            yield SourceImage(shown[name], data, boxes, test, entry.size, upright=entry.upright)

    def _shown(self, names: list[str]) -> dict[str, str]:
        """Return the display names of images."""
        return display_names(names)

    def _report(self, file: str, expected: str, came: str, done: str) -> None:
        """Add a problem of a file; those of many files are counted together."""
        shown = readable(file, 255)
        if len(self._files) > SHOWN:
            shown, came = "annotations", f"{file}: {came}"
        self._problems.add(shown, expected, came, done)

    @cached_property
    def _problems(self) -> Grouped:
        return Grouped()

    @cached_property
    def _files(self) -> list[str]:
        return self.files(self._tree)

    @cached_property
    def _all_entries(self) -> list[Entry]:
        """The entries of all files; a file that cannot be read becomes a report row."""
        if not self._files:
            raise InputError(self._shown_place(), self.layout, "no such file")
        entries: list[Entry] = []
        for file in self._files:
            try:
                entries.extend(self._entries(self._content(file), file))
            except Unusable as error:
                self._report(file, error.expected, error.came, "file ignored")
        if not any(map(is_image, self._tree.names)):
            raise InputError(self._shown_place(), self.layout, "no images", "add the image files")
        if not entries:
            expected = f"{self.layout}, and at least one image in the list"
            raise InputError(self._shown_place(), expected, self._problems.reasons() or "none")
        return self._interpreted(entries)

    @cached_property
    def _entries_of_images(self) -> dict[str, list[Entry]]:
        """The entries of each image by its name in the tree."""
        entries: dict[str, list[Entry]] = {}
        for entry in self._all_entries:
            try:
                entries.setdefault(self._image_of(entry), []).append(entry)
            except Unusable as error:
                self._report(entry.file, error.expected, error.came, IMAGE_LEFT_OUT)
        if not entries:
            raise InputError(self._shown_place(), "at least one image in the list", self._problems.reasons())
        return entries

    @cached_property
    def _images(self) -> dict[str, Entry]:
        """The one entry of each image."""
        entries = self._entries_of_images
        images = {name: _joined(self._with_boxes(several)) for name, several in entries.items()}
        if again := sum(sum(bool(entry.boxes) for entry in several) > 1 for several in entries.values()):
            before = sum(len(entry.boxes) for several in entries.values() for entry in several)
            repeated = before - sum(len(entry.boxes) for entry in images.values())
            evidence = (
                f"{counted(again, 'image')} with several entries; {counted(repeated, 'repeated box')} ignored"
            )
            if differ := [name for name, some in entries.items() if len(some) > 1 and _differ(some)]:
                evidence += (
                    f"; a box has several classes in {counted(len(differ), 'image')}: {listed(differ)}"
                )
            self._decide(Decision("images listed several times", "boxes joined", evidence))
        return images

    @cached_property
    def _lists(self) -> SplitLists:
        """Which files list images for a part."""
        parts: dict[tuple[str, str], list[str]] = {}
        for name, several in self._entries_of_images.items():
            for entry in several:
                if entry.part is not None:
                    parts.setdefault((entry.file, entry.part), []).append(name)
        return joined([(file, part, names) for (file, part), names in parts.items()], self.lists)


def _without_labels(entry: Entry) -> Entry:
    return entry._replace(boxes=tuple(box for box in entry.boxes if box.box))


def _differ(entries: Sequence[Entry]) -> bool:
    """Return whether entries state different classes of one box, or of the whole image."""
    stated = {(box.box, box.classes) for entry in entries for box in entry.boxes}
    return len(stated) > len({box for box, _ in stated})


def changed(entries: Sequence[Entry], change: Callable[[SourceBox], SourceBox | None]) -> list[Entry]:
    """Return entries with changed boxes, without those of which nothing is left."""
    return [
        entry._replace(boxes=tuple(box for box in map(change, entry.boxes) if box is not None))
        for entry in entries
    ]


def _joined(entries: Sequence[Entry]) -> Entry:
    """Return the entries of one image as one: a box of several of them once, and the whole image with all classes."""
    if len(entries) == 1 and all(box.box is not None for box in entries[0].boxes[1:]):
        return entries[0]
    boxes: list[SourceBox] = []
    known: set[object] = set()
    start = 0
    for entry in entries:
        new = [box for box in entry.boxes if (box.box, box.classes) not in known]
        known |= {(box.box, box.classes) for box in new}
        boxes += [replace(box, number=(box.number or 0) + start) for box in new]
        start = max((box.number or 0 for box in boxes), default=start)
    whole = [box for box in boxes if box.box is None]
    classes = dict.fromkeys(name for box in whole for name in box.classes)
    one = [replace(whole[0], classes=tuple(classes))] if whole else []
    return entries[0]._replace(boxes=(*one, *(box for box in boxes if box.box is not None)))
