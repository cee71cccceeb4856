"""Labels of images: answers, and what trainings of labels left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from pages.parts.app.cache.homes import EACH, or_gone, store
from pages.parts.app.cache.image_sets import _image_set
from pages.parts.app.cache.trainings import _method_and_features, _needs
from ranking import method_class
from ranking.core import LabelSet
from ranking.core.run_settings import LabelTrainSettings
from ranking.datasets.label_sets import label_set
from ranking.explain.label_pairs import LabelPairs
from ranking.explain.label_pairs import label_pairs as label_pairs_of
from ranking.workspace.answers import AnswerStore
from ranking.workspace.run import Run
from ranking.workspace.store import Store

if TYPE_CHECKING:  # what this imports would load compiled parts before the first picture
    from ranking.explain.asking import LabelEntropy
    from ranking.methods.label_ranker import LabelRanker


def answers() -> AnswerStore:
    """The answers of this server's home."""
    return _answers(str(store().home))


@st.cache_resource(show_spinner=False)
def _answers(home: str) -> AnswerStore:
    return AnswerStore(home)


def image_labels(key: str) -> LabelSet:
    """The images of a set with all labels that any of their samples shows, and no features."""
    with or_gone():
        return _image_labels(str(store().home), key)


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _image_labels(home: str, key: str) -> LabelSet:
    images = Store(home).image_set(key)  # not from the cache, which holds few: all sets are looked at
    return label_set(images, np.zeros((len(images), 0), np.float32))


def label_pairs(run: Run) -> LabelPairs:
    """What a training of labels learnt of pairs, beside how often its training images have both; Gone where it left
    no method, or one that is not of the set's labels."""
    _needs(run.has_model, run, "method")
    with or_gone():
        return _label_pairs(str(store().home), run.id)


@st.cache_resource(show_spinner="Counting which labels come together …", max_entries=EACH)
def _label_pairs(home: str, run_id: str) -> LabelPairs:
    run = Store(home).run(run_id)
    method = method_class(run.settings["method"]).load(run.model_file)
    images = _image_labels(home, run.settings["set"])
    unknown = [name for name in method.names if name not in images.names]
    if unknown:
        raise ValueError(
            f"the method of training {run_id} knows {unknown[0]!r}, which is no label of its set"
        )
    columns = [images.names.index(name) for name in method.names]
    labels = images.labels[~images.test][:, columns]
    return label_pairs_of(method.names, method.core, method.weights.interactions, labels)


def label_ranker(run: Run) -> tuple[LabelRanker, LabelSet]:
    """The method that a training of labels left, and the images of its set as it sees them.

    Gone where it left none, or one that is not of the set's labels; NoFeatures where it would first have to compute
    features.
    """
    _needs(run.has_model, run, "method")
    with or_gone():
        return _label_ranker(str(store().home), run.id)


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _label_ranker(home: str, run_id: str) -> tuple[LabelRanker, LabelSet]:
    run = Store(home).run(run_id)
    images, settings = _image_set(home, run.settings["set"]), LabelTrainSettings.from_json(run.settings)
    method, features = _method_and_features(home, run, images, settings.features)
    shown = label_set(images, features, settings.min_images)
    method.prediction(shown.part([0]))  # a ValueError says which labels or features it knows instead
    return method, shown


def label_entropy(run: Run) -> LabelEntropy:
    """The probabilities of the labels of a training by themselves, fitted on its training images."""
    with or_gone():
        return _label_entropy(str(store().home), run.id)


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _label_entropy(home: str, run_id: str) -> LabelEntropy:
    from ranking.explain.asking import LabelEntropy

    method, shown = _label_ranker(home, run_id)
    return LabelEntropy.fitted(method, shown.part(~shown.test))
