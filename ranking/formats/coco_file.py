"""One JSON file of COCO instances: a stranger's lists in, images, boxes and the rows of a report out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeGuard

from ranking.core import SourceBox
from ranking.core.text import readable, told_apart
from ranking.files import Unusable
from ranking.formats.json_file import as_number, brief
from ranking.formats.tree_source import Grouped

ANNOTATION_LEFT_OUT, IMAGE_LEFT_OUT = "annotation left out", "image left out"
Id = int | str
Key = tuple[str, Id]  # of an image: the file that lists it, and its id there


class Listed(NamedTuple):
    """An image as its JSON file tells it; `file`: that file. size: as claimed, or None. video: that it is a frame of,
    as a group, or None."""

    file: str
    told: str
    size: tuple[int, int] | None
    video: str | None = None


@dataclass
class Instances:
    """Images, the boxes of each, what is wrong with others, and how many boxes are of crowds."""

    images: dict[Key, Listed] = field(default_factory=dict)
    boxes: dict[Key, list[SourceBox]] = field(default_factory=dict)
    problems: Grouped = field(default_factory=Grouped)
    crowds: int = 0


def read_coco(name: str, root: object, keep_crowds: bool, told: Instances) -> None:
    """Add what the JSON file of that name says to `told`; Unusable where it is no COCO."""
    images, annotations, categories = (_list_of(root, key) for key in ("images", "annotations", "categories"))
    shown = readable(name)
    for one in images:
        image = _image(name, one)
        if image is None:
            told.problems.add(shown, "images with an id and a file_name", brief(one), IMAGE_LEFT_OUT)
        elif told.images.setdefault((name, one["id"]), image) is not image:
            told.problems.add(shown, "every image id once", f"{one['id']} again", IMAGE_LEFT_OUT)
    classes = dict(filter(None, map(_category, categories)))
    places: dict[Key, int] = {}
    for one in annotations:
        try:
            key = _image_of(one, name, told)
            places[key] = places.get(key, 0) + 1
            box = _source_box(one, key, places[key], classes, told.images[key].video)
        except Unusable as error:
            told.problems.add(shown, error.expected, error.came, ANNOTATION_LEFT_OUT)
            continue
        is_crowd = one.get("iscrowd") == 1
        told.crowds += is_crowd
        if keep_crowds or not is_crowd:
            told.boxes.setdefault(key, []).append(box)


def _image_of(one: Any, name: str, told: Instances) -> Key:
    image = one.get("image_id") if isinstance(one, dict) else None
    if not is_id(image) or (name, image) not in told.images:
        raise Unusable("annotations of images that are listed", f"image_id {brief(image)}")
    return name, image


def _source_box(
    one: dict[str, Any], key: Key, place: int, classes: dict[Id, str], group: str | None
) -> SourceBox:
    which, category, box = f"image {key[1]}, box {place}", one.get("category_id"), _box(one.get("bbox"))
    if not is_id(category) or category not in classes:
        raise Unusable("a category_id that is listed", f"{which}: {brief(category)}")
    if box is None:
        raise Unusable("bbox of x, y, width and height", f"{which}: {brief(one.get('bbox'))}")
    return SourceBox(box, (classes[category],), group, place)


def _list_of(root: object, key: str) -> list[Any]:
    told = root.get(key) if isinstance(root, dict) else None
    if not isinstance(told, list):
        raise Unusable(f"COCO with a list of {key}", "none" if told is None else type(told).__name__)
    return told


def without_outline(told: dict[str, Any]) -> dict[str, Any]:
    """An object of JSON without what takes most of the room and is not needed."""
    told.pop("segmentation", None)
    return told


def is_id(value: object) -> TypeGuard[Id]:
    """Whether JSON gave what names a thing: a whole number or a text."""
    return isinstance(value, int | str) and not isinstance(value, bool)


def _image(file: str, one: Any) -> Listed | None:
    if not isinstance(one, dict) or not is_id(one.get("id")) or not isinstance(one.get("file_name"), str):
        return None
    width, height, video = one.get("width"), one.get("height"), one.get("video_id")
    group = f"{file}: video {video}" if is_id(video) else None
    if isinstance(width, int) and isinstance(height, int) and width > 0 and height > 0:
        return Listed(file, one["file_name"], (width, height), group)
    return Listed(file, one["file_name"], None, group)


def _category(one: Any) -> tuple[Id, str] | None:
    """Its id and name; None without which annotations of it are left out."""
    if not isinstance(one, dict) or not is_id(one.get("id")) or not isinstance(one.get("name"), str):
        return None
    name = told_apart(one["name"])
    return (one["id"], name) if name else None


def _box(told: object) -> tuple[float, float, float, float] | None:
    """The edges; None for what is not four numbers. Numbers that make no box inside the image are the builder's."""
    if not isinstance(told, list) or len(told) != 4:
        return None
    left, top, width, height = map(as_number, told)
    if left is None or top is None or width is None or height is None:
        return None
    return left, top, left + width, top + height
