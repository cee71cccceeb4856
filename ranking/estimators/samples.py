"""Estimators of the methods that rank samples as relevant or irrelevant."""

from __future__ import annotations

from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import validate_data

from ranking.core import Features, Floats, Ints, Query, SampleMethod, SimilarityGraph
from ranking.core.arrays import AnyArray
from ranking.core.errors import InputError
from ranking.estimators.base import (
    MatrixLike,
    Ranker,
    Targets,
    as_groups,
    checks,
    refuse_weights,
    warn_of_lost_groups,
)
from ranking.methods import score_direction
from ranking.methods.linear import UnaryMethod
from ranking.metrics import rank, scorers
from ranking.solvers.block import SparseBlock


class SampleRanker(ClassifierMixin, Ranker[SampleMethod]):  # type: ignore[misc]  # scikit-learn has no types
    """Ranks samples by y (n,) of two values, of which the greater is relevant: a binary classifier.

    `groups` (n,) are the images of the samples; only methods with a similarity graph use them. Scores have no
    intercept: a ranking loss does not determine where relevant samples end, and `predict` separates them at score 0.
    X may be sparse where training needs only products with X, which then does not become dense. float32 stays as it
    is. X in Fortran order is copied, because training reads rows. classes_: (2,) the values of y. coef_: (1, d).
    """

    def fit(self, X: MatrixLike, y: Targets, groups: npt.ArrayLike | None = None) -> Self:
        """Train on samples X (n, d) with relevance y (n,); return self."""
        return self._fit(X, y, groups, None)

    def decision_function(self, X: MatrixLike, groups: npt.ArrayLike | None = None) -> Floats:
        """Return (n,) the scores of samples; the higher score ranks higher."""
        return self._scores(X, groups, None)

    def predict(self, X: MatrixLike, groups: npt.ArrayLike | None = None) -> AnyArray:
        """Return (n,) the relevant class for scores above 0, and the irrelevant one for all others."""
        return self._predicted(self.decision_function(X, groups))

    def rank(self, X: MatrixLike, groups: npt.ArrayLike | None = None) -> Ints:
        """Return (n,) the rows of X sorted by falling score."""
        return rank(self.decision_function(X, groups))

    def score(
        self,
        X: MatrixLike,
        y: Targets,
        groups: npt.ArrayLike | None = None,
        *,
        sample_weight: None = None,
    ) -> float:
        """Return the average precision, with pessimistic ties, of the ranking of X for relevance y."""
        refuse_weights(sample_weight)
        return scorers.average_precision(self, X, y, groups)

    def _fit(
        self, X: MatrixLike, y: Targets, groups: npt.ArrayLike | None, graph: SimilarityGraph | None
    ) -> Self:
        method = self._make()
        samples, labels = validate_data(self, X, y, ensure_min_samples=2, **checks(method.sharded, X))
        self.classes_ = np.unique(labels)
        if len(self.classes_) != 2:
            raise _not_binary(labels, len(self.classes_))
        relevant = labels == self.classes_[1]
        if issparse(samples) and isinstance(method, UnaryMethod):
            as_groups(groups, samples.shape[0])
            method.fit_matrix(SparseBlock(csr_array(samples), method.scale), relevant)
        else:
            method.fit([self._query(samples, groups, graph, relevant)])
        self.method_ = method
        return self

    def _scores(self, X: MatrixLike, groups: npt.ArrayLike | None, graph: SimilarityGraph | None) -> Floats:
        samples, method = self._checked(X, issubclass(self.method, UnaryMethod)), self.method_
        if issparse(samples) and isinstance(method, UnaryMethod):
            as_groups(groups, samples.shape[0])
            return method.score_matrix(SparseBlock(csr_array(samples), method.scale))
        return method.score(self._query(samples, groups, graph))

    def _predicted(self, scores: Floats) -> AnyArray:
        predicted: AnyArray = self.classes_[(scores > 0).astype(np.int64)]
        return predicted

    def _query(
        self,
        X: Features,
        groups: npt.ArrayLike | None,
        graph: SimilarityGraph | None,
        relevant: AnyArray | None = None,
    ) -> Query:
        images = as_groups(groups, len(X))
        if images is not None and self.method.uses_graph:
            # loads all features
            from ranking.features.graph.similarity import same_image, similarity_graph

            if graph is not None:
                raise InputError("graph", "either groups or a graph", "both", "omit the groups")
            graph = similarity_graph(X, same_image(images))
        return Query(X, relevant, graph)

    def _linear_weights(self) -> Floats | None:
        direction = score_direction(self.method_)
        return None if direction is None else direction[None]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = issubclass(self.method, UnaryMethod)
        return tags


class NeighbourRanker(SampleRanker):
    """Ranks samples by their features and by their neighbours in a similarity graph.

    Samples of one group are neighbours, with affinities computed from their features. To use another similarity graph,
    pass it as `graph` instead of `groups`. It is a graph of the samples X of the same call: a model keeps the weights
    of affinities, not the graph of its training samples. Without groups and graph, no sample has neighbours (edges
    off), also where training had a graph. Cross-validation with metadata routing can split `groups`, but not a
    `graph`.
    """

    def fit(
        self,
        X: MatrixLike,
        y: Targets,
        groups: npt.ArrayLike | None = None,
        graph: SimilarityGraph | None = None,
    ) -> Self:
        """Train on samples X (n, d) with relevance y (n,); return self."""
        if groups is None and graph is None:
            warn_of_lost_groups(self)
        return self._fit(X, y, groups, graph)

    def decision_function(
        self, X: MatrixLike, groups: npt.ArrayLike | None = None, graph: SimilarityGraph | None = None
    ) -> Floats:
        """Return (n,) the differences of max-marginals of samples; the higher score ranks higher."""
        return self._scores(X, groups, graph)

    def predict(
        self, X: MatrixLike, groups: npt.ArrayLike | None = None, graph: SimilarityGraph | None = None
    ) -> AnyArray:
        """Return (n,) the relevant class for scores above 0, and the irrelevant one for all others."""
        return self._predicted(self.decision_function(X, groups, graph))

    def rank(
        self, X: MatrixLike, groups: npt.ArrayLike | None = None, graph: SimilarityGraph | None = None
    ) -> Ints:
        """Return (n,) the rows of X sorted by falling score."""
        return rank(self.decision_function(X, groups, graph))

    def score(
        self,
        X: MatrixLike,
        y: Targets,
        groups: npt.ArrayLike | None = None,
        graph: SimilarityGraph | None = None,
        *,
        sample_weight: None = None,
    ) -> float:
        """Return the average precision, with pessimistic ties, of the ranking of X for relevance y."""
        refuse_weights(sample_weight)
        return scorers.average_precision.of_scores(self, y, self.decision_function(X, groups, graph), groups)


def _not_binary(y: AnyArray, classes: int) -> InputError:
    if classes == 1:
        return InputError("y", "two classes, relevant and irrelevant", "one class")
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    remedy = (
        "pass whether a sample is relevant, such as y > 0 or y == 2. Only binary classification is supported."
    )
    return InputError("y", "two classes, relevant and irrelevant", f"a {kind} target", remedy)
