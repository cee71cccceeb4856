"""The planes of a training run, which is repeated for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pages.parts.app import cache
from pages.parts.app.home import SOME, of_home
from ranking.features import load_features
from ranking.storage.run import Run
from ranking.storage.run_settings import TrainSettings

# these imports would load compiled modules before the first page is shown
if TYPE_CHECKING:
    from ranking.explain.training_planes import TrainingPlanes


@of_home(
    entries=SOME, spinner="Training again and solving the program over the planes in CVXPY …", needs="model"
)
def of(run: Run) -> TrainingPlanes:
    """The cutting planes of a run with a ranking loss, whose training is repeated."""
    from ranking.experiments.sample_task import query_of
    from ranking.explain.training_planes import training_planes

    images, settings = cache.image_set(run.settings["set"]), TrainSettings.from_json(run.settings)
    features = load_features(images, settings.features, cache.folder_of_features(run))
    relevance = images.relevance(settings.query, settings.corrections)
    query = query_of(images, settings, features, relevance, ~images.test, projection=cache.projection(run))
    return training_planes(cache.method_of(run), query)
