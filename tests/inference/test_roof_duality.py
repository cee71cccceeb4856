"""Pairs of either sign: exact by enumeration, else bounds, checked by linear programs and enumeration."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
import reference
from pairwise_models import Case, random_case, random_edges
from refusals import refused

from ranking.inference import (
    PairsOfEitherSign,
    best_labelling,
    bounded_labelling,
    bounded_max_marginals,
    max_marginals,
)
from ranking.inference import doubling as doubling_module

CLOSE = {"rtol": 1e-9, "atol": 1e-11}


def either_sign(generator: np.random.Generator, case: Case) -> Case:
    """The same with the signs of its penalties drawn anew."""
    return case._replace(penalty=case.penalty * generator.choice([-1.0, 1.0], len(case.penalty)))


def cases(number: int = 60, most: int = 8) -> Iterator[Case]:
    """Models of 1 to `most` samples, weak to strong, with and without ties."""
    for seed in range(number):
        generator = np.random.default_rng(seed)
        n = int(generator.integers(1, most + 1))
        m = int(generator.integers(0, n * (n - 1) // 2 + 1))
        yield either_sign(
            generator, random_case(generator, n, m, 10.0 ** generator.integers(-2, 3), seed % 3 == 0)
        )


def knotted(seed: int) -> Case:
    generator = np.random.default_rng(seed)
    return either_sign(generator, random_case(generator, 20, 45, 1.0, whole=seed == 0))


@pytest.fixture
def doubled(monkeypatch: pytest.MonkeyPatch) -> None:
    """No component is enumerated, so that small ones can be checked."""
    monkeypatch.setattr(doubling_module, "LARGEST_ENUMERATED", 1)


def test_small_components_are_exact() -> None:
    for case in cases():
        expected = reference.max_marginals_of(*case)
        marginals = bounded_max_marginals(*case)
        np.testing.assert_allclose([marginals.positive, marginals.negative], expected, **CLOSE)
        np.testing.assert_allclose(marginals.difference, expected[0] - expected[1], **CLOSE)
        assert (marginals.excess == 0).all()
        labels, differs, value = bounded_labelling(*case)
        assert value == pytest.approx(expected.max(), rel=1e-9, abs=1e-11)
        assert set(labels) | set(differs) <= {0.0, 1.0}
        check_labellings(marginals, case)


def check_labellings(marginals: object, case: Case) -> None:
    """Each labelling has its label, and is worth what is said, less the excess of some component."""
    slack = marginals.excess.sum()
    worth = reference.value_of_labelling(marginals.map, *case)
    assert worth <= max(marginals.positive.max(), marginals.negative.max()) + 1e-9
    for i, label in itertools.product(range(len(case.unary)), (False, True)):
        labels = marginals.labelling(i, label)
        assert labels[i] == label
        value = reference.value_of_labelling(labels, *case)
        bound = (marginals.positive if label else marginals.negative)[i]
        assert value <= worth + 1e-9 * (1 + abs(worth))
        assert bound - slack - 1e-9 * (1 + abs(bound)) <= value <= bound + 1e-9 * (1 + abs(bound))


@pytest.mark.usefixtures("doubled")
def test_bounds_are_the_optima_of_the_local_polytope() -> None:
    """Also of components of 20 samples, where one cut after the other goes on from the flow of the last."""
    tight = loose = 0
    for case in itertools.chain(cases(25, most=7), map(knotted, range(3))):
        marginals = bounded_max_marginals(*case)
        near = {"rel": 1e-6, "abs": 1e-6}
        assert bounded_labelling(*case).value == pytest.approx(reference.relaxed_max_marginal(*case), **near)
        for i in range(len(case.unary)):
            for label, bound in ((True, marginals.positive[i]), (False, marginals.negative[i])):
                expected = reference.relaxed_max_marginal(*case, i, label)
                assert bound == pytest.approx(expected, **near)
            assert marginals.difference[i] == pytest.approx(
                marginals.positive[i] - marginals.negative[i], abs=1e-9
            )
        tight, loose = tight + (marginals.excess == 0).all(), loose + (marginals.excess > 0).any()
    assert min(tight, loose) > 2


@pytest.mark.usefixtures("doubled")
def test_bounds_exceed_exact_max_marginals_by_at_most_the_stated_excess() -> None:
    apart = 0
    for case in cases(120):
        marginals = bounded_max_marginals(*case)
        above = np.array([marginals.positive, marginals.negative]) - reference.max_marginals_of(*case)
        rounding = 1e-9 * (1 + max(np.abs(marginals.positive).max(), np.abs(marginals.negative).max()))
        assert above.min() >= -rounding
        assert above.max() <= marginals.excess.sum() + rounding
        if len(reference.connected(len(case.unary), case.edges)) == 1:
            unattained = [
                bound - reference.value_of_labelling(marginals.labelling(i, label), *case)
                for label, bounds in ((True, marginals.positive), (False, marginals.negative))
                for i, bound in enumerate(bounds)
            ]
            expected = np.max(np.reshape(unattained, (2, -1)), axis=0)
            np.testing.assert_allclose(marginals.excess, expected, atol=1e-9)
        apart += above.max() > 1e-6
        check_labellings(marginals, case)
    assert apart > 10


@pytest.mark.usefixtures("doubled")
def test_a_score_larger_than_all_penalties_does_not_hide_a_gap() -> None:
    """Beyond twice its penalties a score changes no labelling, and so no excess."""
    apart = 0
    several = [case for case in cases(60) if len(case.unary) > 1]
    for score, case in itertools.product([1e9, -1e12, 1e15], several):
        enough = np.copysign(3.0 * np.abs(case.penalty).sum() + 1.0, score)
        expected, marginals = (
            bounded_max_marginals(np.append(first, case.unary[1:]), case.edges, case.penalty)
            for first in (enough, score)
        )
        size = np.abs(case.unary[1:]).sum() + 4.0 * np.abs(case.penalty).sum() + 1.0
        np.testing.assert_allclose(
            marginals.excess, expected.excess, atol=1e-12 * size, err_msg=f"{score}, {case}"
        )
        assert (marginals.excess == 0).tolist() == (expected.excess == 0).tolist()
        assert marginals.map.tolist() == expected.map.tolist()
        apart += (expected.excess > 0).any()
    assert apart > 6


@pytest.mark.usefixtures("doubled")
def test_a_very_large_penalty_does_not_hide_the_gap_of_other_edges() -> None:
    """Three samples repel each other."""
    # They pay for one pair at least, which halves do not; the fourth and fifth are as one.
    edges = np.array([[0, 1], [1, 2], [0, 2], [2, 3], [3, 4]])
    for tie in (-10.0, -1e12):
        marginals = bounded_max_marginals([0.0, 0.0, 0.0, 1.0, 0.0], edges, [1.0, 1.0, 1.0, -1.0, tie])
        np.testing.assert_allclose(marginals.excess, [0.0, 0.0, 0.0, 0.5, 0.5], atol=1e-3)
        assert (marginals.excess == 0).tolist() == [True, True, True, False, False]


@pytest.mark.usefixtures("doubled")
def test_labels_that_are_whole_are_those_of_a_best_labelling() -> None:
    """Persistency (Hammer, Hansen and Simeone 1984)."""
    # All of them at the same time, and halves where it is not known.
    whole = halves = 0
    for case in cases(120):
        labels, differs, _ = bounded_labelling(*case)
        assert set(labels) | set(differs) <= {0.0, 0.5, 1.0}
        known = labels != 0.5
        everything = list(itertools.product([False, True], repeat=len(labels)))
        worth = np.array([reference.value_of_labelling(tried, *case) for tried in everything])
        best = np.array(everything)[worth >= worth.max() - 1e-9 * (1 + abs(worth.max()))]
        assert (best[:, known] == labels[known]).all(axis=1).any()
        whole, halves = whole + known.sum(), halves + (~known).sum()
    assert min(whole, halves) > 20


@pytest.mark.usefixtures("doubled")
def test_sums_and_values_are_those_of_labellings_in_the_polytope() -> None:
    """They attain the bounds at their own model only."""
    # At no other model do they exceed its bounds: CCCP depends on that.
    for seed, case in enumerate(cases(40)):
        generator = np.random.default_rng([seed, 1])
        n, m = len(case.unary), len(case.penalty)
        marginals = bounded_max_marginals(*case)
        with_1, with_0 = (
            marginals.values(np.full(n, label), case.unary, case.penalty) for label in (True, False)
        )
        np.testing.assert_allclose(with_1 - with_0, marginals.difference, rtol=1e-9, atol=1e-9)
        labels, weights = generator.random(n) < 0.5, generator.standard_normal(n)
        unary, penalty = generator.standard_normal(n), generator.standard_normal(m)
        moved = marginals.values(labels, unary, penalty)
        samples, edges = marginals.sums(labels, weights)
        assert weights @ moved == pytest.approx(samples @ unary + edges @ penalty, abs=1e-9)
        there = bounded_max_marginals(unary, case.edges, penalty)
        assert (moved <= there.values(labels, unary, penalty) + 1e-9).all()


def test_a_component_too_large_for_the_memory_is_refused_before_there_are_scores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doubling_module, "LARGEST_DOUBLED", 20)
    path = np.stack([np.arange(24), np.arange(1, 25)], axis=1)
    for edges in (path[:19], np.delete(path, 10, axis=0)):
        assert PairsOfEitherSign(25, edges).doubling.large > 0
    with refused("samples in one component", 21):
        PairsOfEitherSign(25, path[:20])


def test_large_and_small_components_stand_side_by_side() -> None:
    generator = np.random.default_rng(0)
    sizes = [30, 14, 13, 12, 5, 1, 1]
    starts = np.append(0, np.cumsum(sizes))
    order, parts = generator.permutation(starts[-1]), []
    for size, start in zip(sizes, starts[:-1], strict=True):
        chain = np.stack([np.arange(size - 1), np.arange(1, size)], axis=1)
        more = random_edges(generator, size, size)
        parts.append(np.concatenate([chain, more[np.abs(np.diff(more)[:, 0]) > 1]]) + start)
    edges = order[np.concatenate(parts)]
    case = Case(generator.standard_normal(starts[-1]), edges, generator.standard_normal(len(edges)))
    marginals, best = bounded_max_marginals(*case), bounded_labelling(*case)
    check_labellings(marginals, case)
    large = np.isin(np.arange(starts[-1]), order[: starts[3]])
    assert marginals.relaxed.tolist() == large.tolist()
    assert (marginals.excess[~large] == 0).all()
    assert (marginals.excess[large] > 0).any()
    assert best.value == pytest.approx(best.labels @ case.unary + best.differs @ case.penalty, rel=1e-12)
    value = max(marginals.positive.max(), marginals.negative.max())
    assert best.value == pytest.approx(value, rel=1e-12)


def test_large_components_without_frustration_are_exact() -> None:
    """Penalties <= 0; and the same where one label of some samples is called by the other's name."""
    for seed in range(4):
        generator = np.random.default_rng(seed)
        case = random_case(generator, 40, 90, 0.6, whole=seed == 3)
        expected, sign = max_marginals(*case), generator.choice([-1.0, 1.0], 40)
        turned = case.unary * sign, case.edges, case.penalty * sign[case.edges].prod(axis=1)
        for marginals, side in ((bounded_max_marginals(*case), 1.0), (bounded_max_marginals(*turned), sign)):
            np.testing.assert_allclose(
                side * marginals.difference, expected.difference, rtol=1e-9, atol=1e-11
            )
            assert (marginals.excess == 0).all()
        np.testing.assert_allclose(bounded_max_marginals(*case).positive, expected.positive, rtol=1e-9)
        assert bounded_labelling(*case).value == pytest.approx(best_labelling(*case)[1], rel=1e-12)


def test_degenerate_models() -> None:
    none = bounded_max_marginals([], [], [])
    assert (none.positive.shape, none.map.shape, none.excess.shape) == ((0,), (0,), (0,))
    lonely = bounded_max_marginals([2.0, -1.0, 0.0], np.empty((0, 2), int), [])
    assert lonely.difference.tolist() == [2.0, -1.0, 0.0]
    assert lonely.map.tolist() == [True, False, True]
    assert bounded_labelling([], [], []).value == 0.0
