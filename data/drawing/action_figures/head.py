"""Heads: face, hair and hats, seen from the side, from the front or from behind."""

from __future__ import annotations

import math

from drawing.action_figures.skeleton import Pose
from drawing.action_figures.wardrobe import Body
from drawing.sketch import Colour, Sketch, darker, lighter, mix

RADIUS = 0.083
INK = (45, 34, 40)


class Turned:
    """A sketch in the frame of a head, which rotates with it."""

    # Points are relative to the centre of the head, in units of its radius.
    def __init__(self, sketch: Sketch, body: Body, pose: Pose) -> None:
        self.sketch = sketch
        self.radius = RADIUS * body.head
        self.x, self.y = pose.head
        turn = math.radians(pose.nod + pose.lean * 0.4) if pose.view == "side" else 0.0
        self.turn, self.cos, self.sin = turn, math.cos(turn), math.sin(turn)

    def at(self, x: float, y: float) -> tuple[float, float]:
        r = self.radius
        return self.x + r * (x * self.cos - y * self.sin), self.y + r * (x * self.sin + y * self.cos)

    def disc(self, x: float, y: float, wide: float, colour: Colour, tall: float | None = None) -> None:
        high = None if tall is None else tall * self.radius
        self.sketch.disc(self.at(x, y), wide * self.radius, colour, high, self.turn)

    def limb(
        self, a: tuple[float, float], b: tuple[float, float], one: float, two: float, colour: Colour
    ) -> None:
        self.sketch.limb(self.at(*a), self.at(*b), one * self.radius, two * self.radius, colour)

    def polygon(self, points: list[tuple[float, float]], colour: Colour) -> None:
        self.sketch.polygon([self.at(*point) for point in points], colour)

    def dome(self, start: float, end: float, radius: float, colour: Colour, squash: float = 1.0) -> None:
        """A part of a disc between two angles in degrees (0 is forward, 270 up), closed by its chord."""
        steps = 14
        turns = [math.radians(start + (end - start) * k / steps) for k in range(steps + 1)]
        self.polygon([(radius * math.cos(a), radius * squash * math.sin(a)) for a in turns], colour)


def draw_head(sketch: Sketch, body: Body, pose: Pose) -> None:
    """Draw the head of `pose` with face, hair and hat."""
    head = Turned(sketch, body, pose)
    {"side": _side, "front": _front, "back": _back}[pose.view](head, body)
    _hat(head, body, pose.view)


def _side(head: Turned, body: Body) -> None:
    if body.cut == "long":
        head.limb((-0.35, 0.0), (-0.6, 1.25), 0.8, 0.5, darker(body.hair, 0.12))
    elif body.cut == "ponytail":
        head.limb((-0.8, -0.35), (-1.5, 0.55), 0.34, 0.14, body.hair)
    elif body.cut == "bun":
        head.disc(-0.95, -0.65, 0.45, body.hair)
    elif body.cut == "bob":
        head.limb((-0.25, 0.0), (-0.35, 0.6), 0.92, 0.7, darker(body.hair, 0.12))
    head.disc(0.12, 0.05, 0.92, body.skin, 1.02)
    # nose
    head.disc(1.0, 0.2, 0.17, body.skin)
    _cap_of_hair(head, body)
    if body.cut != "curls":
        head.disc(-0.12, 0.2, 0.19, darker(body.skin, 0.12), 0.25)
    head.disc(0.62, 0.02, 0.115, INK, 0.15)
    head.limb((0.55, -0.3), (0.78, -0.3), 0.05, 0.05, darker(body.hair, 0.3))
    head.disc(0.5, 0.42, 0.19, mix(body.skin, (224, 92, 80), 0.35), 0.15)
    if body.beard:
        head.limb((0.1, 0.72), (0.66, 0.66), 0.42, 0.36, body.hair)
    head.limb((0.66, 0.58), (0.86, 0.54), 0.05, 0.05, darker(body.skin, 0.55))
    if body.glasses:
        _ring(head, 0.62, 0.02, 0.28)
        head.limb((0.34, 0.0), (-0.1, 0.05), 0.045, 0.045, INK)


def _front(head: Turned, body: Body) -> None:
    if body.cut in ("long", "bob"):
        low = 1.2 if body.cut == "long" else 0.55
        for x in (-0.45, 0.45):
            head.limb((x, -0.1), (x * 1.45, low), 0.68, 0.42, darker(body.hair, 0.12))
    elif body.cut == "bun":
        head.disc(0, -1.15, 0.42, body.hair)
    for x in (-0.93, 0.93):
        head.disc(x, 0.15, 0.18, darker(body.skin, 0.1))
    head.disc(0, 0.05, 0.94, body.skin, 1.04)
    _cap_of_hair(head, body, front=True)
    for x in (-0.36, 0.36):
        head.disc(x, 0.05, 0.11, INK, 0.145)
        head.disc(x * 1.5, 0.4, 0.19, mix(body.skin, (224, 92, 80), 0.35), 0.14)
        head.limb((x - 0.14, -0.26), (x + 0.14, -0.26), 0.05, 0.05, darker(body.hair, 0.3))
        if body.glasses:
            _ring(head, x, 0.05, 0.29)
    head.disc(0, 0.28, 0.1, darker(body.skin, 0.16), 0.08)
    if body.beard:
        head.limb((-0.3, 0.72), (0.3, 0.72), 0.42, 0.42, body.hair)
    head.limb((-0.2, 0.55), (0.0, 0.61), 0.045, 0.045, darker(body.skin, 0.55))
    head.limb((0.0, 0.61), (0.2, 0.55), 0.045, 0.045, darker(body.skin, 0.55))


def _back(head: Turned, body: Body) -> None:
    for x in (-0.93, 0.93):
        head.disc(x, 0.15, 0.17, darker(body.skin, 0.12))
    head.disc(0, 0.05, 0.94, darker(body.skin, 0.1), 1.04)
    if body.cut == "bald":
        return
    low = {"long": 1.3, "bob": 0.6, "short": 0.25, "tuft": 0.2}.get(body.cut, 0.35)
    head.limb((0, -0.15), (0, low), 0.98, 0.6 if low < 1 else 0.75, body.hair)
    if body.cut == "curls":
        _curls(head, body)
    if body.cut == "bun":
        head.disc(0, -0.85, 0.48, lighter(body.hair, 0.1))
    if body.cut == "ponytail":
        head.limb((0, -0.2), (0.05, 1.35), 0.36, 0.16, lighter(body.hair, 0.1))


def _cap_of_hair(head: Turned, body: Body, front: bool = False) -> None:
    if body.cut == "bald":
        return
    if body.cut == "curls":
        _curls(head, body)
        return
    if front:
        head.dome(188, 352, 1.02, body.hair, 1.05)
        head.limb((-0.8, -0.4), (0.15, -0.62), 0.2, 0.3, body.hair)
        return
    if body.cut == "tuft":
        head.dome(205, 318, 1.0, body.hair, 1.05)
        head.limb((0.3, -0.85), (0.8, -1.12), 0.3, 0.12, body.hair)
        return
    head.dome(118, 322, 1.04, body.hair, 1.05)
    head.limb((-0.3, -0.55), (0.62, -0.66), 0.42, 0.24, body.hair)


def _curls(head: Turned, body: Body) -> None:
    for degrees in range(130, 331, 25):
        a = math.radians(degrees)
        head.disc(0.95 * math.cos(a) - 0.05, 0.95 * math.sin(a), 0.42, body.hair)
    head.disc(-0.25, -0.45, 0.75, body.hair)


def _ring(head: Turned, x: float, y: float, radius: float) -> None:
    """Draw one lens of a pair of glasses."""
    head.sketch.arc(head.at(x, y), radius * head.radius, 0, math.tau, 0.07 * head.radius, INK)


def _hat(head: Turned, body: Body, view: str) -> None:
    colour, shade = body.hat_colour, darker(body.hat_colour, 0.22)
    if body.hat == "cap":
        head.dome(176, 364, 1.08, colour, 1.1)
        if view == "side":
            head.limb((0.7, -0.18), (1.6, -0.1), 0.14, 0.08, shade)
        elif view == "front":
            head.limb((-0.6, -0.24), (0.6, -0.24), 0.17, 0.17, shade)
    elif body.hat == "beanie":
        head.dome(172, 368, 1.1, colour, 1.2)
        head.limb((-0.92, -0.2), (0.92, -0.2), 0.22, 0.22, shade)
        head.disc(-0.05, -1.35, 0.27, lighter(colour, 0.35))
    elif body.hat == "sunhat":
        head.dome(180, 360, 0.95, colour, 1.2)
        head.limb((-1.6, -0.2), (1.6, -0.2), 0.13, 0.13, colour)
        head.limb((-0.86, -0.36), (0.86, -0.36), 0.13, 0.13, shade)
    elif body.hat == "helmet":
        head.dome(170, 372, 1.15, colour, 1.12)
        head.limb((-0.5, -0.75), (0.5, -0.8), 0.09, 0.09, shade)
        if view == "side":
            head.limb((0.1, 0.0), (0.25, 0.9), 0.06, 0.06, shade)
