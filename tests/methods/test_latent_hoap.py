"""Latent HOAP-SVM against its definition, by enumeration of labellings and windows."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
from bag_problems import bag_set, boxes_of

from ranking import BagSet, ProgressEvent, make_method
from ranking.methods.latent_hoap_svm import LatentSurrogate
from ranking.solvers import Point


def tiny(seed: int) -> tuple[BagSet, Any, np.ndarray]:
    """A few images of a few windows, a method, and weights (d + 1,), some of which tie."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    starts = np.append(0, np.cumsum(rng.integers(1, 4, n)))
    windows, weights = rng.normal(size=(starts[-1], 2)), rng.normal(size=3)
    if seed % 3 == 0:
        windows, weights = np.round(windows), np.round(weights)
    relevance = (np.arange(n) < rng.integers(1, n)).astype(int)
    bags = BagSet(windows, starts, boxes_of(rng, starts), relevance, groups=rng.integers(0, 3, n))
    smallest, eta = [0.0, 0.05][seed % 2], [0.3, 1.0, 3.0][seed % 3]
    method = make_method("Latent HOAP-SVM", C=2.0, eta=eta, smallest_window=smallest)
    weights[2] = -abs(weights[2])
    return bags, method, weights * (seed % 7 > 0)


def scores_of(bags: BagSet, method: Any, weights: np.ndarray) -> np.ndarray:
    """The difference of max-marginals of each image, over all labellings and all choices of windows."""
    scores, n = bags.windows @ weights[:-1] + method.bonus(bags), len(bags)
    choices = np.array(list(itertools.product(*[scores[a:b] for a, b in itertools.pairwise(bags.starts)])))
    labels = np.array(list(itertools.product([0, 1], repeat=n)))
    values = np.where(labels[:, None], choices, 0.0).sum(axis=2).max(axis=1)
    for i, j in itertools.combinations(range(n), 2):
        if bags.groups[i] == bags.groups[j]:
            values += method.eta * weights[-1] * (labels[:, i] != labels[:, j])
    return np.array([values[labels[:, i] == 1].max() - values[labels[:, i] == 0].max() for i in range(n)])


def objective(bags: BagSet, method: Any, weights: np.ndarray) -> float:
    assert bags.relevance is not None
    slack = reference.bag_slack(scores_of(bags, method, weights), bags.relevance > 0, "ap")
    return float(weights @ weights) / 2 + method.C * slack


def test_bounds_touch_the_objective_over_labellings_and_windows_and_lie_nowhere_below() -> None:
    above = 0
    for seed in range(300):
        bags, method, weights = tiny(seed)
        assert bags.relevance is not None
        upper = LatentSurrogate.of(method, bags, bags.relevance > 0)
        bound = upper.touching(weights)
        assert bound.point.objective == pytest.approx(objective(bags, method, weights), abs=1e-12), seed
        for other in np.random.default_rng(seed).normal(size=(4, 3)) * [1, 1, -1]:
            other[2] = -abs(other[2])
            there = Point.of(bound.risk, other, bound.risk.exact_scores(other)).objective
            value = objective(bags, method, other)
            assert there >= value - 1e-12, seed
            above += there > value + 1e-3
    assert above > 100


def grouped(seed: int) -> BagSet:
    """Six images in groups that mostly share their label; a constant feature lets scores have either sign."""
    bags = bag_set(seed, n=6, d=3, positives=3, most=3)
    windows = np.hstack([bags.windows, np.ones((len(bags.windows), 1))])
    return replace(bags, windows=windows, groups=np.array([0, 0, 1, 1, 2, 2]))


def test_the_objective_never_rises_and_ends_below_that_without_neighbours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    touching, used, rounds, lower = LatentSurrogate.touching, 0, 0, 0
    for seed in range(12):
        bags, places, events = grouped(seed), list[np.ndarray](), list[ProgressEvent]()

        def kept(upper: Any, weights: np.ndarray, places: list[np.ndarray] = places) -> Any:
            places.append(weights.copy())
            return touching(upper, weights)

        monkeypatch.setattr(LatentSurrogate, "touching", kept)
        settings = {"C": 30.0, "start": "whole image"}
        method: Any = make_method("Latent HOAP-SVM", eta=3.0, tolerance=1e-4, **settings)
        method.fit([bags], events.append)
        end = np.append(method.weights, method.pair_weight)
        values = [objective(bags, method, place) for place in places]
        accepted = [values[0]]
        for value in values[1:]:
            if value < accepted[-1]:
                accepted.append(value)
        assert method.certificate.primal == pytest.approx(accepted[-1], rel=1e-9), seed
        assert objective(bags, method, end) == pytest.approx(accepted[-1], rel=1e-9), seed
        assert all(b.primal <= a.primal * (1 + 1e-6) for a, b in itertools.pairwise(events)), seed
        assert method.certificate.converged
        alone = make_method("Latent AP-SVM", tolerance=1e-4, **settings).fit([bags]).certificate.primal
        assert accepted[0] == pytest.approx(alone, rel=1e-9)
        assert method.certificate.dual <= method.certificate.primal <= alone * (1 + 1e-12)
        lower += method.certificate.primal < 0.999 * alone
        used += method.pair_weight < -1e-3
        rounds += len(accepted)
        np.testing.assert_allclose(method.score(bags), scores_of(bags, method, end), atol=1e-9)
        reported = method.window_scores(bags, end)  # as a recording has them
        np.testing.assert_array_equal(method.image_scores(bags, reported, end), method.score(bags))
    assert used > 3
    assert lower > 3
    assert rounds > 24


def test_without_groups_it_is_latent_ap_svm() -> None:
    bags = bag_set(2)
    method: Any = make_method("Latent HOAP-SVM", start="LDA").fit([bags])
    alone = make_method("Latent AP-SVM", start="LDA").fit([bags])
    assert method.pair_weight == 0.0
    assert method.certificate.primal == pytest.approx(alone.certificate.primal, rel=1e-3)
    assert method.best_windows(bags).tolist() == alone.best_windows(bags).tolist()


def test_weights_0_are_defined() -> None:
    bags = grouped(0)
    same = replace(bags, windows=np.ones_like(bags.windows))
    method: Any = make_method("Latent HOAP-SVM").fit([same])
    assert "nothing was learned" in method.outcome
    assert method.score(same).tolist() == pytest.approx([0.0] * 6)
    assert method.best_windows(same).tolist() == same.starts[:-1].tolist()


def test_a_saved_method_scores_as_before_and_starts_another(tmp_path: Path) -> None:
    bags = grouped(1)
    method: Any = make_method("Latent HOAP-SVM", C=30.0, eta=3.0).fit([bags])
    method.save(tmp_path / "model.npz")
    loaded: Any = type(method).load(tmp_path / "model.npz")
    assert loaded.pair_weight == method.pair_weight
    np.testing.assert_array_equal(loaded.score(bags), method.score(bags))
    again: Any = make_method("Latent HOAP-SVM", C=30.0, eta=3.0).fit([bags], warm_start=loaded)
    assert again.certificate.primal <= method.certificate.primal * (1 + 1e-12)
