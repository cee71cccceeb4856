"""What a method can do, and what training says of itself."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple, Self

from ranking.core.arrays import Floats
from ranking.core.queries import Query
from ranking.core.registry import Plugin


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


class Method(Plugin, ABC):
    """What every registered method has; its dataclass fields are its settings.

    ranks: "samples" of a query, as relevant or not; "orders" of graded samples; "labels" of an image. summary: one
    sentence about it. objective: what it minimises, as LaTeX. uses_graph: whether samples lean on their neighbours in a
    similarity graph. asked: (n,) scores of the training samples when it last asked for a most violated ranking; None
    before, and where it never does. What has a value here need not be given: it says that a method has no such ability.
    """

    ranks: ClassVar[str]
    summary: ClassVar[str] = ""
    objective: ClassVar[str] = ""
    uses_graph: ClassVar[bool] = False
    inference_scores: Floats | None = None

    @classmethod
    def objective_of(cls, settings: Mapping[str, Any]) -> str:
        """What is minimised with these settings, as LaTeX."""
        return cls.objective

    @classmethod
    def is_convex(cls, settings: Mapping[str, Any]) -> bool:
        """Whether the objective is with these settings; where not, the certificate covers the last round alone."""
        return True

    @property
    def certificate(self) -> Certificate | None:
        """What training proved; None before `fit`, and always where the method proves nothing."""
        return None

    @property
    def weights(self) -> Any:
        """The weights that were learnt; None where there are none."""
        return None

    @abstractmethod
    def fit(self, data: Any, on_progress: OnProgress | None = None, warm_start: Self | None = None) -> Self:
        """Learn from the queries, the sequences or the label set; returns self."""

    @abstractmethod
    def save(self, path: Path | str) -> None:
        """Write settings, what was learnt and the certificate as one .npz file without code."""

    @classmethod
    @abstractmethod
    def load(cls, path: Path | str | IO[bytes]) -> Self:
        """The method that `save` wrote, from its file or the bytes of one; a ValueError says why a file is not one."""


class SampleMethod(Method):
    """A method that ranks the samples of a query, as relevant or not.

    loss: the name of the ranking loss whose most violated ranking it asks for; None where it asks for none.
    """

    ranks: ClassVar[str] = "samples"
    loss: ClassVar[str | None] = None

    @abstractmethod
    def score(self, query: Query) -> Floats:
        """(n,) the score of every sample; `rank` of them is the prediction."""

    @property
    def unary_weights(self) -> Any:
        """Those of `weights` that are of features: (d,), or (2, d), the relevant class and the other."""
        return self.weights

    @property
    def sharded(self) -> bool:
        """Whether training needs no more of features than products, so that their rows may lie in shards."""
        return False

    def check_graph(self, query: Query) -> None:
        """ValueError where the method could not score a query, whatever its weights: its graph is too large."""

    def bounds(self, query: Query) -> Bounds | None:
        """How many scores of a query are differences of bounds, and how far off; None where none can be."""
        return None
