"""The canvas, and the area in which people can stand."""

from __future__ import annotations

from dataclasses import dataclass, field

from drawing.sketch import Colour

WIDTH, HEIGHT = 640, 480  # of the large drawing; images are half as large
Glow = tuple[float, float, float, Colour]  # x, y, radius, colour


@dataclass
class Ground:
    """The rows of pixels in which people can stand, from `far` to `near`; their size is (row - horizon) / eye.

    glows: lamps, lit after the tint. indoors: without weather, and with a different light.
    """

    horizon: float
    far: float
    near: float = 472.0
    eye: float = 0.8
    indoors: bool = False
    glows: list[Glow] = field(default_factory=list)
    gradients: list[tuple[float, float, Colour, Colour]] = field(default_factory=list)
    stage: bool = False
    wild: bool = False  # horses may be in the background

    def size(self, row: float) -> float:
        """Return the pixels per unit of a body with its feet at `row`."""
        return (row - self.horizon) / self.eye
