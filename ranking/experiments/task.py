"""What is the same in every training, whether it ranks samples, the labels of images or whole sequences.

A task says what its method is given and how well it ranks. `Task.train` does the rest; `ranking.experiments.tasks` has
the three tasks by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from ranking.core import (
    Bounds,
    Certificate,
    Features,
    Floats,
    ImageSet,
    Ints,
    OnProgress,
    OnStep,
    ProgressEvent,
)
from ranking.core.run_settings import AnyTrainSettings
from ranking.experiments.recording import Recorder
from ranking.features import load_features
from ranking.features.projection import Projection
from ranking.methods import check_ranks, make_method

S = TypeVar("S", bound=AnyTrainSettings)
D = TypeVar("D")  # what the methods of a task learn from and are measured on

Metrics = dict[str, dict[str, float]]  # of "train" and of "test"


class Measured(NamedTuple):
    """How well a method ranks. scores: float64, of what the task keeps scores of; None where it keeps none. bounds: how
    exact the max-marginals are that the scores are differences of; None where all are exact, or there are none."""

    metrics: Metrics
    scores: Floats | None = None
    bounds: Bounds | None = None


@dataclass(frozen=True, eq=False)
class Trained:
    """The result of a training.

    method: fitted. projection: through which the method sees features; None where it sees them as they are.
    """

    method: Any
    projection: Projection | None
    measured: Measured

    @property
    def metrics(self) -> Metrics:
        return self.measured.metrics

    @property
    def scores(self) -> Floats:
        """ValueError for a task that keeps none."""
        if self.measured.scores is None:
            raise ValueError(f"expected a task that keeps scores, got: {self.method.name}")
        return self.measured.scores

    @property
    def certificate(self) -> Certificate | None:
        """What the method proves; None where it proves nothing."""
        proof: Certificate | None = self.method.certificate
        return proof


class Task(ABC, Generic[S, D]):
    """Training methods of one sort on an image set.

    settings: the settings of its trainings, whose `task` is the name of the task and what its methods rank.
    """

    settings: ClassVar[type[Any]]

    @property
    def name(self) -> str:
        name: str = self.settings.task
        return name

    def make(self, name: str, settings: dict[str, Any]) -> Any:
        """The method `name`, not yet trained; ValueError unless it is one of this task."""
        check_ranks(name, self.name)
        return make_method(name, **settings)

    @abstractmethod
    def check(self, images: ImageSet, settings: S) -> None:
        """InputError for settings that make no training on a set, as far as this is known without features."""

    @abstractmethod
    def data(
        self, images: ImageSet, settings: S, features: Features, on_step: OnStep | None, edges: Ints | None
    ) -> tuple[D, Projection | None]:
        """What methods learn from and are measured on, and the projection that was fitted for it.

        features: (n, d) of all samples. edges: as in `train`.
        """

    @abstractmethod
    def fit(self, method: Any, data: D, on_progress: OnProgress, warm_start: Any) -> None:
        """Have a method learn from the training part."""

    @abstractmethod
    def measure(self, method: Any, data: D) -> Measured:
        """How well a fitted method ranks both parts."""

    def record(self, recorder: Recorder, method: Any, data: D) -> None:
        """Begin a recording; a task that does not is not recorded."""

    def train(
        self,
        images: ImageSet,
        settings: S,
        feature_cache: Path,
        on_step: OnStep | None = None,
        on_iteration: OnProgress | None = None,
        on_fitted: Callable[[Any, Projection | None], None] | None = None,
        on_scores: Callable[[Floats], None] | None = None,
        recorder: Recorder | None = None,
        warm_start: Any = None,
        edges: Ints | None = None,
    ) -> Trained:
        """Train a method on the training part of a set, and measure it on both parts.

        on_step hears of the features and of the beginning of training, on_iteration every iteration, on_fitted the
        method and its projection as soon as it has weights: to measure it may take longer than to train it. on_scores
        hears, at every iteration of a method that asks for most violated rankings, the training samples' scores when it
        last did. recorder: records the run, where the task scores by the weights of iterations. The caller has followed
        what `settings` names: the set, the fitted method `warm_start`, and the pairs (m, 2) of a graph as `edges`.
        ValueError for settings that make no training.
        """
        method = self.make(settings.method, settings.method_settings)
        self.check(images, settings)
        features = load_features(images, settings.features, feature_cache, on_step)
        data, projection = self.data(images, settings, features, on_step, edges)
        if on_step is not None:
            on_step("Training", 0, 1)
        if recorder is not None:
            self.record(recorder, method, data)

        def listen(event: ProgressEvent) -> None:
            scores = method.inference_scores
            if on_scores is not None and scores is not None:
                on_scores(scores)
            if recorder is not None:
                recorder.keep(event)
            if on_iteration is not None:
                on_iteration(event)

        self.fit(method, data, listen, warm_start)
        if on_fitted is not None:
            on_fitted(method, projection)
        measured = self.measure(method, data)
        if recorder is not None and measured.scores is not None:
            recorder.end(method.certificate, measured.scores)
        return Trained(method, projection, measured)
