"""The studies by name, and a function that runs the one that settings belong to, for workers and scripts.

Given an image set with criteria, for example from `ranking.datasets.load_image_set`::

    settings = AblationSettings(image_set.key, (("HOG", {}),), "year", "subsequence length", drawing={"length": 20})
    result = run(settings, Context(image_set, Path("features")))
"""

from __future__ import annotations

from typing import Any

from ranking.experiments.ablations import MidRankStudy
from ranking.experiments.cross_validation.experiment import Experiment
from ranking.experiments.cvxpy_study import CvxpyComparison
from ranking.experiments.feature_study import FeatureStudy
from ranking.experiments.labelling_simulation import LabellingSimulation
from ranking.experiments.study import Context, Result, Study
from ranking.experiments.timing_studies import TimingStudy
from ranking.features import load_features
from ranking.storage.run_settings import AnyStudySettings, DescribeSettings


class Description(Study[DescribeSettings]):
    """Computes features of an image set into the cache. The result is empty."""

    settings = DescribeSettings

    def run(self, settings: DescribeSettings, context: Context) -> Result:
        # the settings name a set
        assert context.images is not None
        load_features(context.images, settings.features, context.features, context.on_step)
        return {}


STUDIES: dict[str, Study[Any]] = {
    study.settings.task: study
    for study in (
        Experiment(),
        LabellingSimulation(),
        MidRankStudy(),
        TimingStudy(),
        CvxpyComparison(),
        FeatureStudy(),
        Description(),
    )
}


def run(settings: AnyStudySettings, context: Context) -> Result:
    """Run the study that `settings` belong to (`Study.run`)."""
    return STUDIES[settings.task].run(settings, context)
