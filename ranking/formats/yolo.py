"""YOLO text labels: one file per image, with one row of numbers per box."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from ranking.core import Problem, SourceBox, SourceImage
from ranking.core.errors import InputError
from ranking.core.text import counted, readable, unique_name
from ranking.datasets.registry import SOURCES
from ranking.datasets.source_settings import group_of, group_of_images
from ranking.files import FileTree, Unusable
from ranking.files.tree import base, suffix
from ranking.formats.file_names import display_names, is_image
from ranking.formats.tree_source import Grouped, Recognised, TreeSource

LAYOUT = (
    "images, each with a text file (beside it or in a folder labels) with rows of class, x, y, width, height"
)
# of the labels of one image
MAX_BYTES = 4 * 2**20
MAX_NAMES_BYTES = 2**18
YAML, LINES = (".yaml", ".yml"), ("classes.txt", "obj.names", "classes.names")
NUMBERED = re.compile(r"\d{1,6}", re.ASCII)
# label files that are read to decide whether the text is YOLO
LOOKED_AT = 5
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf)", re.ASCII | re.IGNORECASE)
Names = dict[int, str]
ROW = "rows of class, x, y, width and height, or of class and outline points"


@SOURCES.register("YOLO")
@dataclass
class Yolo(TreeSource):
    """The format of Ultralytics, which Roboflow, CVAT, Label Studio and FiftyOne export.

    The labels of `images/train/1.jpg` are in `labels/train/1.txt`, or in `1.txt` beside it. Numbers are shares of the
    image's width and height; x and y are the centre of the box; an outline is replaced by its bounding box. data.yaml,
    classes.txt or obj.names gives the class names, and nothing else is read from it. The folders train, val (valid) and
    test are the parts of the image set.
    """

    layout: ClassVar[str] = LAYOUT

    _moves_groups: ClassVar[bool] = True
    group: str = group_of_images()

    @classmethod
    def recognise(cls, tree: FileTree) -> Recognised | None:
        """Recognise text files that belong to images, if most of the first ones contain only such rows."""
        labels = label_files(tree)
        read = [readable_rows(tree, name) for name in list(labels.values())[:LOOKED_AT]]
        if read.count(True) <= read.count(False):
            return None
        named = names_file(tree)
        names = f"{readable(named)} names the classes" if named else "no file names the classes"
        images = counted(len(labels), "image")
        return Recognised(0.9 if named else 0.7, f"text files contain YOLO rows for {images}, and {names}")

    def __len__(self) -> int:
        return len(self._images)

    def _records(self) -> Iterator[SourceImage | Problem]:
        names, pose, rows = self._names
        yield from rows
        yield from self._without_image()
        groups = {name: group_of(name, self.group) for name in self._images}
        units = [[] if group is None else [group] for group in groups.values()]
        tested, rows = self._which_test(self._images, groups=units)
        yield from rows
        shown = display_names(self._images)
        for name, test in zip(self._images, tested, strict=True):
            problems = Grouped()
            boxes = self._boxes(self._labels.get(name), names, pose, problems, groups[name])
            yield from problems.rows()
            yield SourceImage(shown[name], self._tree.file(name), boxes, test, upright=True)

    @cached_property
    def _images(self) -> list[str]:
        if not self._labels:
            raise InputError(self._shown_place(), LAYOUT, "no such text file")
        return list(filter(is_image, self._tree.names))

    @cached_property
    def _labels(self) -> dict[str, str]:
        return label_files(self._tree)

    @cached_property
    def _names(self) -> tuple[Names, bool, list[Problem]]:
        """Return the class names by number, empty if there are none; whether labels are poses; and report rows."""
        expected, done = (
            "class names in data.yaml, classes.txt or obj.names",
            "classes are named by their numbers",
        )
        named = names_file(self._tree)
        if named is None:
            return {}, False, [Problem("classes", expected, "none", done)]
        try:
            return *read_names(self._tree, named), []
        except Unusable as error:
            return {}, False, [Problem(readable(named), error.expected, error.came, done)]

    def _without_image(self) -> Iterator[Problem]:
        """Yield one row for files in folders of labels that belong to no image."""
        used, alone = set(self._labels.values()), Grouped()
        for name in self._tree.names:
            folders, last = name.split("/")[:-1], base(name)
            if name not in used and "labels" in folders and suffix(name) == ".txt" and last != "classes.txt":
                alone.add("labels", "an image for every label file", name, "labels ignored")
        return alone.rows()

    def _boxes(
        self, labels: str | None, names: Names, pose: bool, problems: Grouped, group: str | None
    ) -> tuple[SourceBox, ...]:
        if labels is None:
            return ()
        shown, boxes = readable(labels, 255), []
        try:
            lines = _lines(self._tree, labels)
        except Unusable as error:
            problems.add(shown, error.expected, error.came, "labels ignored")
            return ()
        for number, line in enumerate(lines, 1):
            box = box_of(line, pose)
            if box is None:
                problems.add(shown, ROW, f"row {number}: {line}", "row ignored")
            elif names and box[0] not in names:
                expected = f"one of the {counted(len(names), 'named class')}"
                problems.add(shown, expected, f"row {number}: class {box[0]}", "row ignored")
            else:
                name = names.get(box[0], f"class {box[0]}")
                boxes.append(SourceBox(box[1], (name,), group, number, relative=True))
        return tuple(boxes)


def label_files(tree: FileTree) -> dict[str, str]:
    """Return image name to label file, for each image that has one."""
    texts = {name for name in tree.names if suffix(name) == ".txt"}
    labels_of = {}
    for image in filter(is_image, tree.names):
        beside = image[: len(image) - len(suffix(image))] + ".txt"
        folders = beside.split("/")
        places = [place for place, folder in enumerate(folders[:-1]) if folder == "images"]
        if places:
            folders[places[-1]] = "labels"
        labels = next((name for name in ("/".join(folders), beside) if name in texts), None)
        if labels is not None:
            labels_of[image] = labels
    return labels_of


def readable_rows(tree: FileTree, name: str) -> bool | None:
    """Return whether all rows of a file are YOLO; None if it has no rows, as for an image without objects."""
    try:
        lines = _lines(tree, name)
    except Unusable:
        return False
    return all(box_of(line, pose=False) is not None for line in lines) if lines else None


def _lines(tree: FileTree, name: str) -> list[str]:
    text = tree.read(name, MAX_BYTES, "labels").decode("utf-8-sig", errors="replace")
    return [line.strip() for line in text.splitlines() if line.strip()]


def box_of(line: str, pose: bool) -> tuple[int, tuple[float, float, float, float]] | None:
    """Return the class and the edges, as shares of the image, of a row; None if it is not a YOLO row.

    Five numbers are a box, six a box with a confidence; more are outline points, or the box and the points of a pose.

    >>> box_of("3 .5 .5 .5 1", pose=False), box_of("0 0 0 1 0 1 .5", pose=False)
    ((3, (0.25, 0.0, 0.75, 1.0)), (0, (0.0, 0.0, 1.0, 0.5)))
    """
    words = line.split()
    if len(words) < 5 or not all(map(NUMBER.fullmatch, words)):
        return None
    which, *numbers = map(float, words)
    if not 0 <= which < 1e6 or which != int(which):
        return None
    if pose or len(numbers) <= 5:
        x, y, width, height = numbers[:4]
        return int(which), (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
    if len(numbers) % 2:
        return None
    across, down = numbers[::2], numbers[1::2]
    # which min and max would ignore
    if any(map(math.isnan, numbers)):
        return int(which), (math.nan, math.nan, math.nan, math.nan)
    return int(which), (min(across), min(down), max(across), max(down))


def names_file(tree: FileTree) -> str | None:
    """Return the file of `tree` with the class names, the one nearest to the top; None if there is none."""
    files = [name for name in tree.names if suffix(name) in YAML or base(name).lower() in LINES]
    for name in sorted(files, key=lambda name: (name.count("/"), base(name).lower() in LINES, name)):
        if suffix(name) not in YAML or _may_name(tree, name):
            return name
    return None


def _may_name(tree: FileTree, name: str) -> bool:
    """Return whether a YAML file has the key `names`, or cannot be read: the import then reports the reason."""
    try:
        return "names" in parsed_yaml(_names_text(tree, name))
    except Unusable:
        return True


def read_names(tree: FileTree, name: str) -> tuple[Names, bool]:
    """Return number to name, and whether the labels are poses, whose rows continue after the box; Unusable if there is
    no name in the file."""
    text, pose = _names_text(tree, name), False
    if suffix(name) in YAML:
        content = parsed_yaml(text)
        names, pose = yaml_names(content.get("names")), "kpt_shape" in content
    else:
        names = dict(enumerate(line.strip() for line in text.splitlines()))
    names = {number: unique_name(label) for number, label in names.items() if readable(label)}
    if not names:
        raise Unusable("a list of class names", "none that can be read")
    return names, pose


def parsed_yaml(text: str) -> dict[str, object]:
    """Return the mapping at the top of a YAML file, with texts, lists and mappings; Unusable if it cannot be read.

    PyYAML's safe_load would turn a class named "no" into False. BaseLoader keeps it as text, supports no tags, expands
    nothing, and is written in Python, which refuses deep nesting where C would crash.

    >>> parsed_yaml("nc: 2\\nnames: [cat, no]")
    {'nc': '2', 'names': ['cat', 'no']}
    """
    import yaml

    try:
        content = yaml.load(text, yaml.BaseLoader)
    except RecursionError as error:
        raise Unusable("YAML of a few levels", "one nested too deep") from error
    except (yaml.YAMLError, ValueError) as error:
        # ValueError: an escape beyond the last Unicode character
        raise Unusable("YAML that can be read", " ".join(str(error).split())) from error
    return content if isinstance(content, dict) else {}


def yaml_names(names: object) -> Names:
    """Return the texts of a list, or of a mapping from numbers.

    >>> yaml_names(["cat", "dog"]), yaml_names({"0": "cat", "5": "dog", "x": "none"})
    ({0: 'cat', 1: 'dog'}, {0: 'cat', 5: 'dog'})
    """
    if isinstance(names, list):
        return {number: _whole(name) for number, name in enumerate(names) if isinstance(name, str)}
    pairs = names.items() if isinstance(names, dict) else ()
    return {
        int(number): _whole(name)
        for number, name in pairs
        if isinstance(number, str) and NUMBERED.fullmatch(number) and isinstance(name, str)
    }


def _whole(name: str) -> str:
    """Return a name in which surrogate pairs, as JSON writes them, are joined."""
    return name.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _names_text(tree: FileTree, name: str) -> str:
    return tree.read(name, MAX_NAMES_BYTES, "a list of names").decode("utf-8-sig", errors="replace")
