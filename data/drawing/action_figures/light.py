"""The light of a scene: sky, haze, the tint over all of it, and the weather."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from drawing.sketch import Colour, rgb


@dataclass(frozen=True)
class Light:
    """The light of a scene."""

    name: str
    top: Colour
    bottom: Colour
    # The colour that distant objects take on.
    haze: Colour
    # Multiplies red, green and blue of the finished image.
    tint: tuple[float, float, float]
    sun: Colour | None
    # "rain", "snow", "fog"
    weather: str = ""
    dark: bool = False

    @property
    def cold(self) -> bool:
        return self.weather == "snow"


LIGHTS = [
    Light("noon", rgb("6fb7d9"), rgb("dff0ea"), rgb("d6ebe8"), (1.0, 1.0, 1.0), None),
    Light("clear", rgb("3f93c4"), rgb("bfe2e6"), rgb("cfe6e6"), (1.0, 1.0, 0.97), rgb("fff4cf")),
    Light("morning", rgb("f3c6a5"), rgb("fdeccb"), rgb("fbe3c6"), (1.04, 0.98, 0.9), rgb("fff3d0")),
    Light("dusk", rgb("5c4b7d"), rgb("f4a27a"), rgb("e79f86"), (1.0, 0.83, 0.8), rgb("ffd98a")),
    Light("evening", rgb("2f4a73"), rgb("e9b989"), rgb("a9a0a8"), (0.88, 0.82, 0.86), rgb("ffcf8a")),
    Light("night", rgb("1d2a55"), rgb("54629a"), rgb("5a6698"), (0.62, 0.66, 0.92), rgb("f6f1d8"), dark=True),
    Light("rain", rgb("76899a"), rgb("b9c4c6"), rgb("aebbc0"), (0.86, 0.9, 0.95), None, "rain"),
    Light("snow", rgb("a9bccb"), rgb("e8eef1"), rgb("e4ebef"), (0.97, 1.0, 1.04), None, "snow"),
    Light("fog", rgb("cfd6d4"), rgb("e6e8e2"), rgb("dfe3de"), (0.98, 0.99, 0.98), None, "fog"),
]
CHANCES = (24, 18, 14, 11, 8, 8, 8, 7, 5)


def draw_light(random: Random) -> Light:
    return random.choices(LIGHTS, CHANCES)[0]
