"""The canvas of an image: its story, its light, the shapes so far, and the perspective."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from drawing.ground import HEIGHT, WIDTH, Glow
from drawing.label_scenes.light import Light, light_of
from drawing.label_scenes.story import Story
from drawing.sketch import Colour, Sketch, mix, rgb

SNOW = rgb("f1f5f8")
# the height of the camera, in heights of a person
EYE = 1.5


@dataclass
class Mirror:
    """Still water between two rows: it mirrors the first `shapes` shapes above `top`."""

    top: float
    bottom: float
    shapes: int
    colour: Colour


@dataclass
class Canvas:
    """A drawing of 640 x 480; points are its pixels."""

    story: Story
    horizon: float
    light: Light = field(init=False)
    sketch: Sketch = field(default_factory=Sketch)
    # Lit after the tint.
    glows: list[Glow] = field(default_factory=list)
    mirror: Mirror | None = None
    # The number of the first shape in focus; all shapes before it are out of focus.
    near: int | None = None

    def __post_init__(self) -> None:
        self.light = light_of(self.story)

    def shows(self, concept: str) -> bool:
        return concept in self.story.shows

    def random(self, thing: str) -> Random:
        return self.story.random(thing)

    @property
    def snowy(self) -> bool:
        """Whether there is snow on the ground, not only on distant peaks."""
        return self.story.season == "winter" and self.shows("snow")

    def size(self, row: float) -> float:
        """Return the height in pixels of a person with feet at `row`."""
        return max(2.0, (row - self.horizon) / EYE)

    def far(self, colour: Colour, share: float) -> Colour:
        """Return `colour` mixed with that share of haze; fog increases it."""
        return mix(colour, self.light.haze, min(0.94, share * 1.5 + 0.1) if self.shows("fog") else share)

    def earth(self, colour: Colour) -> Colour:
        """Return the colour of the ground, or of the snow on it."""
        return mix(SNOW, colour, 0.06) if self.snowy else colour

    def glow(self, x: float, y: float, far: float, colour: Colour) -> None:
        self.glows.append((x, y, far, colour))


def across(sketch: Sketch, top: float, bottom: float, colour: Colour) -> None:
    """Draw a band over the whole width."""
    sketch.box(-5, top, WIDTH + 5, min(bottom, HEIGHT + 5), colour)
