"""Measures as one relevant image moves through a small ranking.

Doctests test the rest.
"""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from ranking.explain import moving
from ranking.metrics.ranked import Ranking, precision_terms

# Two more relevant images, at places 2 and 4 of those that stay.
ALTERNATING = np.array([0, 1, 0, 1])


def test_measures_at_each_rank_equal_those_computed_by_hand():
    # at place 1: 1 0 1 0 1; at 2 and 3: 0 1 1 0 1; at 4 and 5: 0 1 0 1 1
    measures = moving.measures_by_rank(ALTERNATING, 2)
    third = [1 + 2 / 3 + 3 / 5, 1 / 2 + 2 / 3 + 3 / 5, 1 / 2 + 2 / 4 + 3 / 5]
    expected = np.array(third)[[0, 1, 1, 2, 2]] / 3
    assert [at.average_precision for at in measures] == pytest.approx(expected, abs=1e-12)
    assert [at.precision for at in moving.measures_by_rank(ALTERNATING, 1)] == [1, 0, 0, 0, 0]
    # the first three are called relevant: two of them are, or two, or one
    assert [at.zero_one for at in measures] == pytest.approx([2 / 5, 2 / 5, 2 / 5, 4 / 5, 4 / 5])
    ideal = 1 + 1 / np.log2(3) + 1 / 2
    assert measures[0].ndcg == pytest.approx((1 + 1 / 2 + 1 / np.log2(6)) / ideal)
    assert measures[-1].ndcg == pytest.approx((1 / np.log2(3) + 1 / np.log2(5) + 1 / np.log2(6)) / ideal)


def test_a_rank_outside_the_ranking_is_refused():
    for rank in (0, 6):
        with refused("rank", rank):
            moving.with_image_at(ALTERNATING, rank)


def test_the_small_ranking_takes_the_highest_ranked_samples_of_each_relevance():
    ranked = Ranking(np.arange(10, 18), np.array([0, 1, 0, 1, 0, 1, 1, 0]), -np.arange(8.0))
    small = moving.small_ranking(ranked, ALTERNATING, 4)
    assert small.relevance.tolist() == [0, 1, 0, 1, 1]
    # 11 moves; the others keep their order
    assert small.samples.tolist() == [10, 13, 12, 11, 15]
    assert precision_terms(small.relevance) == [(1, 2), (2, 4), (3, 5)]
