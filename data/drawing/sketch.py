"""A drawing before it is painted: filled polygons in order, so that its extent is known without a pixel."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

Point = tuple[float, float]
# left, top, right, bottom
Edges = tuple[float, float, float, float]
# red, green, blue 0..255, and optionally the opacity
Colour = tuple[int, ...]
TAU = math.tau


@dataclass(frozen=True)
class Shape:
    """A filled polygon in pixels of the large drawing. owner: the number of the person to whom it belongs."""

    points: list[Point]
    colour: Colour
    owner: int | None = None


class Sketch:
    """Collects shapes, whose points are in units of a frame: an origin, a scale and a side to face."""

    def __init__(self) -> None:
        self.shapes: list[Shape] = []
        self.owner: int | None = None
        self.place((0.0, 0.0), 1.0)
        # A colour, and the share by which all shapes take it on, for haze.
        self.veil: tuple[Colour, float] = ((0, 0, 0), 0.0)

    def place(self, origin: Point, scale: float, flip: bool = False) -> None:
        """Set the frame of the next points: relative to `origin`, in units of `scale` pixels, mirrored if `flip`."""
        self._x, self._y = origin
        self._scale = scale
        self._across = -scale if flip else scale

    @contextmanager
    def within(self, origin: Point, size: float, flip: bool) -> Iterator[None]:
        """Draw within a nested frame, placed in the outer frame."""
        outer = self._x, self._y, self._scale, self._across
        self._x += self._across * origin[0]
        self._y += self._scale * origin[1]
        self._scale *= size
        self._across *= -size if flip else size
        yield
        self._x, self._y, self._scale, self._across = outer

    def polygon(self, points: Iterable[Point], colour: Colour) -> None:
        """Add a filled polygon."""
        placed = [(self._x + self._across * x, self._y + self._scale * y) for x, y in points]
        veil, share = self.veil
        self.shapes.append(Shape(placed, mix(colour, veil, share) if share else colour, self.owner))

    def box(self, left: float, top: float, right: float, bottom: float, colour: Colour) -> None:
        """Add a filled rectangle."""
        self.polygon([(left, top), (right, top), (right, bottom), (left, bottom)], colour)

    def disc(
        self, centre: Point, radius: float, colour: Colour, height: float | None = None, angle: float = 0.0
    ) -> None:
        """Add a filled ellipse with half axes `radius` and `height` (by default a circle), rotated by `angle`."""
        tall = radius if height is None else height
        x, y = centre
        cos, sin = math.cos(angle), math.sin(angle)
        unit = _circle(_sides(max(radius, tall) * self._scale))
        self.polygon(
            [(x + radius * u * cos - tall * v * sin, y + radius * u * sin + tall * v * cos) for u, v in unit],
            colour,
        )

    def limb(self, start: Point, end: Point, thick: float, thin: float, colour: Colour) -> None:
        """Add a tapered bar with round ends: the hull of discs of radius `thick` at `start`, `thin` at `end`."""
        dx, dy = end[0] - start[0], end[1] - start[1]
        length = math.hypot(dx, dy)
        if length <= abs(thick - thin) + 1e-9:
            self.disc(start if thick >= thin else end, max(thick, thin), colour)
            return
        forward = math.atan2(dy, dx)
        half = math.acos((thick - thin) / length)
        steps = max(3, _sides(max(thick, thin) * self._scale) // 2)
        points = []
        # round the far end, from one tangent to the other
        for k in range(steps + 1):
            turn = forward - half + 2 * half * k / steps
            points.append((end[0] + thin * math.cos(turn), end[1] + thin * math.sin(turn)))
        for k in range(steps + 1):
            turn = forward + half + (TAU - 2 * half) * k / steps
            points.append((start[0] + thick * math.cos(turn), start[1] + thick * math.sin(turn)))
        self.polygon(points, colour)

    def line(self, points: Sequence[Point], width: float, colour: Colour) -> None:
        """Add straight strokes with round ends."""
        for start, end in pairwise(points):
            self.limb(start, end, width / 2, width / 2, colour)

    def arc(
        self, centre: Point, radius: float, first: float, last: float, width: float, colour: Colour
    ) -> None:
        """Add a stroke along a circle from angle `first` to `last`, in radians from the right, clockwise."""
        steps = max(4, int(abs(last - first) * 4))
        rim = [first + (last - first) * k / steps for k in range(steps + 1)]
        outer, inner = radius + width / 2, radius - width / 2
        x, y = centre
        ring = [(x + outer * math.cos(a), y + outer * math.sin(a)) for a in rim]
        ring += [(x + inner * math.cos(a), y + inner * math.sin(a)) for a in reversed(rim)]
        self.polygon(ring, colour)

    def extent(self, owner: int, frame: Edges) -> Edges:
        """Return left, top, right, bottom of the shapes of `owner` within `frame`, in pixels."""
        polygons = [clipped(shape.points, frame) for shape in self.shapes if shape.owner == owner]
        across, down = zip(*(point for polygon in polygons for point in polygon), strict=True)
        return min(across), min(down), max(across), max(down)


def clipped(polygon: list[Point], frame: Edges) -> list[Point]:
    """Return the part of a polygon inside `frame`, clipped edge by edge (Sutherland and Hodgman, CACM 1974).

    >>> clipped([(-1, 0), (3, 0), (3, 2), (-1, 2)], (0, 1, 2, 5))
    [(0.0, 1), (2, 1.0), (2, 2.0), (0, 2.0)]
    """
    left, top, right, bottom = frame
    for axis, limit, sign in ((0, left, 1), (1, top, 1), (0, right, -1), (1, bottom, -1)):
        depths = [sign * (point[axis] - limit) for point in polygon]
        if not depths or min(depths) >= 0:
            continue
        kept: list[Point] = []
        for k, (point, depth) in enumerate(zip(polygon, depths, strict=True)):
            before, other = polygon[k - 1], depths[k - 1]
            if (depth < 0) != (other < 0):
                share = other / (other - depth)
                crossing = before[1 - axis] + (point[1 - axis] - before[1 - axis]) * share
                kept.append((limit, crossing) if axis == 0 else (crossing, limit))
            if depth >= 0:
                kept.append(point)
        polygon = kept
    return polygon


# adds an object to a sketch
Draw = Callable[[Sketch], None]


def _sides(pixels: float) -> int:
    """Return how many sides make a circle of that radius look round."""
    return 8 if pixels < 5 else 12 if pixels < 16 else 20 if pixels < 50 else 36


@cache
def _circle(sides: int) -> tuple[Point, ...]:
    return tuple((math.cos(TAU * k / sides), math.sin(TAU * k / sides)) for k in range(sides))


def rgb(code: str) -> Colour:
    """Return the colour of a code such as "e3a32b".

    >>> rgb("ff8000")
    (255, 128, 0)
    """
    return tuple(bytes.fromhex(code))


def mix(colour: Colour, other: Colour, share: float) -> Colour:
    """Return `colour` mixed with `share` of `other`; the opacity does not change.

    >>> mix((0, 100, 200), (100, 100, 100), 0.5)
    (50, 100, 150)
    """
    mixed = [round(c + (o - c) * share) for c, o in zip(colour[:3], other[:3], strict=True)]
    return (*mixed, *colour[3:])


def darker(colour: Colour, share: float = 0.2) -> Colour:
    """Return the colour in the shade: mixed with dark blue."""
    return mix(colour, (24, 22, 52), share)


def lighter(colour: Colour, share: float = 0.2) -> Colour:
    """Return the colour in the light: mixed with warm white."""
    return mix(colour, (255, 248, 228), share)


def clear(colour: Colour, opaque: float) -> Colour:
    """Return the colour with an opacity."""
    return (*colour[:3], round(255 * opaque))
