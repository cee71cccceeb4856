"""Jointed skeletons: the joints of a body, set by angles or by target points of hands and feet.

Units: an adult is about one high. The origin is on the ground below the hip, x points to where the person faces, y
points down (so heads have negative y). Side 0 is nearer to the viewer, side 1 farther away.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from drawing.sketch import Point

THIGH, SHIN = 0.235, 0.235
UPPER_ARM, FOREARM = 0.16, 0.165
# hip to shoulders, shoulders to the middle of the head
TORSO, NECK = 0.275, 0.135
# ankle above the ground
SOLE = 0.035
SIDES = (0, 1)
# half of the visible distance between them
SHOULDERS = {"side": 0.022, "front": 0.1, "back": 0.1}
HIPS = {"side": 0.014, "front": 0.05, "back": 0.05}


class Pose:
    """Joints of one body, in lists with one entry per side."""

    def __init__(self, hip: Point, lean: float, view: str = "side", nod: float = 0.0) -> None:
        # "side", "front" or "back".
        self.view = view
        self.hip = hip
        self.lean = lean
        # degrees by which the head looks down
        self.nod = nod
        self.chest = along(hip, 180 - lean, TORSO)
        self.head = along(self.chest, 180 - lean * 0.6 - nod * 0.5, NECK)
        self.knees: list[Point] = [hip, hip]
        self.ankles: list[Point] = [hip, hip]
        # direction of each foot, degrees from down to forward
        self.toes: list[float] = [90.0, 90.0]
        self.elbows: list[Point] = [self.chest, self.chest]
        self.hands: list[Point] = [self.chest, self.chest]

    def shoulder(self, side: int) -> Point:
        return self.chest[0] + SHOULDERS[self.view] * _sign(side), self.chest[1] + 0.015

    def hip_joint(self, side: int) -> Point:
        return self.hip[0] + HIPS[self.view] * _sign(side), self.hip[1]

    def swing_leg(self, side: int, thigh: float, bend: float, toe: float | None = None) -> None:
        """Thigh by degrees from down to forward, the knee bent backwards by `bend`."""
        self.knees[side] = along(self.hip_joint(side), thigh, THIGH)
        self.ankles[side] = along(self.knees[side], thigh - bend, SHIN)
        self.toes[side] = 90 + (thigh - bend) * 0.6 if toe is None else toe

    def step_on(self, side: int, target: Point, toe: float = 90.0, bend: float = -1) -> None:
        """Bend the knee so that the ankle comes to `target`, as near as the leg reaches."""
        self.knees[side], self.ankles[side] = reach(self.hip_joint(side), target, THIGH, SHIN, bend)
        self.toes[side] = toe

    def swing_arm(self, side: int, upper: float, bend: float) -> None:
        """Upper arm by degrees from down to forward, the elbow bent forwards by `bend`."""
        self.elbows[side] = along(self.shoulder(side), upper, UPPER_ARM)
        self.hands[side] = along(self.elbows[side], upper + bend, FOREARM)

    def hand_to(self, side: int, target: Point, bend: float = 1) -> None:
        """Bend the elbow so that the hand comes to `target`, as near as the arm reaches."""
        self.elbows[side], self.hands[side] = reach(self.shoulder(side), target, UPPER_ARM, FOREARM, bend)

    def drop(self, lift: float = 0.0) -> None:
        """Move the whole body so that its lower foot is `lift` above the ground."""
        low = max(ankle[1] for ankle in self.ankles) + SOLE
        self.move(0.0, -low - lift)

    def move(self, across: float, down: float) -> None:
        """Move every joint."""
        for name in ("hip", "chest", "head"):
            x, y = getattr(self, name)
            setattr(self, name, (x + across, y + down))
        for joints in (self.knees, self.ankles, self.elbows, self.hands):
            joints[:] = [(x + across, y + down) for x, y in joints]


def standing(
    lean: float, legs: Sequence[tuple[float, float]], view: str = "side", nod: float = 0.0, lift: float = 0.0
) -> Pose:
    """Return a pose on its feet, or `lift` above the ground, with hanging arms."""
    # legs: (thigh, bend) of each side.
    pose = Pose((0.0, -THIGH - SHIN - SOLE), lean, view, nod)
    for side in SIDES:
        pose.swing_leg(side, *legs[side])
    if view != "side":
        pose.toes = [100.0, -100.0] if view == "front" else [120.0, -120.0]
    pose.drop(lift)
    for side in SIDES:
        pose.swing_arm(side, 6 * _sign(side) if view != "side" else 4 - 10 * side, 10)
    return pose


def seated(height: float, lean: float, feet: Sequence[Point], view: str = "side", nod: float = 0.0) -> Pose:
    """Return a pose with the hip on a seat of `height`, the soles at `feet` and hanging arms."""
    pose = Pose((0.0, -height - 0.055), lean, view, nod)
    for side in SIDES:
        x, y = feet[side]
        if view == "side":
            pose.step_on(side, (x, y - SOLE))
        else:
            # thighs point towards or away from the viewer: they are foreshortened
            pose.knees[side] = (0.085 * _sign(side), pose.hip[1] + 0.05)
            pose.ankles[side] = (0.075 * _sign(side), -SOLE)
            pose.toes[side] = 100.0 * _sign(side)
        pose.swing_arm(side, 20, 30)
    return pose


def reach(root: Point, target: Point, upper: float, lower: float, bend: float) -> tuple[Point, Point]:
    """Return the joint and the end of two bones from `root` towards `target`.

    bend: 1 or -1, the side of the joint. If the target is out of reach, the limb is (almost) straight.

    >>> joint, end = reach((0, 0), (1, 0), 1, 1, 1)
    >>> [round(x, 3) for x in (*joint, *end)]
    [0.5, 0.866, 1.0, 0.0]
    """
    dx, dy = target[0] - root[0], target[1] - root[1]
    distance = min(max(math.hypot(dx, dy), abs(upper - lower) + 0.02), (upper + lower) * 0.995)
    forward = math.atan2(dy, dx)
    cosine = (upper**2 + distance**2 - lower**2) / (2 * upper * distance)
    turn = forward + bend * math.acos(max(-1.0, min(1.0, cosine)))
    joint = root[0] + upper * math.cos(turn), root[1] + upper * math.sin(turn)
    end = root[0] + distance * math.cos(forward), root[1] + distance * math.sin(forward)
    return joint, end


def along(start: Point, degrees: float, length: float) -> Point:
    """Return the point at `length` from `start`; 0 degrees is down, 90 forward."""
    turn = math.radians(degrees)
    return start[0] + length * math.sin(turn), start[1] + length * math.cos(turn)


def _sign(side: int) -> int:
    return 1 if side == 0 else -1
