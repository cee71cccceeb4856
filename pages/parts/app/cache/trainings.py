"""What trainings that rank samples left: rankings, what they come to side by side, and their methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from pages.parts.app.cache.homes import EACH, SOME, Gone, NoFeatures, or_gone, store
from pages.parts.app.cache.image_sets import _image_set, splits
from ranking import method_class
from ranking.core import Floats, ImageSet
from ranking.core.run_settings import Named, TrainSettings
from ranking.datasets.splits import blocks_of
from ranking.features import cached_features, load_features
from ranking.features.projection import Projection, projected
from ranking.methods import score_direction
from ranking.metrics.comparison import Comparison
from ranking.metrics.intervals import Resampled, resample
from ranking.metrics.ranked import Ranking
from ranking.workspace.run import Run
from ranking.workspace.run_files import read_scores
from ranking.workspace.store import Store

if TYPE_CHECKING:  # what this imports would load compiled parts before the first picture
    from ranking.core import Features
    from ranking.explain.edge_strength import EdgeStrengthCurve
    from ranking.explain.neighbourhood import Neighbourhood

STRENGTHS = [step / 10 for step in range(21)]  # of neighbours, of what was learnt
MOST_PLACES = 20  # places of each of several rankings that are shown


def _needs(there: bool, run: Run, what: str) -> None:
    if not there:
        raise Gone(f"training {run.id} is {run.state} and has no {what}; train again")


def _features(home: str, run_id: str, images: ImageSet, described: Named) -> Features:
    """(n, d) the features that a training learnt from, before any projection; NoFeatures where they are not kept."""
    features = cached_features(images, described, Store(home).features)
    if features is None:
        raise NoFeatures(f"the features of training {run_id} are not kept here; compute them once more")
    return features


def _method_and_features(home: str, run: Run, images: ImageSet, described: Named) -> tuple[Any, Features]:
    """The method that a training left, and (n, d) the features of its set's samples as that method sees them."""
    features = projected(_projection(home, run.id), _features(home, run.id, images, described))
    return method_class(run.settings["method"]).load(run.model_file), features


def ranking(run: Run, split: str) -> Ranking:
    """The ranking of an ended run; Gone where it left no scores."""
    _needs(run.has_scores, run, "scores")
    with or_gone():
        return _ranking(str(store().home), run.id, split)


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _ranking(home: str, run_id: str, split: str) -> Ranking:
    run = Store(home).run(run_id)
    images = _image_set(home, run.settings["set"])
    scores = read_scores(run.scores_file, f"training {run.id}", len(images))
    rows = np.flatnonzero(images.test if split == "test" else ~images.test)
    return Ranking.of(rows, images.relevance(run.settings["query"])[rows], scores[rows])


def comparison(shown: Sequence[Run], split: str) -> Comparison:
    """The rankings of ended runs of one image set and one query; Gone where one left no scores."""
    rankings = [ranking(run, split) for run in shown]
    with or_gone():
        return _comparison(str(store().home), tuple(run.id for run in shown), split, rankings)


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _comparison(home: str, run_ids: tuple[str, ...], split: str, _rankings: list[Ranking]) -> Comparison:
    return Comparison.of(_rankings)


def redrawn(shown: Sequence[Run], split: str) -> Resampled:
    """Their measures, and the same on images of the split that are drawn again; Gone where there are too few."""
    compared = comparison(shown, split)
    with or_gone():
        return _redrawn(
            str(store().home), tuple(run.id for run in shown), split, shown[0].settings["set"], compared
        )


@st.cache_resource(show_spinner="Drawing images again …", max_entries=EACH)
def _redrawn(
    home: str, run_ids: tuple[str, ...], split: str, set_key: str, _compared: Comparison
) -> Resampled:
    units = blocks_of(_image_set(home, set_key), _compared.samples)
    cutoffs = range(1, min(MOST_PLACES, len(_compared.samples)) + 1)
    return resample(_compared.relevance, _compared.scores, units, cutoffs=cutoffs)


def leaning(run: Run) -> EdgeStrengthCurve:
    """The test samples of a run ranked with weaker and stronger neighbours; Gone where the run left no method.

    Only for a method that uses a graph (`ranking.methods.high_order`).
    """
    _needs(run.has_model, run, "method")
    with or_gone():
        return _leaning(str(store().home), run.id)


@st.cache_resource(show_spinner="Ranking with weaker and stronger neighbours …", max_entries=SOME)
def _leaning(home: str, run_id: str) -> EdgeStrengthCurve:
    from ranking.explain.edge_strength import edge_strength_curve

    kept = Store(home)
    settings = TrainSettings.from_json(kept.run(run_id).settings)
    images = _image_set(home, settings.set)
    load_features(images, settings.features, kept.features)  # computes them where they are not kept
    return edge_strength_curve(_neighbourhood(home, run_id), True, images.image_of, STRENGTHS)


def projection(run: Run) -> Projection | None:
    """The projection through which a run's method sees features; None where it sees them as they are, Gone where it is
    gone."""
    with or_gone():
        return _projection(str(store().home), run.id)


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _projection(home: str, run_id: str) -> Projection | None:
    from ranking.workspace.run_files import projection_of

    return projection_of(Store(home).run(run_id))


def direction(run: Run) -> Floats | None:
    """(d,) the direction, in the space of the features before any projection, in which the scores of a run's method
    grow; None where it has no weights.

    Gone where the run left no method, or one that cannot be read.
    """
    _needs(run.has_model, run, "method")
    with or_gone():
        return _direction(str(store().home), run.id)


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _direction(home: str, run_id: str) -> Floats | None:
    run = Store(home).run(run_id)
    direction = score_direction(method_class(run.settings["method"]).load(run.model_file))
    through = _projection(home, run_id)
    return direction if direction is None or through is None else through.before(direction)


def neighbourhood(run: Run) -> Neighbourhood:
    """What its neighbours did to each sample of a run's image set; NoFeatures where it would first have to compute
    features, Gone where the run left no method, or one that is not the one that gave its scores."""
    _needs(run.has_model, run, "method")
    with or_gone():
        return _neighbourhood(str(store().home), run.id)


@st.cache_resource(show_spinner="Asking the neighbours …", max_entries=SOME)
def _neighbourhood(home: str, run_id: str) -> Neighbourhood:
    from ranking.experiments.training import query_of
    from ranking.explain.neighbourhood import Neighbourhood

    kept = Store(home)
    run = kept.run(run_id)
    images, settings = _image_set(home, run.settings["set"]), TrainSettings.from_json(run.settings)
    features = _features(home, run_id, images, settings.features)
    edges = kept.edges_of(settings.set, settings.graph)
    query = query_of(images, settings, features, edges=edges, projection=_projection(home, run_id))
    method = method_class(settings.method).load(run.model_file)
    potentials = method.potentials_of(query)
    unary, penalty = method.model_of(query, potentials)
    relevant = images.relevance(settings.query) > 0
    found = Neighbourhood.of(unary, potentials, penalty, relevant, images.test)
    scores = np.concatenate([_ranking(home, run_id, split).scores for split in splits(images)])
    order = np.concatenate([_ranking(home, run_id, split).samples for split in splits(images)])
    if not np.allclose(found.score[order], scores, rtol=1e-6, atol=1e-9 * np.abs(scores).max()):
        raise ValueError(
            f"the scores of training {run_id} are not those of the method that it left; train again"
        )
    return found
