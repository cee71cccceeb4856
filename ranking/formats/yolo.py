"""YOLO text labels: one file per image, with one row of numbers per box."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from ranking.core import Decision, SourceBox
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.core.text import counted, listed, readable, unique_name
from ranking.datasets.registry import SOURCES
from ranking.files import FileTree, Unusable
from ranking.files.tree import parent, suffix
from ranking.formats.file_beginnings import with_suffix
from ranking.formats.file_names import is_image
from ranking.formats.image_names import ImageNames
from ranking.formats.listed_images import Entry, ListedImages
from ranking.formats.split_lists import SplitLists, joined, missing_row, named_images, text_lines
from ranking.formats.tree_source import FOUND, Recognised
from ranking.formats.yolo_names import (
    NamesFile,
    ending_alike,
    files_of_folders,
    may_list_names,
    read_names,
    stated_names,
)
from ranking.formats.yolo_rows import (
    FIRST,
    HEADER,
    OUTLINES,
    Row,
    edges_of,
    is_beyond,
    read_long_rows,
    row_of,
)

# label files that are read to decide whether the text is YOLO
LOOKED_AT = 5
# the suffix of files of settings that name the file of class names
SETTINGS = ".data"
ROWS = "rows of class, x, y, width and height, or of class and outline points"


@SOURCES.register("YOLO")
@dataclass
class Yolo(ListedImages):
    """The format of Ultralytics, which Roboflow, CVAT, Label Studio and FiftyOne export; also the rows of DOTA.

    The labels of an image have its name, in any folder. Numbers are shares of the image's width and height; x and y are
    the centre of the box; an outline is replaced by its bounding box. A YAML file, classes.txt or obj.names gives the
    class names. The parts are those that the YAML file, lists or folders name.
    """

    layout: ClassVar[str] = (
        "images, and a text file with the same name for each, with rows of class, x, y, width, height"
    )
    kind: ClassVar[str] = "YOLO labels"

    class_names: str = setting(
        "",
        label="File of class names",
        help="Such as data.yaml or labels/classes.txt. Empty: for each label file, the nearest that fits its "
        "class numbers.",
        advanced=True,
    )
    rows: str = setting(
        FOUND,
        label="Rows of more than four numbers",
        help="Outlines: the points of an outline, whose bounding box is used. Box first: a box, then other "
        "numbers, such as a confidence or the points of a pose.",
        choices=(FOUND, OUTLINES, FIRST),
        advanced=True,
    )

    @classmethod
    def files(cls, tree: FileTree) -> list[str]:
        """Return the text files that belong to images, in the order of the images."""
        return list(label_files(tree, ImageNames(tree))[0].values())

    @classmethod
    def recognise(cls, tree: FileTree) -> Recognised | None:
        """Recognise text files that belong to images, if at least half of the rows in the first ones are such rows."""
        files = cls.files(tree)
        read = [is_read for name in files[:LOOKED_AT] for is_read in readable_rows(tree, name)]
        if not any(read) or 2 * sum(read) < len(read):
            return None
        named = [readable(name) for name in tree.names if may_list_names(name)]
        names = f"class names may be in {listed(named)}" if named else "there is no file of class names"
        why = f"text files contain YOLO rows for {counted(len(files), 'image')}; {names}"
        return Recognised(0.9 if named else 0.7, why)

    # ---------------------------------------------------------------------------------------------- Labels

    @cached_property
    def _files(self) -> list[str]:
        labels, others = label_files(self._tree, self._index)
        folders = set(map(parent, labels.values()))
        for name in others:
            is_near = parent(name) in folders or "label" in name.lower()
            if is_near and (rows := readable_rows(self._tree, name)) and all(rows):
                self._problems.add("labels", "an image for every label file", name, "labels ignored")
                self._tree.note_opened(name)
        self._images_of_labels = {name: image for image, name in labels.items()}
        return list(labels.values())

    def _content(self, file: str) -> list[str]:
        self._tree.note_opened(file)
        return rows_in(self._tree, file)

    def _entries(self, root: list[str], file: str) -> Iterator[Entry]:
        rows = []
        for number, line in enumerate(root, 1):
            row = row_of(line)
            if row is None:
                self._report(file, ROWS, f"row {number}: {line}", "row ignored")
            else:
                rows.append(replace(row, number=number))
        yield Entry(file, self._images_of_labels[file], tuple(rows), upright=True)

    def _image_of(self, entry: Entry) -> str:
        return entry.image

    def _interpreted(self, entries: list[Entry]) -> list[Entry]:
        """Read the numbers and classes of all rows; images without labels show no objects."""
        way, names = self._way(entries), self._names(entries)
        read = {name: Entry("", name, (), upright=True) for name in self._tree.names if is_image(name)}
        for entry in entries:
            boxes = []
            for row in _rows_of(entry):
                try:
                    boxes.append(_box(row, way, names.get(parent(entry.file))))
                except Unusable as error:
                    self._report(entry.file, error.expected, f"row {row.number}: {error.came}", "row ignored")
            read[entry.image] = entry._replace(boxes=tuple(boxes))
        return list(read.values())

    def _way(self, entries: list[Entry]) -> str:
        """Return how rows of more than four numbers are read; InputError if most numbers are no shares."""
        rows = [row.values for entry in entries for row in _rows_of(entry) if row.relative]
        way, long = FIRST, [values for values in rows if len(values) > 4]
        if long:
            points = next((file.points for file in self._names_files if file.points[0]), (0, 0))
            found, words, evidence = read_long_rows(long, points)
            way = found if self.rows == FOUND else self.rows
            words = words if way == found else way
            others = tuple(other for other in (OUTLINES, FIRST) if other != way)
            self._decide(Decision("rows of more than four numbers", words, evidence, "rows", way, others))
        beyond = [values for values in rows if is_beyond(values, way)]
        if 2 * len(beyond) > len(rows):
            largest = max(map(max, beyond))
            came = f"{len(beyond):,} of {counted(len(rows), 'row')} with numbers up to {largest:g}"
            remedy = (
                "divide them by the image's width and height, or import boxes in pixels as a table or as COCO"
            )
            raise InputError("labels", "shares of the image's width and height, 0 to 1", came, remedy)
        return way

    # ---------------------------------------------------------------------------------------------- Names and parts

    @cached_property
    def _names_files(self) -> list[NamesFile]:
        """The files of class names; one that cannot be read becomes a report row."""
        files: dict[str, NamesFile] = {}
        # first those that settings state
        states = with_suffix(self._tree.names, SETTINGS)
        for name in [*states, *filter(may_list_names, self._tree.names)]:
            read = stated_names if name in states else read_names
            try:
                if (file := read(self._tree, name)) is not None:
                    files.setdefault(file.file, file)
            except Unusable as error:
                self._tree.note_opened(name)
                self._problems.add(readable(name), error.expected, error.came, "ignored")
        return list(files.values())

    def _names(self, entries: list[Entry]) -> dict[str, NamesFile]:
        """Return the file of class names of each folder of labels."""
        files = [file for file in self._names_files if self.class_names in ("", file.file)]
        used: dict[str, set[int]] = {}
        for entry in entries:
            numbers = {row.label for row in _rows_of(entry) if isinstance(row.label, int)}
            used.setdefault(parent(entry.file), set()).update(numbers)
        if self.class_names and not files:
            came = listed([file.file for file in self._names_files]) or "no file"
            raise InputError("class_names", came, self.class_names)
        if not files:
            if any(used.values()):
                evidence = "no YAML file, classes.txt or *.names names them"
                self._decide(Decision("class names", "classes are named by their numbers", evidence))
            return {}
        fit = files_of_folders(files, used)
        chosen = {folder: names[0] for folder, names in fit.items()}
        others = {file.file for names in fit.values() for file in names[1:]}
        by = list(dict.fromkeys(file.file for file in chosen.values()))
        for folder, file in chosen.items():
            self._tree.note_opened(file.file)
            if file.stated_by:
                self._tree.note_opened(file.stated_by)
            self._join_equal(file.names, file.file)
            if 0 in file.names and used[folder] == set(range(1, len(file.names) + 1)):
                expected = f"class numbers from 0 to {len(file.names) - 1}, as in {readable(file.file)}"
                remedy = "add a first name for class 0"
                raise InputError("labels", expected, f"1 to {len(file.names)}", remedy)
        evidence = (
            f"{'names' if len(by) == 1 else 'name'} the classes of {counted(len(chosen), 'label folder')}"
        )
        evidence += f"; {listed(sorted(others))} would fit, with other names" if others else ""
        stated = dict.fromkeys(file.stated_by for file in chosen.values() if file.stated_by)
        evidence += f"; so {listed(list(map(readable, stated)))} says" if stated else ""
        alternatives = tuple(file.file for file in self._names_files if by != [file.file])
        value, is_open = by[0] if len(by) == 1 else "", bool(others) and not self.class_names
        shown = listed([readable(name) for name in by])
        self._decide(Decision("class names", shown, evidence, "class_names", value, alternatives, is_open))
        return chosen

    @cached_property
    def _lists(self) -> SplitLists:
        """The first YAML file whose paths name a training part and another one."""
        for file in self._names_files:
            lists = joined([(file.file, part, self._images_at(path)) for part, path in file.paths])
            if {"train"} < set(lists.parts.values()):
                return lists
        return super()._lists

    def _images_at(self, path: str) -> list[str]:
        """Return the images in a folder or list that a YAML file names."""
        if suffix(path) == ".txt":
            file = ending_alike(path, self._tree.names)
            images, missing = named_images(self._tree, file, self._index) if file else ([], [])
            if images:
                self._tree.note_opened(file)
            if missing:
                row = missing_row([(file, line) for line in missing])
                self._problems.add(row.file, row.expected, row.came, row.done)
            return images
        folder = ending_alike(path, self._tree.folders)
        return [name for name in self._images if name.startswith(folder + "/")] if folder else []


def _rows_of(entry: Entry) -> list[Row]:
    return [row for row in entry.boxes if isinstance(row, Row)]


def _box(row: Row, way: str, named: NamesFile | None) -> SourceBox:
    """Return the box of a row; Unusable if it cannot be read so."""
    edges = edges_of(row.values, way if row.relative else OUTLINES)
    if edges is None:
        raise Unusable(ROWS, row.text)
    if row.relative and is_beyond(row.values, way):
        raise Unusable("numbers from 0 to 1", row.text)
    if isinstance(row.label, str):
        name = unique_name(row.label)
    elif named is None:
        name = f"class {row.label}"
    elif row.label in named.names:
        name = named.names[row.label]
    else:
        raise Unusable(
            f"a number of one of the {counted(len(named.names), 'named class')}", f"class {row.label}"
        )
    return SourceBox(edges, (name,), number=row.number, relative=row.relative)


def label_files(tree: FileTree, index: ImageNames) -> tuple[dict[str, str], list[str]]:
    """Return image name to label file, in the order of images, and the text files that belong to no image."""
    labels: dict[str, str] = {}
    others = []
    # of two files of one image, the one in a folder of labels
    texts = (name for name in with_suffix(tree.names, ".txt") if not may_list_names(name))
    for name in sorted(texts, key=lambda name: ("label" not in parent(name).lower(), name)):
        try:
            if labels.setdefault(index.of_annotation(name), name) != name:
                others.append(name)
        except Unusable:
            others.append(name)
    return dict(sorted(labels.items())), others


def readable_rows(tree: FileTree, name: str) -> list[bool]:
    """Return whether each row of a file is YOLO; [] for an image without objects."""
    try:
        return [row_of(line) is not None for line in rows_in(tree, name)]
    except Unusable:
        return [False]


def rows_in(tree: FileTree, name: str) -> list[str]:
    """Return the lines of a label file without those that DOTA writes first."""
    return [line for line in text_lines(tree, name) if not HEADER.fullmatch(line)]
