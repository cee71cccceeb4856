"""The content of an image: place, season, time, weather, people and camera, and the resulting concepts.

An image has the label of a concept if the scene contains it, however small, dark or blurred; sometimes, as in
photographs, another object hides it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

PLACES = {
    "beach": 16, "harbour": 9, "lake": 13, "mountains": 12, "meadow": 11, "forest": 9, "city": 13, "river": 9,
    "desert": 5, "road": 9, "close-up": 5,
}  # fmt: skip

# The concepts of a place and their frequencies. A concept with 1 is always present, so that others imply it.
THINGS: dict[str, dict[str, float]] = {
    "beach": {"beach": 1, "boat": 0.6, "bird": 0.5, "tree": 0.5, "mountain": 0.35, "lighthouse": 0.2},
    "harbour": {"sea": 1, "boat": 0.95, "building": 0.9, "lighthouse": 0.4, "mountain": 0.4, "bird": 0.5},
    "lake": {
        "lake": 1, "mountain": 0.75, "tree": 0.9, "forest": 0.45, "grass": 0.8, "flowers": 0.35, "boat": 0.4,
        "bird": 0.25, "building": 0.2,
    },
    "mountains": {
        "mountain": 1, "tree": 0.75, "grass": 0.85, "flowers": 0.45, "road": 0.3, "building": 0.3, "bird": 0.2,
        "forest": 0.3,
    },
    "meadow": {
        "grass": 1, "tree": 0.9, "flowers": 0.65, "building": 0.4, "road": 0.4, "mountain": 0.25, "bird": 0.3,
    },
    "forest": {"forest": 1, "grass": 0.7, "road": 0.35, "flowers": 0.35, "bird": 0.2},
    "city": {"city": 1, "road": 0.9, "car": 0.75, "tree": 0.6, "bird": 0.25},
    "river": {"river": 1, "city": 0.75, "building": 1, "bridge": 0.8, "boat": 0.5, "tree": 0.6, "bird": 0.4},
    "desert": {"desert": 1, "sand": 1, "mountain": 0.65, "road": 0.4, "car": 0.25, "bird": 0.25},
    "road": {
        "road": 1, "car": 0.7, "grass": 0.9, "tree": 0.85, "mountain": 0.5, "flowers": 0.3, "building": 0.35,
        "bird": 0.2,
    },
    "close-up": {"close-up": 1, "flowers": 1, "grass": 0.7},
}  # fmt: skip

SKIES = {"day": 60, "sunset": 20, "night": 20}
WEATHERS: dict[str, dict[str, float]] = {
    "day": {"clear": 38, "cloudy": 34, "rain": 14, "fog": 14},
    "sunset": {"clear": 60, "cloudy": 40},
    "night": {"clear": 58, "cloudy": 26, "rain": 16},
}
SUN = {("day", "clear"): 0.7, ("day", "cloudy"): 0.35, ("sunset", "clear"): 0.85, ("sunset", "cloudy"): 0.45}
CLOUDS = {"clear": 0.45, "cloudy": 1.0, "rain": 0.85, "snow": 0.6, "fog": 0.0}
SEASONS = {"spring": 22, "summer": 32, "autumn": 24, "winter": 22}
SEASONS_OF = {
    "beach": {"spring": 8, "summer": 72, "autumn": 8, "winter": 12},
    "desert": {"summer": 1},
    "close-up": {"spring": 45, "summer": 55},
}
# the people in the image
COMPANY = {"nobody": 34, "few": 24, "group": 20, "portrait": 22}
CAMERAS = {"sharp": 82, "blur": 10, "black and white": 8}

IMPLIED = {
    "beach": ("sand", "sea"), "sea": ("water",), "lake": ("water",), "river": ("water",), "forest": ("tree",),
    "tree": ("plants",), "grass": ("plants",), "flowers": ("plants",), "city": ("building",), "car": ("road",),
    "group": ("person",), "portrait": ("person",),
}  # fmt: skip
# the places of landscapes
WILD = ("beach", "lake", "mountains", "meadow", "forest", "desert", "road")


@dataclass(frozen=True)
class Story:
    """The content of one image."""

    # The seed of all further random choices.
    key: str
    place: str
    season: str
    # "day", "sunset" or "night"
    time: str
    # "clear", "cloudy", "rain", "snow" or "fog"
    weather: str
    company: str
    camera: str
    # The concepts of the image.
    shows: frozenset[str]

    def random(self, thing: str) -> Random:
        """Return a random generator for `thing`, so that other objects do not change its appearance."""
        return Random(f"{self.key}/{thing}")


def tell_story(seed: int, index: int) -> Story:
    """Return the story of image `index`, which depends on both numbers only."""
    key = f"{seed}/{index}"
    random = Random(f"{key}/story")
    place = _one_of(random, PLACES)
    season = _one_of(random, SEASONS_OF.get(place, SEASONS))
    time = "day" if place == "close-up" else _one_of(random, SKIES)
    weather = _one_of(random, WEATHERS[time])
    if season == "winter" and time != "sunset" and random.random() < 0.4:
        weather = "snow"
    company = "nobody" if place == "close-up" else _one_of(random, COMPANY)
    camera = _one_of(random, CAMERAS)
    shows = {thing for thing, chance in THINGS[place].items() if random.random() < chance}
    _in_season(random, shows, place, season, weather)
    _in_the_sky(random, shows, place, time, weather)
    _with_company(random, shows, company, place)
    shows |= {time} | ({weather} & {"rain", "snow", "fog"}) | ({camera} - {"sharp"})
    if shows & {"lake", "river"} and weather in ("clear", "cloudy") and random.random() < 0.6:
        shows.add("reflection")
    if place in WILD and company != "portrait":
        shows.add("landscape")
    _with_implied(shows)
    return Story(key, place, season, time, weather, company, camera, frozenset(shows))


def _one_of(random: Random, chances: Mapping[str, float]) -> str:
    return random.choices(list(chances), list(chances.values()))[0]


def _with_implied(shows: set[str]) -> None:
    # a beach has a sea, which has water; a forest trees, which are plants
    for _ in range(2):
        for concept in tuple(shows):
            shows.update(IMPLIED.get(concept, ()))


def _in_season(random: Random, shows: set[str], place: str, season: str, weather: str) -> None:
    """Add snow, leaves and flowers of the season; the season is a label only if something shows it."""
    if season == "winter":
        shows.discard("flowers")
        if weather == "snow" or random.random() < (0.2 if place in ("beach", "harbour") else 0.75):
            shows.add("snow")
            shows.discard("grass")
    elif season == "autumn" and random.random() < 0.75:
        shows.discard("flowers")
    elif season == "spring" and place not in ("beach", "harbour", "desert") and random.random() < 0.35:
        shows.add("flowers")
    if "mountain" in shows and place != "desert" and random.random() < 0.45:
        # on the peaks, in any season
        shows.add("snow")
    signs = {
        "spring": {"flowers", "tree", "forest"},
        "summer": {"tree", "forest", "grass", "flowers", "beach"},
        "autumn": {"tree", "forest"},
        "winter": {"tree", "forest", "snow"},
    }
    if shows & signs[season] and not (place == "beach" and season in ("spring", "autumn")):
        shows.add(season)


def _in_the_sky(random: Random, shows: set[str], place: str, time: str, weather: str) -> None:
    if random.random() < {"forest": 0.55, "close-up": 0.65}.get(place, 0.0):
        shows.discard("bird")
        # only leaves are behind
        return
    shows.add("sky")
    if random.random() < SUN.get((time, weather), 0.0):
        shows.add("sun")
    if random.random() < CLOUDS[weather]:
        shows.add("clouds")
    if time == "night":
        shows.discard("bird")
        if weather in ("clear", "cloudy") and random.random() < 0.6:
            shows.add("moon")
        if weather == "clear" and random.random() < 0.85:
            shows.add("stars")
    if time == "day" and weather == "rain" and random.random() < 0.45:
        shows.add("rainbow")


def _with_company(random: Random, shows: set[str], company: str, place: str) -> None:
    if company == "nobody":
        if place != "close-up" and random.random() < 0.08:
            shows.add("dog")
        return
    shows.add({"few": "person"}.get(company, company))
    if company != "portrait" and random.random() < 0.25:
        shows.add("dog")
