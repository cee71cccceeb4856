"""Ranking losses against their definitions, and the check that keeps greedy inference right."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
import reference
from checks import Chakrabarti, case
from refusals import refused

from ranking.losses import RankingLoss, loss_names, make_loss
from ranking.losses.base import loss_tables
from ranking.losses.weighted_zero_one import misclassification_costs, weighted_zero_one


@dataclass(frozen=True)
class CutOff(Chakrabarti):
    """NDCG that ends after the third place: the discount falls off a cliff (quicksort, section 2.3)."""

    name = "cut-off"

    def discount(self, positions: np.ndarray) -> np.ndarray:
        return np.where(positions <= 3, 1 / np.log2(1 + positions), 0.0)


@dataclass(frozen=True)
class Linear(RankingLoss):
    """Discount `slope` x position, equal gains."""

    name = "linear"
    slope: float = -1.0
    gain: float = 1.0

    def gains(self, positives: int) -> np.ndarray:
        return np.full(positives, self.gain)

    def discount(self, positions: np.ndarray) -> np.ndarray:
        return self.slope * positions


class Pole(Linear):
    """1/(position - 1), which forgets that positions start at 1."""

    def discount(self, positions: np.ndarray) -> np.ndarray:
        return np.where(positions == 1, np.inf, 1 / np.maximum(positions - 1, 1))


class Unnamed(RankingLoss):
    """A loss that nobody registered, so nobody named it; its discount rises."""

    gains, discount = Linear.gains, Linear.discount
    slope, gain = 1.0, 1.0


def test_the_losses_are_those_of_the_paper() -> None:
    assert set(loss_names()) == {"ap", "ndcg"} == set(reference.LOSSES)


@pytest.mark.parametrize("name", loss_names())
def test_losses_are_as_defined_at_every_pattern(name: str) -> None:
    loss = make_loss(name)
    for n in range(2, 9):
        for positives in range(1, n):
            for places in itertools.combinations(range(1, n + 1), positives):
                computed = loss.of_positions(np.array(places, dtype=float))
                assert computed == pytest.approx(reference.LOSSES[name](places), abs=1e-14)


@pytest.mark.parametrize("name", loss_names())
def test_a_perfect_ranking_costs_nothing_and_the_worst_costs_most(name: str) -> None:
    loss = make_loss(name)
    assert loss.of_positions(np.arange(1.0, 6)) == 0
    values = [loss.of_positions(np.array(places, float)) for places in itertools.combinations(range(1, 8), 3)]
    assert max(values) == loss.of_positions(np.array([5.0, 6, 7])) < 1


@pytest.mark.parametrize("name", loss_names())
def test_steps_are_differences_of_the_discount_without_their_cancellation(name: str) -> None:
    loss = make_loss(name)
    assert loss.steps(50) == pytest.approx(RankingLoss.steps(loss, 50), rel=1e-12)
    steps = loss.steps(1_000_000)
    assert (np.diff(steps) < 0).all()  # strictly convex to the last place; plain differences are not
    assert steps.sum() == pytest.approx(
        float(loss.discount(np.ones(1))[0] - loss.discount(np.array([1e6 + 1]))[0])
    )


@pytest.mark.parametrize("name", loss_names())
def test_quicksort_suitability_of_the_decomposition(name: str) -> None:
    """(C2): the loss is the sum over irrelevant samples of delta_j(rank), delta_j(1) = 0; (C3): monotone in j."""
    positives, negatives = 3, 4
    gains, steps = loss_tables(make_loss(name), positives, negatives)
    increments = np.array([[-gains[i] * steps[i + j] for i in range(positives)] for j in range(negatives)])
    assert (np.diff(increments, axis=0) >= 0).all()
    worst = reference.LOSSES[name](range(negatives + 1, negatives + positives + 1))
    for places in itertools.combinations(range(1, positives + negatives + 1), positives):
        others = [place for place in range(1, positives + negatives + 1) if place not in places]
        passed = [sum(p < place for p in places) for place in others]  # rank less one
        total = worst + sum(increments[j, :count].sum() for j, count in enumerate(passed))
        assert total == pytest.approx(reference.LOSSES[name](places), abs=1e-14)


def test_losses_that_greedy_inference_would_get_wrong_are_refused() -> None:
    for loss, subject, came in [
        (Chakrabarti(), "discount of chakrabarti", "another shape at T(1), T(2), T(3)"),
        (CutOff(), "discount of cut-off", "another shape at T(2), T(3), T(4)"),
        (Linear(slope=0.5), "discount of linear", "another shape at its tail"),
        (Unnamed(), "discount of a loss without a name", "another shape at its tail"),
        (Linear(gain=-2.0), "gains of linear", -2.0),
        (Linear(gain=np.nan), "gains and discount of linear", None),
        (Linear(slope=np.nan), "gains and discount of linear", None),
        (Pole(), "gains and discount of linear", None),
    ]:
        with case(loss), refused(subject, came):
            loss_tables(loss, 3, 5)


def test_a_linear_discount_is_convex_enough() -> None:
    gains, steps = loss_tables(Linear(slope=-0.1), 2, 3)
    assert gains.tolist() == [1, 1]
    assert steps == pytest.approx(np.full(5, 0.1))


def test_tables_cannot_be_written_and_differ_between_losses() -> None:
    ap, ndcg = (loss_tables(make_loss(name), 3, 4) for name in ("ap", "ndcg"))
    assert not np.array_equal(ap[0], ndcg[0])
    assert loss_tables(Linear(gain=1.0), 3, 4)[0][0] != loss_tables(Linear(gain=2.0), 3, 4)[0][0]
    assert not any(table.flags.writeable for table in (*ap, *ndcg))


def test_costs_are_the_loss_of_one_error() -> None:
    for relevant in ([True, False], [True, False, False, False, True], [False] + [True] * 9):
        costs = misclassification_costs(np.array(relevant))
        outputs = reference.labelling_outputs(np.zeros((len(relevant), 1)), relevant)
        labellings = itertools.product([False, True], repeat=len(relevant))
        for labels, (_, loss) in zip(labellings, outputs, strict=True):
            assert costs[np.array(labels) != relevant].sum() == pytest.approx(loss, abs=1e-14), labels


def test_labels_by_sign_cost_the_mean_of_the_shares_of_errors_of_both_kinds() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        relevance = np.array([0, 2, *rng.integers(0, 3, 12)])
        scores = rng.integers(-2, 3, 14).astype(np.float64)  # with zeros, which say irrelevant
        relevant, irrelevant = scores[relevance > 0], scores[relevance == 0]
        expected = (np.mean(relevant <= 0) + np.mean(irrelevant > 0)) / 2
        assert weighted_zero_one(relevance, scores) == pytest.approx(expected, abs=1e-14)
        for same in (-1.0, 1.0):
            assert weighted_zero_one(relevance, np.full(14, same)) == pytest.approx(0.5, abs=1e-14)


def test_labels_of_one_kind_have_no_weighted_loss() -> None:
    for kind in (0, 1):
        with refused("relevance", f"{3 * kind} relevant of 3"):
            weighted_zero_one(np.full(3, kind), np.ones(3))


def test_a_subclass_must_give_gains_and_discount() -> None:
    for incomplete in (lambda loss: loss.gains(2), lambda loss: loss.discount(np.ones(2))):
        with pytest.raises(NotImplementedError):
            incomplete(RankingLoss())
