"""Scorers measure the rankings of estimators as `ranking.metrics` measures scores."""

from __future__ import annotations

import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from refusals import refused
from sklearn.base import is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score

from ranking import metrics
from ranking.metrics import scorers

X = np.array([[0.9], [0.9], [0.5], [0.1], [0.7]])


class Column:
    """Scores samples by their only feature; labels by it and its negative where there are `labels`."""

    def __init__(self, labels: int = 0) -> None:
        self.labels = labels

    def decision_function(self, X: Any, groups: Any = None) -> np.ndarray:
        return np.hstack([X, -X]) if self.labels else X[:, 0]

    def __sklearn_tags__(self) -> Any:
        return SimpleNamespace(estimator_type=None)


@pytest.mark.parametrize(
    ("scorer", "measure"),
    [
        (scorers.average_precision, metrics.average_precision),
        (scorers.ndcg, metrics.ndcg),
        (scorers.kendall_tau, metrics.kendall_tau),
        (scorers.precision_at(2), lambda *ranking: metrics.precision_at_k(*ranking, k=2)),
    ],
)
def test_a_scorer_is_the_measure_of_the_scores(scorer: scorers.RankingScorer, measure: Any):
    grades = [2, 0, 1, 0, 0]
    assert not is_classifier(Column())
    assert scorer(Column(), X, grades) == measure(grades, X[:, 0])
    assert pickle.loads(pickle.dumps(scorer))(Column(), X, grades) == measure(grades, X[:, 0])
    groups = ["b", "b", "a", "a", "a"]
    parts = [measure([2, 0], [0.9, 0.9]), measure([1, 0, 0], [0.5, 0.1, 0.7])]
    assert scorer(Column(), X, grades, groups) == np.mean(parts)


def test_ties_are_pessimistic_and_undefined_rankings_do_not_count():
    assert scorers.average_precision(Column(), X, [1, 0, 0, 0, 0]) == 0.5
    assert scorers.average_precision(Column(), X, [1, 0, 0, 0, 0], [0, 0, 1, 1, 1]) == 0.5
    assert scorers.kendall_tau(Column(), X, [1, 1, 2, 1, 1], [0, 0, 1, 1, 1]) == 0.0
    with refused("y"):
        scorers.average_precision(Column(), X, [0, 0, 0, 0, 0])
    with refused("y"):
        scorers.kendall_tau(Column(), X, [1, 1, 1, 1, 1])


def test_labels_are_ranked_for_each_row():
    y = np.array([[1, 0], [0, 1], [0, 0], [1, 1], [1, 0]])
    assert scorers.average_precision(Column(labels=2), X, y) == np.mean([1.0, 0.5, 1.0, 1.0])


def test_the_second_class_of_a_classifier_is_the_relevant_one():
    rng = np.random.default_rng(0)
    features, y = rng.standard_normal((60, 2)), np.arange(60) % 3 == 0
    features[y] += 0.5
    names = np.where(y, "yes", "no")
    scores = LogisticRegression().fit(features, names).decision_function(features)
    fitted = LogisticRegression().fit(features, names)
    assert scorers.ndcg(fitted, features, names) == metrics.ndcg(y, scores)
    folds = list(StratifiedKFold(3).split(features, names))
    values = cross_val_score(LogisticRegression(), features, names, scoring=scorers.precision_at(5), cv=folds)
    for value, (train, test) in zip(values, folds, strict=True):
        scores = LogisticRegression().fit(features[train], names[train]).decision_function(features[test])
        assert value == metrics.precision_at_k(y[test], scores, k=5)
    with refused("estimator", "3 classes"):
        three = np.arange(60) % 3
        scorers.ndcg(LogisticRegression().fit(features, three), features, three)
