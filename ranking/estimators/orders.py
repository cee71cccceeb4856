"""Estimators of the methods that order sequences of graded samples."""

from __future__ import annotations

from typing import Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from ranking.core import Features, Floats, Ints, Query, SequenceSet
from ranking.core.arrays import AnyArray
from ranking.core.errors import InputError
from ranking.estimators.base import MatrixLike, Ranker, Targets, as_groups, checks, refuse_weights
from ranking.methods.order_method import OrderMethod
from ranking.metrics import rank, scorers


class OrderRanker(Ranker[OrderMethod]):
    """Orders samples by grades y (n,), whole numbers from 0, of which the highest comes first.

    `groups` (n,), also called `qid`, say which samples are one sequence, or query; by default all are. They may come
    in any order. X is dense; methods that compute in float64 convert float32. coef_: (d,).
    """

    def fit(
        self,
        X: MatrixLike,
        y: Targets,
        groups: npt.ArrayLike | None = None,
        qid: npt.ArrayLike | None = None,
    ) -> Self:
        """Train on samples X (n, d) with grades y (n,); return self."""
        method, groups = self._make(), _either(groups, qid)
        samples, grades = validate_data(self, X, y, y_numeric=True, ensure_min_samples=2, **checks(False, X))
        method.fit(_sequences(samples, grades, as_groups(groups, len(samples))))
        self.method_ = method
        return self

    def decision_function(
        self, X: MatrixLike, groups: npt.ArrayLike | None = None, qid: npt.ArrayLike | None = None
    ) -> Floats:
        """Return (n,) the scores of samples; the higher score comes first in its sequence."""
        samples, groups = self._checked(X), _either(groups, qid)
        if groups is None:
            return self.method_.score(Query(samples))
        grades = np.zeros(len(samples), np.int64)
        sequences = _sequences(samples, grades, as_groups(groups, len(samples)))
        scores = np.empty(len(samples))
        scores[sequences.members] = self.method_.score_sequences(sequences)
        return scores

    def rank(
        self, X: MatrixLike, groups: npt.ArrayLike | None = None, qid: npt.ArrayLike | None = None
    ) -> Ints:
        """Return (n,) the rows of X, sequence after sequence, each from its first sample to its last.

        Sequences are in the order in which their groups first occur.
        """
        groups = _either(groups, qid)
        rows = rank(self.decision_function(X, groups))
        if groups is None:
            return rows
        first = _first_rows(np.asarray(groups))
        return rows[np.argsort(first[rows], kind="stable")]

    def score(
        self,
        X: MatrixLike,
        y: Targets,
        groups: npt.ArrayLike | None = None,
        qid: npt.ArrayLike | None = None,
        *,
        sample_weight: None = None,
    ) -> float:
        """Return the mean Kendall tau, with pessimistic ties, of the sequences that hold two different grades."""
        refuse_weights(sample_weight)
        return scorers.kendall_tau(self, X, y, _either(groups, qid))

    def _linear_weights(self) -> Floats | None:
        return self.method_.weights if isinstance(self.method_.weights, np.ndarray) else None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _either(groups: npt.ArrayLike | None, qid: npt.ArrayLike | None) -> npt.ArrayLike | None:
    """Return the groups, or qid, which is another name of them; InputError where both are passed."""
    if groups is not None and qid is not None:
        raise InputError("qid", "either groups or qid", "both", "omit one of them")
    return groups if qid is None else qid


def _sequences(X: Features, grades: npt.ArrayLike, groups: AnyArray | None) -> SequenceSet:
    """Return one sequence for each group, in the order in which the groups first occur."""
    if groups is None:
        return SequenceSet(X, np.asarray(grades), np.arange(len(X)), np.array([0, len(X)]))
    first = _first_rows(groups)
    members, sizes = np.argsort(first, kind="stable"), np.unique(first, return_counts=True)[1]
    return SequenceSet(X, np.asarray(grades), members, np.concatenate([[0], np.cumsum(sizes)]))


def _first_rows(groups: AnyArray) -> Ints:
    """Return (n,) the first row of each sample's group.

    >>> _first_rows(np.array(["b", "a", "b"]))
    array([0, 1, 0])
    """
    _, first, group = np.unique(groups, return_index=True, return_inverse=True)
    return np.asarray(first[group])
