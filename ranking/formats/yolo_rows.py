"""Rows of YOLO labels: what the numbers after the class are, by all rows of an image set."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ranking.core import SourceBox
from ranking.core.text import counted

NUMBER = r"[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|nan|inf)"
ROW = re.compile(rf"{NUMBER}(?:\s+{NUMBER}){{4,}}", re.ASCII | re.IGNORECASE)
# DOTA: corners in pixels, a class, and whether the object is difficult; and the lines before such rows
CORNERS = re.compile(rf"({NUMBER}(?:\s+{NUMBER}){{7}})\s+(\S*[^\W\d]\S*)(?:\s+\d)?", re.ASCII | re.IGNORECASE)
HEADER = re.compile(r"(?:imagesource|gsd)\s*:.*", re.IGNORECASE)
# Boxes may reach a little over the edge of their image.
MOST = 1.5
# the values of the setting Rows, beside "as found"
OUTLINES, FIRST = "outlines", "box first"
ANGLES = "angles"
Values = tuple[float, ...]


@dataclass(frozen=True)
class Row(SourceBox):
    """A row whose box is not read yet: its class, a text in rows of DOTA, which are in pixels; and its numbers."""

    label: int | str = 0
    values: Values = ()
    text: str = ""


def row_of(line: str) -> Row | None:
    """Return what a line says; None if it is no row.

    >>> row_of("3 .5 .5 .5 1").values, row_of("1 1 9 1 9 5 1 5 plane 0").label, row_of("cat 1 1 1 1")
    ((0.5, 0.5, 0.5, 1.0), 'plane', None)
    """
    if ROW.fullmatch(line):
        which, *values = map(float, line.split())
        whole = 0 <= which < 1e6 and which == int(which)
        return (
            Row(None, (), relative=True, label=int(which), values=tuple(values), text=line) if whole else None
        )
    if corners := CORNERS.fullmatch(line):
        return Row(None, (), label=corners[2], values=tuple(map(float, corners[1].split())), text=line)
    return None


def read_long_rows(rows: Sequence[Values], points: tuple[int, int]) -> tuple[str, str, str]:
    """Return how all rows of more than four numbers are read: the value of the setting, or ANGLES, which are not read;
    in words; and the evidence.

    points: keypoints and numbers of each, by the YAML.
    """
    counts, of = {len(values) for values in rows}, counted(len(rows), "row")
    last = [values[-1] for values in rows]
    are_shares, are_whole = all(0 <= value <= 1 for value in last), all(value % 1 == 0 for value in last)
    pose = "a box and the points of a pose"
    if points[0] and 4 + points[0] * points[1] in counts:
        return FIRST, pose, f"kpt_shape: {points[0]} points of {points[1]} numbers"
    if counts == {5} and are_shares:
        return FIRST, "a box and a confidence", f"the last number of {of} is within 0 and 1"
    if counts == {5} and are_whole and min(last) >= 0:
        return FIRST, "a box and a track", f"the last number of {of} is whole, up to {max(last):g}"
    if counts == {5}:
        return ANGLES, "a box and an angle", f"the last number of {of} is neither within 0 and 1 nor whole"
    if counts == {6} and are_whole and max(last) > 1:
        return FIRST, "a box, a confidence and a track", f"the last number of {of} is whole"
    if any(all(_is_pose(values, size) for values in rows) for size in (3, 2)) and len(counts) == 1:
        return (
            FIRST,
            pose,
            f"{of} with {min(counts)} numbers; in each, the points after the first four numbers lie in the box",
        )
    odd = [values[-1] for values in rows if len(values) % 2]
    ends = ", the last with a confidence" if any(0 < value < 1 for value in odd) else ""
    words = f"boxes around {'corners' if counts == {8} else 'outlines'}{', and boxes' if 5 in counts else ''}"
    several = f"{min(counts)} to {max(counts)}" if len(counts) > 1 else f"{max(counts)}"
    return OUTLINES, words, f"{of} with {several} numbers{ends}"


def _is_pose(values: Values, size: int) -> bool:
    """Return whether the numbers after a box are points in it, or zeros, with a visibility if `size` is 3."""
    if len(values) in (6, 8) or (len(values) - 4) % size:
        return False
    x, y, width, height = values[:4]
    for place in range(4, len(values), size):
        across, down = values[place : place + 2]
        inside = abs(across - x) <= width / 2 + 0.02 and abs(down - y) <= height / 2 + 0.02
        if (not inside and (across or down)) or (size == 3 and values[place + 2] not in (0, 1, 2)):
            return False
    return True


def edges_of(values: Values, way: str) -> tuple[float, float, float, float] | None:
    """Return the edges of a row; None if it cannot be read so.

    >>> edges_of((.5, .5, .5, 1), ""), edges_of((0, 0, 1, 0, 1, .5), OUTLINES)
    ((0.25, 0.0, 0.75, 1.0), (0, 0, 1, 0.5))
    """
    if len(values) == 5 and way == ANGLES:
        return None
    if len(values) <= 5 or way == FIRST:
        x, y, width, height = values[:4]
        return x - width / 2, y - height / 2, x + width / 2, y + height / 2
    if len(values) % 2:
        # a whole number is no confidence
        if not 0 <= values[-1] <= 1 or values[-1] in (0, 1):
            return None
        values = values[:-1]
    across, down = values[::2], values[1::2]
    # which min and max would ignore
    if any(map(math.isnan, values)):
        return math.nan, math.nan, math.nan, math.nan
    return min(across), min(down), max(across), max(down)


def is_beyond(values: Values, way: str) -> bool:
    """Return whether coordinates are larger than shares of an image can be."""
    coordinates = values[:4] if len(values) <= 5 or way == FIRST else values
    return any(abs(value) > MOST for value in coordinates if math.isfinite(value))
