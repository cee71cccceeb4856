"""SVM, AP-SVM and NDCG-SVM trained on features whose rows lie in shards on the workers of a Dask cluster."""

from __future__ import annotations

from typing import TypeVar

import numpy.typing as npt

from ranking.core import Floats, OnProgress, check_relevance
from ranking.core.errors import InputError
from ranking.methods.linear import UnaryMethod
from ranking.solvers import LinearRisk, cutting_plane
from ranking.solvers.shards import ShardedBlock, ShardedFeatures

M = TypeVar("M", bound=UnaryMethod)


def fit_on_shards(
    method: M, features: ShardedFeatures, relevance: npt.ArrayLike, on_progress: OnProgress | None = None
) -> M:
    """Learn from one query, the rows of `features` with their relevance (n,), by one-slack cutting planes; `method`.

    The duality gap is recomputed in float64 where the rows lie: the certificate is that of `fit`. ValueError for a
    method or a solver that reads samples one by one, or relevance without both kinds.
    """
    if not method.sharded:
        raise InputError(
            "method",
            "one whose training needs only products with features, not their rows",
            method.name,
            "choose another method or solver",
        )
    relevant = check_relevance(relevance, len(features)) > 0
    if relevant.all() or not relevant.any():
        raise InputError(
            "relevance", "relevant and irrelevant samples", f"{relevant.sum()} of {len(relevant)} relevant"
        )
    matrix = ShardedBlock(features, method.scale)
    risk = LinearRisk(matrix, method.cost([relevant]), lambda scores: method.cut(scores, relevant))
    method.solution = cutting_plane(risk, method.tolerance, method.max_iterations, on_progress)
    return method


def score_on_shards(method: UnaryMethod, features: ShardedFeatures) -> Floats:
    """(n,) the score of every row, as `method.score` gives it; ValueError unless they are as many features."""
    if features.shape[1] != method.columns:
        raise InputError(
            "features of the shards",
            f"{method.columns} per sample, as {method.name} was trained on",
            features.shape[1],
        )
    assert method.solution is not None
    return ShardedBlock(features, method.scale).exact_scores(method.solution.weights)
