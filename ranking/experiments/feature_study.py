"""AP by feature: one method with each feature alone and with features together, on the test images of a set.

Given an image set with classes, for example from `ranking.datasets.load_image_set`::

    settings = FeatureStudySettings(image_set.key, (("HOG", {}), ("Colour", {}), ("CNN", {})), "ace")
    result = FeatureStudy().run(settings, Context(image_set, Path("features"), (Path("trials"),)))
    [measured.AP.value for measured in measured_of(result)]
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ranking.core import ImageSet
from ranking.core.errors import InputError
from ranking.core.settings import Named
from ranking.datasets.splits import blocks_of
from ranking.experiments.cross_validation.experiment import Experiment
from ranking.experiments.cross_validation.plan import plan_of
from ranking.experiments.cross_validation.running import results_of
from ranking.experiments.cross_validation.trial_store import TrialStore
from ranking.experiments.study import Context, Result, Study, ignore
from ranking.features import default_names, load_features
from ranking.metrics.intervals import Interval, resample
from ranking.storage.run_settings import SMALL_GRIDS, ExperimentSettings, FeatureStudySettings

# the features of 2005, with which all others are compared
BASELINE = ("HOG", "Colour")
# of the training samples, which choose C and other settings of the method
FOLDS = 3


class Measured(NamedTuple):
    """The test AP of a method by the features in `name`, and its difference from the AP by BASELINE."""

    name: str
    AP: Interval
    # on the same resamples
    difference: Interval


class FeatureStudy(Study[FeatureStudySettings]):
    """The result has a `Measured` for BASELINE, for each feature alone, and for the default features together."""

    settings = FeatureStudySettings

    def run(self, settings: FeatureStudySettings, context: Context) -> Result:
        images = context.images
        assert images is not None
        test = np.flatnonzero(images.test)
        relevance = images.relevance(settings.query)[test]
        if not relevance.any():
            raise InputError("relevant test samples", "at least one", 0, "choose another class")
        choices = choices_of(settings.features, images)
        # all at the same time, so that each image is decoded once
        load_features(images, settings.features, context.features, context.on_step)
        store, scores = TrialStore(context.trials[0], context.trials[1:]), []
        for number, (name, parts) in enumerate(choices.items()):
            # the same grid and folds for all choices, so that none is tuned more than others
            method, query = settings.method, settings.query
            protocol = ExperimentSettings(images.key, parts, ((method, {}),), (query,), SMALL_GRIDS, FOLDS)

            def report(what: str, done: float, total: int, name: str = name, number: int = number) -> None:
                context.on_step(f"{name}: {what}", number + done / max(1, total), len(choices))

            Experiment().run(protocol, replace(context, on_step=report, on_result=ignore))
            results = results_of(plan_of(protocol, images), store)
            # not None, because all trials are finished
            point = results.chosen(query, method) or ()
            scores.append(store.scores(results.keys[query, method, point, None]))
        of = resample(relevance, scores, blocks_of(images, test))
        return {
            "measured": [
                Measured(name, of.interval("AP", row), of.difference("AP", row, 0))
                for row, name in enumerate(choices)
            ]
        }


def choices_of(features: Named, images: ImageSet) -> dict[str, Named]:
    """Return the features of each measurement by name: BASELINE, each alone, and the defaults of the set."""
    choices = [BASELINE, *((name,) for name, _ in features), tuple(default_names(images))]
    given = dict(features)
    return {" + ".join(names): tuple((name, given.get(name, {})) for name in names) for names in choices}


def measured_of(result: Result) -> list[Measured]:
    """Return the rows of a result of the study."""
    return [Measured(name, Interval(*AP), Interval(*apart)) for name, AP, apart in result["measured"]]
