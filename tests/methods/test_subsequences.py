"""Subsequences of graded sequences, scrambles, and chains of pairs."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from refusals import refusal, refused

from ranking.core import SequenceSet
from ranking.datasets.pair_chains import sequences_of_pairs
from ranking.methods.subsequences import (
    SCRAMBLED,
    SPACINGS,
    TIES,
    deltas,
    longest_subsequence,
    training_subsequences,
)
from ranking.metrics import kendall_tau, ndcg

GRADES = np.array([3, 1, 4, 1, 5, 9, 2, 6])


def sequences(members: list[list[int]], grades: np.ndarray = GRADES) -> SequenceSet:
    starts = np.concatenate([[0], np.cumsum([len(rows) for rows in members])])
    return SequenceSet(np.eye(len(grades)), grades, np.concatenate(members), starts)


# 3, 5 and 1 different grades
MADE = sequences([[0, 1, 2, 3], [7, 6, 5, 4, 3, 1], [1, 3]])


@pytest.mark.parametrize("scrambled", SCRAMBLED)
def test_without_ties_positives_fall_strictly_and_negatives_do_not(scrambled):
    for spacing, length in itertools.product(SPACINGS, (2, 3, 5)):
        made = training_subsequences(MADE, length, 500, spacing, scrambled, 2, "forbidden")
        grades = GRADES[made.rows]
        assert made.rows.shape == (1000, length)
        assert made.right.sum() == 500
        assert (np.diff(grades[made.right], axis=1) < 0).all(), (spacing, length)
        wrong = grades[~made.right]
        assert (np.diff(wrong, axis=1) >= 0).any(axis=1).all(), (spacing, length)
        if scrambled == "one swap":
            assert ((np.sort(wrong, axis=1)[:, ::-1] != wrong).sum(axis=1) == 2).all(), (spacing, length)
        if scrambled == "reversed":
            assert (np.diff(wrong, axis=1) > 0).all(), (spacing, length)
        if scrambled == "any order" and length == 3:
            assert len(np.unique(np.argsort(wrong, axis=1), axis=0)) == 5, spacing
        sets = [set(MADE.sequence(number).tolist()) for number in range(len(MADE))]
        for rows in made.rows[::20].tolist():
            assert any(set(rows) <= members for members in sets), (spacing, length)


@pytest.mark.parametrize("scrambled", SCRAMBLED)
def test_with_ties_no_grade_rises_in_positives_and_one_does_in_negatives(scrambled):
    # grades 1 1 3, 1 3 4 1; of the last one grade alone
    tied = sequences([[1, 3, 0], [3, 0, 2, 1], [1, 3]])
    for spacing, length in itertools.product(SPACINGS, (2, 3, 4)):
        made = training_subsequences(tied, length, 500, spacing, scrambled, 2)
        grades = GRADES[made.rows]
        assert (grades.max(axis=1) > grades.min(axis=1)).all(), (spacing, length)
        assert (np.diff(grades[made.right], axis=1) <= 0).all(), (spacing, length)
        assert (np.diff(grades[~made.right], axis=1) > 0).any(axis=1).all(), (spacing, length)
        for rows in made.rows.tolist():
            assert len(set(rows)) == length
            assert set(rows) <= {0, 1, 3} or set(rows) <= {0, 1, 2, 3}, (spacing, length)
    orders = {tuple(row) for row in training_subsequences(tied, 4, 500).rows[:500].tolist()}
    # equal ones stand in either order
    assert orders == {(2, 0, 1, 3), (2, 0, 3, 1)}


def test_with_ties_consecutive_samples_are_windows_of_the_order_and_any_ones_have_the_same_chance():
    # grades 4 3 1 1
    single = sequences([[2, 0, 1, 3]])
    rows = training_subsequences(single, 2, 20_000, "any").rows[:20_000]
    chosen, counts = np.unique(rows, axis=0, return_counts=True)
    assert {tuple(row) for row in chosen.tolist()} == {(2, 0), (2, 1), (2, 3), (0, 1), (0, 3)}
    # One choice in six has one grade alone, and one of its two samples is replaced by 2 or 0.
    assert counts == pytest.approx(20_000 / 6 * np.array([1.25, 1.25, 1, 1.25, 1.25]), rel=0.1)
    windows = set[tuple[int, ...]]()
    for seed in range(8):
        rows = training_subsequences(single, 2, 50, "consecutive", seed=seed).rows[:50]
        windows |= {tuple(row) for row in rows.tolist()}
    assert windows == {(2, 0), (0, 1), (0, 3)}


def test_without_ties_any_subsequence_has_the_same_chance_and_consecutive_ones_are():
    # grades 5 9 6 4 3 2
    single = sequences([[4, 5, 7, 2, 0, 6]])
    ordered = [5, 7, 4, 2, 0, 6]
    rows = training_subsequences(single, 3, 20_000, "any").rows[:20_000]
    chosen, counts = np.unique(rows, axis=0, return_counts=True)
    assert {tuple(row) for row in chosen.tolist()} == set(itertools.combinations(ordered, 3))
    # of 1000
    assert counts.min() > 850
    rows = training_subsequences(single, 3, 1000, "consecutive").rows[:1000]
    windows = {tuple(ordered[start : start + 3]) for start in range(4)}
    assert {tuple(row) for row in rows.tolist()} == windows


def test_forbidden_ties_let_either_be_sampled_but_never_both_as_the_seed_says():
    rows = training_subsequences(sequences([[0, 1, 2, 3]]), 3, 400, ties="forbidden").rows
    assert set(rows[:400, 2].tolist()) == {1, 3}
    assert not ((rows == 1).any(axis=1) & (rows == 3).any(axis=1)).any()
    first, again, second = (training_subsequences(MADE, 3, 50, seed=seed).rows for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != second).any()


def test_lengths_and_ways_that_there_are_not_are_refused():
    assert [longest_subsequence(MADE, ties) for ties in TIES] == [6, 5]
    assert [longest_subsequence(sequences([[1, 3]]), ties) for ties in TIES] == [1, 1]
    for arguments, subject, came in (
        ((6, 10, "any", "reversed", 0, "forbidden"), "length", 6),
        ((7, 10), "length", 7),
        ((2, 10, "any", "reversed", 0, "some"), "ties", "'some'"),
        ((1, 10), "length", 1),
        ((2, 0), "number", 0),
        ((2, 10, "some"), "drawn", "'some'"),
        ((2, 10, "any", "not at all"), "scrambled", "'not at all'"),
    ):
        assert refusal(training_subsequences, MADE, *arguments) == (subject, came)
    assert refusal(deltas, np.array([[1, 0]]), "two") == ("disagreement", "'two'")


def test_deltas_are_the_metrics_disagreement():
    for length in (2, 3, 6):
        rng = np.random.default_rng(length)
        grades = np.stack([rng.permutation(20)[:length] for _ in range(50)])
        scores = -np.arange(length)
        gains = np.argsort(np.argsort(grades, axis=1), axis=1)
        worst = 1 - ndcg(np.arange(length), scores)
        sizes = {
            "zero-one": np.ones(50),
            "Kendall tau": [(1 - kendall_tau(row, scores)) / 2 for row in grades],
            "NDCG": [(1 - ndcg(row, scores)) / worst for row in gains],
        }
        right = (np.diff(grades, axis=1) < 0).all(axis=1)
        for name, size in sizes.items():
            assert deltas(grades, name) == pytest.approx(np.where(right, 1.0, -np.array(size))), length


def test_deltas_of_equal_grades_count_pairs_of_different_ones():
    grades = np.array([[5, 5, 1], [5, 1, 5], [1, 5, 5]])
    assert deltas(grades, "zero-one").tolist() == [1, -1, -1]
    assert deltas(grades, "Kendall tau").tolist() == [1, -0.5, -1]
    # a gain of 1 falls from the second position to the third
    lost = 1 / np.log2(3) - 1 / np.log2(4)
    assert deltas(grades, "NDCG") == pytest.approx([1, -lost / (1 - 1 / np.log2(4)), -1])


def random_pairs(seed: int) -> np.ndarray:
    """Pairs of twelve samples that some hidden order fulfils, some of them twice."""
    rng = np.random.default_rng(seed)
    order, ends = rng.permutation(12), np.sort(rng.integers(0, 12, (25, 2)), axis=1)
    return order[ends[ends[:, 0] != ends[:, 1]]]


def longest_path_below(pairs: np.ndarray, sample: int) -> int:
    below = [low for high, low in pairs.tolist() if high == sample]
    return max((1 + longest_path_below(pairs, low) for low in below), default=0)


def test_sequences_are_paths_of_pairs():
    for chains, seed in itertools.product(("longest", "sampled"), range(5)):
        pairs = random_pairs(seed)
        edges = {tuple(pair) for pair in pairs.tolist()}
        made = sequences_of_pairs(np.eye(12), pairs, 6, chains, seed)
        heights = [longest_path_below(pairs, sample) for sample in range(12)]
        assert made.grades.tolist() == heights, seed
        paths = [made.sequence(number).tolist() for number in range(len(made))]
        for path in paths:
            assert all(pair in edges for pair in itertools.pairwise(path)), (chains, seed)
            assert heights[path[-1]] == 0, (chains, seed)
        lengths = [len(path) for path in paths]
        if chains == "longest":
            assert lengths == [heights[path[0]] + 1 for path in paths], seed
            assert lengths == [height + 1 for height in sorted(heights)[: -len(paths) - 1 : -1]], seed
        else:
            assert not {path[0] for path in paths} & set(pairs[:, 1].tolist()), seed
        assert training_subsequences(made, lengths[0], 10).rows.shape == (20, lengths[0])


def test_a_cycle_of_pairs_is_named():
    pairs = [[0, 1], [1, 2], [2, 3], [3, 1], [3, 4], [5, 0]]
    with refused("pairs") as caught:
        sequences_of_pairs(np.eye(6), pairs, 2)
    assert re.search("1 > 2 > 3 > 1|2 > 3 > 1 > 2|3 > 1 > 2 > 3", str(caught.value.came))


def test_invalid_pairs_are_refused():
    for pairs in ([], [[0, 1, 2]], [[0.5, 1]], [[0, 3]], [[-1, 0]], [[0, 0]]):
        assert refusal(sequences_of_pairs, np.eye(3), pairs, 1)[0] == "pairs"
    for arguments, expected in (((0,), ("number", 0)), ((1, "shortest"), ("chains", "'shortest'"))):
        assert refusal(sequences_of_pairs, np.eye(3), [[0, 1]], *arguments) == expected
