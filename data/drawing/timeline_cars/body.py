"""The body of a car from the side: hull, roof and windows, doors, and separate wings."""

from __future__ import annotations

from random import Random

from drawing.sketch import (
    Colour,
    Point,
    Sketch,
    clear,
    darker,
    lighter,
    mix,
    rgb,
)
from drawing.timeline_cars.eras import Body, Wheel
from drawing.timeline_cars.models import Model
from drawing.timeline_cars.shapes import band, mid, outline, rounded

GLASS, DARK_GLASS, CHROME, BLACK, CANVAS = (
    rgb(code) for code in ("a9c3c9", "32424a", "d9dde0", "17171a", "b3a381")
)
LEATHER = ("5a2f22", "7a1f24", "2a2420", "8a6a44")


def of_kind(body: Body, kind: str) -> Body:
    """Return the saloon `body` with the roof and the tail of a `kind`."""
    if kind == "coupe":
        return body._replace(
            rear_x=body.rear_x - 0.45,
            base_x=max(body.base_x - 0.25, body.rear_x - 0.2),
            round_roof=0.6 * body.round_roof,
        )
    if kind == "estate":
        end = body.tail - 0.06
        return body._replace(
            rear_x=end - 0.24, base_x=end, deck_x=end + 0.02, deck_y=body.base_y - 0.08, fin=0.0
        )
    if kind == "hatchback":
        end = max(body.tail - 0.3, body.wheelbase + 0.34)
        return body._replace(
            rear_x=end - 0.5, base_x=end - 0.05, deck_x=end, deck_y=body.base_y - 0.05, tail=end + 0.06
        )
    return body


def draw_body(sketch: Sketch, model: Model, body: Body, wheel: Wheel) -> None:
    """Draw the body; wheels and fittings are drawn later, in front of it."""
    random = model.random("body")
    top = body._replace(base_y=min(body.base_y, body.cowl_y + 0.1))
    if model.kind == "roadster":
        _open(sketch, random, body)
    else:
        _roof(sketch, model, top)
    _hull(sketch, model, body)
    _doors(sketch, model, body)
    if body.fender > 0.2:
        _wings(sketch, model, body, wheel)


def _hull(sketch: Sketch, model: Model, body: Body) -> None:
    paint, random = model.paint, model.random("hull")
    # the frame is visible below
    if body.fender > 0.6:
        sketch.box(-0.5, -body.sill - 0.02, body.wheelbase + 0.4, -body.sill + 0.1, darker(BLACK, 0.1))
    sketch.polygon(rounded(outline(body)), paint)
    middle = body.sill + 0.48 * (body.cowl_y - body.sill)
    if two_toned(model) and body.fender < 0.3:
        lower = band(body, body.sill + 0.02, middle)
        sketch.polygon(lower, model.second)
    sketch.polygon(
        band(body, body.sill, body.sill + 0.3 * (body.cowl_y - body.sill)), clear((16, 14, 34), 0.24)
    )
    shoulder = [(body.hood_x + 0.12, body.hood_y), (body.cowl_x, body.cowl_y), (body.base_x, body.base_y)]
    if body.deck_x - body.base_x > 0.3:
        shoulder.append((body.deck_x - 0.1, body.deck_y))
    shine = clear((255, 252, 240), 0.34 if model.year < 1975 else 0.22)
    sketch.line([(x, -y + 0.08) for x, y in shoulder], 0.035, shine)
    if body.fender > 0.6:
        _radiator(sketch, random, body)


def two_toned(model: Model) -> bool:
    """Return whether the car has two colours, which is common in the fifties and rare otherwise."""
    chance = max(0.08, 0.75 - abs(model.years["paint"] - 1956) / 14)
    return model.random("tones").random() < chance


def _radiator(sketch: Sketch, random: Random, body: Body) -> None:
    """Draw the shell in front, and slots in the side of the hood."""
    x, high = body.nose, body.hood_y
    sketch.polygon(
        rounded(
            [
                (x - 0.05, body.sill, 0),
                (x - 0.05, high + 0.03, 0.03),
                (x + 0.05, high + 0.03, 0.02),
                (x + 0.05, body.sill, 0),
            ]
        ),
        CHROME,
    )
    sketch.limb((x, -high - 0.03), (x, -high - 0.09), 0.025, 0.012, CHROME)
    left, right = body.hood_x + 0.28, body.cowl_x - 0.12
    for slot in range(random.randint(8, 12)):
        at = left + (right - left) * slot / 11
        sketch.limb((at, -high + 0.22), (at + 0.03, -body.sill - 0.2), 0.011, 0.011, clear(BLACK, 0.5))


def _roof(sketch: Sketch, model: Model, body: Body) -> None:
    random = model.random("roof")
    # below the shoulder, so that no gap shows
    drop = 0.06
    low_front, low_rear = (body.cowl_x, body.cowl_y - drop), (body.base_x, body.base_y - drop)
    top_front, top_rear = (body.front_x, body.front_y), (body.rear_x, body.rear_y)
    crown = ((body.front_x + body.rear_x) / 2, max(body.front_y, body.rear_y) + 0.12 * body.round_roof)
    far = body.round_roof
    colour = model.paint
    if model.years["body"] < 1934 and random.random() < 0.6:
        colour = mix(BLACK, CANVAS, random.choice((0.0, 0.1, 0.75)))
    elif two_toned(model) or (abs(model.years["fittings"] - 1972) < 6 and random.random() < 0.4):
        colour = model.second if two_toned(model) else darker(model.second, 0.55)
    sketch.polygon(
        rounded([(*low_front, 0), (*top_front, far), (*crown, 0.5), (*top_rear, far), (*low_rear, 0)]), colour
    )
    sketch.line(
        [(x, -y + 0.035) for x, y in (top_front, crown, top_rear)], 0.025, clear((255, 255, 255), 0.25)
    )
    _windows(sketch, model, body, (low_front, top_front, low_rear, top_rear))


def _windows(sketch: Sketch, model: Model, body: Body, frame: tuple[Point, Point, Point, Point]) -> None:
    low_front, top_front, low_rear, top_rear = frame
    long = body.rear_x - body.front_x
    panes = {"coupe": 1 if long < 0.9 else 2, "estate": 3, "hatchback": 2}.get(model.kind, 2)
    if (
        model.kind == "saloon"
        and (model.years["body"] < 1932 or long > 1.2)
        and model.random("panes").random() < 0.6
    ):
        panes = 3
    tinted = min(max((model.years["fittings"] - 1970) / 28, 0.0), 1.0)
    glass = mix(GLASS, DARK_GLASS, 0.25 + 0.6 * tinted)
    edge = body.pillar / max(long, 0.6)
    ends = [edge + (1 - 2.2 * edge) * k / panes for k in range(panes + 1)]
    gap, soft = body.pillar / max(long, 0.6) / 2, 0.03 + 0.28 * body.round_roof

    def spot(across: float, up: float) -> Point:
        return mid(mid(low_front, low_rear, across), mid(top_front, top_rear, across), up)

    for pane in range(panes):
        left, right = ends[pane] + (gap if pane else 0), ends[pane + 1] - (gap if pane < panes - 1 else 0)
        corners = [spot(left, 0.2), spot(left, 0.86), spot(right, 0.86), spot(right, 0.2)]
        softs = [0.03, soft if not pane else 0.03, soft if pane == panes - 1 else 0.03, 0.03]
        sketch.polygon(rounded([(*point, far) for point, far in zip(corners, softs, strict=True)]), glass)
        shine = [
            spot(left + (right - left) * u, up)
            for u, up in ((0.1, 0.25), (0.34, 0.8), (0.5, 0.8), (0.26, 0.25))
        ]
        sketch.polygon([(x, -y) for x, y in shine], clear((255, 255, 255), 0.3))


def _open(sketch: Sketch, random: Random, body: Body) -> None:
    """A windscreen, the seats and the folded top."""
    hide, belt = rgb(random.choice(LEATHER)), body.cowl_y
    foot = body.cowl_x + 0.12
    tip = (foot + (body.front_x - body.cowl_x) * 0.7, -belt - 0.62 * (body.front_y - belt))
    sketch.polygon([(foot - 0.02, -belt + 0.05), (foot + 0.04, -belt + 0.05), tip], clear(GLASS, 0.6))
    sketch.limb((foot, -belt + 0.05), tip, 0.03, 0.02, CHROME)
    seat = foot + 0.75
    for x in (seat, seat + (0.9 if body.rear_x - body.front_x > 1.3 else 0.0)):
        sketch.limb((x, -belt + 0.2), (x + 0.1, -belt - 0.16), 0.09, 0.07, hide)
    sketch.arc((foot + 0.36, -belt - 0.02), 0.16, 3.4, 5.9, 0.03, BLACK)
    back = min(body.base_x, body.rear_x + 0.5)
    sketch.polygon(
        rounded(
            [
                (back - 0.4, belt - 0.1, 0),
                (back - 0.35, belt + 0.1, 0.06),
                (back + 0.05, belt + 0.08, 0.08),
                (back + 0.1, belt - 0.15, 0),
            ]
        ),
        mix(CANVAS, BLACK, random.choice((0.0, 0.6))),
    )


def _doors(sketch: Sketch, model: Model, body: Body) -> None:
    """Draw seams and handles of the doors between the axles; their number follows from the roof."""
    random = model.random("doors")
    several = model.kind in ("saloon", "estate") or (model.kind == "hatchback" and random.random() < 0.5)
    first = body.cowl_x + 0.14
    last = min(body.rear_x + 0.2, body.wheelbase - (0.25 if body.fender < 0.5 else 0.45))
    seams = [first, (first + last) / 2, last] if several else [first, first + min(1.15, last - first)]
    seam = clear((10, 10, 18), 0.55)
    low = body.sill + 0.08
    for x in seams:
        sketch.limb((x, -body.cowl_y + 0.05), (x, -low), 0.009, 0.009, seam)
    metal = CHROME if model.years["fittings"] < 1976 else BLACK
    for x in seams[1:]:
        sketch.limb((x - 0.2, -body.cowl_y + 0.17), (x - 0.07, -body.cowl_y + 0.17), 0.016, 0.016, metal)


def _wings(sketch: Sketch, model: Model, body: Body, wheel: Wheel) -> None:
    """Draw separate wings: strips over the wheels in early years, teardrops that enclose them later."""
    full = 1 - body.fender
    colour = (
        BLACK if body.fender > 0.85 and model.random("wings").random() < 0.75 else darker(model.paint, 0.26)
    )
    high = 2 * wheel.radius + 0.07 + 0.03 * full
    reach, low = wheel.radius + 0.13, 0.30
    for x, forward, back in (
        (0.0, reach, reach + 0.55 + 0.45 * full),
        (body.wheelbase, reach + 0.02, reach + 0.2 + full),
    ):
        if x and full > 0.3:
            forward += 0.25 * full
        corners = [
            (x - forward, wheel.radius * 0.8, 0.1),
            (x - forward * 0.72, high, 0.3 + 0.3 * full),
            (x + reach * 0.7, high, 0.35),
            (x + back, low, 0.3),
            (x + back - 0.3, low - 0.02, 0.05),
        ]
        sketch.polygon(rounded(corners), colour)
        sketch.line(
            [(x - forward * 0.6, -high + 0.06), (x + reach * 0.4, -high + 0.06)], 0.03, _gleam(colour)
        )
    if model.years["fittings"] < 1944:
        sketch.box(0.4, -low - 0.03, body.wheelbase - 0.4, -low + 0.045, mix(BLACK, (90, 84, 80), 0.3))


def _gleam(colour: Colour) -> Colour:
    return clear(lighter(colour, 0.7), 0.5)
