"""Methods that rank images by the best of their windows, against the definitions by enumeration."""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import reference
from bag_problems import STARTS, bag_set, boxes_of, descends, objective
from problems import Heard

from ranking import BagSet, ProgressEvent, Query, make_method, method_names
from ranking.core.settings import settings_of
from ranking.inference.best_windows import best_windows, k_best_windows
from ranking.methods import bag_starts
from ranking.solvers import bag_cccp, bag_risk
from ranking.solvers.block import Block

BAGS = method_names(ranks="windows")
EVERY = pytest.mark.parametrize("name", BAGS)
RANKING = {"Latent AP-SVM": "ap", "Latent NDCG-SVM": "ndcg"}


@functools.cache
def rankings(positives: int, negatives: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """R (k, |P|, |N|) of every ranking, 1 where i is above j and -1 where it is not, and the losses of each."""
    losses: dict[tuple[int, ...], list[float]] = {}
    relevant = np.arange(positives + negatives) < positives
    for order in itertools.permutations(range(positives + negatives)):
        ranks = np.argsort(order)
        R = np.where(ranks[:positives, None] < ranks[None, positives:], 1, -1)
        positions = reference.positions_of_relevant(order, relevant)
        losses[tuple(R.ravel())] = [loss(positions) for loss in reference.LOSSES.values()]
    table = np.array(list(losses.values())).T
    matrices = np.array(list(losses)).reshape(-1, positives, negatives)
    return matrices, dict(zip(reference.LOSSES, table, strict=True))


def choices(scores: list[np.ndarray]) -> np.ndarray:
    """Every choice of one score per image, (choices, images)."""
    return np.array(list(itertools.product(*scores)))


def test_the_objective_is_the_one_over_all_rankings_and_windows() -> None:
    """For all R and windows of N: the best windows of P are those of the constraint, chosen before or after R."""
    for seed in range(500):
        rng = np.random.default_rng(seed)
        positives, negatives = (int(count) for count in rng.integers(1, 4, 2))
        starts = np.append(0, np.cumsum(rng.integers(1, 4, positives + negatives)))
        windows, weights = rng.normal(size=(starts[-1], 2)), rng.normal(size=2)
        if seed % 3 == 0:
            # ties
            windows, weights = np.round(windows), np.round(weights)
        relevance = (np.arange(positives + negatives) < positives).astype(int)
        bags = BagSet(windows, starts, boxes_of(rng, starts), relevance)
        name = list(RANKING)[seed % 2]
        method = make_method(
            name, C=2.0, size_bonus=[0.0, 0.3][seed % 2], smallest_window=[0.0, 0.05][seed % 2]
        )
        scores = windows @ weights + method.bonus(bags)
        by_image = [scores[a:b][scores[a:b] > -np.inf] for a, b in itertools.pairwise(starts)]
        R, losses = rankings(positives, negatives)
        shares = (1 - R) / (positives * negatives)
        of_P = shares.sum(axis=2) @ choices(by_image[:positives]).T
        of_N = shares.sum(axis=1) @ choices(by_image[positives:]).T
        # R, P, N
        values = losses[RANKING[name]][:, None, None] - of_P[:, :, None] + of_N[:, None, :]
        after, before = values.min(axis=1).max(), values.max(axis=(0, 2)).min()
        assert after == pytest.approx(before, abs=1e-12), seed
        expected = weights @ weights / 2 + 2.0 * after
        assert method.problem([bags]).at(weights).objective == pytest.approx(expected, abs=1e-12), seed


def test_the_output_of_mi_svm_attains_the_least_hinge_over_the_bias() -> None:
    for seed in range(200):
        rng = np.random.default_rng(seed)
        relevant = rng.permutation(np.arange(rng.integers(2, 9)) < 1 + rng.integers(3))
        relevant[0], relevant[-1] = True, False
        scores = rng.normal(size=len(relevant)) * rng.choice([0.3, 3.0])
        if seed % 3 == 0:
            scores = np.round(scores)
        method: Any = make_method("MI-SVM")
        cut, expected = method.cut(scores, relevant), reference.bag_slack(scores, relevant, None)
        assert cut.loss + cut.coefficients @ scores == pytest.approx(expected, abs=1e-12), seed
        assert (cut.coefficients[relevant] <= 0).all()
        assert (cut.coefficients[~relevant] >= 0).all()
        # a cut lies nowhere above the hinge
        for threshold in rng.normal(size=(20, len(scores))):
            assert (
                cut.loss + cut.coefficients @ threshold
                <= reference.bag_slack(threshold, relevant, None) + 1e-12
            )
        margins = 1 - np.where(relevant, 1, -1) * (scores + method.bias_of(scores, relevant))
        costs = np.where(relevant, 0.5 / relevant.sum(), 0.5 / (~relevant).sum())
        assert costs @ np.maximum(0, margins) == pytest.approx(expected, abs=1e-12), seed


def test_the_best_windows_are_the_first_of_equal_ones() -> None:
    for seed in range(100):
        rng = np.random.default_rng(seed)
        starts = np.append(0, np.cumsum(rng.integers(1, 6, rng.integers(0, 5))))
        scores = rng.integers(0, 3, starts[-1]).astype(float)
        scores[rng.random(len(scores)) < 0.2] = -np.inf
        parts = [list(range(a, b)) for a, b in itertools.pairwise(starts)]
        sorted_parts = [sorted(part, key=lambda row: -scores[row]) for part in parts]
        assert best_windows(scores, starts).tolist() == [part[0] for part in sorted_parts], seed
        for k in (1, 2, 9):
            kept = sorted(row for part in sorted_parts for row in part[:k] if scores[row] > -np.inf)
            assert k_best_windows(scores, starts, k).tolist() == kept, seed


@EVERY
def test_the_bound_touches_the_objective_lies_nowhere_below_and_planes_move(name: str) -> None:
    bags = bag_set(3)
    method = make_method(name, C=7.0, size_bonus=0.2, smallest_window=0.05)
    problem, rng = method.problem([bags]), np.random.default_rng(0)
    places = [problem.at(rng.normal(size=6) * 10.0 ** rng.integers(-1, 2)) for _ in range(8)]
    for place in places:
        assert place.objective == pytest.approx(objective(method, place.weights, bags), rel=1e-12)
    every = np.flatnonzero(problem.bonus > -np.inf)
    rows = [problem.rows_of(place.best, every) for place in places]
    values = np.array([[problem.bound_at(there, here.best) for there in places] for here in places])
    objectives = np.array([place.objective for place in places])
    np.testing.assert_array_equal(values.diagonal(), objectives)
    assert (values >= objectives * (1 - 1e-12)).all()
    assert (values > objectives * 1.01).any()
    for here, there in itertools.product(range(8), repeat=2):
        first, second = problem.bound(rows[here]), problem.bound(rows[there])
        cut = first.oracle(first.exact_scores(places[here].weights))
        [moved], [loss] = problem.moved(cut.coefficients[None], np.array([cut.loss]), rows[here], rows[there])
        for place in places:
            scores = second.exact_scores(place.weights)
            highest = second.oracle(scores)
            value = 0.5 * place.weights @ place.weights + 7.0 * (highest.loss + highest.coefficients @ scores)
            assert value == pytest.approx(problem.bound_at(place, places[there].best), rel=1e-12)
            hinge = highest.loss + scores @ highest.coefficients
            assert loss + scores @ moved <= hinge + 1e-12 * max(1.0, abs(hinge))
        if here == there:
            np.testing.assert_array_equal(moved, cut.coefficients)
            assert loss == cut.loss


def test_images_of_one_window_are_samples() -> None:
    """Then the objective is convex, and a latent method is its counterpart."""
    rng = np.random.default_rng(0)
    features, relevance = rng.normal(size=(30, 4)), np.arange(30) % 3 == 0
    bags = BagSet(features, np.arange(31), np.tile([0, 0, 9, 9], (30, 1)), relevance)
    for latent, plain in (("Latent AP-SVM", "AP-SVM"), ("Latent NDCG-SVM", "NDCG-SVM")):
        expected = make_method(plain, C=3.0, tolerance=1e-6).fit([Query(features, relevance)])
        method = make_method(latent, C=3.0, tolerance=1e-6).fit([bags])
        assert method.certificate.primal == pytest.approx(expected.certificate.primal, rel=2e-6)
        np.testing.assert_allclose(method.score(bags), features @ method.weights)


def test_the_objective_never_rises_over_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """tests/slow has 300 seeds."""
    # so that rounds lack windows at first
    monkeypatch.setattr(bag_cccp, "KEPT", 1)
    rounds = 0
    for seed in range(20):
        rounds += descends(seed)
    assert rounds > 50


def test_a_run_that_is_cut_off_is_no_worse_than_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lowest weights for a few windows may be worse than the start for all of them."""
    monkeypatch.setattr(bag_cccp, "KEPT", 1)
    for seed, iterations in itertools.product(range(30), (1, 3, 6)):
        bags = bag_set(seed, most=12)
        problem = make_method("Latent AP-SVM", C=1000.0).problem([bags])
        solution = bag_cccp.bag_cccp(problem, bags.starts[:-1], 1e-4, iterations)
        assert solution.certificate.primal == pytest.approx(solution.place.objective, rel=1e-12)
        assert solution.place.objective <= problem.at(np.zeros(6)).objective, (seed, iterations)


@EVERY
def test_a_working_set_ends_where_all_windows_do_with_fewer_passes(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bags = bag_set(5, n=90, d=12, positives=20, most=60)
    problem, starts = (
        make_method(name, C=1000.0).problem([bags]),
        np.random.default_rng(0).normal(size=(3, 12)),
    )
    starts[:, 0] = 3.0

    def solutions() -> list[Any]:
        return [bag_cccp.bag_cccp(problem, start, 1e-7) for start in starts]

    few = solutions()
    monkeypatch.setattr(bag_cccp, "KEPT", len(bags.windows))
    for working, whole in zip(few, solutions(), strict=True):
        assert working.certificate.converged
        assert whole.certificate.converged
        assert working.place.objective == pytest.approx(whole.place.objective, rel=1e-6)
        assert 5 * working.passes <= whole.passes, (working.passes, whole.passes)


@EVERY
def test_of_several_starts_the_lowest_objective_is_the_result(name: str) -> None:
    bags = bag_set(8)
    events = Heard()
    kept = make_method(name).fit([bags], events)
    ends = {start: make_method(name, start=start).fit([bags]).certificate.primal for start in STARTS}
    assert kept.certificate.primal == min(ends.values())
    assert len(set(ends.values())) > 1
    assert events[-1].primal == pytest.approx(kept.certificate.primal, rel=1e-2)
    assert all(event.dual <= event.primal for event in events)
    [item] = [item for item in settings_of(kept) if item.name == "start"]
    assert set(item.choices) == {"several", *STARTS}


def test_the_first_windows_are_those_of_their_definitions() -> None:
    bags = bag_set(9)
    problem = make_method("Latent AP-SVM", smallest_window=0.05).problem([bags])
    usable, shown = bags.shares >= 0.05, np.repeat(bags.relevance > 0, np.diff(bags.starts))
    assert not usable.all()
    middle = [reference.overlap_of(box, (25, 20, 75, 60)) for box in bags.boxes]
    windows = bags.windows[usable]
    covariance = np.cov(windows.T, bias=True)
    shrunk = covariance + 0.1 * np.trace(covariance) / 6 * np.eye(6)
    weights = np.linalg.inv(shrunk) @ (
        bags.windows[usable & shown].mean(axis=0) - bags.windows[usable & ~shown].mean(axis=0)
    )
    for start, scores in (("centre", np.array(middle)), ("LDA", bags.windows @ weights)):
        expected = [
            max((row for row in range(a, b) if usable[row]), key=scores.__getitem__)
            for a, b in itertools.pairwise(bags.starts)
        ]
        assert (
            bag_starts.STARTS[start](bags, problem, lambda *_: pytest.fail("not needed")).tolist() == expected
        ), start


def test_a_start_can_be_stopped_while_it_is_prepared() -> None:
    events = Heard(lambda heard: len(heard) == 3)
    method = make_method("Latent AP-SVM", start="self-paced").fit([bag_set(8)], events)
    assert len(events) == 3
    assert not method.certificate.converged
    assert events[0].primal == pytest.approx(objective(method, np.zeros(6), bag_set(8)))


@EVERY
def test_what_cannot_be_learned_is_not_shown_as_optimal(name: str) -> None:
    """All windows of all images are equal."""
    bags = bag_set(1)
    same = replace(bags, windows=np.ones_like(bags.windows))
    method: Any = make_method(name)
    assert method.outcome == "not trained"
    method.fit([same])
    assert "nothing was learned" in method.outcome
    assert method.certificate.primal == pytest.approx(objective(method, np.zeros(6), same))
    assert method.best_windows(same).tolist() == same.starts[:-1].tolist()
    method.fit([bags])
    assert method.outcome == "no round gains more: another would lower the objective by at most 0.1%"


@EVERY
def test_one_image_of_a_kind_is_enough(name: str) -> None:
    for positives in (1, 23):
        bags = bag_set(2, positives=positives)
        method = make_method(name, C=1000.0).fit([bags])
        scores = method.score(bags)
        assert method.certificate.converged
        assert scores[:positives].mean() > scores[positives:].mean()


def test_ignored_windows_are_never_the_best() -> None:
    bags = bag_set(4)
    assert bags.shares[bags.starts[:-1]].tolist() == [1.0] * 24
    for start in STARTS:
        method = make_method("Latent AP-SVM", start=start, smallest_window=0.1).fit([bags])
        assert (bags.shares[method.best_windows(bags)] >= 0.1).all()
    assert (bags.shares[make_method("Latent AP-SVM").fit([bags]).best_windows(bags)] < 0.1).any()
    large = make_method("Latent AP-SVM", size_bonus=100.0).fit([bags])
    assert large.best_windows(bags).tolist() == bags.starts[:-1].tolist()


def test_half_precision_is_kept_and_trained_on() -> None:
    bags = bag_set(6, dtype=np.float16)
    assert bags.windows.dtype == np.float16
    method = make_method("Latent AP-SVM").fit([bags])
    exact = make_method("Latent AP-SVM").fit([replace(bags, windows=bags.windows.astype(np.float64))])
    assert method.certificate.primal == pytest.approx(exact.certificate.primal, rel=2e-3)


def test_a_large_bonus_leaves_bounds_in_order_but_for_rounding() -> None:
    """The bonus is in the losses of cuts, where it cancels."""
    rng = np.random.default_rng(2388)
    images = int(rng.integers(2, 15))
    positives = int(rng.integers(1, images))
    kind = [np.float64, np.float32, np.float16][rng.integers(3)]
    bags = bag_set(2388, images, int(rng.integers(1, 5)), positives, dtype=kind)
    method = make_method("Latent AP-SVM", C=0.0449, size_bonus=100.0).fit([bags])
    assert method.certificate.primal == pytest.approx(objective(method, method.weights, bags), rel=1e-9)


@pytest.mark.parametrize("kept", [8, 10**9])
@pytest.mark.parametrize("start", STARTS)
def test_passes_are_the_products_with_all_windows(
    monkeypatch: pytest.MonkeyPatch, start: str, kept: int
) -> None:
    bags, made, events = bag_set(5, n=60, d=12, positives=20, most=40), [0], list[ProgressEvent]()
    # one of each image that shows the object
    rows = len(bags.windows) - int(np.diff(bags.starts)[:20].sum()) + 20

    def counted(product: Any, of_all: Any) -> Any:
        def count(matrix: Any, *arguments: Any) -> Any:
            made[0] += of_all(matrix)
            return product(matrix, *arguments)

        return count

    monkeypatch.setattr(bag_cccp, "KEPT", kept)
    monkeypatch.setattr(bag_risk, "exact_product", counted(bag_risk.exact_product, lambda windows: True))
    for name in ("scores", "normal", "exact_scores", "exact_normal"):
        product = counted(getattr(Block, name), lambda block: block.shape[0] >= rows)
        monkeypatch.setattr(Block, name, product)
    make_method("Latent AP-SVM", start=start).fit([bags], events.append)
    assert 0 <= made[0] - events[-1].passes <= 3, (
        "the last report is before the certificate, which takes up to 3"
    )
