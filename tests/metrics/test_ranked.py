"""Rankings in order, and several of the same samples beside each other.

Doctests test the rest.
"""

from __future__ import annotations

import numpy as np
import pytest
from reference import average_precision_of, precision_of
from refusals import refused

from ranking.metrics import average_precision, ndcg, ranking_order
from ranking.metrics.comparison import Comparison, largest
from ranking.metrics.ranked import Ranking


def test_a_ranking_sorts_samples_and_measures_their_order():
    rng = np.random.default_rng(0)
    relevance, scores = rng.integers(0, 2, 30), rng.integers(-4, 5, 30).astype(np.float64)
    rows = rng.permutation(100)[:30]
    ranked = Ranking.of(rows, relevance, scores)
    order = ranking_order(relevance, scores)
    for ordered, column in ((ranked.samples, rows), (ranked.relevance, relevance), (ranked.scores, scores)):
        np.testing.assert_array_equal(ordered, column[order])
    assert (len(ranked), ranked.positives) == (30, relevance.sum())
    assert ranked.average_precision == average_precision(relevance, scores)
    assert ranked.ndcg == ndcg(relevance, scores)
    precision, recall = ranked.curve
    for k in range(1, 31):
        relevant = relevance[order][:k].sum()
        assert (precision[k - 1], recall[k - 1]) == (relevant / k, relevant / relevance.sum())


def test_invalid_rankings_are_refused():
    three = np.arange(3)
    for columns in ((three, np.array([1, 0]), np.zeros(3)), np.zeros((3, 1, 3), int)):
        with refused("samples, relevance and scores"):
            Ranking(*columns)
    with refused("scores") as caught:
        Ranking(three, np.array([1, 0, 1]), np.array([2.0, 1.0, 1.5]))
    assert "2" in str(caught.value.came), "the rank before the higher score"
    Ranking(three, np.array([1, 0, 1]), np.array([np.inf, np.inf, -np.inf]))


def rankings_of(seed):
    """Three rankings of the same samples, rows of a larger set, each shuffled; some scores are equal."""
    generator = np.random.default_rng(seed)
    rows = generator.permutation(50)[:9]
    relevance = generator.integers(0, 2, 9)
    relevance[0] = 1
    orders = [generator.permutation(9) for _ in range(3)]
    return [
        Ranking.of(rows[order], relevance[order], np.round(generator.standard_normal(9), 1))
        for order in orders
    ]


def test_ranks_scores_and_relevance_are_those_of_each_sample_in_each_ranking():
    for seed in range(20):
        rankings = rankings_of(seed)
        compared = Comparison.of(rankings)
        assert len(compared) == 3
        assert (np.diff(compared.samples) > 0).all()
        for number, ranked in enumerate(rankings):
            columns = zip(ranked.samples, ranked.relevance, ranked.scores, strict=True)
            for rank, (row, relevant, score) in enumerate(columns, start=1):
                [sample] = np.flatnonzero(compared.samples == row)
                assert compared.ranks[number, sample] == rank, seed
                assert compared.scores[number, sample] == score, seed
                assert compared.relevance[sample] == relevant, seed
                precision = precision_of(ranked.relevance.tolist(), rank) if relevant else 0
                assert compared.precisions[number, sample] == pytest.approx(precision), seed


def test_gains_sum_to_the_difference_of_ap_and_are_of_relevant_samples():
    for seed in range(20):
        rankings = rankings_of(seed)
        compared = Comparison.of(rankings)
        gains = compared.gains(0, 2)
        before, after = (average_precision_of(rankings[number].relevance.tolist()) for number in (0, 2))
        assert gains.sum() == pytest.approx(after - before), seed
        assert (gains[compared.relevance == 0] == 0).all(), seed
        assert np.array_equal(compared.risen(0, 2), compared.ranks[0] - compared.ranks[2])
        assert np.array_equal(compared.risen(0, 2), -compared.risen(2, 0))


def test_rankings_of_different_samples_or_without_relevant_ones_are_refused():
    first = Ranking(np.array([7, 8]), np.array([1, 0]), np.array([2.0, 1.0]))
    with refused("rankings", "none"):
        Comparison.of([])
    for samples, relevance in (([7, 9], [1, 0]), ([7, 8], [0, 1]), ([7], [1])):
        second = Ranking(np.array(samples), np.array(relevance), np.arange(len(samples), 0.0, -1.0))
        with refused("rankings"):
            Comparison.of([first, second])
    ranked = Ranking(np.array([7, 8]), np.array([0, 0]), np.array([2.0, 1.0]))
    with refused("relevance", "none"):
        Comparison.of([ranked, ranked]).gains(0, 1)


def test_largest_returns_positive_values_and_the_first_of_equal_values():
    assert largest(np.array([0.0, -1.0]), 3).tolist() == []
    assert largest(np.tile([1, 2], 50), 60).tolist() == [*range(1, 100, 2), *range(0, 20, 2)]
