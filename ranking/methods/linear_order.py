"""The base of methods that order samples by one inner product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ranking.core import Floats, SequenceSet
from ranking.core.errors import InputError
from ranking.methods.order_method import Arrays, OrderMethod


@dataclass(kw_only=True, eq=False)
class LinearOrder(OrderMethod):
    """A method that learns weights w; the score of a sample is w.x, whatever the rest of its sequence.

    coefficients: (n,) c of the pool, with w = X' c; None where not known.
    """

    direction: Floats = field(default_factory=lambda: np.zeros(0), init=False, repr=False)
    coefficients: Floats | None = field(default=None, init=False, repr=False)

    @property
    def weights(self) -> Floats:
        """(d,) w."""
        return self.direction

    def scores_of(self, features: Floats) -> Floats:
        scores: Floats = features @ self.direction
        return scores

    def score_by(self, sequences: SequenceSet, weights: Sequence[Floats], rounds: Sequence[int]) -> Floats:
        # without an intercept
        directions = np.stack(weights)[:, : sequences.features.shape[1]]
        scores: Floats = (sequences.features @ directions.T).T
        return scores[:, sequences.members]

    def arrays(self) -> Arrays:
        known = {} if self.coefficients is None else {"coefficients": self.coefficients}
        return {"direction": self.direction, **known}

    def restore(self, arrays: Arrays) -> None:
        direction = np.asarray(arrays["direction"], np.float64)
        if direction.shape != (self.columns,):
            raise InputError("weights", f"shape ({self.columns},)", direction.shape)
        self.direction, self.coefficients = direction, arrays.get("coefficients")
