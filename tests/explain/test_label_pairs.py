"""Pairs of labels: each once, counted as the definition says, on random stars."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from ranking.explain.label_pairs import LabelPairs, label_pairs


def random_star(seed: int, images: int = 60) -> tuple[LabelPairs, np.ndarray, np.ndarray]:
    """Pairs, the matrix F (L, L), and labels (M, L)."""
    random = np.random.default_rng(seed)
    size = int(random.integers(3, 9))
    core = random.permutation(size)[: int(random.integers(1, size + 1))]
    full = random.normal(size=(size, size))
    full = np.triu(full, 1) + np.triu(full, 1).T
    full[np.ix_(np.setdiff1d(range(size), core), np.setdiff1d(range(size), core))] = 0.0
    labels = random.random((images, size)) < 0.4
    names = tuple(f"label {i}" for i in range(size))
    return label_pairs(names, core, full[core], labels), full, labels


def test_each_pair_comes_once_with_what_the_definition_counts():
    for seed in range(20):
        pairs, full, labels = random_star(seed)
        seen = {frozenset((int(i), int(j))) for i, j in zip(pairs.first, pairs.second, strict=True)}
        numbers = range(len(pairs.names))
        assert seen == {frozenset((i, j)) for i in pairs.core.tolist() for j in numbers if i != j}, seed
        assert len(seen) == len(pairs), seed
        assert np.isin(pairs.first, pairs.core).all(), seed
        first, second = labels[:, pairs.first], labels[:, pairs.second]
        chance = first.mean(axis=0) * second.mean(axis=0)
        assert pairs.weight.tolist() == full[pairs.first, pairs.second].tolist(), seed
        assert pairs.together.tolist() == (first & second).sum(axis=0).tolist(), seed
        assert pairs.expected == pytest.approx(chance * len(labels)), seed
        assert pairs.lift == pytest.approx((first & second).mean(axis=0) / chance), seed


def test_pairs_of_one_core_label_begin_with_it_and_others_are_refused():
    pairs, full, _ = random_star(3)
    label = int(pairs.core[-1])
    own = pairs.of(label)
    assert set(own.first.tolist()) == {label}
    assert sorted(own.second.tolist()) == [i for i in range(len(pairs.names)) if i != label]
    assert own.weight.tolist() == full[label, own.second].tolist()
    outside = next(i for i in range(len(pairs.names)) if i not in pairs.core)
    with refused("core label", f"'label {outside}'"):
        pairs.of(outside)
    with refused("interactions and labels", "(1, 3) and (4, 2)"):
        label_pairs(("a", "b"), np.array([0]), np.zeros((1, 3)), np.zeros((4, 2), bool))


def test_the_strongest_of_a_sign_come_first_and_none_of_the_other_sign():
    pairs, _, _ = random_star(5)
    for sign in (1, -1):
        chosen = sign * pairs.weight[pairs.strongest(sign, 4)]
        every = np.sort(sign * pairs.weight)[::-1]
        assert chosen.tolist() == every[every > 0][:4].tolist()


def test_log_lift_is_finite_for_labels_that_never_co_occur_and_zero_at_chance():
    labels = np.array([[1, 0, 1], [0, 1, 1], [1, 0, 0], [0, 1, 0]], bool)
    pairs = label_pairs(("a", "b", "c"), np.array([0]), np.array([[0.0, -1.0, 0.5]]), labels)
    assert pairs.together.tolist() == [0, 1]
    assert pairs.expected.tolist() == [1.0, 1.0]
    assert pairs.log_lift.tolist() == pytest.approx([np.log2(0.5 / 1.5), 0.0])
    nobody = label_pairs(("a", "b"), np.array([0]), np.array([[0.0, 1.0]]), np.zeros((4, 2), bool))
    assert np.isnan(nobody.lift).all()
    assert nobody.log_lift.tolist() == [0.0]


def test_against_is_positive_where_signs_differ_and_correlation_is_pearsons():
    pairs, _, _ = random_star(8)
    x, y = pairs.log_lift, pairs.weight
    assert ((pairs.against > 0) == (np.sign(x) * np.sign(y) < 0)).all()
    assert (pairs.against > 0).any()
    expected = ((x - x.mean()) * (y - y.mean())).mean() / (x.std() * y.std())
    assert pairs.correlation == pytest.approx(expected)
    assert np.isnan(pairs.part([0]).correlation)
    assert len(pairs.part([])) == 0
