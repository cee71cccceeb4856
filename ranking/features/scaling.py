"""How columns of given features and uploaded vectors are scaled before they are side by side with other features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ranking.core import LARGEST, Bools, Features, blocks_of_rows
from ranking.core.settings import setting
from ranking.datasets.sequences import AS_THEY_ARE, LENGTH_1, unit_rows

PER_COLUMN = "per column"
Scaled = Callable[[Features], Features]


def scale_setting() -> Any:
    """Return the setting of how features are scaled."""
    return setting(
        PER_COLUMN,
        label="Feature scaling",
        help="Per column: each column has mean 0 and the same variance over the training samples, whose rows have a "
        "mean squared length of 1. Length 1: each row is divided by its own length, as is usual for embeddings; a "
        "column of large numbers, such as the length of a document, then hides all others.",
        choices=(PER_COLUMN, AS_THEY_ARE, LENGTH_1),
    )


def scaling_of(matrix: Features, scale: str, training: Bools) -> Scaled:
    """Return how rows of a matrix (n, d) are scaled. training: (n,) the rows whose columns decide; all if none is.

    A column that is constant in these rows becomes 0.
    """
    if scale == LENGTH_1:
        return unit_rows
    return per_column(matrix, training) if scale == PER_COLUMN else lambda rows: rows


def per_column(matrix: Features, training: Bools) -> Scaled:
    """Return rows -> (rows - mean) / (deviation sqrt(d)) by the training rows; see `scaling_of`."""
    rows = np.flatnonzero(training if training.any() else ~training)
    width = matrix.shape[1]
    blocks = [rows[block] for block in blocks_of_rows((len(rows), width))]
    first = matrix[rows[0]] if len(rows) else np.zeros(width)
    mean, squares, differs = np.zeros(width), np.zeros(width), np.zeros(width, np.bool_)
    for block in blocks:
        mean += matrix[block].sum(axis=0, dtype=np.float64) / len(rows)
        differs |= (matrix[block] != first).any(axis=0)
    for block in blocks:
        squares += np.square(matrix[block] - mean).sum(axis=0) / len(rows)
    factor = np.divide(1, np.sqrt(squares * width), out=np.zeros(width), where=differs & (squares > 0))

    def scaled(rows: Features) -> Features:
        # A column that hardly differs in the training rows can be far away in the others.
        result: Features = np.clip((rows - mean) * factor, -LARGEST, LARGEST).astype(np.float32)
        return result

    return scaled
