"""A complete scene: a place, its light, and the objects in it, from (seed, index) only."""

from __future__ import annotations

import math
from random import Random

from drawing.action_figures.light import draw_light
from drawing.action_figures.places import beach, meadow, park, promenade, street
from drawing.action_figures.scene import Box, Scene
from drawing.ground import HEIGHT, WIDTH
from drawing.hidden_objects.objects import OBJECTS
from drawing.sketch import Sketch

PLACES = (park, street, promenade, beach, meadow)
# of objects in a scene
NUMBERS = (2, 2, 3, 3, 4)
# of objects in pixels of the large drawing
SIZES = (110.0, 230.0)
# factor of the sizes in scenes with most objects
CROWDED = 0.85
# least distance of an object's foot from the left and right edge
EDGE = 90


def make_scene(seed: int, index: int) -> Scene:
    """Return scene `index` of `seed`, drawn but not painted; farther objects are behind nearer ones."""
    random = Random(f"{seed}/hidden objects/{index}")
    light = draw_light(random)
    sketch = Sketch()
    ground = random.choice(PLACES)(sketch, random, light)
    number = random.choice(NUMBERS)
    names = random.sample(list(OBJECTS), number)
    spots = []
    for slot in range(number):
        size = random.uniform(*SIZES) * (CROWDED if number == max(NUMBERS) else 1.0)
        row = random.uniform(max(ground.far, 0.45 * HEIGHT) + 10, HEIGHT - 14)
        across = WIDTH * (slot + 0.5 + random.uniform(-0.25, 0.25)) / number
        spots.append((row, min(max(across, EDGE), WIDTH - EDGE), size))
    for owner, (name, (row, across, size)) in enumerate(zip(names, sorted(spots), strict=True)):
        sketch.owner = owner
        OBJECTS[name](sketch, random, across, row, size)
    sketch.owner = None
    sketch.place((0, 0), 1)
    boxes = tuple(_box(sketch, owner) for owner in range(number))
    return Scene(sketch, ground, light, tuple(names), boxes, f"{seed}/weather/{index}")


def _box(sketch: Sketch, owner: int) -> Box:
    """Return the box around an object in the halved image, with its parts behind nearer objects."""
    left, top, right, bottom = sketch.extent(owner, (0, 0, WIDTH, HEIGHT))
    return math.floor(left / 2), math.floor(top / 2), math.ceil(right / 2), math.ceil(bottom / 2)
