"""Counting violated pairs of sequences against writing them all down."""

from __future__ import annotations

import numpy as np
import reference
from small_models import random_sequences

from ranking.core import SequenceSet
from ranking.inference.graded_pairs import GradedPairs


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
            # scores that tie, and pairs that are just a margin apart
            scores = np.round(scores)
        pairs, expected_counts = GradedPairs(made), expected(made, scores)
        for short in (0, 5, 100):
            counts, violated = pairs.violations(scores, short)
            assert (counts.tolist(), violated, pairs.number) == expected_counts, (seed, short)
