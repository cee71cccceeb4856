"""The light of a time of day and its weather: the colours of the sky and of distant objects, and the overall tint."""

from __future__ import annotations

from dataclasses import dataclass

from drawing.label_scenes.story import Story
from drawing.sketch import Colour, mix, rgb

Tint = tuple[float, float, float]


@dataclass(frozen=True)
class Light:
    """The colours of a scene's sky and its light."""

    # The sky from its top to the horizon.
    stops: tuple[Colour, ...]
    # The colour of distant objects.
    haze: Colour
    # Multiplies the image.
    tint: Tint
    # The sun or the moon.
    disc: Colour
    # Windows and lamps are lit.
    dark: bool = False

    @property
    def water(self) -> Colour:
        """The colour of water under this sky."""
        return mix(mix(rgb("2b8aa3"), self.stops[0], 0.3), self.stops[-1], 0.25)


def _light(codes: str, haze: str, tint: Tint, disc: str, dark: bool = False) -> Light:
    return Light(tuple(rgb(code) for code in codes.split()), rgb(haze), tint, rgb(disc), dark)


LIGHTS: dict[tuple[str, str], list[Light]] = {
    ("day", "clear"): [
        _light("3c8fc2 8cc8de dcf0e6", "d2e9e6", (1.0, 1.0, 0.98), "fff3c4"),
        _light("5aaad2 b4dde2 f7f0d6", "e3ecdc", (1.02, 1.0, 0.95), "fff1b8"),
        _light("2f7fb8 6fb5d6 c9e6ea", "c6e1e8", (0.99, 1.0, 1.02), "fff6d4"),
        _light("6dbfc9 bfe3d6 fbeecb", "e6ecd3", (1.02, 1.0, 0.96), "fff0be"),
    ],
    ("day", "cloudy"): [
        _light("7fa9bf b9d0d6 e6ebe4", "d5dfde", (0.97, 0.98, 0.98), "fbf3da"),
        _light("94a8b4 c4cccb e9e2d3", "d9d9d0", (0.98, 0.97, 0.95), "f8efd6"),
    ],
    ("day", "rain"): [
        _light("62788c 93a3ad b9c4c6", "aebbc0", (0.86, 0.9, 0.95), "e8e4d4"),
        _light("6c7f82 9fabaa c6c8be", "b4bcb8", (0.88, 0.91, 0.92), "e8e4d4"),
    ],
    ("day", "snow"): [_light("9fb3c4 c9d5dc eceff0", "e4ebef", (0.97, 1.0, 1.04), "f4f0e4")],
    ("day", "fog"): [
        _light("cdd5d4 dbe0db eceae0", "dfe3de", (0.98, 0.99, 0.98), "f6f1e0"),
        _light("c4cbd2 d8dcdd ebe6dc", "dcdedd", (0.98, 0.98, 0.99), "f6eedc"),
    ],
    ("sunset", "clear"): [
        _light("4a3f78 c4638a f9b26b", "e79f86", (1.0, 0.84, 0.82), "ffe09a"),
        _light("274b78 b97f95 f6c48b", "c9a09a", (0.95, 0.84, 0.84), "ffd98a"),
        _light("7a3560 e2725f fbc36c", "eb9a72", (1.02, 0.82, 0.76), "fff0b0"),
        _light("35558c e58f8d fcd9a0", "eab3a0", (1.0, 0.87, 0.84), "fff3c8"),
    ],
    ("sunset", "cloudy"): [
        _light("54496e a9748a e8a98a", "cf9a8f", (0.94, 0.82, 0.84), "fbd9a0"),
        _light("5c5570 b0808a e0b49a", "c6a298", (0.94, 0.84, 0.84), "f8dcae"),
    ],
    ("night", "clear"): [
        _light("141f4a 2c3f7c 5a6aa4", "4a5a94", (0.6, 0.66, 0.94), "f8f2d4", True),
        _light("0f2340 1f4a6c 4d8494", "3f6c86", (0.56, 0.7, 0.86), "fbf6dc", True),
        _light("221c4c 46387e 8a6aa4", "645a94", (0.62, 0.6, 0.92), "fdf0d0", True),
    ],
    ("night", "cloudy"): [_light("23294a 3a4368 5b6484", "4c5578", (0.56, 0.6, 0.82), "e9e4cc", True)],
    ("night", "rain"): [_light("1b2338 2f3a54 4a5870", "3f4b64", (0.5, 0.56, 0.74), "e0dcc8", True)],
    ("night", "snow"): [_light("2a3558 4c5a80 8590ae", "707ca0", (0.66, 0.72, 0.92), "eeeade", True)],
}


def light_of(story: Story) -> Light:
    return story.random("light").choice(LIGHTS[story.time, story.weather])
