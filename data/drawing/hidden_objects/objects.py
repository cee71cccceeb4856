"""The eight objects, drawn by the programs of the action figures.

The foot of each is at (x, y), and a size of 1 pixel is about its height; they face either side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

from drawing.action_figures import furniture, mounts, props, scenery
from drawing.sketch import Sketch

# sketch, random, x, y, size
Object = Callable[[Sketch, Random, float, float, float], None]


def horse(sketch: Sketch, random: Random, x: float, y: float, size: float) -> None:
    """A saddled horse, as in life higher than the other objects."""
    coat, mane = random.choice(mounts.COATS), random.choice(mounts.MANES)
    gait, phase = random.randrange(len(mounts.GAITS)), random.uniform(0.75, 1.1)
    sketch.place((x, y), size, random.random() < 0.5)
    mounts.horse_far(sketch, coat, gait, phase)
    mounts.horse(sketch, coat, mane, gait, phase, random.choice(props.PAINTS))


def dog(sketch: Sketch, random: Random, x: float, y: float, size: float) -> None:
    scenery.dog(sketch, random, x, y, 0.9 * size)


def cat(sketch: Sketch, random: Random, x: float, y: float, size: float) -> None:
    scenery.cat(sketch, random, x, y, size)


def bicycle(sketch: Sketch, random: Random, x: float, y: float, size: float) -> None:
    turn = random.uniform(0, math.tau)
    sketch.place((x, y), size / 0.8, random.random() < 0.5)
    mounts.bicycle(sketch, random.choice(props.PAINTS), turn, random.random() < 0.3)
    mounts.near_crank(sketch, turn)


def guitar(sketch: Sketch, random: Random, x: float, y: float, size: float) -> None:
    """A guitar that stands on the ground, inclined to either side."""
    sketch.place((x, y), size / 0.62, random.random() < 0.5)
    props.guitar(sketch, (0, -0.17), random.uniform(-1.9, -1.2), random.choice(props.PAINTS))


def drum(sketch: Sketch, random: Random, x: float, y: float, size: float) -> None:
    sketch.place((x, y), size / 0.35)
    props.drum(sketch, (0, -0.18), random.choice(props.PAINTS))


def armchair(sketch: Sketch, random: Random, x: float, y: float, size: float) -> None:
    paint = random.choice(props.PAINTS)
    sketch.place((x, y), size / 0.9, random.random() < 0.5)
    furniture.armchair(sketch, 0.45, paint)
    furniture.armrest(sketch, 0.45, paint)


def plant(sketch: Sketch, random: Random, x: float, y: float, size: float) -> None:
    sketch.place((0, 0), 1)
    scenery.pot_plant(sketch, x, y, 0.9 * size)


OBJECTS: dict[str, Object] = {
    draw.__name__: draw for draw in (horse, dog, cat, bicycle, guitar, drum, armchair, plant)
}
