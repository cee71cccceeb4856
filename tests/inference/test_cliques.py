"""P^n Potts cliques, against all labellings."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
import reference
from pairwise_models import random_case, random_edges, small_cases

from ranking.inference import cliques, max_marginals
from ranking.inference.cliques import Cliques, maximal_cliques

CLOSE = {"rtol": 1e-9, "atol": 1e-11}


def random_model(seed: int, n: int = 7) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
    """Scores, up to 5 cliques of 2 to n samples, which overlap, and penalties, some of them 0."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(2, n + 1, int(generator.integers(0, 6)))
    found = {tuple(np.sort(generator.permutation(n)[:size]).tolist()) for size in sizes}
    cliques = [np.array(clique) for clique in sorted(found)]
    strength = 10.0 ** generator.integers(-2, 2) * (generator.random(len(cliques)) < 0.8)
    if seed % 3 == 0:
        return generator.integers(-2, 3, n).astype(float), cliques, -np.round(strength)
    return generator.standard_normal(n), cliques, -strength * generator.random(len(cliques))


def test_max_marginals_are_the_best_of_all_labellings() -> None:
    for seed in range(60):
        unary, cliques, penalty = random_model(seed)
        expected = reference.max_marginals_with_cliques(unary, cliques, penalty)
        model = Cliques.of(len(unary), cliques)
        found = model.max_marginals(unary, penalty)
        np.testing.assert_allclose([found.positive, found.negative], expected, **CLOSE)
        np.testing.assert_allclose(found.difference, expected[0] - expected[1], **CLOSE)
        assert not found.excess.any()
        for i, label in itertools.product(range(len(unary)), (False, True)):
            labels = found.labelling(i, label)
            value = reference.value_with_cliques(labels, unary, cliques, penalty)
            assert value == pytest.approx(expected[int(not label), i], rel=1e-9, abs=1e-11)
        for labels in (found.map, model.best_labelling(unary, penalty)):
            value = reference.value_with_cliques(labels, unary, cliques, penalty)
            assert value == pytest.approx(expected.max(), rel=1e-9, abs=1e-11)


def test_large_cliques_are_cut() -> None:
    """A clique alone: the best of all labels free, less the penalty, all 0 and all 1."""
    for seed in range(20):
        generator = np.random.default_rng(seed)
        unary, penalty = generator.standard_normal(40), -float(generator.uniform(0, 25))
        found = Cliques.of(40, [np.arange(40)]).max_marginals(unary, [penalty])
        best = max(np.maximum(unary, 0).sum() + penalty, 0.0, unary.sum())
        for i in range(40):
            free = np.maximum(np.delete(unary, i), 0).sum() + penalty
            assert found.positive[i] == pytest.approx(max(free + unary[i], unary.sum()), rel=1e-12, abs=1e-12)
            assert found.negative[i] == pytest.approx(max(free, 0.0), rel=1e-12, abs=1e-12)
        assert max(found.positive.max(), found.negative.max()) == pytest.approx(best, abs=1e-12)


def test_cliques_of_two_are_pairs() -> None:
    for case in small_cases(40):
        model = Cliques.of(len(case.unary), [np.sort(edge) for edge in case.edges])
        found, expected = model.max_marginals(case.unary, case.penalty), max_marginals(*case)
        np.testing.assert_allclose(found.difference, expected.difference, **CLOSE)
        assert model.components.samples == len(case.unary)


def test_sums_are_those_of_labellings_that_pay_each_broken_clique_once() -> None:
    """Also where a clique costs nothing, so that its auxiliary samples are free."""
    for seed, zero in itertools.product(range(30), (False, True)):
        unary, cliques, penalty = random_model(seed)
        generator, n = np.random.default_rng([seed, 1]), len(unary)
        penalty = penalty * (not zero)
        model = Cliques.of(n, cliques)
        found = model.max_marginals(unary, penalty)
        connected = model.components.component_of[:n]
        labels, weights = generator.random(n) < 0.5, generator.standard_normal(n)
        samples, terms = np.zeros(n), np.zeros(len(cliques))
        scores, costs = generator.standard_normal(n), generator.standard_normal(len(cliques))
        values = np.zeros(n)
        for i in range(n):
            labelling = found.labelling(i, labels[i])
            inside = np.array([connected[clique[0]] == connected[i] for clique in cliques], bool)
            broken = model.broken(labelling) & inside
            samples += weights[i] * (labelling & (connected == connected[i]))
            terms += weights[i] * broken
            values[i] = scores[labelling & (connected == connected[i])].sum() + costs[broken].sum()
        got = found.sums(labels, weights)
        np.testing.assert_allclose(got[0], samples, atol=1e-12)
        np.testing.assert_allclose(got[1], terms, atol=1e-12)
        np.testing.assert_allclose(found.values(labels, scores, costs), values, rtol=1e-9, atol=1e-12)


def test_maximal_cliques_are_those_of_all_subsets() -> None:
    for seed in range(60):
        generator = np.random.default_rng(seed)
        n = int(generator.integers(1, 9))
        edges = random_edges(generator, n, int(generator.integers(0, n * (n - 1) // 2 + 1)))
        found = [tuple(clique.tolist()) for clique in maximal_cliques(n, edges)]
        assert found == reference.cliques_of(n, edges)


def test_a_whole_group_is_one_clique_however_large() -> None:
    edges = np.array(list(itertools.combinations(range(300), 2)))
    [clique] = maximal_cliques(300, edges)
    assert clique.tolist() == list(range(300))


def test_a_group_of_a_thousand_takes_no_longer_than_its_pairs() -> None:
    """Apart from a path in another component, whose cliques are pairs."""
    edges = np.concatenate([np.stack(np.triu_indices(1000, 1), axis=1), [[1000, 1001], [1001, 1002]]])
    started = time.process_time()
    found = maximal_cliques(1003, edges)
    assert time.process_time() - started < 5.0
    assert [clique.tolist() for clique in found] == [list(range(1000)), [1000, 1001], [1001, 1002]]


@pytest.mark.parametrize(("fewest", "most"), [(300, 300), (100, 135)])
def test_more_cliques_than_anyone_can_use_are_refused_at_once(
    monkeypatch: pytest.MonkeyPatch, fewest: int, most: int
) -> None:
    """All pairs of 18 samples but those within each three: 3^6 cliques, of which no more are looked for."""
    edges = np.array([(i, j) for i, j in itertools.combinations(range(18), 2) if i // 3 != j // 3])
    assert len(maximal_cliques(18, edges)) == 3**6
    monkeypatch.setattr(cliques, "MOST_CLIQUES", fewest)
    seen, grown = [], cliques._grown
    monkeypatch.setattr(cliques, "_grown", lambda near: (seen.append(one) or one for one in grown(near)))
    with pytest.raises(ValueError, match=rf"135 pairs form more than {most} cliques.*choose other pairs"):
        maximal_cliques(18, edges)
    assert len(seen) == most + 1


def test_broken_cliques_are_those_whose_labels_differ() -> None:
    model = Cliques.of(4, [np.array([0, 1, 2]), np.array([2, 3])])
    for labels in itertools.product([False, True], repeat=4):
        assert model.broken(labels).tolist() == [len(set(labels[:3])) > 1, labels[2] != labels[3]]
    assert Cliques.of(2, []).broken([True, False]).tolist() == []


def test_a_bad_model_says_what_came() -> None:
    for clique in ([0], [1, 1, 2]):
        with pytest.raises(ValueError, match="two or more samples, all different"):
            Cliques.of(4, [np.array(clique)])
    model = Cliques.of(4, [np.arange(3)])
    for solve in (model.max_marginals, model.best_labelling):
        with pytest.raises(ValueError, match=r"penalty must be \(1,\), one a clique, got shape \(2,\)"):
            solve(np.zeros(4), [-1.0, -1.0])
        with pytest.raises(ValueError, match="penalties must be <= 0"):
            solve(np.zeros(4), [1.0])
    with pytest.raises(ValueError, match="sample must be one of 0 to 3, got 4"):
        model.max_marginals(np.zeros(4), [-1.0]).labelling(4, True)
    case = random_case(np.random.default_rng(0), 3, 0, 1.0, whole=False)
    alone = Cliques.of(3, []).max_marginals(case.unary, [])
    np.testing.assert_array_equal(alone.difference, case.unary)
