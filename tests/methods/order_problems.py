"""Small problems of sequences of graded samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from ranking.core import SequenceSet


def sequences(
    seed: int = 0,
    pool: int = 60,
    columns: int = 5,
    count: int = 40,
    length: int = 6,
    levels: int = 4,
    noise: float = 0.3,
    dtype: Any = np.float64,
) -> SequenceSet:
    """Sequences over a pool on the unit sphere whose grades follow one direction, and noise."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(pool, columns))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    height = features @ rng.normal(size=columns) + noise * rng.normal(size=pool)
    grades = np.searchsorted(np.quantile(height, np.arange(1, levels) / levels), height)
    members = np.concatenate([rng.permutation(pool)[:length] for _ in range(count)])
    return SequenceSet(features.astype(dtype), grades, members, np.arange(0, count * length + 1, length))


def rows_of(made: SequenceSet) -> list[list[int]]:
    return [made.sequence(number).tolist() for number in range(len(made))]
