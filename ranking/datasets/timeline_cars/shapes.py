"""Outlines of cars: corners, rounded as far as sheet metal was."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ranking.datasets.action_figures.sketch import Point

STEPS = 6  # of a rounded corner
Corner = tuple[float, float, float]  # along, up, how far from the corner its curve begins


def rounded(corners: Sequence[Corner]) -> list[Point]:
    """A polygon whose corners are quadratic curves, upside down, as a sketch counts from above.

    A curve never takes more than half of a side, so that it ends where the next one begins.
    """
    outline: list[Point] = []
    for place, (x, y, far) in enumerate(corners):
        before, after = corners[place - 1], corners[(place + 1) % len(corners)]
        ends = []
        for other in (before, after):
            dx, dy = other[0] - x, other[1] - y
            length = math.hypot(dx, dy)
            share = min(far / length, 0.5) if length > 1e-9 else 0.0
            ends.append((x + dx * share, y + dy * share))
        (x0, y0), (x1, y1) = ends
        for step in range(STEPS + 1):
            t = step / STEPS
            a, b, c = (1 - t) ** 2, 2 * t * (1 - t), t * t
            outline.append((a * x0 + b * x + c * x1, -(a * y0 + b * y + c * y1)))
    return outline


def half_disc(x: float, y: float, radius: float, low: float) -> list[Point]:
    """The upper half of a disc and what lies below it down to `low`: a wheel arch."""
    rim = [
        (x - radius * math.cos(math.pi * k / 16), -y - radius * math.sin(math.pi * k / 16)) for k in range(17)
    ]
    return [(x - radius, -low), *rim, (x + radius, -low)]


def mid(a: Point, b: Point, share: float) -> Point:
    return a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share
