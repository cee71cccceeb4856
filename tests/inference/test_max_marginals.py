"""Max-marginals and best labellings against all labellings, and the algorithms against each other."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import reference
from numba.core.dispatcher import Dispatcher
from pairwise_models import Case, boxes_of_images, random_case, random_edges, small_cases

from ranking.inference import (
    MAX_MARGINAL_ALGORITHMS,
    Components,
    MaxMarginals,
    best_labelling,
    max_marginals,
)

ALGORITHMS = pytest.mark.parametrize("algorithm", MAX_MARGINAL_ALGORITHMS)
CUTS = pytest.mark.parametrize("algorithm", ["dynamic-cut", "cold-cut"])


def check_labellings(found: MaxMarginals, case: Case) -> None:
    """Each labelling has its label, attains its max-marginal, and is the map outside its component."""
    component_of = Components.of(len(case.unary), case.edges).component_of
    scale = 1e-9 * max(1.0, np.abs(found.positive).max(initial=0), np.abs(found.negative).max(initial=0))
    for i in range(len(case.unary)):
        for label, best in ((True, found.positive), (False, found.negative)):
            labels = found.labelling(i, label)
            assert labels[i] == label
            assert reference.value_of_labelling(labels, *case) == pytest.approx(best[i], abs=scale)
            outside = component_of != component_of[i]
            np.testing.assert_array_equal(labels[outside], found.map[outside])


@ALGORITHMS
def test_max_marginals_are_the_best_of_all_labellings(algorithm: str) -> None:
    for case in small_cases():
        expected = reference.max_marginals_of(*case)
        found = max_marginals(*case, algorithm)
        exact = {"rtol": 1e-9, "atol": 1e-12}
        np.testing.assert_allclose([found.positive, found.negative], expected, **exact)
        np.testing.assert_allclose(found.difference, expected[0] - expected[1], **exact)
        check_labellings(found, case)


def test_the_best_labelling_is_the_best_of_all() -> None:
    for case in small_cases():
        labels, value = best_labelling(*case)
        assert value == pytest.approx(reference.max_marginals_of(*case).max(), rel=1e-9, abs=1e-12)
        assert value == pytest.approx(reference.value_of_labelling(labels, *case), rel=1e-12, abs=1e-12)
        np.testing.assert_array_equal(labels, max_marginals(*case).map)


@ALGORITHMS
def test_of_best_labellings_that_tie_the_one_with_the_most_ones_is_found(algorithm: str) -> None:
    for seed in range(60):
        generator = np.random.default_rng(seed)
        case = random_case(generator, 6, int(generator.integers(0, 16)), 1.0, whole=True)
        everything = [(number >> np.arange(6) & 1).astype(bool) for number in range(64)]
        most = max(everything, key=lambda y: (reference.value_of_labelling(y, *case), y.sum()))
        np.testing.assert_array_equal(max_marginals(*case, algorithm).map, most)
        np.testing.assert_array_equal(best_labelling(*case)[0], most)


def test_samples_that_strong_penalties_hold_together_flip_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """One search proves it for all of them; the blocks, which hang by a thread, have one each."""
    generator = np.random.default_rng(0)
    blocks = np.concatenate([random_edges(generator, 20, 120) + 20 * part for part in range(3)])
    bridges = np.array([[0, 20], [20, 40], [40, 60]])
    edges, penalty = np.concatenate([blocks, bridges]), np.append(-np.full(360, 50.0), [-0.1, -0.2, -0.3])
    case = Case(generator.standard_normal(61), edges, penalty)
    searched: list[int] = []
    interpret_dynamic_cuts(monkeypatch, searched)
    dynamic, cold = (max_marginals(*case, name) for name in ("dynamic-cut", "cold-cut"))
    np.testing.assert_allclose(dynamic.difference, cold.difference, rtol=1e-9)
    check_labellings(dynamic, case)
    assert len(searched) == 4


def interpret_dynamic_cuts(monkeypatch: pytest.MonkeyPatch, searched: list[int]) -> None:
    """Let the kernels run as Python, and note the samples for which a search looked for all that flip with them."""
    module = sys.modules["ranking.inference.dynamic_cuts"]
    for name, kernel in list(vars(module).items()):
        if isinstance(kernel, Dispatcher):
            monkeypatch.setattr(module, name, kernel.py_func)
    send = module._send

    def spy(flow: Any, root: int, most: int) -> tuple[int, int]:
        count, cost = send(flow, root, most)
        if count:
            searched.append(root)
        return count, cost

    monkeypatch.setattr(module, "_send", spy)


@pytest.mark.parametrize("strength", [0.01, 0.2, 0.6, 1.0, 3.0, 100.0])
@pytest.mark.parametrize("n", [13, 64, 65, 150])
def test_dynamic_cuts_agree_with_cold_ones_on_large_components(n: int, strength: float) -> None:
    for seed in range(3):
        case = random_case(np.random.default_rng([seed, n]), n, 3 * n, strength, whole=seed == 2)
        dynamic, cold = (max_marginals(*case, name) for name in ("dynamic-cut", "cold-cut"))
        np.testing.assert_allclose(dynamic.positive, cold.positive, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(dynamic.difference, cold.difference, rtol=1e-9, atol=1e-12)
        check_labellings(dynamic, case)
        labels, value = best_labelling(*case)
        np.testing.assert_array_equal(labels, dynamic.map)
        assert value == pytest.approx(max(dynamic.positive.max(), dynamic.negative.max()), rel=1e-12)


def test_a_later_larger_change_does_not_replace_an_earlier_smaller_one() -> None:
    """On a grid, samples at borders change alone, and again with larger parts whose turn comes later."""
    grid = np.arange(100).reshape(10, 10)
    across, down = (np.stack([part[:, 1:].ravel(), part[:, :-1].ravel()], axis=1) for part in (grid, grid.T))
    edges = np.concatenate([across, down])
    for strength in (1.0, 3.0, 10.0):
        generator = np.random.default_rng(0)
        case = Case(generator.standard_normal(100), edges, -strength * generator.random(len(edges)))
        dynamic, cold = (max_marginals(*case, name) for name in ("dynamic-cut", "cold-cut"))
        np.testing.assert_allclose(dynamic.difference, cold.difference, rtol=1e-9, atol=1e-12)


def test_components_of_all_sizes_stand_side_by_side() -> None:
    generator = np.random.default_rng(3)
    edges = boxes_of_images(generator, 60, 20)
    n = int(edges.max()) + 3
    order = generator.permutation(n)
    case = Case(generator.standard_normal(n), order[edges], -0.2 * generator.random(len(edges)))
    auto, dynamic, cold = (max_marginals(*case, name) for name in ("auto", "dynamic-cut", "cold-cut"))
    for found in (auto, dynamic):
        np.testing.assert_allclose(found.difference, cold.difference, rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose(found.positive, cold.positive, rtol=1e-12)
    check_labellings(auto, case)
    for component in range(20):
        inside = np.flatnonzero(Components.of(n, case.edges).component_of == component)
        kept = np.isin(case.edges, inside).all(axis=1)
        renumbered = np.searchsorted(inside, case.edges[kept])
        alone = max_marginals(case.unary[inside], renumbered, case.penalty[kept])
        np.testing.assert_allclose(alone.difference, auto.difference[inside], rtol=1e-9)


@pytest.mark.parametrize(("algorithm", "n"), [*((name, 9) for name in MAX_MARGINAL_ALGORITHMS), ("auto", 90)])
def test_sums_are_those_of_the_labellings(algorithm: str, n: int) -> None:
    for seed in range(10):
        generator = np.random.default_rng(seed)
        case = random_case(generator, n, n, 10.0 ** generator.integers(-1, 2), whole=seed % 2 == 0)
        found = max_marginals(*case, algorithm)
        component_of = Components.of(n, case.edges).component_of
        labels, weights = generator.random(n) < 0.5, generator.standard_normal(n)
        samples, edges = np.zeros(n), np.zeros(len(case.edges))
        for i in range(n):
            labelling = found.labelling(i, labels[i])
            samples += weights[i] * (labelling & (component_of == component_of[i]))
            differs = labelling[case.edges[:, 0]] != labelling[case.edges[:, 1]]
            edges += weights[i] * (differs & (component_of[case.edges[:, 0]] == component_of[i]))
        got = found.sums(labels, weights)
        np.testing.assert_allclose(got[0], samples, atol=1e-12)
        np.testing.assert_allclose(got[1], edges, atol=1e-12)


@pytest.mark.parametrize(("algorithm", "n"), [*((name, 9) for name in MAX_MARGINAL_ALGORITHMS), ("auto", 90)])
def test_values_are_those_of_the_labellings_to_another_model(algorithm: str, n: int) -> None:
    for seed in range(10):
        generator = np.random.default_rng(seed)
        case = random_case(generator, n, n, 10.0 ** generator.integers(-1, 2), whole=seed % 2 == 0)
        found = max_marginals(*case, algorithm)
        component_of = Components.of(n, case.edges).component_of
        labels, unary = generator.random(n) < 0.5, generator.standard_normal(n)
        penalty = generator.standard_normal(len(case.edges))
        expected = np.zeros(n)
        for i in range(n):
            inside = component_of == component_of[i]
            labelling = found.labelling(i, labels[i]) & inside
            own = inside[case.edges[:, 0]]
            expected[i] = reference.value_of_labelling(labelling, unary, case.edges[own], penalty[own])
        np.testing.assert_allclose(found.values(labels, unary, penalty), expected, rtol=1e-9, atol=1e-12)
        weights = generator.standard_normal(n)
        samples, edges = found.sums(labels, weights)
        weighed = weights @ found.values(labels, unary, penalty)
        assert weighed == pytest.approx(samples @ unary + edges @ penalty, rel=1e-9, abs=1e-9)


def test_values_of_wrong_shapes_are_refused() -> None:
    found = max_marginals(**GOOD)
    with pytest.raises(ValueError, match=r"unary must be \(3,\), one a sample, got shape \(2,\)"):
        found.values([True, False, True], [1.0, 1.0], [1.0, 1.0])
    with pytest.raises(ValueError, match=r"penalty must be \(2,\), one an edge, got shape \(3,\)"):
        found.values([True, False, True], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0])


def test_sums_of_the_two_labels_differ_by_the_difference() -> None:
    """Why they are planes of a structured risk: weights @ difference is linear in unary and penalty there."""
    case = random_case(np.random.default_rng(5), 70, 90, 0.7, whole=False)
    found, weights = max_marginals(*case), np.random.default_rng(6).standard_normal(70)
    ones, zeros = (found.sums(np.full(70, label), weights) for label in (True, False))
    value = (ones[0] - zeros[0]) @ case.unary + (ones[1] - zeros[1]) @ case.penalty
    assert value == pytest.approx(weights @ found.difference, rel=1e-12)


@ALGORITHMS
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
    if algorithm in ("dynamic-cut", "cold-cut"):  # sums of values cannot tell 2 from 2 - 1e-300
        assert free.map.tolist() == [True, False]
    tied = max_marginals([1.0, -1.0], [[0, 1]], [-5.0], algorithm)
    assert tied.difference.tolist() == [0.0, 0.0]
    assert tied.map.tolist() == [True, True]


@CUTS
@pytest.mark.parametrize("scale", [1e-290, 1e-30, 1e140])
def test_cuts_know_no_scale(algorithm: str, scale: float) -> None:
    case = random_case(np.random.default_rng(1), 8, 12, 0.5, whole=False)
    expected = max_marginals(*case, algorithm)
    found = max_marginals(scale * case.unary, case.edges, scale * case.penalty, algorithm)
    np.testing.assert_allclose(found.difference / scale, expected.difference, rtol=1e-9)


@CUTS
def test_a_score_beyond_all_penalties_does_not_drown_the_others(algorithm: str) -> None:
    found = max_marginals([1e25, -1.0, 0.25], [[0, 1], [1, 2]], [-0.125, -0.5], algorithm)
    assert found.map.tolist() == [True, False, False]
    assert found.difference[1:].tolist() == [-0.625, -0.25]


def test_components_serve_many_models() -> None:
    generator = np.random.default_rng(2)
    edges = random_edges(generator, 30, 25)
    components = Components.of(30, edges)
    for _ in range(3):
        unary, penalty = generator.standard_normal(30), -generator.random(25)
        fresh, reused = (
            max_marginals(unary, edges, penalty, components=given) for given in (None, components)
        )
        np.testing.assert_array_equal(fresh.difference, reused.difference)
        assert (
            best_labelling(unary, edges, penalty, components)[1] == best_labelling(unary, edges, penalty)[1]
        )
    for samples, others in ((30, edges[::-1]), (31, edges), (30, edges[:-1])):
        with pytest.raises(ValueError, match=r"components must be those of .* take Components.of"):
            max_marginals(np.zeros(samples), others, -np.ones(len(others)), components=components)


def test_components_are_those_that_edges_connect() -> None:
    for seed in range(20):
        generator = np.random.default_rng(seed)
        edges = random_edges(generator, 20, seed)
        components = Components.of(20, edges)
        together = np.eye(20, dtype=bool)
        for _ in range(20):
            for i, j in edges:
                together[i] = together[j] = together[i] | together[j]
        number = components.component_of
        np.testing.assert_array_equal(number[:, None] == number[None, :], together)
        assert sorted(components.order) == list(range(20))
        np.testing.assert_array_equal(components.order[components.ends], edges[components.edge_order])
        assert (np.diff(components.sizes) <= 0).all()
        for part in range(len(components)):
            members = components.order[components.starts[part] : components.starts[part + 1]]
            own = components.edge_order[components.edge_starts[part] : components.edge_starts[part + 1]]
            assert set(edges[own].ravel()) <= set(members)


GOOD: dict[str, Any] = {"unary": [1.0, -1.0, 0.5], "edges": [[0, 1], [2, 1]], "penalty": [-1.0, -2.0]}


@pytest.mark.parametrize(
    ("details", "text"),
    [
        ({"unary": [[1.0]]}, r"unary must be \(n,\), one number a sample, got shape \(1, 1\)"),
        ({"unary": ["a", "b", "c"]}, "unary must be real numbers, got <U1"),
        ({"unary": [1.0, np.nan, np.inf]}, "unary must be finite; .* at 2 places, first 1"),
        ({"penalty": [-1.0]}, r"penalty must be \(2,\), one number an edge, got shape \(1,\)"),
        ({"penalty": [-1.0, np.nan]}, "penalty must be finite; .* at 1 places, first 1"),
        ({"penalty": [-1.0, 2.0]}, r"penalties must be <= 0.*edge 1 has 2;.*np.minimum\(penalty, 0\)"),
        ({"penalty": [-1.0, 1j]}, "penalty must be real numbers, got complex128"),
        (
            {"edges": [[0, 1], [1, 0]]},
            r"each unordered pair once; \[0, 1\] comes twice; remove the duplicates",
        ),
        ({"edges": [[0, 1], [1, 3]]}, r"edges must name samples 0 to 2; edge 1 is \[1, 3\]"),
        ({"edges": [[0, 1], [-1, 2]]}, r"edges must name samples 0 to 2; edge 1 is \[-1, 2\]"),
        (
            {"edges": [[0, 1], [2, 2]]},
            r"edges must join two different samples; edge 1 is \[2, 2\]; remove it",
        ),
        ({"edges": [[0.0, 1.0], [1, 2]]}, r"edges must be \(m, 2\) integers, got float64 of shape \(2, 2\)"),
        ({"edges": [0, 1]}, r"edges must be \(m, 2\) integers, got int64 of shape \(2,\)"),
    ],
)
def test_a_bad_model_says_what_came(details: dict[str, Any], text: str) -> None:
    for solve in (max_marginals, best_labelling):
        with pytest.raises(ValueError, match=text):
            solve(**{**GOOD, **details})


def test_what_cannot_be_done_is_said() -> None:
    with pytest.raises(ValueError, match="no algorithm is called 'cut'; choose one of: auto, enumerate"):
        max_marginals(**GOOD, algorithm="cut")
    chain = np.stack([np.arange(12), np.arange(1, 13)], axis=1)
    with pytest.raises(ValueError, match=r"at most 12 samples, the largest has 13; use algorithm=\"auto\""):
        max_marginals(np.zeros(13), chain, -np.ones(12), "enumerate")
    max_marginals(np.zeros(12), chain[:-1], -np.ones(11), "enumerate")
    found = max_marginals(**GOOD)
    for sample in (-1, 3):
        with pytest.raises(ValueError, match=f"sample must be one of 0 to 2, got {sample}"):
            found.labelling(sample, True)
    with pytest.raises(ValueError, match=r"labels must be \(3,\), one a sample, got shape \(2,\)"):
        found.sums([True, False], [1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match=r"weights must be \(3,\), one a sample, got shape \(1, 3\)"):
        found.sums([True, False, True], [[1.0, 1.0, 1.0]])
    with pytest.raises(ValueError, match="weights must be finite, got nan"):
        found.sums([True, False, True], [1.0, np.nan, 1.0])
    with pytest.raises(ValueError, match="labels must be real numbers, got <U1"):
        found.sums(["a", "b", "c"], [1.0, 1.0, 1.0])


@CUTS
def test_cuts_tell_values_apart_that_are_nearly_equal(algorithm: str) -> None:
    """Of the 2^-49 of a sample's penalties that cuts promise: 2^-41 beside a penalty of 10."""
    for sign in (1.0, -1.0):
        unary = [1.0 + 2.0**-41, -1.0 - 2.0**-41 - sign * 2.0**-41]
        found = max_marginals(unary, [[0, 1]], [-10.0], algorithm)
        assert found.map.tolist() == [sign < 0] * 2
        assert found.difference.tolist() == [-sign * 2.0**-41] * 2
