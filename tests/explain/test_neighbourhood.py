"""What neighbours do to samples, against labellings that are all tried."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import reference
from neighbourhoods import attractive
from refusals import refused

from ranking.explain.neighbourhood import Neighbourhood
from ranking.inference import AttractivePairs
from ranking.metrics import ranking_order

Model = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def random_model(seed: int, splits: int = 2) -> Model:
    """unary, edges, penalty, relevant, test of up to 8 samples, so that all labellings can be tried."""
    generator = np.random.default_rng(seed)
    n = int(generator.integers(2, 9))
    test = np.arange(n) % splits == 0
    pairs = [pair for pair in itertools.combinations(range(n), 2) if test[pair[0]] == test[pair[1]]]
    taken = generator.random(len(pairs)) < 0.4
    edges = np.array([pair for pair, chosen in zip(pairs, taken, strict=True) if chosen]).reshape(-1, 2)
    penalty = -generator.random(len(edges)) * generator.choice([0.1, 3.0])
    return generator.normal(size=n), edges.astype(np.int64), penalty, generator.random(n) < 0.5, test


def best_with(model: Model, i: int, label: int) -> tuple[float, float]:
    """The unary and the pairwise sum of the best of all labellings with that label of sample i."""
    unary, edges, penalty, _, _ = model
    everything = (labels for labels in itertools.product((0, 1), repeat=len(unary)) if labels[i] == label)
    best = max(everything, key=lambda labels: reference.value_of_labelling(labels, unary, edges, penalty))
    scores = float(unary @ best)
    return scores, reference.value_of_labelling(best, unary, edges, penalty) - scores


def test_the_parts_of_a_score_are_those_of_the_two_best_labellings():
    for seed in range(25):
        model = random_model(seed)
        solved = attractive(*model)
        for i in range(len(model[0])):
            relevant, irrelevant = best_with(model, i, 1), best_with(model, i, 0)
            expected = [relevant[0] - irrelevant[0], relevant[1] - irrelevant[1]]
            expected.append(sum(expected))
            parts = [solved.unary_part[i], solved.pairwise_part[i], solved.score[i]]
            assert parts == pytest.approx(expected, abs=1e-12), (seed, i)


def test_ranks_with_and_without_neighbours_are_those_within_the_split():
    for seed in range(25):
        model = random_model(seed)
        solved, relevant, test = attractive(*model), model[3], model[4]
        for split in (False, True):
            rows = np.flatnonzero(test == split)
            for ranks, scores, alone in ((solved.rank, solved.score, False), (solved.alone, model[0], True)):
                order = rows[ranking_order(relevant[rows].astype(int), scores[rows])]
                assert ranks[order].tolist() == list(range(1, len(rows) + 1)), seed
                assert solved.ranking(split, alone=alone).samples.tolist() == order.tolist(), seed


def wrong_pairs(i: int, scores: np.ndarray, relevant: np.ndarray, test: np.ndarray) -> int:
    """How many pairs with a sample of the other kind are in the wrong order; equal scores are."""
    opposite = [j for j in range(len(scores)) if test[j] == test[i] and relevant[j] != relevant[i]]
    return sum(scores[j] >= scores[i] if relevant[i] else scores[i] >= scores[j] for j in opposite)


def test_help_is_counted_in_pairs_of_a_relevant_and_an_irrelevant_sample():
    for seed in range(25):
        unary, edges, penalty, relevant, test = random_model(seed)
        # ties too
        unary = np.round(2 * unary) / 2
        solved = attractive(unary, edges, np.round(penalty), relevant, test)
        for i in range(len(unary)):
            before = wrong_pairs(i, unary, relevant, test)
            assert solved.helped[i] == before - wrong_pairs(i, solved.score, relevant, test), seed
        for number, helped in enumerate(solved.component_helped):
            assert helped == solved.helped[solved.members(number)].sum(), seed


def test_which_labels_flip_with_a_sample_and_which_edges_are_cut():
    for seed in range(10):
        model = random_model(seed)
        solved, edges = attractive(*model), model[1]
        for i in range(len(model[0])):
            flips = np.flatnonzero(solved.turning(i))
            assert i in flips, seed
            assert set(flips) <= set(solved.members(int(solved.components.component_of[i]))), seed
            # some may flip the other way
            signs = np.where(solved.marginals.labelling(i, True), 1.0, -1.0)
            assert (signs * solved.unary)[flips].sum() == pytest.approx(solved.unary_part[i]), seed
        labels = solved.marginals.map
        assert solved.cut.tolist() == [bool(labels[a] != labels[b]) for a, b in edges], seed


def plain(n: int, edges: list[list[int]], penalty: list[float]) -> Neighbourhood:
    return attractive(np.zeros(n), np.array(edges), penalty, np.zeros(n, bool))


def test_members_and_edges_of_a_component_belong_to_it_only():
    model = plain(6, [[0, 4], [4, 2], [1, 3]], [-1.0, -1.0, -2.0])
    assert [model.members(number).tolist() for number in range(3)] == [[0, 2, 4], [1, 3], [5]]
    assert [sorted(model.edges_of(number).tolist()) for number in range(3)] == [[0, 1], [2], []]


def test_around_a_sample_the_nearest_come_first_and_of_those_the_strongest_ties():
    """A path 0 - 1 - 2 - 3, and 4 to 6 beside 1 with ties of growing strength."""
    edges = [[0, 1], [1, 2], [2, 3], [1, 4], [1, 5], [1, 6]]
    model = plain(7, edges, [-1.0, -0.5, -9.0, -1.0, -2.0, -3.0])
    for most, expected in ((1, [0]), (4, [0, 1, 5, 6]), (6, [0, 1, 2, 4, 5, 6]), (99, list(range(7)))):
        assert model.around(0, most).tolist() == expected
    assert model.around(3, 2).tolist() == [2, 3]


def test_inconsistent_models_are_refused():
    one_split, halves = np.zeros(2, bool), np.array([False, True])
    with refused("edges"):
        attractive([1.0, 2.0], [[0, 1]], [-1.0], one_split, halves)
    for n, relevant, lengths in ((2, np.zeros(3, bool), "2, 3 and 2"), (3, one_split, "2, 2 and 2")):
        with refused("unary, relevant and test", lengths):
            Neighbourhood.of([1.0, 2.0], AttractivePairs(n, [[0, 1]]), [-1.0], relevant, one_split)
