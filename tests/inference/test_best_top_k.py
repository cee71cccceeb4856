"""The best top k against every set of k labels, forced labels and loss included."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import reference
from hard_scores import median_of_three_killer
from small_models import star

from ranking.inference import best_top_k, best_top_ks, threads, top_k_max_marginals
from ranking.inference.top_k_kernels import _top


def forced_sets(rng: np.random.Generator, labels: int, k: int) -> tuple[list[int], list[int]]:
    """Up to k labels inside and up to L - k outside."""
    order = rng.permutation(labels).tolist()
    inside, outside = int(rng.integers(0, k + 1)), int(rng.integers(0, labels - k + 1))
    return order[:inside], order[inside : inside + outside]


Star = tuple[np.random.Generator, int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def random_star(seed: int, most: int) -> Star:
    """The generator, k, and scores, core, interactions and whole F of fewer than `most` labels."""
    rng = np.random.default_rng(seed)
    labels = int(rng.integers(1, most))
    k, size = int(rng.integers(0, labels + 1)), int(rng.integers(0, labels + 1))
    unary, core, interactions = star(rng, labels, size, whole_numbers=seed % 3 == 0)
    return rng, k, unary, core, interactions, reference.whole(core, interactions)


def test_the_best_of_all_sets() -> None:
    for seed in range(60):
        rng, k, unary, core, interactions, F = random_star(seed, 10)
        relevant = rng.random(len(unary)) < 0.4
        for scores in (unary, unary + (1.0 - relevant) / max(k, 1)):
            for inside, outside in (([], []), forced_sets(rng, len(unary), k)):
                best = best_top_k(scores, core, interactions, k, inside, outside)
                expected = reference.best_top_k_of(scores, F, k, inside, outside)
                assert best.value == pytest.approx(expected, abs=1e-12), seed
                t = np.isin(np.arange(len(unary)), best.members)
                assert best.value == pytest.approx(reference.value_of_top_k(t, scores, F), abs=1e-12), seed
                assert (t.sum(), best.members.tolist()) == (k, np.flatnonzero(t).tolist())
                assert set(inside) <= set(best.members.tolist())
                assert not set(outside) & set(best.members.tolist())


def test_max_marginals_are_the_best_values_with_each_label_forced() -> None:
    for seed in range(60):
        rng, k, unary, core, interactions, F = random_star(seed, 8)
        inside, outside = forced_sets(rng, len(unary), k)
        forced = np.zeros(len(unary), int)
        forced[inside], forced[outside] = 1, -1
        marginals = top_k_max_marginals(unary[None], core, interactions, k, forced[None])
        for label in range(len(unary)):
            within = reference.best_top_k_of(unary, F, k, {*inside, label}, outside)
            without = reference.best_top_k_of(unary, F, k, inside, {*outside, label})
            assert marginals.inside[0, label] == pytest.approx(within, abs=1e-12), seed
            assert marginals.outside[0, label] == pytest.approx(without, abs=1e-12), seed


@pytest.mark.parametrize("size", [0, 3, 7])
def test_a_batch_is_its_images_one_by_one(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In several threads too: k and what is forced differ from image to image."""
    monkeypatch.setattr(sys.modules["ranking.inference.best_top_k"], "MIN_PART", 1)
    monkeypatch.setattr(threads, "MAX_PARTS", 3)
    rng = np.random.default_rng(size)
    _, core, interactions = star(rng, 40, size)
    unary, k = rng.normal(size=(20, 40)), rng.integers(5, 20, 20)
    forced = rng.choice([-1, 0, 0, 0, 1], (20, 40))
    forced = np.where(np.cumsum(forced > 0, axis=1) > 5, 0, forced)
    batch = best_top_ks(unary, core, interactions, k, forced)
    marginals = top_k_max_marginals(unary, core, interactions, k, forced)
    for m in range(20):
        inside, outside = (np.flatnonzero(forced[m] == mark) for mark in (1, -1))
        single = best_top_k(unary[m], core, interactions, int(k[m]), inside, outside)
        assert np.flatnonzero(batch.members[m]).tolist() == single.members.tolist()
        assert batch.values[m] == single.value
        best = max(marginals.inside[m].max(), marginals.outside[m].max())
        assert best == pytest.approx(single.value, rel=1e-12)
    assert (marginals.difference[batch.members] >= 0).all()
    assert (marginals.difference[~batch.members] <= 0).all()


def test_the_best_top_k_of_an_empty_core_has_the_highest_unary_scores() -> None:
    unary = np.random.default_rng(0).normal(size=93)
    best = best_top_k(unary, [], np.empty((0, 93)), 12)
    assert best.members.tolist() == sorted(np.argsort(-unary)[:12].tolist())


def test_an_empty_batch_of_images_has_no_top_k() -> None:
    best = best_top_ks(np.empty((0, 4)), [1], np.zeros((1, 4)), 2)
    assert (best.members.shape, best.values.shape) == ((0, 4), (0,))


def sum_of_top(kernel: Any, values: np.ndarray, m: int, guess: float) -> tuple[float, float]:
    total, last = kernel(values, len(values), m, guess, np.full((4, len(values) + 1), np.nan))
    return float(total), float(last)


@pytest.mark.parametrize("kernel", [_top, _top.py_func])
def test_the_sum_of_the_top_m_does_not_depend_on_the_initial_guess(kernel: Any) -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 10, 60):
        organ = np.minimum(np.arange(n), np.arange(n)[::-1]).astype(float)
        for values in (rng.normal(size=n), rng.integers(0, 3, n).astype(float), np.arange(float(n)), organ):
            ordered = np.sort(values)[::-1]
            for m in {1, max(n // 2, 1), n}:
                for guess in (ordered[m - 1], ordered[0] + 1, ordered[-1] - 1, float(np.median(values)), 0.3):
                    total, last = sum_of_top(kernel, values, m, guess)
                    assert total == pytest.approx(ordered[:m].sum(), abs=1e-12)
                    assert last == ordered[m - 1]


def test_a_selection_ends_in_a_sort_where_splits_go_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else these values would make it quadratic."""
    values, sorts, sort = median_of_three_killer(400), list[int](), np.sort
    expected = pytest.approx((sort(values)[-10:].sum(), sort(values)[-10]))
    monkeypatch.setattr(np, "sort", lambda array: sorts.append(len(array)) or sort(array))
    assert sum_of_top(_top.py_func, values, 10, values.max() + 1) == expected
    assert sorts
    assert sum_of_top(_top, values, 10, values.max() + 1) == expected
