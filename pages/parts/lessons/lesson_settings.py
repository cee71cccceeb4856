"""The training runs of the lessons.

This module does not import Streamlit, so that the programs of `data/` can use it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ranking.core.settings import Named
from ranking.storage.run_settings import AblationSettings, BagTrainSettings, LabelTrainSettings, TrainSettings


@dataclass(frozen=True)
class Lesson:
    """A query on the ready-made images, and the methods that are trained for it."""

    query: str
    methods: tuple[str, ...]
    features: tuple[str, ...] = ("HOG", "Colour")

    def settings_of(self, key: str, method: str) -> TrainSettings:
        """Return the settings of the lesson's run by `method`."""
        # The worker adds the defaults of all other settings, because reading them here would load the
        # compiled code of the methods before the page is shown.
        return TrainSettings(key, tuple((name, {}) for name in self.features), self.query, method)


# With GIST alone the training scenes cannot be ranked without an error, so it matters which error is minimised.
WHY_AP = Lesson("riding horse", ("SVM", "AP-SVM"), ("GIST",))
VIOLATED = Lesson("playing instrument", ("AP-SVM",))
NEIGHBOURS = Lesson("riding bike", ("SVM", "HOB-SVM", "AP-SVM", "HOAP-SVM"))


def pairs_study(key: str, features: Named, criterion: str) -> AblationSettings:
    """Return the ablation of the lesson about pairs: ten training sequences, subsequences of all lengths."""
    drawing = {"length": 8, "train": 10, "test": 500}
    return AblationSettings(key, features, criterion, "subsequence length", drawing=drawing)


LABELS_SET = "Label scenes"


def labels_run(key: str, method: str) -> LabelTrainSettings:
    """Return the settings of a run of the lesson about labels."""
    return LabelTrainSettings(key, (("HOG", {}), ("Colour", {})), method)


OBJECT_SET = "Hidden objects"
# class and start whose rounds are shown
OBJECT_ROUNDS = ("horse", "whole image")
# A class whose boxes are better from another start than the whole image, and one whose boxes shrink to a part.
OBJECT_STARTS, OBJECT_PART = ("drum", "several"), ("bicycle", "several")
OBJECTS = (OBJECT_ROUNDS, OBJECT_STARTS, OBJECT_PART)
# the start with which others are compared
WHOLE = "whole image"


def objects_run(key: str, query: str, start: str) -> BagTrainSettings:
    """Return the settings of a localisation run of the lesson about hidden objects."""
    return BagTrainSettings(key, query, "Latent AP-SVM", {"start": start})
