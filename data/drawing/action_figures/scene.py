"""A complete scene: people, their actions, the place and the light. It depends on (seed, index, share) only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

from drawing.action_figures import scenery
from drawing.action_figures.actions import ACTIONS
from drawing.action_figures.carried import beside
from drawing.action_figures.covers import cover
from drawing.action_figures.figure import Act, draw_person
from drawing.action_figures.light import Light, draw_light
from drawing.action_figures.places import CHANCES, PLACES
from drawing.action_figures.wardrobe import WARDROBES, dress
from drawing.ground import HEIGHT, WIDTH, Ground
from drawing.sketch import Colour, Sketch, clear, mix

NAMES = tuple(sorted(ACTIONS))
CROWDS = (1, 2, 3, 4, 5, 6)
CROWD_CHANCES = (13, 24, 24, 18, 12, 9)
# how often an object hides a part of a person; riders more often
COVERED = 0.34
# how often a person is cut off by the lower edge
CLOSE = 0.22
# the most by which a box exceeds its person at each edge, as a share of its side
LOOSE = 0.08
# the least distance of a head from the upper edge, in pixels of the large drawing
HIGHEST = 8

# left, top, right, bottom
Box = tuple[int, int, int, int]


@dataclass
class Scene:
    """One scene before it is painted."""

    sketch: Sketch
    ground: Ground
    light: Light
    # What each person does, or what each object is.
    classes: tuple[str, ...]
    # In pixels of the halved image.
    boxes: tuple[Box, ...]
    # The seed of falling rain or snow.
    weather: str


def scene_action(seed: int, index: int) -> str:
    """Return the main action of image `index`: each block of ten images has every action once, in random order."""
    order = list(NAMES)
    Random(f"{seed}/block/{index // len(NAMES)}").shuffle(order)
    return order[index % len(NAMES)]


def actions_of(seed: int, index: int, share: float) -> tuple[str, ...]:
    """Return the action of each of the 1 to 6 people of an image."""
    # A person does the scene's action with probability `share`, otherwise any of the ten with equal
    # probability. At 0 the actions of an image are independent, at 1 they are all the same, and in between
    # two people do the same with probability share^2 + (1 - share^2) / 10.
    random = Random(f"{seed}/people/{index}")
    about = scene_action(seed, index)
    number = random.choices(CROWDS, CROWD_CHANCES)[0]
    choices = [(random.random(), random.choice(NAMES)) for _ in range(number)]
    return tuple(about if chance < share else other for chance, other in choices)


def make_scene(seed: int, index: int, share: float) -> Scene:
    """Return scene `index` of `seed`, drawn but not painted."""
    actions = actions_of(seed, index, share)
    about = scene_action(seed, index)
    random = Random(f"{seed}/place/{index}")
    places = CHANCES[about]
    place = random.choices(list(places), list(places.values()))[0]
    light = draw_light(random)
    sketch = Sketch()
    ground = PLACES[place](sketch, random, light)
    _clutter(sketch, random, ground, light)
    hidden = _people(sketch, Random(f"{seed}/figures/{index}"), ground, light, actions)
    _foreground(sketch, random, ground, light)
    boxed = Random(f"{seed}/boxes/{index}")
    boxes = tuple(_box(sketch, number, hidden, boxed) for number in range(len(actions)))
    return Scene(sketch, ground, light, actions, boxes, f"{seed}/weather/{index}")


def _people(
    sketch: Sketch, random: Random, ground: Ground, light: Light, actions: tuple[str, ...]
) -> dict[int, float]:
    """Draw all people, each at a separate position, the farthest first; return the row below which each is hidden."""
    hidden: dict[int, float] = {}
    wardrobe = random.choice(WARDROBES)
    number = len(actions)
    slots = list(range(number))
    random.shuffle(slots)
    spots = []
    for person, action in enumerate(actions):
        act = ACTIONS[action](random)
        if not ground.indoors:
            beside(random, act, action, ground.wild)
        body = dress(random, wardrobe, light.cold and not ground.indoors)
        row = _row(random, ground, act, body.height, number)
        across = WIDTH * (slots[person] + 0.5 + random.uniform(-0.3, 0.3)) / number
        spots.append((row, min(max(across, 46), WIDTH - 46), random.random() < 0.5, person, act, body))
    for row, across, flip, person, act, body in sorted(spots, key=lambda spot: spot[:4]):
        size = ground.size(row) * body.height
        sketch.veil = _veil(ground, light, row)
        _shadow(sketch, across, row, size, act, ground)
        sketch.place((across, row), size, flip)
        draw_person(sketch, body, act, person)
        sketch.owner = None
        if row <= HEIGHT and random.random() < COVERED * (1.9 if act.cover[1] > 0.5 else 1.0):
            # the head is always seen
            tall = min(random.uniform(*act.cover), -0.78 * act.pose.head[1])
            covered = cover(sketch, random, act.wide, tall, _leaves(random, light), ground.indoors)
            if covered:
                hidden[person] = row - covered * size
    sketch.owner = None
    sketch.veil = ((0, 0, 0), 0.0)
    sketch.place((0, 0), 1)
    return hidden


def _veil(ground: Ground, light: Light, row: float) -> tuple[Colour, float]:
    """Return the haze colour and its share at `row`."""
    farness = min(1.0, max(0.0, (ground.near - row) / (ground.near - ground.far)))
    if ground.indoors:
        return (60, 50, 70), 0.16 * farness
    return light.haze, (0.62 if light.weather == "fog" else 0.16) * farness


def _row(random: Random, ground: Ground, act: Act, height: float, number: int) -> float:
    """Return the row of a person's feet: nearer if there are few people."""
    # The head is in the image. Some people are so near that the lower edge cuts them off.
    near = ground.near if number < 4 else ground.far + (ground.near - ground.far) * 0.8
    row = random.triangular(
        ground.far, near, ground.far + (near - ground.far) * (0.75 if number < 3 else 0.55)
    )
    if not ground.stage and random.random() < CLOSE:
        row = ground.near + random.uniform(0.1, 0.5) * ground.size(ground.near)
    tall = (-act.pose.head[1] + 0.16) * height
    # row - tall * (row - horizon) / eye >= HIGHEST
    if tall > ground.eye:
        row = min(row, (tall / ground.eye * ground.horizon - HIGHEST) / (tall / ground.eye - 1))
    wide = act.wide * height * 2
    return min(row, ground.horizon + ground.eye * 0.85 * WIDTH / wide / max(1.0, number * 0.42))


def _shadow(sketch: Sketch, across: float, row: float, size: float, act: Act, ground: Ground) -> None:
    """Draw a shadow on the ground; smaller and paler below a jumping person."""
    fade = 1 / (1 + 3 * act.raised)
    sketch.place((across, row), size)
    sketch.disc(
        (act.pose.hip[0] * 0.5, 0.005), act.wide * fade, clear((26, 22, 56), 0.3 * fade), 0.055 * fade
    )
    sketch.disc(
        (act.pose.hip[0] * 0.5, 0.005), act.wide * 0.6 * fade, clear((26, 22, 56), 0.2 * fade), 0.03 * fade
    )


def _clutter(sketch: Sketch, random: Random, ground: Ground, light: Light) -> None:
    """Draw objects between the people."""
    if ground.indoors:
        return
    row = random.uniform(ground.far + 5, ground.near - 40)
    size, x = ground.size(row), random.uniform(40, 600)
    kind = random.choice(("dog", "bush", "crate", "bin", "balloons", "ball", "", "", ""))
    if kind == "dog":
        scenery.dog(sketch, random, x, row, size * 0.5)
    elif kind == "bush":
        scenery.bush(sketch, x, row, size * 0.28, _leaves(random, light))
    elif kind == "crate":
        scenery.crate(sketch, x, row, size * 0.3)
    elif kind == "bin":
        scenery.bin_(sketch, x, row, size * 0.4)
    elif kind == "balloons":
        scenery.balloons(sketch, random, x, row - size * 0.95, size * 0.22)
    elif kind == "ball":
        scenery.ball(sketch, x, row, size * 0.09)


def _leaves(random: Random, light: Light) -> Colour:
    return mix(random.choice(scenery.LEAVES), light.haze, 0.5 if light.cold else 0.0)


def _foreground(sketch: Sketch, random: Random, ground: Ground, light: Light) -> None:
    """Draw foreground objects that hide parts of people: leaves, a fence, a lamp post, heads of an audience."""
    if ground.stage:
        for x in range(random.randint(-20, 10), 660, 46):
            y = 486 + random.uniform(-12, 10)
            sketch.disc((x, y - 20), 17, (22, 18, 34))
            sketch.limb((x - 20, y + 10), (x + 20, y + 10), 16, 16, (22, 18, 34))
        return
    leaves = _leaves(random, light)
    kind = (
        random.choice(("bush", "bushes", "post", "", "", "", ""))
        if not ground.indoors
        else random.choice(("plant", "", ""))
    )
    if kind == "plant":
        scenery.pot_plant(sketch, random.choice((30, 610)), 486, random.uniform(120, 190))
    elif kind == "bush":
        scenery.bush(
            sketch, random.choice((10, 630, random.uniform(0, 640))), 486, random.uniform(50, 90), leaves
        )
    elif kind == "bushes":
        for left in range(random.randint(-30, 0), 660, 88):
            scenery.bush(sketch, left, 492, random.uniform(32, 46), leaves)
    elif kind == "post":
        lit = light.dark
        scenery.lamp_post(sketch, random.uniform(40, 600), 484, 440, lit)


def _box(sketch: Sketch, number: int, hidden: dict[int, float], random: Random) -> Box:
    """Return the box around the visible part of a person in the halved image, as imprecise as a box drawn by hand."""
    left, top, right, bottom = sketch.extent(number, (0, 0, WIDTH, min(hidden.get(number, HEIGHT), HEIGHT)))
    across, down = (right - left) * LOOSE, (bottom - top) * LOOSE
    return (
        max(0, math.floor((left - across * random.random()) / 2)),
        max(0, math.floor((top - down * random.random()) / 2)),
        min(WIDTH // 2, math.ceil((right + across * random.random()) / 2)),
        min(HEIGHT // 2, math.ceil((bottom + down * random.random()) / 2)),
    )
