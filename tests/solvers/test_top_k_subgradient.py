"""Subgradient descent of the c-star label ranker: what it averages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from label_problems import small_risk

from ranking.solvers import top_k_subgradient as module
from ranking.solvers.top_k_risk import TopKRisk, TopKWeights
from ranking.solvers.top_k_subgradient import top_k_subgradient


def test_the_average_counts_the_weights_after_batch_k_k_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH", 1)
    seen: list[TopKWeights] = []
    judged: list[TopKWeights] = []

    class Watched(TopKRisk):
        def most_violated(self, weights: TopKWeights, rows: Any = slice(None)) -> Any:
            if not isinstance(rows, slice):
                seen.append(weights)
            return super().most_violated(weights, rows)

        def objective(self, weights: TopKWeights, violated: Any = None) -> float:
            judged.append(weights)
            return super().objective(weights, violated)

    risk = small_risk(0)
    watched = Watched(**{name: getattr(risk, name) for name in risk.__dataclass_fields__})
    top_k_subgradient(watched, max_iterations=2)
    averaged, last = [weights for weights in judged if risk.square(weights)][2:4]  # of the second pass
    after = [watched.flat(weights) for weights in [*seen[1:], last]]
    average = np.average(after, axis=0, weights=np.arange(1, len(after) + 1))
    np.testing.assert_allclose(
        watched.flat(averaged), average, rtol=1e-10, atol=1e-12 * np.abs(average).max()
    )
    assert len(after) == 2 * len(risk.k)
