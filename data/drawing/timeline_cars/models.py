"""The model of a car and the apparent age of each part, from the seed and the model's number only.

Many cues reveal a year, and each is unreliable: makers are early or late, designs last for years, wheels are changed,
and old cars are photographed again. So each cue has a separate year, near the year of the car.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from drawing.sketch import Colour, rgb
from drawing.timeline_cars.eras import FIRST, LAST, PAINTS

# photographs of one model
VIEWS = 2
# years, the spread by which a maker is early or late in all cues
MAKER = 5.0
SPREADS = {"body": 13.0, "wheels": 13.0, "fittings": 13.0, "paint": 14.0, "photo": 16.0}
# how often a cue is uninformative: of any year
ASTRAY = {"wheels": 0.12, "paint": 0.35, "photo": 0.4}
KINDS = {
    1920: {"saloon": 45, "roadster": 30, "coupe": 25},
    1940: {"saloon": 55, "coupe": 30, "roadster": 8, "estate": 7},
    1955: {"saloon": 50, "coupe": 25, "roadster": 12, "estate": 13},
    1970: {"saloon": 45, "coupe": 30, "roadster": 7, "estate": 18},
    1985: {"saloon": 40, "coupe": 18, "roadster": 4, "estate": 14, "hatchback": 24},
}


@dataclass(frozen=True)
class Model:
    """A car of `year`."""

    key: str
    number: int
    year: int
    # "saloon", "coupe", "roadster", "estate" or "hatchback"
    kind: str
    # Of each cue except the photograph.
    years: dict[str, float]
    paint: Colour
    second: Colour

    def random(self, thing: str) -> Random:
        """Return a random generator for `thing`, so that other objects do not change its appearance."""
        return Random(f"{self.key}/{thing}")


def make_model(seed: int, number: int) -> Model:
    """Return model `number` of `seed`; each eighty models have every year once, in random order."""
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
    """Return the apparent year of a cue for a car of `year`."""
    if random.random() < ASTRAY.get(cue, 0.0):
        return random.uniform(FIRST, LAST)
    return min(max(random.gauss(year, SPREADS[cue]), FIRST), LAST)
