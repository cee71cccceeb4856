"""The canvas, and the area in which people can stand."""

from __future__ import annotations

from dataclasses import dataclass, field

from drawing.sketch import Colour

# of the large drawing; images are half as large
WIDTH, HEIGHT = 640, 480
# x, y, radius, colour
Glow = tuple[float, float, float, Colour]


@dataclass
class Ground:
    """The rows of pixels in which people can stand, from `far` to `near`."""

    # The size of a person is (row - horizon) / eye.
    horizon: float
    far: float
    near: float = 472.0
    eye: float = 0.8
    # Without weather, and with a different light.
    indoors: bool = False
    # Lamps, lit after the tint.
    glows: list[Glow] = field(default_factory=list)
    gradients: list[tuple[float, float, Colour, Colour]] = field(default_factory=list)
    stage: bool = False
    # horses may be in the background
    wild: bool = False

    def size(self, row: float) -> float:
        """Return the pixels per unit of a body with its feet at `row`."""
        return (row - self.horizon) / self.eye
