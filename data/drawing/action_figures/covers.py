"""Objects in front of people that hide a part of them."""

from __future__ import annotations

from random import Random

from drawing.action_figures import scenery
from drawing.sketch import Colour, Sketch, darker, lighter, mix, rgb


def cover(sketch: Sketch, random: Random, wide: float, tall: float, leaves: Colour, indoors: bool) -> float:
    """Draw an object of about `tall` in front of a person; return up to which height it hides the person."""
    # In the frame of the person. The height is 0 if parts remain visible beside or between.
    x, half = random.uniform(-0.1, 0.1), wide * random.uniform(0.9, 1.2)
    kind = random.choice(
        ("plants", "chest", "chest", "crates") if indoors else ("hedge", "hedge", "wall", "crates", "boards")
    )
    if tall > 0.7 and not indoors and random.random() < 0.8:
        # nothing else is that high
        kind = "hedge"
    tall = min(tall, {"chest": 0.6, "boards": 0.85, "wall": 0.7}.get(kind, tall))
    if kind == "hedge":
        (_bushes if tall < 0.42 else _hedge)(sketch, random, x, half, tall, leaves)
        return tall * 0.72 if tall < 0.42 else tall
    if kind in ("chest", "wall"):
        (_chest if kind == "chest" else _wall)(sketch, random, x, max(half, 0.4), tall)
        return tall
    if kind == "plants":
        scenery.pot_plant(sketch, x - 0.1, 0.05, tall * 1.5)
        scenery.pot_plant(sketch, x + 0.16, 0.06, tall * 1.2)
    elif kind == "crates":
        scenery.crate(sketch, x - 0.15, 0.04, min(0.4, tall * 1.1))
        scenery.crate(sketch, x + 0.17, 0.05, min(0.33, tall * 0.9))
    else:
        _boards(sketch, random, x, half, tall)
    return 0.0


def _bushes(sketch: Sketch, random: Random, x: float, half: float, tall: float, leaves: Colour) -> None:
    steps = max(2, round(half / (0.3 * tall)))
    for k in range(steps):
        scenery.bush(sketch, x - half + 2 * half * (k + 0.5) / steps, 0.05, tall, leaves)


def _hedge(sketch: Sketch, random: Random, x: float, half: float, tall: float, leaves: Colour) -> None:
    """Draw a trimmed hedge, sometimes in bloom."""
    half = max(half, 0.45)
    # hedges stay green in autumn
    leaves = mix(leaves, rgb("5f8f4e"), 0.55)
    dark, light = darker(leaves, 0.2), lighter(leaves, 0.14)
    steps = round(half / 0.07)
    for k in range(steps + 1):
        across = x - half + 2 * half * k / steps
        sketch.disc((across, -tall + 0.07), 0.085, light if k % 3 else leaves)
    for up in range(round(tall / 0.12)):
        for side in (-1, 1):
            sketch.disc((x + side * half, -tall + 0.13 + 0.12 * up), 0.085, dark if side > 0 else leaves)
    sketch.box(x - half - 0.03, -tall + 0.07, x + half + 0.03, 0.05, leaves)
    bloom = random.choice((None, None, rgb("f6eee0"), rgb("e59ab0"), rgb("f0c24a")))
    for _ in range(round(90 * half * tall)):
        aside, high = random.uniform(-half, half), random.uniform(0.0, tall - 0.03)
        shade = light if high / tall > random.random() else dark
        sketch.disc((x + aside, -high), random.uniform(0.016, 0.034), shade, 0.014, random.uniform(-0.6, 0.6))
        if bloom and random.random() < 0.2:
            sketch.disc((x + aside + 0.02, -high), 0.019, bloom)


def _boards(sketch: Sketch, random: Random, x: float, half: float, tall: float) -> None:
    """A piece of a wooden fence."""
    wood = random.choice([rgb("9a6a3f"), rgb("e9ddc6"), rgb("6f7f78")])
    for k in range(max(2, round(tall / 0.2))):
        sketch.line([(x - half, -tall + 0.06 + 0.2 * k), (x + half, -tall + 0.06 + 0.2 * k)], 0.075, wood)
    for k in range(max(2, round(half / 0.16)) + 1):
        post = x - half * 0.92 + 1.84 * half * k / max(2, round(half / 0.16))
        sketch.line([(post, -tall - 0.02), (post, 0.05)], 0.05, darker(wood, 0.18))


def _wall(sketch: Sketch, random: Random, x: float, half: float, tall: float) -> None:
    """A low wall of bricks."""
    brick = random.choice([rgb("b9694f"), rgb("cdbca4"), rgb("9aa0a0")])
    sketch.box(x - half, -tall, x + half, 0.05, brick)
    rows = max(2, round(tall / 0.09))
    for row in range(rows):
        y = -tall + 0.02 + (tall + 0.03) * row / rows
        sketch.box(x - half, y, x + half, y + 0.008, darker(brick, 0.18))
        for k in range(round(half / 0.1)):
            left = x - half + 0.2 * k + (0.1 if row % 2 else 0.02)
            sketch.box(left, y, left + 0.008, y + (tall + 0.03) / rows, darker(brick, 0.18))
    sketch.box(x - half - 0.02, -tall - 0.025, x + half + 0.02, -tall + 0.025, lighter(brick, 0.25))


def _chest(sketch: Sketch, random: Random, x: float, half: float, tall: float) -> None:
    """A chest of drawers."""
    wood = random.choice([rgb("9a6a3f"), rgb("c9a06c"), rgb("5f7f7a")])
    sketch.box(x - half, -tall, x + half, 0.05, wood)
    sketch.box(x - half - 0.02, -tall - 0.02, x + half + 0.02, -tall + 0.02, lighter(wood, 0.15))
    for k in range(2):
        top = -tall + 0.05 + k * tall * 0.48
        sketch.box(x - half + 0.03, top, x + half - 0.03, top + tall * 0.4, darker(wood, 0.1))
        for dx in (-0.5, 0.5):
            sketch.disc((x + dx * half, top + tall * 0.2), 0.014, rgb("f0dfb0"))
