"""Subgradient descent of the c-star label ranker: what it averages."""

from __future__ import annotations

import numpy as np
import pytest
from label_problems import small_risk

from ranking.solvers import top_k_subgradient as module
from ranking.solvers.top_k_risk import TopKWeights
from ranking.solvers.top_k_subgradient import top_k_subgradient


def test_the_average_counts_the_weights_after_batch_k_k_times(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[tuple[TopKWeights, TopKWeights]] = []
    combined = TopKWeights.combined

    def watched(self: TopKWeights, target: TopKWeights, share: float) -> TopKWeights:
        steps.append((target, combined(self, target, share)))
        return steps[-1][1]

    monkeypatch.setattr(module, "BATCH", 1)
    monkeypatch.setattr(TopKWeights, "combined", watched)
    risk = small_risk(0)
    top_k_subgradient(risk, max_iterations=2)
    assert len(steps) == 2 * len(risk.k)
    after = [risk.flat(weights) for weights, _ in steps]
    average = np.average(after, axis=0, weights=np.arange(1, len(after) + 1))
    np.testing.assert_allclose(risk.flat(steps[-1][1]), average, rtol=1e-10, atol=1e-12)
