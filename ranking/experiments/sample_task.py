"""Training of methods that rank the samples of one class first.

Also: which graph a run uses, and what its weights depend on.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from ranking.core import Bools, Features, ImageSet, Ints, OnProgress, OnStep, Query, SampleMethod
from ranking.core.errors import InputError
from ranking.core.settings import settings_dict
from ranking.core.text import readable
from ranking.experiments.recording import Recorder
from ranking.experiments.task import Measured, Task
from ranking.explain.playback import Scored
from ranking.features import load_features, make_feature, rows_of
from ranking.features.graph.image_graph import UNNAMED_GRAPH, check_graph_name, image_graph
from ranking.features.projection import Projection, fit_projection, projected, whole_projection
from ranking.methods import method_class
from ranking.metrics import evaluate_or_count
from ranking.storage.run_settings import TrainSettings


class SampleData(NamedTuple):
    """The samples of a set for one run."""

    images: ImageSet
    settings: TrainSettings
    # (n, d) before the projection
    features: Features
    edges: Ints | None
    projection: Projection | None
    # as the method sees it
    everything: Query
    # (n,)
    relevance: Ints
    # (n,) which samples are training samples
    learn: Bools


class SampleTask(Task[TrainSettings, SampleData, SampleMethod]):
    """Ranking the samples of one class above all others. Stores the scores (n,) of all samples of the set."""

    settings = TrainSettings
    method = SampleMethod

    def check(self, images: ImageSet, settings: TrainSettings) -> None:
        if settings.graph is not None:
            # also if the method uses none
            check_graph_name(settings.graph)
        learn = ~images.test
        if not images.relevance(settings.query, settings.corrections)[learn].any():
            expected = f"a class that occurs in at least one of the {learn.sum():,} training samples of {images.title}"
            raise InputError("query", expected, readable(settings.query), "choose another class")

    def data(
        self,
        images: ImageSet,
        settings: TrainSettings,
        cache: Path,
        on_step: OnStep | None,
        edges: Ints | None,
    ) -> tuple[SampleData, Projection | None]:
        features, learn = load_features(images, settings.features, cache, on_step), ~images.test
        projection = fit_projection(settings.projection, features, learn, on_step)
        everything = query_of(images, settings, features, edges=edges, projection=projection)
        relevance = images.relevance(settings.query, settings.corrections)
        data = SampleData(images, settings, features, edges, projection, everything, relevance, learn)
        return data, projection

    def fit(
        self, method: SampleMethod, data: SampleData, on_progress: OnProgress, warm_start: SampleMethod | None
    ) -> None:
        # fail before training if scoring will fail
        method.check_graph(data.everything)
        images, settings, features, edges, projection, _, relevance, learn = data
        # the query has no name, so that it is freed after training
        method.fit(
            [query_of(images, settings, features, relevance, learn, edges, projection)],
            on_progress=on_progress,
            warm_start=warm_start,
        )

    def record(self, recorder: Recorder, method: SampleMethod, data: SampleData) -> None:
        recorder.begin(
            len(data.images),
            lambda weights, rounds: Scored(method.score_by(data.everything, np.stack(weights))),
        )

    def measure(self, method: SampleMethod, data: SampleData) -> Measured:
        scores = method.score(data.everything)
        bounds = method.bounds(data.everything)
        metrics = {
            part: evaluate_or_count(data.relevance[rows], scores[rows])
            for part, rows in (("train", data.learn), ("test", ~data.learn))
        }
        return Measured(metrics, scores, bounds)


def query_of(
    image_set: ImageSet,
    settings: TrainSettings,
    features: Features,
    relevance: Ints | None = None,
    rows: Bools | None = None,
    edges: Ints | None = None,
    projection: Projection | None = None,
) -> Query:
    """Return the samples of `rows` (n,), or all, with their graph if the method uses one."""
    # `edges` are the pairs (m, 2) of the CSV file that the settings name (`Store.features.edges_of`). The
    # graph is computed from the features before projection, so it is the same with any projection, and
    # features of boxes can be distinguished from those of whole images.
    graph = None
    by = graph_in_use(settings)
    if by is not None:
        graph = image_graph(image_set, by, settings.features, features, rows, edges)
    chosen = slice(None) if rows is None else rows
    labels = None if relevance is None else relevance[chosen]
    of_rows = features if rows is None else rows_of(features, rows)
    return Query(projected(projection, of_rows), labels, graph, image_set.ids[chosen])


def graph_in_use(settings: TrainSettings) -> str | None:
    """Return the name of the similarity graph that a training run's method uses; None where it uses none."""
    if not method_class(settings.method).uses_graph:
        return None
    return settings.graph or UNNAMED_GRAPH


def training_signature(settings: TrainSettings) -> str:
    """Describe what the weights of a run depend on: the method and the features with all their settings."""
    features = [make_feature(name, **options) for name, options in settings.features]
    parts = ", ".join(f"{feature.name} {settings_dict(feature)}" for feature in features)
    by = graph_in_use(settings)
    # the result of a projection depends on the samples that it was fitted on, so it depends on the set too
    if (projection := whole_projection(settings.projection)) is not None:
        parts += f", by {projection} fitted on set {settings.set}"
    return f"{settings.method} of {parts}" + ("" if by is None else f", neighbours: {by}")
