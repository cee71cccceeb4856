"""Caches of image sets, runs and experiments, keyed by the home and by ids, never by arrays: Streamlit samples large
arrays when it hashes them, and would return stale answers."""

from __future__ import annotations

import io
import json
import threading
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st
from PIL import Image

from pages.parts.app import home
from pages.parts.app.home import EACH, SOME, of_home
from ranking import method_class
from ranking.core import Bools, Floats, ImageSet, LabelSet
from ranking.core.run_settings import (
    ExperimentSettings,
    LabelTrainSettings,
    Named,
    OrderTrainSettings,
    TrainSettings,
)
from ranking.datasets import Thumbnails, load_image_set
from ranking.datasets.label_sets import label_set
from ranking.datasets.splits import blocks_of
from ranking.explain import label_pairs as pairs_of_labels
from ranking.explain.label_pairs import LabelPairs
from ranking.features import cached_features, load_features
from ranking.features.projection import Projection, projected
from ranking.methods import score_direction
from ranking.metrics import intervals
from ranking.metrics.comparison import Comparison
from ranking.metrics.intervals import Resampled
from ranking.metrics.ranked import Ranking
from ranking.reports.markup import data_url
from ranking.workspace import examples
from ranking.workspace.run import ENDED, Run
from ranking.workspace.run_files import projection_of, read_scores
from ranking.workspace.store import Store

if TYPE_CHECKING:  # what this imports would load compiled parts before the first picture
    from ranking.core import Features
    from ranking.experiments.cross_validation.plan import Plan
    from ranking.experiments.order_training import Ordered
    from ranking.explain.edge_strength import EdgeStrengthCurve
    from ranking.explain.inference_steps import InferenceProblem, Trace
    from ranking.explain.neighbourhood import Neighbourhood
    from ranking.explain.playback import Frame
    from ranking.explain.question_strategies import LabelEntropy
    from ranking.explain.tree_search import TreeSearch
    from ranking.methods.label_ranker import LabelRanker
    from ranking.methods.mid_rank import MidRank
    from ranking.reports.differences import Difference
    from ranking.reports.findings import Findings

TINY = 80  # longest side of an image of which every pixel counts
WHOLE_SIDE = 1200  # longest side of an image that is shown whole
LARGE = 12_000_000  # pixels; decoding one takes fifteen bytes each for a moment, so larger ones go one after the other
STRENGTHS = [step / 10 for step in range(21)]  # of the edges, in multiples of the learned penalties
MOST_PLACES = 20  # places of each of several rankings that are shown
POLL_SECONDS = 3.0  # between two readings of the trials of an experiment that is running

_large_image_lock = threading.Lock()


class NoFeatures(home.Gone):
    """The features of a run are not in the store's cache: it was trained elsewhere, or somebody tidied up."""


# ---------------------------------------------------------------------------------------------------------
# Image sets
# ---------------------------------------------------------------------------------------------------------


def image_set(key: str) -> ImageSet:
    with home.or_gone():
        return _image_set_at(str(home.store().home_of_set(key)), key)


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _image_set_at(home: str, key: str) -> ImageSet:
    """home: where the set lies, so that what many rooms are lent is here once."""
    return Store(home).image_set(key)


class GuardedThumbnails(Thumbnails):
    """Thumbnails whose files may go away between two reads: what cannot be read comes as Gone."""

    def crop(self, i: int) -> bytes:
        with home.or_gone():
            return super().crop(i)

    def image(self, j: int) -> bytes:
        with home.or_gone():
            return super().image(j)


def thumbnails(key: str) -> Thumbnails:
    with home.or_gone():
        return _thumbnails_at(str(home.store().home_of_set(key)), key)


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _thumbnails_at(home: str, key: str) -> Thumbnails:
    return GuardedThumbnails(_image_set_at(home, key).folder)


def ready_made() -> tuple[ImageSet, Thumbnails]:
    """The scenes that come with the program, from where they lie, which needs no home; Gone where they did not."""
    folder = examples.folder_of("Action figures")
    if not folder.is_dir():
        raise home.Gone(home.NO_EXAMPLES)
    with home.or_gone():
        return _ready_made(str(folder))


@st.cache_resource(show_spinner=False, max_entries=1)
def _ready_made(folder: str) -> tuple[ImageSet, Thumbnails]:
    return load_image_set(Path(folder)), GuardedThumbnails(Path(folder))


@of_home(entries=64)
def whole_image(key: str, image: int) -> str:
    """Image number `image` as a data URL, its longest side at most WHOLE_SIDE."""
    return shrunk(image_set(key), image)


def shrunk(images: ImageSet, image: int) -> str:
    """Image number `image` of a set as a data URL, its longest side at most WHOLE_SIDE."""
    width, height = (int(side) for side in images.image_sizes[image])
    with _large_image_lock if width * height > LARGE else nullcontext():
        picture = images.open_image(image)
        picture.thumbnail((WHOLE_SIDE, WHOLE_SIDE), Image.Resampling.LANCZOS)
    stream = io.BytesIO()
    if max(picture.size) <= TINY:
        picture.save(stream, "WEBP", lossless=True)
        return data_url(stream.getvalue())
    picture.save(stream, "JPEG", quality=88)  # in a twentieth of the time that WebP takes: one waits for it
    return data_url(stream.getvalue(), "image/jpeg")


def splits(images: ImageSet) -> list[str]:
    """Test and train, whichever has samples."""
    return [split for split in ("test", "train") if (images.test == (split == "test")).any()]


@of_home()
def criteria(key: str) -> tuple[str, ...]:
    """By what the samples of an image set can be put in order; () where that cannot be known."""
    return home.store().image_set(key).criteria  # not from the cache, which holds few: all sets are looked at


@of_home()
def image_labels(key: str) -> LabelSet:
    """The images of a set with all labels that any of their samples shows, and no features."""
    images = home.store().image_set(key)  # not from the cache, which holds few: all sets are looked at
    return label_set(images, np.zeros((len(images), 0), np.float32))


# ---------------------------------------------------------------------------------------------------------
# Training runs of any task
# ---------------------------------------------------------------------------------------------------------


def features_of(run: Run, described: Named) -> Features:
    """(n, d) the features that a run learned from, before any projection; NoFeatures where they are not kept. Those of
    an example are computed when they are first needed, in about a second."""
    images = image_set(run.settings["set"])
    features = cached_features(images, described, home.store().features)
    if features is None and run.id in examples.run_folders():
        features = load_features(images, described, home.common().features)
    if features is None:
        raise NoFeatures(f"the features of training {run.id} are not kept here; compute them once more")
    return features


def method_of(run: Run) -> Any:
    """The trained method of a run."""
    return method_class(run.settings["method"]).load(run.model_file)


@of_home()
def projection(run: Run) -> Projection | None:
    """The projection through which a run's method sees features; None where it sees them as they are."""
    return projection_of(run)


@of_home(needs="scores")
def ranking(run: Run, split: str) -> Ranking:
    """The samples of a split as a run ranks them, with the labels that it was measured by."""
    return _ranked(run, split, run.corrections)


def _ranked(run: Run, split: str, corrections: Sequence[str]) -> Ranking:
    images = image_set(run.settings["set"])
    scores = read_scores(run.scores_file, f"training {run.id}", len(images))
    rows = np.flatnonzero(images.test if split == "test" else ~images.test)
    return Ranking.of(rows, images.relevance(run.settings["query"], corrections)[rows], scores[rows])


def frames(run: Run, loss: str | None) -> Sequence[Frame]:
    """What a run has recorded so far, an entry per iteration; none where it has no recording. loss: that of its most
    violated ranking."""
    try:
        written = run.playback_file.stat().st_mtime_ns
    except FileNotFoundError:
        return ()
    shown: Sequence[Frame] = _frames_of(run, written, loss)
    return shown


@of_home()
def _frames_of(run: Run, written: int, loss: str | None) -> Sequence[Frame]:
    """written: when, so that the recording of a run that goes on is read again."""
    from ranking.explain.playback import frames_of, read_playback

    images = image_set(run.settings["set"])
    playback = read_playback(run.playback_file, len(images))
    if playback is None:
        return ()
    relevance = images.relevance(run.settings["query"], run.corrections)
    return frames_of(playback, relevance, images.test, loss)


def frames_of_sequence(run: Run, number: int) -> Sequence[Frame]:
    """What a run of orders has recorded so far of test sequence `number`, from 0; none where it was not recorded."""
    try:
        written = run.playback_file.stat().st_mtime_ns
    except FileNotFoundError:
        return ()
    shown: Sequence[Frame] = _frames_of_sequence(run, written, number)
    return shown


@of_home()
def _frames_of_sequence(run: Run, written: int, number: int) -> Sequence[Frame]:
    from ranking.experiments.order_training import (
        held_out_sequences,
        make_drawing,
        recorded_sequences,
        relevances,
    )
    from ranking.explain.playback import frames_of_sequence as framed
    from ranking.explain.playback import read_playback

    settings = OrderTrainSettings.from_json(run.settings)
    drawn = held_out_sequences(image_set(settings.set), settings)
    recorded = recorded_sequences(drawn.sequences)
    if number >= len(recorded):
        return ()
    playback = read_playback(run.playback_file, len(recorded.members))
    if playback is None:
        return ()
    relevance = list(relevances(drawn._replace(sequences=recorded), make_drawing(settings.drawing)))[number]
    part = slice(*recorded.starts[number : number + 2])
    return framed(playback, part, drawn.samples[recorded.sequence(number)], relevance)


@of_home()
def comparison(shown: Sequence[Run], split: str) -> Comparison:
    """The rankings of ended runs of one image set and one query, all by the original labels."""
    return Comparison.of([_ranked(run, split, ()) for run in shown])


@of_home(spinner="Drawing images again …")
def redrawn(shown: Sequence[Run], split: str) -> Resampled:
    """Their measures, and the same on images of the split that are drawn again; Gone where there are too few."""
    compared = comparison(shown, split)
    units = blocks_of(image_set(shown[0].settings["set"]), compared.samples)
    cutoffs = range(1, min(MOST_PLACES, len(compared.samples)) + 1)
    return intervals.resample(compared.relevance, compared.scores, units, cutoffs=cutoffs)


@of_home(entries=SOME, spinner="Ranking with weaker and stronger neighbours …", needs="model")
def strength_curve(run: Run) -> EdgeStrengthCurve:
    """The test samples of a run ranked with weaker and stronger neighbours. Only for a method that uses a graph."""
    from ranking.explain.edge_strength import edge_strength_curve

    images = image_set(run.settings["set"])
    described = TrainSettings.from_json(run.settings).features
    load_features(images, described, home.common().features)  # computes them where they are not kept
    return edge_strength_curve(neighbourhood(run), True, images.image_of, STRENGTHS)


@of_home(needs="model")
def direction(run: Run) -> Floats | None:
    """(d,) the direction, in the space of the features before any projection, in which the scores of a run's method
    grow; None where it has no weights."""
    direction = score_direction(method_of(run))
    through = projection(run)
    return direction if direction is None or through is None else through.before(direction)


@of_home(entries=SOME, spinner="Asking the neighbours …", needs="model")
def neighbourhood(run: Run) -> Neighbourhood:
    """What its neighbours did to each sample of a run's image set; Gone where its method is not the one that gave its
    scores."""
    from ranking.experiments.training import query_of
    from ranking.explain.neighbourhood import Neighbourhood

    images, settings = image_set(run.settings["set"]), TrainSettings.from_json(run.settings)
    features = features_of(run, settings.features)
    edges = home.store().edges_of(settings.set, settings.graph)
    query = query_of(images, settings, features, edges=edges, projection=projection(run))
    method = method_of(run)
    potentials = method.potentials_of(query)
    unary, penalty = method.model_of(query, potentials)
    relevant = images.relevance(settings.query, settings.corrections) > 0
    made = Neighbourhood.of(unary, potentials, penalty, relevant, images.test)
    rankings = [ranking(run, split) for split in splits(images)]
    scores = np.concatenate([ranked.scores for ranked in rankings])
    order = np.concatenate([ranked.samples for ranked in rankings])
    if not np.allclose(made.score[order], scores, rtol=1e-6, atol=1e-9 * np.abs(scores).max()):
        raise ValueError(
            f"the scores of training {run.id} are not those of the method that it left; train again"
        )
    return made


@of_home(spinner="Counting which labels come together …", needs="model")
def label_pairs(run: Run) -> LabelPairs:
    """What a label-ranking run learned of pairs, beside how often its training images have both; Gone where its method
    is not of the set's labels."""
    method, images = method_of(run), image_labels(run.settings["set"])
    unknown = [name for name in method.names if name not in images.names]
    if unknown:
        raise ValueError(
            f"the method of training {run.id} knows {unknown[0]!r}, which is no label of its set"
        )
    columns = [images.names.index(name) for name in method.names]
    labels = images.labels[~images.test][:, columns]
    return pairs_of_labels.label_pairs(method.names, method.core, method.weights.interactions, labels)


@of_home(needs="model")
def label_ranker(run: Run) -> tuple[LabelRanker, LabelSet]:
    """The method of a label-ranking run, and the images of its set as it sees them."""
    images, settings = image_set(run.settings["set"]), LabelTrainSettings.from_json(run.settings)
    features = projected(projection(run), features_of(run, settings.features))
    method, shown = method_of(run), label_set(images, features, settings.min_images)
    method.prediction(shown.part([0]))  # a ValueError says which labels or features it knows instead
    return method, shown


@of_home()
def label_entropy(run: Run) -> LabelEntropy:
    """The probabilities of single labels by a label-ranking run, fitted on its training images."""
    from ranking.explain.question_strategies import LabelEntropy

    method, shown = label_ranker(run)
    return LabelEntropy.fitted(method, shown.part(~shown.test))


@of_home(spinner="Reading the test sequences …", needs="scores")
def ordered(run: Run) -> Ordered:
    """The test sequences of a sequence-ranking run in the order that its method predicts."""
    from ranking.experiments.order_training import Ordered, held_out_sequences, make_drawing

    settings = OrderTrainSettings.from_json(run.settings)
    drawn = held_out_sequences(image_set(settings.set), settings)
    scores = read_scores(run.scores_file, f"training {run.id}", len(drawn.sequences.members))
    return Ordered.of(drawn, scores, make_drawing(settings.drawing))


@of_home(entries=SOME, needs="model")
def mid_rank(run: Run) -> tuple[MidRank, Features]:
    """The MidRank of a sequence-ranking run, and (n, d) the features of the pool of its test sequences."""
    from ranking.experiments.order_training import held_out_sequences

    settings = OrderTrainSettings.from_json(run.settings)
    features = projected(projection(run), features_of(run, settings.features))
    return method_of(run), held_out_sequences(image_set(settings.set), settings, features).sequences.features


@of_home(spinner="Searching …")
def tree_search(run: Run, number: int, length: int, trees: int) -> TreeSearch:
    """The search of a MidRank's ranker of one length for the best order of test sequence `number`, from 0."""
    from ranking.explain.tree_search import tree_search as search

    method, features = mid_rank(run)
    return search(method, length, features[ordered(run).sampled.sequences.sequence(number)], trees)


# ---------------------------------------------------------------------------------------------------------
# Experiments
# ---------------------------------------------------------------------------------------------------------


def findings(run: Run) -> Findings:
    """What is there of an experiment; of one that is running, as of a few seconds ago."""
    return _findings(*_as_of(run))


def differences(run: Run) -> list[Difference]:
    """By what each two methods of an experiment differ on each query, with the intervals on the test samples."""
    return _differences(*_as_of(run))


def _as_of(run: Run) -> tuple[str, str]:
    """The settings of an experiment, and what changes when there is more of it."""
    ended = run.state in ENDED
    when = f"{run.state} {run.parts_done}" if ended else f"{time.monotonic() // POLL_SECONDS}"
    return json.dumps(run.settings, sort_keys=True), when


@of_home()
def _findings(settings: str, when: str) -> Findings:
    from ranking.experiments.cross_validation.running import results_of
    from ranking.reports.at_home import trials_of
    from ranking.reports.findings import Findings

    plan, kept = _plan(settings), trials_of(home.store())
    return Findings(plan, results_of(plan, kept), image_set(plan.protocol.set), kept)


@of_home()
def _plan(settings: str) -> Plan:
    from ranking.experiments.cross_validation.plan import plan_of

    protocol = ExperimentSettings.from_json(json.loads(settings))
    return plan_of(protocol, image_set(protocol.set))


@of_home(spinner="Drawing test images again …")
def _differences(settings: str, when: str) -> list[Difference]:
    from ranking.reports.differences import differences

    return differences(_findings(settings, when))


# ---------------------------------------------------------------------------------------------------------
# Loss-augmented inference. token: the content hash of scores (n,) and relevant (n,)
# ---------------------------------------------------------------------------------------------------------


@st.cache_resource(show_spinner=False, max_entries=EACH)
def inference_problem(token: str, _scores: Floats, _relevant: Bools, loss: str) -> InferenceProblem:
    from ranking.explain.inference_steps import InferenceProblem

    return InferenceProblem.of(_scores, _relevant, loss)


def inference_trace(token: str, problem: InferenceProblem, algorithm: str) -> Trace:
    """All steps of an algorithm on the problem of that token and its loss."""
    return _inference_trace(token, problem.loss.name, algorithm, problem)


@st.cache_resource(show_spinner="Looking for the most violated ranking …", max_entries=64)
def _inference_trace(token: str, loss: str, algorithm: str, _problem: InferenceProblem) -> Trace:
    from ranking.explain.inference_steps import trace_of

    return trace_of(_problem, algorithm)
