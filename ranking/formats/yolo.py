"""YOLO text labels: one file per image, with one row of numbers per box."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from ranking.core import Decision, Problem, SourceBox, SourceImage
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.core.text import counted, listed, readable, unique_name
from ranking.datasets.registry import SOURCES
from ranking.datasets.source_settings import group_of, group_of_images
from ranking.files import FileTree, Unusable
from ranking.files.tree import parent, suffix
from ranking.formats.file_names import display_names, is_image
from ranking.formats.image_names import ImageNames
from ranking.formats.split_lists import named_images
from ranking.formats.tree_source import FOUND, Grouped, Recognised, TreeSource
from ranking.formats.yolo_names import (
    NamesFile,
    ending_alike,
    files_above,
    fitting,
    may_list_names,
    read_names,
)
from ranking.formats.yolo_rows import (
    FIRST,
    HEADER,
    OUTLINES,
    Reading,
    Row,
    edges_of,
    is_beyond,
    read_long_rows,
    row_of,
)

LAYOUT = "images, and a text file with the same name for each, with rows of class, x, y, width, height"
# of the labels of one image
MAX_BYTES = 4 * 2**20
# label files that are read to decide whether the text is YOLO
LOOKED_AT = 5
ROWS = "rows of class, x, y, width and height, or of class and outline points"
UNNAMED = "classes are named by their numbers"


@SOURCES.register("YOLO")
@dataclass
class Yolo(TreeSource):
    """The format of Ultralytics, which Roboflow, CVAT, Label Studio and FiftyOne export; also the rows of DOTA.

    The labels of an image have its name, in any folder. Numbers are shares of the image's width and height; x and y are
    the centre of the box; an outline is replaced by its bounding box. A YAML file, classes.txt or obj.names gives the
    class names. The parts are those that the YAML file, lists or folders name.
    """

    layout: ClassVar[str] = LAYOUT

    class_names: str = setting(
        "",
        label="File of class names",
        help="Such as data.yaml or labels/classes.txt. Empty: the nearest to each label file that fits its numbers.",
        advanced=True,
    )
    rows: str = setting(
        FOUND,
        label="Rows of more than four numbers",
        help="Outlines: their points, around which the box is. Box first: a box, and further numbers, such as a "
        "confidence or the points of a pose.",
        choices=(FOUND, OUTLINES, FIRST),
        advanced=True,
    )
    group: str = group_of_images()
    _moves_groups: ClassVar[bool] = True

    @classmethod
    def recognise(cls, tree: FileTree) -> Recognised | None:
        """Recognise text files that belong to images, if most of the first ones contain only such rows."""
        labels, _ = label_files(tree, ImageNames(tree))
        read = [readable_rows(tree, name) for name in list(labels.values())[:LOOKED_AT]]
        if read.count(True) <= read.count(False):
            return None
        named = [name for name in tree.names if may_list_names(name)]
        names = f"{listed([readable(name) for name in named])} may name the classes" if named else ""
        images = counted(len(labels), "image")
        why = f"text files contain YOLO rows for {images}, and {names or 'no file names the classes'}"
        return Recognised(0.9 if named else 0.7, why)

    def __len__(self) -> int:
        return len(self._images)

    def _records(self) -> Iterator[SourceImage | Problem]:
        yield from self._label_files[1].rows()
        yield from self._names_files[1]
        way, names = self._way, self._names
        groups = {name: group_of(name, self.group) for name in self._images}
        units = [[] if group is None else [group] for group in groups.values()]
        parts, by = self._parts
        tested, rows = self._which_test(self._images, parts, by, units)
        yield from rows
        shown = display_names(self._images)
        for name, test in zip(self._images, tested, strict=True):
            problems = Grouped()
            labels = self._labels.get(name)
            boxes = self._boxes(labels, way, names, problems, groups[name]) if labels is not None else ()
            yield from problems.rows()
            yield SourceImage(shown[name], self._tree.file(name), boxes, test, upright=True)

    @cached_property
    def _images(self) -> list[str]:
        if not self._labels:
            raise InputError(self._shown_place(), LAYOUT, "no such text file")
        return list(filter(is_image, self._tree.names))

    # ---------------------------------------------------------------------------------------------- Labels

    @property
    def _labels(self) -> dict[str, str]:
        return self._label_files[0]

    @cached_property
    def _label_files(self) -> tuple[dict[str, str], Grouped]:
        labels, others = label_files(self._tree, self._index)
        folders, alone = {parent(name) for name in labels.values()}, Grouped()
        for name in others:
            if (parent(name) in folders or "label" in name.lower()) and readable_rows(self._tree, name):
                alone.add("labels", "an image for every label file", name, "labels ignored")
                self._tree.note_opened(name)
        return labels, alone

    @cached_property
    def _lines(self) -> dict[str, list[tuple[str, Row | None]] | Unusable]:
        """The lines of all label files, and what they say."""
        found: dict[str, list[tuple[str, Row | None]] | Unusable] = {}
        for name in self._labels.values():
            try:
                found[name] = [(line, row_of(line)) for line in _lines(self._tree, name)]
            except Unusable as error:
                found[name] = error
        return found

    def _rows_of(self, name: str) -> list[Row]:
        lines = self._lines[name]
        return [] if isinstance(lines, Unusable) else [row for _, row in lines if row is not None]

    @cached_property
    def _way(self) -> str:
        """How rows of more than four numbers are read; InputError if most numbers are no shares."""
        rows = [row.values for name in self._lines for row in self._rows_of(name) if row.relative]
        long = [values for values in rows if len(values) > 4]
        points = next((file.points for file in self._names_files[0] if file.points[0]), (0, 0))
        reading = read_long_rows(long, points) if long else Reading(FIRST, "", "")
        way = reading.way if self.rows == FOUND else self.rows
        if long:
            words = reading.words if way == reading.way else way
            others = tuple(other for other in (OUTLINES, FIRST) if other != way)
            self._decide(
                Decision("rows of more than four numbers", words, reading.evidence, "rows", way, others)
            )
        beyond = [values for values in rows if is_beyond(values, way)]
        if 2 * len(beyond) > len(rows):
            came = (
                f"{len(beyond):,} of {counted(len(rows), 'row')} with numbers up to {max(map(max, beyond)):g}"
            )
            remedy = (
                "divide them by the image's width and height, or bring boxes in pixels as a table or as COCO"
            )
            raise InputError("labels", "shares of the image's width and height, 0 to 1", came, remedy)
        return way

    def _boxes(
        self, labels: str, way: str, names: dict[str, NamesFile], problems: Grouped, group: str | None
    ) -> tuple[SourceBox, ...]:
        shown, boxes = readable(labels, 255), []
        lines, named = self._lines[labels], names.get(parent(labels))
        if isinstance(lines, Unusable):
            problems.add(shown, lines.expected, lines.came, "labels ignored")
            return ()
        for number, (line, row) in enumerate(lines, 1):
            edges = edges_of(row.values, way if row.relative else OUTLINES) if row is not None else None
            if row is None or edges is None:
                problems.add(shown, ROWS, f"row {number}: {line}", "row ignored")
            elif row.relative and is_beyond(row.values, way):
                problems.add(shown, "numbers from 0 to 1", f"row {number}: {line}", "row ignored")
            elif isinstance(row.label, int) and named is not None and row.label not in named.names:
                expected = f"one of the {counted(len(named.names), 'named class')}"
                problems.add(shown, expected, f"row {number}: class {row.label}", "row ignored")
            else:
                name = unique_name(row.label) if isinstance(row.label, str) else f"class {row.label}"
                if named is not None and isinstance(row.label, int):
                    name = named.names[row.label]
                boxes.append(SourceBox(edges, (name,), group, number, relative=row.relative))
        return tuple(boxes)

    # ---------------------------------------------------------------------------------------------- Names and parts

    @cached_property
    def _names_files(self) -> tuple[list[NamesFile], list[Problem]]:
        """The files of class names, and report rows about those that cannot be read."""
        files, problems = [], []
        for name in filter(may_list_names, self._tree.names):
            try:
                if (file := read_names(self._tree, name)) is not None:
                    files.append(file)
            except Unusable as error:
                self._tree.note_opened(name)
                problems.append(Problem(readable(name), error.expected, error.came, "ignored"))
        if self.class_names and self.class_names not in [file.file for file in files]:
            raise InputError(
                "class_names", listed([file.file for file in files]) or "no file", self.class_names
            )
        return files, problems

    @cached_property
    def _names(self) -> dict[str, NamesFile]:
        """The file of class names of each folder of labels."""
        files = [file for file in self._names_files[0] if self.class_names in ("", file.file)]
        # Folders below the same files share the numbers by which a file is chosen.
        above = {parent(name): files_above(files, parent(name)) for name in self._lines}
        used: dict[tuple[NamesFile, ...], set[int]] = {some: set() for some in above.values()}
        for name in self._lines:
            numbers = {row.label for row in self._rows_of(name) if isinstance(row.label, int)}
            used[above[parent(name)]] |= numbers
        if not files:
            if any(used.values()):
                evidence = "no YAML file, classes.txt or *.names names them"
                self._decide(Decision("class names", UNNAMED, evidence))
            return {}
        fit = {some: fitting(some, files, numbers) for some, numbers in used.items()}
        chosen = {folder: fit[some][0] for folder, some in above.items()}
        others = sorted(
            {file.file for some, best in fit.items() for file in best if not file.agrees(best[0], used[some])}
        )
        by = {file.file: file for file in chosen.values()}
        for some, numbers in used.items():
            names = fit[some][0]
            self._tree.note_opened(names.file)
            if 0 in names.names and numbers == set(range(1, len(names.names) + 1)):
                expected = f"class numbers from 0 to {len(names.names) - 1}, as in {readable(names.file)}"
                raise InputError("labels", expected, f"1 to {max(numbers)}", "add a first name for class 0")
        shown = listed([readable(name) for name in by])
        evidence = f"{'names' if len(by) == 1 else 'each names'} the classes of {counted(len(chosen), 'label folder')}"
        differ = f"; {listed(others)} would fit, with other names" if others else ""
        alternatives = tuple(file.file for file in self._names_files[0] if len(by) > 1 or file.file not in by)
        value = next(iter(by)) if len(by) == 1 else ""
        self._decide(
            Decision(
                "class names",
                shown,
                evidence + differ,
                "names",
                value,
                alternatives,
                bool(others) and not self.class_names,
            )
        )
        return chosen

    @cached_property
    def _parts(self) -> tuple[list[str | None], str]:
        """The part of each image by the paths in a YAML file or else its folders, and that file."""
        for file in self._names_files[0]:
            parts: dict[str, str] = {}
            for part, path in file.paths:
                for image in self._images_at(path):
                    parts.setdefault(image, part)
            if {"train"} < set(parts.values()):
                return [parts.get(name) or self._part_of(name) for name in self._images], readable(file.file)
        return [], ""

    def _images_at(self, path: str) -> list[str]:
        """Return the images in a folder or list that a YAML file names."""
        if suffix(path) == ".txt":
            file = ending_alike(path, self._tree.names)
            images = named_images(self._tree, file, self._index) if file else []
            if images:
                self._tree.note_opened(file)
            return images
        folder = ending_alike(path, self._tree.folders)
        return [name for name in self._images if name.startswith(folder + "/")] if folder else []


def label_files(tree: FileTree, index: ImageNames) -> tuple[dict[str, str], list[str]]:
    """Return image name to label file, in the order of images, and the text files that belong to no image."""
    labels: dict[str, str] = {}
    others = []
    # of two files of one image, the one in a folder of labels
    texts = (name for name in tree.names if suffix(name) == ".txt" and not may_list_names(name))
    for name in sorted(texts, key=lambda name: ("label" not in parent(name).lower(), name)):
        try:
            if labels.setdefault(index.of_annotation(name), name) != name:
                others.append(name)
        except Unusable:
            others.append(name)
    return dict(sorted(labels.items())), others


def readable_rows(tree: FileTree, name: str) -> bool | None:
    """Return whether all rows of a file are YOLO; None if it has no rows, as for an image without objects."""
    try:
        lines = _lines(tree, name)
    except Unusable:
        return False
    return all(row_of(line) is not None for line in lines) if lines else None


def _lines(tree: FileTree, name: str) -> list[str]:
    text = tree.read(name, MAX_BYTES, "labels").decode("utf-8-sig", errors="replace")
    lines = map(str.strip, text.splitlines())
    return [line for line in lines if line and not HEADER.fullmatch(line)]
