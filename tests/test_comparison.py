from __future__ import annotations

import numpy as np
import pytest
from reference import average_precision_of, precision_of
from refusals import refused

from ranking.comparison import Comparison, most
from ranking.ranked import Ranking


def rankings_of(seed, n=9, rankings=3):
    """Rankings of the same n samples, rows of a larger set, in a shuffled order each; ties are among the scores."""
    generator = np.random.default_rng(seed)
    rows = generator.permutation(50)[:n]
    relevance = generator.integers(0, 2, n)
    relevance[0] = 1
    rankings_made = []
    for _ in range(rankings):
        order = generator.permutation(n)
        scores = np.round(generator.standard_normal(n), 1)
        rankings_made.append(Ranking.of(rows[order], relevance[order], scores[order]))
    return rankings_made


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
                assert compared.places[number, sample] == rank, seed
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
        assert np.array_equal(compared.risen(0, 2), compared.places[0] - compared.places[2])
        assert np.array_equal(compared.risen(0, 2), -compared.risen(2, 0))


def test_rankings_of_different_samples_or_queries_are_refused():
    first = Ranking(np.array([7, 8]), np.array([1, 0]), np.array([2.0, 1.0]))
    with refused("rankings", "none"):
        Comparison.of([])
    for samples, relevance in (([7, 9], [1, 0]), ([7, 8], [0, 1]), ([7], [1])):
        second = Ranking(np.array(samples), np.array(relevance), np.arange(len(samples), 0.0, -1.0))
        with refused("rankings"):
            Comparison.of([first, second])


def test_without_relevant_samples_there_are_no_gains():
    ranked = Ranking(np.array([7, 8]), np.array([0, 0]), np.array([2.0, 1.0]))
    with refused("relevance", "none"):
        Comparison.of([ranked, ranked]).gains(0, 1)


def test_most_takes_the_largest_above_zero_the_first_of_equal_ones():
    assert most(np.array([0.0, -1.0]), 3).tolist() == []
    assert most(np.tile([1, 2], 50), 60).tolist() == [*range(1, 100, 2), *range(0, 20, 2)]
