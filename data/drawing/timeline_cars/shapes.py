"""Outlines of cars with rounded corners."""

from __future__ import annotations

import math
from collections.abc import Sequence

from drawing.sketch import Point
from drawing.timeline_cars.eras import Body

# of a rounded corner
STEPS = 6
# along, up, distance from the corner where its curve begins
Corner = tuple[float, float, float]


def rounded(corners: Sequence[Corner]) -> list[Point]:
    """Return a polygon whose corners are quadratic curves, upside down, because y points down in a sketch."""
    # A curve takes at most half of a side, so that it ends before the next curve begins.
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
    """Return the upper half of a disc and the area below it down to `low`: a wheel arch."""
    rim = [
        (x - radius * math.cos(math.pi * k / 16), -y - radius * math.sin(math.pi * k / 16)) for k in range(17)
    ]
    return [(x - radius, -low), *rim, (x + radius, -low)]


def mid(a: Point, b: Point, share: float) -> Point:
    return a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share


def outline(body: Body) -> list[Corner]:
    """Return the hull without roof, from the lower end of its front over hood and deck to the lower end of its tail."""
    hood, deck = body.round_hood, body.round_deck
    low = body.sill
    bumper = low + 0.55 * (body.hood_y - low)
    rear = low + 0.5 * (body.deck_y - low)
    return [
        (body.nose + 0.1, low, 0.08),
        (body.nose, bumper, hood * 0.8),
        (body.hood_x, body.hood_y, hood),
        (body.cowl_x, body.cowl_y, 0.12),
        (body.base_x, body.base_y, 0.1 + deck / 3),
        (
            body.base_x + 0.4 * (body.deck_x - body.base_x),
            body.deck_y + 0.2 * (body.base_y - body.deck_y),
            0.3,
        ),
        (body.deck_x, body.deck_y + body.fin, deck),
        (body.tail, rear, deck * 0.8),
        (body.tail - 0.1, low, 0.08),
    ]


def band(body: Body, low: float, high: float) -> list[Point]:
    """Return the part of the hull between two heights, its ends parallel to front and tail."""
    bumper = body.sill + 0.55 * (body.hood_y - body.sill)
    share = min((high - body.sill) / max(bumper - body.sill, 0.05), 1.0)
    front, back = body.nose + 0.1 * (1 - share) + 0.02, body.tail - 0.1 * (1 - share) - 0.03
    return rounded(
        [(body.nose + 0.11, low, 0.03), (front, high, 0.0), (back, high, 0.0), (body.tail - 0.11, low, 0.03)]
    )
