"""A ranking is in order and complete, and its figures are those of the metrics. Doctests test the rest."""

from __future__ import annotations

import numpy as np
from refusals import refused

from ranking.metrics import average_precision, ndcg, ranking_order
from ranking.ranked import Ranking


def test_samples_are_put_in_order_and_measured_in_it() -> None:
    rng = np.random.default_rng(0)
    relevance, scores = rng.integers(0, 2, 30), rng.integers(-4, 5, 30).astype(np.float64)
    rows = rng.permutation(100)[:30]
    ranked = Ranking.of(rows, relevance, scores)
    order = ranking_order(relevance, scores)
    for ordered, given in ((ranked.samples, rows), (ranked.relevance, relevance), (ranked.scores, scores)):
        np.testing.assert_array_equal(ordered, given[order])
    assert (len(ranked), ranked.positives) == (30, relevance.sum())
    assert ranked.average_precision == average_precision(relevance, scores)
    assert ranked.ndcg == ndcg(relevance, scores)
    precision, recall = ranked.curve
    for k in range(1, 31):
        relevant = relevance[order][:k].sum()
        assert (precision[k - 1], recall[k - 1]) == (relevant / k, relevant / relevance.sum())


def test_what_is_no_ranking_is_refused() -> None:
    three = np.arange(3)
    for columns in ((three, np.array([1, 0]), np.zeros(3)), np.zeros((3, 1, 3), int)):
        with refused("samples, relevance and scores"):
            Ranking(*columns)  # type: ignore[arg-type]
    with refused("scores") as caught:
        Ranking(three, np.array([1, 0, 1]), np.array([2.0, 1.0, 1.5]))
    assert "2" in str(caught.value.came), "the rank before the higher score"
    Ranking(three, np.array([1, 0, 1]), np.array([np.inf, np.inf, -np.inf]))
