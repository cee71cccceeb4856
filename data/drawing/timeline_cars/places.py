"""The place of a car, independent of the year: sky, background and ground."""

from __future__ import annotations

import math
from random import Random

from drawing.ground import HEIGHT, WIDTH
from drawing.sketch import Colour, Sketch, clear, darker, lighter, mix, rgb

SKIES = (
    ("8fc3dd", "e6f0ea"),
    ("6fa9cf", "dbe9ea"),
    ("f0c9a4", "fbe8c9"),
    ("b9c4c9", "e2e6e4"),
    ("7fb0c9", "f3dcb8"),
)
GREENS = tuple(map(rgb, ("6f9a5a", "86a65f", "5d8752", "9aa860", "4f7a56")))
WALLS = tuple(map(rgb, ("c9a58a", "d9cbb0", "a9736a", "b9b4ab", "8d99a0", "e2d3c2", "97705a")))
ROADS = tuple(map(rgb, ("8f8d8c", "a49c90", "77777c", "b3a68f")))


def draw_place(sketch: Sketch, random: Random, ground: float) -> None:
    """Draw everything behind and below a car whose wheels are on row `ground`."""
    horizon = ground - random.uniform(70, 120)
    top, bottom = map(rgb, random.choice(SKIES))
    for band in range(12):
        y = horizon * band / 12
        sketch.box(-5, y, WIDTH + 5, y + horizon / 12 + 1, mix(top, bottom, band / 11))
    for _ in range(random.choice((0, 2, 3))):
        _cloud(sketch, random, horizon, lighter(bottom, 0.5))
    kind = random.choice((_hills, _hills, _houses, _houses, _trees, _trees, _wall, _sea))
    kind(sketch, random, horizon, bottom)
    road = random.choice(ROADS)
    verge = random.choice(GREENS) if kind is not _wall else lighter(road, 0.3)
    sketch.box(-5, horizon, WIDTH + 5, HEIGHT + 5, verge)
    kerb = ground - random.uniform(28, 44)
    sketch.box(-5, kerb - 7, WIDTH + 5, kerb, lighter(road, 0.45))
    sketch.box(-5, kerb, WIDTH + 5, HEIGHT + 5, road)
    if random.random() < 0.5:
        y, start = min(HEIGHT - 10, ground + random.uniform(26, 48)), random.uniform(-120, 0)
        for dash in range(6):
            x = start + dash * 150
            sketch.polygon([(x, y), (x + 80, y), (x + 76, y + 7), (x - 4, y + 7)], lighter(road, 0.55))


def _cloud(sketch: Sketch, random: Random, horizon: float, colour: Colour) -> None:
    x, y, size = random.uniform(0, WIDTH), random.uniform(0.1, 0.55) * horizon, random.uniform(20, 42)
    for dx, grow in ((-1.1, 0.6), (-0.3, 0.9), (0.6, 1.0), (1.3, 0.6)):
        sketch.disc(
            (x + dx * size, y - grow * size * 0.25), size * grow, clear(colour, 0.75), size * grow * 0.5
        )


def _hills(sketch: Sketch, random: Random, horizon: float, air: Colour) -> None:
    for far in (0.75, 0.5, 0.25):
        colour, phase = mix(random.choice(GREENS), air, far), random.uniform(0, 6)
        high, long = random.uniform(30, 95) * (0.4 + far), random.uniform(90, 190)
        ridge = [
            (x, horizon - high * (0.6 + 0.4 * math.sin(x / long + phase))) for x in range(-20, WIDTH + 41, 20)
        ]
        sketch.polygon([(-20, horizon + 5), *ridge, (WIDTH + 20, horizon + 5)], colour)


def _trees(sketch: Sketch, random: Random, horizon: float, air: Colour) -> None:
    _hills(sketch, random, horizon, air)
    x = random.uniform(-30, 40)
    while x < WIDTH + 30:
        tall, leaves = random.uniform(70, 170), random.choice(GREENS)
        sketch.limb((x, horizon + 8), (x, horizon - tall * 0.5), 5, 3, rgb("6b5240"))
        for dx, up, size in ((0, 0.62, 0.36), (-0.2, 0.45, 0.28), (0.22, 0.48, 0.27), (0.05, 0.85, 0.24)):
            shade = darker(leaves, 0.12) if dx < 0 else leaves
            sketch.disc((x + dx * tall, horizon - up * tall), size * tall, mix(shade, air, 0.15))
        x += random.uniform(70, 190)


def _houses(sketch: Sketch, random: Random, horizon: float, air: Colour) -> None:
    x = random.uniform(-120, -20)
    while x < WIDTH:
        wide, tall = random.uniform(110, 210), random.uniform(90, 210)
        wall = mix(random.choice(WALLS), air, 0.25)
        sketch.box(x, horizon - tall, x + wide, horizon + 6, wall)
        if random.random() < 0.6:
            roof = [
                (x - 8, horizon - tall),
                (x + wide / 2, horizon - tall - wide * 0.3),
                (x + wide + 8, horizon - tall),
            ]
            sketch.polygon(roof, mix(rgb("8a4f40"), air, 0.2))
        columns, rows = max(2, int(wide // 45)), max(1, int(tall // 60))
        for column in range(columns):
            for row in range(rows):
                left = x + wide * (column + 0.5) / columns - 10
                high = horizon - tall + 18 + (tall - 20) * row / rows
                sketch.box(left, high, left + 20, high + 28, mix(darker(wall, 0.45), air, 0.1))
        x += wide + random.choice((0, 0, random.uniform(10, 70)))


def _wall(sketch: Sketch, random: Random, horizon: float, air: Colour) -> None:
    """A garage or a barn close behind."""
    colour = random.choice(WALLS)
    sketch.box(-5, -5, WIDTH + 5, horizon + 6, colour)
    step = random.choice((26, 34, 48))
    for line in range(0, int(horizon) + 1, step):
        sketch.box(-5, line, WIDTH + 5, line + 2, darker(colour, 0.18))
    for _ in range(random.choice((1, 2))):
        x, wide = random.uniform(0, WIDTH - 160), random.uniform(90, 220)
        sketch.box(x, horizon * 0.3, x + wide, horizon + 6, mix(darker(colour, 0.5), air, 0.1))
        sketch.box(x + 6, horizon * 0.3 + 6, x + wide - 6, horizon + 6, mix(darker(colour, 0.3), air, 0.2))


def _sea(sketch: Sketch, random: Random, horizon: float, air: Colour) -> None:
    sea = mix(rgb("4f8fa8"), air, 0.3)
    sketch.box(-5, horizon - 46, WIDTH + 5, horizon + 6, sea)
    for _ in range(12):
        x, y = random.uniform(0, WIDTH), horizon - random.uniform(4, 42)
        sketch.box(x, y, x + random.uniform(20, 70), y + 2, lighter(sea, 0.35))
    if random.random() < 0.6:
        x = random.uniform(60, WIDTH - 60)
        sketch.polygon([(x, horizon - 50), (x + 44, horizon - 50), (x + 6, horizon - 118)], rgb("f4f1e6"))
