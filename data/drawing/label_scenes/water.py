"""Seas, lakes and rivers, their reflections, boats and lighthouses."""

from __future__ import annotations

from random import Random

from drawing.ground import HEIGHT, WIDTH
from drawing.label_scenes.canvas import Canvas, Mirror, across
from drawing.label_scenes.land import wave
from drawing.label_scenes.sky import moon_place, sky_colour, sun_place
from drawing.sketch import clear, darker, lighter, mix, rgb

HULLS = [rgb(code) for code in ("f5ecd9", "b5483d", "33425c", "e0a030", "2f7f86", "f0f0ea")]
SAILS = [rgb(code) for code in ("faf4e4", "fbe3c0", "e57f5a", "f2c14e", "c8dfe0")]


def sea(canvas: Canvas, top: float, bottom: float) -> None:
    """Draw water from `top` to `bottom` in bands that widen towards the viewer, lit by sun or moon."""
    random, sketch = canvas.random("water"), canvas.sketch
    evening = canvas.story.time == "sunset"
    far = mix(canvas.light.water, sky_colour(canvas, 1.0), 0.7 if evening else 0.4)
    near = mix(darker(canvas.light.water, 0.12), sky_colour(canvas, 0.1) if evening else rgb("1f6f7f"), 0.35)
    bands = 9
    for k in range(bands):
        share = (k / bands) ** 1.4
        across(sketch, top + (bottom - top) * share, bottom + 2, mix(far, near, k / (bands - 1)))
    for _ in range(30):
        deep = random.random() ** 1.3
        x, y, long = random.uniform(0, WIDTH), top + 3 + (bottom - top - 4) * deep, 4 + 26 * deep
        sketch.limb((x, y), (x + long, y), 0.5 + 1.2 * deep, 0.4, lighter(near, 0.2 + 0.2 * random.random()))
    _glitter(canvas, random, top, bottom)


def _glitter(canvas: Canvas, random: Random, top: float, bottom: float) -> None:
    """Draw the path of light below the sun or the moon."""
    if not canvas.shows("sun") and not canvas.shows("moon"):
        return
    x = (sun_place if canvas.shows("sun") else moon_place)(canvas)[0]
    low = canvas.story.time != "day"
    for _ in range(46 if low else 22):
        deep = random.random()
        y, half = top + 2 + (bottom - top - 3) * deep, (6 + 26 * deep) * random.uniform(0.3, 1.0)
        at = x + random.gauss(0, 5 + 16 * deep)
        canvas.sketch.limb(
            (at - half, y), (at + half, y), 0.9 + deep, 0.5, clear(canvas.light.disc, 0.55 if low else 0.4)
        )


def surf(canvas: Canvas, edge: float) -> None:
    """Draw the line where waves end on the sand."""
    random, foam = canvas.random("surf"), mix(rgb("fdf8ee"), canvas.light.haze, 0.12)
    wet = mix(rgb("b99a6f"), canvas.light.water, 0.25)
    for lift, colour in ((0, lighter(canvas.light.water, 0.25)), (6, foam), (13, wet)):
        wave(canvas.sketch, Random(random.random()), edge + lift, 14, colour, HEIGHT)


def still_water(canvas: Canvas, top: float, bottom: float) -> None:
    """Draw a lake or a river, with reflections if the story has them, otherwise with ripples."""
    random, colour = canvas.random("water"), mix(canvas.light.water, sky_colour(canvas, 0.8), 0.3)
    if not canvas.shows("reflection"):
        sea(canvas, top, bottom)
        return
    across(canvas.sketch, top, bottom, colour)
    canvas.mirror = Mirror(top, bottom, len(canvas.sketch.shapes), colour)
    for _ in range(14):
        deep = random.random()
        x, y, long = random.uniform(0, WIDTH), top + (bottom - top) * deep, 10 + 60 * deep
        canvas.sketch.limb((x, y), (x + long, y), 0.5 + deep, 0.3, clear(lighter(colour, 0.5), 0.5))


def boats(canvas: Canvas, top: float, bottom: float) -> None:
    """Draw boats, from a single distant one to several in a row."""
    random = canvas.random("boat")
    number = random.choice((1, 1, 2, 3)) if canvas.story.place != "harbour" else random.randint(2, 5)
    for y in sorted(top + 3 + (bottom - top - 4) * random.random() ** 1.7 for _ in range(number)):
        size = max(6.0, canvas.size(y) * random.uniform(0.6, 1.1))
        _boat(canvas, random, random.uniform(30, 610), y, min(size, 70.0))


def _boat(canvas: Canvas, random: Random, x: float, y: float, size: float) -> None:
    """Under sail, or rowed."""
    sketch, haze = canvas.sketch, 0.3 if size < 12 else 0.06
    hull, sail = (canvas.far(random.choice(colours), haze) for colours in (HULLS, SAILS))
    mast = canvas.far(rgb("5b4534"), haze)
    sketch.place((x, y), size)
    sketch.limb((-1, 0.12), (1, 0.12), 0.08, 0.08, clear(darker(hull, 0.5), 0.35))
    if random.random() < 0.25:
        sketch.polygon([(-1, -0.2), (1, -0.2), (0.7, 0.06), (-0.7, 0.06)], hull)
        sketch.limb((-0.1, -0.25), (0.9, 0.1), 0.05, 0.03, mast)
    else:
        tall = random.uniform(1.9, 2.6)
        sketch.limb((0, 0), (0, -tall), 0.045, 0.03, mast)
        sketch.polygon([(0.09, -0.35), (0.09, -tall * 0.96), (0.95, -0.35)], sail)
        sketch.polygon(
            [(-0.08, -0.4), (-0.08, -tall * 0.82), (-0.7, -0.4)], mix(sail, canvas.light.haze, 0.25)
        )
        sketch.polygon([(-1, -0.27), (1.1, -0.27), (0.72, 0.06), (-0.78, 0.06)], hull)
        sketch.polygon([(-1, -0.27), (1.1, -0.27), (1.03, -0.17), (-0.95, -0.17)], lighter(hull, 0.3))
    sketch.place((0, 0), 1)


def lighthouse(canvas: Canvas, base: float) -> None:
    """On a rock at one side, lit in the dark."""
    random, sketch = canvas.random("lighthouse"), canvas.sketch
    x = random.choice((random.uniform(50, 180), random.uniform(460, 590)))
    tall = random.uniform(44, 120)
    rock = canvas.far(rgb("6d6a70"), 0.2)
    white, red = canvas.far(rgb("f6efe2"), 0.12), canvas.far(rgb("c8473a"), 0.12)
    sketch.place((x, base), tall)
    for dx, r in ((-0.42, 0.34), (0.0, 0.5), (0.42, 0.3)):
        sketch.disc((dx, 0.02), r, rock, r * 0.42)
    sketch.box(-1, 0.03, 1, 0.3, mix(canvas.light.water, sky_colour(canvas, 1.0), 0.4))
    # stripes, narrower towards the top
    for k in range(5):
        low, high, half, other = -0.08 - 0.184 * k, -0.264 - 0.184 * k, 0.12 - 0.009 * k, 0.111 - 0.009 * k
        colour = white if k % 2 else red
        sketch.polygon([(-half, low), (half, low), (other, high), (-other, high)], colour)
        sketch.polygon(
            [(half * 0.3, low), (half, low), (other, high), (other * 0.3, high)], darker(colour, 0.14)
        )
    sketch.box(-0.11, -1.02, 0.11, -0.98, rgb("3a3f4a"))
    sketch.box(-0.065, -1.14, 0.065, -1.02, rgb("ffe9a0"))
    sketch.polygon([(-0.1, -1.13), (0, -1.24), (0.1, -1.13)], red)
    sketch.place((0, 0), 1)
    if canvas.light.dark or canvas.story.time == "sunset":
        canvas.glow(x, base - tall * 1.08, tall * 1.5, rgb("ffe9a0"))
        for side in (-1, 1):
            far = x + side * 420
            beam = [(x, base - tall * 1.1), (far, base - tall * 1.45), (far, base - tall * 0.88)]
            sketch.polygon(beam, clear(rgb("fff2c4"), 0.16))
