"""Trees in their seasons, alone or as a forest."""

from __future__ import annotations

import math
from itertools import pairwise
from random import Random

from drawing.ground import HEIGHT, WIDTH
from drawing.label_scenes.canvas import SNOW, Canvas
from drawing.sketch import Colour, clear, darker, lighter, mix, rgb

LEAVES = {
    "spring": [rgb(code) for code in ("8fc068", "f0b7c4", "a9cc70", "f6dfe4", "e79bb0")],
    "summer": [rgb(code) for code in ("5f8f4e", "7ba65a", "4c7d5b", "8aa551")],
    "autumn": [rgb(code) for code in ("d98b35", "c4562f", "e0ae3f", "a8432f", "b97a35")],
    "winter": [rgb("8a7a6c")],
}
NEEDLES = [rgb(code) for code in ("3f6f56", "35624f", "4a7a5c", "2f5a50")]
BARK = rgb("6b4a36")


def tree(canvas: Canvas, random: Random, x: float, y: float, tall: float, distance: float = 0.0) -> None:
    """Draw a tree in its season, `tall` pixels high; `distance` adds haze."""
    kinds = ["round", "round", "poplar", "fir"]
    if canvas.story.place == "mountains":
        kinds = ["fir", "fir", "round"]
    if canvas.story.season == "autumn":
        kinds = ["round", "round", "poplar", "round", "fir"]
    kind = random.choice(kinds)
    leaves = canvas.far(random.choice(LEAVES[canvas.story.season]), distance)
    trunk = canvas.far(darker(BARK, random.uniform(0, 0.25)), distance)
    if distance < 0.3:
        canvas.sketch.disc((x + tall * 0.06, y), tall * 0.26, clear((28, 26, 52), 0.22), tall * 0.035)
    if kind == "fir":
        _fir(canvas, random, x, y, tall, canvas.far(random.choice(NEEDLES), distance), trunk)
    elif canvas.story.season == "winter":
        _bare(canvas, random, x, y, tall, trunk)
    elif kind == "poplar":
        canvas.sketch.limb((x, y), (x, y - tall * 0.4), tall * 0.03, tall * 0.025, trunk)
        canvas.sketch.disc((x, y - tall * 0.55), tall * 0.15, darker(leaves, 0.18), tall * 0.45)
        canvas.sketch.disc((x - tall * 0.03, y - tall * 0.58), tall * 0.1, leaves, tall * 0.38)
    else:
        _round(canvas, random, x, y, tall, leaves, trunk)


def _round(
    canvas: Canvas, random: Random, x: float, y: float, tall: float, leaves: Colour, trunk: Colour
) -> None:
    sketch, light, dark = canvas.sketch, lighter(leaves, 0.13), darker(leaves, 0.16)
    sketch.limb((x, y), (x, y - tall * 0.55), tall * 0.042, tall * 0.026, trunk)
    for side in (-1, 1):
        sketch.limb(
            (x, y - tall * 0.36), (x + side * tall * 0.14, y - tall * 0.52), tall * 0.02, tall * 0.012, trunk
        )
    crown = [
        (random.uniform(-0.2, 0.2), random.uniform(-0.16, 0.14), random.uniform(0.15, 0.25)) for _ in range(5)
    ]
    for dx, dy, r in crown:
        sketch.disc((x + (dx + 0.03) * tall, y - (0.64 - dy - 0.03) * tall), r * tall, dark)
    for dx, dy, r in crown:
        sketch.disc((x + (dx - 0.01) * tall, y - (0.66 - dy) * tall), r * tall * 0.84, leaves)
    for dx, dy, r in crown:
        sketch.disc((x + (dx - 0.05) * tall, y - (0.70 - dy) * tall), r * tall * 0.5, light)
    if canvas.story.season == "autumn" and tall > 40:
        # leaves that have fallen
        for _ in range(7):
            spot = (x + random.gauss(0, 0.25) * tall, y + random.uniform(-0.01, 0.05) * tall)
            sketch.disc(spot, tall * 0.014, random.choice((leaves, light)))


def _fir(
    canvas: Canvas, random: Random, x: float, y: float, tall: float, green: Colour, trunk: Colour
) -> None:
    sketch, wide = canvas.sketch, random.uniform(0.2, 0.28)
    sketch.limb((x, y), (x, y - tall * 0.2), tall * 0.03, tall * 0.026, trunk)
    for step in range(4):
        low, half = y - tall * (0.1 + 0.2 * step), tall * wide * (1 - 0.21 * step)
        top = low - tall * 0.32
        sketch.polygon([(x - half, low), (x, top), (x + half, low)], darker(green, 0.16 - 0.03 * step))
        sketch.polygon(
            [(x - half, low), (x, top), (x - half * 0.05, low)], mix(green, lighter(green, 0.2), step / 4)
        )
        if canvas.snowy:
            tip = (low - top) * 0.45
            sketch.polygon(
                [(x - half * 0.47, top + tip), (x, top), (x + half * 0.45, top + tip * 1.05)], SNOW
            )


def _bare(canvas: Canvas, random: Random, x: float, y: float, tall: float, trunk: Colour) -> None:
    """Draw bare branches, with snow on them if there is snow."""
    sketch = canvas.sketch

    def branch(start: tuple[float, float], angle: float, long: float, thick: float, left: int) -> None:
        end = (start[0] + long * math.sin(angle), start[1] - long * math.cos(angle))
        sketch.limb(start, end, thick, thick * 0.62, trunk)
        if canvas.snowy and left < 3:
            sketch.limb(
                (start[0], start[1] - thick), (end[0], end[1] - thick * 0.7), thick * 0.5, thick * 0.3, SNOW
            )
        for side in (-1, 1) if left else ():
            turn = side * random.uniform(0.3, 0.6)
            branch(end, angle + turn, long * random.uniform(0.6, 0.78), thick * 0.6, left - 1)

    branch((x, y), random.uniform(-0.06, 0.06), tall * 0.36, tall * 0.034, 3 if tall > 60 else 2)


def trees(canvas: Canvas, top: float, near: float) -> None:
    """Draw a few scattered trees on the ground between `top` and `near`, the farthest first."""
    random = canvas.random("tree")
    rows = sorted(top + (near - top) * random.random() ** 1.8 for _ in range(random.choice((1, 3, 4, 6, 8))))
    for row in rows:
        tall = min(canvas.size(row) * random.uniform(1.8, 3.2), 330.0)
        tree(
            canvas,
            random,
            random.uniform(-10, 650),
            row,
            max(16.0, tall),
            0.35 * (near - row) / (near - top + 1),
        )


def palms(canvas: Canvas, top: float) -> None:
    """Draw slanting palms on a beach."""
    random, sketch = canvas.random("tree"), canvas.sketch
    side = random.choice((0, 1))
    for _ in range(random.randint(1, 3)):
        y = random.uniform(top + 40, min(top + 190, HEIGHT))
        x = random.uniform(0, 190) if side == 0 else random.uniform(450, 640)
        tall, lean = canvas.size(y) * random.uniform(2.2, 3.4), random.uniform(-0.3, 0.3)
        sketch.disc((x + tall * 0.1, y), tall * 0.22, clear((28, 26, 52), 0.2), tall * 0.03)
        spine = [(x + lean * tall * (k / 6) ** 2, y - tall * k / 6) for k in range(7)]
        for one, other in pairwise(spine):
            sketch.limb(one, other, tall * 0.026, tall * 0.021, rgb("8a6644"))
        head, green = spine[-1], random.choice((rgb("4f8f5a"), rgb("5f9a55"), rgb("3f7f60")))
        for k, angle in enumerate((-2.9, -2.4, -1.9, -1.2, -0.7, -0.2, 0.25, -3.3)):
            frond = [
                (
                    head[0] + math.cos(angle) * tall * 0.42 * t,
                    head[1] + (math.sin(angle) * t + 0.75 * t * t) * tall * 0.4,
                )
                for t in (0.0, 0.35, 0.7, 1.0)
            ]
            colour = lighter(green, 0.14) if k % 2 else darker(green, 0.14)
            for n, (one, other) in enumerate(pairwise(frond)):
                sketch.limb(one, other, tall * (0.04 - 0.009 * n), tall * (0.035 - 0.011 * n), colour)
        for dx in (-0.03, 0.03):
            sketch.disc((head[0] + dx * tall, head[1] + tall * 0.03), tall * 0.026, rgb("6d4a30"))


def far_forest(canvas: Canvas, base: float) -> None:
    """Draw the edge of a forest across the image, two rows deep."""
    random = canvas.random("forest")
    for distance, low, tall in ((0.5, -6, 38), (0.26, 6, 46)):
        x = -14.0
        while x < WIDTH + 14:
            size = tall * random.uniform(0.75, 1.3)
            tree(canvas, random, x, base + low + random.uniform(-2, 3), size, max(distance, 0.3))
            x += size * random.uniform(0.24, 0.42)


def inside_forest(canvas: Canvas, top: float) -> None:
    """Trunks on all sides, the farthest in the haze; the middle is open."""
    random, sketch = canvas.random("forest"), canvas.sketch
    open_at = random.uniform(220, 420)
    for row, distance in enumerate((0.72, 0.52, 0.3)):
        y = top + 12 + (HEIGHT - top) * (0.02, 0.13, 0.34)[row]
        for _ in range((15, 9, 6)[row]):
            x = random.uniform(-20, 660)
            if abs(x - open_at) > (10, 60, 130)[row]:
                tree(
                    canvas,
                    random,
                    x,
                    y + random.uniform(-6, 10),
                    (190, 290, 420)[row] * random.uniform(0.8, 1.15),
                    distance,
                )
    bark = random.choice((BARK, rgb("e3ddd0"), rgb("7a5a44")))
    for x in (random.uniform(-10, 70), random.uniform(570, 650), open_at + random.choice((-240, 240))):
        wide = random.uniform(17, 34)
        y = random.uniform(HEIGHT - 60, HEIGHT + 10)
        sketch.polygon([(x - wide * 1.5, y), (x - wide, y - 60), (x - wide * 0.8, -5), (x + wide * 0.8, -5),
                        (x + wide, y - 60), (x + wide * 1.5, y)], bark)  # fmt: skip
        sketch.polygon([(x + wide * 0.35, -5), (x + wide * 0.8, -5), (x + wide, y - 60), (x + wide * 1.5, y),
                        (x + wide * 0.5, y)], darker(bark, 0.16))  # fmt: skip
        for _ in range(6):
            spot = random.uniform(20, y - 40)
            sketch.limb(
                (x - wide * 0.6, spot),
                (x - wide * random.uniform(-0.1, 0.3), spot),
                1.6,
                0.8,
                darker(bark, 0.4),
            )
    if canvas.story.season != "winter":
        leaves = LEAVES[canvas.story.season]
        for x in range(-10, 670, 46):
            colour = darker(random.choice(leaves), random.uniform(0.0, 0.25))
            sketch.disc((x, random.uniform(-26, 8)), random.uniform(30, 54), colour)
