"""The upright box around what was drawn in another form."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

Box = tuple[float, float, float, float]
Point = tuple[float, float]


def around(points: Iterable[Point]) -> Box:
    """The edges of the smallest box that holds the points, at least one; NaN where one of them has a NaN.

    >>> around([(3, 1), (2, 5)])
    (2, 1, 3, 5)
    """
    across, down = zip(*points, strict=True)
    if any(map(math.isnan, (*across, *down))):  # which min and max would pass over
        return math.nan, math.nan, math.nan, math.nan
    return min(across), min(down), max(across), max(down)


def turned(box: Sequence[float], degrees: float, pivot: Point) -> Box:
    """The box around `box` when it is turned, clockwise as it is seen, about `pivot`.

    >>> [round(edge) for edge in turned((0, 0, 4, 2), 90, (0, 0))]
    [-2, 0, 0, 4]
    """
    left, top, right, bottom = box
    if not math.isfinite(degrees):
        return math.nan, math.nan, math.nan, math.nan
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    corners = [(x - pivot[0], y - pivot[1]) for x in (left, right) for y in (top, bottom)]
    return around((pivot[0] + x * cosine - y * sine, pivot[1] + x * sine + y * cosine) for x, y in corners)
