"""Counting violated pairs of sequences against writing them all down."""

from __future__ import annotations

import numpy as np
import reference

from ranking.inference.graded_pairs import GradedPairs
from ranking.types import SequenceSet


def random_sequences(seed: int) -> SequenceSet:
    """Sequences of one to twelve rows of a small pool, some of which come twice in a sequence; few grades or many."""
    rng = np.random.default_rng(seed)
    pool = int(rng.integers(2, 30))
    lengths = rng.integers(1, 13, size=int(rng.integers(1, 8)))
    grades = rng.integers(0, rng.choice([1, 2, 4, 50]), pool)
    members = rng.integers(0, pool, lengths.sum())
    return SequenceSet(np.ones((pool, 1)), grades, members, np.concatenate([[0], np.cumsum(lengths)]))


def expected(made: SequenceSet, scores: np.ndarray) -> tuple[list[int], int, int]:
    rows = [made.sequence(number).tolist() for number in range(len(made))]
    pairs = reference.graded_pairs(made.grades.tolist(), rows)
    violated = [(i, j) for i, j in pairs if scores[j] > scores[i] - 1.0]
    counts = [
        sum(j == row for _, j in violated) - sum(i == row for i, _ in violated) for row in range(len(scores))
    ]
    return counts, len(violated), len(pairs)


def test_violated_pairs_are_counted() -> None:
    for seed in range(150):
        made = random_sequences(seed)
        rng = np.random.default_rng([seed, 1])
        scores = rng.normal(size=len(made.features))
        if seed % 3 == 0:
            scores = np.round(scores)  # scores that tie, and pairs that are just a margin apart
        pairs, wanted = GradedPairs(made), expected(made, scores)
        for short in (0, 5, 100):
            counts, violated = pairs.violations(scores, short)
            assert (counts.tolist(), violated, pairs.number) == wanted, (seed, short)
