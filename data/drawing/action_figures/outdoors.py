"""Outdoor places: a park, a street, a promenade, a beach, a meadow, a stadium."""

from __future__ import annotations

import math
from random import Random

from drawing.action_figures import scenery
from drawing.action_figures.light import Light
from drawing.ground import Ground
from drawing.sketch import Colour, Sketch, clear, darker, lighter, mix, rgb

SNOW = rgb("eef2f4")


def park(sketch: Sketch, random: Random, light: Light) -> Ground:
    ground = _sky(sketch, random, light, random.uniform(175, 240))
    horizon = ground.horizon
    grass = _earth(light, random.choice([rgb("8db568"), rgb("7aa862"), rgb("a3b763")]))
    if random.random() < 0.5:
        scenery.skyline(sketch, random, horizon + 4, mix(rgb("7f93a8"), light.haze, 0.6))
    scenery.ridge(sketch, random, horizon + 6, 50, 7, mix(darker(grass, 0.2), light.haze, 0.45), horizon + 40)
    _trees(sketch, random, light, horizon + 14, random.randint(4, 8), (70, 170))
    sketch.box(-5, horizon + 8, 645, 485, grass)
    scenery.ridge(sketch, random, horizon + 70, 40, 5, lighter(grass, 0.08), 485)
    bend, mid = random.uniform(-220, 220), random.uniform(180, 460)
    path = _earth(light, rgb("e3cfa3"))
    steps = [k / 14 for k in range(15)]
    middle = [
        (mid + bend * math.sin(t * 2.4) * (1 - t), horizon + 20 + (470 - horizon) * t * t, 8 + 110 * t * t)
        for t in steps
    ]
    sketch.polygon([(x - w, y) for x, y, w in middle] + [(x + w, y) for x, y, w in reversed(middle)], path)
    scenery.tufts(sketch, random, horizon + 20, darker(grass, 0.14), 30)
    if not light.cold:
        scenery.flowers(sketch, random, 0, 640, horizon + 40, 478, random.randint(0, 40))
    if random.random() < 0.4:
        _lamp(sketch, ground, random.uniform(40, 600), horizon + random.uniform(40, 90), light)
    ground.wild = random.random() < 0.4
    return ground


def street(sketch: Sketch, random: Random, light: Light) -> Ground:
    ground = _sky(sketch, random, light, random.uniform(190, 235))
    base = ground.horizon + 46
    lit = light.dark or light.name in ("dusk", "evening")
    scenery.skyline(sketch, random, ground.horizon + 20, mix(rgb("7d8799"), light.haze, 0.55))
    x = random.uniform(-60, 0)
    while x < 650:
        wide = random.uniform(74, 150)
        if random.random() < 0.85:
            scenery.house(sketch, random, x, wide, base, random.uniform(105, 215), lit)
        else:
            scenery.tree(sketch, random, x + wide / 2, base, random.uniform(90, 150), _leaves(random, light))
        x += wide
    pavement = _earth(light, rgb("cfc5b6"))
    road = _earth(light, rgb("7d7c84"))
    sketch.box(-5, base, 645, 485, pavement)
    split = base + random.uniform(60, 110)
    for k in range(-2, 16):
        sketch.line(
            [(320 + (k * 52 - 320) * 0.8, base), (320 + (k * 52 - 320) * 1.5, split)],
            1.6,
            darker(pavement, 0.12),
        )
    if random.random() < 0.75:
        sketch.box(-5, split, 645, 485, road)
        sketch.box(-5, split - 5, 645, split + 3, lighter(pavement, 0.35))
        middle = split + (480 - split) * 0.55
        for k in range(5):
            sketch.box(k * 150 + 10, middle, k * 150 + 90, middle + 7, rgb("f1e6c8"))
    ground.far = base + 12
    for spot in random.sample(range(30, 620, 60), random.randint(0, 2)):
        _lamp(sketch, ground, spot, base + 10, light)
    if random.random() < 0.4:
        scenery.bin_(sketch, random.uniform(30, 610), base + 16, 30)
    return ground


def promenade(sketch: Sketch, random: Random, light: Light) -> Ground:
    """By the water, with boats and a railing."""
    ground = _sky(sketch, random, light, random.uniform(170, 215))
    horizon = ground.horizon
    water = mix(mix(rgb("3f8fa8"), light.bottom, 0.35), light.top, 0.15)
    scenery.ridge(sketch, random, horizon + 2, 46, 5, mix(rgb("6f8a96"), light.haze, 0.5), horizon + 10)
    if random.random() < 0.5:
        scenery.skyline(sketch, random, horizon + 2, mix(rgb("8b90a5"), light.haze, 0.45))
    edge = horizon + random.uniform(46, 74)
    sketch.box(-5, horizon, 645, edge + 4, water)
    for _ in range(22):
        x, y = random.uniform(0, 640), random.uniform(horizon + 6, edge)
        sketch.line([(x, y), (x + random.uniform(8, 30), y)], 1.8, lighter(water, 0.32))
    for _ in range(random.randint(0, 3)):
        _boat(
            sketch,
            random,
            random.uniform(30, 600),
            random.uniform(horizon + 10, edge - 8),
            random.uniform(16, 32),
        )
    stone = _earth(light, random.choice([rgb("d8c4a4"), rgb("c3b9ac"), rgb("d9b48f")]))
    sketch.box(-5, edge, 645, 485, stone)
    scenery.railing(sketch, edge + 4, 44, darker(rgb("5b6670"), 0.2))
    for k in range(6):
        y = edge + 12 + 22 * k + 4 * k * k
        sketch.line([(-5, y), (645, y)], 1.6, darker(stone, 0.1))
    ground.far = edge + 12
    for spot in random.sample(range(40, 620, 110), random.randint(0, 2)):
        _lamp(sketch, ground, spot, edge + 16, light)
    return ground


def beach(sketch: Sketch, random: Random, light: Light) -> Ground:
    ground = _sky(sketch, random, light, random.uniform(150, 205))
    horizon = ground.horizon
    sea = mix(mix(rgb("2f8fa6"), light.bottom, 0.25), light.top, 0.15)
    edge = horizon + random.uniform(40, 76)
    sketch.box(-5, horizon, 645, edge + 40, sea)
    sketch.box(-5, horizon + 18, 645, edge + 40, lighter(sea, 0.15))
    for _ in range(random.randint(0, 3)):
        _boat(sketch, random, random.uniform(20, 620), horizon + random.uniform(3, 14), random.uniform(9, 18))
    sand = _earth(light, random.choice([rgb("eed9a8"), rgb("e6c893"), rgb("f0dfbd")]))
    scenery.ridge(sketch, random, edge + 20, 22, 9, rgb("faf6ea"), 485)
    scenery.ridge(sketch, random, edge + 28, 20, 8, darker(sand, 0.12), 485)
    scenery.ridge(sketch, random, edge + 40, 20, 7, sand, 485)
    for _ in range(26):
        x, y = random.uniform(0, 640), random.uniform(edge + 50, 475)
        sketch.disc((x, y), random.uniform(1, 2.4), random.choice([darker(sand, 0.2), lighter(sand, 0.5)]))
    for _ in range(0 if light.cold else random.randint(0, 2)):
        _parasol(
            sketch, random, random.uniform(30, 610), edge + random.uniform(55, 90), random.uniform(60, 100)
        )
    if random.random() < 0.3:
        scenery.ball(sketch, random.uniform(60, 580), random.uniform(edge + 110, 440), 12)
    ground.far = edge + 45
    ground.wild = random.random() < 0.4
    return ground


def meadow(sketch: Sketch, random: Random, light: Light) -> Ground:
    """Fields with a fence, a barn and far hills."""
    ground = _sky(sketch, random, light, random.uniform(170, 225))
    horizon = ground.horizon
    grass = _earth(light, random.choice([rgb("9dba63"), rgb("b5b65c"), rgb("86ad66"), rgb("d0b862")]))
    scenery.ridge(sketch, random, horizon + 8, 105, 4, mix(rgb("6c8ea0"), light.haze, 0.55), horizon + 60)
    scenery.ridge(
        sketch, random, horizon + 14, 60, 6, mix(darker(grass, 0.22), light.haze, 0.3), horizon + 60
    )
    if random.random() < 0.5:
        _barn(sketch, random.uniform(60, 540), horizon + 22, random.uniform(46, 80), light)
    sketch.box(-5, horizon + 12, 645, 485, grass)
    scenery.ridge(sketch, random, horizon + 50, 34, 6, lighter(grass, 0.1), 485)
    scenery.ridge(sketch, random, horizon + 120, 34, 4, mix(grass, rgb("7fa05a"), 0.35), 485)
    _trees(sketch, random, light, horizon + 20, random.randint(1, 4), (50, 110))
    if random.random() < 0.8:
        scenery.fence(
            sketch,
            horizon + 52,
            40,
            rgb("e9ddc6") if random.random() < 0.5 else rgb("8d6a48"),
            74,
            random.uniform(0, 60),
        )
    scenery.tufts(sketch, random, horizon + 50, darker(grass, 0.16), 44)
    if not light.cold:
        scenery.flowers(sketch, random, 0, 640, horizon + 60, 478, random.randint(10, 70))
    ground.far = horizon + 58
    ground.wild = True
    return ground


def track(sketch: Sketch, random: Random, light: Light) -> Ground:
    """A stadium: stands with spectators, and lanes."""
    ground = _sky(sketch, random, light, random.uniform(150, 190))
    base = ground.horizon + 62
    concrete = mix(rgb("9aa3ac"), light.haze, 0.25)
    sketch.polygon([(-5, ground.horizon - 60), (645, ground.horizon - 60), (645, base), (-5, base)], concrete)
    crowd = [
        mix(rgb(code), light.haze, 0.35)
        for code in ("c8553d", "e3a32b", "33425c", "f2e6cf", "3f7a74", "8a5a7a")
    ]
    for row in range(6):
        y = ground.horizon - 46 + row * 15
        sketch.box(-5, y + 8, 645, y + 11, darker(concrete, 0.15))
        for x in range(random.randint(0, 12), 645, 17):
            if random.random() < 0.62:
                sketch.disc((x, y + 4), 5, random.choice(crowd), 5)
                sketch.disc(
                    (x, y - 3),
                    3.4,
                    mix(random.choice([rgb("ecbd97"), rgb("9a6440"), rgb("573522")]), light.haze, 0.3),
                )
    sketch.box(-5, base - 20, 645, base, rgb("f3ead6"))
    for k in range(6):
        sketch.box(
            20 + k * 110,
            base - 18,
            100 + k * 110,
            base - 2,
            [rgb("3f6c8f"), rgb("d0603c"), rgb("e3a32b")][k % 3],
        )
    lane = _earth(light, random.choice([rgb("c9694b"), rgb("b85c4a"), rgb("4f86a0")]))
    sketch.box(-5, base, 645, 485, _earth(light, rgb("7fae63")))
    sketch.box(-5, base + 20, 645, 485, lane)
    tilt = random.uniform(-0.05, 0.05)
    for k in range(1, 6):
        y = base + 20 + 12 * k * (1 + 0.55 * k)
        sketch.line([(-5, y - tilt * 320), (645, y + tilt * 320)], 3, rgb("f7f0e0"))
    ground.far = base + 24
    return ground


def _boat(sketch: Sketch, random: Random, x: float, y: float, size: float) -> None:
    hull = random.choice([rgb("f5ecd9"), rgb("b5483d"), rgb("33425c"), rgb("e0a030")])
    sketch.polygon(
        [(x - size, y - size * 0.25), (x + size, y - size * 0.25), (x + size * 0.7, y), (x - size * 0.75, y)],
        hull,
    )
    sketch.line([(x, y - size * 0.25), (x, y - size * 1.9)], 2.0, rgb("5b4534"))
    sketch.polygon(
        [(x + 3, y - size * 0.4), (x + 3, y - size * 1.8), (x + size * 0.85, y - size * 0.4)], rgb("faf4e4")
    )
    sketch.polygon(
        [(x - 3, y - size * 0.4), (x - 3, y - size * 1.5), (x - size * 0.6, y - size * 0.4)], rgb("eadfc8")
    )


def _parasol(sketch: Sketch, random: Random, x: float, y: float, size: float) -> None:
    one, two = rgb(random.choice(["d9584a", "2f8f94", "e3a32b", "d9788f"])), rgb("f7efdd")
    sketch.line([(x, y), (x + size * 0.08, y - size)], 3.5, rgb("8a6a4a"))
    top = x + size * 0.09, y - size * 1.15
    rim = [
        (top[0] - size * 0.62 + size * 1.24 * k / 6, y - size * (0.72 + 0.06 * math.sin(math.pi * k / 6)))
        for k in range(7)
    ]
    for k in range(6):
        bulge = (top[0] * 0.35 + rim[k][0] * 0.65 + (k - 2.5) * 3, top[1] * 0.7 + rim[k][1] * 0.3)
        after = (top[0] * 0.35 + rim[k + 1][0] * 0.65 + (k - 1.5) * 3, top[1] * 0.7 + rim[k + 1][1] * 0.3)
        sketch.polygon([top, bulge, rim[k], rim[k + 1], after], one if k % 2 else two)


def _barn(sketch: Sketch, x: float, base: float, size: float, light: Light) -> None:
    red = mix(rgb("a8483a"), light.haze, 0.2)
    sketch.polygon(
        [
            (x - size * 0.6, base),
            (x - size * 0.6, base - size * 0.55),
            (x - size * 0.38, base - size * 0.9),
            (x, base - size * 1.05),
            (x + size * 0.38, base - size * 0.9),
            (x + size * 0.6, base - size * 0.55),
            (x + size * 0.6, base),
        ],
        red,
    )
    sketch.box(x - size * 0.2, base - size * 0.5, x + size * 0.2, base, darker(red, 0.35))
    sketch.line([(x - size * 0.2, base - size * 0.5), (x + size * 0.2, base)], 3, rgb("f3e6d0"))
    sketch.line([(x + size * 0.2, base - size * 0.5), (x - size * 0.2, base)], 3, rgb("f3e6d0"))


def _sky(sketch: Sketch, random: Random, light: Light, horizon: float) -> Ground:
    ground = Ground(horizon, horizon + 55, eye=random.uniform(0.68, 0.98))
    ground.gradients.append((0, horizon + 30, light.top, light.bottom))
    if light.sun:
        x, y, r = random.uniform(70, 570), random.uniform(30, horizon * 0.62), random.uniform(15, 26)
        ground.glows.append((x, y, r * 5, light.sun))
        sketch.disc((x, y), r, light.sun)
        if light.dark:
            sketch.disc(
                (x + r * 0.45, y - r * 0.2), r * 0.9, mix(light.top, light.bottom, y / (horizon + 30))
            )
    if light.dark:
        for _ in range(26):
            sketch.disc(
                (random.uniform(0, 640), random.uniform(0, horizon * 0.8)),
                random.uniform(0.6, 1.5),
                rgb("fff6d8"),
            )
    elif light.weather != "fog":
        tint = clear(mix(light.bottom, (255, 255, 255), 0.5), 0.8)
        for _ in range(random.randint(0, 4)):
            scenery.cloud(
                sketch,
                random.uniform(0, 640),
                random.uniform(24, horizon * 0.6),
                random.uniform(16, 42),
                tint,
            )
    if random.random() < 0.3 and not light.dark:
        scenery.birds(sketch, random, 30, horizon * 0.6, darker(light.haze, 0.5))
    return ground


def _earth(light: Light, colour: Colour) -> Colour:
    return mix(SNOW, colour, 0.12) if light.cold else colour


def _leaves(random: Random, light: Light) -> Colour:
    return mix(random.choice(scenery.LEAVES), SNOW, 0.45 if light.cold else 0.0)


def _trees(
    sketch: Sketch, random: Random, light: Light, base: float, number: int, tall: tuple[float, float]
) -> None:
    leaves = _leaves(random, light)
    for _ in range(number):
        scenery.tree(
            sketch,
            random,
            random.uniform(-20, 660),
            base + random.uniform(-3, 8),
            random.uniform(*tall),
            leaves,
        )


def _lamp(sketch: Sketch, ground: Ground, x: float, y: float, light: Light) -> None:
    tall = ground.size(y) * 1.9
    lit = light.dark or light.name in ("dusk", "evening")
    scenery.lamp_post(sketch, x, y, tall, lit)
    if lit:
        ground.glows.append((x + tall * 0.11, y - tall * 0.96, tall * 0.75, scenery.GLOW))
