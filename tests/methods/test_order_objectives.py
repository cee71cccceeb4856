"""Objectives, optima and gradients of the baselines against their definitions with all pairs and lists."""

from __future__ import annotations

import dataclasses
import itertools
import pkgutil
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import reference
from contract_cases import ORDER_OBJECTIVES, RanksOrders
from order_problems import rows_of, sequences
from scipy.optimize import check_grad
from sklearn.svm import LinearSVR

from ranking import ProgressEvent, Query, SequenceSet, make_method
from ranking.inference.graded_pairs import GradedPairs
from ranking.methods.list_wise import ScoreNetwork
from ranking.methods.point_targets import PointTargets

LISTS = {"ListNet": reference.list_net_loss, "ListMLE": reference.list_mle_loss}


def uneven(seed: int = 0) -> SequenceSet:
    """Sequences of one to nine of few samples, with equal grades."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 10, 12)
    members = np.concatenate([rng.permutation(15)[:length] for length in lengths])
    return SequenceSet(
        rng.normal(size=(15, 3)), rng.integers(0, 5, 15), members, np.concatenate([[0], np.cumsum(lengths)])
    )


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_svr_is_that_of_liblinear(C: float) -> None:
    data = sequences(1)
    method = make_method("SVR", C=C, tolerance=1e-6).fit(data)
    rows, shares, targets = PointTargets.of(data)
    own = data.grades[data.members]
    np.testing.assert_allclose(targets, (data.grades[rows] - own.mean()) / own.std())
    theirs = LinearSVR(epsilon=0.1, C=C, tol=1e-8, max_iter=200_000, random_state=0)
    theirs.fit(data.features[rows], targets, sample_weight=shares)
    w = np.append(theirs.coef_, theirs.intercept_)
    errors = np.abs(theirs.predict(data.features[rows]) - targets)
    primal = w @ w / 2 + C * shares @ np.maximum(0.0, errors - 0.1)
    assert method.certificate.primal == pytest.approx(primal, rel=1e-5)
    assert method.certificate.dual <= primal * (1 + 1e-9)
    np.testing.assert_allclose(method.weights, theirs.coef_, atol=0.01 * np.abs(theirs.coef_).max())


@pytest.mark.parametrize("name", ORDER_OBJECTIVES)
@pytest.mark.parametrize("C", [0.1, 10.0, 1e4])
def test_the_certificate_is_of_the_objective_with_all_pairs_or_lists(name: str, C: float) -> None:
    for dtype in (np.float32, np.float64):
        data, case = sequences(2, levels=3, dtype=dtype), RanksOrders(name)
        method = make_method(name, C=C).fit(data)
        certificate = method.certificate
        assert certificate.primal == pytest.approx(case.objective(method, data), rel=1e-9)
        assert certificate.converged
        assert 0 <= certificate.relative_gap <= 1e-3
        exact = make_method(name, C=C, tolerance=1e-6).fit(data)
        optimum = case.objective(exact, data)
        assert optimum is not None
        assert certificate.dual <= optimum <= certificate.primal * (1 + 1e-9)
        rng = np.random.default_rng(0)
        # nothing near is below what the certificate proves
        for size in (1e-3, 1e-2, 0.1):
            near = SimpleNamespace(weights=exact.weights + size * rng.normal(size=5), C=C)
            assert case.objective(near, data) >= exact.certificate.dual


def test_the_pairs_of_relative_attributes_are_summed_up() -> None:
    for seed in range(30):
        data = uneven(seed)
        pairs, rng = GradedPairs(data), np.random.default_rng(seed)
        scores, values = rng.normal(size=(2, 15))
        ordered = reference.graded_pairs(data.grades.tolist(), rows_of(data))
        both = [pair for rows in rows_of(data) for pair in itertools.combinations(rows, 2)]
        similar = [(i, j) for i, j in both if data.grades[i] == data.grades[j]]
        violated = [(i, j) for i, j in ordered if scores[i] - scores[j] < 1]
        expected = np.zeros(15)
        for i, j in [*similar, *violated]:
            expected[i] += values[i] - values[j]
            expected[j] += values[j] - values[i]
        assert pairs.similar == len(similar)
        np.testing.assert_allclose(pairs.laplacian(scores, values), expected, atol=1e-12)
        squares = sum((values[i] - values[j]) ** 2 for i, j in ordered)
        assert pairs.squares(values) == pytest.approx(squares, abs=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_crr_comes_near_the_optimum_of_its_objective(alpha: float) -> None:
    data, events = sequences(3), list[ProgressEvent]()
    features = np.concatenate([data.features, np.ones((60, 1))], axis=1)
    C, rows = 100.0, rows_of(data)

    def primal(w: np.ndarray) -> float:
        return reference.crr_primal(w, features, data.grades.tolist(), rows, C, alpha)

    method = make_method("CRR", C=C, alpha=alpha, steps=200_000).fit(data, on_progress=events.append)
    zero, unit = primal(np.zeros(6)), np.eye(6)
    slope = np.array([(primal(e) - primal(-e)) / 2 for e in unit])
    bend = np.array([[primal(a + b) - primal(a) - primal(b) + zero for b in unit] for a in unit])
    best = -np.linalg.solve(bend, slope)
    assert events[0].primal == pytest.approx(zero)
    assert primal(best) <= events[-1].primal <= 1.02 * primal(best)
    np.testing.assert_allclose(method.weights, best[:-1], atol=0.1 * np.abs(best).max())


def test_crr_samples_each_pair_equally_often() -> None:
    data = uneven(2)
    pairs = GradedPairs(data)
    sampled = make_method("CRR", alpha=0.0)._sampled_pairs(pairs, 40_000, np.random.default_rng(0))
    counts = Counter(zip(*(part.tolist() for part in sampled), strict=True))
    expected = Counter(reference.graded_pairs(data.grades.tolist(), rows_of(data)))
    assert set(counts) == set(expected)
    for pair, count in expected.items():
        assert counts[pair] == pytest.approx(40_000 * count / pairs.number, rel=0.2)
    first, second = make_method("CRR", alpha=1.0)._sampled_pairs(pairs, 40_000, np.random.default_rng(0))
    assert (second == -1).all()
    sample_shares = np.bincount(data.members, minlength=15) / len(data.members)
    np.testing.assert_allclose(np.bincount(first, minlength=15) / 40_000, sample_shares, atol=0.01)


def test_ada_rank_takes_the_weak_rankers_of_the_algorithm() -> None:
    examples = sequences(4, noise=0.5)
    # of features that are turned round the negatives are chosen
    for sign in (1.0, -1.0):
        data = dataclasses.replace(examples, features=sign * examples.features)
        spread = data.features[np.unique(data.members)].std(axis=0)
        both = np.concatenate([data.features / spread, -data.features / spread], axis=1)
        chosen = reference.ada_rank(both, data.grades.tolist(), rows_of(data), 2)
        # else it would be set aside
        assert chosen[0][0] != chosen[1][0]
        expected = np.zeros(5)
        for column, weight in chosen:
            expected[column % 5] += (weight if column < 5 else -weight) / spread[column % 5]
        method = make_method("AdaRank", rounds=2).fit(data)
        np.testing.assert_allclose(method.weights, expected, rtol=1e-6)


@pytest.mark.parametrize("name", LISTS)
def test_losses_of_lists_and_their_slopes(name: str) -> None:
    for seed in range(20):
        data = uneven(seed)
        loss = make_method(name).loss(data)
        scores = np.random.default_rng(seed).normal(size=15)
        value = LISTS[name](scores, data.grades.tolist(), rows_of(data))
        assert loss(scores)[0] == pytest.approx(value, rel=1e-12)
        assert check_grad(lambda s: loss(s)[0], lambda s: loss(s)[1], scores) < 1e-6  # noqa: B023
    # no overflow
    far = loss(1e4 * scores)
    assert np.isfinite(far[0])
    assert np.isfinite(far[1]).all()


@pytest.mark.parametrize("hidden", [0, 3])
def test_the_gradient_of_the_network_equals_finite_differences(hidden: int) -> None:
    rng, network = np.random.default_rng(0), ScoreNetwork(4, hidden)
    features, slope = rng.normal(size=(7, 4)), rng.normal(size=7)
    parameters = rng.normal(size=network.size)
    error = check_grad(
        lambda p: slope @ network.scores(p, features),
        lambda p: network.gradient(p, features, slope),
        parameters,
    )
    assert error < 1e-6


@pytest.mark.parametrize("name", LISTS)
def test_hidden_units_learn_a_nonlinear_order(name: str) -> None:
    rng = np.random.default_rng(0)
    features = rng.uniform(-1, 1, size=(80, 1))
    grades = np.argsort(np.argsort(-np.abs(features[:, 0]))) // 20
    members = np.concatenate([rng.permutation(80)[:6] for _ in range(60)])
    data = SequenceSet(features, grades, members, np.arange(0, 361, 6))
    method = make_method(name, hidden=8, C=1000.0, seed=1).fit(data)
    scores = method.score(Query(features))
    assert method.certificate is None
    assert method.weights is None
    assert np.corrcoef(scores, -np.abs(features[:, 0]))[0, 1] > 0.8
    of_seed_2 = make_method(name, hidden=8, C=1000.0, seed=2).fit(data)
    assert not np.array_equal(of_seed_2.score(Query(features)), scores)


# Modules and their kernels, and settings that make the uncompiled ones quick.
KERNELS: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {
    "CRR": ("methods.crr", ("_descend",), {"steps": 40}),
    "AdaRank": ("methods.ada_rank", ("_qualities",), {"rounds": 3}),
    "ListNet": ("methods.list_net", ("_cross_entropy",), {}),
    "ListMLE": ("methods.list_mle", ("_likelihood",), {}),
    "LambdaMART": (
        "methods.lambda_mart",
        ("_lambdas", "_pull", "_dcg", "_from_top"),
        {"rounds": 3, "least": 1},
    ),
    "Relative Attributes": ("inference.graded_pairs", ("_laplacian",), {}),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_run_uncompiled_alike(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data, (module, kernels, settings) = uneven(1), KERNELS[name]
    compiled = make_method(name, **settings).fit(data).score(Query(data.features))
    for kernel in kernels:
        path = f"ranking.{module}.{kernel}"
        monkeypatch.setattr(path, pkgutil.resolve_name(path).py_func)
    again = make_method(name, **settings).fit(data).score(Query(data.features))
    np.testing.assert_allclose(again, compiled, rtol=1e-6, atol=1e-9)
