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

from ranking import make_method
from ranking.features import load_features, make_feature
from ranking.metrics import evaluate_or_count
from ranking.run_settings import TrainSettings
from ranking.settings import settings_dict
from ranking.types import Certificate, Floats, ImageSet, Method, OnProgress, Query

OnStep = Callable[[str, int, int], None]  # (what, done, total)


@dataclass(frozen=True, eq=False)
class Trained:
    """What came of a training.

    scores: (n,) of all samples of the set. metrics: `evaluate` of "train" and of "test". certificate: None
    where the method proves nothing.
    """

    method: Method
    scores: Floats
    metrics: dict[str, dict[str, float]]
    certificate: Certificate | None


def train(
    image_set: ImageSet,
    settings: TrainSettings,
    feature_cache: Path,
    on_step: OnStep | None = None,
    on_iteration: OnProgress | None = None,
    on_fitted: Callable[[], None] | None = None,
    warm_start: Method | None = None,
) -> Trained:
    """Train a method on the training samples of a set, score all samples, evaluate both parts.

    on_step hears of the features and of the beginning of training, on_iteration every iteration, and
    on_fitted that there are weights. `settings.set` and `settings.warm_start` have been followed by the caller,
    who gives the set and the fitted method. ValueError for settings that make no training.
    """
    relevance = image_set.relevance(settings.query)
    learn = ~image_set.test
    if not relevance[learn].any():
        raise ValueError(
            f"none of the {learn.sum()} training samples of {image_set.title} shows {settings.query!r}; "
            "choose another class"
        )
    method: Method = make_method(settings.method, **settings.method_settings)
    features = load_features(image_set, settings.features, feature_cache, on_step)
    if on_step is not None:
        on_step("Training", 0, 1)
    query = Query(features[learn], relevance[learn], ids=image_set.ids[learn])
    method.fit([query], on_progress=on_iteration, warm_start=warm_start)
    if on_fitted is not None:
        on_fitted()
    scores = method.score(Query(features, ids=image_set.ids))
    metrics = {
        "train": evaluate_or_count(relevance[learn], scores[learn]),
        "test": evaluate_or_count(relevance[~learn], scores[~learn]),
    }
    return Trained(method, scores, metrics, getattr(method, "certificate", None))


def what_is_learnt(settings: TrainSettings) -> str:
    """What gives weights their meaning, in words: the method and the features with all their settings."""
    features = [make_feature(name, **options) for name, options in settings.features]
    parts = ", ".join(f"{feature.name} {settings_dict(feature)}" for feature in features)
    return f"{settings.method} of {parts}"
