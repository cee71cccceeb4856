"""Streets, towers, farms, bridges, lamps and cars."""

from __future__ import annotations

import math
from random import Random

from drawing.action_figures import scenery
from drawing.ground import HEIGHT, WIDTH
from drawing.label_scenes.canvas import SNOW, Canvas, across
from drawing.label_scenes.land import lane
from drawing.sketch import Colour, clear, darker, lighter, mix, rgb

WALLS = [
    rgb(code) for code in ("e2b58a", "c97b5f", "d9cdb8", "9fb2b5", "e6c86e", "b66f5c", "e9ddc9", "7f9aa6")
]
TOWERS = [rgb(code) for code in ("6f8398", "8794a3", "a39a96", "58708a", "b3a491", "7a7f92")]
ROOFS = [rgb(code) for code in ("8e4a3b", "a8553f", "5b4b52", "6f5a4d", "3f4a5a")]
PAINTS = [
    rgb(code) for code in ("c8473a", "e3a32b", "3f7a9c", "f2efe6", "2f7f6f", "394556", "8fae5a", "d98a4a")
]
GLASS, LIT = rgb("5a7288"), rgb("ffdf8e")


def lit(canvas: Canvas) -> bool:
    """Return whether the lights are on."""
    return canvas.light.dark or canvas.story.time == "sunset"


def towers(canvas: Canvas, base: float) -> None:
    """The far side of a city: three rows of towers in the haze, windows in the nearest."""
    random, sketch = canvas.random("city"), canvas.sketch
    for row, distance in enumerate((0.7, 0.5, 0.28)):
        x = random.uniform(-40, 0)
        while x < WIDTH:
            wide, tall = random.uniform(28, 66), canvas.horizon * random.uniform(0.2, 0.8) * (1 - 0.16 * row)
            wall = canvas.far(random.choice(TOWERS), distance)
            sketch.box(x, base - tall, x + wide, base, wall)
            sketch.box(x + wide * 0.7, base - tall, x + wide, base, darker(wall, 0.1))
            top = random.random()
            if top < 0.2:
                sketch.limb((x + wide / 2, base - tall), (x + wide / 2, base - tall - 26), 2.4, 0.8, wall)
            elif top < 0.4:
                sketch.polygon(
                    [(x, base - tall), (x + wide * 0.7, base - tall - 20), (x + wide, base - tall)], wall
                )
            elif top < 0.55:
                sketch.box(x + wide * 0.2, base - tall - 14, x + wide * 0.8, base - tall, wall)
            if canvas.snowy:
                sketch.box(x - 1, base - tall - 2, x + wide + 1, base - tall + 2, SNOW)
            if row == 2 or canvas.light.dark:
                _windows(canvas, random, x, base - tall, wide, tall, wall)
            x += wide * random.uniform(0.85, 1.6)


def _windows(
    canvas: Canvas, random: Random, left: float, top: float, wide: float, tall: float, wall: Colour
) -> None:
    columns, rows = max(2, int(wide // 11)), max(1, int(tall // 15))
    for row in range(min(rows, 9)):
        for column in range(columns):
            on = lit(canvas) and random.random() < 0.4
            x, y = left + wide * (column + 0.28) / columns, top + 6 + 15 * row
            canvas.sketch.box(
                x, y, x + wide * 0.44 / columns, y + 8, LIT if on else mix(wall, darker(GLASS, 0.1), 0.45)
            )


def street(canvas: Canvas, base: float, tall: tuple[float, float], gaps: float) -> None:
    """Draw house fronts side by side, their lower edges at `base`."""
    random = canvas.random("building")
    x = random.uniform(-60, 0)
    while x < WIDTH:
        wide = random.uniform(62, 132)
        if random.random() > gaps:
            high = random.uniform(*tall)
            scenery.house(canvas.sketch, random, x, wide, base, high, lit(canvas))
            if canvas.snowy:
                canvas.sketch.limb((x, base - high - 3), (x + wide, base - high - 3), 4, 4, SNOW)
        x += wide


def pavement(canvas: Canvas, base: float) -> None:
    """Draw the ground of a city, with a road if the story has one."""
    random, sketch = canvas.random("pavement"), canvas.sketch
    stone = canvas.earth(
        mix(random.choice([rgb("cfc5b6"), rgb("bdb5ad"), rgb("d6c3a5")]), canvas.light.haze, 0.1)
    )
    across(sketch, base, HEIGHT + 5, stone)
    for k in range(-6, 20):
        x = k * 52 - 20
        sketch.line([(320 + (x - 320) * 0.8, base), (320 + (x - 320) * 2.2, HEIGHT)], 1.3, darker(stone, 0.1))
    if canvas.shows("road"):
        split = street_row(canvas, base)
        asphalt = mix(rgb("6f6e78"), SNOW, 0.3 if canvas.snowy else 0.0)
        low = split + random.uniform(90, 130)
        across(sketch, split, low, asphalt)
        across(sketch, split - 4, split + 3, lighter(stone, 0.4))
        across(sketch, low - 3, low + 7, lighter(stone, 0.4))
        for k in range(6):
            sketch.box(k * 128 + 8, (split + low) / 2 - 3, k * 128 + 74, (split + low) / 2 + 3, rgb("f1e6c8"))
        if canvas.shows("rain"):
            for _ in range(26):
                at, y = random.uniform(0, WIDTH), random.uniform(split, low)
                sketch.limb(
                    (at, y), (at + random.uniform(10, 50), y), 1.8, 1.0, clear(lighter(asphalt, 0.6), 0.5)
                )


def street_row(canvas: Canvas, base: float) -> float:
    """Return the row where the road of a street begins."""
    return base + canvas.random("street").uniform(26, 56)


def lamps(canvas: Canvas, y: float) -> None:
    random = canvas.random("lamps")
    tall = canvas.size(y) * 1.9
    for x in random.sample(range(40, 620, 116), random.randint(1, 4)):
        scenery.lamp_post(canvas.sketch, x, y, tall, lit(canvas))
        if lit(canvas):
            canvas.glow(x + tall * 0.11, y - tall * 0.96, tall * 0.8, LIT)


def farm(canvas: Canvas, top: float, near: float) -> None:
    """Draw one to three houses in the country, sometimes so distant that they are hard to see."""
    random = canvas.random("building")
    x = random.uniform(70, 570)
    for _ in range(random.choice((1, 1, 2, 3))):
        y = top + (near - top) * random.random() ** 2
        size = min(92.0, max(13.0, canvas.size(y) * random.uniform(1.6, 2.6)))
        _cottage(canvas, random, x + random.uniform(-70, 70), y, size)


def _cottage(canvas: Canvas, random: Random, x: float, y: float, size: float) -> None:
    sketch, haze = canvas.sketch, 0.35 if size < 30 else 0.12
    codes = (rgb("f1e6d2"), rgb("b5483d"), rgb("e2b58a"), rgb("d9cdb8"))
    wall = canvas.far(random.choice(codes), haze)
    roof = canvas.earth(canvas.far(random.choice(ROOFS), haze))
    shade = darker(wall, 0.12)
    sketch.place((x, y), size)
    sketch.disc((0, 0), 0.85, clear((28, 26, 52), 0.2), 0.06)
    sketch.box(-0.62, -0.55, 0.62, 0, wall)
    sketch.box(0.12, -0.55, 0.62, 0, shade)
    sketch.polygon([(0.12, -0.55), (0.37, -0.94), (0.62, -0.55)], shade)
    sketch.polygon([(-0.69, -0.53), (-0.43, -0.95), (0.38, -0.95), (0.11, -0.53)], roof)
    sketch.box(-0.31, -1.1, -0.19, -0.88, darker(wall, 0.3))
    for left in (-0.48, -0.21):
        sketch.box(left, -0.4, left + 0.16, -0.17, LIT if lit(canvas) else GLASS)
    sketch.box(0.3, -0.33, 0.47, 0, darker(roof, 0.2))
    sketch.place((0, 0), 1)
    if lit(canvas):
        canvas.glow(x - size * 0.25, y - size * 0.28, size * 1.2, LIT)


def bridge(canvas: Canvas, deck: float, water: float) -> None:
    """Arches of stone or cables over a river, from bank to bank."""
    random, sketch = canvas.random("bridge"), canvas.sketch
    stone = canvas.far(random.choice((rgb("b8a58c"), rgb("9a8f8a"), rgb("c98a6a"))), 0.16)
    thick = random.uniform(9, 15)
    if random.random() < 0.4:
        iron = canvas.far(random.choice((rgb("b5483d"), rgb("3f5a6c"), rgb("5b6670"))), 0.14)
        for x in (190.0, 450.0):
            sketch.box(x - 7, deck - 104, x + 7, water + 8, iron)
            for k in range(1, 9):
                for side in (-1, 1):
                    sketch.line([(x, deck - 100), (x + side * k * 17, deck)], 1.2, lighter(iron, 0.2))
        across(sketch, deck, deck + thick, iron)
        across(sketch, deck - 2, deck + 2, lighter(iron, 0.3))
        return
    number = random.choice((3, 4, 5))
    span = WIDTH / number
    # a pier and the half arches beside it
    for k in range(number):
        x, rise = span * k, water - deck - thick
        arch = [
            (
                x + span / 2 - span * 0.4 * math.cos(math.pi * n / 12),
                water - rise * math.sin(math.pi * n / 12),
            )
            for n in range(13)
        ]
        ends = [(x, deck), (x + span + 1, deck), (x + span + 1, water + 6), (x + span * 0.9, water + 6)]
        sketch.polygon([*ends, *reversed(arch), (x + span * 0.1, water + 6), (x, water + 6)], stone)
        sketch.line(arch, 2.4, darker(stone, 0.22))
    across(sketch, deck - 4, deck + 3, lighter(stone, 0.25))


def cars(canvas: Canvas, top: float) -> None:
    """Draw cars on the road: across the image in a street, towards or away from the viewer in the country."""
    random = canvas.random("car")
    if canvas.story.place in ("city", "river", "harbour"):
        low = street_row(canvas, top)
        for _ in range(random.choice((1, 2, 3))):
            ahead = random.random() < 0.5
            y = low + (28 if ahead else 62)
            _car_across(
                canvas, random, random.uniform(40, 600), y, canvas.size(y) * random.uniform(0.85, 1.0), ahead
            )
        return
    for share in sorted(random.uniform(0.12, 0.8) for _ in range(random.choice((1, 1, 2)))):
        x, y = lane(canvas, top, share)
        _car_ahead(canvas, random, x, y, max(5.0, canvas.size(y) * 0.85))


def _car_across(canvas: Canvas, random: Random, x: float, y: float, size: float, flip: bool) -> None:
    sketch, paint = canvas.sketch, random.choice(PAINTS)
    sketch.place((x, y), size, flip)
    sketch.disc((0, 0.0), 1.35, clear((20, 18, 40), 0.3), 0.07)
    roof = random.uniform(0.85, 1.0)
    cabin = [(-0.8, -0.48), (-0.56, -roof), (0.3, -roof), (0.72, -0.48)]
    sketch.polygon(cabin, paint)
    glass = LIT if canvas.light.dark and random.random() < 0.3 else rgb("33475a")
    sketch.polygon([(-0.66, -0.5), (-0.48, -roof + 0.09), (-0.12, -roof + 0.09), (-0.12, -0.5)], glass)
    sketch.polygon([(-0.04, -0.5), (-0.04, -roof + 0.09), (0.26, -roof + 0.09), (0.56, -0.5)], glass)
    sketch.limb((-1.1, -0.36), (1.08, -0.34), 0.2, 0.18, paint)
    sketch.limb((-1.12, -0.26), (1.1, -0.25), 0.13, 0.13, darker(paint, 0.2))
    sketch.disc((1.2, -0.38), 0.07, rgb("fff0b8"))
    sketch.disc((-1.24, -0.4), 0.055, rgb("d8382f"))
    for wheel in (-0.7, 0.7):
        sketch.disc((wheel, -0.19), 0.21, rgb("26262d"))
        sketch.disc((wheel, -0.19), 0.1, rgb("b9bec4"))
    sketch.place((0, 0), 1)
    if canvas.light.dark:
        canvas.glow(x + size * (-1.25 if flip else 1.25), y - size * 0.38, size * 1.3, rgb("fff0b8"))


def _car_ahead(canvas: Canvas, random: Random, x: float, y: float, size: float) -> None:
    """Seen from behind."""
    sketch, paint = canvas.sketch, canvas.far(random.choice(PAINTS), 0.25 if size < 16 else 0.05)
    sketch.place((x, y), size)
    sketch.disc((0, 0), 0.72, clear((20, 18, 40), 0.3), 0.06)
    for side in (-1, 1):
        sketch.limb((side * 0.45, -0.06), (side * 0.45, -0.2), 0.1, 0.1, rgb("26262d"))
    sketch.polygon([(-0.5, -0.55), (-0.4, -0.96), (0.4, -0.96), (0.5, -0.55)], paint)
    sketch.polygon([(-0.41, -0.58), (-0.33, -0.88), (0.33, -0.88), (0.41, -0.58)], rgb("33475a"))
    sketch.limb((-0.45, -0.4), (0.45, -0.4), 0.18, 0.18, paint)
    sketch.limb((-0.5, -0.24), (0.5, -0.24), 0.08, 0.08, darker(paint, 0.25))
    for side in (-1, 1):
        sketch.disc((side * 0.5, -0.44), 0.075, rgb("e8392f"))
    sketch.place((0, 0), 1)
    if canvas.light.dark:
        for side in (-1, 1):
            canvas.glow(x + side * size * 0.5, y - size * 0.44, size * 0.8, rgb("ff5a48"))
