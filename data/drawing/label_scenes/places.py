"""The places of images: each composes its parts from the horizon to the camera."""

from __future__ import annotations

from collections.abc import Callable

from drawing.ground import HEIGHT
from drawing.label_scenes import land, plants, town, water
from drawing.label_scenes.canvas import Canvas, across
from drawing.label_scenes.closeup import close_up
from drawing.label_scenes.people import people
from drawing.label_scenes.sky import sky, sky_colour
from drawing.label_scenes.story import Story
from drawing.sketch import darker, mix, rgb

# the lowest row of a person's feet
NEAR = 462.0


def compose(story: Story) -> Canvas:
    """Return the complete drawing of `story`."""
    low, high = HORIZONS.get(story.place, (170, 260))
    canvas = Canvas(story, story.random("horizon").uniform(low, high))
    COMPOSERS[story.place](canvas)
    return canvas


def _beach(canvas: Canvas) -> None:
    sky(canvas)
    h = canvas.horizon
    if canvas.shows("mountain"):
        land.mountains(canvas, h + 2)
    edge = h + canvas.random("shore").uniform(46, 110)
    water.sea(canvas, h, edge + 30)
    if canvas.shows("lighthouse"):
        water.lighthouse(canvas, h + 6)
    if canvas.shows("boat"):
        water.boats(canvas, h, edge - 6)
    water.surf(canvas, edge)
    land.sand(canvas, edge)
    if canvas.shows("tree"):
        plants.palms(canvas, edge)
    people(canvas, edge + 34, NEAR)


def _harbour(canvas: Canvas) -> None:
    sky(canvas)
    h = canvas.horizon
    if canvas.shows("mountain"):
        land.mountains(canvas, h + 2)
    water.sea(canvas, h, HEIGHT)
    if canvas.shows("building"):
        bank = h + 14
        across(canvas.sketch, bank - 4, bank + 5, canvas.far(rgb("9a8f86"), 0.3))
        town.street(canvas, bank, (34, 96), 0.28)
        across(canvas.sketch, bank, bank + 5, canvas.far(rgb("8a8078"), 0.15))
    if canvas.shows("lighthouse"):
        water.lighthouse(canvas, h + 22)
    quay = 400 + canvas.random("shore").uniform(-24, 20)
    if canvas.shows("boat"):
        water.boats(canvas, h + 24, quay - 14)
    stone = canvas.earth(rgb("cbb493"))
    across(canvas.sketch, quay, HEIGHT + 5, stone)
    across(canvas.sketch, quay, quay + 7, darker(stone, 0.25))
    town.lamps(canvas, quay + 12)
    people(canvas, quay + 14, NEAR + 10)


def _lake(canvas: Canvas) -> None:
    sky(canvas)
    h = canvas.horizon
    if canvas.shows("mountain"):
        land.mountains(canvas, h + 2)
    land.hills(canvas, h + 6, h + 30)
    if canvas.shows("building"):
        town.farm(canvas, h + 2, h + 9)
    if canvas.shows("forest"):
        plants.far_forest(canvas, h + 8)
    shore = h + canvas.random("shore").uniform(80, 150)
    water.still_water(canvas, h + 10, shore + 26)
    if canvas.shows("boat"):
        water.boats(canvas, h + 18, shore - 12)
    _shore(canvas, shore)


def _shore(canvas: Canvas, top: float) -> None:
    """The near bank of a lake."""
    land.wave(
        canvas.sketch,
        canvas.random("shore line"),
        top + 12,
        18,
        darker(canvas.earth(rgb("8f7a5a")), 0.1),
        486,
    )
    land.meadow(canvas, top + 18)
    if canvas.shows("flowers"):
        land.flowers(canvas, top + 30)
    if canvas.shows("tree"):
        plants.trees(canvas, top + 22, NEAR - 10)
    people(canvas, top + 30, NEAR)


def _mountains(canvas: Canvas) -> None:
    sky(canvas)
    h = canvas.horizon
    land.mountains(canvas, h + 16)
    land.hills(canvas, h + 18, HEIGHT)
    if canvas.shows("forest"):
        plants.far_forest(canvas, h + 24)
    _country(canvas, h + 30)


def _meadow(canvas: Canvas) -> None:
    sky(canvas)
    h = canvas.horizon
    if canvas.shows("mountain"):
        land.mountains(canvas, h + 10)
    land.hills(canvas, h + 12, HEIGHT)
    _country(canvas, h + 24)


def _country(canvas: Canvas, top: float) -> None:
    """Draw open ground from `top` down, and all objects on it."""
    land.meadow(canvas, top)
    if canvas.shows("road"):
        land.road(canvas, top + 4)
    if canvas.shows("building"):
        town.farm(canvas, top + 8, top + 100)
    if canvas.shows("car"):
        town.cars(canvas, top + 4)
    if canvas.shows("flowers"):
        land.flowers(canvas, top + 10)
    if canvas.shows("tree"):
        plants.trees(canvas, top + 8, NEAR - 20)
    people(canvas, top + 26, NEAR)


def _forest(canvas: Canvas) -> None:
    h = canvas.horizon
    if canvas.shows("sky"):
        sky(canvas)
    else:
        leaves = plants.LEAVES[canvas.story.season][0]
        for k in range(12):
            colour = canvas.far(mix(darker(leaves, 0.3), sky_colour(canvas, 0.9), 0.25 + 0.05 * k), 0.3)
            across(canvas.sketch, k * (h + 40) / 12, (k + 1) * (h + 40) / 12 + 1, colour)
    plants.far_forest(canvas, h + 24)
    land.meadow(canvas, h + 24)
    if canvas.shows("road"):
        land.road(canvas, h + 26)
    plants.inside_forest(canvas, h + 20)
    if canvas.shows("flowers"):
        land.flowers(canvas, h + 60)
    people(canvas, h + 60, NEAR)


def _city(canvas: Canvas) -> None:
    sky(canvas)
    h = canvas.horizon
    town.towers(canvas, h + 24)
    base = h + 40
    if canvas.random("fronts").random() < 0.65:
        town.street(canvas, base, (80, 190), 0.3)
    town.pavement(canvas, base)
    if canvas.shows("tree"):
        random = canvas.random("tree")
        for _ in range(random.randint(1, 4)):
            plants.tree(
                canvas,
                random,
                random.uniform(10, 630),
                base + random.uniform(4, 18),
                random.uniform(70, 130),
                0.08,
            )
    town.lamps(canvas, base + 16)
    if canvas.shows("car"):
        town.cars(canvas, base)
    people(canvas, base + 8, NEAR)


def _river(canvas: Canvas) -> None:
    """Draw a town on a river: the far bank with its houses, a bridge, the near quay."""
    sky(canvas)
    h = canvas.horizon
    if canvas.shows("city"):
        town.towers(canvas, h + 6)
    bank = h + 22
    across(canvas.sketch, h, bank, canvas.far(canvas.earth(rgb("8f9a78")), 0.3))
    town.street(canvas, bank - 4, (40, 110), 0.22)
    if canvas.shows("tree"):
        random = canvas.random("tree")
        for _ in range(random.randint(2, 7)):
            plants.tree(canvas, random, random.uniform(0, 640), bank, random.uniform(34, 74), 0.15)
    across(canvas.sketch, bank - 2, bank + 8, canvas.far(rgb("8d8379"), 0.2))
    quay = 404 + canvas.random("shore").uniform(-26, 20)
    water_top = bank + 8
    # it stands in the water, which is seen through its arches
    if canvas.shows("bridge"):
        level = bank + canvas.random("level").uniform(24, 60)
        across(canvas.sketch, water_top, level + 1, mix(canvas.light.water, sky_colour(canvas, 0.8), 0.3))
        town.bridge(canvas, level - 44, level)
        water_top = level
    water.still_water(canvas, water_top, quay + 4)
    if canvas.shows("boat"):
        water.boats(canvas, water_top + 16, quay - 12)
    stone = canvas.earth(rgb("c3b49a"))
    across(canvas.sketch, quay, HEIGHT + 5, stone)
    across(canvas.sketch, quay, quay + 7, darker(stone, 0.25))
    town.lamps(canvas, quay + 10)
    people(canvas, quay + 14, NEAR + 10)


def _desert(canvas: Canvas) -> None:
    sky(canvas)
    h = canvas.horizon
    if canvas.shows("mountain"):
        land.mountains(canvas, h + 10)
    land.sand(canvas, h)
    if canvas.shows("road"):
        land.road(canvas, h + 22)
    if canvas.shows("car"):
        town.cars(canvas, h + 22)
    people(canvas, h + 40, NEAR)


COMPOSERS: dict[str, Callable[[Canvas], None]] = {
    "beach": _beach,
    "harbour": _harbour,
    "lake": _lake,
    "mountains": _mountains,
    "meadow": _meadow,
    "road": _meadow,
    "forest": _forest,
    "city": _city,
    "river": _river,
    "desert": _desert,
    "close-up": close_up,
}
HORIZONS: dict[str, tuple[float, float]] = {
    "mountains": (210, 290), "city": (200, 265), "river": (170, 230), "forest": (190, 250), "beach": (140, 250),
    "harbour": (150, 215), "lake": (160, 250),
}  # fmt: skip
