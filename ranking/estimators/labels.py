"""Estimators of the methods that rank the labels of a sample."""

from __future__ import annotations

from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils.validation import validate_data

from ranking.core import Features, Floats, Ints, LabelSet
from ranking.core.arrays import AnyArray
from ranking.core.errors import InputError
from ranking.estimators.base import MatrixLike, Ranker, Targets, as_groups, checks, refuse_weights
from ranking.methods import label_ranker
from ranking.metrics import scorers


class LabelRanker(Ranker[label_ranker.LabelRanker]):
    """Ranks L labels for each sample by y (n, L), whether a sample has a label: 0 or 1.

    `groups` (n,): samples of one group are in the same fold when one-vs-all SVMs are cross-validated; they have no
    effect after training. X is dense, and is converted to float64. coef_: (L, d) for linear unary scores, without the
    interactions of labels.
    """

    def fit(self, X: MatrixLike, y: Targets, groups: npt.ArrayLike | None = None) -> Self:
        """Train on samples X (n, d) with labels y (n, L); return self."""
        method = self._make()
        samples, labels = validate_data(
            self, X, y, multi_output=True, y_numeric=True, ensure_min_samples=2, **checks(False, X)
        )
        if issparse(labels) or labels.ndim != 2:
            expected = "a dense array of shape (n, L), 0 or 1 for each label"
            raise InputError("y", expected, f"shape {labels.shape}")
        method.fit(_label_set(samples, labels, as_groups(groups, len(samples))))
        self.method_ = method
        return self

    def decision_function(self, X: MatrixLike, groups: npt.ArrayLike | None = None) -> Floats:
        """Return (n, L) the scores that rank the labels of each sample."""
        samples = self._checked(X)
        as_groups(groups, len(samples))
        return self.method_.scores(_label_set(samples, np.zeros((len(samples), len(self.method_.names)))))

    def rank(self, X: MatrixLike, groups: npt.ArrayLike | None = None) -> Ints:
        """Return (n, L) the labels of each sample sorted by falling score."""
        return np.argsort(-self.decision_function(X, groups), axis=1, kind="stable")

    def score(
        self,
        X: MatrixLike,
        y: Targets,
        groups: npt.ArrayLike | None = None,
        *,
        sample_weight: None = None,
    ) -> float:
        """Return the mean average precision, with pessimistic ties, of the labels of samples that have any."""
        refuse_weights(sample_weight)
        return scorers.average_precision(self, X, y, groups)

    def _linear_weights(self) -> Floats | None:
        weights = self.method_.weights
        # the first column is the constant's
        return None if weights is None or self.method_.unary != "linear" else weights.shared[:, 1:]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = tags.target_tags.multi_output = tags.target_tags.two_d_labels = True
        tags.target_tags.single_output = False
        # Each label is a binary class, although this is no classifier: it ranks and predicts no class.
        tags.classifier_tags = ClassifierTags(multi_class=False, multi_label=True)
        return tags


def _label_set(X: Features, y: AnyArray, groups: AnyArray | None = None) -> LabelSet:
    names = tuple(map(str, range(y.shape[1])))
    return LabelSet(X, y, names, groups=groups)  # type: ignore[arg-type]  # None: a group for each
