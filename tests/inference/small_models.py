"""Random models that are small enough to try all sets, orders and pairs."""

from __future__ import annotations

import numpy as np

from ranking.core import SequenceSet
from ranking.inference.best_order import OrderModel


def star(
    rng: np.random.Generator, labels: int, size: int, whole_numbers: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Unary scores, a core in any order and F[core]; whole numbers tie often and add up exactly."""

    def random_values(*shape: int) -> np.ndarray:
        return rng.integers(-3, 4, shape).astype(float) if whole_numbers else rng.normal(size=shape)

    core = rng.permutation(labels)[:size]
    interactions, among = random_values(size, labels), np.triu(random_values(size, size), 1)
    interactions[:, core] = among + among.T
    return random_values(labels), core, interactions


def order_model(seed: int, size: int, items: int = 5) -> OrderModel:
    rng = np.random.default_rng(seed)
    unary, core, interactions = star(rng, items, size)
    positions = np.arange(items)
    distance = np.abs(positions[:, None] - positions) + 0.1 * np.eye(items)
    return OrderModel(unary, -np.sort(-rng.normal(size=items)), core, interactions, distance)


def alone(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.arange(n), np.array([0, n]), np.arange(n)


def random_sequences(seed: int) -> SequenceSet:
    """Sequences of one to twelve rows of a small pool, some of them twice; few grades or many."""
    rng = np.random.default_rng(seed)
    pool = int(rng.integers(2, 30))
    lengths = rng.integers(1, 13, size=int(rng.integers(1, 8)))
    grades = rng.integers(0, rng.choice([1, 2, 4, 50]), pool)
    members = rng.integers(0, pool, lengths.sum())
    return SequenceSet(np.ones((pool, 1)), grades, members, np.concatenate([[0], np.cumsum(lengths)]))
