"""What the linear methods share: queries to a risk, a solution to weights, files that hold no code."""

from __future__ import annotations

import json
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from ranking.methods.registry import METHODS
from ranking.optimise import Cut, LinearRisk, Solution, WorkingSet
from ranking.optimise.risk import exact_product
from ranking.settings import setting, settings_dict
from ranking.types import Bools, Certificate, Features, Floats, OnProgress, Query

FILE_VERSION = 1


def penalty(default: float) -> Any:
    """The setting C, at a `default` that suits L2-normalised features."""
    return setting(
        default,
        label="C: how much a wrong ranking costs",
        help="Small: short weights, more training errors. Large: fit the training samples closely.",
        formula=r"\tfrac12\|w\|^2 + C\,\xi",
        minimum=1e-8,
        maximum=1e8,
        log=True,
    )


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """The samples of all queries under each other: features (n, d), relevant (n,), and where each query begins.

    With several queries the objective is that of structured SVMs, the mean over queries (high-order, eq. 1).
    `fingerprint` tells whether another run saw the same samples.
    """

    features: Features
    relevant: Bools
    bounds: list[int]
    fingerprint: int

    @property
    def queries(self) -> int:
        return len(self.bounds) - 1

    @classmethod
    def of(cls, queries: Sequence[Query]) -> TrainingSet:
        if not queries:
            raise ValueError("fit needs at least one query, got an empty list")
        relevant = []
        for number, query in enumerate(queries):
            grades = query.relevance
            if grades is None:
                raise ValueError(
                    f"query {number} has no relevance; training needs Query(features, relevance)"
                )
            relevant.append(grades > 0)
            if relevant[-1].all() or not relevant[-1].any():
                missing = "irrelevant" if len(relevant[-1]) and relevant[-1].all() else "relevant"
                raise ValueError(
                    f"query {number} has no {missing} sample; training needs both kinds: "
                    "choose another query or split"
                )
            if query.features.shape[1] != queries[0].features.shape[1]:
                raise ValueError(
                    f"query {number} has {query.features.shape[1]} features, the first has "
                    f"{queries[0].features.shape[1]}; all queries need the same"
                )
        one = len(queries) == 1
        features = queries[0].features if one else np.concatenate([query.features for query in queries])
        features = np.ascontiguousarray(features)
        mask = np.concatenate(relevant)
        bounds = [0, *np.cumsum([len(query) for query in queries]).tolist()]
        fingerprint = zlib.crc32(mask.tobytes(), zlib.crc32(features.data.cast("B")))
        return cls(features, mask, bounds, fingerprint)


@dataclass(kw_only=True, eq=False)
class LinearMethod(ABC):
    """A method that scores a sample by an inner product with learned weights."""

    name: ClassVar[str]

    C: float = penalty(1000.0)
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
        minimum=1,
        maximum=1_000_000,
        advanced=True,
    )
    solution: Solution | None = field(default=None, init=False, repr=False)
    fingerprint: int = field(default=0, init=False, repr=False)

    scale: ClassVar[float] = 1.0  # scores are scale X w for the weights w that the solver sees

    @abstractmethod
    def _solve(
        self,
        risk: LinearRisk,
        samples: TrainingSet,
        on_progress: OnProgress | None,
        start: Floats | None,
        earlier: Solution | None,
    ) -> Solution:
        """Minimise the risk, from the weights `start` or from an `earlier` solution on the same samples."""

    @abstractmethod
    def _cut(self, scores: Floats, relevant: Bools) -> Cut:
        """Loss-augmented inference on one query: the most violated output."""

    @property
    @abstractmethod
    def weights(self) -> Floats: ...

    def fit(
        self, queries: Sequence[Query], on_progress: OnProgress | None = None, warm_start: Self | None = None
    ) -> Self:
        """Learn from `queries` until the duality gap is closed; returns self.

        on_progress is called after every iteration and may raise StopTraining. warm_start: a fitted method of
        the same kind. On the same samples training continues from its cuts, else from its weights.
        """
        samples = TrainingSet.of(queries)
        risk = LinearRisk(samples.features, self.C / samples.queries, self._oracle(samples), self.scale)
        start = earlier = None
        if warm_start is not None:
            start, earlier = self._starting_point(warm_start, samples)
        self.solution = self._solve(risk, samples, on_progress, start, earlier)
        self.fingerprint = samples.fingerprint
        return self

    def _starting_point(self, other: Self, samples: TrainingSet) -> tuple[Floats, Solution | None]:
        """The weights of another method, and its solution if it saw the same samples."""
        if type(other) is not type(self) or other.solution is None:
            raise ValueError(f"warm_start must be a fitted {self.name}, got {other!r}")
        start = other.solution.weights
        if len(start) != samples.features.shape[1]:
            raise ValueError(
                f"warm_start has weights for {len(start)} features, the queries have "
                f"{samples.features.shape[1]}; start from a run on the same features"
            )
        return start, other.solution if other.fingerprint == samples.fingerprint else None

    def _oracle(self, samples: TrainingSet) -> Any:
        if samples.queries == 1:
            return lambda scores: self._cut(scores, samples.relevant)
        parts = [slice(*pair) for pair in zip(samples.bounds[:-1], samples.bounds[1:], strict=True)]

        def over_queries(scores: Floats) -> Cut:
            cuts = [self._cut(scores[part], samples.relevant[part]) for part in parts]
            return Cut(np.concatenate([cut.coefficients for cut in cuts]), sum(cut.loss for cut in cuts))

        return over_queries

    def score(self, query: Query) -> Floats:
        """(n,) the score of every sample; `rank` of them is the prediction."""
        direction = self._fitted().weights
        if query.features.shape[1] != len(direction):
            raise ValueError(
                f"{self.name} was trained on {len(direction)} features, the query has {query.features.shape[1]}"
            )
        return self.scale * exact_product(query.features, direction)

    @property
    def certificate(self) -> Certificate | None:
        """What training proved; None before `fit`."""
        return None if self.solution is None else self.solution.certificate

    def _fitted(self) -> Solution:
        if self.solution is None:
            raise ValueError(f"{self.name} is not trained; call fit first")
        return self.solution

    def save(self, path: Path | str) -> None:
        """Write settings, weights, certificate and cuts as one .npz file without code."""
        solution = self._fitted()
        header = {
            "version": FILE_VERSION,
            "method": self.name,
            "settings": settings_dict(self),
            "certificate": asdict(solution.certificate),
            "fingerprint": self.fingerprint,
            "dual_loss": solution.dual.loss,
        }
        arrays: dict[str, Any] = {
            "header": np.array(json.dumps(header)),
            "direction": solution.weights,
            "dual": solution.dual.coefficients,
        }
        if solution.working_set is not None:
            arrays |= {f"cut_{key}": value for key, value in vars(solution.working_set).items()}
        with open(path, "wb") as file:
            np.savez_compressed(file, **arrays)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """The method that `save` wrote; a ValueError says why a file is not one."""
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {key: file[key] for key in file.files}
            header = json.loads(str(arrays.pop("header")))
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"{path} is not a saved method ({error}); train and save it again") from error
        if header.get("version") != FILE_VERSION or header.get("method") != cls.name:
            raise ValueError(
                f"{path} holds {header.get('method')} (file version {header.get('version')}), "
                f"expected {cls.name} (version {FILE_VERSION})"
            )
        method: Self = METHODS.make(cls.name, **header["settings"])
        certificate = Certificate(**header["certificate"])
        cuts = None
        if "cut_losses" in arrays:
            cuts = WorkingSet(arrays["cut_coefficients"], arrays["cut_losses"], arrays["cut_normals"])
        dual = Cut(arrays["dual"], header["dual_loss"])
        method.solution = Solution(arrays["direction"], dual, certificate, cuts)
        method.fingerprint = header["fingerprint"]
        return method
