"""Max-marginals and best labellings against all labellings, and the algorithms against each other."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import reference
from kernels import interpret
from pairwise_models import (
    Case,
    boxes_of_images,
    check_sums_and_values,
    random_case,
    random_edges,
    small_cases,
    worth,
)

from ranking.inference import (
    MAX_MARGINAL_ALGORITHMS,
    Components,
    MaxMarginals,
    best_labelling,
    dynamic_cuts,
    max_marginals,
)

CUTS = ("dynamic-cut", "cold-cut")


def check_labellings(result: MaxMarginals, case: Case) -> None:
    """Each labelling has its label, attains its max-marginal, and is the map outside its component."""
    component_of = Components.of(len(case.unary), case.edges).component_of
    scale = 1e-9 * max(1.0, np.abs(result.positive).max(initial=0), np.abs(result.negative).max(initial=0))
    for i in range(len(case.unary)):
        for label, best in ((True, result.positive), (False, result.negative)):
            labels = result.labelling(i, label)
            assert labels[i] == label
            assert worth(labels, case) == pytest.approx(best[i], abs=scale)
            outside = component_of != component_of[i]
            np.testing.assert_array_equal(labels[outside], result.map[outside])


def check_cuts(case: Case) -> None:
    """Dynamic cuts agree with cold ones, and the best labelling is theirs."""
    dynamic, cold = (max_marginals(*case, name) for name in CUTS)
    np.testing.assert_allclose(dynamic.positive, cold.positive, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(dynamic.difference, cold.difference, rtol=1e-9, atol=1e-12)
    check_labellings(dynamic, case)
    labels, value = best_labelling(*case)
    np.testing.assert_array_equal(labels, dynamic.map)
    assert value == pytest.approx(max(dynamic.positive.max(), dynamic.negative.max()), rel=1e-12)


def test_max_marginals_are_the_best_of_all_labellings() -> None:
    for case in small_cases():
        expected = reference.max_marginals_of(*case)
        labels, value = best_labelling(*case)
        assert value == pytest.approx(expected.max(), rel=1e-9, abs=1e-12), case
        assert value == pytest.approx(reference.value_of_labelling(labels, *case), rel=1e-12, abs=1e-12), case
        for algorithm in MAX_MARGINAL_ALGORITHMS:
            result, shown = max_marginals(*case, algorithm), f"{algorithm}: {case}"
            close = {"rtol": 1e-9, "atol": 1e-12, "err_msg": shown}
            np.testing.assert_allclose([result.positive, result.negative], expected, **close)
            np.testing.assert_allclose(result.difference, expected[0] - expected[1], **close)
            check_labellings(result, case)


def test_of_equally_good_labellings_the_one_with_the_most_positive_labels_is_taken() -> None:
    everything = np.array(list(itertools.product([False, True], repeat=6)))
    for seed in range(60):
        generator = np.random.default_rng(seed)
        case = random_case(generator, 6, int(generator.integers(0, 16)), 1.0, whole=True)
        most = max(everything, key=lambda y: (reference.value_of_labelling(y, *case), y.sum()))
        np.testing.assert_array_equal(best_labelling(*case)[0], most)
        for algorithm in MAX_MARGINAL_ALGORITHMS:
            labels = max_marginals(*case, algorithm).map
            np.testing.assert_array_equal(labels, most, f"{algorithm}, seed {seed}")


def test_samples_that_strong_penalties_hold_together_flip_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """One search proves it for all of them; the blocks, which hang by a thread, have one each."""
    generator = np.random.default_rng(0)
    blocks = np.concatenate([random_edges(generator, 20, 120) + 20 * part for part in range(3)])
    edges = np.concatenate([blocks, [[0, 20], [20, 40], [40, 60]]])
    case = Case(generator.standard_normal(61), edges, np.append(-np.full(360, 50.0), [-0.1, -0.2, -0.3]))
    check_cuts(case)
    send, counts = interpret(monkeypatch, [dynamic_cuts])["_send"], list[int]()

    def spy(flow: Any, root: int, most: int) -> tuple[int, int]:
        count, cost = send(flow, root, most)
        counts.append(count)
        return count, cost

    monkeypatch.setattr(dynamic_cuts, "_send", spy)
    max_marginals(*case, "dynamic-cut")
    assert np.count_nonzero(counts) == 4


@pytest.mark.parametrize("n", [13, 64, 65, 150])
def test_dynamic_cuts_agree_with_cold_ones_on_large_components(n: int) -> None:
    for strength, seed in itertools.product([0.01, 0.2, 0.6, 1.0, 3.0, 100.0], range(3)):
        check_cuts(random_case(np.random.default_rng([seed, n]), n, 3 * n, strength, whole=seed == 2))


def test_a_later_larger_change_does_not_replace_an_earlier_smaller_one() -> None:
    """On a grid, samples at borders change alone, and again with larger parts whose turn comes later."""
    grid = np.arange(100).reshape(10, 10)
    across, down = (np.stack([part[:, 1:].ravel(), part[:, :-1].ravel()], axis=1) for part in (grid, grid.T))
    edges = np.concatenate([across, down])
    for strength in (1.0, 3.0, 10.0):
        generator = np.random.default_rng(0)
        check_cuts(Case(generator.standard_normal(100), edges, -strength * generator.random(len(edges))))


def test_components_of_all_sizes_stand_side_by_side() -> None:
    generator = np.random.default_rng(3)
    edges = boxes_of_images(generator, 60, 20)
    n = int(edges.max()) + 3
    case = Case(
        generator.standard_normal(n), generator.permutation(n)[edges], -0.2 * generator.random(len(edges))
    )
    check_cuts(case)
    auto, cold = (max_marginals(*case, name) for name in ("auto", "cold-cut"))
    np.testing.assert_allclose(auto.difference, cold.difference, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(auto.positive, cold.positive, rtol=1e-12)
    check_labellings(auto, case)


@pytest.mark.parametrize(("algorithm", "n"), [*((name, 9) for name in MAX_MARGINAL_ALGORITHMS), ("auto", 90)])
def test_sums_and_values_are_those_of_the_labellings(algorithm: str, n: int) -> None:
    for seed in range(10):
        generator = np.random.default_rng(seed)
        case = random_case(generator, n, n, 10.0 ** generator.integers(-1, 2), whole=seed % 2 == 0)
        component_of = Components.of(n, case.edges).component_of
        check_sums_and_values(max_marginals(*case, algorithm), component_of, list(case.edges), generator)


@pytest.mark.parametrize("algorithm", MAX_MARGINAL_ALGORITHMS)
def test_degenerate_models(algorithm: str) -> None:
    none = max_marginals([], [], [], algorithm)
    assert (none.positive.shape, none.map.shape) == ((0,), (0,))
    assert [part.shape for part in none.sums([], [])] == [(0,), (0,)]
    lonely = max_marginals([2.0, -1.0, 0.0], np.empty((0, 2), int), [], algorithm)
    assert lonely.difference.tolist() == [2.0, -1.0, 0.0]
    assert lonely.positive.tolist() == [2.0, 1.0, 2.0]
    assert lonely.map.tolist() == [True, False, True]
    free = max_marginals([2.0, -1e-300], [[1, 0]], [0.0], algorithm)
    assert free.difference.tolist() == [2.0, -1e-300]
    # sums of values cannot tell 2 from 2 - 1e-300
    if algorithm in CUTS:
        assert free.map.tolist() == [True, False]
    tied = max_marginals([1.0, -1.0], [[0, 1]], [-5.0], algorithm)
    assert tied.difference.tolist() == [0.0, 0.0]
    assert tied.map.tolist() == [True, True]


@pytest.mark.parametrize("algorithm", CUTS)
def test_cuts_are_exact_whatever_the_scale(algorithm: str) -> None:
    case = random_case(np.random.default_rng(1), 8, 12, 0.5, whole=False)
    expected = max_marginals(*case, algorithm)
    for scale in (1e-290, 1e-30, 1e140):
        result = max_marginals(scale * case.unary, case.edges, scale * case.penalty, algorithm)
        np.testing.assert_allclose(result.difference / scale, expected.difference, rtol=1e-9)
    # A score beyond all penalties does not drown the others.
    result = max_marginals([1e25, -1.0, 0.25], [[0, 1], [1, 2]], [-0.125, -0.5], algorithm)
    assert result.map.tolist() == [True, False, False]
    assert result.difference[1:].tolist() == [-0.625, -0.25]
    # Of the 2^-49 of a sample's penalties that cuts promise: 2^-41 beside a penalty of 10.
    for sign in (1.0, -1.0):
        unary = [1.0 + 2.0**-41, -1.0 - 2.0**-41 - sign * 2.0**-41]
        result = max_marginals(unary, [[0, 1]], [-10.0], algorithm)
        assert result.map.tolist() == [sign < 0] * 2
        assert result.difference.tolist() == [-sign * 2.0**-41] * 2


def test_twelve_samples_are_enumerated() -> None:
    chain = np.stack([np.arange(11), np.arange(1, 12)], axis=1)
    assert not max_marginals(np.zeros(12), chain, -np.ones(11), "enumerate").difference.any()


def test_components_are_those_that_edges_connect() -> None:
    for seed in range(20):
        edges = random_edges(np.random.default_rng(seed), 20, seed)
        components = Components.of(20, edges)
        parts = np.split(components.order, components.starts[1:-1])
        assert sorted(map(sorted, parts)) == sorted(reference.connected(20, edges)), seed
        np.testing.assert_array_equal(components.order[components.ends], edges[components.edge_order])
        assert (np.diff(components.sizes) <= 0).all()
        for number, part in enumerate(parts):
            assert (components.component_of[part] == number).all()
            own = components.edge_order[slice(*components.edge_starts[number : number + 2])]
            assert set(edges[own].ravel()) <= set(part)
