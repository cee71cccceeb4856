"""What the linear methods share: queries to a risk, a solution to weights, and their files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from ranking.methods import saved
from ranking.methods.registry import METHODS
from ranking.methods.training_set import TrainingSet
from ranking.optimise import Cut, LinearRisk, Solution, WorkingSet
from ranking.optimise.block import exact_product
from ranking.settings import check_settings, setting, settings_dict
from ranking.types import Bools, Certificate, Floats, OnProgress, Query


def penalty(default: float, mistake: str) -> Any:
    """The setting C, what a `mistake` costs, at a `default` that suits L2-normalised features."""
    return setting(
        default,
        label=f"C: how much a {mistake} costs",
        help="Small: short weights. Large: a close fit. Equal C of two methods do not mean the same.",
        minimum=1e-8,
        maximum=1e8,
        log=True,
        usual=(1e-4, 1e6),
    )


class Start(NamedTuple):
    """Where training begins: weights (d,) of another run, and its solution if it saw the same samples."""

    weights: Floats | None = None
    solution: Solution | None = None

    @property
    def working_set(self) -> WorkingSet | None:
        return None if self.solution is None else self.solution.working_set


@dataclass(kw_only=True, eq=False)
class LinearMethod(ABC):
    """A method that learns weights of the features by minimising a regularised risk."""

    name: ClassVar[str]

    C: float = penalty(1000.0, "wrong ranking")
    tolerance: float = setting(
        1e-3,
        label="Stop at this duality gap",
        help="Training ends when the objective is proven to be within this share of the best possible.",
        formula=r"\frac{\text{primal} - \text{dual}}{\text{primal}} \le \text{tolerance}",
        minimum=1e-7,
        maximum=0.5,
        log=True,
        advanced=True,
    )
    max_iterations: int = setting(
        5000,
        label="Iterations at most",
        help="Training that has not converged by then ends with the best weights so far, and says so.",
        formula=r"t \le t_{\max}",
        minimum=1,
        maximum=1_000_000,
        advanced=True,
    )
    solution: Solution | None = field(default=None, init=False, repr=False)
    fingerprint: int = field(default=0, init=False, repr=False)
    columns: int = field(default=0, init=False, repr=False)  # features that it was trained on

    def __post_init__(self) -> None:
        check_settings(self)

    @abstractmethod
    def solve(self, samples: TrainingSet, on_progress: OnProgress | None, start: Start) -> Solution:
        """Minimise the risk of `samples`, beginning at `start`."""

    @abstractmethod
    def score(self, query: Query) -> Floats:
        """(n,) the score of every sample; `rank` of them is the prediction."""

    @property
    @abstractmethod
    def weights(self) -> Floats: ...

    def fit(
        self, queries: Sequence[Query], on_progress: OnProgress | None = None, warm_start: Self | None = None
    ) -> Self:
        """Learn from `queries` until the duality gap is closed; returns self.

        on_progress is called after every iteration and may raise StopTraining. warm_start: a fitted method of
        the same kind. On the same samples training continues from its cuts, on others from its weights (a solver
        that works on the dual alone then begins anew).
        """
        samples = TrainingSet.of(queries)
        start = Start() if warm_start is None else self._starting_point(warm_start, samples)
        self.solution = self.solve(samples, on_progress, start)
        self.fingerprint, self.columns = self.identify(samples), samples.features.shape[1]
        return self

    def identify(self, samples: TrainingSet) -> int:
        """Equal numbers: cuts of one training are cuts of the other, normals included."""
        return samples.fingerprint

    def _starting_point(self, other: Self, samples: TrainingSet) -> Start:
        if type(other) is not type(self) or other.solution is None:
            raise ValueError(f"warm_start must be a fitted {self.name}, got {other!r}")
        if other.columns != samples.features.shape[1]:
            raise ValueError(
                f"warm_start has weights for {other.columns} features, the queries have "
                f"{samples.features.shape[1]}; start from a run on the same features"
            )
        same = other.fingerprint == self.identify(samples)
        return Start(other.solution.weights, other.solution if same else None)

    @property
    def certificate(self) -> Certificate | None:
        """What training proved; None before `fit`."""
        return None if self.solution is None else self.solution.certificate

    def _check_columns(self, query: Query) -> None:
        if query.features.shape[1] != self.columns:
            raise ValueError(
                f"{self.name} was trained on {self.columns} features, the query has {query.features.shape[1]}"
            )

    def _fitted(self) -> Solution:
        if self.solution is None:
            raise ValueError(f"{self.name} is not trained; call fit first")
        return self.solution

    def save(self, path: Path | str) -> None:
        """Write settings, weights, certificate and cuts as one .npz file without code."""
        solution = self._fitted()
        header = {
            "method": self.name,
            "settings": settings_dict(self),
            "certificate": asdict(solution.certificate),
            "fingerprint": self.fingerprint,
            "columns": self.columns,
            "dual_loss": solution.dual.loss,
        }
        arrays = {"direction": solution.weights, "dual": solution.dual.coefficients}
        if solution.working_set is not None:
            arrays |= {f"cut_{key}": value for key, value in vars(solution.working_set).items()}
        saved.write(path, header, arrays)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """The method that `save` wrote; a ValueError says why a file is not one."""
        header, arrays = saved.read(path, cls.name)
        try:
            method: Self = METHODS.make(cls.name, **header["settings"])
            cuts = None
            if "cut_losses" in arrays:
                cuts = WorkingSet(arrays["cut_coefficients"], arrays["cut_losses"], arrays["cut_normals"])
            dual = Cut(arrays["dual"], header["dual_loss"])
            method.solution = Solution(arrays["direction"], dual, Certificate(**header["certificate"]), cuts)
            method.fingerprint = header["fingerprint"]
            method.columns = header.get("columns", len(arrays["direction"]))  # the first files did not say it
        except (KeyError, TypeError, ValueError) as error:
            raise saved.not_one(path, error) from error
        return method


@dataclass(kw_only=True, eq=False)
class UnaryMethod(LinearMethod):
    """A method that scores each sample by itself, by an inner product with learned weights."""

    scale: ClassVar[float] = 1.0  # scores are scale X w for the weights w that the solver sees

    @abstractmethod
    def cut(self, scores: Floats, relevant: Bools) -> Cut:
        """Loss-augmented inference on one query: the most violated output."""

    def risk(self, samples: TrainingSet) -> LinearRisk:
        """The objective on `samples`, the mean over their queries."""

        def oracle(scores: Floats) -> Cut:
            cuts = [self.cut(scores[part], samples.relevant[part]) for part in samples.parts]
            if len(cuts) == 1:
                return cuts[0]
            return Cut(np.concatenate([cut.coefficients for cut in cuts]), sum(cut.loss for cut in cuts))

        return LinearRisk(samples.features, self.C / len(samples.parts), oracle, self.scale)

    def score(self, query: Query) -> Floats:
        """(n,) the score of every sample; `rank` of them is the prediction."""
        direction = self._fitted().weights
        self._check_columns(query)
        return self.scale * exact_product(query.features, direction)
