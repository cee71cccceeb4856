"""What every most violated ranking must be, whichever algorithm made it, and what tests in loops share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import reference

from ranking.inference import MostViolatedRanking, algorithms_for
from ranking.losses import RankingLoss, loss_names


@contextmanager
def case(*names: object) -> Iterator[None]:
    """A failure inside of the block is reported with the case of the loop in which it came up."""
    try:
        yield
    except Exception as error:
        error.add_note(f"in the case {names}")
        raise


@dataclass(frozen=True)
class RootLoss(RankingLoss):
    """QS-suitable, and neither of the two: discount 1/sqrt(position), gains that fall and end at zero."""

    name, measure = "root", "the root measure"

    def gains(self, positives: int) -> np.ndarray:
        return np.arange(positives)[::-1] / positives

    def discount(self, positions: np.ndarray) -> np.ndarray:
        return 1 / np.sqrt(positions)


@dataclass(frozen=True)
class Made(RankingLoss):
    """Any discount, and equal gains."""

    name, measure = "made", "a measure"
    discounts: Callable[[np.ndarray], np.ndarray]
    gain: float = 1.0

    def gains(self, positives: int) -> np.ndarray:
        return np.full(positives, self.gain)

    def discount(self, positions: np.ndarray) -> np.ndarray:
        return self.discounts(positions)


# NDCG with the discount that is flat at the top (quicksort, section 2.3): not QS-suitable.
FLAT_AT_THE_TOP = Made(lambda at: 1 / np.log2(np.maximum(at, 2)))


def root_loss(positions: list[int]) -> float:
    count = len(positions)
    return sum(
        (count - index) / count * (index**-0.5 - position**-0.5)
        for index, position in enumerate(positions, start=1)
    )


LOSSES = {**{name: name for name in loss_names()}, "root": RootLoss()}
DEFINITIONS = {**{name: reference.definition_of(name) for name in loss_names()}, "root": root_loss}
ALGORITHMS = {name: algorithms_for(name) for name in loss_names()} | {"root": algorithms_for("ndcg")}
PAIRS = [(loss, algorithm) for loss, algorithms in ALGORITHMS.items() for algorithm in algorithms]


def order_of(ranking: MostViolatedRanking, scores: np.ndarray, relevant: np.ndarray) -> reference.Order:
    """The ranking that the interleaving ranks mean: a sample of rank r stands below r - 1 relevant ones."""
    ranks = np.zeros(len(scores), int)
    ranks[~relevant] = ranking.interleaving_ranks
    positives = sorted(
        np.flatnonzero(relevant), key=lambda sample: (-scores[sample], -ranking.coefficients[sample])
    )
    negatives = sorted(np.flatnonzero(~relevant), key=lambda sample: (ranks[sample], -scores[sample]))
    placed = [(i, 1, sample) for i, sample in enumerate(positives, start=1)]
    placed += [(ranks[sample] - 1, 2, sample) for sample in negatives]
    return tuple(int(sample) for _, _, sample in sorted(placed, key=lambda entry: entry[:2]))


def check_ranking(ranking: MostViolatedRanking, scores: np.ndarray, relevant: np.ndarray, loss: str) -> None:
    """Coefficients, loss and interleaving ranks speak of one ranking, in which nothing crosses."""
    order = order_of(ranking, scores, relevant)
    positives, negatives = int(relevant.sum()), int((~relevant).sum())

    kinds = relevant[list(order)]
    # of the other kind
    above = np.where(kinds, np.cumsum(~kinds), np.cumsum(kinds))
    # each pair adds +1 to the higher and -1 to the lower sample
    from_pairs = np.empty(len(scores))
    from_pairs[list(order)] = np.where(kinds, negatives - 2 * above, positives - 2 * above)
    whole = ranking.coefficients * positives * negatives
    # integers
    np.testing.assert_allclose(whole, from_pairs, atol=1e-6)
    np.testing.assert_array_equal((positives + 2 - np.rint(whole[~relevant])) / 2, ranking.interleaving_ranks)

    positions = reference.positions_of_relevant(order, relevant)
    assert math.isclose(ranking.loss, DEFINITIONS[loss](positions), rel_tol=1e-12, abs_tol=1e-13)
    assert ranking.interleaving_ranks.min() >= 1
    assert ranking.interleaving_ranks.max() <= positives + 1
    from_top = np.lexsort((ranking.interleaving_ranks, -scores[~relevant]))
    ranks, sorted_scores = ranking.interleaving_ranks[from_top], -scores[~relevant][from_top]
    # Where rounding the largest score swallows all others, samples that it cannot tell apart may cross.
    rounding = np.finfo(float).eps * np.abs(scores).max()
    before = (
        np.arange(len(ranks))
        if rounding < 1e-3
        else np.searchsorted(sorted_scores, sorted_scores - 64 * rounding)
    )
    highest_before = np.concatenate([[1], np.maximum.accumulate(ranks)])[before]
    assert (ranks >= highest_before).all(), "ranks fall along the sorted scores"


def hinge(ranking: MostViolatedRanking, scores: np.ndarray, relevant: np.ndarray) -> float:
    """How much the ranking violates its constraint: objective less w.Psi(X, R*), summed without cancellation."""
    positives, negatives = int(relevant.sum()), int((~relevant).sum())
    whole = np.rint(ranking.coefficients * positives * negatives)
    truth = np.where(relevant, negatives, -positives)
    return math.fsum(scores * ((whole - truth) / (positives * negatives))) + ranking.loss
