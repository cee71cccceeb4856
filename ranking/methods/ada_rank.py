"""AdaRank: boosting of single features, weights over sequences (Xu and Li 2007)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

import numba
import numpy as np

from ranking.methods.gains import gain_setting, gains_of
from ranking.methods.linear_order import LinearOrder
from ranking.methods.order_method import Grid
from ranking.methods.registry import METHODS
from ranking.optimise.clock import Clock
from ranking.settings import setting
from ranking.types import Floats, Ints, OnProgress, SequenceSet, StopTraining

NEARLY_PERFECT = 1.0 - 1e-9  # of the mean quality: a perfect ranker would be given an infinite weight


@numba.njit(cache=True, nogil=True)
def _qualities(columns, grades, gains, members, starts, out):  # type: ignore[no-untyped-def]
    """out (m, f): the NDCG of each sequence when each column (n, f) of scores ranks it, ties pessimistic."""
    for number in range(len(starts) - 1):
        rows = members[starts[number] : starts[number + 1]]
        best = 0.0
        for a in range(len(rows)):
            place = 1
            for b in range(len(rows)):
                above = grades[rows[b]] > grades[rows[a]]
                place += above or (grades[rows[b]] == grades[rows[a]] and b < a)
            best += gains[rows[a]] / np.log2(1.0 + place)
        for f in range(columns.shape[1]):
            total = 0.0
            for a in range(len(rows)):
                own, place = columns[rows[a], f], 1
                for b in range(len(rows)):
                    other = columns[rows[b], f]
                    lower = grades[rows[b]] < grades[rows[a]]
                    before = lower or (grades[rows[b]] == grades[rows[a]] and b < a)
                    place += other > own or (other == own and before)
                total += gains[rows[a]] / np.log2(1.0 + place)
            out[number, f] = total / best


@METHODS.register("AdaRank")
@dataclass(kw_only=True, eq=False)
class AdaRank(LinearOrder):
    """A sum of weak rankers, each a single feature: in a round the one that ranks the weighted sequences best.

    Their qualities E are NDCG. The ranker of greatest r = sum_q P_q E_q is added with the weight
    1/2 ln((1 + r)/(1 - r)), and P_q becomes proportional to exp(-E_q) of the sum so far (their Algorithm 1). A weak
    ranker is a feature over its standard deviation in the pool, or its negative, since features of images have no right
    sign. One that leaves every E as it was would be chosen for ever: it is set aside until another has changed them.
    The result is the sum of least mean exp(-E_q). Sequences without two grades are left out.
    """

    order = 25
    summary: ClassVar[str] = "Adds up single features; sequences that are ranked badly gain weight."
    objective: ClassVar[str] = (
        r"\sum_q \exp\bigl(-\text{NDCG}(q;\, f)\bigr),\quad f = \sum_t \alpha_t x_{k_t}"
    )
    grid: ClassVar[Grid] = Grid("rounds", (10, 30, 100, 300))

    rounds: int = setting(
        100,
        label="Rounds",
        help="Each adds one feature. Training ends sooner where the sequences are all in their order.",
        formula=r"T",
        minimum=1,
        maximum=100_000,
        usual=(10, 300),
    )
    gain: str = gain_setting()

    def learn(self, sequences: SequenceSet, on_progress: OnProgress | None) -> None:
        clock = Clock(on_progress)
        ordered = sequences.part(_with_order(sequences))
        pool = sequences.features.astype(np.float64, copy=False)
        spread = pool[np.unique(sequences.members)].std(axis=0)
        scales = np.where(spread > 0, 1.0 / np.where(spread > 0, spread, 1.0), 0.0)
        gains = gains_of(sequences.grades, self.gain)
        features = len(scales)
        quality = np.concatenate(
            [_quality(ordered, gains, sign * scales * pool) for sign in (1.0, -1.0)], axis=1, dtype=np.float32
        )
        direction = self.direction = np.zeros(features)
        reached, aside = (
            _quality(ordered, gains, np.zeros((len(pool), 1)))[:, 0],
            np.zeros(2 * features, bool),
        )
        shares, least = np.full(len(ordered), 1.0 / len(ordered)), float(np.exp(-reached).mean())
        with suppress(StopTraining):  # the best sum so far is the result
            clock.report(0, least, -np.inf, 1)
            for number in range(1, self.rounds + 1):
                ranker = int(np.argmax(np.where(aside, -np.inf, shares.astype(np.float32) @ quality)))
                mean = min(float(shares @ quality[:, ranker]), NEARLY_PERFECT)
                feature, sign = ranker % features, 1.0 if ranker < features else -1.0
                longer = direction.copy()
                longer[feature] += sign * scales[feature] * 0.5 * np.log((1.0 + mean) / (1.0 - mean))
                before, reached = reached, _quality(ordered, gains, (pool @ longer)[:, None])[:, 0]
                if (reached == before).all():
                    aside[ranker] = True
                else:
                    aside[:] = False
                    direction, shares = longer, np.exp(-reached)
                    loss = float(shares.mean())
                    shares /= shares.sum()
                    if loss < least:
                        self.direction, least = direction, loss
                clock.report(number, least, -np.inf, number + 1)
                if aside.all() or reached.min() >= NEARLY_PERFECT:
                    break


def _quality(sequences: SequenceSet, gains: Floats, columns: Floats) -> Floats:
    """(m, f) NDCG of each sequence by each column (n, f) of scores."""
    out = np.empty((len(sequences), columns.shape[1]))
    _qualities(columns, sequences.grades, gains, sequences.members, sequences.starts, out)
    return out


def _with_order(sequences: SequenceSet) -> Ints:
    """The numbers of the sequences that hold two grades."""
    grades = sequences.grades[sequences.members]
    return np.flatnonzero(
        np.maximum.reduceat(grades, sequences.starts[:-1])
        > np.minimum.reduceat(grades, sequences.starts[:-1])
    )
