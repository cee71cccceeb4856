"""What neighbours do to samples, against labellings that are all tried."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest
from refusals import refused

from ranking.inference import AttractivePairs
from ranking.metrics import ranking_order
from ranking.neighbourhood import Neighbourhood

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


def attractive(
    unary: npt.ArrayLike, edges: npt.ArrayLike, penalty: npt.ArrayLike, relevant: np.ndarray, test: np.ndarray
) -> Neighbourhood:
    return Neighbourhood.of(unary, AttractivePairs(len(unary), edges), penalty, relevant, test)


def best_with(model: Model, i: int, label: int) -> tuple[float, float]:
    """The unary and the pairwise sum of the best of all labellings with that label of sample i."""
    unary, edges, penalty, _, _ = model
    tried = []
    for labels in itertools.product((0, 1), repeat=len(unary)):
        if labels[i] == label:
            scores = sum(score for score, one in zip(unary, labels, strict=True) if one)
            costs = sum(cost for cost, (a, b) in zip(penalty, edges, strict=True) if labels[a] != labels[b])
            tried.append((scores + costs, float(scores), float(costs)))
    _, scores, costs = max(tried)
    return scores, costs


@pytest.mark.parametrize("seed", range(25))
def test_the_parts_of_a_score_are_those_of_the_two_best_labellings(seed: int) -> None:
    model = random_model(seed)
    found = attractive(*model)
    for i in range(len(model[0])):
        one, zero = best_with(model, i, 1), best_with(model, i, 0)
        assert found.unary_part[i] == pytest.approx(one[0] - zero[0], abs=1e-12)
        assert found.pairwise_part[i] == pytest.approx(one[1] - zero[1], abs=1e-12)
        assert found.score[i] == pytest.approx(sum(one) - sum(zero), abs=1e-12)


@pytest.mark.parametrize("seed", range(25))
def test_ranks_are_places_in_the_two_rankings_of_its_split(seed: int) -> None:
    model = random_model(seed)
    found, relevant, test = attractive(*model), model[3], model[4]
    for split in (False, True):
        rows = np.flatnonzero(test == split)
        for ranks, scores, alone in ((found.rank, found.score, False), (found.alone, model[0], True)):
            order = rows[ranking_order(relevant[rows].astype(int), scores[rows])]
            assert ranks[order].tolist() == list(range(1, len(rows) + 1))
            assert found.ranking(split, alone=alone).samples.tolist() == order.tolist()


def wrong_pairs(i: int, scores: np.ndarray, relevant: np.ndarray, test: np.ndarray) -> int:
    """How many pairs with a sample of the other kind are in the wrong order; equal scores are."""
    others = [j for j in range(len(scores)) if test[j] == test[i] and relevant[j] != relevant[i]]
    return sum(scores[j] >= scores[i] if relevant[i] else scores[i] >= scores[j] for j in others)


@pytest.mark.parametrize("seed", range(25))
def test_help_is_counted_in_pairs_of_a_relevant_and_an_irrelevant_sample(seed: int) -> None:
    unary, edges, penalty, relevant, test = random_model(seed)
    unary = np.round(2 * unary) / 2  # ties too
    found = attractive(unary, edges, np.round(penalty), relevant, test)
    for i in range(len(unary)):
        before = wrong_pairs(i, unary, relevant, test)
        assert found.helped[i] == before - wrong_pairs(i, found.score, relevant, test)
    for number, helped in enumerate(found.component_helped):
        assert helped == found.helped[found.members(number)].sum()


def test_without_edges_neighbours_do_nothing() -> None:
    unary, _, _, relevant, test = random_model(3)
    found = attractive(unary, np.empty((0, 2), int), [], relevant, test)
    assert found.score.tolist() == found.unary_part.tolist() == unary.tolist()
    assert not found.pairwise_part.any()
    assert not found.rise.any()
    assert len(found.cut) == 0
    for i in range(len(unary)):
        assert np.flatnonzero(found.turning(i)).tolist() == [i]


@pytest.mark.parametrize("seed", range(10))
def test_what_turns_with_a_sample_and_which_edges_are_cut(seed: int) -> None:
    model = random_model(seed)
    found, edges = attractive(*model), model[1]
    for i in range(len(model[0])):
        turning = np.flatnonzero(found.turning(i))
        assert i in turning
        assert set(turning) <= set(found.members(int(found.components.component_of[i])))
        signs = np.where(found.marginals.labelling(i, True), 1.0, -1.0)  # some may turn the other way
        assert (signs * found.unary)[turning].sum() == pytest.approx(found.unary_part[i])
    labels = found.marginals.map
    assert found.cut.tolist() == [bool(labels[a] != labels[b]) for a, b in edges]


def test_members_and_edges_of_a_component_are_its_own() -> None:
    edges = np.array([[0, 4], [4, 2], [1, 3]])
    found = attractive(np.zeros(6), edges, [-1.0, -1.0, -2.0], np.zeros(6, bool), np.zeros(6, bool))
    assert [found.members(number).tolist() for number in range(3)] == [[0, 2, 4], [1, 3], [5]]
    assert [sorted(found.edges_of(number).tolist()) for number in range(3)] == [[0, 1], [2], []]


def test_around_a_sample_the_nearest_come_first_and_of_those_the_strongest_ties() -> None:
    # A path 0 - 1 - 2 - 3, and 4 to 6 beside 1 with ties of growing strength.
    edges = np.array([[0, 1], [1, 2], [2, 3], [1, 4], [1, 5], [1, 6]])
    penalty = [-1.0, -0.5, -9.0, -1.0, -2.0, -3.0]
    found = attractive(np.zeros(7), edges, penalty, np.zeros(7, bool), np.zeros(7, bool))
    assert found.around(0, 1).tolist() == [0]
    assert found.around(0, 2).tolist() == [0, 1]
    assert found.around(0, 4).tolist() == [0, 1, 5, 6]
    assert found.around(0, 6).tolist() == [0, 1, 2, 4, 5, 6]
    assert found.around(0, 99).tolist() == list(range(7))
    assert found.around(3, 2).tolist() == [2, 3]


def test_what_is_no_such_model_is_said() -> None:
    one_split, halves = np.zeros(2, bool), np.array([False, True])
    with pytest.raises(
        ValueError, match="no edge may join a training sample to a test sample; make the graph"
    ):
        attractive([1.0, 2.0], [[0, 1]], [-1.0], one_split, halves)
    with pytest.raises(
        ValueError, match=r"one a sample of the 2 that the potentials join, got 2, 3 and 2; make"
    ):
        attractive([1.0, 2.0], [[0, 1]], [-1.0], np.zeros(3, bool), one_split)
    with pytest.raises(
        ValueError, match=r"one a sample of the 3 that the potentials join, got 2, 2 and 2; make"
    ):
        Neighbourhood.of([1.0, 2.0], AttractivePairs(3, [[0, 1]]), [-1.0], one_split, one_split)
    with refused("penalty", "1 at edge 0"):
        attractive([1.0, 2.0], [[0, 1]], [1.0], one_split, one_split)
