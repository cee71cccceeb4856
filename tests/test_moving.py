"""One relevant image that moves through a small ranking: its measures are those worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from ranking import moving
from ranking.ranked import Ranking, precision_terms

# Two more relevant images, at places 2 and 4 of those that stay.
OTHERS = np.array([0, 1, 0, 1])


def test_the_measures_at_each_place_are_those_worked_by_hand() -> None:
    # at place 1: 1 0 1 0 1; at 2 and 3: 0 1 1 0 1; at 4 and 5: 0 1 0 1 1
    measures = moving.measures_by_place(OTHERS, 2)
    third = [1 + 2 / 3 + 3 / 5, 1 / 2 + 2 / 3 + 3 / 5, 1 / 2 + 2 / 4 + 3 / 5]
    expected = np.array(third)[[0, 1, 1, 2, 2]] / 3
    assert [at.average_precision for at in measures] == pytest.approx(expected, abs=1e-12)
    assert [at.precision for at in measures] == [0.5, 0.5, 0.5, 0.5, 0.5]
    assert [at.precision for at in moving.measures_by_place(OTHERS, 1)] == [1, 0, 0, 0, 0]
    # the first three are called relevant: two of them are, or two, or one
    assert [at.zero_one for at in measures] == pytest.approx([2 / 5, 2 / 5, 2 / 5, 4 / 5, 4 / 5])
    ideal = 1 + 1 / np.log2(3) + 1 / 2
    assert measures[0].ndcg == pytest.approx((1 + 1 / 2 + 1 / np.log2(6)) / ideal)
    assert measures[-1].ndcg == pytest.approx((1 / np.log2(3) + 1 / np.log2(5) + 1 / np.log2(6)) / ideal)


def test_a_measure_changes_where_the_image_passes_another_kind_or_a_cut() -> None:
    measures = moving.measures_by_place(OTHERS, 1)
    assert moving.changes([at.average_precision for at in measures]) == [1, 3]
    assert moving.changes([at.precision for at in measures]) == [1]
    assert moving.changes([at.zero_one for at in measures]) == [3]
    assert moving.changes([0.5, 0.5]) == []


def test_a_rank_outside_the_ranking_is_refused() -> None:
    for rank in (0, 6):
        with refused("place", rank):
            moving.with_image_at(OTHERS, rank)


def test_the_small_ranking_is_made_of_the_best_of_each_kind() -> None:
    ranked = Ranking(np.arange(10, 18), np.array([0, 1, 0, 1, 0, 1, 1, 0]), -np.arange(8.0))
    small = moving.small_ranking(ranked, OTHERS, 4)
    assert small.relevance.tolist() == [0, 1, 0, 1, 1]
    assert small.samples.tolist() == [10, 13, 12, 11, 15]  # 11 moves; the others keep their order
    assert precision_terms(small.relevance) == [(1, 2), (2, 4), (3, 5)]
