"""What a picture is composed on: its story, its light, the shapes so far, and where things stand."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from drawing.ground import HEIGHT, WIDTH, Glow
from drawing.label_scenes.light import Light, light_of
from drawing.label_scenes.story import Story
from drawing.sketch import Colour, Sketch, mix, rgb

SNOW = rgb("f1f5f8")
EYE = 1.5  # how high the eye is, in people


@dataclass
class Mirror:
    """Still water between two rows: it shows what is above `top`, of the shapes up to number `shapes`."""

    top: float
    bottom: float
    shapes: int
    colour: Colour


@dataclass
class Canvas:
    """Points are pixels of a drawing of 640 x 480; `glows` are lit after the tint.

    near: the number of the first shape that the camera is close to, where what lies behind is out of focus.
    """

    story: Story
    horizon: float
    light: Light = field(init=False)
    sketch: Sketch = field(default_factory=Sketch)
    glows: list[Glow] = field(default_factory=list)
    mirror: Mirror | None = None
    near: int | None = None

    def __post_init__(self) -> None:
        self.light = light_of(self.story)

    def shows(self, concept: str) -> bool:
        return concept in self.story.shows

    def random(self, thing: str) -> Random:
        return self.story.random(thing)

    @property
    def snowy(self) -> bool:
        """Whether snow lies on the ground, not on far peaks alone."""
        return self.story.season == "winter" and self.shows("snow")

    def size(self, row: float) -> float:
        """How many pixels high a person is who stands at `row`."""
        return max(2.0, (row - self.horizon) / EYE)

    def far(self, colour: Colour, share: float) -> Colour:
        """`colour` with that much of the air before it; fog is thicker air."""
        return mix(colour, self.light.haze, min(0.94, share * 1.5 + 0.1) if self.shows("fog") else share)

    def earth(self, colour: Colour) -> Colour:
        """The ground, or the snow on it."""
        return mix(SNOW, colour, 0.06) if self.snowy else colour

    def glow(self, x: float, y: float, far: float, colour: Colour) -> None:
        self.glows.append((x, y, far, colour))


def across(sketch: Sketch, top: float, bottom: float, colour: Colour) -> None:
    """A band over the whole width."""
    sketch.box(-5, top, WIDTH + 5, min(bottom, HEIGHT + 5), colour)
