"""Estimators of the methods that order sequences of graded samples."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import validate_data

from ranking.core import Features, Floats, Ints, Query, SequenceSet
from ranking.core.errors import InputError
from ranking.estimators.base import Ranker, as_groups, checks
from ranking.metrics import rank, scorers


class OrderRanker(Ranker):
    """Orders samples by grades y (n,), whole numbers from 0, of which the highest comes first.

    `groups` (n,), also called `qid`, say which samples are one sequence, or query; by default all are. They may come
    in any order. X is dense; methods that compute in float64 convert float32. coef_: (d,).
    """

    def fit(
        self, X: Any, y: Any, groups: npt.ArrayLike | None = None, qid: npt.ArrayLike | None = None
    ) -> Self:
        """Train on samples X (n, d) with grades y (n,); return self."""
        if groups is not None and qid is not None:
            raise InputError("qid", "either groups or qid", "both", "omit one of them")
        method = self._make()
        X, y = validate_data(self, X, y, y_numeric=True, ensure_min_samples=2, **checks(False, X))
        method.fit(_sequences(X, y, as_groups(groups if qid is None else qid, len(X))))
        self.method_ = method
        return self

    def decision_function(self, X: Any, groups: npt.ArrayLike | None = None) -> Floats:
        """Return (n,) the scores of samples; the higher score comes first in its sequence."""
        X = self._checked(X)
        if groups is None:
            alone: Floats = self.method_.score(Query(X))
            return alone
        sequences = _sequences(X, np.zeros(len(X), np.int64), as_groups(groups, len(X)))
        scores = np.empty(len(X))
        scores[sequences.members] = self.method_.score_sequences(sequences)
        return scores

    def rank(self, X: Any) -> Ints:
        """Return (n,) the rows of the sequence X from the first to the last."""
        return rank(self.decision_function(X))

    def score(self, X: Any, y: Any, groups: npt.ArrayLike | None = None) -> float:
        """Return the mean Kendall tau, with pessimistic ties, of the sequences that hold two different grades."""
        return scorers.kendall_tau(self, X, y, groups)

    def _linear_weights(self) -> Floats | None:
        return self.method_.weights if isinstance(self.method_.weights, np.ndarray) else None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _sequences(X: Features, grades: npt.ArrayLike, groups: npt.NDArray[Any] | None) -> SequenceSet:
    """Return one sequence for each group, in the order in which the groups first occur."""
    if groups is None:
        return SequenceSet(X, np.asarray(grades), np.arange(len(X)), np.array([0, len(X)]))
    _, first, group = np.unique(groups, return_index=True, return_inverse=True)
    members = np.argsort(first[group], kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(group)[np.argsort(first)])])
    return SequenceSet(X, np.asarray(grades), members, starts)
