"""P^n Potts cliques, against all labellings."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import reference
from pairwise_models import check_sums_and_values, random_edges
from refusals import refused

from ranking.inference import cliques
from ranking.inference.cliques import Cliques, maximal_cliques

CLOSE = {"rtol": 1e-9, "atol": 1e-11}


def random_model(seed: int) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
    """Scores of 7 samples, up to 5 overlapping cliques of 2 to 7 of them, and penalties, some 0."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(2, 8, int(generator.integers(0, 6)))
    different = {tuple(np.sort(generator.permutation(7)[:size]).tolist()) for size in sizes}
    groups = [np.array(clique) for clique in sorted(different)]
    strength = 10.0 ** generator.integers(-2, 2) * (generator.random(len(groups)) < 0.8)
    if seed % 3 == 0:
        return generator.integers(-2, 3, 7).astype(float), groups, -np.round(strength)
    return generator.standard_normal(7), groups, -strength * generator.random(len(groups))


def test_max_marginals_are_the_best_of_all_labellings() -> None:
    for seed in range(60):
        unary, groups, penalty = random_model(seed)
        expected = reference.max_marginals_with_cliques(unary, groups, penalty)
        model = Cliques.of(7, groups)
        result = model.max_marginals(unary, penalty)
        np.testing.assert_allclose([result.positive, result.negative], expected, **CLOSE)
        np.testing.assert_allclose(result.difference, expected[0] - expected[1], **CLOSE)
        assert not result.excess.any()
        assert model.components.samples == 7 + 2 * sum(len(clique) > 2 for clique in groups)
        best = [(result.map, expected.max()), (model.best_labelling(unary, penalty), expected.max())]
        for i, label in itertools.product(range(7), (False, True)):
            best.append((result.labelling(i, label), expected[int(not label), i]))
        for labels, value in best:
            worth = reference.value_with_cliques(labels, unary, groups, penalty)
            assert worth == pytest.approx(value, rel=1e-9, abs=1e-11), seed


def test_large_cliques_are_cut() -> None:
    """A clique alone: the best of all labels free, less the penalty, all 0 and all 1."""
    for seed in range(20):
        generator = np.random.default_rng(seed)
        unary, penalty = generator.standard_normal(40), -float(generator.uniform(0, 25))
        result = Cliques.of(40, [np.arange(40)]).max_marginals(unary, [penalty])
        free = np.array([np.maximum(np.delete(unary, i), 0).sum() + penalty for i in range(40)])
        exact = {"rtol": 1e-12, "atol": 1e-12, "err_msg": f"seed {seed}"}
        np.testing.assert_allclose(result.positive, np.maximum(free + unary, unary.sum()), **exact)
        np.testing.assert_allclose(result.negative, np.maximum(free, 0.0), **exact)


def test_sums_and_values_are_those_of_labellings_with_one_penalty_per_broken_clique() -> None:
    """Also where a clique costs nothing, so that its auxiliary samples are free."""
    for seed, zero in itertools.product(range(30), (False, True)):
        unary, groups, penalty = random_model(seed)
        model = Cliques.of(len(unary), groups)
        result = model.max_marginals(unary, penalty * (not zero))
        generator = np.random.default_rng([seed, 1])
        check_sums_and_values(result, model.components.component_of[: len(unary)], groups, generator)


def test_maximal_cliques_are_those_of_all_subsets() -> None:
    for seed in range(60):
        generator = np.random.default_rng(seed)
        n = int(generator.integers(1, 9))
        edges = random_edges(generator, n, int(generator.integers(0, n * (n - 1) // 2 + 1)))
        result = [tuple(clique.tolist()) for clique in maximal_cliques(n, edges)]
        assert result == reference.cliques_of(n, edges), seed


def test_a_group_is_one_clique_however_large() -> None:
    """Apart from a path in another component, whose cliques are pairs."""
    edges = np.concatenate([np.stack(np.triu_indices(300, 1), axis=1), [[300, 301], [301, 302]]])
    result = [clique.tolist() for clique in maximal_cliques(303, edges)]
    assert result == [list(range(300)), [300, 301], [301, 302]]


@pytest.mark.parametrize(("fewest", "most"), [(300, 300), (100, 135)])
def test_too_many_maximal_cliques_are_refused_immediately(
    monkeypatch: pytest.MonkeyPatch, fewest: int, most: int
) -> None:
    """All pairs of 18 samples but those within each three: 3^6 cliques, of which no more are looked for."""
    edges = np.array([(i, j) for i, j in itertools.combinations(range(18), 2) if i // 3 != j // 3])
    assert len(maximal_cliques(18, edges)) == 3**6
    monkeypatch.setattr(cliques, "MAX_CLIQUES", fewest)
    seen, grown = [], cliques._grown
    monkeypatch.setattr(
        cliques, "_grown", lambda near: (seen.append(clique) or clique for clique in grown(near))
    )
    with refused("cliques of similar samples"):
        maximal_cliques(18, edges)
    assert len(seen) == most + 1


def test_broken_cliques_are_those_whose_labels_differ() -> None:
    model = Cliques.of(4, [np.array([0, 1, 2]), np.array([2, 3])])
    for labels in itertools.product([False, True], repeat=4):
        assert model.broken(labels).tolist() == [len(set(labels[:3])) > 1, labels[2] != labels[3]]
    assert Cliques.of(2, []).broken([True, False]).tolist() == []
    unary = np.array([0.5, -1.0, 0.0])
    np.testing.assert_array_equal(Cliques.of(3, []).max_marginals(unary, []).difference, unary)
