"""The interface of all tasks: ranking samples, the labels of images, sequences, or images by their best windows.

A task prepares the data of its methods and evaluates them; `Task.train` does the rest. `ranking.experiments.tasks`
chooses the task by the settings.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Generic, NamedTuple, TypeVar

from ranking.core import (
    Bounds,
    Certificate,
    Floats,
    ImageSet,
    Ints,
    Method,
    OnProgress,
    OnStep,
    ProgressEvent,
)
from ranking.core.settings import GivenSettings
from ranking.experiments.recording import Recorder
from ranking.explain.playback import Scored
from ranking.features.projection import Projection
from ranking.methods import check_ranks, make_method_as
from ranking.storage.run_settings import AnyTrainSettings

# this import would load compiled code, for which the first page would wait
if TYPE_CHECKING:
    from ranking.explain.localisation import Localisation

S = TypeVar("S", bound=AnyTrainSettings)
# the training and evaluation data of a task
D = TypeVar("D")
# the methods of a task
M = TypeVar("M", bound=Method)

# by "train" and "test"
Metrics = dict[str, dict[str, float]]


class Measured(NamedTuple):
    """The evaluation of a method. scores: float64, None for tasks that store none. bounds: how exact the max-marginals
    are whose differences are the scores; None if all are exact, or there are none. localisation: of a task that ranks
    images by their best windows."""

    metrics: Metrics
    scores: Floats | None = None
    bounds: Bounds | None = None
    localisation: Localisation | None = None


@dataclass(frozen=True, eq=False)
class Trained:
    """The result of a training run.

    method: fitted. projection: of the features; None for no projection.
    """

    method: Method
    projection: Projection | None
    measured: Measured

    @property
    def metrics(self) -> Metrics:
        return self.measured.metrics

    @property
    def scores(self) -> Floats:
        """The scores; ValueError for a task that stores none."""
        if self.measured.scores is None:
            raise ValueError(f"expected a task that keeps scores, got: {self.method.name}")
        return self.measured.scores

    @property
    def certificate(self) -> Certificate | None:
        """The certificate of the method; None for methods without."""
        return self.method.certificate


class Task(ABC, Generic[S, D, M]):
    """Training of all methods for one task on an image set.

    settings: of its runs; their `task` is the name of the task, and the `ranks` of its methods. method: the base
    class of its methods.
    """

    settings: ClassVar[type[AnyTrainSettings]]
    method: type[M]

    def make(self, name: str, settings: GivenSettings) -> M:
        """Return the untrained method `name`; ValueError unless it belongs to this task."""
        check_ranks(name, self.settings.task)
        return make_method_as(self.method, name, **settings)

    @abstractmethod
    def check(self, images: ImageSet, settings: S) -> None:
        """Raise InputError for settings that are invalid on a set, as far as this is known without features."""

    @abstractmethod
    def data(
        self, images: ImageSet, settings: S, cache: Path, on_step: OnStep | None, edges: Ints | None
    ) -> tuple[D, Projection | None]:
        """Return the training and evaluation data, and the projection that was fitted for it.

        cache: the folder of computed features. edges: as in `train`.
        """

    @abstractmethod
    def fit(self, method: M, data: D, on_progress: OnProgress, warm_start: M | None) -> None:
        """Train a method on the training part."""

    @abstractmethod
    def measure(self, method: M, data: D) -> Measured:
        """Evaluate a fitted method on both parts."""

    def record(self, recorder: Recorder, method: M, data: D) -> None:
        """Begin a recording; tasks that do not override this are not recorded."""

    def train(
        self,
        images: ImageSet,
        settings: S,
        feature_cache: Path,
        on_step: OnStep | None = None,
        on_iteration: OnProgress | None = None,
        on_fitted: Callable[[Method, Projection | None], None] | None = None,
        on_scores: Callable[[Floats], None] | None = None,
        recorder: Recorder | None = None,
        warm_start: M | None = None,
        edges: Ints | None = None,
    ) -> Trained:
        """Train a method on the training part of a set, and evaluate it on both parts.

        on_step receives progress for features and the start of training; on_iteration receives every iteration;
        on_fitted receives the method and its projection as soon as it has weights, because evaluation may take longer
        than training. on_scores receives, at every iteration of a method with loss-augmented inference, the scores of
        the training samples at its last call. recorder: records the run, if the task can score by the weights of
        iterations. The caller resolves what `settings` name: the set, the fitted method `warm_start`, and the pairs (m,
        2) of a graph as `edges`. ValueError for invalid settings.
        """
        method = self.make(settings.method, settings.method_settings)
        self.check(images, settings)
        data, projection = self.data(images, settings, feature_cache, on_step, edges)
        if on_step is not None:
            on_step("Training", 0, 1)
        if recorder is not None:
            self.record(recorder, method, data)

        def listen(event: ProgressEvent) -> None:
            scores = method.inference_scores
            if on_scores is not None and scores is not None:
                on_scores(scores)
            if recorder is not None:
                recorder.record(event)
            if on_iteration is not None:
                on_iteration(event)

        self.fit(method, data, listen, warm_start)
        if on_fitted is not None:
            on_fitted(method, projection)
        measured = self.measure(method, data)
        if recorder is not None and measured.scores is not None:
            boxes = None if measured.localisation is None else measured.localisation.boxes
            recorder.end(method.certificate, Scored(measured.scores, boxes))
        return Trained(method, projection, measured)
