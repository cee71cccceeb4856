"""COCO: one JSON file of images, categories and boxes, or one per part of an image set."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from ranking.core import Decision, SourceBox
from ranking.core.settings import Json, setting
from ranking.core.text import counted, listed, readable, unique_name
from ranking.datasets.registry import SOURCES
from ranking.files import FileTree, Limits, Unusable
from ranking.files.tree import stem
from ranking.formats.file_beginnings import beginning, with_suffix
from ranking.formats.file_names import is_image, part_of_annotations
from ranking.formats.json_file import brief, list_of, object_of, read_json, size_of
from ranking.formats.listed_images import HEAD, IMAGE_LEFT_OUT, LEFT_OUT, Entry, ListedImages, changed
from ranking.formats.outlines import Box, box_of_outline, corner_and_size

# Datumaro's file begins alike, but its categories are an object.
BEGINS = re.compile(
    rb'\s*\{(?:\s*"(?:info|licenses|images|annotations|categories|type)"\s*:|.*"images"\s*:\s*\[\s*\{)'
    rb'(?!.*"categories"\s*:\s*\{)',
    re.DOTALL,
)
# bytes up to which a file is searched for lists
SMALL = 2**20
LISTS = re.compile(rb'"(?:images|annotations)"\s*:')
WHOLE_NUMBER = re.compile(r"(-?(?:0|[1-9]\d{0,17}))(?:\.0+)?", re.ASCII)
NAME = "file_name"
# pixels, and share of the larger side, by which boxes may reach beyond the image
SLACK_PIXELS, SLACK = 1, 0.02
# of the boxes, those within the image if they are read otherwise
MOST = 0.95
# of the boxes, those within the image as corner and size, from which on a person decides
OPEN = 0.5
FOUND, SIZES, CORNERS, SHARES = "as found", "corner and size", "corners", "shares"
SHOW_UPRIGHT = ("Label Studio",)
BOXES = "bbox of x, y, width and height, or an outline"
Id = int | str


class Crowd(SourceBox):
    """A box around a group of objects."""


@SOURCES.register("COCO")
@dataclass
class Coco(ListedImages):
    """Lin et al., ECCV 2014; also the COCO exports of Roboflow, CVAT, Label Studio and FiftyOne.

    Boxes are x, y, width and height from 0; an outline without a box is replaced by its bounding box. `file_name`, or
    another key that names an image, identifies an image and is never used as a path. Supercategories are not read;
    categories with the same name are one class. The name of a JSON file or of its folder gives the part of its images
    (train, val, test); otherwise the folder of each image does. Images with the same `video_id` are a group.
    """

    layout: ClassVar[str] = "images and a JSON file of COCO instances with images, categories and annotations"
    kind: ClassVar[str] = "COCO"

    crowd: str = setting(
        FOUND,
        label="Crowds",
        help="How to handle boxes around groups of objects (iscrowd = 1). They do not show a single object of their "
        "class. As found, they are ignored unless all boxes are marked so.",
        choices={FOUND: FOUND, "leave out": "ignore", "keep": "keep"},
        advanced=True,
    )
    box_format: str = setting(
        FOUND,
        label="Box format",
        help="What the four numbers of a box are: x, y, width and height; two corners; or x, y, width and height as "
        "shares of the image's.",
        choices=(FOUND, SIZES, CORNERS, SHARES),
        advanced=True,
    )

    @classmethod
    def files(cls, tree: FileTree) -> list[str]:
        """Return the files that begin like COCO; if some contain instances, only these, not captions or others."""
        files = beginning(tree, with_suffix(tree.names, ".json"), HEAD, BEGINS.match)
        # Label Studio's export for YOLO includes a file with categories only
        files = beginning(tree, files, SMALL, lambda head: len(head) == SMALL or LISTS.search(head))
        return [name for name in files if "instances" in name] or files

    def _content(self, file: str) -> Any:
        return read_json(self._tree, file, Limits.from_environment(), _with_box)

    def _entries(self, root: Any, file: str) -> Iterator[Entry]:
        images, annotations = (list_of(root, key, "COCO") for key in ("images", "annotations"))
        classes, part = self._classes(root, file), part_of_annotations(file)
        upright = True if object_of(root, "info").get("contributor") in SHOW_UPRIGHT else None
        entries: dict[Id, Entry] = {}
        boxes: dict[Id, list[SourceBox]] = {}
        for item in images:
            row = object_of(item)
            image, name = _as_id(row.get("id")), self._name_of(row)
            if image is None or name is None:
                self._report(file, "images with an id and a file_name", brief(item), IMAGE_LEFT_OUT)
            elif image in entries:
                self._report(file, "each image id once", f"{image} again", IMAGE_LEFT_OUT)
            else:
                size, video = size_of(row.get("width"), row.get("height")), _as_id(row.get("video_id"))
                group = None if video is None else f"{file}: video {video}"
                entries[image] = Entry(file, name, (), size, part, group, upright)
        # where an annotation has no id of the list, it may have the name of a file
        of_name = {key: image for image, entry in entries.items() for key in (entry.image, stem(entry.image))}
        by_name = 0
        places: Counter[Id] = Counter()
        for row in map(object_of, annotations):
            image = _as_id(row.get("image_id"))
            if image not in entries and isinstance(image, str) and image in of_name:
                image, by_name = of_name[image], by_name + 1
            if image is None or image not in entries:
                came = f"image_id {brief(row.get('image_id'))}"
                self._report(file, "the id of an image in the list of images", came, LEFT_OUT)
                continue
            places[image] += 1
            try:
                box = _source_box(row, f"image {image}, box {places[image]}", classes)
                boxes.setdefault(image, []).append(replace(box, number=places[image]))
            except Unusable as error:
                self._report(file, error.expected, error.came, LEFT_OUT)
        if by_name:
            evidence = f"in {counted(by_name, 'annotation')}, image_id is a file name and not an id of the "
            "list of images"
            self._decide(Decision("image ids", "names of files", evidence))
        if classes is None and boxes:
            self._decide(
                Decision("classes", "named by their numbers", f"{readable(file)} lists no categories")
            )
        for image, entry in entries.items():
            yield entry._replace(boxes=tuple(boxes.get(image, ())))

    def _classes(self, root: Json, file: str) -> dict[Id, str] | None:
        """Return the names of the categories by id; None if the file lists none.

        A category without an id or a name, or with several names, is left out, and its annotations are ignored.
        """
        if not root.get("categories"):
            return None
        named: dict[Id, list[str]] = {}
        for row in map(object_of, list_of(root, "categories", "COCO")):
            number, name = _as_id(row.get("id")), row.get("name")
            if number is not None and isinstance(name, str) and (name := unique_name(name)):
                named.setdefault(number, [])
                named[number] += [name] * (name not in named[number])
        for number, names in named.items():
            if len(names) > 1:
                came, done = f"{number} is {' and '.join(names)}", "its annotations are ignored"
                self._report(file, "one name for each category id", came, done)
        classes = {number: names[0] for number, names in named.items() if len(names) == 1}
        for number, name in classes.items():
            self._names.setdefault(number, {}).setdefault(name, file)
        self._join_equal(classes, file)
        return classes

    @cached_property
    def _names(self) -> dict[Id, dict[str, str]]:
        """The names of each category id, each with the first file that states it."""
        return {}

    def _name_of(self, row: Json) -> str | None:
        """Return the file name of an image: by file_name, or by another key that names an image; None if there is
        none."""
        keys = [key for key in dict.fromkeys((NAME, *row)) if isinstance(row.get(key), str)]
        known = [key for key in keys if self._index.knows(row[key])]
        key = next(iter(known or [key for key in keys if key == NAME or is_image(row[key])]), None)
        self._named_by[key] += 1
        if key not in (None, NAME):
            count = self._named_by[key]
            evidence = f"of {counted(self._named_by.total(), 'image')}, {count:,} are named by {key}"
            self._decide(Decision("file names", readable(f"by {key}, not by {NAME}"), readable(evidence)))
        return None if key is None else row[key]

    @cached_property
    def _named_by(self) -> Counter[str | None]:
        return Counter()

    def _interpreted(self, entries: list[Entry]) -> list[Entry]:
        differ = {number: names for number, names in self._names.items() if len(names) > 1}
        if differ:
            shown = listed([f"{number} is {_by_files(names)}" for number, names in differ.items()])
            chosen = "each file has its own"
            self._decide(Decision("numbers of classes", chosen, f"other names in other files: {shown}"))
        crowds = [isinstance(box, Crowd) for entry in entries for box in entry.boxes]
        keep = self.crowd == "keep" or (self.crowd == FOUND and all(crowds))
        entries = self._by_mark(entries, "iscrowd", lambda box: isinstance(box, Crowd), "crowd", keep)
        return self._shown_upright(self._with_format(super()._interpreted(entries)))

    def _with_format(self, entries: list[Entry]) -> list[Entry]:
        """Read the four numbers of all boxes as most of them fit their images."""
        sized = [(box.box, entry.size) for entry in entries for box in entry.boxes if box.box and entry.size]
        of_all = f"of {counted(len(sized), 'box')} lie within their images"
        fit = sum(_is_within(box, size) for box, size in sized)
        fit_as_corners = sum(_is_within(_as_corners(box), size) for box, size in sized)
        now, evidence = SIZES, f"{fit:,} {of_all}"
        if sized and all(_is_within(box, (1, 1), 0) for box, _ in sized):
            now, evidence = SHARES, f"all numbers of {counted(len(sized), 'box')} lie between 0 and 1"
        elif fit < fit_as_corners and fit_as_corners >= MOST * len(sized):
            now, evidence = CORNERS, f"{fit_as_corners:,} {of_all} as corners, {fit:,} as corner and size"
        if self.box_format != FOUND:
            now = self.box_format
        if sized:
            others = tuple(form for form in (SIZES, CORNERS, SHARES) if form != now)
            is_open = self.box_format == FOUND and now == CORNERS and fit >= OPEN * len(sized)
            self._decide(Decision("box format", now, evidence, "box_format", now, others, is_open))

        def read(box: SourceBox) -> SourceBox:
            edges = _as_corners(box.box) if box.box and now == CORNERS else box.box
            return replace(box, box=edges, relative=now == SHARES and edges is not None)

        return changed(entries, read)

    def _shown_upright(self, entries: list[Entry]) -> list[Entry]:
        """Find boxes that belong to images rotated by their EXIF orientation, beside sizes of the stored images."""
        sized = [(box.box, entry.size) for entry in entries for box in entry.boxes if box.box and entry.size]
        beyond = [(box, size) for box, size in sized if not _is_within(box, size)]
        turned = sum(_is_within(box, size[::-1]) for box, size in beyond)
        by_tool = sum(entry.upright is True for entry in entries)
        if not by_tool and not (beyond and turned == len(beyond)):
            return entries
        evidence = (
            f"{turned:,} of {counted(len(sized), 'box')} lie within the stated size only if it is turned"
        )
        if by_tool:
            evidence = f"info.contributor of {counted(by_tool, 'image')} is a tool that shows images upright"
        self._decide(Decision("rotated photographs", "boxes belong to the upright image", evidence))
        return [entry._replace(upright=entry.upright or turned > 0 or None) for entry in entries]


def _by_files(names: dict[str, str]) -> str:
    return " and ".join(f"{name} in {readable(file)}" for name, file in names.items())


def _source_box(item: Json, which: str, classes: dict[Id, str] | None) -> SourceBox:
    """Return the box of an annotation; its box is None if there is neither a bbox nor an outline."""
    category, edges = _as_id(item.get("category_id")), item.get("bbox")
    box = corner_and_size(edges)
    if (box is None or box[0] == box[2] or box[1] == box[3]) and item.get("segmentation"):
        box = box_of_outline(item["segmentation"]) or box
    if "category_id" not in item:
        raise Unusable(
            "boxes with a category_id, not captions or panoptic segments", f"{which}: {brief(item)}"
        )
    if category is None or (classes is not None and category not in classes):
        raise Unusable("a category_id that is listed", f"{which}: {brief(item['category_id'])}")
    if box is None and (edges or item.get("segmentation")):
        raise Unusable(BOXES, f"{which}: {brief(edges or item['segmentation'])}")
    name = f"category {category}" if classes is None else classes[category]
    return (Crowd if item.get("iscrowd") in (1, "1") else SourceBox)(box, (name,))


def _with_box(item: Json) -> Json:
    """Return a JSON object without an outline, which needs most memory, if it has a box."""
    if item.get("bbox"):
        item.pop("segmentation", None)
    return item


def _as_id(value: object) -> Id | None:
    """Return an id, which may be a whole number or a text; 1, 1.0 and "1" are the same; None for anything else.

    >>> _as_id("1"), _as_id(1.0), _as_id("a1"), _as_id("01"), _as_id(True)
    (1, 1, 'a1', '01', None)
    """
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str):
        number = WHOLE_NUMBER.fullmatch(value)
        return value if number is None else int(number[1])
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _as_corners(box: Box) -> Box:
    """Return a box whose width and height are its right and bottom edge."""
    left, top, right, bottom = box
    return left, top, right - left, bottom - top


def _is_within(box: Box, size: tuple[int, int], slack: float | None = None) -> bool:
    """Return whether a box has an area and lies within an image, up to a little slack."""
    (left, top, right, bottom), (width, height) = box, size
    more = SLACK_PIXELS + SLACK * max(size) if slack is None else slack
    return -more <= left < right <= width + more and -more <= top < bottom <= height + more
