"""Small bag sets, and the objective of bag methods by its definition."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import reference

from ranking import BagSet, ProgressEvent, make_method

STARTS = ("whole image", "centre", "random", "LDA", "self-paced")


def bag_set(
    seed: int = 0, n: int = 24, d: int = 6, positives: int = 8, most: int = 7, dtype: Any = np.float64
) -> BagSet:
    """Images of which the first ones show an object: all of it in one window, some of it in the others."""
    rng = np.random.default_rng(seed)
    relevance, sizes = (np.arange(n) < positives).astype(int), rng.integers(2, most + 1, n)
    starts = np.append(0, np.cumsum(sizes))
    windows = rng.normal(size=(starts[-1], d))
    shown = slice(starts[positives])
    windows[shown, 0] += 3.0 * rng.random(starts[positives])
    windows[starts[:positives] + rng.integers(1, sizes[:positives]), 0] += 3.0
    windows /= np.linalg.norm(windows, axis=1, keepdims=True)
    return BagSet(windows.astype(dtype), starts, boxes_of(rng, starts), relevance)


def boxes_of(rng: np.random.Generator, starts: np.ndarray) -> np.ndarray:
    """Random boxes in images of 100 x 80 pixels, the first of which is the whole image."""
    corners = rng.uniform(0, [50, 40], (starts[-1], 2))
    boxes = np.hstack([corners, corners + rng.uniform(1, [50, 40], (starts[-1], 2))])
    boxes[starts[:-1]] = [0, 0, 100, 80]
    return boxes


def objective(method: Any, weights: np.ndarray, bags: BagSet, fixed: np.ndarray | None = None) -> float:
    """The objective of a method at some weights, by its definition; with `fixed`, the convex bound."""
    # fixed: (n,) the windows of the images that show the object.
    assert bags.relevance is not None
    loss = getattr(getattr(method, "loss", None), "name", None)
    bonus, relevant = method.bonus(bags), bags.relevance > 0
    if fixed is not None:
        free = np.repeat(~relevant, np.diff(bags.starts))
        free[fixed] = True
        bonus = np.where(free, bonus, -np.inf)
    return reference.bag_primal(weights, bags.windows, bags.starts, bonus, relevant, method.C, loss)


def descends(seed: int) -> int:
    """Check that no round of a training run raises the objective; return the number of rounds."""
    # The bound that touches the objective where a round begins is lower where the next one does, and above
    # the objective.
    name = ("Latent AP-SVM", "Latent NDCG-SVM", "MI-SVM")[seed % 3]
    rng = np.random.default_rng([seed, 1])
    bags = bag_set(seed, int(rng.integers(6, 40)), int(rng.integers(2, 9)), int(rng.integers(1, 6)))
    method = make_method(
        name,
        C=10 ** rng.uniform(0, 4),
        start=STARTS[seed % 5],
        size_bonus=float(rng.choice([0.0, 0.1])),
        smallest_window=float(rng.choice([0.0, 0.1])),
        tolerance=1e-4,
        max_iterations=int(rng.choice([2, 10, 5000])),
    )
    weights: dict[int, np.ndarray] = {}

    def record(event: ProgressEvent) -> None:
        assert event.weights is not None
        if event.round not in weights:
            weights[event.round] = event.weights.copy()

    method.fit([bags], record)
    assert method.certificate.converged or method.certificate.iterations == method.max_iterations
    places = list(weights.values())
    values = [objective(method, place, bags) for place in [*places, method.weights]]
    assert all(b <= a * (1 + 1e-12) for a, b in itertools.pairwise(values)), seed
    # the first round begins with the windows of the start
    for number in range(1, len(places) - 1):
        method.weights = places[number]
        bound = objective(method, places[number + 1], bags, method.best_windows(bags))
        assert values[number + 1] * (1 - 1e-12) <= bound, seed
        assert bound <= values[number] * (1 + method.tolerance), seed
    return len(values)
