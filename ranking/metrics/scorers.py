"""Scorers for `scoring=` of scikit-learn: measures of this package, whose ties are pessimistic.

They take binary estimators that have a `decision_function`, and the estimators of `ranking.estimators`.

>>> from sklearn.linear_model import LogisticRegression
>>> average_precision(LogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 0, 1]), [[0.0], [1.0], [2.0]], [0, 0, 1])
1.0
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ranking.core import Floats
from ranking.core.arrays import AnyArray
from ranking.core.errors import InputError
from ranking.metrics import measures

# of grades (n,) and scores (n,)
Measure = Callable[[AnyArray, Floats], float]


@dataclass(frozen=True)
class RankingScorer:
    """`scorer(estimator, X, y)`: the mean of a measure over the rankings by `decision_function`.

    There is one ranking for a binary classifier, whose second class is the relevant one, one for each row of y (n, L),
    and otherwise one for each of the `groups` (n,), by default a single one. Rankings with fewer than `grades`
    different grades, or without a relevant sample, do not count.

    groups are passed on to `decision_function`. scikit-learn passes them to a scorer that requests them by
    `set_score_request(groups=True)`, where `enable_metadata_routing` is set.
    """

    measure: Measure
    grades: int = 1
    requests_groups: bool = False

    def __call__(self, estimator: Any, X: object, y: ArrayLike, groups: ArrayLike | None = None) -> float:
        known = {} if groups is None else {"groups": groups}
        return self.of_scores(estimator, y, estimator.decision_function(X, **known), groups)

    def of_scores(self, estimator: Any, y: ArrayLike, scores: Floats, groups: ArrayLike | None) -> float:
        """Return the mean for `scores` of the estimator's `decision_function`."""
        rankings = _rankings(estimator, np.asarray(y), scores, groups)
        values = [self.measure(*ranking) for ranking in rankings if self._counts(ranking[0])]
        if not values:
            kind = "a relevant sample" if self.grades == 1 else f"{self.grades} different grades"
            raise InputError("y", f"at least one ranking with {kind}", "none", "score on other samples")
        return float(np.mean(values))

    def _counts(self, grades: AnyArray) -> bool:
        return bool(grades.any()) and len(np.unique(grades)) >= self.grades

    def set_score_request(self, *, groups: bool) -> RankingScorer:
        """Return the scorer that requests `groups`, or does not."""
        return replace(self, requests_groups=groups)

    def get_metadata_routing(self) -> object:
        # which takes half a second to load
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        request.score.add_request(param="groups", alias=self.requests_groups)
        return request


def _rankings(
    estimator: Any, y: AnyArray, scores: Floats, groups: ArrayLike | None
) -> Iterator[tuple[AnyArray, Floats]]:
    """Yield grades and scores of each ranking."""
    # which takes a second to load
    from sklearn.base import is_classifier

    if is_classifier(estimator):
        if len(estimator.classes_) != 2:
            raise InputError("estimator", "a classifier of two classes", f"{len(estimator.classes_)} classes")
        yield y == estimator.classes_[1], scores
    elif scores.ndim == 2:
        yield from zip(y, scores, strict=True)
    elif groups is None:
        yield y, scores
    else:
        names, group = np.unique(np.asarray(groups), return_inverse=True)
        for number in range(len(names)):
            yield y[group == number], scores[group == number]


average_precision = RankingScorer(measures.average_precision)
ndcg = RankingScorer(measures.ndcg)
kendall_tau = RankingScorer(measures.kendall_tau, grades=2)


def precision_at(k: int) -> RankingScorer:
    """Return the scorer of precision at k, for rankings of at least k samples."""
    return RankingScorer(partial(measures.precision_at_k, k=k))
