"""Where training on bags begins: windows of the images that show the object, or weights.

The objective is not convex, so the result depends on the start. No start uses the true boxes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ranking.core import BagSet, Floats, Ints, blocks_of_rows
from ranking.inference.best_windows import best_windows
from ranking.metrics.detection import overlap
from ranking.solvers.bag_cccp import BagSolution
from ranking.solvers.bag_risk import BagProblem

# windows that are enough for their covariance
MAX_WINDOWS = 20_000
# of the covariance towards a multiple of the identity
SHRINKAGE = 0.1
# of the images that show the object, those with the highest scores first
SHARES = (0.25, 0.5, 0.75)
# problem, start, rounds at most
Descend = Callable[[BagProblem, Floats | Ints, int | None], BagSolution]


def whole_image(bags: BagSet, problem: BagProblem, descend: Descend) -> Ints:
    """Return (n,) the first window of each image."""
    return bags.starts[:-1]


def centre(bags: BagSet, problem: BagProblem, descend: Descend) -> Ints:
    """Return (n,) each image's window that most overlaps the middle half of its width and height."""
    scores = np.empty(len(bags.boxes))
    for first, end in zip(bags.starts[:-1], bags.starts[1:], strict=True):
        left, top, right, bottom = bags.boxes[first]
        width, height = (right - left) / 4, (bottom - top) / 4
        middle = np.array([[left + width, top + height, right - width, bottom - height]])
        scores[first:end] = overlap(bags.boxes[first:end], middle)[:, 0]
    return _best(scores, problem)


def random(bags: BagSet, problem: BagProblem, descend: Descend) -> Ints:
    """Return (n,) a random window of each image, the same each time."""
    return _best(np.random.default_rng(0).random(len(bags.boxes)), problem)


def linear_discriminant(bags: BagSet, problem: BagProblem, descend: Descend) -> Ints:
    """Return (n,) the best windows by linear discriminant analysis (Hariharan et al. 2012)."""
    # w = S^-1 (m1 - m0). m1, m0: the means of all windows of images that show the object and of the others.
    # S: the covariance of all windows, of every few of them where there are many. Windows of the object are
    # the ones that only m1 includes.
    usable = problem.bonus > -np.inf
    shown, hidden = (_mean(bags, usable & (problem.irrelevant_rows == kind)) for kind in (False, True))
    difference = shown - hidden
    rows = np.flatnonzero(usable)
    rows = rows[:: math.ceil(len(rows) / MAX_WINDOWS)]
    centred = bags.windows[rows].astype(np.float64)
    centred -= centred.mean(axis=0)
    covariance = centred.T @ centred / len(rows)
    spread = float(np.trace(covariance)) / len(covariance)
    if spread > 0:
        covariance[np.diag_indices_from(covariance)] += SHRINKAGE * spread
        difference = np.linalg.solve(covariance, difference).astype(np.float64)
    return problem.at(difference).best


def self_paced(bags: BagSet, problem: BagProblem, descend: Descend) -> Floats:
    """Return weights (d,) learned from more and more images that show the object (Kumar et al. 2010)."""
    # Images with the highest scores come first. The scores that choose the first ones are from one round on
    # whole images.
    shown, hidden = np.flatnonzero(problem.relevant), np.flatnonzero(~problem.relevant)
    solution = descend(problem, whole_image(bags, problem, descend), 1)
    for share in SHARES:
        if solution.stopped:
            break
        scores = solution.place.image_scores[shown]
        surest = shown[np.argsort(-scores, kind="stable")[: math.ceil(share * len(shown))]]
        images = np.sort(np.concatenate([surest, hidden]))
        solution = descend(problem.among(images), solution.place.weights, None)
    return solution.place.weights


STARTS: dict[str, Callable[[BagSet, BagProblem, Descend], Floats | Ints]] = {
    "whole image": whole_image,
    "centre": centre,
    "random": random,
    "LDA": linear_discriminant,
    "self-paced": self_paced,
}


def _best(scores: Floats, problem: BagProblem) -> Ints:
    """Return (n,) the windows of the highest scores among those that are not ignored."""
    return best_windows(np.where(problem.bonus > -np.inf, scores, -np.inf), problem.starts)


def _mean(bags: BagSet, chosen: np.ndarray) -> Floats:
    """Return (d,) the mean of the chosen windows, without a float64 copy of all."""
    total = np.zeros(bags.windows.shape[1])
    for rows in blocks_of_rows(bags.windows.shape):
        total += bags.windows[rows][chosen[rows]].sum(axis=0, dtype=np.float64)
    return total / np.count_nonzero(chosen)
