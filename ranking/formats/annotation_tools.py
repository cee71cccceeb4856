"""JSON files of annotation tools: CreateML, Datumaro, FiftyOne, labelme, Scalabel, Supervisely and VIA."""

from __future__ import annotations

import codecs
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from ranking.core import Decision, SourceBox
from ranking.core.settings import Json, setting
from ranking.core.text import counted, listed, readable, unique_name
from ranking.datasets.registry import SOURCES
from ranking.datasets.splits import PARTS
from ranking.files import FileTree, Limits, Unusable
from ranking.files.tree import stem, suffix
from ranking.formats.file_beginnings import beginning, with_suffix
from ranking.formats.file_names import bare, part_of_annotations
from ranking.formats.json_file import brief, items_of, list_of, object_of, size_of
from ranking.formats.listed_images import HEAD, LEFT_OUT, Entry, ListedImages
from ranking.formats.outlines import Box, around, box_of_outline, corner_and_size, numbers_of
from ranking.formats.table_file import read_table

# of the annotations that have the most frequent attribute: the share that the attribute of the class has
OFTEN = 0.5
LABEL = "label"
# what tools call annotations of whole images
WHOLE = ("label", "tag")
# tools with a file for each image, whose name is no part
ONE_FOR_EACH = ("labelme", "Supervisely")
SHAPE, LABELS = "region_shape_attributes", "region_attributes"


@dataclass(frozen=True)
class Described(SourceBox):
    """A box with labels by attribute, one of which gives its classes. is_guess: a model predicted them."""

    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_guess: bool = False


class Found(NamedTuple):
    """An image in a file and its annotations. names: that it may have, the most certain first."""

    names: tuple[object, ...]
    annotations: list[Any]
    size: tuple[int, int] | None = None
    part: str | None = None


def _described(kind: object, box: Box | None, labels: Mapping[str, object], **more: Any) -> Described:
    """Return an annotation. kind: as its tool calls it. Unusable if it should have a box and has none."""
    if box is None and kind not in WHOLE:
        raise Unusable("boxes and outlines that enclose something, or labels of whole images", brief(kind))
    named = {key: _labels_of(value) for key, value in labels.items()}
    return Described(box, (), attributes={key: names for key, names in named.items() if names}, **more)


def _labels_of(value: object) -> tuple[str, ...]:
    """Return the labels in an attribute: a text, a number, a list, or an object that says which ones are selected.

    >>> _labels_of("cat"), _labels_of({"cat": True, "dog": False}), _labels_of(["a", 2]), _labels_of("")
    (('cat',), ('cat',), ('a', '2'), ())
    """
    if isinstance(value, dict):
        value = [key for key, is_set in value.items() if is_set]
    names = (unique_name(str(text)) for text in items_of(value) or [value] if isinstance(text, str | int))
    return tuple(dict.fromkeys(filter(None, names)))


def _values(item: Json, *keys: str) -> list[Any]:
    return [item.get(key) for key in keys]


def _createml(root: Any, _: str) -> Iterator[Found]:
    for item in map(object_of, items_of(root)):
        yield Found((item.get("image"), item.get("imagefilename")), items_of(item.get("annotations")))


def _of_createml(item: Json) -> Described:
    x, y, width, height = _values(object_of(item, "coordinates"), "x", "y", "width", "height")
    box = around(x, y, *(side / 2 for side in numbers_of([width, height])))
    return _described("coordinates", box, {LABEL: item.get("label")})


def _datumaro(root: Any, _: str) -> Iterator[Found]:
    labels = items_of(object_of(object_of(root, "categories"), "label").get("labels"))
    names = [object_of(label).get("name") for label in labels]
    for item in map(object_of, list_of(root, "items", "Datumaro")):
        media = object_of(item, "image") or object_of(item, "media")
        rows = _named(items_of(item.get("annotations")), "label_id", names)
        size = size_of(*items_of(media.get("size"))[1::-1])
        yield Found((media.get("path"), item.get("id")), rows, size)


def _of_datumaro(item: Json) -> Described:
    kind, box = item.get("type"), corner_and_size(item.get("bbox"))
    if kind in ("polygon", "ellipse", "mask"):
        box = box_of_outline(item.get("rle") or item.get("points"))
    return _described(kind, box, {LABEL: item.get("label_id")})


def _fiftyone(root: Any, _: str) -> Iterator[Found]:
    classes = items_of(object_of(root).get("classes"))
    for name, value in object_of(root, "labels").items():
        rows = value if isinstance(value, list) else [] if value is None else [value]
        alone = [row if isinstance(row, dict) else {"label": row} for row in rows]
        yield Found((name,), _named(alone, "label", classes))
    for sample in map(object_of, items_of(object_of(root).get("samples"))):
        fields = {key: object_of(value) for key, value in sample.items()}
        rows = [{**value, "field": key} for key, value in fields.items() if "label" in value]
        for key, value in fields.items():
            for several in ("detections", "classifications", "polylines"):
                rows += [{**object_of(item), "field": key} for item in items_of(value.get(several))]
        tags = (PARTS[tag] for tag in items_of(sample.get("tags")) if tag in PARTS)
        yield Found((sample.get("filepath"),), rows, part=next(tags, None))


def _of_fiftyone(item: Json) -> Described:
    edges, points = _values(item, "bounding_box", "points")
    labels = {str(item.get("field", LABEL)): item.get("label")}
    box, kind = corner_and_size(edges) or box_of_outline(points), "outline" if edges or points else "label"
    return _described(kind, box, labels, relative=True, is_guess=item.get("confidence") is not None)


def _labelme(root: Any, file: str) -> Iterator[Found]:
    size = size_of(root.get("imageWidth"), root.get("imageHeight"))
    # the image may have been renamed with its file
    yield Found((root.get("imagePath"), bare(file)), list_of(root, "shapes", "labelme"), size)


def _of_labelme(item: Json) -> Described:
    kind, points = _values(item, "shape_type", "points")
    numbers, box = numbers_of(points), box_of_outline(points)
    if kind == "circle" and len(numbers) == 4:
        radius = math.dist(numbers[:2], numbers[2:])
        box = around(*numbers[:2], radius, radius)
    box = None if kind in ("point", "points", "line", "linestrip") else box
    return _described(kind, box, {LABEL: item.get("label")})


def _scalabel(root: Any, _: str) -> Iterator[Found]:
    for item in map(object_of, root if isinstance(root, list) else list_of(root, "frames", "Scalabel")):
        yield Found((item.get("name"),), items_of(item.get("labels")))


def _of_scalabel(item: Json) -> Described:
    left, top, right, bottom = _values(object_of(item, "box2d"), "x1", "y1", "x2", "y2")
    return _described("no box2d", box_of_outline([left, top, right, bottom]), {LABEL: item.get("category")})


def _supervisely(root: Any, file: str) -> Iterator[Found]:
    size = size_of(*_values(object_of(root, "size"), "width", "height"))
    # 1.jpg.json, beside a folder of images
    yield Found((stem(file),), list_of(root, "objects", "Supervisely"), size)


def _of_supervisely(item: Json) -> Described:
    outline = object_of(item, "points").get("exterior")
    return _described(item.get("geometryType"), box_of_outline(outline), {LABEL: item.get("classTitle")})


def _via(root: Any, _: str) -> Iterator[Found]:
    for item in map(object_of, items_of(object_of(root).get("_via_img_metadata", root))):
        regions = items_of(item.get("regions"))
        # a row of an image without regions has an empty shape
        drawn = [region for region in regions if object_of(region).get("shape_attributes") != {}]
        yield Found((item.get("filename"),), drawn)


def _of_via(item: Json) -> Described:
    shape = object_of(item, "shape_attributes")
    across, down = (items_of(shape.get(key)) for key in ("all_points_x", "all_points_y"))
    rectangle, centre = _values(shape, "x", "y", "width", "height"), _values(shape, "cx", "cy")
    sides = shape.get("r", shape.get("rx")), shape.get("r", shape.get("ry"))
    points = box_of_outline([list(point) for point in zip(across, down, strict=False)])
    box = points or corner_and_size(rectangle) or around(*centre, *sides)
    return _described(shape.get("name"), box, object_of(item, "region_attributes"))


def _named(rows: list[Any], key: str, names: list[Any]) -> list[Json]:
    """Return annotations with the name of a class instead of its number."""
    named = dict(enumerate(names))
    return [
        {**row, key: named.get(number, number)} if isinstance(number := row.get(key), int) else row
        for row in map(object_of, rows)
    ]


def _via_of_table(rows: Iterator[dict[str, str]]) -> Json:
    """Return the rows of VIA's table as its JSON."""
    images: dict[str, Json] = {}
    for row in rows:
        name = row.get("filename") or row.get("#filename", "")
        region = {"shape_attributes": _json(row.get(SHAPE)), "region_attributes": _json(row.get(LABELS))}
        images.setdefault(name, {"filename": name, "regions": []})["regions"].append(region)
    return images


def _json(text: str | None) -> Any:
    """Return the object in a cell."""
    try:
        return json.loads(text or "{}")
    except (ValueError, RecursionError):
        # no shape has this key, and a report row quotes it
        return {"name": text}


class Tool(NamedTuple):
    """begins: the first bytes of its files. images, read: the images in the content of a file of that name, and an
    annotation of one. upright: as in `SourceImage`."""

    begins: re.Pattern[bytes]
    images: Callable[[Any, str], Iterator[Found]]
    read: Callable[[Json], Described]
    upright: bool | None = None


TOOLS = {
    "CreateML": Tool(re.compile(rb'\s*\[\s*\{.*?"coordinates"\s*:', re.DOTALL), _createml, _of_createml),
    "Datumaro": Tool(re.compile(rb'\s*\{.*?"categories"\s*:\s*\{', re.DOTALL), _datumaro, _of_datumaro),
    "FiftyOne": Tool(
        re.compile(
            # a long list of classes may fill the first bytes
            rb'\s*\{\s*(?:"classes"\s*:\s*\[[^\]]*\Z'
            rb'|(?:"classes"\s*:\s*(?:null|\[[^\]]*\])\s*,\s*)?"(?:labels"\s*:\s*\{|samples"\s*:\s*\[))'
        ),
        _fiftyone,
        _of_fiftyone,
        True,
    ),
    "labelme": Tool(re.compile(rb'\s*\{.*?"(?:shapes|imagePath)"\s*:', re.DOTALL), _labelme, _of_labelme),
    "Scalabel": Tool(re.compile(rb'\s*[\[{].*?"box2d"\s*:', re.DOTALL), _scalabel, _of_scalabel),
    "Supervisely": Tool(re.compile(rb'\s*\{.*?"classTitle"\s*:', re.DOTALL), _supervisely, _of_supervisely),
    "VIA": Tool(
        re.compile(
            rb'\s*\{\s*"(?:_via_\w+"|[^"]*"\s*:\s*\{\s*"(?:filename|fileref)"\s*:)|#?filename,[^\r\n]*region_shape_attributes'
        ),
        _via,
        _of_via,
        True,
    ),
}


def _tool(head: bytes) -> str | None:
    return next((name for name, tool in TOOLS.items() if tool.begins.match(head)), None)


@SOURCES.register("Annotation tools")
@dataclass
class AnnotationTools(ListedImages):
    """Files of CreateML, Datumaro, FiftyOne, labelme (also AnyLabeling), Scalabel, Supervisely and VIA.

    Boxes and outlines are samples, with their bounding boxes; labels of whole images are samples if there is nothing
    else. Points and lines are not read. The name of a file, or the tags of a sample, give its part (train, val, test).
    """

    layout: ClassVar[str] = f"images and JSON files of an annotation tool: {', '.join(TOOLS)}"
    kind: ClassVar[str] = "those of an annotation tool"

    attribute: str = setting(
        "",
        label="Attribute of the class",
        help="The attribute of the annotations that gives their class. Empty: the only one that has several values.",
        advanced=True,
    )

    @classmethod
    def files(cls, tree: FileTree) -> list[str]:
        """Return the files that begin like those of one of the tools."""
        return beginning(
            tree, with_suffix(tree.names, ".json") + with_suffix(tree.names, ".csv"), HEAD, _tool
        )

    def _content(self, file: str) -> Any:
        if suffix(file) != ".csv":
            return super()._content(file)
        table = read_table(self._tree, file, Limits.from_environment())
        return _via_of_table(dict(zip(table.header, cells, strict=False)) for _, cells in table.rows())

    def _entries(self, root: Any, file: str) -> Iterator[Entry]:
        name = _tool(self._tree.head(file, HEAD).removeprefix(codecs.BOM_UTF8)) or ""
        self._tools[name] += 1
        counts = (f"{counted(count, 'file')} of {tool}" for tool, count in self._tools.items())
        self._decide(Decision("tool", listed(list(self._tools)), ", ".join(counts)))
        for found in TOOLS[name].images(root, file):
            names = [text for text in found.names if isinstance(text, str)] or ["no name"]
            image = next(filter(self._index.knows, names), names[0])
            boxes = []
            for number, annotation in enumerate(map(object_of, found.annotations), 1):
                try:
                    boxes.append(replace(TOOLS[name].read(annotation), number=number))
                except Unusable as error:
                    came = f"{image}, annotation {number}: {error.came}"
                    self._problems.add(name, error.expected, came, LEFT_OUT)
            part = found.part or (None if name in ONE_FOR_EACH else part_of_annotations(file))
            yield Entry(file, image, tuple(boxes), found.size, part, upright=TOOLS[name].upright)

    @cached_property
    def _tools(self) -> Counter[str]:
        return Counter()

    def _interpreted(self, entries: list[Entry]) -> list[Entry]:
        chosen = self._attribute(entries)
        return super()._interpreted([self._with_classes(entry, chosen) for entry in entries])

    def _attribute(self, entries: list[Entry]) -> str | None:
        """Return the attribute of the class; None if there are no attributes, and all annotations have one class."""
        values: dict[str, Counter[tuple[str, ...]]] = {}
        guesses: set[str] = set()
        for box in (box for entry in entries for box in entry.boxes if isinstance(box, Described)):
            for key, labels in box.attributes.items():
                values.setdefault(key, Counter())[labels] += 1
            guesses |= set(box.attributes if box.is_guess else ())
        made = {key: counts for key, counts in values.items() if key not in guesses} or values
        most = max((counts.total() for counts in made.values()), default=0)
        often = [key for key, counts in made.items() if counts.total() >= OFTEN * most]
        # a constant is no class, and neither are texts that never repeat
        several = [key for key in often if 1 < len(values[key]) < values[key].total()] or often
        if not several:
            self._decide(Decision("classes", "one class, object", "no annotation has a label"))
            return None
        chosen = self.attribute or several[0]
        if len(values) > 1:
            counts = values.get(chosen, Counter())
            examples = listed([readable(", ".join(labels)) for labels in counts])
            evidence = (
                f"{counted(len(counts), 'value')} in {counted(counts.total(), 'annotation')}: {examples}"
            )
            evidence += f"; {listed(sorted(guesses))} with confidences" if guesses else ""
            others = tuple(key for key in values if key != chosen)
            is_open = not self.attribute and len(several) > 1
            self._decide(
                Decision("attribute of the class", chosen, evidence, "attribute", chosen, others, is_open)
            )
        return chosen

    def _with_classes(self, entry: Entry, chosen: str | None) -> Entry:
        boxes = []
        for box in entry.boxes:
            attributes = box.attributes if isinstance(box, Described) else {}
            if chosen is None or chosen in attributes:
                classes = ("object",) if chosen is None else attributes[chosen]
                boxes.append(replace(box, classes=classes))
            else:
                came = f"{entry.image}, annotation {box.number}: {listed(list(attributes)) or 'none'}"
                self._report(entry.file, f"the attribute {chosen}", came, LEFT_OUT)
        return entry._replace(boxes=tuple(boxes))
