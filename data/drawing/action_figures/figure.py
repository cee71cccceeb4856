"""A person drawn on a skeleton: limbs that taper, clothes over them, a head with a face and hair."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from drawing.action_figures.head import draw_head
from drawing.action_figures.skeleton import Pose, along
from drawing.action_figures.wardrobe import Body
from drawing.sketch import Colour, Draw, Sketch, darker, lighter, mix

NEAR, FAR = 0, 1


@dataclass
class Act:
    """A pose and its props, each drawn at its depth; x points to where the person faces."""

    pose: Pose
    # Before the body.
    behind: list[Draw] = field(default_factory=list)
    # Over the body, below the near arm.
    between: list[Draw] = field(default_factory=list)
    # Over all.
    before: list[Draw] = field(default_factory=list)
    between_legs: list[Draw] = field(default_factory=list)
    # how far below the feet the shadow falls
    raised: float = 0.0
    # half the width of the shadow
    wide: float = 0.28
    # the range of heights of an object in front
    cover: tuple[float, float] = (0.16, 0.48)


def draw_person(sketch: Sketch, body: Body, act: Act, number: int) -> None:
    """Draw person `number` doing `act`. Body and clothes belong to the person, props do not."""
    pose = act.pose
    arms_last = pose.view != "back"
    _props(sketch, act.behind)
    sketch.owner = number
    if pose.view == "back":
        for side in (FAR, NEAR):
            _arm(sketch, body, pose, side)
    elif pose.view == "side":
        _arm(sketch, body, pose, FAR)
    if body.bag and pose.view == "side":
        _bag(sketch, body, pose)
    _leg(sketch, body, pose, FAR)
    _props(sketch, act.between_legs)
    sketch.owner = number
    _leg(sketch, body, pose, NEAR)
    _torso(sketch, body, pose)
    # the thighs point at the viewer
    if pose.view == "front" and pose.knees[NEAR][1] - pose.hip[1] < 0.1:
        for side in (FAR, NEAR):
            _leg(sketch, body, pose, side)
    draw_head(sketch, body, pose)
    if body.scarf:
        _scarf(sketch, body, pose)
    _props(sketch, act.between)
    sketch.owner = number
    if arms_last:
        for side in (NEAR,) if pose.view == "side" else (FAR, NEAR):
            _arm(sketch, body, pose, side)
    _props(sketch, act.before)


def _props(sketch: Sketch, props: list[Draw]) -> None:
    sketch.owner = None
    for draw in props:
        draw(sketch)


def _arm(sketch: Sketch, body: Body, pose: Pose, side: int) -> None:
    shade = 0.22 if side == FAR and pose.view == "side" else 0.0
    thick = 0.042 * math.sqrt(body.girth)
    sleeve = darker(body.top_colour, 0.08 + shade)
    if body.top == "jacket":
        sleeve = darker(body.second, 0.08 + shade)
    skin = darker(body.skin, shade * 0.8)
    shoulder, elbow, hand = pose.shoulder(side), pose.elbows[side], pose.hands[side]
    short = body.top in ("tee", "dress")
    lower = skin if short else sleeve
    sketch.disc(hand, 0.03, skin)
    sketch.limb(elbow, _between(elbow, hand, 0.9), 0.031, 0.023, lower)
    sketch.limb(shoulder, elbow, thick * 0.85, 0.031, lower)
    sketch.limb(shoulder, _between(shoulder, elbow, 0.62 if short else 1.0), thick, 0.036, sleeve)
    if body.top == "stripes":
        for share in (0.35, 0.75):
            sketch.limb(
                _between(shoulder, elbow, share),
                _between(shoulder, elbow, share + 0.1),
                0.036,
                0.034,
                body.second,
            )


def _leg(sketch: Sketch, body: Body, pose: Pose, side: int) -> None:
    shade = 0.24 if side == FAR and pose.view == "side" else 0.0
    thick = 0.062 * math.sqrt(body.girth)
    skin, cloth = darker(body.skin, shade * 0.8), darker(body.bottom_colour, shade)
    hip, knee, ankle = pose.hip_joint(side), pose.knees[side], pose.ankles[side]
    bare = body.bottom != "trousers"
    _shoe(sketch, ankle, pose.toes[side], darker(body.shoes, shade))
    sketch.limb(knee, ankle, 0.043, 0.026 if bare else 0.033, skin if bare else cloth)
    upper = skin if body.bottom in ("skirt", "dress") else cloth
    sketch.limb(hip, knee, thick, 0.045, upper)
    if body.bottom == "shorts":
        sketch.limb(hip, _between(hip, knee, 0.85), thick * 1.05, 0.054, cloth)


def _shoe(sketch: Sketch, ankle: tuple[float, float], toe: float, colour: Colour) -> None:
    heel = along(ankle, toe - 90, 0.012)
    tip = along(heel, toe, 0.062)
    sketch.limb(along(heel, toe, -0.012), tip, 0.028, 0.022, colour)


def _torso(sketch: Sketch, body: Body, pose: Pose) -> None:
    wide = pose.view != "side"
    girth = math.sqrt(body.girth)
    chest = (0.088 if wide else 0.078) * girth
    waist = (0.082 if wide else 0.07) * body.girth
    hip, top = pose.hip, _between(pose.chest, pose.hip, 0.18)
    colour = body.top_colour
    sketch.limb(
        hip, _between(hip, top, 0.2), 0.066 * girth + (0.02 if wide else 0), waist, body.bottom_colour
    )
    _skirt(sketch, body, pose)
    ends = _between(hip, top, 0.12)
    if wide:
        left, right = pose.shoulder(FAR), pose.shoulder(NEAR)
        sketch.limb(left, right, 0.045, 0.045, colour)
        for side in (left, right):
            sketch.limb(_between(side, top, 0.3), ends, chest * 0.7, waist, colour)
    sketch.limb(top, ends, chest, waist, colour)
    # the back is in the shade
    if not wide:
        shade = (top[0] - chest * 0.5, top[1]), (ends[0] - waist * 0.5, ends[1])
        sketch.limb(*shade, chest * 0.5, waist * 0.5, darker(colour, 0.09))
    if body.top == "stripes":
        for share in (0.2, 0.5, 0.8):
            _band(sketch, top, ends, share, chest + (0.025 if wide else 0), waist, body.second)
    if body.top == "jacket":
        _jacket(sketch, body, pose, top, ends, chest, waist)
    neck = _between(pose.chest, pose.head, 0.1), _between(pose.chest, pose.head, 0.6)
    sketch.limb(*neck, 0.036, 0.033, darker(body.skin, 0.14))


def _band(
    sketch: Sketch,
    top: tuple[float, float],
    end: tuple[float, float],
    share: float,
    chest: float,
    waist: float,
    colour: Colour,
) -> None:
    centre = _between(top, end, share)
    half = chest + (waist - chest) * share - 0.006
    along = math.atan2(end[1] - top[1], end[0] - top[0])
    across = -math.sin(along) * half, math.cos(along) * half
    one, two = (centre[0] + across[0], centre[1] + across[1]), (centre[0] - across[0], centre[1] - across[1])
    sketch.limb(one, two, 0.011, 0.011, colour)


def _jacket(
    sketch: Sketch,
    body: Body,
    pose: Pose,
    top: tuple[float, float],
    end: tuple[float, float],
    chest: float,
    waist: float,
) -> None:
    """A jacket in the second colour, open in front so that the shirt shows."""
    sketch.limb(top, end, chest * 1.04, waist * 1.06, body.second)
    if pose.view == "front":
        for side in (FAR, NEAR):
            sketch.limb(_between(pose.shoulder(side), top, 0.3), end, chest * 0.75, waist, body.second)
        sketch.limb(top, end, 0.026, 0.034, lighter(body.top_colour, 0.1))
    elif pose.view == "side":
        offset = chest * 0.72
        sketch.limb((top[0] + offset, top[1]), (end[0] + waist * 0.72, end[1]), 0.016, 0.016, body.top_colour)
    else:
        for side in (FAR, NEAR):
            sketch.limb(_between(pose.shoulder(side), top, 0.3), end, chest * 0.75, waist, body.second)


def _skirt(sketch: Sketch, body: Body, pose: Pose) -> None:
    if body.bottom not in ("skirt", "dress"):
        return
    thick = 0.075 * body.girth
    knees = [_between(pose.hip_joint(side), pose.knees[side], 0.8) for side in (NEAR, FAR)]
    for knee in knees:
        sketch.limb(pose.hip, knee, thick, thick * 0.95, body.bottom_colour)
    middle = _between(knees[0], knees[1], 0.5)
    sketch.limb(pose.hip, middle, thick, thick * 1.05, body.bottom_colour)


def _scarf(sketch: Sketch, body: Body, pose: Pose) -> None:
    neck = _between(pose.chest, pose.head, 0.28)
    back = -1 if pose.view == "side" else 1
    end = neck[0] + 0.1 * back, neck[1] + 0.1
    sketch.limb(neck, end, 0.03, 0.026, darker(body.hat_colour, 0.15))
    sketch.limb((neck[0] - 0.035, neck[1]), (neck[0] + 0.035, neck[1]), 0.036, 0.036, body.hat_colour)


def _bag(sketch: Sketch, body: Body, pose: Pose) -> None:
    middle = _between(pose.chest, pose.hip, 0.4)
    colour = mix(body.hat_colour, (60, 50, 60), 0.3)
    sketch.limb(
        (middle[0] - 0.1, middle[1] - 0.05), (middle[0] - 0.1, middle[1] + 0.07), 0.055, 0.065, colour
    )


def _between(one: tuple[float, float], two: tuple[float, float], share: float) -> tuple[float, float]:
    return one[0] + (two[0] - one[0]) * share, one[1] + (two[1] - one[1]) * share
