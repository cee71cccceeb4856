"""QS-suitable ranking losses (quicksort, section 4.1) that are sums of discounted gains.

Number the relevant samples i = 1 ... |P| from the top of a ranking and let ind(i) be the position of the
i-th. The losses here have the form

    Delta(R*, R) = sum_i gain_i (T(i) - T(ind(i)))

with a gain for the i-th relevant sample and a discount T of the position. Moving the j-th irrelevant sample
from above to below the i-th relevant one moves that one from position i + j to i + j - 1, so

    delta_j(i + 1) - delta_j(i) = -gain_i (T(i + j - 1) - T(i + j)).

(C1), (C2) and (C4) follow from the form. (C3) holds for all gains >= 0 if and only if T is convex: that is
checked, and a discount that is not convex is refused, because greedy inference is wrong for it (quicksort,
sections 2.3 and A, Remark 1). The average precision has gain i/|P| and T(m) = 1/m; the NDCG has a constant
gain and T(m) = 1/log2(1 + m).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import ClassVar

import numpy as np

from ranking.core import Floats
from ranking.core.errors import InputError
from ranking.core.registry import Plugin


@dataclass(frozen=True)
class RankingLoss(Plugin, ABC):
    """Base of the ranking losses: `gains`, `discount`, and `steps` where differences would cancel.

    measure: the measure that the loss is one minus of, as pages call it: "AP". unimodal: whether the term that the
    j-th irrelevant sample adds to the objective rises up to its best rank among the first j and falls from there on,
    so that bisection finds it (quicksort, Proposition 5).
    """

    # registered losses have a name
    name: ClassVar[str] = "a loss without a name"
    measure: ClassVar[str]
    unimodal: ClassVar[bool] = False

    @property
    def key(self) -> str:
        """The name, with the settings of a loss that has some."""
        return self.name + self._given

    @property
    def title(self) -> str:
        """The measure, with the settings of a loss that has some."""
        return self.measure + self._given

    @property
    def _given(self) -> str:
        # every field, also one that is no setting: losses with equal keys are taken for one
        return "".join(f", {item.name} = {getattr(self, item.name)}" for item in fields(self))

    @abstractmethod
    def gains(self, positives: int) -> Floats:
        """Return (|P|,) the gain of the i-th relevant sample from the top, i = 1 ... |P|; not negative."""

    @abstractmethod
    def discount(self, positions: Floats) -> Floats:
        """Return T at `positions` >= 1: convex and not increasing."""

    def steps(self, n: int) -> Floats:
        """Return (n,) T(m) - T(m + 1) for m = 1 ... n.

        Override where the difference would cancel.
        """
        values = self.discount(np.arange(1, n + 2, dtype=np.float64))
        return values[:-1] - values[1:]

    def of_positions(self, positions: Floats) -> float:
        """Return the loss of a ranking with relevant samples at `positions` (|P|,), ascending, from 1."""
        gains, discounts = _ideal(self, len(positions))
        return float(gains @ (discounts - self.discount(positions)))


@lru_cache(maxsize=8)
def _ideal(loss: RankingLoss, positives: int) -> tuple[Floats, Floats]:
    """Return the gains (|P|,) of `loss` and its discounts where all relevant samples are on top."""
    return loss.gains(positives), loss.discount(np.arange(1, positives + 1, dtype=np.float64))


@lru_cache(maxsize=8)
def loss_tables(loss: RankingLoss, positives: int, negatives: int) -> tuple[Floats, Floats]:
    """Return (|P|,) gains and (|P| + |N|,) steps of `loss`, checked to be QS-suitable, read-only."""
    gains, steps = loss.gains(positives), loss.steps(positives + negatives)
    if not (np.isfinite(gains).all() and np.isfinite(steps).all()):
        raise InputError(
            f"gains and discount of {loss.name}",
            "finite numbers from position 1 on",
            remedy="shift the positions where the discount has a pole",
        )
    if (gains < 0).any():
        raise InputError(f"gains of {loss.name}", "at least 0", float(gains.min()), "negate the discount")
    slack = 8 * np.finfo(float).eps * abs(float(loss.discount(np.ones(1))[0]))
    rises = np.flatnonzero(np.diff(steps) > slack)
    if len(rises) or steps[-1] < -slack:
        where = f"T({rises[0] + 1}), T({rises[0] + 2}), T({rises[0] + 3})" if len(rises) else "its tail"
        raise InputError(
            f"discount of {loss.name}",
            "convex and not increasing, or greedy inference would be wrong",
            f"another shape at {where}",
            "use a convex discount such as 1/log2(1 + position)",
        )
    for table in (gains, steps):
        table.flags.writeable = False
    return gains, steps
