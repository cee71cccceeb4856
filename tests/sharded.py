"""What trainings on shards of features must come to, on any cluster: the numbers of this computer."""

from __future__ import annotations

from typing import Any

import numpy as np
from distributed import Client, LocalCluster

from ranking import Query, make_method
from ranking.methods.shards import ShardedBlock, ShardedFeatures, fit_on_shards, score_on_shards
from ranking.solvers.block import Block


def local_cluster(workers: int, processes: bool = True) -> LocalCluster:
    """A cluster that no other machine can reach, with workers of one thread each."""
    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=processes,
        protocol="tcp",
        dashboard_address="127.0.0.1:0",
    )


def samples(n: int = 301, d: int = 17) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(3)
    relevance = (generator.random(n) < 0.2).astype(int)
    features = generator.standard_normal((n, d)) + 0.5 * relevance[:, None]
    return (features / np.linalg.norm(features, axis=1, keepdims=True)).astype(np.float32), relevance


def check_products(cluster: Any) -> None:
    """Products with sharded features are those with the features; two workers hold half of the rows each."""
    features, _ = samples()
    generator = np.random.default_rng(0)
    with Client(cluster) as client:
        sharded = ShardedFeatures.scattered(client, features)
        block, there = Block(features, 1.5), ShardedBlock(sharded, 1.5)
        assert there.shape == features.shape == (len(sharded), 17)
        weights, coefficients = generator.standard_normal(17), generator.standard_normal(301)
        several = np.stack([coefficients, -coefficients])
        np.testing.assert_allclose(there.normal(several), block.normal(several), rtol=1e-4, atol=1e-5)
        for product, values in (("scores", weights), ("normal", coefficients)):
            computed, expected = getattr(there, product)(values), getattr(block, product)(values)
            np.testing.assert_allclose(computed, expected, rtol=1e-4, atol=1e-5)
            exactly = getattr(there, f"exact_{product}")(values), getattr(block, f"exact_{product}")(values)
            np.testing.assert_allclose(*exactly, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(there.lengths(), block.lengths(), rtol=1e-12)
        holders = [tuple(workers) for workers in client.who_has(sharded._shards).values()]
        assert sorted(map(len, set(holders))) == [1, 1], "each worker has its own rows, and no others"


def check_training(cluster: Any, name: str) -> None:
    """Training on shards equals training here, within the gaps of both."""
    features, relevance = samples()
    settings = {"C": 50.0, "tolerance": 1e-3}
    here: Any = make_method(name, **settings).fit([Query(features, relevance)])
    method: Any = make_method(name, **settings)
    with Client(cluster) as client:
        sharded = ShardedFeatures.scattered(client, features)
        assert fit_on_shards(method, sharded, relevance) is method
        scores = score_on_shards(method, sharded)
    proven, known = method.certificate, here.certificate
    assert proven.converged
    assert known.converged
    assert max(proven.dual, known.dual) <= min(proven.primal, known.primal)
    assert max(proven.primal, known.primal) - max(proven.dual, known.dual) <= 1e-3 * known.primal
    np.testing.assert_allclose(scores, method.score(Query(features)), rtol=1e-12, atol=1e-14)
    # The gap bounds how far strongly convex objectives let weights lie apart: 1/2 ||w - w*||^2 <= gap.
    apart = np.linalg.norm(method.solution.weights - here.solution.weights)
    assert apart <= np.sqrt(2 * proven.gap) + np.sqrt(2 * known.gap)
