"""Background and foreground objects: trees, houses, lamps, furniture, animals."""

from __future__ import annotations

import math
from random import Random

from drawing.sketch import Colour, Sketch, clear, darker, lighter, mix, rgb

LEAVES = [rgb(code) for code in ("5f8f4e", "7ba65a", "4c7d5b", "8aa551", "3f6f56", "c08a3e", "b8643a")]
BARK = rgb("6b4a36")
WALLS = [
    rgb(code) for code in ("e2b58a", "c97b5f", "d9cdb8", "9fb2b5", "e6c86e", "b66f5c", "8fa3a0", "e3d5c3")
]
ROOFS = [rgb(code) for code in ("8e4a3b", "5b4b52", "6f5a4d", "3f4a5a")]
GLOW = rgb("ffdf8e")


def ridge(
    sketch: Sketch, random: Random, base: float, tall: float, waves: float, colour: Colour, bottom: float
) -> None:
    """Draw a line of hills across the whole image, at most `tall` above `base`."""
    phase, other = random.uniform(0, 6), random.uniform(0, 6)
    points = [
        (
            x,
            base
            - tall
            * (
                0.5
                + 0.32 * math.sin(x / 640 * waves + phase)
                + 0.18 * math.sin(x / 640 * waves * 2.3 + other)
            ),
        )
        for x in range(-10, 661, 20)
    ]
    sketch.polygon([(-10, bottom), *points, (650, bottom)], colour)


def cloud(sketch: Sketch, x: float, y: float, size: float, colour: Colour) -> None:
    for dx, dy, r in ((-0.9, 0.1, 0.5), (-0.3, -0.2, 0.7), (0.4, -0.1, 0.6), (1.0, 0.12, 0.42)):
        sketch.disc((x + dx * size, y + dy * size), r * size, colour, r * size * 0.62)
    sketch.limb(
        (x - size, y + size * 0.25), (x + size * 1.1, y + size * 0.25), size * 0.22, size * 0.2, colour
    )


def tree(sketch: Sketch, random: Random, x: float, y: float, tall: float, leaves: Colour) -> None:
    """Draw a round tree, a poplar or a fir of `tall` pixels with its foot at (x, y)."""
    kind = random.choice(("round", "round", "poplar", "fir"))
    trunk = darker(BARK, random.uniform(0, 0.2))
    sketch.limb((x, y), (x, y - tall * 0.5), tall * 0.045, tall * 0.03, trunk)
    light, dark = lighter(leaves, 0.16), darker(leaves, 0.16)
    if kind == "fir":
        for step in range(3):
            low, half = y - tall * (0.12 + 0.24 * step), tall * (0.27 - 0.06 * step)
            sketch.polygon(
                [(x - half, low), (x, low - tall * 0.42), (x + half, low)], mix(dark, leaves, step / 2)
            )
    elif kind == "poplar":
        sketch.disc((x, y - tall * 0.55), tall * 0.15, dark, tall * 0.45)
        sketch.disc((x - tall * 0.03, y - tall * 0.58), tall * 0.1, leaves, tall * 0.38)
    else:
        sketch.disc((x, y - tall * 0.62), tall * 0.34, dark, tall * 0.33)
        sketch.disc((x - tall * 0.2, y - tall * 0.52), tall * 0.2, dark)
        sketch.disc((x + tall * 0.2, y - tall * 0.55), tall * 0.2, leaves)
        sketch.disc((x - tall * 0.05, y - tall * 0.68), tall * 0.26, leaves, tall * 0.24)
        sketch.disc((x - tall * 0.1, y - tall * 0.76), tall * 0.12, light, tall * 0.1)


def bush(sketch: Sketch, x: float, y: float, size: float, leaves: Colour) -> None:
    dark = darker(leaves, 0.18)
    for dx, dy, r in ((-0.7, -0.25, 0.45), (0.0, -0.45, 0.6), (0.7, -0.28, 0.48)):
        sketch.disc((x + dx * size, y + dy * size), r * size, dark)
    for dx, dy, r in ((-0.55, -0.4, 0.32), (0.1, -0.62, 0.38), (0.7, -0.42, 0.28)):
        sketch.disc((x + dx * size, y + dy * size), r * size, leaves)
    sketch.box(x - size * 1.1, y - size * 0.25, x + size * 1.1, y + size * 0.03, dark)


def flowers(
    sketch: Sketch, random: Random, left: float, right: float, top: float, bottom: float, number: int
) -> None:
    tint = [rgb(code) for code in random.sample(["f2c14e", "e0574f", "f5efe0", "d98ab5", "8f7bc4"], 2)]
    for _ in range(number):
        y = random.uniform(top, bottom)
        size = 1.5 + 2.6 * (y - top) / max(1.0, bottom - top)
        sketch.disc((random.uniform(left, right), y), size, random.choice(tint))


def tufts(sketch: Sketch, random: Random, top: float, colour: Colour, number: int) -> None:
    """Blades of grass over the ground below `top`."""
    for _ in range(number):
        y = random.uniform(top + 8, 478)
        x, size = random.uniform(0, 640), 3 + 9 * (y - top) / (480 - top)
        for dx in (-0.5, 0.0, 0.5):
            sketch.polygon(
                [(x + dx * size - 1, y), (x + dx * size * 2, y - size), (x + dx * size + 1.5, y)], colour
            )


def house(
    sketch: Sketch, random: Random, left: float, wide: float, base: float, tall: float, lit: bool
) -> None:
    """A house front with windows, some of them lit in the dark."""
    wall = random.choice(WALLS)
    sketch.box(left, base - tall, left + wide, base, wall)
    sketch.box(left + wide * 0.86, base - tall, left + wide, base, darker(wall, 0.12))
    roof = random.choice(ROOFS)
    if random.random() < 0.6:
        sketch.polygon(
            [
                (left - 5, base - tall),
                (left + wide / 2, base - tall - wide * 0.32),
                (left + wide + 5, base - tall),
            ],
            roof,
        )
    else:
        sketch.box(left - 4, base - tall - 9, left + wide + 4, base - tall, roof)
    columns, rows = max(2, int(wide // 34)), max(1, int((tall - 52) // 40))
    for row in range(rows):
        for column in range(columns):
            x, y = left + wide * (column + 0.5) / columns, base - tall + 14 + 40 * row
            on = lit and random.random() < 0.55
            sketch.box(x - 9, y - 2, x + 9, y + 24, lighter(wall, 0.4))
            sketch.box(x - 7, y, x + 7, y + 22, GLOW if on else rgb("53697c"))
            sketch.box(x - 0.8, y, x + 0.8, y + 22, lighter(wall, 0.4))
    if random.random() < 0.6:
        _shop(sketch, random, left, wide, base, lit)
    else:
        x = left + wide * random.uniform(0.2, 0.65)
        sketch.box(x, base - 46, x + 24, base, darker(roof, 0.1))
        sketch.disc((x + 20, base - 22), 2, GLOW)


def _shop(sketch: Sketch, random: Random, left: float, wide: float, base: float, lit: bool) -> None:
    """A shop window below a striped awning."""
    colour = random.choice([rgb("b5483d"), rgb("3f7a74"), rgb("d99a36"), rgb("3f5a84")])
    sketch.box(left + 6, base - 44, left + wide - 6, base - 2, GLOW if lit else rgb("8fb0b8"))
    stripes = max(4, int(wide // 14))
    step = (wide - 4) / stripes
    for k in range(stripes):
        x = left + 2 + k * step
        tint = colour if k % 2 else rgb("f5ecd9")
        sketch.polygon(
            [(x, base - 58), (x + step, base - 58), (x + step + 1, base - 40), (x - 1, base - 40)], tint
        )
        sketch.disc((x + step / 2, base - 40), step / 2, tint)


def skyline(sketch: Sketch, random: Random, base: float, colour: Colour) -> None:
    """The outline of a far town."""
    x = -10.0
    while x < 650:
        wide, tall = random.uniform(18, 52), random.uniform(22, 95)
        sketch.box(x, base - tall, x + wide, base, mix(colour, (255, 255, 255), random.uniform(0, 0.08)))
        if random.random() < 0.25:
            sketch.polygon(
                [(x, base - tall), (x + wide / 2, base - tall - 26), (x + wide, base - tall)], colour
            )
        x += wide * random.uniform(0.8, 1.15)


def lamp_post(sketch: Sketch, x: float, y: float, tall: float, lit: bool) -> None:
    iron = rgb("2f3540")
    sketch.limb((x, y), (x, y - tall), tall * 0.022, tall * 0.014, iron)
    sketch.limb((x, y), (x, y - tall * 0.06), tall * 0.04, tall * 0.026, iron)
    sketch.line([(x, y - tall), (x + tall * 0.11, y - tall * 1.02)], tall * 0.022, iron)
    sketch.polygon(
        [
            (x + tall * dx, y - tall * dy)
            for dx, dy in ((0.08, 1.0), (0.14, 1.0), (0.165, 0.93), (0.055, 0.93))
        ],
        GLOW if lit else rgb("e7e4d8"),
    )
    sketch.line([(x + tall * 0.06, y - tall * 1.01), (x + tall * 0.16, y - tall * 1.01)], tall * 0.025, iron)


def fence(sketch: Sketch, y: float, tall: float, colour: Colour, gap: float, start: float = 0.0) -> None:
    """Draw two rails on posts across the image."""
    x = start
    while x < 650:
        sketch.box(x - tall * 0.07, y - tall, x + tall * 0.07, y, darker(colour, 0.1))
        x += gap
    for up in (0.35, 0.78):
        sketch.box(-5, y - tall * up - tall * 0.06, 645, y - tall * up + tall * 0.06, colour)


def railing(sketch: Sketch, y: float, tall: float, colour: Colour) -> None:
    """Draw an iron railing across the image."""
    for x in range(8, 650, max(14, int(tall * 0.3))):
        sketch.box(x - 1.6, y - tall, x + 1.6, y, colour)
    for up in (0.12, 1.0):
        sketch.box(-5, y - tall * up - 3, 645, y - tall * up + 3, colour)


def dog(sketch: Sketch, random: Random, x: float, y: float, size: float) -> None:
    """A dog that looks on."""
    coat = random.choice([rgb("a86b3c"), rgb("e6d5b8"), rgb("4b3b35"), rgb("c9b6a0")])
    sketch.place((x, y), size, random.random() < 0.5)
    dark = darker(coat, 0.25)
    for leg in (-0.28, -0.2, 0.2, 0.28):
        sketch.limb((leg, -0.3), (leg + 0.02, -0.03), 0.07, 0.045, dark if leg in (-0.28, 0.28) else coat)
    sketch.limb((-0.26, -0.4), (0.24, -0.42), 0.14, 0.15, coat)
    sketch.limb((-0.36, -0.46), (-0.56, -0.7), 0.05, 0.03, coat)
    sketch.limb((0.3, -0.48), (0.38, -0.66), 0.11, 0.12, coat)
    sketch.limb((0.4, -0.68), (0.6, -0.62), 0.11, 0.06, coat)
    sketch.limb((0.33, -0.74), (0.27, -0.56), 0.05, 0.06, dark)
    sketch.disc((0.65, -0.65), 0.035, rgb("2b2329"))
    sketch.disc((0.46, -0.71), 0.022, rgb("2b2329"))
    sketch.limb((0.3, -0.52), (0.4, -0.5), 0.04, 0.04, rgb("c8453a"))
    sketch.place((0, 0), 1)


def cat(sketch: Sketch, random: Random, x: float, y: float, size: float) -> None:
    """Draw a cat that sits with its back to the viewer."""
    coat = random.choice([rgb("2f2c33"), rgb("d08a4a"), rgb("9a9299"), rgb("efe6d8")])
    sketch.place((x, y), size)
    sketch.limb((0, -0.2), (0, -0.5), 0.22, 0.14, coat)
    sketch.arc((0.24, -0.1), 0.16, 0, math.pi, 0.07, coat)
    sketch.disc((0, -0.68), 0.15, coat)
    for side in (-1, 1):
        sketch.polygon([(side * 0.03, -0.78), (side * 0.13, -0.93), (side * 0.15, -0.7)], coat)
    sketch.place((0, 0), 1)


def birds(sketch: Sketch, random: Random, top: float, bottom: float, colour: Colour) -> None:
    x, y = random.uniform(60, 560), random.uniform(top, bottom)
    for _ in range(random.randint(2, 5)):
        bx, by, s = x + random.uniform(-50, 50), y + random.uniform(-22, 22), random.uniform(4, 8)
        sketch.line([(bx - s, by - s * 0.5), (bx, by), (bx + s, by - s * 0.5)], 1.8, colour)


def ball(sketch: Sketch, x: float, y: float, radius: float) -> None:
    sketch.disc((x, y - radius), radius, rgb("e0574f"))
    sketch.disc((x - radius * 0.2, y - radius * 1.1), radius * 0.62, rgb("f5ecd9"))
    sketch.disc((x - radius * 0.2, y - radius * 1.1), radius * 0.3, rgb("3f7a9c"))


def balloons(sketch: Sketch, random: Random, x: float, y: float, size: float) -> None:
    for tint in random.sample(["e0574f", "f2c14e", "3f8f94", "d98ab5", "8f7bc4"], 3):
        bx, by = x + random.uniform(-1, 1) * size, y + random.uniform(-0.6, 0.6) * size
        sketch.line([(x, y + size * 2.6), (bx, by)], 1.2, clear(rgb("4a4450"), 0.7))
        sketch.disc((bx, by), size * 0.42, rgb(tint), size * 0.52)
        sketch.disc((bx - size * 0.13, by - size * 0.17), size * 0.1, rgb("ffffff"), size * 0.14)


def pot_plant(sketch: Sketch, x: float, y: float, size: float) -> None:
    green = rgb("5c8a58")
    for angle in (-1.1, -0.6, -0.15, 0.3, 0.8, 1.15):
        tip = x + math.sin(angle) * size * 0.75, y - size * 0.35 - math.cos(angle) * size * 0.8
        sketch.limb(
            (x, y - size * 0.3), tip, size * 0.05, size * 0.11, darker(green, 0.15 if angle < 0 else 0)
        )
    sketch.polygon(
        [
            (x - size * 0.26, y - size * 0.42),
            (x + size * 0.26, y - size * 0.42),
            (x + size * 0.19, y),
            (x - size * 0.19, y),
        ],
        rgb("c0694a"),
    )


def bin_(sketch: Sketch, x: float, y: float, tall: float) -> None:
    sketch.polygon(
        [(x - tall * 0.3, y - tall), (x + tall * 0.3, y - tall), (x + tall * 0.24, y), (x - tall * 0.24, y)],
        rgb("4d6b5c"),
    )
    sketch.limb(
        (x - tall * 0.32, y - tall), (x + tall * 0.32, y - tall), tall * 0.06, tall * 0.06, rgb("35493f")
    )


def crate(sketch: Sketch, x: float, y: float, size: float) -> None:
    wood = rgb("b98a55")
    sketch.box(x - size / 2, y - size * 0.8, x + size / 2, y, wood)
    for k in range(3):
        sketch.box(
            x - size / 2,
            y - size * (0.78 - 0.27 * k),
            x + size / 2,
            y - size * (0.74 - 0.27 * k),
            darker(wood, 0.35),
        )
