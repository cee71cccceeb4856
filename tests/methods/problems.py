"""Small training problems, and the paper's objectives at a method's weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference

from ranking import Query, SimilarityGraph, method_class, method_names
from ranking.optimise import LinearRisk

LOSS_OF = {"AP-SVM": "ap", "NDCG-SVM": "ndcg"}
TWO_ROWS = ("SVM", "HOB-SVM", "HOAP-SVM")


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


def similar_problem(
    seed: int = 0, n: int = 40, d: int = 6, positives: int = 10, dtype: Any = np.float64
) -> Query:
    """The same, where up to four samples, mostly of one label, are similar to each other."""
    alone = problem(seed, n, d, positives, dtype)
    return Query(alone.features, alone.relevance, similar(alone, seed))


def similar(query: Query, seed: int = 0) -> SimilarityGraph:
    """Affinities of one entry more than there are features, so that the two cannot be mistaken."""
    rng = np.random.default_rng([seed, 1])
    n, d = query.features.shape
    order = np.argsort(query.relevance + 0.5 * rng.normal(size=n))
    pairs = [(order[i], order[j]) for i in range(n) for j in range(i + 1, min(n, i + 4)) if i // 4 == j // 4]
    kept = [rng.permutation(pair) for pair in pairs if rng.uniform() < 0.8]
    edges = np.array(kept, int).reshape(-1, 2)
    return SimilarityGraph(edges, rng.uniform(size=(len(edges), d + 1)).astype(query.features.dtype))


Problem = Callable[..., Query]


def kinds_of(name: str) -> list[Problem]:
    """The problems that a method is tried on: with a graph too where it leans on one."""
    return [problem, similar_problem] if getattr(method_class(name), "uses_graph", False) else [problem]


Case = tuple[str, dict[str, Any], Problem]
ALL: list[Case] = [
    ("SVM", {"solver": solver}, problem) for solver in ("auto", "coordinate descent", "cutting plane")
]
ALL += [(name, {}, make) for name in (*LOSS_OF, "HOB-SVM", "HOAP-SVM") for make in kinds_of(name)]
CONVEX = [case for case in ALL if case[0] != "HOAP-SVM"]  # whose certificate is of the global optimum


def convex(name: str, make: Problem) -> bool:
    """Whether training has one optimum, wherever it begins: HOAP-SVM has without similar samples."""
    return name != "HOAP-SVM" or make is problem


def name_of_case(case: Case) -> str:
    name, settings, make = case
    return " ".join(
        filter(None, [name, settings.get("solver"), "similar" if make is similar_problem else ""])
    )


EVERY_METHOD = pytest.mark.parametrize(("name", "settings", "problem"), ALL, ids=map(name_of_case, ALL))
CONVEX_METHODS = pytest.mark.parametrize(
    ("name", "settings", "problem"), CONVEX, ids=map(name_of_case, CONVEX)
)


def flat(weights: Any) -> np.ndarray:
    """All weights of a method in one row: unary and pairwise ones, or those of an array."""
    parts = weights if isinstance(weights, tuple) else (weights,)
    return np.concatenate([np.ravel(part) for part in parts])


def primal_of(name: str, weights: Any, query: Query, C: float, eta: float = 1.0) -> float:
    """The paper's own objective, in float64."""
    assert query.relevance is not None
    relevant = query.relevance > 0
    if name == "SVM":
        return reference.svm_primal(weights, query.features, relevant, C)
    if name in LOSS_OF:
        return reference.rank_svm_primal(weights, query.features, relevant, C, LOSS_OF[name])
    model = reference.pairwise_model(weights, query.features, pairs_of(query), eta)
    square = float(flat(weights) @ flat(weights))
    if name == "HOB-SVM":
        return square / 2 + C * reference.labelling_slack(*model, relevant)
    scores = reference.differences_of(*model)
    return square / 2 + C * reference.ranking_slack(scores, relevant, "ap")


def value_of(risk: LinearRisk, weights: np.ndarray) -> float:
    """What a risk says of weights, in float64."""
    scores = risk.exact_scores(weights)
    return risk.objective(weights, scores, risk.oracle(scores))


def pairs_of(query: Query) -> reference.Pairs:
    """The edges of a query and their affinities, in float64; none where it has no graph."""
    if query.graph is None:
        return np.empty((0, 2), int), np.empty((0, 0))
    return query.graph.edges, query.graph.affinity.astype(float)


def outputs_of(name: str, query: Query, eta: float = 1.0) -> list[reference.Output]:
    """Every ranking or labelling of a tiny query."""
    assert query.relevance is not None
    features, relevant = query.features.astype(float), query.relevance > 0
    if name == "SVM":
        return reference.labelling_outputs(features, relevant)
    if name == "HOB-SVM":
        return reference.labelling_outputs(features, relevant, pairs_of(query), eta)
    return reference.ranking_outputs(features, relevant, reference.LOSSES[LOSS_OF[name]])


def bound_of(name: str, query: Query) -> int:
    """How many weights, the last ones, are bound to be <= 0."""
    return pairs_of(query)[1].shape[1] if name == "HOB-SVM" else 0


assert set(method_names(ranks="samples")) == {name for name, _, _ in ALL}, (
    "a new method needs its objective here"
)
