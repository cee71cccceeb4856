"""Small sets of images with labels, and the paper's objective at a method's weights."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import reference

from ranking import LabelSet, make_method
from ranking.solvers.top_k_risk import TopKRisk


def images(
    seed: int = 0, count: int = 14, columns: int = 3, labels: int = 5, dtype: Any = np.float64
) -> LabelSet:
    """Labels that follow the features and each other; one image without labels and one with all."""
    rng = np.random.default_rng(seed)
    features = rng.random((count, columns))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    strengths = features @ rng.normal(size=(columns, labels)) + 0.5 * rng.normal(size=(count, labels))
    marks = strengths > 0.2
    marks[:, 1] |= marks[:, 0] & (rng.random(count) < 0.7)
    marks[0], marks[1], marks[2, 0], marks[2, 1] = False, True, True, False
    return LabelSet(features.astype(dtype), marks, tuple(f"label {i}" for i in range(labels)))


def flat(method: Any) -> np.ndarray:
    """All weights in one row, each pair of labels once: as `reference.top_k_features`."""
    shared, own, interactions = method.weights
    whole, core = reference.whole(method.core, interactions), set(method.core.tolist())
    pairs = itertools.combinations(range(len(own)), 2)
    return np.concatenate([shared.ravel(), own, [whole[i, j] for i, j in pairs if {i, j} & core]])


def outputs_of(method: Any, label_set: LabelSet) -> list[list[reference.Output]]:
    """Every output of every image, beside the labels that it has: break-even."""
    _, (shared, own) = type(method.features).fitted(label_set, method.gamma)
    core = method.core.tolist()
    return [
        reference.top_k_outputs(x, y, z, z, int(z.sum()), core)
        for x, y, z in zip(shared, own, label_set.labels, strict=True)
    ]


def tightest_objective(method: Any, label_set: LabelSet) -> float:
    """The objective with eq. 8: beside the output of least loss and greatest score, by enumeration."""
    weights, core, k = flat(method), method.core.tolist(), method.k
    _, (shared, own) = type(method.features).fitted(label_set, method.gamma)
    slacks = []
    for x, y, z in zip(shared, own, label_set.labels, strict=True):
        scores = [
            (float(weights @ reference.top_k_features(t, x, y, core)), float((t & ~z).sum()) / k)
            for t in reference.top_ks(len(z), k)
        ]
        least = min(loss for _, loss in scores)
        right = max(score for score, loss in scores if loss == least)
        slacks.append(max(score + loss for score, loss in scores) - right)
    return float(weights @ weights) / 2 + method.C * float(np.mean(slacks))


def small_risk(seed: int) -> TopKRisk:
    """That of break-even on images with features of both kinds, and a core of two labels."""
    label_set = images(seed, labels=6)
    method = make_method("C-star p@k", core_size=2, C=20.0, max_iterations=1).fit(label_set)
    _, label_features = type(method.features).fitted(label_set, method.gamma)
    return method.risk(label_set, label_features, method.core)
