"""The source "Timeline cars": drawn cars of 1920 to 1999, to be put in order by their year (midrank, section 5.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from PIL import Image

from ranking.core import Problem, Source, SourceBox, SourceImage
from ranking.datasets.common_settings import number_of_images, seed_of_pictures, share_of_test
from ranking.datasets.drawn.action_figures.ground import HEIGHT, WIDTH
from ranking.datasets.drawn.action_figures.paint import SIZE, jpeg
from ranking.datasets.drawn.action_figures.sketch import Sketch, clear
from ranking.datasets.drawn.timeline_cars.body import draw_body, of_kind
from ranking.datasets.drawn.timeline_cars.eras import BODIES, FITTINGS, PRINTS, WHEELS, between
from ranking.datasets.drawn.timeline_cars.fittings import draw_fittings, draw_spare
from ranking.datasets.drawn.timeline_cars.models import VIEWS, Model, make_model, seeming
from ranking.datasets.drawn.timeline_cars.photo import paint, photographed
from ranking.datasets.drawn.timeline_cars.places import draw_place
from ranking.datasets.drawn.timeline_cars.wheels import draw_wheels
from ranking.datasets.registry import SOURCES
from ranking.datasets.splits import evenly


@SOURCES.register("Timeline cars")
@dataclass
class TimelineCars(Source):
    """Pictures of 320 x 240 pixels, each one sample, a car, with its year; two photographs of each model.

    Image `i` follows from the seed and `i` alone. The photographs of a model are a group and in one split, so that no
    car of the test was seen before.
    """

    order: ClassVar[int] = 1

    images: int = number_of_images(800, "pictures")
    test_share: float = share_of_test(
        0.4, "How many of the cars are set aside to test on. The rest is there to train on."
    )
    seed: int = seed_of_pictures(5, "cars")

    def title(self) -> str:
        return "Timeline cars"

    def __len__(self) -> int:
        return self.images

    def records(self) -> Iterator[SourceImage | Problem]:
        for index in range(self.images):
            model = make_model(self.seed, index // VIEWS)
            box = SourceBox(None, (), group=f"model {model.number}", numbers={"year": float(model.year)})
            test = is_test(self.seed, model.number, self.test_share)
            yield SourceImage(f"car-{index:05d}", jpeg(picture(model, index % VIEWS)), (box,), test, SIZE)


def is_test(seed: int, number: int, share: float) -> bool:
    """Whether model `number` is set aside: of any run of models `share` are, as even as can be."""
    return evenly(number, share, Random(f"{seed}/test").random())


def picture(model: Model, view: int) -> Image.Image:
    """Photograph `view` of a model, 320 x 240, RGB: somewhere, from a little nearer or farther, of some year."""
    random = model.random(f"view {view}")
    sketch = Sketch()
    ground = HEIGHT * random.uniform(0.77, 0.84)
    draw_place(sketch, random, ground)
    draw_car(sketch, model, ground, random)
    return photographed(paint(sketch), between(PRINTS, seeming(random, "photo", model.year)), random)


def draw_car(sketch: Sketch, model: Model, ground: float, random: Random) -> None:
    """The car, its wheels on row `ground`, facing either side."""
    body = of_kind(between(BODIES, model.years["body"]), model.kind)
    wheel, told = between(WHEELS, model.years["wheels"]), between(FITTINGS, model.years["fittings"])
    start, end = body.nose - told.apart - 0.2, body.tail + 0.22  # with lamps, bumpers and a spare wheel
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
    draw_fittings(sketch, model, body, wheel, told)
    sketch.place((0, 0), 1)
