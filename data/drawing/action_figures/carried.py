"""Objects that people carry or stand beside while they do something else.

A phone in the hand of a walking person, a camera around a neck, a bicycle behind a person: they make a single box
ambiguous, as in photographs, where an object in the image does not imply an action.
"""

from __future__ import annotations

import math
from functools import partial
from random import Random

from drawing.action_figures import mounts, props
from drawing.action_figures.figure import Act
from drawing.action_figures.skeleton import Pose
from drawing.sketch import Colour, Draw, Point, Sketch, darker, lighter, rgb

NEAR, FAR = 0, 1
STANDS = ("walking", "phoning", "reading", "taking photo", "jumping", "playing instrument")


def carry(random: Random, act: Act) -> None:
    """Give the free hands of a walking, running or jumping person something to do."""
    pose = act.pose
    side, way = (NEAR, 1) if random.random() < 0.7 or pose.view == "side" else (FAR, -1)
    random.choice((_sip, _gaze, _touch_head, _print, _neck, _binoculars, _case, _laptop, _hip, _cheer))(
        random, act, side, way
    )


def _over(act: Act) -> list[Draw]:
    """Return the list of objects to draw in front of the chest."""
    return act.behind if act.pose.view == "back" else act.between


def _sip(random: Random, act: Act, side: int, way: int) -> None:
    """Drink from a paper cup."""
    pose = act.pose
    spot = pose.head[0] + (0.1 if pose.view == "side" else 0.03 * way), pose.head[1] + 0.07
    pose.hand_to(side, (spot[0], spot[1] + 0.02), bend=way)
    _over(act).append(partial(_cup, middle=spot))


def _gaze(random: Random, act: Act, side: int, way: int) -> None:
    """Look at a phone."""
    pose = act.pose
    ahead = 0.18 if pose.view == "side" else 0.07 * way
    spot = pose.chest[0] + ahead, pose.chest[1] + random.uniform(0.02, 0.09)
    pose.hand_to(side, spot, bend=way)
    _over(act).append(partial(props.phone, middle=(spot[0], spot[1] - 0.04), angle=1.2, screen=False))


def _print(random: Random, act: Act, side: int, way: int) -> None:
    """Hold a closed book or a folded newspaper in both hands."""
    pose = act.pose
    newspaper = random.random() < 0.5
    ahead = 0.2 if pose.view == "side" else 0.02 * way
    spot = pose.chest[0] + ahead, pose.chest[1] + random.uniform(0.06, 0.14)
    pose.hand_to(NEAR, spot)
    pose.hand_to(FAR, (spot[0] - (0.0 if pose.view == "side" else 0.1), spot[1]))
    paint = rgb("e4e0d2") if newspaper else random.choice(props.PAINTS)
    size, angle = 1.5 if newspaper else 1.0, random.uniform(-0.3, 0.9)
    _over(act).append(partial(_closed, middle=spot, angle=angle, colour=paint, size=size))


def _neck(random: Random, act: Act, side: int, way: int) -> None:
    """Wear a camera on its strap."""
    x, y = act.pose.chest
    spot = x + (0.085 if act.pose.view == "side" else 0.0), y + 0.15
    _over(act).append(partial(_strap, neck=(x, y - 0.02), middle=spot))
    forward = act.pose.view == "side"
    _over(act).append(partial(props.camera, middle=spot, forward=forward, colour=props.DARK))


def _case(random: Random, act: Act, side: int, way: int) -> None:
    """Carry a guitar in its case on the back."""
    layer = act.before if act.pose.view == "back" else act.behind
    layer.append(partial(_guitar_case, pose=act.pose, colour=darker(random.choice(props.PAINTS), 0.3)))


def _laptop(random: Random, act: Act, side: int, way: int) -> None:
    """Carry a closed laptop under an arm."""
    pose = act.pose
    spot = pose.chest[0] + (0.02 if pose.view == "side" else 0.1 * way), pose.chest[1] + 0.17
    pose.hand_to(side, (spot[0] + 0.04, spot[1] + 0.06), bend=way)
    _over(act).append(partial(_closed, middle=spot, angle=1.3, colour=random.choice(props.METALS), size=1.3))


def _hip(random: Random, act: Act, side: int, way: int) -> None:
    """Put a hand on the hip."""
    pose = act.pose
    bend = -way if pose.view == "side" else way
    pose.hand_to(side, (pose.hip[0] + 0.07 * way, pose.hip[1] - 0.05), bend)


def _cheer(random: Random, act: Act, side: int, way: int) -> None:
    """Raise both arms."""
    for one, out in ((NEAR, 1), (FAR, 1 if act.pose.view == "side" else -1)):
        act.pose.swing_arm(one, out * random.uniform(100, 165), out * random.uniform(0, 35))


def _touch_head(random: Random, act: Act, side: int, way: int) -> None:
    """Put a hand to the hat, the ear or the brow, which looks like phoning without a phone."""
    pose = act.pose
    x, y = pose.head
    if pose.view == "side":
        pose.hand_to(
            side, (x + random.uniform(-0.06, 0.1), y + random.uniform(-0.06, 0.06)), random.choice((1, -1))
        )
    else:
        pose.hand_to(side, (x + way * random.uniform(0.06, 0.12), y + random.uniform(-0.06, 0.05)), way)


def _binoculars(random: Random, act: Act, side: int, way: int) -> None:
    """Hold binoculars to the eyes, like a camera."""
    pose = act.pose
    x, y = pose.head
    if pose.view == "side":
        spot = x + 0.12, y + 0.005
        for hand in (NEAR, FAR):
            pose.hand_to(hand, (spot[0], spot[1] + 0.035))
        act.between.append(
            partial(props.slab, middle=spot, long=0.1, wide=0.05, angle=0.0, colour=props.DARK)
        )
        return
    for hand, out in ((NEAR, 1), (FAR, -1)):
        pose.hand_to(hand, (x + out * 0.08, y + 0.03), bend=out)
        if pose.view == "front":
            act.between.append(
                partial(Sketch.disc, centre=(x + out * 0.035, y + 0.01), radius=0.034, colour=props.DARK)
            )


def _cup(sketch: Sketch, middle: Point) -> None:
    x, y = middle
    sketch.polygon(
        [(x - 0.026, y - 0.04), (x + 0.026, y - 0.04), (x + 0.02, y + 0.04), (x - 0.02, y + 0.04)],
        rgb("f5ecd9"),
    )
    sketch.box(x - 0.024, y - 0.015, x + 0.024, y + 0.015, rgb("a8683f"))
    sketch.line([(x - 0.024, y - 0.042), (x + 0.024, y - 0.042)], 0.016, rgb("5b4534"))


def _closed(sketch: Sketch, middle: Point, angle: float, colour: Colour, size: float) -> None:
    """A closed book, a folded newspaper or a laptop under an arm."""
    props.slab(sketch, middle, 0.17 * size, 0.12 * size, angle, darker(colour, 0.1))
    props.slab(
        sketch, (middle[0] + 0.006, middle[1] - 0.006), 0.16 * size, 0.1 * size, angle, lighter(colour, 0.12)
    )


def _strap(sketch: Sketch, neck: Point, middle: Point) -> None:
    for dx in (-0.05, 0.05):
        sketch.line([(neck[0] + dx, neck[1]), middle], 0.014, props.DARK)


def _guitar_case(sketch: Sketch, pose: Pose, colour: Colour) -> None:
    """Draw a guitar in its case on the back."""
    x, y = pose.chest
    back = -0.1 if pose.view == "side" else 0.04
    sketch.limb((x + back, y - 0.17), (x + back - 0.03, y + 0.1), 0.04, 0.06, colour)
    sketch.limb((x + back - 0.02, y + 0.08), (x + back - 0.05, y + 0.26), 0.095, 0.125, colour)


def beside(random: Random, act: Act, action: str, wild: bool) -> None:
    """Draw a bicycle in front of or behind a person, or (if `wild`) a pony."""
    if action not in STANDS or act.raised or random.random() > 0.45:
        return
    shift, flip = random.uniform(-0.25, 0.25), random.random() < 0.5
    if wild and random.random() < 0.7:
        coat, mane = random.choice(mounts.COATS), random.choice(mounts.MANES)
        draw: Draw = partial(_pony, coat=coat, mane=mane, blanket=random.choice(props.PAINTS))
        size = random.uniform(0.62, 0.8)
    else:
        paint, basket = random.choice(props.PAINTS), random.random() < 0.4
        draw = partial(mounts.bicycle, colour=paint, turn=random.uniform(0, math.tau), basket=basket)
        size = 1.0
    before = random.random() < 0.6
    standing = partial(_aside, draw=draw, shift=shift, down=0.03 if before else -0.035, size=size, flip=flip)
    if before:
        act.before.append(standing)
    else:
        act.behind.insert(0, standing)


def _pony(sketch: Sketch, coat: Colour, mane: Colour, blanket: Colour) -> None:
    mounts.horse_far(sketch, coat, 3, 1.0)
    mounts.horse(sketch, coat, mane, 3, 1.0, blanket)


def _aside(sketch: Sketch, draw: Draw, shift: float, down: float, size: float, flip: bool) -> None:
    with sketch.within((shift, down), size, flip):
        draw(sketch)
