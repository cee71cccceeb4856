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
    before, after = (frame.measures[measure] or 0.0 for frame in (first, last))
    return (
        f"{last.iteration} rounds: objective {first.primal:.1f} → {last.primal:.1f}; {query}s found in training images "
        f"{before:.0%} → {after:.0%}"
    )


def of_starts(query: str, ends: Mapping[str, End], start: str) -> str:
    """Compare one start with the one that ends at the lowest objective."""
    lowest = min(ends, key=lambda name: ends[name].objective)
    own, other = (
        f"“{name}” finds {ends[name].corloc:.0%} of {query}s, objective {ends[name].objective:.1f}"
        for name in (lowest, start)
    )
    return f"{own}; {other}"


def of_part(query: str, boxes: Ints, objects: Sequence[Ints], rows: Ints) -> str:
    """Say how large the boxes are beside the objects. boxes: (n, 4); rows: the training images with the object."""
    shares = [area(boxes[row]) / max(area(box) for box in objects[row]) for row in rows]
    inside = [max(covered(boxes[row], box) for box in objects[row]) for row in rows]
    return (
        f"In the end the median box has {np.median(shares):.0%} of the area of its {query}, and "
        f"{np.median(inside):.0%} of the box is inside the true one"
    )


def area(box: Ints) -> float:
    """Return the area of a box in pixels.

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
