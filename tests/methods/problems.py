"""Small training problems, and the paper's objectives at a method's weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import reference

from ranking import Query, method_names

LOSS_OF = {"AP-SVM": "ap", "NDCG-SVM": "ndcg"}
ALL = [("SVM", {"solver": solver}) for solver in ("auto", "coordinate descent", "cutting plane")]
ALL += [(name, {}) for name in LOSS_OF]
NAMES = [f"{name} {settings.get('solver', '')}".strip() for name, settings in ALL]


# Coordinate descent moves a variable by at most cost/(2 |x|^2) at a time: where classes overlap in few
# dimensions and C is large, variables at the bound C are reached in C times as many steps.
SLOW_ABOVE = {"coordinate descent": 1.0}


def can_close_the_gap(settings: dict[str, Any], C: float) -> bool:
    return SLOW_ABOVE.get(settings.get("solver", ""), np.inf) >= C


def problem(seed: int = 0, n: int = 40, d: int = 6, positives: int = 10, dtype: Any = np.float64) -> Query:
    """Overlapping classes on the unit sphere, as features come."""
    rng = np.random.default_rng(seed)
    relevance = np.zeros(n, int)
    relevance[rng.permutation(n)[:positives]] = 1
    features = rng.normal(size=(n, d)) + 0.7 * relevance[:, None]
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    return Query(features=features.astype(dtype), relevance=relevance)


def primal_of(name: str, weights: np.ndarray, query: Query, C: float) -> float:
    """The paper's own objective, in float64."""
    assert query.relevance is not None
    relevant = query.relevance > 0
    if name == "SVM":
        return reference.svm_primal(weights, query.features, relevant, C)
    return reference.rank_svm_primal(weights, query.features, relevant, C, LOSS_OF[name])


def outputs_of(name: str, query: Query) -> list[reference.Output]:
    """Every ranking or labelling of a tiny query."""
    assert query.relevance is not None
    features, relevant = query.features.astype(float), query.relevance > 0
    if name == "SVM":
        return reference.labelling_outputs(features, relevant)
    return reference.ranking_outputs(features, relevant, reference.LOSSES[LOSS_OF[name]])


assert set(method_names()) == {name for name, _ in ALL}, "a new method needs its objective here"
