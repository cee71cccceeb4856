"""Small training problems, and the paper's objectives at a method's weights."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference

from ranking import ProgressEvent, Query, SimilarityGraph, StopTraining, make_method, method_names
from ranking.methods import loss_of
from ranking.methods.linear import UnaryMethod
from ranking.solvers import LinearRisk

LOSS_OF = {name: loss for name in method_names("samples") if (loss := loss_of(name)) is not None}


class Heard(list[ProgressEvent]):
    """The progress of a training, as its callback; training is stopped once `last` is true of the events so far."""

    def __init__(self, last: Callable[[list[ProgressEvent]], bool] = lambda events: False) -> None:
        self.last = last

    def __call__(self, event: ProgressEvent) -> None:
        self.append(event)
        if self.last(self):
            raise StopTraining


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


def knotted_problem(seed: int, n: int = 16, m: int = 45) -> Query:
    """One component too large to enumerate, whose pairs tell whether labels are alike, a third of them wrongly."""
    query, rng = problem(seed, n, 3, n // 2), np.random.default_rng([seed, 3])
    pairs = np.stack(np.triu_indices(n, 1), axis=1)
    edges = pairs[rng.permutation(len(pairs))[:m]]
    affinity = rng.uniform(size=(m, 2))
    alike = (query.relevance[edges[:, 0]] == query.relevance[edges[:, 1]]) ^ (rng.random(m) < 0.3)
    affinity[np.arange(m), alike.astype(int)] *= 0.1
    return dataclasses.replace(query, graph=SimilarityGraph(edges, affinity))


Problem = Callable[..., Query]


def flat(weights: Any) -> np.ndarray:
    """All weights of a method in one row: unary and pairwise ones, or those of an array."""
    parts = weights if isinstance(weights, tuple) else (weights,)
    return np.concatenate([np.ravel(part) for part in parts])


def primal_of(name: str, weights: Any, query: Query, C: float, eta: float = 1.0) -> float:
    """The paper's own objective, in float64. Of another method: that of its own most violated output."""
    assert query.relevance is not None
    relevant = query.relevance > 0
    if name == "SVM":
        return reference.svm_primal(weights, query.features, relevant, C)
    if name in LOSS_OF:
        return reference.rank_svm_primal(weights, query.features, relevant, C, LOSS_OF[name])
    square = float(flat(weights) @ flat(weights))
    if name not in ("HOB-SVM", "HOAP-SVM"):
        method, scores = make_method(name), query.features.astype(float) @ weights
        assert isinstance(method, UnaryMethod), f"add the objective of {name}"
        cut = method.cut(scores, relevant)
        return square / 2 + C * float(cut.loss + scores @ cut.coefficients)
    model = reference.pairwise_model(weights, query.features, pairs_of(query), eta)
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
    if name not in LOSS_OF:
        pytest.skip(f"the outputs of {name} are not enumerated")
    return reference.ranking_outputs(features, relevant, reference.definition_of(LOSS_OF[name]))


def bound_of(name: str, query: Query) -> int:
    """How many weights, the last ones, are bound to be <= 0."""
    return pairs_of(query)[1].shape[1] if name == "HOB-SVM" else 0
