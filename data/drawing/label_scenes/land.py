"""Mountains, hills, meadows, sand and roads, between the sky and the viewer."""

from __future__ import annotations

import math
from random import Random

from drawing.ground import HEIGHT, WIDTH
from drawing.label_scenes.canvas import SNOW, Canvas, across
from drawing.sketch import (
    Colour,
    Point,
    Sketch,
    clear,
    darker,
    lighter,
    mix,
    rgb,
)

ROCKS = [rgb(code) for code in ("5f7f9a", "6d7f8f", "7a7893", "5c8790", "8a7f86")]
MESAS = [rgb(code) for code in ("b8623f", "c27a4e", "a8553f", "96563f")]
GRASS = {
    "spring": [rgb(code) for code in ("8cc266", "9fca6a", "79b86a")],
    "summer": [rgb(code) for code in ("8db568", "7aa862", "a3b763", "b9b85f")],
    "autumn": [rgb(code) for code in ("b6a65a", "a89a57", "c0a55c")],
    "winter": [rgb(code) for code in ("a3a378", "97a07e")],
}
SANDS = [rgb(code) for code in ("eed9a8", "e8cb96", "f2e1bd", "e3c08c")]
PETALS = [rgb(code) for code in ("e0574f", "f2c14e", "f7f1e3", "d98ab5", "8f7bc4", "f08a4b")]


def mountains(canvas: Canvas, base: float) -> None:
    """Draw a mountain range with its foot at row `base`: distant peaks first, some with snow."""
    random = canvas.random("mountain")
    if canvas.story.place == "desert":
        _mesas(canvas, random, base)
        return
    rock = random.choice(ROCKS)
    high = random.uniform(0.38, 0.92) * canvas.horizon
    near = 0.75 if canvas.story.place in ("mountains", "lake") else 0.45
    for row, (distance, share) in enumerate(((0.68, 1.0), (0.42, near))):
        number = random.randint(3, 6)
        colour = canvas.far(rock if row == 0 else mix(rock, rgb("4f6f62"), 0.35), distance)
        for k in range(number):
            x = WIDTH * (k + 0.5 + random.uniform(-0.4, 0.4)) / number
            tall = high * share * random.uniform(0.55, 1.0)
            _peak(canvas, random, x, base, tall * random.uniform(1.1, 1.9), tall, colour, row == 0)


def _peak(
    canvas: Canvas, random: Random, x: float, base: float, wide: float, tall: float, colour: Colour, far: bool
) -> None:
    """A mountain with a side in the light and one in the shade."""
    sketch = canvas.sketch
    steps = 7
    sides = []
    for way in (-1, 0, 1):
        reach = wide * way if way else wide * random.uniform(-0.25, 0.3)
        points = []
        for k in range(steps + 1):
            t = k / steps
            jag = random.uniform(-1, 1) * tall * 0.035 * (0 < k < steps)
            points.append((x + reach * t**1.12 + jag, base - tall * (1 - t) + jag))
        sides.append(points)
    left, middle, right = sides
    sketch.polygon([*left, *reversed(middle)], lighter(colour, 0.13))
    sketch.polygon([*middle, *reversed(right)], darker(colour, 0.12))
    cap = random.uniform(0.2, 0.5) + (0.2 if canvas.snowy else 0.0)
    if canvas.shows("snow") and (far or canvas.snowy):
        white = canvas.far(SNOW, 0.12)
        k = max(2, round(cap * steps))
        for one, other, tint in ((left, middle, white), (middle, right, mix(white, colour, 0.34))):
            # a jagged lower edge
            rim = [_between(one[k - (n % 2)], other[k - (n % 2)], n / 4) for n in range(5)]
            sketch.polygon([*one[: k + 1], *rim[1:], *reversed(other[: k + 1])], tint)


def _between(one: Point, other: Point, share: float) -> Point:
    return one[0] + (other[0] - one[0]) * share, one[1] + (other[1] - one[1]) * share


def _mesas(canvas: Canvas, random: Random, base: float) -> None:
    """Table mountains in layers."""
    for row, distance in enumerate((0.55, 0.25)):
        rock = canvas.far(random.choice(MESAS), distance)
        for _ in range(random.randint(2, 3)):
            x, wide = random.uniform(0, WIDTH), random.uniform(60, 150)
            tall = canvas.horizon * random.uniform(0.25, 0.6) * (0.7 if row else 1.0)
            for k in range(4):
                top, half = base - tall * (1 - k / 4), wide * (0.55 + 0.12 * k)
                low = base - tall * (1 - (k + 1) / 4) + 1
                canvas.sketch.polygon(
                    [(x - half, top), (x + half, top), (x + half * 1.1, low), (x - half * 1.1, low)],
                    lighter(rock, 0.1) if k % 2 else rock,
                )
                canvas.sketch.polygon(
                    [(x + half * 0.35, top), (x + half, top), (x + half * 1.1, low), (x + half * 0.5, low)],
                    darker(rock, 0.16),
                )


def hills(canvas: Canvas, base: float, bottom: float, thing: str = "hills") -> None:
    """Three rolling lines, each nearer and less in the haze."""
    random = canvas.random(thing)
    green = canvas.earth(random.choice(GRASS[canvas.story.season]))
    for k, distance in enumerate((0.62, 0.45, 0.3)):
        top = base - (2 - k) * random.uniform(8, 22)
        wave(
            canvas.sketch,
            random,
            top,
            random.uniform(14, 34),
            canvas.far(darker(green, 0.1), distance),
            bottom,
        )


def wave(sketch: Sketch, random: Random, base: float, tall: float, colour: Colour, bottom: float) -> None:
    """Draw ground with a rolling upper edge, at most `tall` above `base`."""
    long, phase, other = random.uniform(3, 7), random.uniform(0, 6), random.uniform(0, 6)
    points = [
        (
            x,
            base
            - tall
            * (0.5 + 0.34 * math.sin(x / 640 * long + phase) + 0.16 * math.sin(x / 280 * long + other)),
        )
        for x in range(-10, 661, 16)
    ]
    sketch.polygon([(-10, bottom), *points, (650, bottom)], colour)


def meadow(canvas: Canvas, top: float) -> None:
    """Draw grass, or bare earth, from `top` down."""
    random, sketch = canvas.random("grass"), canvas.sketch
    green = random.choice(GRASS[canvas.story.season])
    if not canvas.shows("grass"):
        # bare earth
        green = mix(rgb("a58f6d"), green, 0.3)
    green = canvas.earth(green)
    across(sketch, top, HEIGHT + 5, green)
    for k in range(3):
        at = top + (HEIGHT - top) * (0.1 + 0.27 * k)
        wave(
            sketch,
            random,
            at + 16,
            26,
            mix(green, lighter(green, 0.22) if k % 2 else darker(green, 0.1), 0.6),
            486,
        )
    if canvas.shows("grass"):
        _tufts(sketch, random, top, darker(green, 0.22), lighter(green, 0.3))
    elif canvas.snowy:
        for _ in range(9):
            x, y = random.uniform(0, WIDTH), random.uniform(top + 20, HEIGHT)
            sketch.limb((x, y), (x + random.uniform(20, 80), y), 1.6, 0.8, mix(SNOW, rgb("8fb0cc"), 0.4))


def _tufts(sketch: Sketch, random: Random, top: float, dark: Colour, light: Colour) -> None:
    for _ in range(46):
        y = top + (HEIGHT - top) * random.random() ** 0.7
        x, size = random.uniform(0, WIDTH), 2 + 13 * (y - top) / (HEIGHT - top)
        colour = light if random.random() < 0.4 else dark
        for dx in (-0.4, 0.0, 0.4):
            sketch.polygon(
                [(x + dx * size - 1, y), (x + dx * size * 2, y - size), (x + dx * size + 1.3, y)], colour
            )


def flowers(canvas: Canvas, top: float) -> None:
    """Draw few or many flowers, in patches, larger where they are near."""
    random, sketch = canvas.random("flowers"), canvas.sketch
    tints = random.sample(PETALS, random.randint(1, 3))
    patches = [
        (random.uniform(0, WIDTH), random.uniform(0.15, 1.0), random.uniform(40, 160)) for _ in range(4)
    ]
    for _ in range(random.choice((16, 40, 110))):
        x, depth, wide = random.choice(patches)
        deep = min(1.0, max(0.04, depth + random.gauss(0, 0.12)))
        at, y, size = x + random.gauss(0, wide), top + (HEIGHT - top) * deep, 1.2 + 6.5 * deep**1.5
        tint = random.choice(tints)
        sketch.limb((at, y), (at, y - size * 2.4), size * 0.14, size * 0.12, rgb("5c8a4e"))
        if size > 4:
            for k in range(5):
                a = math.tau * k / 5
                centre = (at + math.cos(a) * size * 0.6, y - size * 2.4 + math.sin(a) * size * 0.6)
                sketch.disc(centre, size * 0.5, tint)
            sketch.disc((at, y - size * 2.4), size * 0.36, rgb("f6d25a"))
        else:
            sketch.disc((at, y - size * 2.4), size * 0.9, tint)


def sand(canvas: Canvas, top: float) -> None:
    """A beach or a desert from `top` down, with ripples."""
    random, sketch = canvas.random("sand"), canvas.sketch
    colour = canvas.earth(random.choice(SANDS))
    if canvas.story.place == "desert":
        colour = mix(colour, rgb("d98a52"), random.uniform(0.2, 0.5))
        wave(sketch, random, top + 14, 26, canvas.far(darker(colour, 0.12), 0.3), 486)
    wave(sketch, random, top + 26, 18, colour, 486)
    for k in range(3):
        at = top + 50 + (HEIGHT - top) * 0.26 * k
        wave(sketch, random, at, 30, darker(colour, 0.07) if k % 2 else lighter(colour, 0.22), 486)
    for _ in range(26):
        x, y = random.uniform(0, WIDTH), random.uniform(top + 44, HEIGHT)
        sketch.disc(
            (x, y), random.uniform(0.8, 2.2), random.choice((darker(colour, 0.18), lighter(colour, 0.5))), 1.0
        )
    if canvas.story.place == "desert":
        for _ in range(random.randint(1, 5)):
            _cactus(canvas, random, random.uniform(20, 620), random.uniform(top + 26, HEIGHT - 40))


def _cactus(canvas: Canvas, random: Random, x: float, y: float) -> None:
    sketch, tall = canvas.sketch, canvas.size(y) * random.uniform(0.7, 1.7)
    green = canvas.far(random.choice((rgb("4f7f5a"), rgb("5f8a58"), rgb("3f6f5a"))), 0.12)
    sketch.disc((x + tall * 0.2, y), tall * 0.4, clear((40, 24, 40), 0.22), tall * 0.05)
    for colour, thick in ((darker(green, 0.18), 0.1), (green, 0.075)):
        sketch.limb((x, y), (x, y - tall * 0.92), tall * thick, tall * thick, colour)
        for side, low, up in ((-1, 0.42, 0.72), (1, 0.3, 0.62)):
            bend = (x + side * tall * 0.25, y - tall * low)
            sketch.limb((x, y - tall * low), bend, tall * thick * 0.7, tall * thick * 0.7, colour)
            sketch.limb(bend, (bend[0], y - tall * up), tall * thick * 0.7, tall * thick * 0.65, colour)


def road(canvas: Canvas, top: float) -> None:
    """A road that comes from the horizon in a bend."""
    random, sketch = canvas.random("road"), canvas.sketch
    paved = canvas.story.place != "forest" and random.random() < (0.9 if canvas.shows("car") else 0.5)
    colour = mix(rgb("6f6e78"), canvas.light.haze, 0.12) if paved else canvas.earth(rgb("dcc497"))
    if canvas.snowy and paved:
        colour = mix(colour, SNOW, 0.3)
    edges = [_lane(canvas, top, k / 18) for k in range(19)]
    for widen, tint in ((1.12, lighter(colour, 0.35) if paved else darker(colour, 0.1)), (1.0, colour)):
        left = [(x - w * widen, y) for x, y, w in edges]
        sketch.polygon(left + [(x + w * widen, y) for x, y, w in reversed(edges)], tint)
    for k in range(1, 18, 2) if paved else ():
        (x, y, w), (other, low, wide) = edges[k], edges[k + 1]
        line = [
            (x - w * 0.035, y),
            (x + w * 0.035, y),
            (other + wide * 0.035, low),
            (other - wide * 0.035, low),
        ]
        sketch.polygon(line, rgb("f3e6c2"))


def lane(canvas: Canvas, top: float, share: float) -> Point:
    """The middle of the right lane, `share` of the way from the horizon."""
    x, y, wide = _lane(canvas, top, share)
    return x + wide * 0.45, y


def _lane(canvas: Canvas, top: float, share: float) -> tuple[float, float, float]:
    random = canvas.random("road course")
    far, near, bend = random.uniform(200, 440), random.uniform(160, 480), random.uniform(-150, 150)
    wide = random.uniform(70, 150)
    x = far + (near - far) * share + bend * math.sin(share * 4.2) * (1 - share)
    return x, top + (HEIGHT + 6 - top) * share**1.6, 4 + wide * share**1.6
