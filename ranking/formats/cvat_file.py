"""One XML file of CVAT, for images or for video: a stranger's XML in, images, boxes and the rows of a report out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.etree.ElementTree import Element

from ranking.core import SourceBox
from ranking.core.text import readable, told_apart
from ranking.files import Unusable
from ranking.formats.outlines import Box, around, turned
from ranking.formats.tree_source import Grouped
from ranking.formats.xml_file import NUMBER

LEFT_OUT = "annotation left out"
SIDE = re.compile(r"0*[1-9]\d{0,8}", re.ASCII)
FRAME = re.compile(r"\d{1,9}", re.ASCII)
Size = tuple[int, int]


class Key(NamedTuple):
    """Of an image: the file that tells of it, its task and subset or "", and its name, of a frame without an ending."""

    file: str
    task: str
    subset: str
    name: str


@dataclass
class Drawn:
    """An image as CVAT tells it. tags: labels of the whole of it. group: that of the image, or None."""

    size: Size | None
    group: str | None = None
    boxes: list[SourceBox] = field(default_factory=list)
    tags: dict[str, int] = field(default_factory=dict)
    shapes: int = 0

    def all_boxes(self) -> tuple[SourceBox, ...]:
        """The boxes, after that of the whole image where it has tags."""
        if not self.tags:
            return tuple(self.boxes)
        number = next(iter(self.tags.values()))
        return SourceBox(None, tuple(self.tags), self.group, number), *self.boxes


@dataclass
class Drawings:
    """What the files tell, and what is wrong with the rest."""

    images: dict[Key, Drawn] = field(default_factory=dict)
    problems: Grouped = field(default_factory=Grouped)


def read_cvat(file: str, root: Element, told: Drawings) -> None:
    """Add what the XML file of that name says to `told`.

    A group is a track, or where tracks were taken apart into frames the task of a video.
    """
    videos, only = _videos(root)
    for image in root.iterfind("image"):
        name, task = image.get("name", ""), image.get("task_id", only)
        if not name:
            told.problems.add(
                readable(file, 255), "images with a name", f"image {image.get('id')}", "image left out"
            )
            continue
        size = _size(image.get("width", ""), image.get("height", ""))
        group = f"{file}: task {task}" if task in videos else None
        drawn = told.images.setdefault(Key(file, task, image.get("subset", ""), name), Drawn(size, group))
        for shape in image:
            _add(shape, shape.get("label", ""), drawn, group, f"image {name}", told.problems, file)
    size = _frame_size(root)
    for number, track in enumerate(root.iterfind("track"), 1):
        task = track.get("task_id", only)
        which = f"task {task}, " * (task != "") + f"track {track.get('id', f'number {number}')}"
        for shape in track:
            frame = shape.get("frame", "")
            if not FRAME.fullmatch(frame):
                told.problems.add(
                    readable(file, 255), "shapes with a frame", f"{which}: {frame or 'none'}", LEFT_OUT
                )
            elif shape.get("outside") != "1":  # where the object cannot be seen
                key = Key(file, task, track.get("subset", ""), f"frame_{int(frame):06}")
                drawn = told.images.setdefault(key, Drawn(size))
                label = track.get("label", "")
                _add(shape, label, drawn, f"{file}: {which}", f"{which}, frame {frame}", told.problems, file)


def _add(
    shape: Element, label: str, drawn: Drawn, group: str | None, where: str, problems: Grouped, file: str
) -> None:
    """A shape becomes a box of `drawn`, or a row of the report."""
    drawn.shapes += 1
    try:
        if shape.tag not in SHAPES:
            raise Unusable("boxes, outlines, ellipses and tags", f"<{shape.tag}>")
        name = told_apart(label)
        if not name:
            raise Unusable("a label for every shape", f"<{shape.tag}> without")
        box = SHAPES[shape.tag](shape)
        if box is None:
            drawn.tags.setdefault(name, drawn.shapes)
        else:
            drawn.boxes.append(SourceBox(box, (name,), group, drawn.shapes))
    except Unusable as error:
        problems.add(readable(file, 255), error.expected, f"{where}: {error.came}", LEFT_OUT)


def _box(shape: Element) -> Box:
    left, top, right, bottom = _numbers(shape, "xtl", "ytl", "xbr", "ybr")
    return _turned((left, top, right, bottom), shape)


def _ellipse(shape: Element) -> Box:
    x, y, across, down = _numbers(shape, "cx", "cy", "rx", "ry")
    return _turned((x - across, y - down, x + across, y + down), shape)


def _turned(box: Box, shape: Element) -> Box:
    """The box around it where it is turned, which is about its middle."""
    if shape.get("rotation") is None:
        return box
    (degrees,) = _numbers(shape, "rotation")
    return turned(box, degrees, ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)) if degrees else box


def _outline(shape: Element) -> Box:
    told = shape.get("points", "")
    corners = [corner.split(",") for corner in told.split(";")]
    if not all(len(corner) == 2 and all(map(_is_number, corner)) for corner in corners):
        raise Unusable("points of x,y apart by ;", told or "none")
    return around((float(x), float(y)) for x, y in corners)


def _tag(shape: Element) -> None:
    """It is of the whole image."""


SHAPES: dict[str, Callable[[Element], Box | None]] = {
    "box": _box,
    "polygon": _outline,
    "ellipse": _ellipse,
    "tag": _tag,
}


def _numbers(shape: Element, *keys: str) -> list[float]:
    texts = [shape.get(key, "") for key in keys]
    if not all(map(_is_number, texts)):
        came = ", ".join(f"{key} {text or 'missing'}" for key, text in zip(keys, texts, strict=True))
        raise Unusable(f"numbers {', '.join(keys)}", came)
    return [float(text) for text in texts]


def _is_number(text: str) -> bool:
    return NUMBER.fullmatch(text.strip()) is not None


def _videos(root: Element) -> tuple[set[str], str]:
    """The ids of the tasks or jobs that are of a video, and the id of the only one, or ""."""
    modes = {
        one.findtext("id", "").strip(): one.findtext("mode", "").strip()
        for meta in root.iterfind("meta")
        for one in meta.iter()
        if one.find("mode") is not None
    }
    videos = {task for task, mode in modes.items() if mode == "interpolation"}
    return videos, next(iter(modes)) if len(modes) == 1 else ""


def _frame_size(root: Element) -> Size | None:
    """That of the frames of a video, where the file tells one."""
    found = {
        _size(one.findtext("width", ""), one.findtext("height", ""))
        for meta in root.iterfind("meta")
        for one in meta.iter("original_size")
    }
    return found.pop() if len(found) == 1 else None


def _size(width: str, height: str) -> Size | None:
    if SIDE.fullmatch(width.strip()) and SIDE.fullmatch(height.strip()):
        return int(width), int(height)
    return None
