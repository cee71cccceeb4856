"""One PASCAL VOC annotation: a stranger's XML in, objects and the rows of a report out.

Elements that could name other files (`filename`, `path`, `folder`) are never read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from ranking.core import Problem
from ranking.core.text import readable, told_apart
from ranking.files import Unusable
from ranking.files.limits import megabytes
from ranking.formats.xml_file import MAX_XML_BYTES, NUMBER, xml_root

EDGES = ("xmin", "ymin", "xmax", "ymax")
Box = tuple[float, float, float, float]
Report = Callable[[str, str, str], None]  # expected, came, done


@dataclass(frozen=True)
class VocObject:
    """One `<object>`: its place among the objects (from 1), and its box as 0-based half-open pixels."""

    number: int
    name: str
    box: Box
    difficult: bool
    actions: dict[str, bool] | None


@dataclass(frozen=True)
class Annotation:
    """The usable objects of one annotation, how many it has in all, and the image size that it claims."""

    objects: tuple[VocObject, ...]
    count: int
    size: tuple[int, int] | None


def read_annotation(data: bytes, file: str) -> tuple[Annotation | None, list[Problem]]:
    """The annotation in `data`, None where it cannot be read at all; and the report's rows about it."""
    problems: list[Problem] = []

    def report(expected: str, came: str, done: str) -> None:
        problems.append(Problem(file, expected, readable(came), done))

    root = _root(data, report)
    if root is None:
        return None, problems
    elements = root.findall("object")
    objects = [_object(element, number, report) for number, element in enumerate(elements, 1)]
    usable = tuple(item for item in objects if item is not None)
    return Annotation(usable, len(elements), _size(root, report)), problems


def _root(data: bytes, report: Report) -> Element | None:
    try:
        if len(data) > MAX_XML_BYTES:
            raise Unusable(f"XML of at most {megabytes(MAX_XML_BYTES)}", "a larger file")
        return xml_root(data, "annotation")
    except Unusable as error:
        report(error.expected, error.came, "annotation left out")
        return None


def _object(element: Element, number: int, report: Report) -> VocObject | None:
    left_out = "object left out"
    name = told_apart(_text(element, "name"))
    if not name:
        report("a name for every object", f"object {number} has none", left_out)
        return None
    box, came = _box(element)
    if box is None:
        report("a box of four numbers, xmin <= xmax and ymin <= ymax", f"object {number}: {came}", left_out)
        return None
    difficult = _text(element, "difficult")
    if difficult not in ("", "0", "1"):
        report("difficult 0 or 1", f"object {number}: {difficult}", "read as 0")
    return VocObject(number, name, box, difficult == "1", _actions(element, number, report))


def _box(element: Element) -> tuple[Box | None, str]:
    """The box as 0-based half-open pixels, or None and what came instead.

    VOC counts pixels from 1 and includes both ends: xmin = xmax = 1 is the leftmost column, here (0, 1).
    """
    bounds = element.find("bndbox")
    if bounds is None:
        return None, "no bndbox"
    texts = [_text(bounds, edge) for edge in EDGES]
    came = ", ".join(f"{edge} {text or 'missing'}" for edge, text in zip(EDGES, texts, strict=True))
    if not all(NUMBER.fullmatch(text) for text in texts):
        return None, came
    left, top, right, bottom = map(float, texts)
    return (None, came) if right < left or bottom < top else ((left - 1, top - 1, right, bottom), came)


def _actions(element: Element, number: int, report: Report) -> dict[str, bool] | None:
    """Action to shown or not, None where the object has no `<actions>`."""
    found = element.find("actions")
    if found is None:
        return None
    actions = {}
    for action in found:
        value = (action.text or "").strip()
        if value in ("0", "1"):
            actions[told_apart(action.tag)] = value == "1"
        else:
            report(
                "actions marked 0 or 1", f"object {number}: {action.tag} {value or 'empty'}", "action ignored"
            )
    return actions


def _size(root: Element, report: Report) -> tuple[int, int] | None:
    size = root.find("size")
    if size is None:
        return None
    texts = [_text(size, "width"), _text(size, "height")]
    if all(re.fullmatch(r"0*[1-9]\d{0,8}", text, re.ASCII) for text in texts):
        return int(texts[0]), int(texts[1])
    came = " x ".join(text or "missing" for text in texts)
    report("the image's width and height in pixels", came, "kept; the image's own size is used")
    return None


def _text(element: Element, tag: str) -> str:
    return (element.findtext(tag) or "").strip()
