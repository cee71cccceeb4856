"""Ranking losses against their definitions, and the check that keeps greedy inference right."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import reference
from checks import FLAT_AT_THE_TOP, Made, case
from refusals import refused

from ranking.inference import most_violated_ranking
from ranking.losses import RankingLoss, loss_names, make_loss
from ranking.losses.base import loss_tables
from ranking.losses.weighted_zero_one import misclassification_costs, weighted_zero_one


@dataclass(frozen=True)
class WithoutName(Made):
    name = RankingLoss.name


def test_the_losses_of_the_papers_have_definitions_of_their_own() -> None:
    assert set(reference.LOSSES) <= set(loss_names())
    assert len(reference.LOSSES) == 2


@pytest.mark.parametrize("name", loss_names())
def test_losses_are_as_defined_at_every_pattern(name: str) -> None:
    """A perfect ranking costs nothing, without rounding."""
    loss, definition = make_loss(name), reference.definition_of(name)
    for n in range(2, 9):
        for positives in range(1, n):
            assert loss.of_positions(np.arange(1.0, positives + 1)) == 0
            for positions in itertools.combinations(range(1, n + 1), positives):
                computed = loss.of_positions(np.array(positions, dtype=float))
                assert computed == pytest.approx(definition(positions), abs=1e-14)


@pytest.mark.parametrize("name", reference.LOSSES)
def test_steps_are_differences_of_the_discount_without_their_cancellation(name: str) -> None:
    loss = make_loss(name)
    assert loss.steps(50) == pytest.approx(RankingLoss.steps(loss, 50), rel=1e-12)
    steps = loss.steps(1_000_000)
    # convex to the last place; plain differences are not
    assert (np.diff(steps) <= 0).all()
    assert steps.sum() == pytest.approx(
        float(loss.discount(np.ones(1))[0] - loss.discount(np.array([1e6 + 1]))[0])
    )


def test_losses_that_greedy_inference_would_get_wrong_are_refused() -> None:
    for loss, subject, came in [
        (FLAT_AT_THE_TOP, "discount of made", "another shape at T(1), T(2), T(3)"),
        # NDCG that ends after the third place (quicksort, section 2.3)
        (
            Made(lambda at: (at <= 3) / np.log2(1 + at)),
            "discount of made",
            "another shape at T(2), T(3), T(4)",
        ),
        (Made(lambda at: 0.5 * at), "discount of made", "another shape at its tail"),
        (WithoutName(lambda at: at), "discount of a loss without a name", "another shape at its tail"),
        (Made(lambda at: -at, gain=-2.0), "gains of made", -2.0),
        (Made(lambda at: -at, gain=np.nan), "gains and discount of made", None),
        (Made(lambda at: np.nan * at), "gains and discount of made", None),
        # which forgets that positions start at 1
        (Made(lambda at: np.where(at == 1, np.inf, -at)), "gains and discount of made", None),
    ]:
        with case(subject, came), refused(subject, came):
            loss_tables(loss, 3, 5)


def test_tables_are_of_gains_and_steps_and_cannot_be_written() -> None:
    # a line is convex enough
    gains, steps = loss_tables(Made(lambda at: -0.1 * at, gain=2.0), 2, 3)
    assert gains.tolist() == [2, 2]
    assert steps == pytest.approx(np.full(5, 0.1))
    assert not gains.flags.writeable
    assert not steps.flags.writeable


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
        # with zeros, which say irrelevant
        scores = rng.integers(-2, 3, 14).astype(np.float64)
        relevant, irrelevant = scores[relevance > 0], scores[relevance == 0]
        expected = (np.mean(relevant <= 0) + np.mean(irrelevant > 0)) / 2
        assert weighted_zero_one(relevance, scores) == pytest.approx(expected, abs=1e-14)
    for kind in (0, 1):
        with refused("relevance", f"{3 * kind} relevant of 3"):
            weighted_zero_one(np.full(3, kind), np.ones(3))


def test_a_loss_whose_objects_are_not_compared_by_their_settings_is_refused() -> None:
    """Tables of gains are cached by loss: two that are wrongly equal would share them."""

    @dataclass(frozen=True, eq=False)
    class ByIdentity(Made):
        pass

    class WithState(Made):
        def __init__(self, power: float) -> None:
            super().__init__(lambda at: at**-power)

    classes: list[Any] = [ByIdentity(lambda at: 1 / at), WithState(0.5), Made, None]
    for loss in classes:
        with refused("loss"):
            most_violated_ranking([1.0, 0.0], [True, False], loss)


def test_the_key_of_a_loss_has_all_its_fields() -> None:
    steep, flat = (Made(np.reciprocal, gain) for gain in (1.0, 2.0))
    assert steep.key != flat.key
