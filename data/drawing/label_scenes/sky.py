"""The sky with sun, moon, stars, clouds, rainbow and birds."""

from __future__ import annotations

import math

from drawing.ground import WIDTH
from drawing.label_scenes.canvas import Canvas, across
from drawing.sketch import Colour, Point, clear, darker, lighter, mix, rgb

# of one colour each: enough to look like a gradient, and fast to paint
BANDS = 26
RAINBOW = [rgb(code) for code in ("e2574c", "f0943e", "f6d353", "6bb36a", "4f8fc4", "7a63ad")]


def sky(canvas: Canvas) -> None:
    """Draw the whole sky, from the farthest part to the nearest."""
    _air(canvas)
    if canvas.shows("stars"):
        _stars(canvas)
    if canvas.shows("moon"):
        _moon(canvas)
    if canvas.shows("sun"):
        _sun(canvas)
    if canvas.shows("rainbow"):
        _rainbow(canvas)
    if canvas.shows("clouds"):
        _clouds(canvas)
    if canvas.shows("bird"):
        _birds(canvas)


def sky_colour(canvas: Canvas, share: float) -> Colour:
    """Return the sky's colour at `share` of the way from its top to the horizon."""
    stops = canvas.light.stops
    place = min(max(share, 0.0), 0.999) * (len(stops) - 1)
    return mix(stops[int(place)], stops[int(place) + 1], place % 1)


def sun_place(canvas: Canvas) -> Point:
    """Return the position of the sun, which is low at sunset."""
    random = canvas.random("sun")
    x = random.uniform(90, 550)
    if canvas.story.time == "sunset":
        return x, canvas.horizon - random.uniform(4, 62)
    return x, random.uniform(42, max(60.0, canvas.horizon * 0.5))


def moon_place(canvas: Canvas) -> Point:
    random = canvas.random("moon")
    return random.uniform(80, 560), random.uniform(44, max(60.0, canvas.horizon * 0.5))


def _air(canvas: Canvas) -> None:
    step = (canvas.horizon + 30) / BANDS
    for k in range(BANDS):
        across(canvas.sketch, k * step - 1, (k + 1) * step + 1, sky_colour(canvas, k / (BANDS - 1)))


def _stars(canvas: Canvas) -> None:
    random, sketch = canvas.random("stars"), canvas.sketch
    for _ in range(random.randint(40, 90)):
        y = canvas.horizon * random.random() ** 1.3
        sketch.disc((random.uniform(0, WIDTH), y), random.choice((0.8, 1.1, 1.5)), clear(rgb("fffbe6"), 0.9))
    for _ in range(random.randint(1, 4)):
        x, y, r = random.uniform(30, 610), random.uniform(20, canvas.horizon * 0.6), random.uniform(3.5, 6)
        points = [
            (x + (r if k % 2 == 0 else r * 0.3) * math.sin(math.pi * k / 4),
             y + (r if k % 2 == 0 else r * 0.3) * math.cos(math.pi * k / 4))
            for k in range(8)
        ]  # fmt: skip
        sketch.polygon(points, rgb("fffbe6"))


def _moon(canvas: Canvas) -> None:
    random, sketch, (x, y) = canvas.random("moon shape"), canvas.sketch, moon_place(canvas)
    r = random.uniform(15, 30)
    canvas.glow(x, y, r * 6, canvas.light.disc)
    sketch.disc((x, y), r, canvas.light.disc)
    behind = sky_colour(canvas, y / canvas.horizon)
    if random.random() < 0.5:
        sketch.disc((x + r * 0.46, y - r * 0.18), r * 0.88, behind)
    else:
        for dx, dy, size in ((-0.3, -0.25, 0.2), (0.25, 0.3, 0.26), (0.35, -0.35, 0.13), (-0.4, 0.35, 0.12)):
            sketch.disc((x + dx * r, y + dy * r), size * r, mix(canvas.light.disc, behind, 0.22))


def _sun(canvas: Canvas) -> None:
    random, sketch, (x, y) = canvas.random("sun shape"), canvas.sketch, sun_place(canvas)
    low = canvas.story.time == "sunset"
    r = random.uniform(34, 64) if low else random.uniform(17, 32)
    if canvas.story.weather == "cloudy":
        r *= 0.75
    for ring, opaque in ((2.6, 0.1), (1.9, 0.13), (1.4, 0.2)):
        sketch.disc((x, y), r * ring, clear(canvas.light.disc, opaque))
    sketch.disc((x, y), r, canvas.light.disc)
    canvas.glow(x, y, r * (5 if low else 4), canvas.light.disc)


def _rainbow(canvas: Canvas) -> None:
    random = canvas.random("rainbow")
    x, far, wide = random.uniform(120, 520), random.uniform(190, 330), random.uniform(5, 9)
    opaque = random.uniform(0.3, 0.62)
    for k, colour in enumerate(RAINBOW):
        centre = (x, canvas.horizon + 60)
        canvas.sketch.arc(centre, far - k * wide, math.pi, math.tau, wide + 0.6, clear(colour, opaque))


def _clouds(canvas: Canvas) -> None:
    random, sketch = canvas.random("clouds"), canvas.sketch
    grey = canvas.story.weather in ("rain", "snow") or canvas.light.dark
    thick = canvas.story.weather != "clear"
    for _ in range(random.randint(5, 9) if thick else random.randint(2, 4)):
        y = random.uniform(24, canvas.horizon * (0.72 if thick else 0.55))
        behind = sky_colour(canvas, y / canvas.horizon)
        white = mix(behind, (255, 250, 240), 0.25 if grey else 0.62)
        if canvas.story.time == "sunset":
            white = mix(behind, canvas.light.stops[-1], 0.7)
        _cloud(canvas, random.uniform(-20, 660), y, random.uniform(20, 58 if thick else 42), white, behind)
    if canvas.story.time == "sunset" or random.random() < 0.4:
        # veils
        for _ in range(random.randint(2, 5)):
            x, y = random.uniform(0, 640), random.uniform(canvas.horizon * 0.3, canvas.horizon * 0.85)
            long, colour = random.uniform(60, 170), sky_colour(canvas, 1.0)
            sketch.limb((x, y), (x + long, y), 3.2, 1.2, clear(lighter(colour, 0.25), 0.55))


def _cloud(canvas: Canvas, x: float, y: float, size: float, white: Colour, behind: Colour) -> None:
    """A heap with a flat base, its underside in the shade."""
    sketch, shade = canvas.sketch, mix(white, darker(behind, 0.25), 0.4)
    heaps = ((-1.0, -0.05, 0.42), (-0.45, -0.3, 0.6), (0.2, -0.42, 0.66), (0.85, -0.14, 0.46))
    for colour, lift in ((shade, 0.0), (white, 0.12)):
        for dx, dy, r in heaps:
            radius = r * size * (1 - lift * 0.6)
            sketch.disc((x + dx * size, y + (dy - lift) * size), radius, colour, radius * 0.8)
    sketch.limb(
        (x - size * 1.1, y + size * 0.2), (x + size * 1.05, y + size * 0.2), size * 0.2, size * 0.18, shade
    )


def _birds(canvas: Canvas) -> None:
    random, sketch = canvas.random("bird"), canvas.sketch
    ink = darker(mix(sky_colour(canvas, 0.5), canvas.light.haze, 0.3), 0.6)
    x, y, s = (
        random.uniform(80, 560),
        random.uniform(30, max(50.0, canvas.horizon * 0.65)),
        random.uniform(5, 15),
    )
    for _ in range(random.randint(1, 7)):
        bx, by, size = (
            x + random.gauss(0, 5.5) * s,
            y + random.gauss(0, 2.2) * s,
            s * random.uniform(0.7, 1.1),
        )
        up = random.uniform(0.25, 0.7)
        for side in (-1, 1):
            elbow = (bx + side * size * 0.5, by - size * up)
            sketch.limb((bx, by), elbow, size * 0.11, size * 0.1, ink)
            sketch.limb(elbow, (bx + side * size, by - size * up * 0.55), size * 0.1, size * 0.03, ink)
