"""Playing an instrument: a guitar, violin, trumpet, drum, accordion or cello."""

from __future__ import annotations

import math
from functools import partial
from random import Random

from drawing.action_figures import furniture, props
from drawing.action_figures.figure import Act
from drawing.action_figures.skeleton import seated, standing
from drawing.sketch import Point, Sketch

NEAR, FAR = 0, 1


def playing_instrument(random: Random) -> Act:
    """Any of them; guitars are the most common."""
    kinds = (_guitar, _guitar, _violin, _trumpet, _drum, _accordion, _cello)
    return random.choice(kinds)(random)


def _musician(random: Random, sits: float, view: str = "side", nod: float = 4.0) -> Act:
    if random.random() < sits:
        height = 0.27
        act = Act(seated(height, random.uniform(0, 8), ((0.2, 0.0), (0.26, 0.0)), view, nod), wide=0.34)
        act.behind.append(partial(furniture.stool, height=height, colour=random.choice(furniture.WOODS)))
        return act
    legs = ((random.uniform(3, 9), random.uniform(0, 8)), (-random.uniform(3, 9), 2))
    return Act(standing(random.uniform(-4, 6), legs, view, nod))


def _guitar(random: Random) -> Act:
    act = _musician(random, 0.4, random.choice(("side", "front", "front")), random.uniform(-4, 16))
    pose = act.pose
    wood = random.choice([*props.WOOD, *props.PAINTS[:2]])
    angle = math.radians(random.uniform(-32, -8))
    x, y = pose.chest[0] * 0.5 + pose.hip[0] * 0.5, pose.chest[1] * 0.38 + pose.hip[1] * 0.62
    if pose.view == "side":
        x += 0.07
    act.between.append(partial(props.guitar, middle=(x - 0.03, y), angle=angle, colour=wood))
    fret = random.uniform(0.22, 0.34)
    pose.hand_to(
        FAR if pose.view == "side" else NEAR, (x + fret * math.cos(angle), y + fret * math.sin(angle))
    )
    pose.hand_to(NEAR if pose.view == "side" else FAR, (x + 0.0, y + random.uniform(-0.02, 0.04)), bend=1)
    return act


def _violin(random: Random) -> Act:
    act = _musician(random, 0.25, nod=14)
    pose = act.pose
    x, y = pose.chest
    chin, scroll = (x + 0.05, y - 0.035), (x + 0.3, y - 0.07 + random.uniform(-0.03, 0.05))
    low = random.uniform(0.05, 0.2)
    bow = ((x + 0.24, y - 0.19), (x + 0.13, y + low))
    pose.hand_to(FAR, scroll)
    pose.hand_to(NEAR, (bow[1][0], bow[1][1] - 0.01))
    act.between.append(
        partial(props.violin, chin=chin, scroll=scroll, bow=bow, colour=random.choice(props.WOOD))
    )
    return act


def _trumpet(random: Random) -> Act:
    act = _musician(random, 0.15, nod=-6)
    pose = act.pose
    angle = math.radians(random.uniform(-24, 10))
    mouth = pose.head[0] + 0.085, pose.head[1] + 0.045
    for side, along in ((NEAR, 0.15), (FAR, 0.19)):
        pose.hand_to(side, (mouth[0] + along * math.cos(angle), mouth[1] + 0.045 + along * math.sin(angle)))
    act.between.append(partial(props.trumpet, mouth=mouth, angle=angle))
    return act


def _drum(random: Random) -> Act:
    act = _musician(random, 0.0, random.choice(("side", "front")), random.uniform(0, 14))
    pose = act.pose
    x = pose.hip[0] + (0.2 if pose.view == "side" else 0.0)
    y = pose.hip[1] - 0.06
    tips: list[tuple[Point, Point]] = []
    for side, way in ((NEAR, 1), (FAR, -1)):
        hand = x + way * 0.1 - (0.06 if pose.view == "side" else 0), y - random.uniform(0.05, 0.16)
        pose.hand_to(side, hand, bend=1 if pose.view == "side" else -way)
        tips.append((pose.hands[side], (x - way * 0.03, y - random.uniform(0.0, 0.05))))
    act.between.append(partial(props.drum, middle=(x, y), colour=random.choice(props.PAINTS)))
    act.before.append(partial(_sticks, tips=tips))
    return act


def _sticks(sketch: Sketch, tips: list[tuple[Point, Point]]) -> None:
    for hand, tip in tips:
        sketch.line([hand, tip], 0.014, props.WOOD[4])
        sketch.disc(tip, 0.014, props.PAPER)


def _accordion(random: Random) -> Act:
    act = _musician(random, 0.5, "front", 0)
    pose = act.pose
    x, y = pose.chest[0], pose.chest[1] + 0.15
    wide = random.uniform(0.12, 0.2)
    left, right = (x - wide, y + random.uniform(-0.02, 0.03)), (x + wide, y)
    pose.hand_to(NEAR, (right[0] + 0.03, right[1]), bend=-1)
    pose.hand_to(FAR, (left[0] - 0.03, left[1]), bend=1)
    act.between.append(
        partial(props.accordion, left=left, right=right, colour=random.choice(props.PAINTS[:4]))
    )
    return act


def _cello(random: Random) -> Act:
    act = _musician(random, 1.0, "side", 8)
    pose = act.pose
    x, y = pose.chest
    top, foot = (x + 0.07, y - 0.05), (pose.hip[0] + 0.3, -0.01)
    across = y + random.uniform(0.2, 0.27)
    bow = ((x + 0.03, across), (x + 0.34, across - 0.03))
    pose.hand_to(FAR, (top[0] + 0.035, top[1] + 0.1))
    pose.hand_to(NEAR, bow[0])
    act.between.append(partial(props.cello, top=top, foot=foot, bow=bow, colour=random.choice(props.WOOD)))
    return act
