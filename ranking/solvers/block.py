"""Products of a feature matrix with vectors: in the precision of the features, and exact.

All solvers use them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ranking.core import Features, Floats
from ranking.core.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# of the features converted to float64 at a time for an exact product: they fit the cache
ROWS_AT_ONCE = 256

# entries: so few are cheap to multiply in float64, where rounding does not hide the optimum
SMALL = 2**16


def exact_product(features: Features, weights: Floats) -> Floats:
    """Return X w in float64, (n,), without a float64 copy of all of X; (n, t) for weights (d, t)."""
    product = np.empty((len(features), *weights.shape[1:]))
    precise = features.dtype == np.float64
    # One buffer: where the system takes freed memory back, as in Dask workers, fresh blocks take most of the time.
    buffer = np.empty((0 if precise else min(ROWS_AT_ONCE, len(features)), features.shape[1]))
    for start in range(0, len(features), ROWS_AT_ONCE):
        rows = features[start : start + ROWS_AT_ONCE]
        if not precise:
            buffer[: len(rows)] = rows
            rows = buffer[: len(rows)]
        product[start : start + ROWS_AT_ONCE] = rows @ weights
    return product


class FeatureMatrix(Protocol):
    """The matrix scale X of features X (n, d), wherever its rows are stored: what solvers read of it.

    rows: X itself, for solvers that read it row by row; ValueError where its rows are on other machines.
    """

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def scale(self) -> float: ...
    @property
    def rows(self) -> Features: ...
    def scores(self, weights: Floats) -> Floats: ...
    def normal(self, coefficients: Floats) -> Floats: ...
    def exact_scores(self, weights: Floats) -> Floats: ...
    def exact_normal(self, coefficients: Floats) -> Floats: ...
    def lengths(self) -> Floats: ...


@dataclass(frozen=True, eq=False)
class Block:
    """A `FeatureMatrix` whose rows are in this process."""

    features: Features
    scale: float = 1.0

    @property
    def shape(self) -> tuple[int, ...]:
        return self.features.shape

    @property
    def rows(self) -> Features:
        return self.features

    def scores(self, weights: Floats) -> Floats:
        """Return scale X w in the features' own precision, for a small X in float64: one pass over X."""
        features = self._precise_enough
        return (features @ (self.scale * weights).astype(features.dtype)).astype(np.float64)

    def normal(self, coefficients: Floats) -> Floats:
        """Return scale X' c in the features' own precision, for a small X in float64: one pass over X."""
        features = self._precise_enough
        return self.scale * (coefficients.astype(features.dtype) @ features).astype(np.float64)

    @property
    def _precise_enough(self) -> Features:
        small = self.features.size <= SMALL
        return self.features.astype(np.float64, copy=False) if small else self.features

    def exact_scores(self, weights: Floats) -> Floats:
        """Return scale X w in float64."""
        return self.scale * exact_product(self.features, weights)

    def exact_normal(self, coefficients: Floats) -> Floats:
        """Return scale X' c in float64."""
        total = np.zeros(self.features.shape[1])
        for start in range(0, len(self.features), ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            total += coefficients[rows] @ self.features[rows].astype(np.float64, copy=False)
        return self.scale * total

    def lengths(self) -> Floats:
        """Return (n,) the Euclidean length of each row of scale X."""
        squares = np.einsum("nd,nd->n", self.features, self.features, dtype=np.float64)
        lengths: Floats = self.scale * np.sqrt(squares)
        return lengths


@dataclass(frozen=True, eq=False)
class SparseBlock:
    """A `FeatureMatrix` of a SciPy CSR array (n, d), never dense, with all products in float64."""

    features: csr_array
    scale: float = 1.0

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.features.shape
        return shape

    @property
    def rows(self) -> Features:
        raise InputError(
            "features",
            "a dense array, which this solver reads row by row",
            "a sparse array",
            "pass X.toarray()",
        )

    def scores(self, weights: Floats) -> Floats:
        product: Floats = self.scale * (self.features @ weights)
        return product

    def normal(self, coefficients: Floats) -> Floats:
        product: Floats = self.scale * (coefficients @ self.features)
        return product

    exact_scores, exact_normal = scores, normal

    def lengths(self) -> Floats:
        squares = self.features.astype(np.float64).power(2).sum(axis=1)
        lengths: Floats = self.scale * np.sqrt(squares)
        return lengths
