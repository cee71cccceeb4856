"""A bicycle and a horse to ride, in the frame of the rider, who faces right."""

from __future__ import annotations

import math

from drawing.action_figures.skeleton import reach
from drawing.sketch import Colour, Point, Sketch, clear, darker, lighter, rgb

WHEEL = 0.255
CRANK: Point = (-0.02, -0.27)
SADDLE: Point = (-0.14, -0.66)
BARS: Point = (0.25, -0.74)
FRONT: Point = (0.40, -WHEEL)
REAR: Point = (-0.40, -WHEEL)
TYRE = rgb("2d2c33")
CHROME = rgb("c9ced2")
COATS = [rgb(code) for code in ("8a5230", "6b3e26", "b57a45", "d9c3a0", "4a3530", "cfc8bf", "a3632f")]
MANES = [rgb(code) for code in ("2b1f1d", "e9d9b0", "4b2e20", "f1ece2")]
# where the rider of a horse sits
BACK_HEIGHT = 0.92


def pedal(turn: float) -> Point:
    return CRANK[0] + 0.085 * math.cos(turn), CRANK[1] + 0.085 * math.sin(turn)


def bicycle(sketch: Sketch, colour: Colour, turn: float, basket: bool) -> None:
    """Draw a bicycle without its nearer crank."""
    # turn: the angle of that crank.
    for x, y in (REAR, FRONT):
        for spoke in range(6):
            a = turn + math.pi * spoke / 6
            dx, dy = WHEEL * 0.93 * math.cos(a), WHEEL * 0.93 * math.sin(a)
            sketch.line([(x - dx, y - dy), (x + dx, y + dy)], 0.006, clear(CHROME, 0.75))
        sketch.arc((x, y), WHEEL - 0.017, 0, math.tau, 0.034, TYRE)
        sketch.disc((x, y), 0.025, darker(CHROME, 0.3))
    head, post = (0.22, -0.62), (-0.115, -0.585)
    _crank(sketch, turn + math.pi)
    sketch.line([REAR, CRANK, head, post, CRANK], 0.03, colour)
    sketch.line([REAR, post, SADDLE], 0.022, darker(colour, 0.15))
    sketch.line([FRONT, head, (0.205, -0.72)], 0.03, darker(colour, 0.1))
    sketch.line([(0.205, -0.72), BARS, (0.28, -0.7)], 0.022, TYRE)
    sketch.limb((SADDLE[0] - 0.06, SADDLE[1]), (SADDLE[0] + 0.07, SADDLE[1] + 0.012), 0.03, 0.014, TYRE)
    sketch.disc(CRANK, 0.05, darker(CHROME, 0.4))
    for x, y in (REAR, FRONT):
        sketch.arc((x, y), WHEEL + 0.022, math.radians(200), math.radians(320), 0.016, darker(colour, 0.25))
    if basket:
        sketch.polygon([(0.26, -0.69), (0.45, -0.69), (0.42, -0.54), (0.29, -0.54)], rgb("b98b52"))
        sketch.line([(0.26, -0.69), (0.45, -0.69)], 0.022, rgb("d2a76b"))
        for x, tint in ((0.31, "d9483b"), (0.36, "f2c14e"), (0.41, "e98da4")):
            sketch.disc((x, -0.72), 0.03, rgb(tint))


def near_crank(sketch: Sketch, turn: float) -> None:
    _crank(sketch, turn)


def _crank(sketch: Sketch, turn: float) -> None:
    x, y = pedal(turn)
    sketch.line([CRANK, (x, y)], 0.022, darker(CHROME, 0.2))
    sketch.line([(x - 0.03, y), (x + 0.03, y)], 0.02, TYRE)


# forward swing of each leg in degrees and the bend of its knee: near fore, far fore, near hind, far hind
GAITS = (
    # walk
    ((14, 12), (-16, 8), (-14, 10), (16, 14)),
    # trot
    ((34, 62), (-20, 12), (-26, 12), (24, 50)),
    # gallop
    ((48, 70), (30, 30), (-40, 18), (-24, 34)),
    # stands
    ((2, 0), (-3, 0), (-4, 4), (4, 6)),
)


def horse_far(sketch: Sketch, coat: Colour, gait: int, phase: float) -> None:
    """The legs on the far side."""
    fore, hind = GAITS[gait][1], GAITS[gait][3]
    _fore(sketch, 0.27, fore, darker(coat, 0.3), phase)
    _hind(sketch, -0.38, hind, darker(coat, 0.3), phase)


def horse(sketch: Sketch, coat: Colour, mane: Colour, gait: int, phase: float, blanket: Colour) -> None:
    """Body, neck, head, nearer legs and saddle."""
    lean = 0.06 if gait == 2 else 0.0
    shade = darker(coat, 0.12)
    # tail
    for width, start in ((0.07, -0.02), (0.055, 0.01)):
        sketch.limb((-0.53, -0.84 + start), (-0.67 - lean, -0.58 - lean * 3), width, 0.03, mane)
    sketch.limb((-0.66 - lean, -0.6 - lean * 3), (-0.66 - lean * 3, -0.4 - lean * 3), 0.045, 0.012, mane)
    # belly
    sketch.limb((-0.36, -0.76), (0.26, -0.74), 0.2, 0.185, shade)
    sketch.limb((-0.38, -0.8), (0.26, -0.77), 0.18, 0.17, coat)
    # neck
    sketch.limb((0.3, -0.78), (0.56 + lean, -1.1 + lean * 2), 0.17, 0.095, coat)
    crest = [(0.26 + (0.25 + lean) * k / 5, -0.93 - (0.24 - lean * 2) * k / 5) for k in range(6)]
    for x, y in crest:
        sketch.disc((x, y), 0.058, mane)
    _head(sketch, coat, mane, (0.58 + lean, -1.13 + lean * 2))
    _fore(sketch, 0.29, GAITS[gait][0], coat, phase)
    _hind(sketch, -0.37, GAITS[gait][2], coat, phase)
    sketch.polygon([(-0.22, -0.94), (0.17, -0.94), (0.19, -0.72), (-0.24, -0.72)], blanket)
    sketch.line([(-0.24, -0.725), (0.19, -0.725)], 0.02, lighter(blanket, 0.45))
    sketch.limb((-0.16, -0.965), (0.12, -0.95), 0.035, 0.03, rgb("5a3324"))
    sketch.limb((-0.17, -0.98), (-0.17, -1.01), 0.028, 0.02, rgb("5a3324"))


def _head(sketch: Sketch, coat: Colour, mane: Colour, poll: Point) -> None:
    x, y = poll
    for dx in (-0.035, 0.02):
        sketch.polygon(
            [(x + dx - 0.03, y - 0.06), (x + dx, y - 0.16), (x + dx + 0.035, y - 0.05)], darker(coat, 0.1)
        )
    sketch.limb((x, y), (x + 0.21, y + 0.16), 0.1, 0.062, coat)
    sketch.limb((x + 0.19, y + 0.15), (x + 0.225, y + 0.175), 0.06, 0.055, darker(coat, 0.22))
    sketch.disc((x + 0.245, y + 0.165), 0.012, TYRE)
    sketch.disc((x + 0.06, y - 0.005), 0.02, TYRE)
    sketch.disc((x + 0.066, y - 0.012), 0.007, rgb("ffffff"))
    sketch.limb((x - 0.01, y - 0.085), (x + 0.07, y - 0.05), 0.045, 0.02, mane)
    sketch.line([(x + 0.13, y + 0.02), (x + 0.1, y + 0.17)], 0.014, rgb("7a3626"))
    sketch.line([(x + 0.02, y - 0.08), (x + 0.115, y + 0.1)], 0.012, rgb("7a3626"))


def bit(gait: int) -> Point:
    """Return the point where the reins begin."""
    lean = 0.06 if gait == 2 else 0.0
    return 0.58 + lean + 0.12, -1.13 + lean * 2 + 0.13


def _fore(sketch: Sketch, x: float, swing: tuple[float, float], coat: Colour, phase: float) -> None:
    _horse_leg(sketch, (x, -0.66), swing[0] * phase, swing[1] * phase, 0.1, coat)


def _hind(sketch: Sketch, x: float, swing: tuple[float, float], coat: Colour, phase: float) -> None:
    _horse_leg(sketch, (x, -0.68), swing[0] * phase - 4, swing[1] * phase + 6, 0.125, coat)


def _horse_leg(sketch: Sketch, top: Point, thigh: float, bend: float, thick: float, coat: Colour) -> None:
    """Draw upper leg, cannon and hoof; a leg that would reach into the ground is bent."""
    upper, lower = 0.33, 0.33
    a, b = math.radians(thigh), math.radians(thigh - bend)
    knee = top[0] + upper * math.sin(a), top[1] + upper * math.cos(a)
    end = knee[0] + lower * math.sin(b), knee[1] + lower * math.cos(b)
    if end[1] > -0.04:
        end = end[0], -0.04
        knee, end = reach(top, end, upper, lower, -1)
    sketch.limb(knee, end, 0.042, 0.03, coat)
    sketch.limb(top, knee, thick, 0.045, coat)
    x, y = end
    sketch.polygon(
        [(x - 0.03, y - 0.02), (x + 0.03, y - 0.02), (x + 0.048, y + 0.04), (x - 0.04, y + 0.04)], TYRE
    )


# --------------------------------------------------------------------------- towards or away from the viewer


def bicycle_head_on(sketch: Sketch, colour: Colour, back: bool) -> None:
    """A bicycle from its front, or from behind."""
    sketch.limb((0, -WHEEL * 2 + 0.03), (0, -0.03), 0.028, 0.028, TYRE)
    sketch.line([(0, -0.1), (0, -WHEEL * 2 + 0.05)], 0.012, darker(CHROME, 0.35))
    sketch.line([(-0.03, -WHEEL), (-0.03, -0.56), (0.03, -0.56), (0.03, -WHEEL)], 0.018, colour)
    sketch.line([(0, -0.56), (0, -0.7)], 0.03, darker(colour, 0.1))
    if back:
        sketch.disc((0, -0.53), 0.028, rgb("d8382f"))
        sketch.limb((-0.05, -0.66), (0.05, -0.66), 0.03, 0.03, TYRE)


def bars_head_on(sketch: Sketch, back: bool) -> None:
    sketch.line([(-0.2, -0.7), (-0.08, -0.73), (0.08, -0.73), (0.2, -0.7)], 0.024, TYRE)
    if not back:
        sketch.disc((0, -0.66), 0.038, rgb("fff0b8"))
        sketch.arc((0, -0.66), 0.04, 0, math.tau, 0.014, TYRE)


def horse_head_on(
    sketch: Sketch, coat: Colour, mane: Colour, blanket: Colour, step: float, back: bool
) -> None:
    """A horse from its front (its neck and head are `neck_head_on`), or from behind with its tail."""
    for x, lift in ((-0.1, max(0.0, step)), (0.1, max(0.0, -step))):
        sketch.limb((x * 0.7, -0.55), (x * 0.7, -0.28), 0.05, 0.04, darker(coat, 0.35))
        sketch.limb((x * 1.15, -0.6), (x * 1.1, -0.3 - lift), 0.085, 0.048, coat)
        sketch.limb((x * 1.1, -0.32 - lift), (x * 1.1, -0.07 - lift), 0.046, 0.034, coat)
        y = -0.06 - lift
        sketch.polygon(
            [
                (x * 1.1 - 0.035, y),
                (x * 1.1 + 0.035, y),
                (x * 1.1 + 0.045, y + 0.06),
                (x * 1.1 - 0.045, y + 0.06),
            ],
            TYRE,
        )
    sketch.disc((0, -0.74), 0.215, darker(coat, 0.1), 0.23)
    sketch.disc((0, -0.76), 0.195, coat, 0.2)
    sketch.limb((-0.2, -0.82), (-0.22, -0.66), 0.035, 0.03, blanket)
    sketch.limb((0.2, -0.82), (0.22, -0.66), 0.035, 0.03, blanket)
    if back:
        sketch.limb((0, -0.86), (0.02, -0.5), 0.05, 0.07, mane)
        sketch.limb((0.02, -0.52), (0.05, -0.28), 0.07, 0.02, mane)


def neck_head_on(sketch: Sketch, coat: Colour, mane: Colour) -> None:
    sketch.limb((0, -0.76), (0, -1.04), 0.13, 0.085, coat)
    for x in (-0.055, 0.055):
        sketch.polygon([(x - 0.03, -1.1), (x * 1.25, -1.23), (x + 0.03, -1.1)], darker(coat, 0.1))
    sketch.limb((0, -1.08), (0, -0.86), 0.085, 0.055, lighter(coat, 0.06))
    sketch.limb((0, -0.86), (0, -0.82), 0.058, 0.052, darker(coat, 0.22))
    for x in (-0.062, 0.062):
        sketch.disc((x, -1.05), 0.017, TYRE)
        sketch.disc((x * 0.4, -0.82), 0.01, TYRE)
    sketch.limb((0, -1.16), (0.02, -1.02), 0.05, 0.02, mane)
    sketch.line([(-0.06, -0.92), (0.06, -0.92)], 0.014, rgb("7a3626"))
