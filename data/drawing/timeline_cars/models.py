"""What a car is and how old each part of it looks. All of it follows from the seed and the number of the model.

A year is told by many things, each of which lies: makers run ahead or behind, designs are kept for years, wheels are
changed, and old cars are photographed again. So each cue has a year of its own, near the year of the car.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from drawing.sketch import Colour, rgb
from drawing.timeline_cars.eras import FIRST, LAST, PAINTS

VIEWS = 2  # photographs of one model
MAKER = 5.0  # years, the spread of what a maker is ahead or behind in everything
SPREADS = {"body": 13.0, "wheels": 13.0, "fittings": 13.0, "paint": 14.0, "photo": 16.0}
ASTRAY = {"wheels": 0.12, "paint": 0.35, "photo": 0.4}  # how often a cue tells nothing: of any year
KINDS = {
    1920: {"saloon": 45, "roadster": 30, "coupe": 25},
    1940: {"saloon": 55, "coupe": 30, "roadster": 8, "estate": 7},
    1955: {"saloon": 50, "coupe": 25, "roadster": 12, "estate": 13},
    1970: {"saloon": 45, "coupe": 30, "roadster": 7, "estate": 18},
    1985: {"saloon": 40, "coupe": 18, "roadster": 4, "estate": 14, "hatchback": 24},
}


@dataclass(frozen=True)
class Model:
    """A car of `year`, made by a maker, of which there are some photographs. years: of each cue but the photograph."""

    key: str
    number: int
    year: int
    kind: str  # "saloon", "coupe", "roadster", "estate" or "hatchback"
    years: dict[str, float]
    paint: Colour
    second: Colour

    def random(self, thing: str) -> Random:
        """Chances of `thing` alone, so that what else is shown does not change how it looks."""
        return Random(f"{self.key}/{thing}")


def make_model(seed: int, number: int) -> Model:
    """Model `number` of `seed`. Each eighty models take every year once, in an order by chance."""
    span = LAST - FIRST + 1
    order = list(range(FIRST, LAST + 1))
    Random(f"{seed}/years/{number // span}").shuffle(order)
    year = order[number % span]
    key = f"{seed}/model/{number}"
    random = Random(key)
    maker = random.gauss(0, MAKER)
    years = {cue: seeming(random, cue, year + maker) for cue in SPREADS if cue != "photo"}
    kinds = KINDS[max(start for start in KINDS if start <= year)]
    kind = random.choices(list(kinds), list(kinds.values()))[0]
    decade = min(max(int(years["paint"]) // 10 * 10, min(PAINTS)), max(PAINTS))
    paint, second = (rgb(random.choice(PAINTS[decade])) for _ in range(2))
    return Model(key, number, year, kind, years, paint, second)


def seeming(random: Random, cue: str, year: float) -> float:
    """The year that a cue tells of a car of `year`."""
    if random.random() < ASTRAY.get(cue, 0.0):
        return random.uniform(FIRST, LAST)
    return min(max(random.gauss(year, SPREADS[cue]), FIRST), LAST)
