"""Ranks as neighbours grow weaker and stronger, against a model that is solved for each strength by itself."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import pytest

from ranking.inference import AttractivePairs, PairsOfEitherSign, Potentials, PottsCliques, max_marginals
from ranking.leaning import Leaning, leaning
from ranking.metrics import average_precision
from ranking.neighbourhood import Neighbourhood

STRENGTHS = [0.0, 0.5, 1.0, 2.0]


def model(seed: int):
    """Eight samples in three images, joined within them."""
    random = np.random.default_rng(seed)
    image_of = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    pairs = [(i, j) for i in range(8) for j in range(i) if image_of[i] == image_of[j]]
    relevance = np.array([1, 0, 1, 0, 0, 1, 0, 0])[random.permutation(8)]
    return random.normal(size=8), np.array(pairs), -random.uniform(0, 1, len(pairs)), relevance, image_of


def attractive(
    unary: npt.ArrayLike, edges: npt.ArrayLike, penalty: npt.ArrayLike, relevant: np.ndarray, test: np.ndarray
) -> Neighbourhood:
    return Neighbourhood.of(unary, AttractivePairs(len(unary), edges), penalty, relevant, test)


@pytest.mark.parametrize("seed", range(20))
def test_ranks_are_those_of_the_model_at_each_strength(seed: int) -> None:
    unary, edges, penalty, relevance, image_of = model(seed)
    everybody = attractive(unary, edges, penalty, relevance > 0, np.zeros(8, bool))
    found = leaning(everybody, False, image_of, STRENGTHS)
    for row, strength in enumerate(STRENGTHS):
        scores = max_marginals(unary, edges, strength * penalty, algorithm="enumerate").difference
        higher = [
            sum(
                other > mine or (other == mine and relevance[j] < relevance[i])
                for j, other in enumerate(scores)
            )
            for i, mine in enumerate(scores)
        ]
        tied = [len({(score, grade) for score, grade in zip(scores, relevance, strict=True)}) == len(scores)]
        if all(tied):
            assert found.places[row].tolist() == [count + 1 for count in higher]
        assert found.average_precision[row] == pytest.approx(average_precision(relevance, scores))
    assert found.places[0].tolist() == (np.argsort(np.argsort(-unary)) + 1).tolist(), "edges off: unary alone"
    assert (found.rise == found.places[0] - found.places[2]).all()
    assert found.rise.tolist() == everybody.rise.tolist()


@pytest.mark.parametrize("seed", range(10))
def test_one_split_is_ranked_as_if_it_were_all(seed: int) -> None:
    unary, edges, penalty, relevance, image_of = model(seed)
    test = image_of == 1
    both = leaning(attractive(unary, edges, penalty, relevance > 0, test), True, image_of, STRENGTHS)
    inside = test[edges].all(axis=1)
    alone = attractive(unary[test], edges[inside] - 3, penalty[inside], relevance[test] > 0, np.ones(3, bool))
    expected = leaning(alone, True, image_of[test], STRENGTHS)
    assert both.places.tolist() == expected.places.tolist()
    assert both.relevance.tolist() == relevance[test].tolist()
    assert both.image_of.tolist() == [1, 1, 1]
    np.testing.assert_array_equal(both.average_precision, expected.average_precision)


def made(off: list[int], learnt: list[int], relevance: list[int], image_of: list[int]) -> Leaning:
    places = np.array([off, learnt])
    return Leaning(
        np.array([0.0, 1.0]), np.array(relevance), np.array(image_of), places, np.array([0.25, 0.5])
    )


def test_the_most_lifted_is_relevant_and_rose_most() -> None:
    found = made([5, 4, 3, 2, 1], [1, 3, 2, 4, 5], [0, 1, 1, 0, 1], [0, 0, 1, 1, 1])
    assert found.rise.tolist() == [4, 1, 1, -2, -4]
    assert found.most_lifted() == 1, "the first that rose most; sample 0 is not relevant"
    assert found.precision_at(0.9) == 0.5, "of the nearest strength"


def test_nobody_is_lifted_where_none_relevant_rises() -> None:
    assert made([2, 1], [1, 2], [0, 1], [0, 0]).most_lifted() is None


def test_the_most_misled_image_shows_nothing_relevant_and_rises_whole_and_high() -> None:
    off, learnt = [8, 7, 6, 5, 10, 9, 4, 3, 2, 11], [6, 5, 9, 2, 4, 3, 8, 10, 7, 1]
    image_of = [0, 0, 1, 1, 2, 2, 3, 3, 4, 5]
    found = made(off, learnt, [0, 0, 0, 1, 0, 0, 0, 0, 0, 0], image_of)
    rows = found.most_misled()
    assert rows is not None
    assert rows.tolist() == [4, 5], "1 shows a relevant one, 3 and 4 fall, 5 is alone, 0 ends lower"


def test_no_image_is_misled_where_one_of_its_samples_falls() -> None:
    assert made([3, 1, 2], [1, 3, 2], [0, 0, 1], [0, 0, 1]).most_misled() is None


def test_strengths_without_what_is_compared_are_refused() -> None:
    unary, edges, penalty, relevance, image_of = model(0)
    everybody = attractive(unary, edges, penalty, relevance > 0, np.zeros(8, bool))
    with pytest.raises(
        ValueError, match=r"must hold 0 \(edges off\) and 1 \(as learnt\), got \[0\.5, 1\.0\]"
    ):
        leaning(everybody, False, image_of, [0.5, 1.0])


@pytest.mark.parametrize("kind", [PairsOfEitherSign, PottsCliques])
def test_other_neighbours_than_attractive_pairs_are_refused(kind: type[Potentials]) -> None:
    """Their model is not the one of pairs that is weakened here, so learnt places would be wrong ones."""
    group, nobody = np.array([[0, 1], [0, 2], [1, 2]]), np.zeros(3, bool)
    penalty = -np.ones(1 if kind is PottsCliques else 3)
    everybody = Neighbourhood.of(
        [1.0, -0.5, 0.2], kind(3, group), penalty, np.array([True, False, False]), nobody
    )
    with pytest.raises(ValueError, match=f"expected a model of attractive pairs, got {re.escape(kind.name)}"):
        leaning(everybody, False, np.arange(3), [0.0, 1.0])
