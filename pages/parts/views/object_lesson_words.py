"""Headlines of the lesson about hidden objects, computed from its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ranking.core import Ints
from ranking.explain.localisation import Localisation
from ranking.explain.playback import Frame, part_localisation


class End(NamedTuple):
    """Where training from a start ended: its objective, and CorLoc on the training images."""

    objective: float
    corloc: float


def ends_of(located: Localisation, objects: Sequence[Ints], rows: Ints) -> dict[str, End]:
    """Return the end of each start. rows: the training images."""
    shares = (part_localisation(boxes, objects, rows) or 0.0 for boxes in located.start_boxes)
    return {
        str(name): End(float(objective), share)
        for name, objective, share in zip(located.starts, located.objectives, shares, strict=True)
    }


def of_rounds(query: str, frames: Sequence[Frame], measure: str) -> str:
    """Say what the rounds do to the objective and to CorLoc."""
    first, last = frames[0], frames[-1]
    before, after = first.measures[measure] or 0.0, last.measures[measure] or 0.0
    became = "rises" if after > before else "falls" if after < before else "stays"
    return (
        f"{last.iteration} rounds: the objective falls from {first.primal:.1f} to {last.primal:.1f}; the share of "
        f"training images where the box finds the {query} {became} from {before:.2f} to {after:.2f}"
    )


def of_starts(query: str, ends: Mapping[str, End], start: str) -> str:
    """Compare one start with the lowest end."""
    lowest = min(ends, key=lambda name: ends[name].objective)
    begun, best = ends[start], ends[lowest]
    if lowest == start:
        at = f"objective {begun.objective:.1f}, CorLoc {begun.corloc:.2f}"
        return f"{query.capitalize()}: no start ends lower than “{start}”: {at}"
    box = "better" if best.corloc > begun.corloc else "worse" if best.corloc < begun.corloc else "equal"
    linked = "but" if box == "worse" else "and"
    return (
        f"{query.capitalize()}: “{lowest}” has a lower objective than “{start}” ({best.objective:.1f} "
        f"against {begun.objective:.1f}), {linked} {box} boxes (CorLoc {best.corloc:.2f} against {begun.corloc:.2f})"
    )


def of_part(query: str, boxes: Ints, objects: Sequence[Ints], rows: Ints) -> str:
    """Say how large the boxes are beside the objects. boxes: (n, 4); rows: the training images with the object."""
    shares = [area(boxes[row]) / max(area(box) for box in objects[row]) for row in rows]
    inside = [max(covered(boxes[row], box) for box in objects[row]) for row in rows]
    return (
        f"In the end the median box has {np.median(shares):.0%} of the area of its {query}, and "
        f"{np.median(inside):.0%} of the box is inside the true one"
    )


def area(box: Ints) -> float:
    """
    >>> area(np.array([10, 10, 30, 20]))
    200.0
    """
    return float((box[2] - box[0]) * (box[3] - box[1]))


def covered(box: Ints, by: Ints) -> float:
    """Return the share of a box that is inside another one.

    >>> covered(np.array([0, 0, 10, 10]), np.array([5, 0, 20, 20]))
    0.5
    """
    corners = np.concatenate([np.maximum(box[:2], by[:2]), np.minimum(box[2:], by[2:])])
    return area(corners) / area(box) if (corners[:2] < corners[2:]).all() else 0.0
