"""The base of the linear methods: from queries to a risk, from a solution to weights, and files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ranking.core import Bools, Certificate, Floats, OnProgress, Query, SampleMethod, check_relevance
from ranking.core.errors import InputError
from ranking.core.settings import check_settings, settings_dict
from ranking.methods import saved
from ranking.methods.common_settings import closed_gap, most_iterations, penalty
from ranking.methods.oracles import by_query
from ranking.methods.registry import METHODS
from ranking.methods.training_set import TrainingSet
from ranking.solvers import Cut, LinearRisk, Solution, WorkingSet, cutting_plane
from ranking.solvers.block import Block, FeatureMatrix, exact_product
from ranking.solvers.risk import UNKNOWN


class Start(NamedTuple):
    """A warm start: the weights of another run, its solution on the same samples, and the cost it had."""

    weights: Floats | None = None
    solution: Solution | None = None
    cost: float = 0.0

    @property
    def working_set(self) -> WorkingSet | None:
        return None if self.solution is None else self.solution.working_set

    @property
    def coefficients(self) -> Floats:
        return UNKNOWN if self.solution is None else self.solution.coefficients

    def dual_within(self, cost: float) -> Cut | None:
        """Return the combination of cuts that proves the solution, scaled down to `cost` if larger."""
        if self.solution is None:
            return None
        share = min(1.0, cost / self.cost)
        return Cut(share * self.solution.dual.coefficients, share * self.solution.dual.loss)


@dataclass(kw_only=True, eq=False)
class LinearMethod(SampleMethod):
    """A method that learns weights of the features by minimising a regularised risk."""

    # scores are scale X w for the weights w that the solver sees
    scale: ClassVar[float] = 1.0

    C: float = penalty(1000.0, "ranking error")
    tolerance: float = closed_gap()
    max_iterations: int = most_iterations(5000)
    solution: Solution | None = field(default=None, init=False, repr=False)
    fingerprint: int = field(default=0, init=False, repr=False)
    # number of pairwise weights, the last ones
    pairs: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        check_settings(self)

    @abstractmethod
    def solve(self, samples: TrainingSet, on_progress: OnProgress | None, start: Start) -> Solution:
        """Minimise the risk of `samples`, beginning at `start`."""

    def cost(self, queries: Sequence[Bools]) -> float:
        """Return the factor of the loss in the objective, for queries with these relevant samples."""
        return self.C

    def fit(
        self, queries: Sequence[Query], on_progress: OnProgress | None = None, warm_start: Self | None = None
    ) -> Self:
        """Train on `queries` until the duality gap is closed; return self.

        on_progress is called after every iteration and may raise StopTraining. warm_start: a fitted method of the
        same kind. On the same samples training continues from its cuts, on others from its weights (a solver that
        works on the dual only then begins anew).
        """
        samples = TrainingSet.of(queries)
        start = Start() if warm_start is None else self._starting_point(warm_start, samples)
        self.fit_samples(samples, on_progress, start)
        self.fingerprint = self.identify(samples)
        return self

    def fit_samples(self, samples: TrainingSet, on_progress: OnProgress | None, start: Start) -> Self:
        """Train on samples and a start that have been checked; return self."""
        self.solution = self.solve(samples, on_progress, start)
        self.pairs = len(self.solution.weights) - samples.features.shape[1]
        return self

    def identify(self, samples: TrainingSet) -> int:
        """Return a fingerprint: equal for two training runs where the cuts of one are valid for the other."""
        return samples.fingerprint

    def _starting_point(self, warm_start: Self, samples: TrainingSet) -> Start:
        if type(warm_start) is not type(self) or warm_start.solution is None:
            raise InputError("warm_start", f"a fitted {self.name}", repr(warm_start))
        if warm_start.columns != samples.features.shape[1]:
            raise InputError(
                "warm_start",
                f"weights for {samples.features.shape[1]} features, as the queries have",
                warm_start.columns,
                "start from a run on the same features",
            )
        same_samples = warm_start.fingerprint == self.identify(samples)
        solution = warm_start.solution
        return Start(solution.weights, solution if same_samples else None, warm_start.cost(samples.by_query))

    @property
    def certificate(self) -> Certificate | None:
        """What training proved; None before `fit`."""
        return None if self.solution is None else self.solution.certificate

    @property
    def coefficients(self) -> Floats | None:
        known = UNKNOWN if self.solution is None else self.solution.coefficients
        return None if np.isnan(known).any() else self.scale**2 * known

    @property
    def columns(self) -> int:
        """The number of features that it was trained on."""
        return len(self._fitted().weights) - self.pairs

    def _check_columns(self, query: Query) -> None:
        if query.features.shape[1] != self.columns:
            raise InputError(
                "features of the query",
                f"{self.columns} per sample, as {self.name} was trained on",
                query.features.shape[1],
            )

    def _fitted(self) -> Solution:
        if self.solution is None:
            raise InputError(self.name, "a trained method", remedy="call fit first")
        return self.solution

    def save(self, path: Path | str) -> None:
        """Write settings, weights, certificate and cuts as one .npz file without code."""
        solution = self._fitted()
        header = {
            "method": self.name,
            "settings": settings_dict(self),
            "certificate": asdict(solution.certificate),
            "fingerprint": self.fingerprint,
            "pairs": self.pairs,
            "dual_loss": solution.dual.loss,
        }
        arrays = {"direction": solution.weights, "dual": solution.dual.coefficients}
        arrays["coefficients"] = solution.coefficients
        if solution.working_set is not None:
            arrays |= {f"cut_{key}": value for key, value in vars(solution.working_set).items()}
        saved.write(path, header, arrays)

    @classmethod
    def load(cls, path: Path | str | IO[bytes]) -> Self:
        """Return the method that `save` wrote, from its file or bytes; ValueError for another file."""
        header, arrays = saved.read(path, cls.name)
        try:
            method = METHODS.make_as(cls, cls.name, **header["settings"])
            cuts = None
            if "cut_losses" in arrays:
                cuts = WorkingSet(arrays["cut_coefficients"], arrays["cut_losses"], arrays["cut_normals"])
            # the first files lack coefficients
            dual, known = Cut(arrays["dual"], header["dual_loss"]), arrays.get("coefficients", UNKNOWN)
            certificate = Certificate(**header["certificate"])
            method.solution = Solution(arrays["direction"], dual, certificate, cuts, coefficients=known)
            method.fingerprint = header["fingerprint"]
            # the first files lack it
            method.pairs = int(header.get("pairs", 0))
        except (KeyError, TypeError, ValueError) as error:
            raise saved.unreadable(path, error) from error
        return method


@dataclass(kw_only=True, eq=False)
class UnaryMethod(LinearMethod):
    """A method that scores each sample independently, by an inner product with learned weights."""

    @property
    def sharded(self) -> bool:
        return True

    @abstractmethod
    def cut(self, scores: Floats, relevant: Bools) -> Cut:
        """Return the most violated output of one query, by loss-augmented inference."""

    def risk(self, samples: TrainingSet) -> LinearRisk:
        """Return the objective on `samples`, the mean over their queries."""
        C = self.cost(samples.by_query) / len(samples.parts)
        return LinearRisk(Block(samples.features, self.scale), C, by_query(self.cut, samples))

    def fit_matrix(
        self, matrix: FeatureMatrix, relevance: npt.ArrayLike, on_progress: OnProgress | None = None
    ) -> Self:
        """Train on one query by one-slack cutting planes; return self.

        They need only products with features.

        matrix: features times `scale`. relevance: (n,) of its rows; ValueError unless it has both kinds. The
        certificate is that of `fit`.
        """
        relevant = check_relevance(relevance, matrix.shape[0]) > 0
        if relevant.all() or not relevant.any():
            raise InputError(
                "relevance",
                "at least one relevant and one irrelevant sample",
                f"{relevant.sum()} of {len(relevant)} relevant",
            )
        risk = LinearRisk(matrix, self.cost([relevant]), lambda scores: self.cut(scores, relevant))
        self.solution = cutting_plane(risk, self.tolerance, self.max_iterations, on_progress)
        # So that no later training run takes these cuts for those of an earlier `fit`.
        self.fingerprint = self.pairs = 0
        return self

    def score_matrix(self, matrix: FeatureMatrix) -> Floats:
        """Return (n,) the score of every row, as `score` does; ValueError for another number of features."""
        direction = self._fitted().weights
        if matrix.shape[1] != self.columns:
            raise InputError(
                "features of the matrix",
                f"{self.columns} per sample, as {self.name} was trained on",
                matrix.shape[1],
            )
        return matrix.exact_scores(direction)

    def score(self, query: Query) -> Floats:
        """Return (n,) the score of every sample; `rank` of them is the prediction."""
        direction = self._fitted().weights
        self._check_columns(query)
        return self.scale * exact_product(query.features, direction)

    def score_by(self, query: Query, weights: Floats) -> Floats:
        return Block(query.features, self.scale).scores(weights.T).T
