"""Orders of images: the pairs of the lesson, and what trainings of orders left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from pages.parts.app.cache.homes import EACH, SOME, or_gone, store
from pages.parts.app.cache.image_sets import _image_set, _thumbnails
from pages.parts.app.cache.trainings import _method_and_features, _needs
from ranking.core import Floats
from ranking.core.run_settings import OrderTrainSettings
from ranking.workspace.run import Run
from ranking.workspace.run_files import read_scores
from ranking.workspace.store import Store

if TYPE_CHECKING:  # what this imports would load compiled parts before the first picture
    from pages.parts.views.pair_cues import Examples
    from ranking.core import Features
    from ranking.experiments.order_training import Ordered
    from ranking.explain.tree_search import TreeSearch
    from ranking.methods.mid_rank import MidRank

MOST_LOOKED_AT = 1000  # samples among which the lesson about pairs looks for them


def pair_examples(key: str, criterion: str) -> tuple[Examples, Floats]:
    """Pairs and a sequence of training samples for the lesson about pairs, and (n, c) the cues of all samples, NaN of
    those that are not looked at; Gone where a set has no such pairs."""
    with or_gone():
        return _pair_examples(str(store().home), key, criterion)


@st.cache_data(show_spinner="Looking for pairs …", max_entries=SOME)
def _pair_examples(home: str, key: str, criterion: str) -> tuple[Examples, Floats]:
    from pages.parts.views.pair_cues import Examples, all_cues, find_examples

    images = _image_set(home, key)
    numbers = images.numbers_of(criterion)
    rows = np.flatnonzero(~np.isnan(numbers) & ~images.test)[:MOST_LOOKED_AT]
    cues = np.full((len(images), 2), np.nan)
    cues[rows] = all_cues(_thumbnails(home, key).crop, rows)
    try:
        found = find_examples(numbers[rows], cues[rows])
    except ValueError as error:
        raise ValueError(
            f"the lesson needs other pictures than these: {error}; choose another set"
        ) from error
    return Examples(rows[found.pairs], rows[found.sequence]), cues


def ordered(run: Run) -> Ordered:
    """The test sequences of a training of orders as its method put them; Gone where it left no scores of them."""
    _needs(run.has_scores, run, "scores")
    with or_gone():
        return _ordered(str(store().home), run.id)


@st.cache_resource(show_spinner="Reading the test sequences …", max_entries=EACH)
def _ordered(home: str, run_id: str) -> Ordered:
    from ranking.experiments.order_training import Ordered, drawn_for_test, make_drawing

    run = Store(home).run(run_id)
    settings = OrderTrainSettings.from_json(run.settings)
    drawn = drawn_for_test(_image_set(home, settings.set), settings)
    scores = read_scores(run.scores_file, f"training {run.id}", len(drawn.sequences.members))
    return Ordered.of(drawn, scores, make_drawing(settings.drawing))


def mid_rank(run: Run) -> tuple[MidRank, Features]:
    """The MidRank that a training of orders left, and (n, d) the features of the pool of its test sequences.

    Gone where it left none; NoFeatures where it would first have to compute features.
    """
    _needs(run.has_model, run, "method")
    with or_gone():
        return _mid_rank(str(store().home), run.id)


@st.cache_resource(show_spinner=False, max_entries=SOME)
def _mid_rank(home: str, run_id: str) -> tuple[MidRank, Features]:
    from ranking.experiments.order_training import drawn_for_test

    run = Store(home).run(run_id)
    images, settings = _image_set(home, run.settings["set"]), OrderTrainSettings.from_json(run.settings)
    method, features = _method_and_features(home, run, images, settings.features)
    return method, drawn_for_test(images, settings, features).sequences.features


def tree_search(run: Run, number: int, length: int, trees: int) -> TreeSearch:
    """The search of a MidRank's ranker of one length for the best order of test sequence `number`, from 0."""
    mid_rank(run)
    with or_gone():
        return _tree_search(str(store().home), run.id, number, length, trees)


@st.cache_resource(show_spinner="Searching …", max_entries=EACH)
def _tree_search(home: str, run_id: str, number: int, length: int, trees: int) -> TreeSearch:
    from ranking.explain.tree_search import tree_search as search

    method, features = _mid_rank(home, run_id)
    rows = _ordered(home, run_id).drawn.sequences.sequence(number)
    return search(method, length, features[rows], trees)
