"""Planes of each image and the shares they have: what a sweep over the images does to them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from label_problems import small_risk
from problems import Heard

from ranking.solvers import top_k_planes as module
from ranking.solvers.clock import Clock
from ranking.solvers.top_k_planes import Planes, top_k_planes


@pytest.mark.parametrize("seed", range(3))
def test_a_sweep_raises_the_dual_and_leaves_the_weights_that_the_shares_imply(seed: int) -> None:
    risk, generator = small_risk(seed), np.random.default_rng(seed)
    planes, everyone = Planes.at_truth(risk), np.arange(len(risk.labels))
    weights, dual = planes.settle(risk)
    for _ in range(4):
        outputs = risk.most_violated(weights).members
        planes.add(everyone, outputs)
        held = (planes.outputs == outputs[:, None]).all(axis=2) & (
            np.arange(planes.outputs.shape[1]) < planes.used[:, None]
        )
        assert held.sum(axis=1).tolist() == [1] * len(everyone)
        promise = planes.sweep(risk, weights, generator.permutation(everyone))
        assert planes.shares.min() >= 0
        np.testing.assert_allclose(planes.shares.sum(axis=1), 1.0, rtol=1e-12)
        settled, risen = planes.settle(risk)
        for own, implied in zip(weights, settled, strict=True):
            np.testing.assert_allclose(own, implied, atol=1e-10 * np.abs(implied).max())
        assert dual < risen <= dual + promise
        weights, dual = settled, risen


def test_a_move_between_two_planes_is_as_far_as_is_best() -> None:
    """Afterwards neither is better, or the worse one has no share left."""
    risk = small_risk(0)
    moved = 0
    for m in range(len(risk.labels)):
        planes = Planes.at_truth(risk)
        weights, _ = planes.settle(risk)
        planes.add(np.array([m]), risk.most_violated(weights, [m]).members)
        first = planes.sweep(risk, weights, np.array([m]))
        again = planes.sweep(risk, weights, np.array([m]))
        moved += first > 0
        assert again <= 1e-12 * first
    assert moved > 9


@pytest.mark.parametrize("seed", range(3))
def test_weights_in_one_vector_have_the_same_norm_and_hinge(seed: int) -> None:
    risk, generator = small_risk(seed), np.random.default_rng(seed)
    flat = generator.normal(size=risk.flat(risk.zero()).size)
    weights = risk.shaped(flat)
    np.testing.assert_array_equal(risk.flat(weights), flat)
    assert risk.square(weights) == pytest.approx(flat @ flat)
    cut = risk.hinge(weights)
    assert 0.5 * flat @ flat + cut.loss + flat @ cut.coefficients == pytest.approx(risk.objective(weights))


def test_with_few_weights_one_slack_planes_end_what_moving_shares_leaves_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Bounds never step back where the second solver takes over, and who stops it gets the best so far."""
    risk = replace(small_risk(0), C=1e7)
    events = Heard()
    solution = top_k_planes(risk, 1e-6, clock=Clock(events))
    assert solution.certificate.converged
    assert solution.certificate.primal == pytest.approx(risk.objective(solution.weights))
    assert solution.certificate.iterations == events[-1].iteration
    rounding = 1e-12 * solution.certificate.primal
    assert (np.diff([(-event.primal, event.dual) for event in events], axis=0) >= -rounding).all()
    monkeypatch.setattr(module, "FEW_WEIGHTS", 0)
    alone = top_k_planes(risk, 1e-6, max_iterations=solution.certificate.iterations)
    assert not alone.certificate.converged
    assert alone.certificate.dual <= solution.certificate.primal
    assert alone.certificate.primal >= solution.certificate.dual
