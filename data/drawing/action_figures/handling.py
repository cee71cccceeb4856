"""Actions with an object in the hands: phoning, taking a photo, reading, using a computer."""

from __future__ import annotations

import math
from functools import partial
from random import Random

from drawing.action_figures import furniture, props
from drawing.action_figures.figure import Act
from drawing.action_figures.on_foot import step
from drawing.action_figures.skeleton import seated, standing
from drawing.sketch import Point, rgb

NEAR, FAR = 0, 1


def phoning(random: Random) -> Act:
    """A phone at the ear: by the nearer hand, or hidden behind the head by the other one."""
    act, view = _loiter(random, random.uniform(-4, 12))
    pose = act.pose
    hidden = random.random() < 0.45
    x, y = pose.head
    if view == "side":
        hand = FAR if hidden else NEAR
        ear = (x + 0.035, y + 0.035) if hidden else (x - 0.005, y + 0.045)
        pose.hand_to(hand, ear, bend=random.choice((1, 1, -1)))
        draw = partial(props.phone, middle=(ear[0], ear[1] - 0.02), angle=1.35, screen=False)
        (act.behind if hidden else act.between).append(draw)
    else:
        hand = random.choice((NEAR, FAR))
        side = 1 if hand == NEAR else -1
        ear = (x + side * 0.085, y + 0.03)
        pose.hand_to(hand, ear, bend=side)
        draw = partial(
            props.phone, middle=(ear[0] + side * 0.012, ear[1] - 0.02), angle=math.pi / 2, screen=False
        )
        (act.behind if view == "back" else act.between).append(draw)
    if random.random() < 0.3:
        pose.swing_arm(1 - hand, random.uniform(20, 50) * (1 if hand == FAR or view == "side" else -1), 60)
    return act


def taking_photo(random: Random) -> Act:
    """A camera at the eye, or a phone held out; the two look similar from behind and from a distance."""
    view = random.choice(("side", "side", "front", "back"))
    crouch = view == "side" and random.random() < 0.3
    if crouch:
        act = Act(seated(0.2, random.uniform(4, 16), ((0.2, 0.0), (-0.06, 0.0))), wide=0.3)
    else:
        legs = ((random.uniform(3, 12), random.uniform(0, 14)), (-random.uniform(3, 10), 0.0))
        act = Act(standing(random.uniform(-6, 8), legs, view))
    pose = act.pose
    x, y = pose.head
    out = random.random() < 0.4
    body = random.choice((rgb("2b2b33"), rgb("3d3d48"), rgb("b9bec4")))
    if view == "side":
        up = random.uniform(-0.06, 0.05)
        spot: Point = (x + random.uniform(0.2, 0.27), y + up) if out else (x + 0.125, y + 0.01)
        thing = (
            partial(props.phone, middle=spot, angle=1.45, screen=False)
            if out
            else partial(props.camera, middle=spot, forward=True, colour=body)
        )
        pose.hand_to(NEAR, (spot[0] - 0.01, spot[1] + 0.04))
        pose.hand_to(FAR, (spot[0] + 0.01, spot[1] + 0.03))
        act.between.append(thing)
        return act
    spot = (x, y + (random.uniform(-0.08, 0.1) if out else 0.015))
    for side, way in ((NEAR, 1), (FAR, -1)):
        pose.hand_to(side, (spot[0] + way * 0.085, spot[1] + 0.02), bend=way)
    thing = (
        partial(props.phone, middle=spot, angle=0.0, screen=view == "back")
        if out
        else partial(props.camera, middle=spot, forward=False, colour=body)
    )
    (act.behind if view == "back" else act.between).append(thing)
    return act


def reading(random: Random) -> Act:
    """A book in front of the chest or on the knees; from behind only the bent head is visible."""
    nod = random.uniform(14, 34)
    cover = random.choice(props.PAINTS)
    view = random.choice(("side", "side", "side", "front", "back"))
    if view == "side" and random.random() < 0.25:
        act = _in_armchair(random, nod)
    elif random.random() < 0.35:
        act = _at_table(random, view, nod)
    elif random.random() < 0.5:
        act = _sit(random, view, nod)
    else:
        legs = ((random.uniform(0, 9), random.uniform(0, 10)), (-random.uniform(0, 8), 4))
        act = Act(standing(random.uniform(-2, 6), legs, view, nod=nod))
    pose = act.pose
    x, y = pose.chest
    if view == "side":
        spot = (x + random.uniform(0.17, 0.23), y + random.uniform(0.02, 0.12))
        pose.hand_to(NEAR, spot)
        pose.hand_to(FAR, (spot[0] + 0.02, spot[1] - 0.01))
        act.between.append(
            partial(props.book, middle=(spot[0] + 0.01, spot[1] - 0.01), view="side", colour=cover)
        )
        return act
    spot = (x, y + random.uniform(0.05, 0.12))
    for side, way in ((NEAR, 1), (FAR, -1)):
        pose.hand_to(side, (spot[0] + way * 0.11, spot[1] + 0.03), bend=-way)
    (act.behind if view == "back" else act.between).append(
        partial(props.book, middle=spot, view="front", colour=cover)
    )
    return act


def using_computer(random: Random) -> Act:
    """A laptop on a table or on the knees."""
    nod = random.uniform(4, 22)
    colour = random.choice(props.METALS)
    view = random.choice(("side", "side", "side", "front", "back"))
    lap = random.random() < 0.4
    act = _sit(random, view, nod, low=lap)
    pose = act.pose
    wood = random.choice(furniture.WOODS)
    if view == "side":
        if lap:
            knee = pose.knees[NEAR]
            spot = (max(knee[0] + 0.02, pose.hip[0] + 0.22), knee[1] - 0.075)
        else:
            spot = (pose.hip[0] + 0.4, -0.44)
            act.before.append(
                partial(furniture.table, left=spot[0] - 0.22, right=spot[0] + 0.3, height=0.42, colour=wood)
            )
        act.between.append(partial(props.laptop, hinge=spot, view="side", colour=colour))
        for side in (NEAR, FAR):
            pose.hand_to(side, (spot[0] - 0.1 + 0.02 * side, spot[1] - 0.02))
        return act
    top = 0.44
    for side, way in ((NEAR, 1), (FAR, -1)):
        pose.hand_to(side, (way * 0.06, -top - 0.03), bend=-way)
    desk = [partial(furniture.table, left=-0.32, right=0.32, height=top - 0.02, colour=wood)]
    desk.append(partial(props.laptop, hinge=(0.0, -top), view="front", colour=colour))
    (act.behind if view == "back" else act.before).extend(desk)
    return act


def _loiter(random: Random, nod: float = 0.0) -> tuple[Act, str]:
    """Stand, stroll or sit, while the hands do something else."""
    view = random.choice(("side", "side", "side", "front", "back"))
    kind = random.choice(("stand", "stand", "stroll", "sit", "table"))
    if kind == "sit":
        return _sit(random, view, nod), view
    if kind == "table":
        return _at_table(random, view, nod), view
    if view != "side":
        pose = standing(random.uniform(-2, 2), ((random.uniform(2, 7), 0), (-random.uniform(2, 7), 0)), view)
        if kind == "stroll":
            step(pose, random)
        return Act(pose), view
    stride = random.uniform(8, 22) if kind == "stroll" else random.uniform(-3, 6)
    legs = ((stride, random.uniform(0, 12)), (-stride, random.uniform(2, 24) if kind == "stroll" else 3))
    return Act(standing(random.uniform(-3, 6), legs, nod=nod)), view


def _sit(random: Random, view: str, nod: float = 0.0, low: bool = True) -> Act:
    """Sit on a chair, a bench, a stool, or (if `low`) the ground."""
    kind = random.choice(("chair", "bench", "stool", "ground" if low and view == "side" else "bench"))
    colour = random.choice(furniture.WOODS)
    if kind == "ground":
        feet = ((random.uniform(0.3, 0.42), 0.0), (random.uniform(0.24, 0.36), 0.0))
        return Act(seated(0.03, random.uniform(-14, 4), feet, nod=nod), wide=0.34)
    height = random.uniform(0.25, 0.29)
    feet = ((random.uniform(0.2, 0.32), 0.0), (random.uniform(0.14, 0.3), 0.0))
    act = Act(seated(height, random.uniform(-6, 8), feet, view, nod), wide=0.34)
    seat = {"chair": furniture.chair, "bench": furniture.bench, "stool": furniture.stool}[kind]
    if view == "side" or kind != "chair":
        (act.before if view == "back" and kind == "bench" else act.behind).append(
            partial(seat, height=height, colour=colour)
        )
    else:
        act.behind.append(partial(furniture.stool, height=height, colour=colour))
    return act


def _at_table(random: Random, view: str, nod: float) -> Act:
    """Sit on a chair at a table, sometimes with an unused laptop."""
    act = _sit(random, view, nod, low=False)
    wood = random.choice(furniture.WOODS)
    if view == "side":
        left = act.pose.hip[0] + 0.16
        act.before.append(partial(furniture.table, left=left, right=left + 0.52, height=0.42, colour=wood))
        if random.random() < 0.5:
            hinge = (left + random.uniform(0.22, 0.34), -0.44)
            act.between.append(
                partial(props.laptop, hinge=hinge, view="side", colour=random.choice(props.METALS))
            )
    else:
        desk = partial(furniture.table, left=-0.32, right=0.32, height=0.42, colour=wood)
        (act.behind if view == "back" else act.before).append(desk)
    return act


def _in_armchair(random: Random, nod: float) -> Act:
    colour = random.choice(furniture.SOFAS)
    act = Act(seated(0.2, -12, ((0.3, 0.0), (0.24, 0.0)), nod=nod), wide=0.36)
    act.behind.append(partial(furniture.armchair, height=0.2, colour=colour))
    act.before.append(partial(furniture.armrest, height=0.2, colour=colour))
    return act
