"""The interface of a method, its progress events and its certificate."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, ClassVar, NamedTuple, Self

import numpy as np

from ranking.core.arrays import Floats
from ranking.core.queries import Query
from ranking.core.registry import Plugin
from ranking.core.settings import GivenSettings


@dataclass(frozen=True)
class ProgressEvent:
    """The state of an optimiser after `iteration` steps: bounds on the optimum.

    primal: the paper's objective at the best weights so far, an upper bound. dual: a lower bound, -inf before there
    is one. seconds: training time without callbacks. passes: number of products with the feature matrix so far.
    planes: constraints in the working set, 0 for solvers without one. round: round of a non-convex method, from 1;
    each round has its own lower bound; 0 for methods without rounds. weights: the best so far, for the method's
    `score_by`; None where they score nothing. The solver keeps changing this array: copy what you keep.
    """

    iteration: int
    primal: float
    dual: float
    seconds: float
    passes: int
    planes: int = 0
    round: int = 0
    weights: Floats | None = field(default=None, repr=False, compare=False)

    @property
    def gap(self) -> float:
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """gap / primal; 0 where both are 0."""
        return relative_gap(self.primal, self.dual)


class Bounds(NamedTuple):
    """How exact the max-marginals of `of` samples are.

    large: number of samples in components too large to enumerate, whose max-marginals are upper bounds. samples:
    number of those for which no labelling is known that attains the bound. excess: the most that a bound lies above
    the best known labelling. score: the largest difference of max-marginals in size, to compare `excess` with.
    """

    large: int
    samples: int
    of: int
    excess: float
    score: float


@dataclass(frozen=True)
class Certificate:
    """What a finished training run proves: both bounds, recomputed in float64 from the paper's definition."""

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
    """Return (primal - dual) / |primal|: 0 for equal bounds, infinite where primal is 0 or a bound is infinite.

    >>> relative_gap(2.0, 1.5)
    0.25
    """
    if primal == dual:
        return 0.0
    return (primal - dual) / abs(primal) if primal and math.isfinite(primal - dual) else math.inf


class StopTraining(Exception):
    """Raised by a progress callback to end training with the best weights so far, not converged."""


OnProgress = Callable[[ProgressEvent], None]
# (what, done, total): progress of work without iterations
OnStep = Callable[[str, float, int], None]


class Method(Plugin, ABC):
    """Interface of every registered method; its dataclass fields are its settings.

    ranks: "samples" of a query as relevant or irrelevant, "sequences" of graded samples, "labels" of an image, or
    "windows": images by the best of their windows.
    summary: one sentence. objective: what is minimised, as LaTeX. uses_graph: whether it uses the similarity graph.
    inference_scores: (n,) scores of the training samples at the last call of loss-augmented inference; None before,
    and for methods without it. A member with a default is optional: the default means that the method lacks the
    ability.
    """

    ranks: ClassVar[str]
    summary: ClassVar[str] = ""
    objective: ClassVar[str] = ""
    uses_graph: ClassVar[bool] = False
    inference_scores: Floats | None = None

    @classmethod
    def objective_of(cls, settings: GivenSettings) -> str:
        """Return the objective with these settings, as LaTeX."""
        return cls.objective

    @classmethod
    def is_convex(cls, settings: GivenSettings) -> bool:
        """Return whether the objective is convex; if not, the certificate covers the last round only."""
        return True

    @property
    def certificate(self) -> Certificate | None:
        """The proven bounds of training; None before `fit`, and for methods without bounds."""
        return None

    @property
    def weights(self) -> object:
        """The learned weights; None for methods without weights."""
        return None

    @property
    def unary_weights(self) -> Floats | None:
        """The part of `weights` for features of samples: (d,), or (2, d) for the relevant and the irrelevant class."""
        return self.weights if isinstance(self.weights, np.ndarray) else None

    @property
    def coefficients(self) -> Floats | None:
        """(n,) c of the training samples x_i, in their order: a sample x has the score sum_i c_i x_i.x.

        With a similarity graph that is the unary score. None where they are not known: for methods that do not keep
        them, files of earlier versions, and after a warm start from other samples.
        """
        return None

    @abstractmethod
    def save(self, path: Path | str) -> None:
        """Write settings, the model and the certificate as one .npz file without code."""

    @classmethod
    @abstractmethod
    def load(cls, path: Path | str | IO[bytes]) -> Self:
        """Return the method that `save` wrote, from its file or that file's bytes; ValueError for any other file."""


class SampleMethod(Method):
    """A method that ranks the samples of a query as relevant or irrelevant.

    loss: the ranking loss for which it computes most violated rankings; None for methods without inference.
    """

    ranks: ClassVar[str] = "samples"
    loss: ClassVar[object | None] = None

    @abstractmethod
    def fit(
        self, queries: Sequence[Query], on_progress: OnProgress | None = None, warm_start: Self | None = None
    ) -> Self:
        """Train on `queries`; return self."""

    @abstractmethod
    def score(self, query: Query) -> Floats:
        """Return (n,) scores, one per sample; sorting by them is the prediction."""

    def score_by(self, query: Query, weights: Floats) -> Floats:
        """Return (t, n) scores by weights (t, size) of t `ProgressEvent`s; for methods whose events have weights."""
        raise NotImplementedError(self.name)

    @property
    def sharded(self) -> bool:
        """Whether training needs only products with the features, so that rows may be in `methods.shards`."""
        return False

    def check_graph(self, query: Query) -> None:
        """Raise ValueError if the graph of a query is too large for the method, whatever its weights."""

    def bounds(self, query: Query) -> Bounds | None:
        """Return how many scores of a query are differences of bounds, and how tight they are; None for exact ones."""
        return None
