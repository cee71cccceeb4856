"""The fittings of a car: lamps, bumpers, chrome along the side, a spare wheel, an aerial, mirrors."""

from __future__ import annotations

from drawing.sketch import Sketch, clear, mix, rgb
from drawing.timeline_cars.body import BLACK, CHROME
from drawing.timeline_cars.eras import Body, Fittings, Wheel
from drawing.timeline_cars.models import Model
from drawing.timeline_cars.shapes import rounded

LENS, AMBER, RED, PLASTIC = (rgb(code) for code in ("fbf3d2", "e58a1f", "c2231f", "2b2c30"))


def draw_spare(sketch: Sketch, model: Model, body: Body, wheel: Wheel) -> None:
    """Draw a spare wheel behind the tail, in years when bodies had no room for it."""
    if model.years["body"] < 1937 and body.fender > 0.6:
        x, y = body.tail + 0.1, -body.sill - wheel.radius * 0.85
        sketch.limb((x, y - wheel.radius * 0.7), (x, y + wheel.radius * 0.7), 0.09, 0.09, (30, 29, 33))


def draw_fittings(sketch: Sketch, model: Model, body: Body, wheel: Wheel, details: Fittings) -> None:
    """Draw all fittings in front of the body and the wheels."""
    _side(sketch, model, body, details)
    _bumpers(sketch, model, body, details)
    _lamps(sketch, model, body, wheel, details)
    random = model.random("extras")
    if model.years["fittings"] > 1964:
        at, belt = body.cowl_x + 0.32, -body.cowl_y
        metal = (
            CHROME if model.years["fittings"] < 1977 else (BLACK if details.painted < 0.5 else model.paint)
        )
        sketch.limb((at, belt - 0.02), (at - 0.08, belt - 0.07), 0.03, 0.045, metal)
    if 1950 < model.years["fittings"] < 1990 and random.random() < 0.5:
        x = body.cowl_x - 0.1
        sketch.limb((x, -body.cowl_y + 0.03), (x + 0.12, -body.cowl_y - 0.6), 0.008, 0.005, (70, 72, 78))


def _side(sketch: Sketch, model: Model, body: Body, details: Fittings) -> None:
    """Draw a chrome line along the side, or a protective plastic strip."""
    random = model.random("side")
    high = body.sill + random.uniform(0.5, 0.7) * (body.cowl_y - body.sill)
    front, back = body.nose + 0.2, body.tail - 0.14
    if random.random() < details.trim:
        dip = random.uniform(-0.02, 0.16) * details.trim
        points = [(front, -high), (body.wheelbase * 0.55, -high + dip), (back, -high - 0.02)]
        sketch.line(points, 0.035, CHROME)
        sketch.limb((0.5, -body.sill - 0.03), (body.wheelbase - 0.5, -body.sill - 0.03), 0.02, 0.02, CHROME)
    if random.random() < details.strip:
        at = body.sill + 0.42 * (body.cowl_y - body.sill)
        sketch.line([(front - 0.12, -at), (back + 0.05, -at)], 0.065, PLASTIC)
    if model.kind == "estate" and model.years["paint"] < 1978 and random.random() < 0.4:
        wood = rgb("a9743f")
        at, low = body.cowl_y - 0.12, body.sill + 0.2
        sketch.polygon(
            rounded(
                [
                    (body.cowl_x + 0.1, low, 0.03),
                    (body.cowl_x + 0.1, at, 0.03),
                    (back, at, 0.03),
                    (back, low, 0.03),
                ]
            ),
            clear(wood, 0.9),
        )
        for line in range(4):
            y = low + (at - low) * (line + 0.5) / 4
            sketch.line([(body.cowl_x + 0.12, -y), (back - 0.02, -y)], 0.012, clear((70, 40, 20), 0.5))


def _bumpers(sketch: Sketch, model: Model, body: Body, details: Fittings) -> None:
    if details.bumper < 0.03:
        return
    metal = mix(PLASTIC, CHROME, details.metal)
    if model.random("bumper").random() < details.painted:
        metal = mix(model.paint, PLASTIC, 0.08)
    half, middle = details.bumper / 2, body.sill + 0.06 + details.bumper / 2
    out = 0.05 + 0.12 * (body.fender > 0.6)
    deep = 0.16 + 0.4 * (1 - details.metal)
    for x, inward in ((body.nose - out, 1), (body.tail + out, -1)):
        corners = [
            (x, middle - half, half),
            (x, middle + half, half),
            (x + inward * deep, middle + half, 0.02),
            (x + inward * deep, middle - half, 0.02),
        ]
        sketch.polygon(rounded(corners), metal)
        if details.metal > 0.6:
            ends = [(x + inward * 0.03, -middle - half * 0.4), (x + inward * deep, -middle - half * 0.4)]
            sketch.line(ends, 0.02, (255, 255, 255))


def _lamps(sketch: Sketch, model: Model, body: Body, wheel: Wheel, details: Fittings) -> None:
    size = details.lamp
    # on a bar between the wings
    if details.apart > 0.02 and body.fender > 0.3:
        x, y = body.nose - 0.02 - details.apart, -max(body.hood_y - 0.24, 2 * wheel.radius + 0.1)
        sketch.limb((x + 0.05, y + 0.3), (x + 0.05, y), 0.025, 0.025, CHROME)
        sketch.limb((x, y), (x + size * 1.2, y), size, size * 0.45, mix(CHROME, BLACK, 0.15))
        sketch.disc((x - size * 0.15, y), size * 0.42, LENS, size * 0.98)
    else:
        x, y = body.nose + 0.06, -(body.sill + 0.72 * (body.hood_y - body.sill))
        if details.angular > 0.4:
            long = size * (1.1 + 1.2 * details.angular)
            sketch.polygon(
                rounded(
                    [
                        (x - 0.06, -y - size * 0.8, 0.02),
                        (x - 0.06, -y + size * 0.8, 0.03),
                        (x + long * 0.6, -y + size * 0.8, 0.03),
                        (x + long * 0.6, -y - size * 0.8, 0.03),
                    ]
                ),
                LENS,
            )
            if model.years["fittings"] > 1973:
                sketch.box(x + long * 0.6, y - size * 0.7, x + long * 0.6 + 0.12, y + size * 0.7, AMBER)
        elif details.angular > 0.18 and model.years["fittings"] > 1986:
            # swept back into the wing
            sketch.polygon(
                rounded(
                    [
                        (x - 0.02, -y - size * 0.7, 0.08),
                        (x + 0.06, -y + size * 0.75, 0.06),
                        (x + size * 3.6, -y + size * 1.0, 0.03),
                        (x + size * 2.2, -y - size * 0.5, 0.1),
                    ]
                ),
                mix(LENS, (200, 215, 225), 0.6),
            )
        else:
            sketch.disc((x, y), size * 0.72, CHROME, size * 1.12)
            sketch.disc((x - 0.02, y), size * 0.5, LENS, size * 0.9)
    tail, high = body.tail - 0.05, body.sill + 0.62 * (body.deck_y - body.sill)
    if body.fin > 0.08:
        x, y = body.deck_x - 0.04, -body.deck_y - body.fin * 0.35
        sketch.limb((x, y), (x + 0.1, y), 0.06, 0.025, RED)
    elif model.years["fittings"] < 1952:
        sketch.disc((tail, -high + 0.08), 0.05, RED)
    else:
        tall = 0.07 + 0.1 * min(max((model.years["fittings"] - 1960) / 30, 0), 1)
        sketch.polygon(
            rounded(
                [
                    (tail - 0.12, high - tall, 0.03),
                    (tail - 0.1, high + tall, 0.03),
                    (tail + 0.05, high + tall, 0.03),
                    (tail + 0.06, high - tall, 0.03),
                ]
            ),
            RED,
        )
