"""Riding a bicycle or a horse, seen from the side, from the front or from behind."""

from __future__ import annotations

import math
from functools import partial
from random import Random

from drawing.action_figures import mounts, props
from drawing.action_figures.figure import Act
from drawing.action_figures.skeleton import Pose
from drawing.sketch import Point, Sketch, darker, rgb

NEAR, FAR = 0, 1
# the ranges of heights of objects that hide a rider
BIKE_COVER, HORSE_COVER = (0.4, 0.85), (0.7, 1.2)


def riding_bike(random: Random) -> Act:
    """From the side, or from the front or from behind."""
    if random.random() < 0.45:
        return _bike_head_on(random)
    turn = random.uniform(0, math.tau)
    lean = random.uniform(12, 42)
    pose = Pose((mounts.SADDLE[0] + 0.01, mounts.SADDLE[1] - 0.045), lean, nod=random.uniform(-22, -4))
    for side, at in ((NEAR, turn), (FAR, turn + math.pi)):
        x, y = mounts.pedal(at)
        pose.step_on(side, (x - 0.02, y - 0.04))
        pose.hand_to(side, (mounts.BARS[0], mounts.BARS[1] - 0.01))
    act = Act(pose, wide=0.6, cover=BIKE_COVER)
    colour = random.choice(props.PAINTS)
    basket = random.random() < 0.3
    act.between_legs.append(partial(mounts.bicycle, colour=colour, turn=turn, basket=basket))
    act.between_legs.append(partial(mounts.near_crank, turn=turn))
    return act


def _bike_head_on(random: Random) -> Act:
    """Towards who looks, or away."""
    back = random.random() < 0.5
    pose = Pose((0.0, mounts.SADDLE[1] - 0.045), random.uniform(-4, 4), "back" if back else "front")
    lift = random.uniform(-0.05, 0.05)
    for side, way in ((NEAR, 1), (FAR, -1)):
        pose.ankles[side] = (way * 0.075, -0.295 - way * lift)
        pose.knees[side] = (way * random.uniform(0.09, 0.12), -0.5 - way * lift)
        pose.toes[side] = 100.0 * way if not back else 120.0 * way
        pose.hand_to(side, (way * 0.2, -0.71), bend=way * -1 if not back else -way)
    act = Act(pose, wide=0.24, cover=BIKE_COVER)
    if back:
        act.behind.append(partial(mounts.bars_head_on, back=True))
    act.between_legs.append(partial(mounts.bicycle_head_on, colour=random.choice(props.PAINTS), back=back))
    if not back:
        act.between.append(partial(mounts.bars_head_on, back=False))
    return act


def riding_horse(random: Random) -> Act:
    """From the side, or from the front or from behind."""
    if random.random() < 0.35:
        return _horse_head_on(random)
    gait = random.randrange(4)
    lean = random.uniform(16, 30) if gait == 2 else random.uniform(-4, 8)
    pose = Pose((-0.03, -mounts.BACK_HEIGHT - 0.09), lean, nod=random.uniform(-6, 6))
    for side in (NEAR, FAR):
        pose.step_on(side, (random.uniform(0.0, 0.1), pose.hip[1] + 0.42))
        pose.hand_to(side, (0.26, pose.hip[1] - random.uniform(0.08, 0.16)))
    coat, mane = random.choice(mounts.COATS), random.choice(mounts.MANES)
    phase = random.uniform(0.75, 1.1)
    act = Act(pose, wide=0.62, cover=HORSE_COVER)
    act.behind.append(partial(mounts.horse_far, coat=coat, gait=gait, phase=phase))
    blanket = random.choice(props.PAINTS)
    act.between_legs.append(
        partial(mounts.horse, coat=coat, mane=mane, gait=gait, phase=phase, blanket=blanket)
    )
    act.between.append(partial(_reins, hand=pose.hands[NEAR], bit=mounts.bit(gait)))
    return act


def _horse_head_on(random: Random) -> Act:
    """Towards who looks, or away."""
    back = random.random() < 0.4
    pose = Pose((0.0, -mounts.BACK_HEIGHT - 0.07), random.uniform(-3, 3), "back" if back else "front")
    for side, way in ((NEAR, 1), (FAR, -1)):
        pose.knees[side] = (way * 0.22, pose.hip[1] + 0.14)
        pose.ankles[side] = (way * 0.24, pose.hip[1] + 0.38)
        pose.toes[side] = 60.0 * way
        pose.hand_to(side, (way * 0.05, pose.hip[1] - random.uniform(0.06, 0.16)), bend=-way)
    coat, mane = random.choice(mounts.COATS), random.choice(mounts.MANES)
    blanket, step = random.choice(props.PAINTS), random.choice((0.0, 0.06, -0.06, 0.12))
    act = Act(pose, wide=0.32, cover=HORSE_COVER)
    act.behind.append(
        partial(mounts.horse_head_on, coat=coat, mane=mane, blanket=blanket, step=step, back=back)
    )
    if not back:
        act.between.append(partial(mounts.neck_head_on, coat=coat, mane=mane))
    return act


def _reins(sketch: Sketch, hand: Point, bit: Point) -> None:
    sketch.line(
        [hand, ((hand[0] + bit[0]) / 2, (hand[1] + bit[1]) / 2 + 0.03), bit],
        0.012,
        darker(rgb("7a3626"), 0.2),
    )
