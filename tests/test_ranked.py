"""A ranking is in order and complete, and its figures agree with the metrics and with what is counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from ranking.metrics import average_precision, break_even_precision, ndcg, ranking_order
from ranking.ranked import Ranking, first_irrelevant, precision_terms, zero_one_at_cut


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


def test_the_first_irrelevant_is_found_wherever_it_stands() -> None:
    for rank in range(1, 6):
        relevance = np.array([2] * (rank - 1) + [0, 1, 0])
        assert first_irrelevant(relevance) == rank
    assert first_irrelevant(np.ones(3, int)) is None


def test_the_terms_of_average_precision_have_it_as_their_mean() -> None:
    relevance = np.array([0, 1, 1, 0, 2])
    assert precision_terms(relevance) == [(1, 2), (2, 3), (3, 5)]
    mean = np.mean([relevant / rank for relevant, rank in precision_terms(relevance)])
    assert mean == pytest.approx(average_precision(relevance, -np.arange(5)))


def test_the_loss_at_the_cut_follows_from_the_break_even_precision() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        relevance = rng.integers(0, 2, 9)
        relevance[0] = 1
        share = 1 - break_even_precision(relevance, -np.arange(9))
        assert zero_one_at_cut(relevance) == pytest.approx(2 * relevance.sum() * share / 9)
