"""Indoor places: a living room, a library, a café, a stage."""

from __future__ import annotations

from random import Random

from drawing.action_figures import scenery
from drawing.action_figures.light import Light
from drawing.ground import Ground
from drawing.sketch import Colour, Sketch, clear, darker, lighter, mix, rgb


def _room(random: Random, light: Light) -> Ground:
    return Ground(random.uniform(120, 160), 335.0, eye=random.uniform(0.95, 1.2), indoors=True)


def _walls(sketch: Sketch, random: Random, floor: float, wall: Colour, boards: Colour) -> None:
    sketch.box(-5, -5, 645, floor, wall)
    sketch.box(-5, floor, 645, 485, boards)
    for k in range(-4, 18):
        x = 320 + (k * 46 - 320) * 0.9
        sketch.line([(x, floor), (320 + (x - 320) * 1.7, 480)], 1.8, darker(boards, 0.12))
    sketch.box(-5, floor - 12, 645, floor, lighter(wall, 0.4))


def _window(
    sketch: Sketch, random: Random, x: float, y: float, wide: float, tall: float, light: Light
) -> None:
    frame = rgb("f4ece0")
    sketch.box(x - 7, y - 7, x + wide + 7, y + tall + 7, frame)
    sketch.box(x, y, x + wide, y + tall, mix(light.top, light.bottom, 0.5))
    sketch.box(x, y + tall * 0.72, x + wide, y + tall, mix(rgb("6f9a62"), light.haze, 0.5))
    sketch.disc((x + wide * 0.3, y + tall * 0.7), wide * 0.16, mix(rgb("5f8f4e"), light.haze, 0.35))
    if light.dark:
        sketch.disc((x + wide * 0.7, y + tall * 0.25), 8, rgb("f6f1d8"))
    sketch.box(x + wide / 2 - 2.5, y, x + wide / 2 + 2.5, y + tall, frame)
    sketch.box(x, y + tall * 0.45, x + wide, y + tall * 0.45 + 4, frame)
    curtain = random.choice([rgb("d98a6a"), rgb("8fb0a0"), rgb("e6c88a"), rgb("b78ba0")])
    for left, right in ((x - 22, x + wide * 0.12), (x + wide * 0.88, x + wide + 22)):
        sketch.box(left, y - 14, right, y + tall + 22, curtain)
        sketch.box(
            (left + right) / 2 - 3, y - 14, (left + right) / 2 + 3, y + tall + 22, darker(curtain, 0.12)
        )
    sketch.line([(x - 30, y - 16), (x + wide + 30, y - 16)], 5, rgb("7a5a42"))


def _shelves(sketch: Sketch, random: Random, left: float, right: float, top: float, bottom: float) -> None:
    wood = random.choice([rgb("8b5e3c"), rgb("a97a4e"), rgb("6b4a3a")])
    sketch.box(left, top, right, bottom, darker(wood, 0.3))
    rows = max(2, int((bottom - top) // 46))
    spines = [
        rgb(code) for code in ("b5483d", "e0a84a", "3f6c8f", "5c8a6a", "e9dcc2", "6b4464", "33425c", "d0805c")
    ]
    for row in range(rows):
        low = top + (bottom - top) * (row + 1) / rows
        x = left + 5
        while x < right - 12:
            wide, tall = random.uniform(4, 10), random.uniform(22, 38)
            if random.random() < 0.9:
                sketch.box(x, low - tall, x + wide, low, random.choice(spines))
            else:
                x += 12
            x += wide + 0.6
        sketch.box(left, low, right, low + 5, wood)
    for x in (left, right - 5):
        sketch.box(x, top - 4, x + 6, bottom, wood)
    sketch.box(left - 3, top - 7, right + 4, top, lighter(wood, 0.1))


def _hanging_lamp(sketch: Sketch, ground: Ground, x: float, low: float, colour: Colour) -> None:
    sketch.line([(x, -5), (x, low - 20)], 2, rgb("3a3540"))
    sketch.polygon([(x - 8, low - 24), (x + 8, low - 24), (x + 28, low), (x - 28, low)], colour)
    sketch.disc((x, low), 10, scenery.GLOW, 7)
    ground.glows.append((x, low, 150, scenery.GLOW))


def living_room(sketch: Sketch, random: Random, light: Light) -> Ground:
    ground = _room(random, light)
    wall = random.choice(
        [rgb("e8cfae"), rgb("b9c8bd"), rgb("dba98c"), rgb("9db3bd"), rgb("d9c07e"), rgb("c9b3c0")]
    )
    floor = ground.far - random.uniform(10, 25)
    _walls(sketch, random, floor, wall, random.choice([rgb("b98a5c"), rgb("9a7250"), rgb("cba273")]))
    spots = [40.0, 250.0, 460.0]
    random.shuffle(spots)
    _window(sketch, random, spots[0] + 20, 70, 120, 130, light)
    if random.random() < 0.6:
        _shelves(sketch, random, spots[1], spots[1] + 130, 110, floor - 4)
    else:
        _pictures(sketch, random, spots[1] + 60, 130)
    if random.random() < 0.7:
        colour = random.choice([rgb("b5533c"), rgb("4f7a78"), rgb("c99a3f"), rgb("6a5d86")])
        _sofa(sketch, spots[2] - 10, floor + 14, 190, colour)
    if random.random() < 0.6:
        scenery.pot_plant(sketch, random.uniform(20, 620), floor + 10, random.uniform(70, 110))
    rug = random.choice([rgb("c8705a"), rgb("6f8a8f"), rgb("d9b26a")])
    sketch.disc((random.uniform(220, 420), 425), 240, rug, 42)
    sketch.disc((320, 425), 0.1, rug)
    _hanging_lamp(sketch, ground, random.uniform(120, 520), random.uniform(60, 100), darker(rug, 0.1))
    if random.random() < 0.35:
        scenery.cat(sketch, random, random.uniform(40, 600), floor + 40, 58)
    return ground


def _sofa(sketch: Sketch, x: float, base: float, wide: float, colour: Colour) -> None:
    sketch.limb((x + 20, base - 70), (x + wide - 20, base - 70), 24, 24, darker(colour, 0.15))
    sketch.box(x + 6, base - 72, x + wide - 6, base - 16, darker(colour, 0.15))
    sketch.limb((x + 22, base - 36), (x + wide - 22, base - 36), 15, 15, colour)
    for arm in (x + 10, x + wide - 10):
        sketch.limb((arm, base - 52), (arm, base - 14), 17, 15, lighter(colour, 0.1))


def _pictures(sketch: Sketch, random: Random, x: float, y: float) -> None:
    for dx, dy, w, h in ((-60, -30, 52, 66), (4, -20, 66, 44), (4, 34, 40, 40)):
        sketch.box(x + dx - 4, y + dy - 4, x + dx + w + 4, y + dy + h + 4, rgb("5b4534"))
        sky = random.choice([rgb("f2d9a8"), rgb("a9c8d0"), rgb("e8b08f")])
        sketch.box(x + dx, y + dy, x + dx + w, y + dy + h, sky)
        sketch.disc((x + dx + w * 0.6, y + dy + h * 0.4), w * 0.15, rgb("d9584a"))
        sketch.polygon(
            [(x + dx, y + dy + h), (x + dx + w * 0.4, y + dy + h * 0.45), (x + dx + w, y + dy + h)],
            darker(sky, 0.4),
        )


def library(sketch: Sketch, random: Random, light: Light) -> Ground:
    ground = _room(random, light)
    wall = random.choice([rgb("d8c3a0"), rgb("a9b8a8"), rgb("c7a68a")])
    floor = ground.far - random.uniform(10, 25)
    _walls(sketch, random, floor, wall, random.choice([rgb("8a6a4c"), rgb("a5835c"), rgb("6f5748")]))
    x = random.uniform(-40, 10)
    gap = random.randrange(4)
    for k in range(4):
        if k == gap:
            _window(sketch, random, x + 26, 60, 100, 150, light)
        else:
            _shelves(sketch, random, x, x + 150, 62, floor - 3)
        x += 166
    for spot in random.sample((120, 250, 390, 520), 2):
        _hanging_lamp(sketch, ground, spot, 56, rgb("3f7a5c"))
    return ground


def cafe(sketch: Sketch, random: Random, light: Light) -> Ground:
    ground = _room(random, light)
    wall = random.choice([rgb("5f7f7a"), rgb("b5694f"), rgb("d9b98a"), rgb("47566b")])
    floor = ground.far - random.uniform(10, 25)
    _walls(sketch, random, floor, wall, rgb("c4a27c"))
    # tiles
    for row in range(2):
        for k in range(-1, 14):
            sketch.box(
                k * 50 + 25 * row,
                floor + 18 + row * 34,
                k * 50 + 25 * row + 25,
                floor + 30 + row * 44,
                darker(rgb("c4a27c"), 0.14),
            )
    left = random.choice((20, 330))
    sketch.box(left, floor - 92, left + 280, floor + 6, rgb("7a4f38"))
    sketch.box(left - 8, floor - 102, left + 288, floor - 90, rgb("d9b58a"))
    for k in range(7):
        cup = left + 24 + k * 36
        sketch.box(cup, floor - 170, cup + 14, floor - 156, rgb("f3e9d8"))
        sketch.box(
            cup - 3,
            floor - 140,
            cup + 11,
            floor - 120,
            random.choice([rgb("c8553d"), rgb("e3a32b"), rgb("8fb0a0")]),
        )
    for shelf in (156, 120):
        sketch.box(left + 8, floor - shelf, left + 272, floor - shelf + 5, rgb("5b3d2c"))
    board = 350 if left < 200 else 60
    sketch.box(board, 70, board + 150, 170, rgb("4a3a30"))
    sketch.box(board + 6, 76, board + 144, 164, rgb("2e3a36"))
    for k in range(5):
        sketch.line(
            [(board + 20, 92 + 14 * k), (board + random.uniform(60, 128), 92 + 14 * k)], 3, rgb("e9e2cf")
        )
    if random.random() < 0.6:
        _window(sketch, random, board + 10, 190, 110, 90, light)
    for spot in (130, 320, 510):
        _hanging_lamp(sketch, ground, spot + random.uniform(-30, 30), 52, rgb("e3a32b"))
    return ground


def stage(sketch: Sketch, random: Random, light: Light) -> Ground:
    """A concert: curtain, beams of light and the heads of listeners."""
    ground = Ground(
        random.uniform(110, 150), 318.0, 425.0, random.uniform(0.95, 1.15), indoors=True, stage=True
    )
    back = random.choice([rgb("3a2a55"), rgb("23345c"), rgb("5a2440"), rgb("24474f")])
    ground.gradients.append((0, 310, darker(back, 0.5), lighter(back, 0.2)))
    curtain = random.choice([rgb("9c2f3f"), rgb("7a2a5a"), rgb("a8562f")])
    for x in (*range(-20, 90, 24), *range(556, 660, 24)):
        sketch.polygon(
            [(x, -5), (x + 26, -5), (x + 20, 300), (x - 4, 300)],
            darker(curtain, 0.12 + 0.2 * ((x // 24) % 2)),
        )
    for k in range(14):
        sketch.disc((k * 50, -6), 30, darker(curtain, 0.1 * (k % 2)), 40)
    wood = rgb("a8733f")
    sketch.polygon([(-5, 292), (645, 292), (645, 440), (-5, 440)], wood)
    for k in range(6):
        sketch.line([(-5, 302 + 9 * k + 3 * k * k), (645, 302 + 9 * k + 3 * k * k)], 1.6, darker(wood, 0.16))
    sketch.box(-5, 436, 645, 485, darker(wood, 0.55))
    for x in random.sample((110, 190, 450, 530), 2):
        sketch.box(x - 30, 222, x + 30, 300, rgb("2a2930"))
        for y, r in ((244, 13), (278, 20)):
            sketch.disc((x, y), r, rgb("4b4a55"))
            sketch.disc((x, y), r * 0.4, rgb("2a2930"))
    for _ in range(random.randint(2, 4)):
        top, foot = random.uniform(60, 580), random.uniform(80, 560)
        tint = random.choice([rgb("ffe6a0"), rgb("ffb3a0"), rgb("a0e0ff"), rgb("e0b0ff")])
        sketch.polygon([(top - 6, -5), (top + 6, -5), (foot + 75, 400), (foot - 75, 400)], clear(tint, 0.16))
        sketch.disc((foot, 396), 76, clear(tint, 0.3), 22)
        ground.glows.append((top, 0, 90, tint))
    return ground
