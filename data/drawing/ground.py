"""The canvas, and where on it people can stand."""

from __future__ import annotations

from dataclasses import dataclass, field

from drawing.sketch import Colour

WIDTH, HEIGHT = 640, 480  # of the large drawing; pictures are half as large
Glow = tuple[float, float, float, Colour]  # where, how far, what colour


@dataclass
class Ground:
    """Where people can stand: from `far` to `near` (rows of pixels); they grow as (row - horizon) / eye.

    glows: lamps, lit after the tint. indoors: no weather, and a sky of its own.
    """

    horizon: float
    far: float
    near: float = 472.0
    eye: float = 0.8
    indoors: bool = False
    glows: list[Glow] = field(default_factory=list)
    gradients: list[tuple[float, float, Colour, Colour]] = field(default_factory=list)
    stage: bool = False
    wild: bool = False  # horses may stand about

    def size(self, row: float) -> float:
        """Pixels of one unit of a body that stands at `row`."""
        return (row - self.horizon) / self.eye
