"""Products with sparse features are those with the same features as a dense array."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from scipy.sparse import csr_array

from ranking.solvers.block import Block, SparseBlock


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_with_a_sparse_matrix(dtype: type):
    rng = np.random.default_rng(0)
    features = np.where(rng.random((30, 7)) < 0.4, rng.standard_normal((30, 7)), 0.0).astype(dtype)
    dense, sparse = Block(features, 1.5), SparseBlock(csr_array(features), 1.5)
    weights, coefficients = rng.standard_normal(7), rng.standard_normal((2, 30))
    assert sparse.shape == dense.shape
    for product in ("scores", "exact_scores"):
        np.testing.assert_allclose(getattr(sparse, product)(weights), dense.exact_scores(weights), rtol=1e-12)
    for product in ("normal", "exact_normal"):
        computed = getattr(sparse, product)(coefficients[0])
        np.testing.assert_allclose(computed, dense.exact_normal(coefficients[0]), rtol=1e-12)
    np.testing.assert_allclose(sparse.normal(coefficients), dense.normal(coefficients), rtol=1e-6)
    np.testing.assert_allclose(sparse.lengths(), dense.lengths(), rtol=1e-12)
    with refused("features", "a sparse array"):
        _ = sparse.rows
