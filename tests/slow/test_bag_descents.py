"""The objective of bag methods over the rounds of many training runs, recomputed by its definition."""

from __future__ import annotations

import pytest
from bag_problems import descends

from ranking.solvers import bag_cccp


def test_the_objective_never_rises_over_rounds_of_300_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = 0
    for seed in range(300):
        # so that rounds lack windows at first
        monkeypatch.setattr(bag_cccp, "KEPT", 1 + seed % 4)
        rounds += descends(seed)
    assert rounds > 750
