"""Objects that people hold, in the frame of the person (see skeleton.py for the units)."""

from __future__ import annotations

import math

from drawing.sketch import Colour, Point, Sketch, darker, lighter, rgb

DARK = rgb("2b2b33")
SCREEN = rgb("bfe3ee")
PAPER = rgb("f7f0dc")
WOOD = [rgb(code) for code in ("b5682e", "8f4a24", "c98a3c", "7a3626", "d9a55b")]
BRASS = rgb("e2b33c")
PAINTS = [rgb(code) for code in ("c8453a", "2f7f86", "e3a32b", "3b4a6b", "7fb59a", "e9e2d0", "d9788f")]
METALS = [rgb(code) for code in ("c9ced4", "3d4250", "e8e3da")]


def slab(sketch: Sketch, middle: Point, long: float, wide: float, angle: float, colour: Colour) -> None:
    """A bar with square ends, `long` along `angle` (radians from forward, clockwise)."""
    x, y = middle
    ux, uy = math.cos(angle) * long / 2, math.sin(angle) * long / 2
    vx, vy = -math.sin(angle) * wide / 2, math.cos(angle) * wide / 2
    sketch.polygon(
        [
            (x - ux - vx, y - uy - vy),
            (x + ux - vx, y + uy - vy),
            (x + ux + vx, y + uy + vy),
            (x - ux + vx, y - uy + vy),
        ],
        colour,
    )


def phone(sketch: Sketch, middle: Point, angle: float, screen: bool) -> None:
    """A mobile phone, its long side along `angle`."""
    slab(sketch, middle, 0.125, 0.062, angle, DARK)
    if screen:
        slab(sketch, middle, 0.1, 0.046, angle, SCREEN)


def camera(sketch: Sketch, middle: Point, forward: bool, colour: Colour) -> None:
    """Draw a camera, its lens to the right or towards the viewer."""
    x, y = middle
    if forward:
        sketch.box(x - 0.035, y - 0.05, x + 0.035, y + 0.045, colour)
        sketch.box(x + 0.03, y - 0.035, x + 0.075, y + 0.035, darker(colour, 0.3))
        sketch.box(x + 0.07, y - 0.03, x + 0.08, y + 0.03, SCREEN)
        return
    sketch.box(x - 0.08, y - 0.05, x + 0.08, y + 0.05, colour)
    sketch.box(x - 0.03, y - 0.07, x + 0.03, y - 0.045, colour)
    sketch.disc(middle, 0.042, darker(colour, 0.5))
    sketch.disc(middle, 0.03, rgb("51708c"))
    sketch.disc((x + 0.01, y - 0.01), 0.01, rgb("ffffff"))
    sketch.disc((x + 0.06, y - 0.033), 0.009, rgb("e05038"))


def book(sketch: Sketch, middle: Point, view: str, colour: Colour, size: float = 1.0) -> None:
    """An open book: from its side two leaves, from the front two covers."""
    x, y = middle
    s = size
    if view == "side":
        sketch.line([(x, y + 0.015 * s), (x + 0.1 * s, y - 0.105 * s)], 0.03 * s, colour)
        sketch.line([(x, y + 0.015 * s), (x - 0.085 * s, y - 0.07 * s)], 0.03 * s, darker(colour, 0.2))
        sketch.line([(x + 0.005 * s, y - 0.005 * s), (x + 0.088 * s, y - 0.108 * s)], 0.014 * s, PAPER)
        sketch.line([(x - 0.01 * s, y - 0.005 * s), (x - 0.08 * s, y - 0.078 * s)], 0.014 * s, PAPER)
        return
    for side, shade in ((1, 0.0), (-1, 0.16)):
        sketch.polygon(
            [
                (x, y - 0.06 * s),
                (x + side * 0.125 * s, y - 0.085 * s),
                (x + side * 0.125 * s, y + 0.075 * s),
                (x, y + 0.09 * s),
            ],
            darker(colour, shade),
        )
        sketch.polygon(
            [
                (x, y - 0.066 * s),
                (x + side * 0.12 * s, y - 0.1 * s),
                (x + side * 0.125 * s, y - 0.084 * s),
                (x, y - 0.055 * s),
            ],
            PAPER,
        )


def laptop(sketch: Sketch, hinge: Point, view: str, colour: Colour) -> None:
    """A laptop: from its side, or its lid's back with a mark."""
    x, y = hinge
    if view == "side":
        sketch.line([(x - 0.17, y), (x, y)], 0.018, darker(colour, 0.2))
        sketch.line([(x, y), (x + 0.055, y - 0.16)], 0.018, colour)
        sketch.line([(x - 0.012, y - 0.02), (x + 0.036, y - 0.15)], 0.01, SCREEN)
        return
    sketch.polygon([(x - 0.13, y - 0.17), (x + 0.13, y - 0.17), (x + 0.14, y), (x - 0.14, y)], colour)
    sketch.disc((x, y - 0.088), 0.022, lighter(colour, 0.6))
    sketch.box(x - 0.15, y - 0.006, x + 0.15, y + 0.016, darker(colour, 0.3))


def guitar(sketch: Sketch, middle: Point, angle: float, colour: Colour) -> None:
    """A guitar whose neck points along `angle`."""
    cos, sin = math.cos(angle), math.sin(angle)

    def at(along: float, across: float = 0.0) -> Point:
        return middle[0] + along * cos - across * sin, middle[1] + along * sin + across * cos

    sketch.limb(at(0.05), at(0.4), 0.02, 0.015, darker(WOOD[3], 0.3))
    sketch.limb(at(0.38), at(0.45), 0.028, 0.022, darker(colour, 0.35))
    for grow, shade in ((0.01, 0.4), (0.0, 0.0)):
        sketch.disc(at(-0.05), 0.115 + grow, darker(colour, shade))
        sketch.disc(at(0.075), 0.085 + grow, darker(colour, shade))
    sketch.disc(at(0.035), 0.038, DARK)
    slab(sketch, at(-0.085), 0.016, 0.07, angle, DARK)
    sketch.line([at(-0.085), at(0.4)], 0.008, PAPER)


def violin(sketch: Sketch, chin: Point, scroll: Point, bow: tuple[Point, Point], colour: Colour) -> None:
    """A violin from `chin` to `scroll`, and its bow."""
    angle = math.atan2(scroll[1] - chin[1], scroll[0] - chin[0])

    def at(share: float) -> Point:
        return chin[0] + (scroll[0] - chin[0]) * share, chin[1] + (scroll[1] - chin[1]) * share

    sketch.line([at(0.3), at(1.0)], 0.02, darker(WOOD[3], 0.3))
    for share, radius in ((0.12, 0.058), (0.42, 0.047)):
        sketch.disc(at(share), 0.075, colour, radius, angle)
    sketch.line([at(0.1), at(0.9)], 0.008, PAPER)
    sketch.line(bow, 0.013, DARK)


def trumpet(sketch: Sketch, mouth: Point, angle: float) -> None:
    """A trumpet blown from `mouth` along `angle`."""
    cos, sin = math.cos(angle), math.sin(angle)

    def at(along: float, across: float = 0.0) -> Point:
        return mouth[0] + along * cos - across * sin, mouth[1] + along * sin + across * cos

    dark = darker(BRASS, 0.25)
    sketch.line([at(0.1, 0.05), at(0.26, 0.05)], 0.02, dark)
    sketch.line([at(0.0), at(0.36)], 0.022, BRASS)
    for along in (0.13, 0.17, 0.21):
        sketch.line([at(along, -0.035), at(along, 0.06)], 0.02, dark)
    sketch.polygon([at(0.3, -0.012), at(0.42, -0.075), at(0.42, 0.075), at(0.3, 0.012)], BRASS)
    sketch.disc(at(0.42), 0.018, lighter(BRASS, 0.4), 0.078, angle)


def drum(sketch: Sketch, middle: Point, colour: Colour) -> None:
    """A drum with a bright rim, seen a little from above."""
    x, y = middle
    sketch.disc((x, y + 0.14), 0.15, darker(colour, 0.25), 0.045)
    sketch.box(x - 0.15, y, x + 0.15, y + 0.14, colour)
    for step in range(4):
        left = x - 0.15 + step * 0.075
        sketch.line([(left, y + 0.03), (left + 0.0375, y + 0.15), (left + 0.075, y + 0.03)], 0.01, PAPER)
    sketch.disc((x, y + 0.005), 0.158, BRASS, 0.05)
    sketch.disc((x, y), 0.14, PAPER, 0.04)


def accordion(sketch: Sketch, left: Point, right: Point, colour: Colour) -> None:
    """An accordion between two hands, its bellows in folds."""
    folds = 7
    for fold in range(folds):
        share = (fold + 0.5) / folds
        x, y = left[0] + (right[0] - left[0]) * share, left[1] + (right[1] - left[1]) * share
        sketch.box(x - 0.018, y - 0.085, x + 0.018, y + 0.085, darker(colour, 0.12 if fold % 2 else 0.4))
    for x, y in (left, right):
        sketch.box(x - 0.03, y - 0.1, x + 0.03, y + 0.1, colour)
    for key in range(5):
        y = right[1] - 0.07 + key * 0.035
        sketch.box(right[0] + 0.005, y - 0.01, right[0] + 0.03, y + 0.01, PAPER)


def cello(sketch: Sketch, top: Point, foot: Point, bow: tuple[Point, Point], colour: Colour) -> None:
    """A cello that stands on the ground at `foot`."""
    angle = math.atan2(top[1] - foot[1], top[0] - foot[0])

    def at(share: float) -> Point:
        return foot[0] + (top[0] - foot[0]) * share, foot[1] + (top[1] - foot[1]) * share

    sketch.line([foot, at(0.2)], 0.012, DARK)
    sketch.line([at(0.5), at(1.0)], 0.026, darker(WOOD[3], 0.35))
    for grow, shade in ((0.012, 0.4), (0.0, 0.0)):
        sketch.disc(at(0.25), 0.14 + grow, darker(colour, shade), 0.125 + grow, angle)
        sketch.disc(at(0.47), 0.11 + grow, darker(colour, shade), 0.095 + grow, angle)
    sketch.line([at(0.18), at(0.95)], 0.012, DARK)
    sketch.line(bow, 0.014, DARK)
