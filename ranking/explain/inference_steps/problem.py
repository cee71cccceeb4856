"""The objective of loss-augmented inference: a function f_j of the rank (quicksort, Observation 3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ranking.core import Bools, Floats, Ints, check_relevance
from ranking.core.errors import InputError
from ranking.losses import RankingLoss, as_loss
from ranking.losses.base import loss_tables

MAX_INTERLEAVINGS = 10_000


class Value(NamedTuple):
    """The value of a ranking: score w.Psi(X, R) and loss Delta(R*, R), whose sum is quicksort's eq. 5."""

    score: float
    loss: float

    @property
    def objective(self) -> float:
        return self.score + self.loss


@dataclass(frozen=True, eq=False)
class InferenceProblem:
    """The scores of one query, sorted by relevance and score, and the tables of a loss.

    scores, is_relevant: (n,) in input order. positives: (|P|,), negatives: (|N|,) the relevant and the irrelevant
    samples, highest score first, ties in input order. gains: (|P|,), steps: (|P| + |N|,) of the loss
    (`ranking.losses.base`). Ranks and j count from 1 as in the paper.
    """

    scores: Floats
    is_relevant: Bools
    loss: RankingLoss
    positives: Ints
    negatives: Ints
    gains: Floats
    steps: Floats

    @classmethod
    def of(
        cls, scores: npt.ArrayLike, relevant: npt.ArrayLike, loss: str | RankingLoss = "ap"
    ) -> InferenceProblem:
        """Return the problem of finite scores (n,) and relevant (n,); ValueError unless both kinds occur."""
        values = np.array(scores, dtype=np.float64)
        if values.ndim != 1 or np.shape(relevant) != values.shape:
            raise InputError(
                "scores and relevant", "one shape (n,)", f"{values.shape} and {np.shape(relevant)}"
            )
        if not np.isfinite(values).all():
            raise InputError("scores", "finite numbers", remedy="omit the samples that have none")
        mask = check_relevance(np.asarray(relevant).astype(np.int64), len(values)) > 0
        if mask.all() or not mask.any():
            raise InputError(
                "relevant",
                "both relevant and irrelevant samples",
                f"{np.count_nonzero(mask)} relevant of {len(mask)}",
                "choose another query",
            )
        chosen = as_loss(loss)
        order = np.argsort(-values, kind="stable")
        positives, negatives = order[mask[order]], order[~mask[order]]
        gains, steps = loss_tables(chosen, len(positives), len(negatives))
        return cls(values, mask, chosen, positives, negatives, gains, steps)

    @property
    def highest(self) -> int:
        """|P| + 1, the rank of an irrelevant sample below all relevant ones."""
        return len(self.positives) + 1

    @cached_property
    def relevant(self) -> Floats:
        """(|P|,) the scores of relevant samples, descending."""
        return self.scores[self.positives]

    @cached_property
    def irrelevant(self) -> Floats:
        """(|N|,) the scores of irrelevant samples, descending."""
        return self.scores[self.negatives]

    @cached_property
    def half_gains(self) -> Floats:
        """(|P|,) the gains times |P||N|/2, as in `derivative`."""
        return self.gains * (0.5 * len(self.positives) * len(self.negatives))

    def derivative(self, j: int, i: int, score: float) -> float:
        """Return f_j(i + 1) - f_j(i) times |P||N|/2, for an irrelevant sample with that score."""
        drop = float(self.half_gains[i - 1]) * float(self.steps[i + j - 2])
        return (float(self.relevant[i - 1]) - score) - drop

    def best_rank(self, j: int, score: float, low: int, high: int) -> tuple[int, tuple[int, ...]]:
        """Return the highest maximiser of f_j on low ... high for a score, and the evaluated ranks."""
        value, best, rank = 0.0, 0.0, low
        for i in range(low, high):
            value += self.derivative(j, i, score)
            if value >= best:
                best, rank = value, i + 1
        return rank, tuple(range(low, high))

    def curve(self, j: int, score: float) -> Floats:
        """Return (|P| + 1,) f_j for any score at position j, also for the edge of a bin."""
        costs = self.gains * self.steps[j - 1 : j - 1 + len(self.positives)]
        delta: Floats = np.append(np.cumsum(costs[::-1])[::-1], 0.0)
        return self._score_terms(score) + delta

    @cached_property
    def values(self) -> Floats:
        """(|N|, |P| + 1) all f_j(i).

        The sum over j of f_j(r_j) is score plus loss (Observation 3).
        """
        return self._score_terms(self.irrelevant[:, None]) + self.deltas

    def _score_terms(self, scores: float | Floats) -> Floats:
        """Return (..., |P| + 1) f_j minus the loss, at each rank, of samples with those scores (..., 1)."""
        p, n = len(self.positives), len(self.negatives)
        ranks = np.arange(1, p + 2)
        above = np.concatenate([[0.0], np.cumsum(self.relevant)])
        terms: Floats = ((p + 2 - 2 * ranks) * scores + 2 * above - above[-1]) / (p * n)
        return terms

    @cached_property
    def deltas(self) -> Floats:
        """(|N|, |P| + 1) the loss of the j-th irrelevant sample at each rank, delta_j(i) of (C2)."""
        p, n = len(self.positives), len(self.negatives)
        positions = np.arange(n)[:, None] + np.arange(p)[None, :]
        costs = self.gains * self.steps[positions]
        deltas = np.zeros((n, p + 1))
        deltas[:, :-1] = np.cumsum(costs[:, ::-1], axis=1)[:, ::-1]
        return deltas

    def unimodal_to(self, j: int) -> int | None:
        """Return up to which rank f_j is known to be unimodal, None if unknown.

        See Proposition 5, with rank |P| + 1 too.
        """
        return min(self.highest, j) if self.loss.unimodal else None

    def value_of(self, ranks: Ints) -> Value:
        """Return the value of the ranking with interleaving ranks (|N|,), from the top."""
        rows, columns = np.arange(len(ranks)), np.asarray(ranks) - 1
        loss = float(self.deltas[rows, columns].sum())
        return Value(float(self.values[rows, columns].sum()) - loss, loss)

    @property
    def ranks_by_score(self) -> Ints:
        """(|N|,) interleaving ranks of the prediction, samples sorted by score; ties are pessimistic."""
        return 1 + np.searchsorted(-self.relevant, -self.irrelevant, side="left")

    def interleavings(self) -> Ints:
        """Return (m, |N|) the ranks of all interleavings; ValueError for too many.

        Each kind is sorted by score.
        """
        n, p = len(self.negatives), len(self.positives)
        if (count := comb(n + p, p)) > MAX_INTERLEAVINGS:
            raise InputError("interleavings", f"at most {MAX_INTERLEAVINGS:,} to list", count)
        return np.array(list(combinations_with_replacement(range(1, p + 2), n)), np.int64)

    def order_of(self, ranks: Ints) -> Ints:
        """Return (n,) the samples from the top of the ranking with interleaving ranks (|N|,)."""
        key = np.concatenate([2 * np.arange(1, self.highest), 2 * np.asarray(ranks) - 1])
        return np.concatenate([self.positives, self.negatives])[np.argsort(key, kind="stable")]
