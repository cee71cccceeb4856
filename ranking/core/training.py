"""What a method can do, and what training says of itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple, Protocol, Self

from ranking.core.arrays import Floats
from ranking.core.queries import Query


@dataclass(frozen=True)
class ProgressEvent:
    """Where an optimiser stands: bounds on the optimum after `iteration` steps.

    primal: the paper's objective at the best weights so far (an upper bound); dual: a lower bound, or -inf
    before there is one; seconds: time in training, callbacks excluded; passes: products with the feature
    matrix so far; planes: constraints in the working set (0 where the solver has none); round: of those that a
    method that is not convex takes, from 1, each with a lower bound of its own (0 where there is one round).
    """

    iteration: int
    primal: float
    dual: float
    seconds: float
    passes: int
    planes: int = 0
    round: int = 0

    @property
    def gap(self) -> float:
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """gap / primal; 0 where both are 0."""
        return relative_gap(self.primal, self.dual)


class Bounds(NamedTuple):
    """How exact the max-marginals of `of` samples are.

    large: how many samples stand in components too large to enumerate, whose max-marginals are upper bounds. samples:
    of how many of those no labelling is known that attains them. excess: the most that one lies above the best
    labelling known. score: the largest difference of max-marginals, in size, to compare it with.
    """

    large: int
    samples: int
    of: int
    excess: float
    score: float


@dataclass(frozen=True)
class Certificate:
    """What a finished training proves: both bounds recomputed in float64 from the paper's definition."""

    primal: float
    dual: float
    gap: float
    iterations: int
    seconds: float
    converged: bool

    @property
    def relative_gap(self) -> float:
        """gap / primal; 0 where both are 0."""
        return relative_gap(self.primal, self.dual)


def relative_gap(primal: float, dual: float) -> float:
    """(primal - dual) / |primal|; 0 where the bounds meet, infinite where primal is 0 or a bound is infinite.

    >>> relative_gap(2.0, 1.5)
    0.25
    """
    if primal == dual:
        return 0.0
    return (primal - dual) / abs(primal) if primal and math.isfinite(primal - dual) else math.inf


class StopTraining(Exception):
    """Raised by a progress callback: training ends with the best weights so far, not converged."""


OnProgress = Callable[[ProgressEvent], None]
OnStep = Callable[[str, int, int], None]  # (what, done, total): of work that is no iteration


class Method(Protocol):
    """What every registered method that ranks samples can do. Its dataclass fields are its settings.

    `ranks`: "samples" of a query, as relevant or not; "orders": samples by their grades, whose queries may be given as
    a SequenceSet too; methods that rank the "labels" of an image are given a LabelSet instead, and give `scores`
    (M, L). `certificate`: what training proved; None before `fit`, and always where the method proves nothing.
    """

    name: ClassVar[str]
    ranks: ClassVar[str] = "samples"

    @property
    def weights(self) -> Any: ...
    @property
    def certificate(self) -> Certificate | None: ...
    def fit(
        self, queries: Sequence[Query], on_progress: OnProgress | None = None, warm_start: Self | None = None
    ) -> Self: ...
    def score(self, query: Query) -> Floats: ...
    def save(self, path: Path | str) -> None: ...
    @classmethod
    def load(cls, path: Path | str | IO[bytes]) -> Self: ...
