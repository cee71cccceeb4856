"""The people of an image: walkers far or near, a group, a portrait; and a dog."""

from __future__ import annotations

from random import Random

from drawing.action_figures import scenery
from drawing.action_figures.carried import carry
from drawing.action_figures.figure import Act, draw_person
from drawing.action_figures.on_foot import step, walking
from drawing.action_figures.skeleton import standing
from drawing.action_figures.wardrobe import WARDROBES, Body, dress
from drawing.label_scenes.canvas import Canvas
from drawing.sketch import clear, rgb

DUSK = rgb("241a38")


def people(canvas: Canvas, top: float, near: float) -> None:
    """Draw all people on the ground between `top` and `near`, and a portrait close to the camera."""
    if canvas.shows("dog"):
        _dog(canvas, top, near)
    if canvas.shows("portrait"):
        _portrait(canvas)
    elif canvas.shows("person"):
        _walkers(canvas, top, near)
    canvas.sketch.owner = None


def _against_the_light(canvas: Canvas) -> bool:
    """Return whether people are silhouettes in front of the evening sky."""
    return canvas.story.time == "sunset" and canvas.random("backlight").random() < 0.45


def _dressed(canvas: Canvas, random: Random, wardrobe: list[tuple[int, ...]]) -> Body:
    return dress(
        random, wardrobe, canvas.story.season == "winter" or canvas.story.weather in ("rain", "snow")
    )


def _walkers(canvas: Canvas, top: float, near: float) -> None:
    random, sketch = canvas.random("person"), canvas.sketch
    group = canvas.shows("group")
    wardrobe = random.choice(WARDROBES)
    number = random.randint(3, 6) if group else random.choice((1, 1, 2))
    depth = random.random() ** 1.5
    row = top + (near - top) * depth
    middle = random.uniform(120, 520)
    gap = max(13.0, canvas.size(row) * random.uniform(0.34, 0.5))
    spots = []
    for k in range(number):
        at = (
            middle + (k - (number - 1) / 2) * gap * random.uniform(0.9, 1.1)
            if group
            else random.uniform(40, 600)
        )
        down = (
            row + random.uniform(-0.06, 0.06) * canvas.size(row)
            if group
            else top + (near - top) * random.random() ** 1.7
        )
        spots.append((down, min(max(at, 16), 624), k))
    dark = _against_the_light(canvas)
    for down, at, k in sorted(spots):
        body = _dressed(canvas, random, wardrobe)
        size = max(14.0, canvas.size(down)) * body.height
        act = _together(random) if group else walking(random)
        sketch.veil = (DUSK, 0.86) if dark else (canvas.light.haze, 0.3 * (near - down) / (near - top + 1))
        sketch.place((at, down), size)
        sketch.disc((0, 0.005), 0.26, clear((26, 22, 56), 0.3), 0.04)
        sketch.place((at, down), size, random.random() < 0.5)
        draw_person(sketch, body, act, k)
        if canvas.shows("rain") and random.random() < 0.75:
            _umbrella(canvas, random)
    sketch.veil = ((0, 0, 0), 0.0)
    sketch.place((0, 0), 1)


def _together(random: Random) -> Act:
    pose = standing(random.uniform(-2, 2), ((4, 0), (-4, 0)), random.choice(("front", "front", "back")))
    if random.random() < 0.4:
        step(pose, random)
    for side, way in ((0, 1), (1, -1)):
        pose.swing_arm(side, way * random.uniform(4, 30), way * random.uniform(-20, 20))
    if random.random() < 0.25:
        pose.swing_arm(0, random.uniform(120, 160), random.uniform(0, 25))
    act = Act(pose)
    if random.random() < 0.2:
        carry(random, act)
    return act


def _umbrella(canvas: Canvas, random: Random) -> None:
    sketch = canvas.sketch
    sketch.owner = None
    tint, other = (rgb(code) for code in random.sample(["c8473a", "e3a32b", "3f7a9c", "2f7f6f", "8f5a84"], 2))
    sketch.limb((0.1, -0.5), (0.06, -1.22), 0.012, 0.012, rgb("3a3440"))
    for k in range(4):
        left, right = 0.06 - 0.4 + 0.2 * k, 0.06 - 0.4 + 0.2 * (k + 1)
        sketch.polygon([(left, -1.06), (0.06, -1.32), (right, -1.06)], tint if k % 2 else other)
        sketch.disc(((left + right) / 2, -1.06), 0.1, tint if k % 2 else other, 0.045)


def _dog(canvas: Canvas, top: float, near: float) -> None:
    random = canvas.random("dog")
    y = top + (near - top) * random.random() ** 1.3
    size = max(9.0, canvas.size(y) * random.uniform(0.48, 0.66))
    x = random.uniform(40, 600)
    canvas.sketch.disc((x, y), size * 0.5, clear((26, 22, 56), 0.28), size * 0.06)
    scenery.dog(canvas.sketch, random, x, y, size)


def _portrait(canvas: Canvas) -> None:
    """Draw one person, rarely two, cut off by the lower edge, in front of a background out of focus."""
    random, sketch = canvas.random("portrait"), canvas.sketch
    canvas.near = len(sketch.shapes)
    number = 2 if random.random() < 0.22 else 1
    wardrobe = random.choice(WARDROBES)
    dark = _against_the_light(canvas)
    for k in range(number):
        body = _dressed(canvas, random, wardrobe)
        size = random.uniform(760, 1150) if number == 1 else random.uniform(620, 780)
        x = random.uniform(170, 470) if number == 1 else 190 + 260 * k + random.uniform(-30, 30)
        pose = standing(
            random.uniform(-3, 3), ((3, 0), (-3, 0)), random.choice(("front", "front", "front", "side"))
        )
        for side, way in ((0, 1), (1, -1)):
            pose.swing_arm(side, way * random.uniform(3, 16), way * random.uniform(-12, 6))
        head = pose.head[1] * size
        sketch.veil = (DUSK, 0.8) if dark else ((0, 0, 0), 0.0)
        sketch.place((x, random.uniform(170, 245) - head), size, random.random() < 0.5)
        draw_person(sketch, body, Act(pose), k)
    sketch.veil = ((0, 0, 0), 0.0)
    sketch.place((0, 0), 1)
