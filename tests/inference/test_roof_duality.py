"""Pairs of either sign: exact where they are enumerated, else bounds, checked by linear programs and enumeration."""

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
from ranking.inference.components import Components, checked_model
from ranking.inference.doubling import Doubling, forced_labellings
from ranking.types import Bools

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


@pytest.fixture
def doubled(monkeypatch: pytest.MonkeyPatch) -> None:
    """No component is enumerated, so that small ones can be checked."""
    monkeypatch.setattr(doubling_module, "LARGEST_ENUMERATED", 1)


def test_small_components_are_exact() -> None:
    for case in cases():
        expected = reference.max_marginals_of(*case)
        found = bounded_max_marginals(*case)
        np.testing.assert_allclose([found.positive, found.negative], expected, **CLOSE)
        np.testing.assert_allclose(found.difference, expected[0] - expected[1], **CLOSE)
        assert found.exact.all()
        labels, differs, value = bounded_labelling(*case)
        assert value == pytest.approx(expected.max(), rel=1e-9, abs=1e-11)
        assert set(labels) | set(differs) <= {0.0, 1.0}
        check_labellings(found, case)


def check_labellings(found: object, case: Case) -> None:
    """Each labelling has its label, and is worth what is said, less the excess of some component."""
    slack = found.excess.sum()
    worth = reference.value_of_labelling(found.map, *case)
    assert worth <= max(found.positive.max(), found.negative.max()) + 1e-9
    for i, label in itertools.product(range(len(case.unary)), (False, True)):
        labels = found.labelling(i, label)
        assert labels[i] == label
        value = reference.value_of_labelling(labels, *case)
        bound = (found.positive if label else found.negative)[i]
        assert value <= worth + 1e-9 * (1 + abs(worth))
        assert bound - slack - 1e-9 * (1 + abs(bound)) <= value <= bound + 1e-9 * (1 + abs(bound))


@pytest.mark.usefixtures("doubled")
def test_bounds_are_the_optima_of_the_local_polytope() -> None:
    tight = loose = 0
    for case in cases(25, most=7):
        found = bounded_max_marginals(*case)
        near = {"rel": 1e-6, "abs": 1e-6}
        assert bounded_labelling(*case).value == pytest.approx(reference.relaxed_max_marginal(*case), **near)
        for i in range(len(case.unary)):
            for label, bound in ((True, found.positive[i]), (False, found.negative[i])):
                expected = reference.relaxed_max_marginal(*case, i, label)
                assert bound == pytest.approx(expected, **near)
            assert found.difference[i] == pytest.approx(found.positive[i] - found.negative[i], abs=1e-9)
        tight, loose = tight + found.exact.all(), loose + (~found.exact).any()
    assert min(tight, loose) > 2


@pytest.mark.usefixtures("doubled")
def test_bounds_lie_above_the_truth_by_no_more_than_they_say() -> None:
    apart = 0
    for case in cases(120):
        found = bounded_max_marginals(*case)
        true = reference.max_marginals_of(*case)
        above = np.array([found.positive, found.negative]) - true
        assert above.min() >= -1e-9 * (1 + np.abs(true).max())
        np.testing.assert_array_less(above.max(axis=0), found.excess.sum() + 1e-9 * (1 + np.abs(true).max()))
        if found.exact.all():
            np.testing.assert_allclose([found.positive, found.negative], true, **CLOSE)
        if len(reference.connected(len(case.unary), case.edges)) == 1:
            np.testing.assert_allclose(found.excess, np.max(unattained(found, case), axis=0), atol=1e-9)
        apart += above.max() > 1e-6
        check_labellings(found, case)
    assert apart > 10


@pytest.mark.usefixtures("doubled")
def test_a_score_that_nothing_outvotes_hides_no_gap_however_large() -> None:
    """Beyond twice its penalties a score changes no labelling, and so no excess."""
    apart = 0
    several = [case for case in cases(60) if len(case.unary) > 1]
    for score, case in itertools.product([1e9, -1e12, 1e15], several):
        enough, huge = case.unary.copy(), case.unary.copy()
        enough[0], huge[0] = np.copysign(3.0 * np.abs(case.penalty).sum() + 1.0, score), score
        expected = bounded_max_marginals(enough, case.edges, case.penalty)
        found = bounded_max_marginals(huge, case.edges, case.penalty)
        size = np.abs(enough).sum() + np.abs(case.penalty).sum()
        np.testing.assert_allclose(
            found.excess, expected.excess, atol=1e-12 * size, err_msg=f"{score} {case}"
        )
        assert found.exact.tolist() == expected.exact.tolist()
        assert found.map.tolist() == expected.map.tolist()
        apart += (~expected.exact).any()
    assert apart > 6


@pytest.mark.usefixtures("doubled")
def test_a_penalty_far_above_the_others_hides_no_gap_of_theirs() -> None:
    """Three that repel each other pay for one pair at least, which halves do not; the fourth and fifth are as one."""
    edges = np.array([[0, 1], [1, 2], [0, 2], [2, 3], [3, 4]])
    for tie in (-10.0, -1e12):
        found = bounded_max_marginals([0.0, 0.0, 0.0, 1.0, 0.0], edges, [1.0, 1.0, 1.0, -1.0, tie])
        np.testing.assert_allclose(found.excess, [0.0, 0.0, 0.0, 0.5, 0.5], atol=1e-3)
        assert found.exact.tolist() == [True, True, True, False, False]


def unattained(found: object, case: Case) -> np.ndarray:
    """(2, n) what each bound is above the labelling that is given for it."""
    return np.array(
        [
            [
                bound - reference.value_of_labelling(found.labelling(i, label), *case)
                for i, bound in enumerate(bounds)
            ]
            for label, bounds in ((True, found.positive), (False, found.negative))
        ]
    )


@pytest.mark.usefixtures("doubled")
def test_labels_that_are_whole_are_those_of_a_best_labelling() -> None:
    """Persistency (Hammer, Hansen and Simeone 1984): all of them at once, and halves where it is not known."""
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
@pytest.mark.parametrize("turned", [False, True])
def test_models_without_frustration_are_exact(turned: bool) -> None:
    """Penalties <= 0; and the same where one label of some samples is called by the other's name."""
    for seed in range(30):
        generator = np.random.default_rng(seed)
        case = random_case(generator, 9, int(generator.integers(0, 20)), 1.0, whole=seed % 3 == 0)
        expected = max_marginals(*case)
        side = (generator.random(9) < 0.5) & turned
        crossed = side[case.edges[:, 0]] != side[case.edges[:, 1]]
        # [y_i != y_j] = 1 - [y_i != 1 - y_j]: the constants move all values alike
        constant = case.unary[side].sum() + case.penalty[crossed].sum()
        found = bounded_max_marginals(
            np.where(side, -case.unary, case.unary),
            case.edges,
            np.where(crossed, -case.penalty, case.penalty),
        )
        assert found.exact.all()
        one, zero = (
            np.where(side, *pair) for pair in itertools.permutations([found.negative, found.positive])
        )
        np.testing.assert_allclose(one + constant, expected.positive, **CLOSE)
        np.testing.assert_allclose(zero + constant, expected.negative, **CLOSE)


@pytest.mark.usefixtures("doubled")
def test_sums_and_values_are_those_of_labellings_in_the_polytope() -> None:
    """At their own model they attain the bounds, at no other do they exceed its bounds: CCCP rests on that."""
    for seed, case in enumerate(cases(40)):
        generator = np.random.default_rng([seed, 1])
        n, m = len(case.unary), len(case.penalty)
        found = bounded_max_marginals(*case)
        labels, weights = generator.random(n) < 0.5, generator.standard_normal(n)
        own = found.values(labels, case.unary, case.penalty)
        samples, edges = found.sums(labels, weights)
        assert weights @ own == pytest.approx(samples @ case.unary + edges @ case.penalty, abs=1e-8)
        both = (
            found.values(np.ones(n, bool), case.unary, case.penalty),
            found.values(np.zeros(n, bool), *case[::2]),
        )
        np.testing.assert_allclose(both[0] - both[1], found.difference, rtol=1e-9, atol=1e-9)
        unary, penalty = generator.standard_normal(n), generator.standard_normal(m)
        moved = found.values(labels, unary, penalty)
        samples, edges = found.sums(labels, weights)
        assert weights @ moved == pytest.approx(samples @ unary + edges @ penalty, abs=1e-9)
        there = bounded_max_marginals(unary, case.edges, penalty)
        assert (moved <= there.values(labels, unary, penalty) + 1e-9).all()


def test_each_cut_goes_on_from_the_last() -> None:
    """Against cuts of new graphs, on one component of 20 samples after another."""
    for seed in range(6):
        generator = np.random.default_rng(seed)
        case = either_sign(generator, random_case(generator, 20, 45, 1.0, whole=seed % 2 == 0))
        given = checked_model(*case, None, np.inf)
        twice = Doubling.of(given.components)
        model = twice.model(given)
        network = twice.network(model)
        for number in range(twice.large):
            part = network.part(number, model.components.edge_starts)
            best = twice.best(network)[slice(*model.components.starts[number : number + 2])]
            rounds = list(forced_labellings(part, best))
            size = len(best) // 2
            for number_of, warm in enumerate(rounds):
                i, label = number_of % size, number_of < size
                assert warm[i] == warm[i + size] == label
                cold = cold_forced(part, i, label)
                assert worth_in(part, warm) == worth_in(part, cold)


def cold_forced(part: doubling_module.Network, i: int, label: bool) -> Bools:
    size = len(part.unary) // 2
    graph = part.graph()
    graph.add_tedge(i, *((part.force[i], 0) if label else (0, part.force[i])))
    graph.add_tedge(i + size, *((0, part.force[i + size]) if label else (part.force[i + size], 0)))
    graph.maxflow()
    found = ~graph.get_grid_segments(np.arange(2 * size))
    found[size:] ^= True
    return found


def worth_in(part: doubling_module.Network, labels: Bools) -> float:
    """In units, whole numbers."""
    sides = labels.copy()
    sides[len(sides) // 2 :] ^= True
    cut = sides[part.ends[:, 0]] != sides[part.ends[:, 1]]
    return float(part.unary[sides].sum() - part.capacities[cut].sum())


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
    parts = []
    for size, start in zip(sizes, starts[:-1], strict=True):
        chain = np.stack([np.arange(size - 1), np.arange(1, size)], axis=1)
        more = [pair for pair in random_edges(generator, size, size).tolist() if abs(pair[0] - pair[1]) > 1]
        parts.append(np.concatenate([chain, np.array(more, int).reshape(-1, 2)]) + start)
    order = generator.permutation(starts[-1])
    edges = order[np.concatenate(parts)]
    case = Case(generator.standard_normal(starts[-1]), edges, generator.standard_normal(len(edges)))
    found = bounded_max_marginals(*case)
    check_labellings(found, case)
    assert found.exact[order[starts[3] :]].all()
    assert not found.exact[order[: starts[3]]].all()
    assert found.relaxed[order[: starts[3]]].all()
    assert not found.relaxed[order[starts[3] :]].any()
    total = bounded_labelling(*case)
    assert total.value == pytest.approx(max(found.positive.max(), found.negative.max()), rel=1e-12)
    assert total.value == pytest.approx(total.labels @ case.unary + total.differs @ case.penalty, rel=1e-12)
    value = 0.0
    for size, start in zip(sizes, starts[:-1], strict=True):
        inside = order[start : start + size]
        kept = np.isin(edges, inside).all(axis=1)
        place = np.empty(starts[-1], int)
        place[inside] = np.arange(size)
        alone = bounded_max_marginals(case.unary[inside], place[edges[kept]], case.penalty[kept])
        np.testing.assert_allclose(alone.difference, found.difference[inside], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(alone.excess, found.excess[inside], rtol=1e-6, atol=1e-12)
        value += max(alone.positive.max(), alone.negative.max())
    assert value == pytest.approx(total.value, rel=1e-12)


def test_attractive_pairs_of_large_components_are_exact() -> None:
    for seed in range(4):
        case = random_case(np.random.default_rng(seed), 40, 90, 0.6, whole=seed == 3)
        found, expected = bounded_max_marginals(*case), max_marginals(*case)
        np.testing.assert_allclose(found.difference, expected.difference, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(found.positive, expected.positive, rtol=1e-9)
        assert found.exact.all()
        labels, value = best_labelling(*case)
        assert bounded_labelling(*case).value == pytest.approx(value, rel=1e-12)
        assert reference.value_of_labelling(found.map, *case) == pytest.approx(value, rel=1e-12)
        assert labels.shape == found.map.shape


def test_a_doubling_serves_many_models() -> None:
    generator = np.random.default_rng(2)
    edges = random_edges(generator, 20, 40)
    twice = Doubling.of(Components.of(20, edges))
    for _ in range(3):
        model = generator.standard_normal(20), edges, generator.standard_normal(40)
        np.testing.assert_array_equal(
            bounded_max_marginals(*model).difference, bounded_max_marginals(*model, twice).difference
        )
        assert bounded_labelling(*model).value == bounded_labelling(*model, twice).value


def test_degenerate_models() -> None:
    none = bounded_max_marginals([], [], [])
    assert (none.positive.shape, none.map.shape, none.excess.shape) == ((0,), (0,), (0,))
    lonely = bounded_max_marginals([2.0, -1.0, 0.0], np.empty((0, 2), int), [])
    assert lonely.difference.tolist() == [2.0, -1.0, 0.0]
    assert lonely.map.tolist() == [True, False, True]
    assert bounded_labelling([], [], []).value == 0.0
