"""Random problems, solved by our solvers and by the programs in CVXPY that are written on a blackboard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import reference
from order_problems import rows_of, sequences
from problems import pairs_of, problem, similar_problem

from ranking import Certificate, Query, make_method
from ranking.explain import programs
from ranking.methods.hoap_svm import HOAPSVM, Surrogate
from ranking.methods.oracles import by_query, ranking_cut
from ranking.methods.training_set import TrainingSet
from ranking.solvers import cutting_plane

TOLERANCE = 2e-7
ETA = 0.7


def cost_of(seed: int) -> float:
    """C from 0.03 to 300."""
    return 10.0 ** np.random.default_rng([seed, 2]).uniform(-1.5, 2.5)


def trained(name: str, query: Query, C: float, **settings: Any) -> Any:
    return make_method(name, C=C, tolerance=TOLERANCE, **settings).fit([query])


def svm(seed: int) -> tuple[Certificate, list[float]]:
    query, C = problem(seed, n=30), cost_of(seed)
    method = trained("SVM", query, C, unit="paper")
    return method.certificate, [programs.svm(query.features, query.relevance > 0, C).value]


def hob_svm(seed: int) -> tuple[Certificate, list[float]]:
    query, C = similar_problem(seed, n=24), cost_of(seed)
    method = trained("HOB-SVM", query, C, unit="paper", eta=ETA)
    graph = pairs_of(query)
    return method.certificate, [programs.hob_svm(query.features, query.relevance > 0, *graph, C, ETA).value]


def rank_svm(seed: int) -> tuple[Certificate, list[float]]:
    data, C = sequences(seed, pool=20, count=8), cost_of(seed)
    certificate = make_method("RankSVM", C=C, tolerance=TOLERANCE).fit(data).certificate
    pairs = np.array(reference.graded_pairs(data.grades.tolist(), rows_of(data)))
    return certificate, [programs.rank_svm(data.features, pairs, C).value]


def planes(seed: int) -> tuple[Certificate, list[float]]:
    """The planes with which training of AP-SVM ends, primal and dual."""
    method = trained("AP-SVM", problem(seed), C := cost_of(seed))
    kept = method.solution.working_set
    primal = programs.planes_primal([(kept.normals, kept.losses)], C)
    return method.certificate, [primal.value, programs.planes_dual(kept.normals, kept.losses, C).value]


def hoap_round(seed: int) -> tuple[Certificate, list[float]]:
    """A round that begins at random weights, over all rankings."""
    query, C, rng = similar_problem(seed, n=6, d=3, positives=2), cost_of(seed), np.random.default_rng(seed)
    relevant, (edges, affinity) = query.relevance > 0, pairs_of(query)
    samples, method = TrainingSet.of([query]), HOAPSVM(C=C, eta=ETA)
    ranking = by_query(lambda scores, of: ranking_cut(scores, of, "ap"), samples)
    neighbours = method.neighbours(samples)
    upper = Surrogate(method.risk_of(samples, ranking, neighbours), neighbours, ranking)
    direction, pairwise = rng.normal(size=3), -rng.uniform(size=affinity.shape[1])
    touching = upper.touching(np.append(direction, pairwise)).risk
    ours = cutting_plane(touching, TOLERANCE).certificate
    every = reference.ranking_outputs(np.eye(6), relevant, reference.ap_loss)
    rows = np.unique([[*np.abs(coefficients), loss] for coefficients, loss in every], axis=0)
    at = np.stack([direction, -direction]) / np.sqrt(2.0), pairwise
    graph = edges, affinity, C, ETA
    twin = programs.hoap_round(query.features, relevant, *graph, rows[:, :-1], rows[:, -1], at)
    return ours, [twin.value]


TWINS: dict[str, Callable[[int], tuple[Certificate, list[float]]]] = {
    each.__name__: each for each in (svm, hob_svm, rank_svm, planes, hoap_round)
}


def farthest(name: str, seeds: range) -> tuple[float, int]:
    """The largest relative distance of both optima, and its seed."""
    apart = []
    for seed in seeds:
        certificate, values = TWINS[name](seed)
        assert certificate.converged, seed
        apart += [(abs(value - certificate.primal) / certificate.primal, seed) for value in values]
    return max(apart)
