"""A training from an image set to scores: what a worker does for the pages, and anyone may do without them.

Given an image set, for example from `ranking.datasets.load_image_set`::

    settings = TrainSettings(image_set.key, (("HOG", {}),), "jumping", "AP-SVM", {"C": 100.0})
    trained = train(image_set, settings, Path("features"))
    trained.metrics["test"]["AP"]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ranking.core import (
    Bools,
    Bounds,
    Certificate,
    Features,
    Floats,
    ImageSet,
    Ints,
    OnProgress,
    OnStep,
    ProgressEvent,
    Query,
    SampleMethod,
)
from ranking.core.errors import InputError
from ranking.core.run_settings import TrainSettings
from ranking.core.settings import settings_dict
from ranking.core.text import readable
from ranking.features import load_features, make_feature, rows_of
from ranking.features.graph.image_graph import FIRST_GRAPH, check_graph_name, image_graph
from ranking.features.projection import Projection, fit_projection, projected, whole_projection
from ranking.methods import check_ranks, make_method, method_class
from ranking.metrics import evaluate_or_count


@dataclass(frozen=True, eq=False)
class Trained:
    """What came of a training.

    scores: (n,) of all samples of the set. metrics: `evaluate` of "train" and of "test". certificate: None
    where the method proves nothing. bounds: how exact the max-marginals are that the scores are differences of; None
    where all are exact, or there are none. projection: through which the method sees features; None where it sees them
    as they are.
    """

    method: SampleMethod
    scores: Floats
    metrics: dict[str, dict[str, float]]
    certificate: Certificate | None
    bounds: Bounds | None = None
    projection: Projection | None = None


def train(
    image_set: ImageSet,
    settings: TrainSettings,
    feature_cache: Path,
    on_step: OnStep | None = None,
    on_iteration: OnProgress | None = None,
    on_fitted: Callable[[], None] | None = None,
    warm_start: SampleMethod | None = None,
    edges: Ints | None = None,
    on_asked: Callable[[Floats], None] | None = None,
) -> Trained:
    """Train a method on the training samples of a set, score all samples, evaluate both parts.

    on_step hears of the features and of the beginning of training, on_iteration every iteration, and
    on_fitted that there are weights; on_asked, at every iteration of a method that asks for most violated rankings,
    of the training samples' scores when it last did. `settings.set`, `settings.warm_start`, and `settings.graph`
    where it names a CSV, have been followed by the caller, who gives the set, the fitted method, and the pairs (m, 2)
    as `edges`.
    ValueError for settings that make no training.
    """
    check_ranks(settings.method, "samples")
    if settings.graph is not None:
        check_graph_name(settings.graph)  # also where the method uses none
    relevance = image_set.relevance(settings.query)
    learn = ~image_set.test
    if not relevance[learn].any():
        expected = f"a class of at least one of the {learn.sum():,} training samples of {image_set.title}"
        raise InputError("query", expected, readable(settings.query), "choose another class")
    method: SampleMethod = make_method(settings.method, **settings.method_settings)
    features = load_features(image_set, settings.features, feature_cache, on_step)
    projection = fit_projection(settings.projection, features, learn, on_step)
    if on_step is not None:
        on_step("Training", 0, 1)
    everything = query_of(image_set, settings, features, edges=edges, projection=projection)
    method.check_graph(everything)  # what could not be scored is not trained

    def listen(event: ProgressEvent) -> None:
        if on_asked is not None and method.asked is not None:
            on_asked(method.asked)
        if on_iteration is not None:
            on_iteration(event)

    method.fit(
        [
            query_of(image_set, settings, features, relevance, learn, edges, projection)
        ],  # gone when it has learnt
        on_progress=listen,
        warm_start=warm_start,
    )
    if on_fitted is not None:
        on_fitted()
    scores = method.score(everything)
    metrics = {
        "train": evaluate_or_count(relevance[learn], scores[learn]),
        "test": evaluate_or_count(relevance[~learn], scores[~learn]),
    }
    return Trained(method, scores, metrics, method.certificate, method.bounds(everything), projection)


def query_of(
    image_set: ImageSet,
    settings: TrainSettings,
    features: Features,
    relevance: Ints | None = None,
    rows: Bools | None = None,
    edges: Ints | None = None,
    projection: Projection | None = None,
) -> Query:
    """What a training's method is given: the samples of `rows` (n,), or all, with their graph where it uses one.

    edges: the pairs (m, 2) that the settings name where they name a CSV (`ranking.workspace.store.Store.edges_of`).
    projection: the one that was fitted for it. Neighbours are found and compared by the features as they are before it:
    so they are the same whatever is projected, and features of boxes can be told from those of whole images.
    """
    graph = None
    by = graph_in_use(settings)
    if by is not None:
        graph = image_graph(image_set, by, settings.features, features, rows, edges)
    chosen = slice(None) if rows is None else rows
    told = None if relevance is None else relevance[chosen]
    of_rows = features if rows is None else rows_of(features, rows)
    return Query(projected(projection, of_rows), told, graph, image_set.ids[chosen])


def graph_in_use(settings: TrainSettings) -> str | None:
    """The name of the similarity graph that a training's method leans on; None where it leans on none."""
    if not method_class(settings.method).uses_graph:
        return None
    return settings.graph or FIRST_GRAPH


def what_is_learnt(settings: TrainSettings) -> str:
    """What gives weights their meaning, in words: the method and the features with all their settings.

    What a projection makes of features depends on the samples that it was fitted on, so on the set too.
    """
    features = [make_feature(name, **options) for name, options in settings.features]
    parts = ", ".join(f"{feature.name} {settings_dict(feature)}" for feature in features)
    by = graph_in_use(settings)
    if (projection := whole_projection(settings.projection)) is not None:
        parts += f", by {projection} fitted on set {settings.set}"
    return f"{settings.method} of {parts}" + ("" if by is None else f", neighbours: {by}")
