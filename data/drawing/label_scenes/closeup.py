"""Close-ups: flowers that fill the image, in front of grass or sky out of focus."""

from __future__ import annotations

import math
from random import Random

from drawing.ground import HEIGHT, WIDTH
from drawing.label_scenes.canvas import Canvas, across
from drawing.label_scenes.land import GRASS, PETALS
from drawing.label_scenes.sky import sky
from drawing.sketch import Colour, clear, darker, lighter, mix, rgb


def close_up(canvas: Canvas) -> None:
    random, sketch = canvas.random("close-up"), canvas.sketch
    green = random.choice(GRASS[canvas.story.season])
    if canvas.shows("sky"):
        sky(canvas)
        across(sketch, canvas.horizon, HEIGHT + 5, green)
    else:
        across(sketch, -5, HEIGHT + 5, mix(darker(green, 0.25), rgb("3f6f56"), 0.3))
    # light among leaves
    for _ in range(34):
        x, y, r = (
            random.uniform(0, WIDTH),
            random.uniform(canvas.horizon * 0.6, HEIGHT),
            random.uniform(12, 52),
        )
        sketch.disc((x, y), r, clear(random.choice((green, lighter(green, 0.3), rgb("f6e7a0"))), 0.3))
    canvas.near = len(sketch.shapes)
    if canvas.shows("grass"):
        for _ in range(70):
            x, tall = random.uniform(-10, 650), random.uniform(60, 210)
            lean, colour = (
                random.uniform(-0.35, 0.35),
                random.choice((green, darker(green, 0.25), lighter(green, 0.15))),
            )
            sketch.polygon(
                [(x - 5, HEIGHT + 5), (x + lean * tall, HEIGHT - tall), (x + 5, HEIGHT + 5)], colour
            )
    tints = random.sample(PETALS, 2)
    for k in range(random.choice((1, 3, 3, 5))):
        x = WIDTH * (k + 0.5) / 5 * random.uniform(0.8, 1.4) + random.uniform(-20, 90)
        size = random.uniform(46, 112) * (0.7 if k else 1.0)
        _flower(canvas, random, min(max(x, 40), 600), random.uniform(90, 330), size, random.choice(tints))


def _flower(canvas: Canvas, random: Random, x: float, y: float, size: float, petal: Colour) -> None:
    sketch, stem = canvas.sketch, rgb("4f7f4a")
    foot = x + random.uniform(-50, 50)
    sketch.limb((x, y), (foot, HEIGHT + 10), size * 0.07, size * 0.1, stem)
    for side in (-1, 1):
        leaf = (foot + (x - foot) * 0.35 + side * size * 0.5, HEIGHT - (HEIGHT - y) * 0.45)
        sketch.disc(leaf, size * 0.55, lighter(stem, 0.1 if side > 0 else 0.0), size * 0.16, side * -0.6)
    number, start = random.choice((5, 6, 8, 11, 13)), random.uniform(0, 1)
    for ring, (reach, shade) in enumerate(((0.62, darker(petal, 0.14)), (0.5, petal))):
        for k in range(number):
            a = math.tau * (k + start + 0.5 * ring) / number
            centre = (x + math.cos(a) * size * reach, y + math.sin(a) * size * reach)
            sketch.disc(centre, size * 0.48, shade, size * min(0.3, 1.5 / number), a)
    heart = random.choice((rgb("f6d25a"), rgb("7a4a2e"), rgb("f0b23c")))
    sketch.disc((x, y), size * 0.3, darker(heart, 0.15))
    sketch.disc((x - size * 0.02, y - size * 0.02), size * 0.25, heart)
    for _ in range(9):
        a, r = random.uniform(0, math.tau), random.uniform(0, 0.2) * size
        sketch.disc((x + math.cos(a) * r, y + math.sin(a) * r), size * 0.022, darker(heart, 0.35))
