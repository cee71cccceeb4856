"""The places of scenes: each draws its background, and returns its ground."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from drawing.action_figures.light import Light
from drawing.action_figures.outdoors import beach, meadow, park, promenade, street, track
from drawing.action_figures.rooms import cafe, library, living_room, stage
from drawing.ground import Ground
from drawing.sketch import Sketch

Place = Callable[[Sketch, Random, Light], Ground]
PLACES: dict[str, Place] = {
    place.__name__: place
    for place in (park, street, promenade, beach, meadow, track, living_room, library, cafe, stage)
}
# How often the scene of an action is in each place: places are related to actions, but none determines its action.
CHANCES: dict[str, dict[str, int]] = {
    "jumping": {"park": 4, "beach": 4, "track": 3, "meadow": 2, "living_room": 1, "street": 1},
    "phoning": {"street": 5, "promenade": 2, "cafe": 2, "park": 1, "living_room": 2},
    "playing instrument": {"stage": 6, "park": 1, "street": 2, "living_room": 2, "promenade": 1},
    "reading": {"library": 4, "park": 3, "living_room": 3, "beach": 1, "cafe": 2},
    "riding bike": {"street": 3, "park": 3, "promenade": 3, "meadow": 2, "beach": 1},
    "riding horse": {"meadow": 6, "beach": 2, "park": 2, "track": 1},
    "running": {"track": 5, "park": 3, "beach": 2, "street": 1, "promenade": 1},
    "taking photo": {"promenade": 4, "street": 2, "beach": 2, "park": 2, "stage": 1, "meadow": 1},
    "using computer": {"cafe": 4, "library": 3, "living_room": 4, "park": 1},
    "walking": {"street": 4, "park": 3, "promenade": 3, "beach": 1, "meadow": 1},
}
