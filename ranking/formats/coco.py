"""COCO: one JSON file of images, categories and boxes, or one per part of an image set."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, TypeGuard

from ranking.core import Problem, SourceBox, SourceImage
from ranking.core.errors import InputError
from ranking.core.settings import Json, setting
from ranking.core.text import counted, listed, readable, unique_name
from ranking.datasets.registry import SOURCES
from ranking.files import FileTree, Limits, Unusable
from ranking.files.tree import parent
from ranking.formats.file_beginnings import beginning
from ranking.formats.file_names import display_names, is_image, part_of_annotations
from ranking.formats.json_file import as_number, brief, read_json
from ranking.formats.tree_source import Grouped, Recognised, TreeSource

LAYOUT = "images and a JSON file of COCO instances with images, categories and annotations"
# JSON files of annotations in one image set
MAX_FILES = 50
BEGINS = re.compile(rb'\s*\{\s*"(?:info|licenses|images|annotations|categories|type)"\s*:')
HEAD = 4096
# bytes up to which a file is searched for lists
SMALL = 2**20
LISTS = re.compile(rb'"(?:images|annotations)"\s*:')
ANNOTATION_LEFT_OUT, IMAGE_LEFT_OUT = "annotation ignored", "image ignored"
Id = int | str
# of an image: the file that lists it, and its id there
Key = tuple[str, Id]


class CocoImage(NamedTuple):
    """An image in the list of the JSON file `file`. size: as claimed, or None. video: the video of which it is a frame,
    used as its group, or None."""

    file: str
    file_name: str
    size: tuple[int, int] | None
    video: str | None = None


@dataclass
class Instances:
    """The images, their boxes, problems as report rows, and the number of boxes of crowds."""

    images: dict[Key, CocoImage] = field(default_factory=dict)
    boxes: dict[Key, list[SourceBox]] = field(default_factory=dict)
    problems: Grouped = field(default_factory=Grouped)
    crowds: int = 0


@SOURCES.register("COCO")
@dataclass
class Coco(TreeSource):
    """Lin et al., ECCV 2014; also the COCO exports of Roboflow, CVAT, Label Studio and FiftyOne.

    Boxes are x, y, width and height from 0. `file_name` identifies an image and is never used as a path. Outlines and
    supercategories are not read; categories with the same name are one class. The name of a JSON file or of its folder
    gives the part of its images (train, val, test); otherwise the folder of each image does. Images with the same
    `video_id` are a group.
    """

    layout: ClassVar[str] = LAYOUT

    crowd: str = setting(
        "leave out",
        label="Crowds",
        help="How to handle boxes around groups of objects (iscrowd = 1). They do not show a single object of their "
        "class.",
        choices={"leave out": "ignore", "keep": "keep"},
        advanced=True,
    )

    @classmethod
    def recognise(cls, tree: FileTree) -> Recognised | None:
        """Recognise images with JSON files that begin like COCO."""
        files, images = annotation_files(tree), sum(map(is_image, tree.names))
        if not files or not images:
            return None
        begin = "begins" if len(files) == 1 else "begin"
        shown = listed([readable(name) for name in files])
        return Recognised(0.9, f"{shown} {begin} like COCO, and there are {counted(images, 'image')}")

    def __len__(self) -> int:
        return len(self._instances.images)

    _needs: ClassVar[str] = "an entry in the list of images for every image"

    def _records(self) -> Iterator[SourceImage | Problem]:
        yield from self._instances.problems.rows()
        if crowds := self._instances.crowds:
            done = "ignored" if self.crowd == "leave out" else "kept"
            yield Problem(counted(crowds, "box"), "boxes of single objects", "iscrowd 1", done)
        images, missing = self._images
        yield from missing.rows()
        listed_as = [self._instances.images[key] for key in images.values()]
        parts = [part_of_annotations(image.file) for image in listed_as]
        groups = [[image.video] if image.video else [] for image in listed_as]
        tested, rows = self._which_test(list(images), parts, "the JSON files", groups)
        yield from rows
        names = display_names(list(images))
        for (name, key), image, test in zip(images.items(), listed_as, tested, strict=True):
            boxes = tuple(self._instances.boxes.get(key, ()))
            yield SourceImage(names[name], self._tree.file(name), boxes, test, image.size)

    @cached_property
    def _instances(self) -> Instances:
        """The contents of the files; an unreadable file becomes a report row."""
        files = annotation_files(self._tree)
        if not files:
            raise InputError(self._shown_place(), LAYOUT, "no such file")
        if len(files) > MAX_FILES:
            expected = f"at most {MAX_FILES} JSON files of COCO"
            raise InputError(self._shown_place(), expected, len(files), "import one part")
        instances, limits = Instances(), Limits.from_environment()
        for name in files:
            try:
                root = read_json(self._tree, name, limits, _without_outline)
                _read_coco(name, root, self.crowd == "keep", instances)
            except Unusable as error:
                instances.problems.add(readable(name, 255), error.expected, error.came, "file ignored")
        if not instances.images:
            expected = f"{LAYOUT}, and at least one image in the list"
            raise InputError(self._shown_place(), expected, instances.problems.reasons() or "none")
        return instances

    @cached_property
    def _images(self) -> tuple[dict[str, Key], Grouped]:
        """The entry of each image in the tree, and report rows about missing images and repeated entries."""
        index, missing = self._index, Grouped()
        images: dict[str, Key] = {}
        for key, image in self._instances.images.items():
            try:
                name = index.find(image.file_name, parent(image.file), part_of_annotations(image.file))
                if name in images:
                    raise Unusable("every image once", f"{name} again")
                images[name] = key
            except Unusable as error:
                missing.add(readable(image.file, 255), error.expected, error.came, IMAGE_LEFT_OUT)
        return images, missing


def annotation_files(tree: FileTree) -> list[str]:
    """Return the files of a tree that begin like COCO; if some contain instances, only these, not captions or
    others."""
    begin = beginning(tree, ".json", HEAD, BEGINS.match)
    files = [name for name in begin if _may_list(tree, name)]
    return [name for name in files if "instances" in name] or files


def _may_list(tree: FileTree, name: str) -> bool:
    """Return whether a file that begins like COCO may contain images: Label Studio's export for YOLO includes a file
    with categories only."""
    try:
        head = tree.head(name, SMALL)
    except Unusable:
        # the import reports the reason
        return True
    return len(head) == SMALL or LISTS.search(head) is not None


def _read_coco(name: str, root: object, with_crowds: bool, instances: Instances) -> None:
    """Add the contents of the JSON file of that name to `instances`; Unusable if it is not COCO."""
    images, annotations, categories = (_list_of(root, key) for key in ("images", "annotations", "categories"))
    shown = readable(name)
    for entry in images:
        image = _image(name, entry)
        if image is None:
            instances.problems.add(shown, "images with an id and a file_name", brief(entry), IMAGE_LEFT_OUT)
        elif instances.images.setdefault((name, entry["id"]), image) is not image:
            instances.problems.add(shown, "every image id once", f"{entry['id']} again", IMAGE_LEFT_OUT)
    classes = dict(filter(None, map(_category, categories)))
    places: dict[Key, int] = {}
    for entry in annotations:
        try:
            key = _image_of(entry, name, instances)
            places[key] = places.get(key, 0) + 1
            box = _source_box(entry, key, places[key], classes, instances.images[key].video)
        except Unusable as error:
            instances.problems.add(shown, error.expected, error.came, ANNOTATION_LEFT_OUT)
            continue
        is_crowd = entry.get("iscrowd") == 1
        instances.crowds += is_crowd
        if with_crowds or not is_crowd:
            instances.boxes.setdefault(key, []).append(box)


def _image_of(entry: Any, name: str, instances: Instances) -> Key:
    image = entry.get("image_id") if isinstance(entry, dict) else None
    if not _is_id(image) or (name, image) not in instances.images:
        raise Unusable("annotations of images that are listed", f"image_id {brief(image)}")
    return name, image


def _source_box(entry: Json, key: Key, place: int, classes: dict[Id, str], group: str | None) -> SourceBox:
    which, category, box = f"image {key[1]}, box {place}", entry.get("category_id"), _box(entry.get("bbox"))
    if not _is_id(category) or category not in classes:
        raise Unusable("a category_id that is listed", f"{which}: {brief(category)}")
    if box is None:
        raise Unusable("bbox of x, y, width and height", f"{which}: {brief(entry.get('bbox'))}")
    return SourceBox(box, (classes[category],), group, place)


def _list_of(root: object, key: str) -> list[Any]:
    value = root.get(key) if isinstance(root, dict) else None
    if not isinstance(value, list):
        raise Unusable(f"COCO with a list of {key}", "none" if value is None else type(value).__name__)
    return value


def _without_outline(entry: Json) -> Json:
    """Return a JSON object without the parts that need most memory and are not used."""
    entry.pop("segmentation", None)
    return entry


def _is_id(value: object) -> TypeGuard[Id]:
    """Return whether a JSON value can be an id: a whole number or a text."""
    return isinstance(value, int | str) and not isinstance(value, bool)


def _image(file: str, entry: Any) -> CocoImage | None:
    if (
        not isinstance(entry, dict)
        or not _is_id(entry.get("id"))
        or not isinstance(entry.get("file_name"), str)
    ):
        return None
    width, height, video = entry.get("width"), entry.get("height"), entry.get("video_id")
    group = f"{file}: video {video}" if _is_id(video) else None
    if isinstance(width, int) and isinstance(height, int) and width > 0 and height > 0:
        return CocoImage(file, entry["file_name"], (width, height), group)
    return CocoImage(file, entry["file_name"], None, group)


def _category(entry: Any) -> tuple[Id, str] | None:
    """Return the id and name of a category; None if one is missing, and its annotations are ignored."""
    if not isinstance(entry, dict) or not _is_id(entry.get("id")) or not isinstance(entry.get("name"), str):
        return None
    name = unique_name(entry["name"])
    return (entry["id"], name) if name else None


def _box(value: object) -> tuple[float, float, float, float] | None:
    """Return the edges; None unless there are four numbers. Boxes outside the image are reported when it is built."""
    if not isinstance(value, list) or len(value) != 4:
        return None
    left, top, width, height = map(as_number, value)
    if left is None or top is None or width is None or height is None:
        return None
    return left, top, left + width, top + height
