"""Actions on foot: jumping, running, walking."""

from __future__ import annotations

from random import Random

from drawing.action_figures.carried import carry
from drawing.action_figures.figure import Act
from drawing.action_figures.skeleton import Pose, standing

NEAR, FAR = 0, 1


def jumping(random: Random) -> Act:
    """In the air: a star, a tucked leap, or a hop with the arms up."""
    kind = random.choice(("star", "leap", "leap", "hop", "hop", "tuck"))
    lift = random.choice((random.uniform(0.02, 0.1), random.uniform(0.06, 0.3)))
    if kind == "star":
        spread = random.uniform(14, 36)
        pose = standing(0, ((spread, 0), (-spread, 0)), random.choice(("front", "front", "back")), lift=lift)
        up = random.uniform(112, 160)
        pose.swing_arm(NEAR, up, random.uniform(0, 25))
        pose.swing_arm(FAR, -up, -random.uniform(0, 25))
    elif kind == "leap":
        legs = (
            (random.uniform(35, 65), random.uniform(5, 50)),
            (-random.uniform(15, 50), random.uniform(15, 80)),
        )
        pose = standing(random.uniform(-6, 14), legs, lift=lift)
        pose.swing_arm(NEAR, random.uniform(-70, 20), random.uniform(0, 70))
        pose.swing_arm(FAR, random.uniform(60, 150), random.uniform(0, 40))
    else:
        bend = random.uniform(10, 35) if kind == "hop" else random.uniform(80, 115)
        thigh = bend * random.uniform(0.3, 0.75)
        pose = standing(random.uniform(-4, 10), ((thigh, bend), (thigh - 10, bend + 10)), lift=lift)
        for side in (NEAR, FAR):
            pose.swing_arm(side, random.uniform(70, 165), random.uniform(0, 40))
    return Act(pose, raised=lift)


def walking(random: Random) -> Act:
    stride = random.uniform(7, 30)
    legs = [(stride, random.uniform(0, 10)), (-stride, random.uniform(8, 34))]
    if random.random() < 0.5:
        legs.reverse()
    view = random.choice(("side", "side", "side", "front", "back"))
    if view != "side":
        pose = standing(random.uniform(-2, 2), ((3, 0), (-3, 0)), view)
        step(pose, random)
        return _busy(random, Act(pose), 0.6)
    pose = standing(random.uniform(0, 9), legs, nod=random.uniform(-4, 16))
    forward = 1 if legs[0][0] > 0 else -1
    for side, way in ((NEAR, -forward), (FAR, forward)):
        pose.swing_arm(side, way * stride * random.uniform(0.6, 1.3), random.uniform(6, 60))
    return _busy(random, Act(pose), 0.6)


def running(random: Random) -> Act:
    if random.random() < 0.3:
        return _running_head_on(random)
    stride = random.uniform(14, 50)
    legs = [(stride, random.uniform(4, 55)), (-stride * random.uniform(0.5, 0.9), random.uniform(18, 90))]
    if random.random() < 0.5:
        legs.reverse()
    lift = random.choice((0.0, random.uniform(0.0, 0.12)))
    pose = standing(random.uniform(4, 19), legs, lift=lift)
    forward = 1 if legs[0][0] > 0 else -1
    for side, way in ((NEAR, -forward), (FAR, forward)):
        pose.swing_arm(side, way * stride * random.uniform(0.7, 1.3) - 8, random.uniform(20, 105))
    return _busy(random, Act(pose, raised=lift), 0.25)


def _running_head_on(random: Random) -> Act:
    """Run towards or away from the viewer: the shin of one leg is hidden behind its thigh."""
    view = random.choice(("front", "back"))
    pose = standing(random.uniform(-4, 4), ((3, 0), (-3, 0)), view, lift=random.uniform(0, 0.05))
    side = random.choice((NEAR, FAR))
    x, y = pose.ankles[side]
    pose.ankles[side] = (x * 0.8, y - random.uniform(0.1, 0.2))
    pose.swing_arm(NEAR, random.uniform(10, 30), -random.uniform(60, 130))
    pose.swing_arm(FAR, -random.uniform(10, 30), random.uniform(60, 130))
    return _busy(random, Act(pose), 0.25)


def step(pose: Pose, random: Random) -> None:
    """Step towards or away from the viewer: one foot is off the ground, its shin foreshortened."""
    side = random.choice((NEAR, FAR))
    x, y = pose.ankles[side]
    pose.ankles[side] = (x * 0.7, y - random.uniform(0.03, 0.1))
    pose.swing_arm(NEAR, random.uniform(4, 16), -random.uniform(0, 25))
    pose.swing_arm(FAR, -random.uniform(4, 16), random.uniform(0, 25))


def _busy(random: Random, act: Act, chance: float) -> Act:
    """Return `act`, with probability `chance` with an object in its hands."""
    if random.random() < chance:
        carry(random, act)
    return act
