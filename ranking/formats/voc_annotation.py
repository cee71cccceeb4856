"""One XML annotation of PASCAL VOC: its objects, and the size of its image."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element

from ranking.core import Problem
from ranking.core.text import readable, unique_name
from ranking.files import Unusable
from ranking.formats.xml_file import NUMBER, child, text_of, xml_root

EDGES = ("xmin", "ymin", "xmax", "ymax")
ORIENTED = ("cx", "cy", "w", "h", "angle")
DIFFICULT = dict.fromkeys(("1", "true", "yes"), True)
DIFFICULT |= dict.fromkeys(("", "0", "false", "no", "unspecified"), False)
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class VocObject:
    """One box of an `<object>`, in 0-based half-open pixels, and the values of its `<actions>`, or None.

    number: the position of the object (from 1); of its second box, a number after those of all objects. outline: the
    element of a shape that is no box, around which the box is.
    """

    number: int
    name: str
    box: Box
    difficult: bool
    actions: dict[str, bool] | None
    outline: str = ""


@dataclass(frozen=True)
class Annotation:
    """The usable objects of one annotation, the number of all its objects, and the image size that it claims."""

    objects: tuple[VocObject, ...]
    count: int
    size: tuple[int, int] | None


def read_annotation(data: bytes, file: str, encoding: str = "") -> tuple[Annotation | None, list[Problem]]:
    """Return the annotation in `data`, None if it cannot be read; and report rows about `file`.

    encoding: of the text; "": as the file declares.
    """
    try:
        root = xml_root(data, "annotation", encoding)
    except Unusable as error:
        return None, [Problem(file, error.expected, readable(error.came), "image ignored")]
    problems: list[Problem] = []
    elements = [element for element in root.iter() if element.tag.lower() == "object"]
    objects = [_object(element, number, file, problems) for number, element in enumerate(elements, 1)]
    first = [items[0] for items in objects if items]
    # Further boxes are numbered after all objects, so that ids of samples stay.
    further = enumerate((item for items in objects for item in items[1:]), len(elements) + 1)
    usable = (*first, *(replace(item, number=number) for number, item in further))
    return Annotation(usable, len(elements), _size(root, file, problems)), problems


def _object(element: Element, number: int, file: str, problems: list[Problem]) -> list[VocObject]:
    """Return one object for each box."""

    def report(expected: str, came: str, done: str) -> None:
        problems.append(Problem(file, expected, readable(f"object {number}{came}"), done))

    name, difficult = unique_name(text_of(element, "name")), text_of(element, "difficult").lower()
    if not name:
        report("a name for every object", " has none", "object ignored")
        return []
    if "\N{REPLACEMENT CHARACTER}" in name:
        done = "object ignored; the setting Encoding of the XML files names another"
        report("names in the encoding that the file declares", f": {name}", done)
        return []
    boxes, outline = _boxes(element, report)
    if not boxes:
        return []
    if difficult not in DIFFICULT:
        report("difficult 0 or 1", f": {difficult}", "read as 0")
    marks = child(element, "actions")
    actions: dict[str, bool] = {}
    for mark in () if marks is None else marks:
        value = (mark.text or "").strip()
        if value in ("0", "1"):
            actions[unique_name(mark.tag)] = value == "1"
        else:
            report("actions marked 0 or 1", f": {mark.tag} {value or 'empty'}", "action ignored")
    is_difficult = DIFFICULT.get(difficult, False)
    own = None if marks is None else actions
    return [VocObject(number, name, box, is_difficult, own, outline) for box in boxes]


def _boxes(element: Element, report: Callable[[str, str, str], None]) -> tuple[tuple[Box, ...], str]:
    """Return the boxes of an object, and the element of an outline or oriented box in place of a box, or ""."""
    boxes = []
    for bounds in (bounds for bounds in element if bounds.tag.lower() == "bndbox"):
        box, came = _edges([text_of(bounds, edge) for edge in EDGES])
        if box is None:
            expected = "a box of four numbers, xmin <= xmax and ymin <= ymax"
            report(expected, f": {came}", "box ignored")
        else:
            boxes.append(box)
    if boxes or child(element, "bndbox") is not None:
        return tuple(boxes), ""
    for tag, corners in (("polygon", _corners), ("robndbox", _turned)):
        shape = child(element, tag)
        points = corners(shape) if shape is not None else []
        if points:
            across, down = zip(*points, strict=True)
            return ((min(across), min(down), max(across), max(down)),), tag
    report("a box of four numbers, xmin <= xmax and ymin <= ymax", ": no bndbox", "object ignored")
    return (), ""


def _edges(texts: list[str]) -> tuple[Box | None, str]:
    """Return the box in 0-based half-open pixels, or None and a description of the value.

    VOC counts pixels from 1 and includes both ends: xmin = xmax = 1 is the leftmost column, here (0, 1).
    """
    came = ", ".join(f"{edge} {text or 'missing'}" for edge, text in zip(EDGES, texts, strict=True))
    if not all(map(NUMBER.fullmatch, texts)):
        return None, came
    left, top, right, bottom = map(float, texts)
    return (None, came) if right < left or bottom < top else ((left - 1, top - 1, right, bottom), came)


def _corners(polygon: Element) -> list[tuple[float, float]]:
    """Return the points of an outline, whose elements are x1, y1, x2, ... or x and y of each pt."""
    values: dict[str, list[float]] = {"x": [], "y": []}
    for element in polygon.iter():
        axis, text = element.tag.lower().rstrip("0123456789"), (element.text or "").strip()
        if axis in values and NUMBER.fullmatch(text):
            values[axis].append(float(text))
    return list(zip(values["x"], values["y"], strict=False)) if len(values["x"]) == len(values["y"]) else []


def _turned(bounds: Element) -> list[tuple[float, float]]:
    """Return the corners of an oriented box, whose angle is in radians."""
    texts = [text_of(bounds, tag) for tag in ORIENTED]
    if not all(map(NUMBER.fullmatch, texts)):
        return []
    x, y, width, height, angle = map(float, texts)
    across, down = math.cos(angle), math.sin(angle)
    ends = [(right * width / 2, low * height / 2) for right in (-1, 1) for low in (-1, 1)]
    return [(x + a * across - b * down, y + a * down + b * across) for a, b in ends]


def _size(root: Element, file: str, problems: list[Problem]) -> tuple[int, int] | None:
    size = child(root, "size")
    if size is None:
        return None
    width, height = text_of(size, "width"), text_of(size, "height")
    if all(re.fullmatch(r"0*[1-9]\d{0,8}", text, re.ASCII) for text in (width, height)):
        return int(width), int(height)
    came, done = f"{width or 'missing'} x {height or 'missing'}", "kept; the image's own size is used"
    problems.append(Problem(file, "the image's width and height in pixels", readable(came), done))
    return None
