"""COCO: one JSON file of images, categories and boxes, or one for each part of a set."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from ranking.datasets.image_names import ImageNames
from ranking.datasets.json_file import as_number, brief, read_json
from ranking.datasets.registry import SOURCES
from ranking.datasets.tree_source import Grouped, TreeSource, called, is_image, part_told
from ranking.intake import FileTree, Limits, Recognised, Unusable
from ranking.intake.tree import parent, suffix
from ranking.settings import setting
from ranking.text import counted, listed, readable
from ranking.types import Problem, SourceBox, SourceImage

LAYOUT = "images and a JSON file of COCO instances with images, categories and annotations"
BEGINS = re.compile(rb'\s*\{\s*"(?:info|licenses|images|annotations|categories|type)"\s*:')
HEAD = 4096
MOST_FILES = 50  # of annotations in one set
ANNOTATION_LEFT_OUT, IMAGE_LEFT_OUT = "annotation left out", "image left out"
Id = int | str


class Listed(NamedTuple):
    """An image as its JSON file tells it; `file`: that file. size: as claimed, or None."""

    file: str
    told: str
    size: tuple[int, int] | None


@dataclass
class Instances:
    """Images by id of the JSON file that lists them, their boxes, and what is wrong with others."""

    images: dict[tuple[str, Id], Listed] = field(default_factory=dict)
    boxes: dict[tuple[str, Id], list[SourceBox]] = field(default_factory=dict)
    problems: Grouped = field(default_factory=Grouped)
    crowds: int = 0


@SOURCES.register("COCO")
@dataclass
class Coco(TreeSource):
    """Lin et al., ECCV 2014, and what Roboflow, CVAT and FiftyOne export in that form.

    Boxes are x, y, width and height from 0. An image is looked up by its `file_name`, which is never a path; outlines
    and supercategories are not read; categories of one name are one class. The part that a JSON file or its folder
    names (train, val, test) is that of its images.
    """

    expected: ClassVar[str] = LAYOUT

    crowd: str = setting(
        "leave out",
        label="Crowds",
        help="What to do with boxes around a crowd of objects that nobody told apart (iscrowd 1). They show no single "
        "object of their class.",
        choices=("leave out", "keep"),
        advanced=True,
    )

    @classmethod
    def recognise(cls, tree: FileTree) -> Recognised | None:
        """A JSON file that begins as COCO does, and images."""
        files, images = _annotation_files(tree), sum(map(is_image, tree.names))
        if not files or not images:
            return None
        shown = listed([readable(name) for name in files])
        begins = "begins" if len(files) == 1 else "begin"
        return Recognised(0.9, f"{shown} {begins} as COCO does, and there are {counted(images, 'image')}")

    def __len__(self) -> int:
        return len(self._instances.images)

    def records(self) -> Iterator[SourceImage | Problem]:
        told = self._instances
        yield from self._tree.problems
        yield from told.problems.rows()
        if told.crowds:
            done = "left out" if self.crowd == "leave out" else "kept"
            yield Problem(counted(told.crowds, "box"), "boxes of single objects", "iscrowd 1", done)
        found, missing = self._found
        yield from missing.rows()
        tested, rows = self._which_test([part_told(told.images[key].file) for key in found])
        yield from rows
        names = called(list(found.values()))
        for (key, name), test in zip(found.items(), tested, strict=True):
            boxes = tuple(told.boxes.get(key, ()))
            yield SourceImage(names[name], self._tree.file(name), boxes, test, told.images[key].size)

    @cached_property
    def _instances(self) -> Instances:
        files = _annotation_files(self._tree)
        if not files:
            raise ValueError(f"expected {LAYOUT}; {readable(str(self._tree.place), 255)} has no such file")
        if len(files) > MOST_FILES:
            raise ValueError(
                f"expected at most {MOST_FILES} JSON files of COCO, got {len(files):,}; bring one part"
            )
        told, limits = Instances(), Limits.from_environment()
        for name in files:
            try:
                self._read(name, read_json(self._tree, name, limits, _without_outline), told)
            except Unusable as error:
                told.problems.add(readable(name), error.expected, error.came, "file left out")
        if not told.images:
            reasons = "; ".join(
                f"{row.file}: expected {row.expected}, got {row.came}" for row in told.problems.rows()
            )
            raise ValueError(f"expected {LAYOUT}; no image is listed. {reasons}")
        return told

    @cached_property
    def _found(self) -> tuple[dict[tuple[str, Id], str], Grouped]:
        """The name in the tree of each listed image, and rows about those that are not there, or there twice."""
        index, missing = ImageNames(self._tree), Grouped()
        found: dict[tuple[str, Id], str] = {}
        for key, image in self._instances.images.items():
            try:
                found[key] = index.find(image.told, parent(image.file), part_told(image.file))
            except Unusable as error:
                missing.add(readable(image.file), error.expected, error.came, IMAGE_LEFT_OUT)
        return found, missing

    def _read(self, name: str, root: Any, told: Instances) -> None:
        """Add what one JSON file says; Unusable where it is no COCO."""
        lists = {
            key: root.get(key) if isinstance(root, dict) else None
            for key in ("images", "annotations", "categories")
        }
        for key, value in lists.items():
            if not isinstance(value, list):
                raise Unusable(
                    f"COCO with a list of {key}", "none" if value is None else type(value).__name__
                )
        shown = readable(name)
        for one in lists["images"]:
            image = _image(name, one)
            if image is None:
                told.problems.add(shown, "images with an id and a file_name", brief(one), IMAGE_LEFT_OUT)
            elif told.images.setdefault((name, one["id"]), image) is not image:
                told.problems.add(shown, "every image id once", f"{one['id']} again", IMAGE_LEFT_OUT)
        classes = dict(filter(None, map(_category, lists["categories"])))
        places: dict[Id, int] = {}
        for one in lists["annotations"]:
            self._add_box(name, one, classes, places, told)

    def _add_box(
        self, name: str, one: Any, classes: dict[Id, str], places: dict[Id, int], told: Instances
    ) -> None:
        def leave_out(expected: str, came: str) -> None:
            told.problems.add(readable(name), expected, came, ANNOTATION_LEFT_OUT)

        image = one.get("image_id") if isinstance(one, dict) else None
        if not is_id(image) or (name, image) not in told.images:
            return leave_out("annotations of images that are listed", f"image_id {brief(image)}")
        places[image] = places.get(image, 0) + 1
        which, category = f"image {image}, box {places[image]}", one.get("category_id")
        if not is_id(category) or category not in classes:
            return leave_out("a category_id that is listed", f"{which}: {brief(category)}")
        box = _box(one.get("bbox"))
        if box is None:
            return leave_out("bbox of x, y, width and height", f"{which}: {brief(one.get('bbox'))}")
        if one.get("iscrowd") == 1:
            told.crowds += 1
            if self.crowd == "leave out":
                return None
        told.boxes.setdefault((name, image), []).append(
            SourceBox(box, (classes[category],), number=places[image])
        )
        return None


def _annotation_files(tree: FileTree) -> list[str]:
    """The JSON files that begin as COCO does; of those of instances and of others, such as captions, the first."""
    found = []
    for name in tree.names:
        if suffix(name) == ".json":
            try:
                if BEGINS.match(tree.head(name, HEAD).removeprefix(b"\xef\xbb\xbf")):
                    found.append(name)
            except Unusable:  # reading it in earnest tells why; here it is only not recognised
                continue
    return [name for name in found if "instances" in name] or found


def _without_outline(told: dict[str, Any]) -> dict[str, Any]:
    """An object of JSON without what takes most of the room and is not needed."""
    told.pop("segmentation", None)
    return told


def is_id(value: object) -> bool:
    """Whether JSON gave what names a thing: a whole number or a text."""
    return isinstance(value, int | str) and not isinstance(value, bool)


def _image(file: str, one: Any) -> Listed | None:
    if not isinstance(one, dict) or not is_id(one.get("id")) or not isinstance(one.get("file_name"), str):
        return None
    width, height = one.get("width"), one.get("height")
    told = type(width) is int and type(height) is int and width > 0 and height > 0
    return Listed(file, one["file_name"], (width, height) if told else None)


def _category(one: Any) -> tuple[Id, str] | None:
    """Its id and name; None without which annotations of it are left out."""
    if not isinstance(one, dict) or not is_id(one.get("id")) or not isinstance(one.get("name"), str):
        return None
    name = readable(one["name"])
    return (one["id"], name) if name else None


def _box(told: object) -> tuple[float, float, float, float] | None:
    """The edges; None for what is not four numbers. Numbers that make no box inside the image are the builder's."""
    if not isinstance(told, list) or len(told) != 4:
        return None
    left, top, width, height = map(as_number, told)
    if left is None or top is None or width is None or height is None:
        return None
    return left, top, left + width, top + height
