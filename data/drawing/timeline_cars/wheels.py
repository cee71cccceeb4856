"""Wheels: of wood and wire, of pressed steel with a cap, cast of aluminium."""

from __future__ import annotations

import math
from random import Random

from drawing.sketch import Sketch, clear, mix, rgb
from drawing.timeline_cars.body import CHROME
from drawing.timeline_cars.eras import Body, Wheel
from drawing.timeline_cars.models import Model
from drawing.timeline_cars.shapes import half_disc

TYRE, WOOD, STEEL, WHITE, HOLLOW = (rgb(code) for code in ("1d1c20", "b08a54", "8d9298", "efece2", "101014"))


def draw_wheels(sketch: Sketch, model: Model, body: Body, wheel: Wheel) -> None:
    """Draw both wheels, in their arches if the body has them."""
    random = model.random("wheels")
    turned, spokes = random.random(), random.choice((10, 12)) if wheel.spokes > 0.7 else 24
    wooden, walls = random.random() < 0.6 and model.years["wheels"] < 1928, random.random() < wheel.white
    cast = random.random() < wheel.alloy
    for x in (0.0, body.wheelbase):
        if body.fender < 0.6:
            sketch.polygon(half_disc(x, wheel.radius, wheel.radius * 1.11, body.sill * 0.9), HOLLOW)
        centre = (x, -wheel.radius)
        sketch.disc(centre, wheel.radius, TYRE)
        if walls:
            outer = wheel.radius * (wheel.rim + 0.75 * (1 - wheel.rim))
            sketch.disc(centre, outer, mix(WHITE, TYRE, 0.06))
        rim = wheel.radius * wheel.rim
        if wheel.spokes > 0.3:
            _spoked(sketch, centre, rim, spokes, turned, WOOD if wooden else mix(model.second, CHROME, 0.5))
        elif cast:
            _cast(sketch, centre, rim, random, turned)
        else:
            _pressed(sketch, centre, rim, wheel, mix(model.paint, STEEL, 0.55))
    skirt = model.random("skirt")
    if body.fender < 0.3 and skirt.random() < 0.35 - abs(model.years["body"] - 1951) / 22:
        cover = half_disc(body.wheelbase, wheel.radius, wheel.radius * 1.2, body.sill)
        sketch.polygon([(across, min(down, -wheel.radius * 0.72)) for across, down in cover], model.paint)


def _spoked(
    sketch: Sketch,
    centre: tuple[float, float],
    rim: float,
    count: int,
    turned: float,
    colour: tuple[int, ...],
) -> None:
    x, y = centre
    sketch.disc(centre, rim, (58, 54, 56))
    width = 0.03 if count < 20 else 0.01
    for spoke in range(count):
        angle = math.tau * (spoke + turned) / count
        end = (x + rim * 0.94 * math.cos(angle), y + rim * 0.94 * math.sin(angle))
        sketch.limb(centre, end, width, width * 0.7, colour)
    sketch.arc(centre, rim * 0.94, 0, math.tau, rim * 0.1, colour)
    sketch.disc(centre, rim * 0.24, CHROME)


def _pressed(
    sketch: Sketch, centre: tuple[float, float], rim: float, wheel: Wheel, colour: tuple[int, ...]
) -> None:
    x, y = centre
    sketch.disc(centre, rim, colour)
    cap = rim * max(wheel.chrome, 0.25)
    sketch.disc(centre, cap, CHROME)
    sketch.arc(centre, cap * 0.7, 0, math.tau, cap * 0.12, clear((60, 64, 72), 0.5))
    sketch.disc((x - cap * 0.25, y - cap * 0.3), cap * 0.25, (255, 255, 255))


def _cast(sketch: Sketch, centre: tuple[float, float], rim: float, random: Random, turned: float) -> None:
    x, y = centre
    count = random.choice((5, 5, 6, 7, 3))
    sketch.disc(centre, rim, (44, 46, 52))
    for spoke in range(count):
        angle = math.tau * (spoke + turned) / count
        end = (x + rim * 0.88 * math.cos(angle), y + rim * 0.88 * math.sin(angle))
        sketch.limb(centre, end, rim * 0.2, rim * 0.13, (202, 206, 210))
    sketch.arc(centre, rim * 0.93, 0, math.tau, rim * 0.14, (214, 218, 222))
    sketch.disc(centre, rim * 0.2, STEEL)
