"""The objects of one XML annotation of PASCAL VOC, and the size of its image."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from xml.etree.ElementTree import Element

from ranking.core import SourceBox
from ranking.core.text import unique_name
from ranking.files import Unusable
from ranking.formats.outlines import Box, around, box_of_outline
from ranking.formats.xml_file import child, text_of

EDGES = ("xmin", "ymin", "xmax", "ymax")
FOUR_NUMBERS = "a box of four numbers, xmin <= xmax and ymin <= ymax"
# expected, came and done of a report row
Report = Callable[[str, str, str], None]


@dataclass(frozen=True)
class VocBox(SourceBox):
    """A box of an `<object>`, in 0-based half-open pixels, with its class and the values of its `<actions>`.

    outline: the element of a shape that is no box, around which the box is.
    """

    difficult: bool = False
    actions: Mapping[str, bool] = field(default_factory=dict)
    outline: str = ""


def read_objects(root: Element, report: Report) -> tuple[VocBox, ...]:
    """Return the boxes of the usable objects, numbered by the positions of the objects.

    Further boxes of an object are numbered after all objects, so that ids of samples stay.
    """
    elements = [element for element in root.iter() if element.tag.lower() == "object"]
    first: list[VocBox] = []
    further: list[VocBox] = []
    for number, element in enumerate(elements, 1):
        try:
            one, *others = (replace(box, number=number) for box in _boxes_of(element, number, report))
        except Unusable as error:
            report(error.expected, f"object {number}{error.came}", "object ignored")
        else:
            first.append(one)
            further += others
    return (*first, *(replace(box, number=number) for number, box in enumerate(further, len(elements) + 1)))


def _boxes_of(element: Element, number: int, report: Report) -> Iterator[VocBox]:
    """Yield a box for each bndbox of an object, or one around its outline; Unusable if there is none."""
    name = unique_name(text_of(element, "name"))
    if not name:
        raise Unusable("a name for every object", " has none")
    if "\N{REPLACEMENT CHARACTER}" in name:
        remedy = "; the setting Encoding of the XML files names another"
        raise Unusable("names in the encoding that the file declares" + remedy, f": {name}")
    marks, actions = child(element, "actions"), {}
    for mark in () if marks is None else marks:
        value = (mark.text or "").strip()
        if value in ("0", "1"):
            actions[unique_name(mark.tag)] = value == "1"
        else:
            report(
                "actions marked 0 or 1", f"object {number}: {mark.tag} {value or 'empty'}", "action ignored"
            )
    is_difficult = text_of(element, "difficult").lower() in ("1", "true", "yes")
    bounds = [inner for inner in element if inner.tag.lower() == "bndbox"]
    for box, outline in [(_edges(inner), "") for inner in bounds] or [_around(element)]:
        yield VocBox(box, (name,), difficult=is_difficult, actions=actions, outline=outline)


def _edges(bounds: Element) -> Box:
    """Return the box in 0-based half-open pixels; Unusable if there is none.

    VOC counts pixels from 1 and includes both ends: xmin = xmax = 1 is the leftmost column, here (0, 1).
    """
    try:
        left, top, right, bottom = _numbers(bounds, EDGES)
        if left <= right and top <= bottom:
            return left - 1, top - 1, right, bottom
    except ValueError:
        pass
    came = ", ".join(f"{edge} {text_of(bounds, edge) or 'missing'}" for edge in EDGES)
    raise Unusable(FOUR_NUMBERS, f": {came}")


def _numbers(element: Element, tags: tuple[str, ...]) -> list[float]:
    """Return the numbers in the children of those names; ValueError if one is none."""
    numbers = [float(text_of(element, tag)) for tag in tags]
    if not all(map(math.isfinite, numbers)):
        raise ValueError
    return numbers


def _around(element: Element) -> tuple[Box, str]:
    """Return the box around an outline or an oriented box, whose angle is in radians, and which of both it is."""
    polygon, turned, box = child(element, "polygon"), child(element, "robndbox"), None
    try:
        if polygon is not None:
            points = [
                inner for inner in polygon.iter() if inner.tag.lower().rstrip("0123456789") in ("x", "y")
            ]
            box = box_of_outline([float(point.text or "") for point in points])
        elif turned is not None:
            x, y, width, height, angle = _numbers(turned, ("cx", "cy", "w", "h", "angle"))
            across, down = abs(math.cos(angle)) / 2, abs(math.sin(angle)) / 2
            box = around(x, y, width * across + height * down, width * down + height * across)
    except ValueError:
        pass
    if box is None:
        raise Unusable(FOUR_NUMBERS, ": no bndbox")
    return box, "robndbox" if polygon is None else "polygon"


def size_in(root: Element) -> tuple[int, int] | None:
    """Return the image size that an annotation states."""
    size = child(root, "size")
    texts = [] if size is None else [text_of(size, "width"), text_of(size, "height")]
    if texts and all(text.isdecimal() and int(text) > 0 for text in texts):
        return int(texts[0]), int(texts[1])
    return None
