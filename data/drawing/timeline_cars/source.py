"""The image set "Timeline cars": generated cars from 1920 to 1999, for sequence ranking by year.

See midrank, section 5.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import ClassVar

from drawing.generated import GeneratedImage, GeneratedSource, polygons_of
from drawing.ground import HEIGHT, WIDTH
from drawing.sketch import Sketch, clear
from drawing.timeline_cars.body import draw_body, of_kind
from drawing.timeline_cars.eras import BODIES, FITTINGS, PRINTS, WHEELS, between
from drawing.timeline_cars.fittings import draw_fittings, draw_spare
from drawing.timeline_cars.models import VIEWS, Model, make_model, seeming
from drawing.timeline_cars.places import draw_place
from drawing.timeline_cars.wheels import draw_wheels
from ranking.core import SourceBox


@dataclass
class TimelineCars(GeneratedSource):
    """Images of 320 x 240 pixels, each one sample, a car with its year; two images of each model."""

    name: ClassVar[str] = "Timeline cars"

    # Image `i` depends on the seed and `i` only. The images of a model are a group in one split, so that no
    # car is in both splits.
    # Image `i` depends on the seed and `i` only. The images of a model are a group in one split, so that no
    # car is in both splits.
    images: int = 800
    test_share: float = 0.4
    seed: int = 5

    def generated(self, index: int) -> GeneratedImage:
        """Return an image of a model in a random place and at a random distance, printed in the style of some year."""
        model = make_model(self.seed, index // VIEWS)
        random = model.random(f"view {index % VIEWS}")
        sketch = Sketch()
        ground = HEIGHT * random.uniform(0.77, 0.84)
        draw_place(sketch, random, ground)
        draw_car(sketch, model, ground, random)
        printed = between(PRINTS, seeming(random, "photo", model.year))
        polygons = polygons_of(sketch.shapes)
        steps = [
            ["polygons", 0, len(polygons)],
            ["halve"],
            ["print", random.getrandbits(63), printed._asdict()],
        ]
        box = SourceBox(None, (), group=f"model {model.number}", numbers={"year": float(model.year)})
        start = Random(f"{self.seed}/test").random()
        return GeneratedImage(f"car-{index:05d}", polygons, steps, (box,), model.number, start)


def draw_car(sketch: Sketch, model: Model, ground: float, random: Random) -> None:
    """Draw the car, its wheels on row `ground`, facing either side."""
    body = of_kind(between(BODIES, model.years["body"]), model.kind)
    wheel, details = between(WHEELS, model.years["wheels"]), between(FITTINGS, model.years["fittings"])
    # with lamps, bumpers and a spare wheel
    start, end = body.nose - details.apart - 0.2, body.tail + 0.22
    long = end - start
    scale = min(random.uniform(112, 134), random.uniform(0.89, 0.98) * WIDTH / long)
    flip = random.random() < 0.5
    left = (WIDTH - long * scale) * random.uniform(0.35, 0.65)
    front = left - start * scale
    sketch.place((WIDTH - front if flip else front, ground), scale, flip)
    middle, half = (body.nose + body.tail) / 2, (body.tail - body.nose) / 2
    sketch.disc((middle, 0.02), half * 1.06, clear((14, 12, 26), 0.34), 0.1)
    sketch.disc((middle, 0.01), half * 0.92, clear((14, 12, 26), 0.4), 0.06)
    draw_spare(sketch, model, body, wheel)
    draw_body(sketch, model, body, wheel)
    draw_wheels(sketch, model, body, wheel)
    draw_fittings(sketch, model, body, wheel, details)
    sketch.place((0, 0), 1)
