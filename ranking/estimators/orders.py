"""Estimators of the methods that order sequences of graded samples."""

from __future__ import annotations

import warnings
from typing import Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from ranking.core import Features, Floats, Ints, Query, SequenceSet
from ranking.core.arrays import AnyArray
from ranking.core.errors import InputError
from ranking.estimators.base import (
    FROM_SIZES,
    MatrixLike,
    Ranker,
    Targets,
    as_groups,
    checks,
    refuse_weights,
    warn_of_lost_groups,
)
from ranking.methods.order_method import OrderMethod
from ranking.metrics import rank, scorers

SLOW_UNSCALED = "MidRank"
# of the standard deviations of two columns: 1.3 times as long from 1,000 on, 27 times from 10,000 on
RATIO = 1000


class OrderRanker(Ranker[OrderMethod]):
    """Orders samples by grades y (n,), whole numbers from 0, of which the highest comes first.

    `groups` (n,), also called `qid`, say which samples are one sequence, or query; by default all are. They may come
    in any order. X is dense; methods that compute in float64 convert float32. coef_: (d,). n_sequences_: of training.
    """

    def fit(
        self,
        X: MatrixLike,
        y: Targets,
        groups: npt.ArrayLike | None = None,
        qid: npt.ArrayLike | None = None,
        **others: object,
    ) -> Self:
        """Train on samples X (n, d) with grades y (n,); return self. LightGBM's group, sizes, is refused."""
        if others:
            expected = "groups or qid, one per sample"
            remedy = f"use qid=. If {next(iter(others))} has sizes, {FROM_SIZES}"
            raise InputError("fit", expected, ", ".join(others), remedy)
        method, groups = self._make(), _either(groups, qid)
        if groups is None:
            warn_of_lost_groups(self)
        samples, grades = validate_data(self, X, y, y_numeric=True, ensure_min_samples=2, **checks(False, X))
        if method.name == SLOW_UNSCALED:
            _warn_of_scales(samples)
        of_samples = as_groups(groups, len(samples))
        self.n_sequences_ = 1 if of_samples is None else len(np.unique(of_samples))
        method.fit(_sequences(samples, grades, of_samples))
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
        if groups is None and qid is None and getattr(self, "n_sequences_", 1) > 1:
            warnings.warn(
                f"{type(self).__name__} learned {self.n_sequences_:,} sequences, but all samples are scored as one. "
                "Pass qid= to score too; in a search, by set_score_request(qid=True) with metadata routing enabled",
                stacklevel=2,
            )
        return scorers.kendall_tau(self, X, y, _either(groups, qid))

    def _linear_weights(self) -> Floats | None:
        return self.method_.weights if isinstance(self.method_.weights, np.ndarray) else None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _warn_of_scales(X: Features) -> None:
    """Warn of columns whose standard deviations differ so much that training takes many times as long."""
    deviations = np.std(X, axis=0, dtype=np.float64)
    deviations = deviations[deviations > 0]
    if len(deviations) and deviations.max() > RATIO * deviations.min():
        warnings.warn(
            f"the standard deviations of the columns of X are from {deviations.min():.3g} to {deviations.max():.3g}, "
            f"which makes {SLOW_UNSCALED} slow. Scale them first, for example by StandardScaler",
            stacklevel=3,
        )


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
