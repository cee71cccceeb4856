"""Ranks by edge strength, compared with a model that is solved for each strength independently."""

from __future__ import annotations

import numpy as np
import pytest
from neighbourhoods import attractive
from refusals import refusal

from ranking.explain.edge_strength import EdgeStrengthCurve, edge_strength_curve
from ranking.explain.neighbourhood import Neighbourhood
from ranking.inference import AttractivePairs, PairsOfEitherSign, PottsCliques, max_marginals
from ranking.metrics import average_precision

STRENGTHS = [0.0, 0.5, 1.0, 2.0]


def model(seed: int):
    """Eight samples in three images, joined within them."""
    random = np.random.default_rng(seed)
    image_of = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    pairs = [(i, j) for i in range(8) for j in range(i) if image_of[i] == image_of[j]]
    relevance = np.array([1, 0, 1, 0, 0, 1, 0, 0])[random.permutation(8)]
    return random.normal(size=8), np.array(pairs), -random.uniform(0, 1, len(pairs)), relevance, image_of


def test_ranks_are_those_of_the_model_at_each_strength():
    for seed in range(20):
        unary, edges, penalty, relevance, image_of = model(seed)
        whole = attractive(unary, edges, penalty, relevance > 0)
        ranked = edge_strength_curve(whole, False, image_of, STRENGTHS)
        for row, strength in enumerate(STRENGTHS):
            scores = max_marginals(unary, edges, strength * penalty, algorithm="enumerate").difference
            keys = [(-score, grade) for score, grade in zip(scores, relevance, strict=True)]
            if len(set(keys)) == len(keys):
                assert ranked.ranks[row].tolist() == [1 + sorted(keys).index(key) for key in keys], seed
            assert ranked.average_precision[row] == pytest.approx(average_precision(relevance, scores)), seed
        alone = np.argsort(np.argsort(-unary)) + 1
        assert ranked.ranks[0].tolist() == alone.tolist(), f"edges off: unary scores alone, seed {seed}"
        assert ranked.rise.tolist() == (ranked.ranks[0] - ranked.ranks[2]).tolist() == whole.rise.tolist()


def test_a_split_is_ranked_independently_of_the_other_split():
    for seed in range(10):
        unary, edges, penalty, relevance, image_of = model(seed)
        test = image_of == 1
        both = edge_strength_curve(
            attractive(unary, edges, penalty, relevance > 0, test), True, image_of, STRENGTHS
        )
        within = test[edges].all(axis=1)
        part = (unary[test], edges[within] - 3, penalty[within], relevance[test] > 0, np.ones(3, bool))
        expected = edge_strength_curve(attractive(*part), True, image_of[test], STRENGTHS)
        assert both.ranks.tolist() == expected.ranks.tolist(), seed
        assert both.relevance.tolist() == relevance[test].tolist()
        assert both.image_of.tolist() == [1, 1, 1]
        np.testing.assert_array_equal(both.average_precision, expected.average_precision)


def made(off: list[int], learned: list[int], relevance: list[int], image_of: list[int]) -> EdgeStrengthCurve:
    arrays = [[0.0, 1.0], relevance, image_of, [off, learned], [0.25, 0.5]]
    return EdgeStrengthCurve(*map(np.array, arrays))


def test_the_most_raised_and_lowered_are_pulled_by_neighbours_like_them():
    off, learned = [9, 1, 40, 5, 6, 50, 30, 2, 7, 8], [3, 1, 4, 2, 8, 6, 10, 20, 7, 5]
    relevance, image_of = [1, 1, 1, 0, 1, 1, 1, 0, 0, 1], [0, 0, 1, 1, 2, 2, 2, 3, 3, 4]
    curve = made(off, learned, relevance, image_of)
    assert curve.most_raised() == 5, "2 moves further, but only an irrelevant neighbour ranked above it"
    assert curve.most_lowered() == 7
    assert curve.precision_at(0.9) == 0.5, "of the nearest strength"
    down = made([1, 2, 3], [3, 1, 2], [0, 0, 0], [0, 0, 0])
    assert (down.most_raised(), down.most_lowered()) == (None, 0)
    for relevance in ([1, 1], [0, 0], [0, 1], [1, 0]):
        still = made([1, 2], [1, 2], relevance, [0, 0])
        assert (still.most_raised(), still.most_lowered()) == (None, None), relevance


def test_the_most_misled_image_shows_nothing_relevant_and_rises_whole_and_high():
    off, learned = [8, 7, 6, 5, 10, 9, 4, 3, 2, 11], [6, 5, 9, 2, 4, 3, 8, 10, 7, 1]
    image_of = [0, 0, 1, 1, 2, 2, 3, 3, 4, 5]
    curve = made(off, learned, [0, 0, 0, 1, 0, 0, 0, 0, 0, 0], image_of)
    rows = curve.most_misled()
    assert rows.tolist() == [4, 5], "1 shows a relevant one, 3 and 4 fall, 5 is alone, 0 ends lower"
    assert made([3, 1, 2], [1, 3, 2], [0, 0, 1], [0, 0, 1]).most_misled() is None, "one of its samples falls"


def test_strengths_without_what_is_compared_and_other_neighbours_than_attractive_pairs_are_refused():
    """The model of others is not the one of pairs that is weakened here, so learned ranks would be wrong."""
    group, no_test, relevant = np.array([[0, 1], [0, 2], [1, 2]]), np.zeros(3, bool), np.arange(3) == 0
    for kind, strengths, expected in (
        (AttractivePairs, [0.5, 1.0], ("strengths", [0.5, 1.0])),
        (PairsOfEitherSign, [0.0, 1.0], ("potentials", PairsOfEitherSign.name)),
        (PottsCliques, STRENGTHS, ("potentials", PottsCliques.name)),
    ):
        penalty = -np.ones(1 if kind is PottsCliques else 3)
        whole = Neighbourhood.of([1.0, -0.5, 0.2], kind(3, group), penalty, relevant, no_test)
        assert refusal(edge_strength_curve, whole, False, np.arange(3), strengths) == expected
