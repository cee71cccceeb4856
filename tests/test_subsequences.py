"""Subsequences of graded sequences, scrambles, and chains of pairs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ranking.metrics import kendall_tau, ndcg
from ranking.pair_chains import sequences_of_pairs
from ranking.subsequences import (
    SCRAMBLED,
    deltas,
    longest_chain,
    training_subsequences,
)
from ranking.types import SequenceSet

GRADES = np.array([3, 1, 4, 1, 5, 9, 2, 6])


def sequences(members: list[list[int]], grades: np.ndarray = GRADES) -> SequenceSet:
    starts = np.concatenate([[0], np.cumsum([len(one) for one in members])])
    return SequenceSet(np.eye(len(grades)), grades, np.concatenate(members), starts)


MADE = sequences([[0, 1, 2, 3], [7, 6, 5, 4, 3, 1], [1, 3]])  # 3, 5 and 1 different grades


@pytest.mark.parametrize("drawn", ["any", "consecutive"])
@pytest.mark.parametrize("scrambled", SCRAMBLED)
@pytest.mark.parametrize("length", [2, 3, 5])
def test_positives_fall_strictly_and_negatives_do_not(drawn: str, scrambled: str, length: int) -> None:
    found = training_subsequences(MADE, length, 500, drawn, scrambled, seed=2)
    grades = GRADES[found.rows]
    assert found.rows.shape == (1000, length)
    assert found.right.sum() == 500
    assert (np.diff(grades[found.right], axis=1) < 0).all()
    wrong = grades[~found.right]
    assert (np.diff(wrong, axis=1) >= 0).any(axis=1).all()
    differ = (np.sort(wrong, axis=1)[:, ::-1] != wrong).sum(axis=1)
    if scrambled == "one swap":
        assert (differ == 2).all()
    if scrambled == "reversed":
        assert (np.diff(wrong, axis=1) > 0).all()
    if scrambled == "any order" and length == 3:
        assert len(np.unique(np.argsort(wrong, axis=1), axis=0)) == 5
    sets = [set(MADE.sequence(number).tolist()) for number in range(len(MADE))]
    for rows in found.rows[::20].tolist():
        assert any(set(rows) <= one for one in sets)


def test_any_subsequence_has_the_same_chance_and_consecutive_ones_are() -> None:
    one = sequences([[4, 5, 7, 2, 0, 6]])  # grades 5 9 6 4 3 2
    ordered = [5, 7, 4, 2, 0, 6]
    found = training_subsequences(one, 3, 20_000, "any").rows[:20_000]
    chosen, counts = np.unique(found, axis=0, return_counts=True)
    assert {tuple(row) for row in chosen.tolist()} == set(itertools.combinations(ordered, 3))
    assert counts.min() > 850  # of 1000
    found = training_subsequences(one, 3, 1000, "consecutive").rows[:1000]
    windows = {tuple(ordered[start : start + 3]) for start in range(4)}
    assert {tuple(row) for row in found.tolist()} == windows


def test_of_equal_grades_either_is_drawn_but_never_both() -> None:
    found = training_subsequences(sequences([[0, 1, 2, 3]]), 3, 400).rows
    assert set(found[:400, 2].tolist()) == {1, 3}
    assert not ((found == 1).any(axis=1) & (found == 3).any(axis=1)).any()


def test_a_seed_fixes_all() -> None:
    first, again, other = (training_subsequences(MADE, 3, 50, seed=seed).rows for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


def test_too_few_grades_are_told() -> None:
    assert longest_chain(MADE) == 5
    with pytest.raises(ValueError, match="no sequence holds 6 different grades, 5 at most"):
        training_subsequences(MADE, 6, 10)
    with pytest.raises(ValueError, match="a length of at least 2"):
        training_subsequences(MADE, 1, 10)
    with pytest.raises(ValueError, match="drawn must be one of 'any', 'consecutive', got 'some'"):
        training_subsequences(MADE, 2, 10, "some")
    with pytest.raises(ValueError, match="scrambled must be one of"):
        training_subsequences(MADE, 2, 10, "any", "not at all")


@pytest.mark.parametrize("length", [2, 3, 6])
def test_deltas_are_the_metrics_disagreement(length: int) -> None:
    rng = np.random.default_rng(length)
    grades = np.stack([rng.permutation(20)[:length] for _ in range(50)])
    places = -np.arange(length)
    gains = np.argsort(np.argsort(grades, axis=1), axis=1)
    worst = 1 - ndcg(np.arange(length), places)
    for row in range(50):
        right = (np.diff(grades[row]) < 0).all()
        tau = (1 - kendall_tau(grades[row], places)) / 2
        lost = (1 - ndcg(gains[row], places)) / worst
        for name, size in {"zero-one": 1.0, "Kendall tau": tau, "NDCG": lost}.items():
            assert deltas(grades, name)[row] == pytest.approx(1.0 if right else -size)
    with pytest.raises(ValueError, match="disagreement must be one of"):
        deltas(grades, "two")


# ---------------------------------------------------------------------------------------------------------
# Pairs
# ---------------------------------------------------------------------------------------------------------


def random_pairs(seed: int, n: int = 12, m: int = 25) -> np.ndarray:
    """Pairs that some hidden order fulfils, some of them twice."""
    rng = np.random.default_rng(seed)
    place = rng.permutation(n)
    pairs = rng.integers(0, n, (m, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return np.where((place[pairs[:, 0]] < place[pairs[:, 1]])[:, None], pairs, pairs[:, ::-1])


def longest_path_below(pairs: np.ndarray, sample: int) -> int:
    return max(
        (1 + longest_path_below(pairs, low) for high, low in pairs.tolist() if high == sample), default=0
    )


@pytest.mark.parametrize("chains", ["longest", "sampled"])
@pytest.mark.parametrize("seed", range(5))
def test_sequences_are_paths_of_pairs(chains: str, seed: int) -> None:
    pairs = random_pairs(seed)
    given = {tuple(pair) for pair in pairs.tolist()}
    found = sequences_of_pairs(np.eye(12), pairs, 6, chains, seed)
    heights = [longest_path_below(pairs, sample) for sample in range(12)]
    assert found.grades.tolist() == heights
    lengths = []
    for number in range(len(found)):
        path = found.sequence(number).tolist()
        assert all(pair in given for pair in itertools.pairwise(path))
        assert longest_path_below(pairs, path[-1]) == 0
        lengths.append(len(path))
        if chains == "longest":
            assert len(path) == heights[path[0]] + 1
        else:
            assert path[0] not in pairs[:, 1]
    if chains == "longest":
        assert lengths == sorted(heights, reverse=True)[: len(lengths)] or lengths == [
            height + 1 for height in sorted(heights, reverse=True)[: len(lengths)]
        ]
        assert lengths[0] == max(heights) + 1
    assert training_subsequences(found, lengths[0], 10).rows.shape == (20, lengths[0])


def test_a_circle_is_named() -> None:
    pairs = [[0, 1], [1, 2], [2, 3], [3, 1], [3, 4], [5, 0]]
    with pytest.raises(ValueError, match=r"circle, (1 > 2 > 3 > 1|2 > 3 > 1 > 2|3 > 1 > 2 > 3): .*leave one"):
        sequences_of_pairs(np.eye(6), pairs, 2)
    with pytest.raises(ValueError, match="circle, 0 > 0"):
        sequences_of_pairs(np.eye(2), [[0, 0]], 2)


def test_what_are_no_pairs_is_refused() -> None:
    for pairs in ([], [[0, 1, 2]], [[0.5, 1]]):
        with pytest.raises(ValueError, match="pairs must be"):
            sequences_of_pairs(np.eye(3), pairs, 1)
    with pytest.raises(ValueError, match="rows of the features, 0 to 2"):
        sequences_of_pairs(np.eye(3), [[0, 3]], 1)
    with pytest.raises(ValueError, match="number must be at least 1"):
        sequences_of_pairs(np.eye(3), [[0, 1]], 0)
    with pytest.raises(ValueError, match="chains must be one of"):
        sequences_of_pairs(np.eye(3), [[0, 1]], 1, "shortest")
