"""Scaling per column, where rounding and rare rows would spoil it."""

from __future__ import annotations

import numpy as np

from ranking.core import LARGEST
from ranking.features.scaling import PER_COLUMN, scaling_of


def test_a_column_that_is_constant_in_training_becomes_zero_although_its_mean_is_rounded() -> None:
    """Ten times 0.1 sum to less than 1: the deviation of a constant column is tiny, but not 0."""
    matrix = np.full((10, 2), 0.1)
    matrix[:, 1] = np.arange(10)
    assert np.square(matrix[:, 0] - (matrix[:, 0] / 10).cumsum()[-1]).sum() > 0
    scaled = scaling_of(matrix, PER_COLUMN, np.ones(10, bool))(matrix)
    assert not scaled[:, 0].any()
    assert scaled[:, 1].any()


def test_a_test_row_far_from_all_training_rows_stays_finite() -> None:
    matrix = np.array([[0.0], [1e-30], [1e30]])
    scaled = scaling_of(matrix, PER_COLUMN, np.array([True, True, False]))(matrix)
    assert np.isfinite(scaled).all()
    assert scaled[2, 0] == np.float32(LARGEST)
