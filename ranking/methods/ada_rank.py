"""AdaRank: boosting of single features, weights over sequences (Xu and Li 2007)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

import numba
import numpy as np

from ranking.core import Bools, Floats, Ints, OnProgress, SequenceSet, StopTraining
from ranking.core.settings import setting
from ranking.methods.gains import gain_setting, gains_of
from ranking.methods.linear_order import LinearOrder
from ranking.methods.order_method import Grid
from ranking.methods.registry import METHODS
from ranking.solvers.clock import Clock

# mean quality at most: a perfect ranker would get an infinite weight
NEARLY_PERFECT = 1.0 - 1e-9


@numba.njit(cache=True, nogil=True)
def _qualities(columns, grades, gains, members, starts, out):  # type: ignore[no-untyped-def]
    """Write out (m, f): the NDCG of each sequence by each column (n, f) of scores."""
    # Ties are pessimistic.
    for number in range(len(starts) - 1):
        rows = members[starts[number] : starts[number + 1]]
        best = 0.0
        for a in range(len(rows)):
            rank = 1
            for b in range(len(rows)):
                above = grades[rows[b]] > grades[rows[a]]
                rank += above or (grades[rows[b]] == grades[rows[a]] and b < a)
            best += gains[rows[a]] / np.log2(1.0 + rank)
        for f in range(columns.shape[1]):
            total = 0.0
            for a in range(len(rows)):
                own, rank = columns[rows[a], f], 1
                for b in range(len(rows)):
                    score = columns[rows[b], f]
                    lower = grades[rows[b]] < grades[rows[a]]
                    before = lower or (grades[rows[b]] == grades[rows[a]] and b < a)
                    rank += score > own or (score == own and before)
                total += gains[rows[a]] / np.log2(1.0 + rank)
            out[number, f] = total / best


class WeakRankers:
    """Every feature over its standard deviation in the pool, and its negative: 2d rankers of sequences."""

    def __init__(self, sequences: SequenceSet, gains: Floats) -> None:
        self._sequences, self._gains = sequences, gains
        self._pool = sequences.features.astype(np.float64, copy=False)
        spread = self._pool[np.unique(sequences.members)].std(axis=0)
        factors = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
        # (2d,) the factor of each
        self.scales = np.concatenate([factors, -factors])
        qualities = [self._ndcg(sign * factors * self._pool) for sign in (1.0, -1.0)]
        self._qualities = np.concatenate(qualities, axis=1, dtype=np.float32)

    def best(self, shares: Floats, aside: Bools) -> tuple[int, float]:
        """Return the ranker of the highest mean quality that is not set aside, and its weight in the sum."""
        ranker = int(np.argmax(np.where(aside, -np.inf, shares.astype(np.float32) @ self._qualities)))
        mean = min(float(shares @ self._qualities[:, ranker]), NEARLY_PERFECT)
        return ranker, 0.5 * float(np.log((1.0 + mean) / (1.0 - mean)))

    def quality(self, direction: Floats) -> Floats:
        """Return (m,) the NDCG of each sequence by the scores x.direction."""
        return self._ndcg((self._pool @ direction)[:, None])[:, 0]

    def _ndcg(self, columns: Floats) -> Floats:
        """Return (m, f) the NDCG of each sequence by each column (n, f) of scores."""
        sequences = self._sequences
        out = np.empty((len(sequences), columns.shape[1]))
        _qualities(columns, sequences.grades, self._gains, sequences.members, sequences.starts, out)
        return out


@METHODS.register("AdaRank")
@dataclass(kw_only=True, eq=False)
class AdaRank(LinearOrder):
    """A sum of rankers by single features: each round adds the one that ranks the weighted sequences best.

    Their qualities E are NDCG. The ranker of greatest r = sum_q P_q E_q is added with the weight 1/2 ln((1 + r)/(1 -
    r)), and P_q becomes proportional to exp(-E_q) of the sum so far (their Algorithm 1). A weak ranker is a feature
    over its standard deviation in the pool, or its negative, since features of images have no natural sign. One that
    leaves every E unchanged would be chosen for ever: it is set aside until another ranker changes them. The result is
    the sum of least mean exp(-E_q). Sequences without two grades are ignored.
    """

    order = 25
    summary: ClassVar[str] = "Adds one feature at a time; badly ranked sequences gain weight."
    objective: ClassVar[str] = (
        r"\sum_q \exp\bigl(-\text{NDCG}(q;\, f)\bigr),\quad f = \sum_t \alpha_t x_{k_t}"
    )
    grid: ClassVar[Grid] = Grid("rounds", (10, 30, 100, 300))

    rounds: int = setting(
        100,
        label="Rounds",
        help="Each round adds one feature. Training ends earlier if all sequences are in the correct order.",
        formula=r"T",
        minimum=1,
        maximum=100_000,
        usual=(10, 300),
    )
    gain: str = gain_setting()

    def learn(self, sequences: SequenceSet, on_progress: OnProgress | None) -> None:
        clock, ordered = Clock(on_progress), sequences.part(_with_order(sequences))
        rankers = WeakRankers(ordered, gains_of(sequences.grades, self.gain))
        direction = self.direction = np.zeros(sequences.features.shape[1])
        reached, aside = rankers.quality(direction), np.zeros(2 * len(direction), np.bool_)
        shares, best_loss = np.full(len(ordered), 1.0 / len(ordered)), float(np.exp(-reached).mean())
        # the best sum so far is the result
        with suppress(StopTraining):
            clock.report(0, best_loss, -np.inf, 1)
            for number in range(1, self.rounds + 1):
                ranker, weight = rankers.best(shares, aside)
                longer = direction.copy()
                longer[ranker % len(direction)] += weight * rankers.scales[ranker]
                before, reached = reached, rankers.quality(longer)
                if (reached == before).all():
                    aside[ranker] = True
                else:
                    aside[:] = False
                    direction, powers = longer, np.exp(-reached)
                    shares = powers / powers.sum()
                    if powers.mean() < best_loss:
                        self.direction, best_loss = direction, float(powers.mean())
                clock.report(number, best_loss, -np.inf, number + 1)
                if aside.all() or reached.min() >= NEARLY_PERFECT:
                    break


def _with_order(sequences: SequenceSet) -> Ints:
    """Return the numbers of the sequences that hold two grades."""
    grades = sequences.grades[sequences.members]
    return np.flatnonzero(
        np.maximum.reduceat(grades, sequences.starts[:-1])
        > np.minimum.reduceat(grades, sequences.starts[:-1])
    )
