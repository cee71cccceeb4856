"""Caches of image sets, runs and experiments, keyed by the data folder and by ids, never by arrays.

Streamlit hashes only a sample of a large array, and would return stale results.
"""

from __future__ import annotations

import io
import json
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st
from PIL import Image

from pages.parts.app import home
from pages.parts.app.home import EACH, SOME, of_home
from ranking import method_class
from ranking.core import Bools, Floats, ImageSet, Ints, LabelSet
from ranking.core.settings import Named
from ranking.datasets import Thumbnails, load_image_set
from ranking.datasets.label_sets import label_set
from ranking.datasets.splits import blocks_of
from ranking.explain import label_pairs as pairs_of_labels
from ranking.explain.label_pairs import LabelPairs
from ranking.features import cached_features, load_features
from ranking.features.projection import Projection, projected
from ranking.losses import RankingLoss
from ranking.methods import loss_of, score_direction
from ranking.metrics import intervals
from ranking.metrics.comparison import Comparison
from ranking.metrics.intervals import Interval, Resampled
from ranking.metrics.ranked import Ranking
from ranking.reports.markup import data_url
from ranking.storage import examples
from ranking.storage.run import ENDED, Run
from ranking.storage.run_files import projection_of, read_scores
from ranking.storage.run_settings import (
    ExperimentSettings,
    LabelTrainSettings,
    OrderTrainSettings,
    TrainSettings,
)

# these imports would load compiled modules before the first page is shown
if TYPE_CHECKING:
    from ranking.core import Features
    from ranking.experiments.cross_validation.plan import Plan
    from ranking.experiments.order_task import Ordered
    from ranking.explain.edge_strength import EdgeStrengthCurve
    from ranking.explain.inference_steps import InferenceProblem, Trace
    from ranking.explain.localisation import Localisation
    from ranking.explain.neighbourhood import Neighbourhood
    from ranking.explain.playback import Frame
    from ranking.explain.question_strategies import LabelEntropy
    from ranking.explain.training_planes import TrainingPlanes
    from ranking.explain.tree_search import TreeSearch
    from ranking.methods.label_ranker import LabelRanker
    from ranking.methods.mid_rank import MidRank
    from ranking.reports.differences import Difference
    from ranking.reports.findings import Findings

# longest side in pixels of an image that is encoded without loss
TINY = 80
# longest side in pixels of a whole image
WHOLE_SIDE = 1200
# pixels; decoding takes fifteen bytes per pixel, so larger images are decoded one at a time
LARGE = 12_000_000
# edge strengths, in multiples of the learned penalties
STRENGTHS = [step / 10 for step in range(21)]
# ranks that are shown of each compared ranking
MAX_PLACES = 20
# between two readings of the trials of a running experiment
POLL_SECONDS = 3.0

_large_image_lock = threading.Lock()


class NoFeatures(home.Gone):
    """The features of a run are not in the store's cache: it was trained elsewhere, or they were removed."""


# ---------------------------------------------------------------------------------------------------------
# Image sets
# ---------------------------------------------------------------------------------------------------------


def image_set(key: str) -> ImageSet:
    with home.missing_as_error():
        return _image_set_at(home.store().sets.folder(key))


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _image_set_at(folder: Path) -> ImageSet:
    """Return the image set in a folder: a set that many workspaces share is cached once."""
    return load_image_set(folder)


class GuardedThumbnails(Thumbnails):
    """Thumbnails whose files may be removed between two reads; Gone if one cannot be read."""

    def crop(self, i: int) -> bytes:
        with home.missing_as_error():
            return super().crop(i)

    def image(self, j: int) -> bytes:
        with home.missing_as_error():
            return super().image(j)


def thumbnails(key: str) -> Thumbnails:
    with home.missing_as_error():
        return _thumbnails_at(home.store().sets.folder(key))


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _thumbnails_at(folder: Path) -> Thumbnails:
    return GuardedThumbnails(folder)


def ready_made(source: str = "Action figures") -> tuple[ImageSet, Thumbnails]:
    """A bundled image set, read from the program's own folder without any store; Gone if it is missing."""
    folder = examples.folder_of(source)
    if not folder.is_dir():
        raise home.Gone(home.NO_EXAMPLES)
    with home.missing_as_error():
        return _ready_made(str(folder))


@st.cache_resource(show_spinner=False, max_entries=3)
def _ready_made(folder: str) -> tuple[ImageSet, Thumbnails]:
    return load_image_set(Path(folder)), GuardedThumbnails(Path(folder))


@of_home(entries=64)
def whole_image(key: str, image: int) -> str:
    """The image with index `image` as a data URL, its longest side at most WHOLE_SIDE."""
    return shrunk(image_set(key), image)


def shrunk(images: ImageSet, image: int) -> str:
    """The image with index `image` as a data URL, its longest side at most WHOLE_SIDE."""
    width, height = (int(side) for side in images.image_sizes[image])
    with _large_image_lock if width * height > LARGE else nullcontext():
        opened = images.open_image(image)
        opened.thumbnail((WHOLE_SIDE, WHOLE_SIDE), Image.Resampling.LANCZOS)
    stream = io.BytesIO()
    if max(opened.size) <= TINY:
        opened.save(stream, "WEBP", lossless=True)
        return data_url(stream.getvalue())
    # twenty times faster than WebP, and the visitor is waiting
    opened.save(stream, "JPEG", quality=88)
    return data_url(stream.getvalue(), "image/jpeg")


def splits(images: ImageSet) -> list[str]:
    """Those of the splits "test" and "train" that have samples."""
    return [split for split in ("test", "train") if (images.test == (split == "test")).any()]


@of_home()
def criteria(key: str) -> tuple[str, ...]:
    """The criteria of an image set; () if it has none."""
    # Not the cached image set: this reads all sets, the cache holds few.
    return home.store().sets.get(key).criteria


@of_home()
def image_labels(key: str) -> LabelSet:
    """The images of a set with the labels of all their samples, without features."""
    # not the cached image set: this reads all sets, the cache holds few
    images = home.store().sets.get(key)
    return label_set(images, np.zeros((len(images), 0), np.float32))


# ---------------------------------------------------------------------------------------------------------
# Training runs of any task
# ---------------------------------------------------------------------------------------------------------


def features_of(run: Run, described: Named) -> Features:
    """(n, d) features that a run learned from, before any projection; NoFeatures if they are not stored."""
    # The features of a shared run are computed when they are first needed, those of an example in about a
    # second.
    images = image_set(run.settings["set"])
    if run.shared:
        return load_features(images, described, home.common_features())
    features = cached_features(images, described, home.store().features.cache)
    if features is None:
        raise NoFeatures(f"the features of run {run.id} are not stored in this workspace; compute them again")
    return features


def _folder_of_features(run: Run) -> Path:
    return home.common_features() if run.shared else home.store().features.cache


def method_of(run: Run) -> Any:
    """The trained method of a run."""
    return method_class(run.settings["method"]).load(run.model_file)


@of_home()
def projection(run: Run) -> Projection | None:
    """The projection of a run's features; None without one."""
    return projection_of(run)


@of_home(needs="scores")
def ranking(run: Run, split: str) -> Ranking:
    """The ranking of a split by a run, with the labels that the run was evaluated with."""
    return _ranked(run, split, run.corrections)


def _ranked(run: Run, split: str, corrections: Sequence[str]) -> Ranking:
    images = image_set(run.settings["set"])
    scores = read_scores(run.scores_file, f"run {run.id}", len(images))
    rows = np.flatnonzero(images.test if split == "test" else ~images.test)
    return Ranking.of(rows, images.relevance(run.settings["query"], corrections)[rows], scores[rows])


def of_recording(build: Callable[..., Sequence[Frame]]) -> Callable[..., Sequence[Frame]]:
    """Cache the frames that a function builds from the recording of a run; () without a recording."""
    # The run is the first argument. Frames are built again when the recording changes or the run ends.

    @of_home()
    @wraps(build)
    def built(run: Run, written: int, ended: bool, *arguments: Any) -> Sequence[Frame]:
        return build(run, *arguments)

    @wraps(build)
    def get(run: Run, *arguments: Any) -> Sequence[Frame]:
        try:
            written = run.playback_file.stat().st_mtime_ns
        except FileNotFoundError:
            return ()
        shown: Sequence[Frame] = built(run, written, run.has_scores, *arguments)
        return shown

    get.clear = built.clear  # type: ignore[attr-defined]
    return get


@of_recording
def frames(run: Run) -> Sequence[Frame]:
    """The recorded iterations of a run that ranks samples."""
    from ranking.explain.playback import frames_of, read_playback

    images = image_set(run.settings["set"])
    playback = read_playback(run.playback_file, len(images))
    if playback is None:
        return ()
    relevance = images.relevance(run.settings["query"], run.corrections)
    loss = loss_of(run.settings["method"], run.settings["method_settings"])
    return frames_of(playback, relevance, images.test, loss)


@of_recording
def frames_of_sequence(run: Run, number: int) -> Sequence[Frame]:
    """The recorded iterations of a sequence-ranking run for the test sequence with index `number`."""
    from ranking.experiments.order_task import (
        held_out_sequences,
        make_drawing,
        recorded_sequences,
        relevances,
    )
    from ranking.explain.playback import frames_of_sequence as framed
    from ranking.explain.playback import read_playback

    settings = OrderTrainSettings.from_json(run.settings)
    held_out = held_out_sequences(image_set(settings.set), settings)
    recorded = recorded_sequences(held_out.sequences)
    if number >= len(recorded):
        return ()
    playback = read_playback(run.playback_file, len(recorded.members))
    if playback is None:
        return ()
    relevance = list(relevances(held_out._replace(sequences=recorded), make_drawing(settings.drawing)))[
        number
    ]
    part = slice(*recorded.starts[number : number + 2])
    return framed(playback, part, held_out.samples[recorded.sequence(number)], relevance)


@of_home()
def has_images(key: str) -> bool:
    """Whether a set has images, not only features."""
    # not the cached image set, as for `criteria`
    return home.store().sets.get(key).image_features is None


@of_home(needs="scores")
def localisation(run: Run) -> Localisation:
    """What a localisation run located."""
    from ranking.explain.localisation import read_localisation

    return read_localisation(run.localisation_file, len(image_set(run.settings["set"]).image_names))


@of_home()
def objects(key: str, query: str) -> list[Ints] | None:
    """The boxes (k, 4) of a class in each image; None where they are not known."""
    from ranking.explain.localisation import objects_of

    return objects_of(image_set(key), query)


@of_recording
def frames_of_images(run: Run, split: str) -> Sequence[Frame]:
    """The recorded rounds of a localisation run, for the images of a split."""
    from ranking.explain.playback import frames_of_images as framed
    from ranking.explain.playback import read_playback

    images, query = image_set(run.settings["set"]), run.settings["query"]
    playback = read_playback(run.playback_file, len(images.image_names))
    if playback is None:
        return ()
    parts = {PARTS[split]: np.flatnonzero(images.image_test == (split == "test")), **image_parts(images)}
    located = localisation(run) if run.has_scores else None
    ends = None if located is None else dict(zip(located.starts.tolist(), located.objectives, strict=True))
    return framed(playback, images.image_relevance(query), parts, objects(images.key, query), ends)


# the names of splits in measures such as “CorLoc, test”
PARTS = {"test": "test", "train": "training"}


def image_parts(images: ImageSet) -> dict[str, Ints]:
    """The images of each split that has some, by the name of the split in measures."""
    parts = {name: np.flatnonzero(images.image_test == (split == "test")) for split, name in PARTS.items()}
    return {name: rows for name, rows in parts.items() if len(rows)}


@of_home()
def comparison(shown: Sequence[Run], split: str) -> Comparison:
    """The rankings of ended runs with the same image set and query, all with the original labels."""
    return Comparison.of([_ranked(run, split, ()) for run in shown])


@of_home(spinner="Resampling images …")
def redrawn(shown: Sequence[Run], split: str) -> Resampled:
    """Their measures, also on resampled images of the split (bootstrap); Gone if there are too few images."""
    compared = comparison(shown, split)
    units = blocks_of(image_set(shown[0].settings["set"]), compared.samples)
    cutoffs = range(1, min(MAX_PLACES, len(compared.samples)) + 1)
    return intervals.resample(compared.relevance, compared.scores, units, cutoffs=cutoffs)


@of_home(entries=SOME, spinner="Ranking at different edge strengths …", needs="model")
def strength_curve(run: Run) -> EdgeStrengthCurve:
    """The test samples of a run ranked at each of STRENGTHS."""
    # Only for a method that uses the similarity graph.
    from ranking.explain.edge_strength import edge_strength_curve

    images = image_set(run.settings["set"])
    described = TrainSettings.from_json(run.settings).features
    # computes them if they are not stored
    load_features(images, described, _folder_of_features(run))
    return edge_strength_curve(neighbourhood(run), True, images.image_of, STRENGTHS)


@of_home(
    entries=SOME, spinner="Training again and solving the program over the planes in CVXPY …", needs="model"
)
def training_planes(run: Run) -> TrainingPlanes:
    """The cutting planes of a run with a ranking loss, whose training is repeated."""
    from ranking.experiments.sample_task import query_of
    from ranking.explain.training_planes import training_planes as find

    images, settings = image_set(run.settings["set"]), TrainSettings.from_json(run.settings)
    features = load_features(images, settings.features, _folder_of_features(run))
    relevance = images.relevance(settings.query, settings.corrections)
    query = query_of(images, settings, features, relevance, ~images.test, projection=projection(run))
    return find(method_of(run), query)


@of_home(needs="model")
def direction(run: Run) -> Floats | None:
    """(d,) direction in which the scores of a run's method increase; None if the method has no weights."""
    # In the feature space before any projection.
    direction = score_direction(method_of(run))
    through = projection(run)
    return direction if direction is None or through is None else through.before(direction)


@of_home(entries=SOME, spinner="Computing max-marginals …", needs="model")
def neighbourhood(run: Run) -> Neighbourhood:
    """The effect of neighbours on each sample of a run's image set; Gone if the scores are not current."""
    # Current: those of the run's stored method.
    from ranking.experiments.sample_task import query_of
    from ranking.explain.neighbourhood import Neighbourhood

    images, settings = image_set(run.settings["set"]), TrainSettings.from_json(run.settings)
    features = features_of(run, settings.features)
    edges = home.store().features.edges_of(settings.set, settings.graph)
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
        raise ValueError(f"the scores of run {run.id} are not those of its stored model; train again")
    return made


@of_home(spinner="Counting label co-occurrences …", needs="model")
def label_pairs(run: Run) -> LabelPairs:
    """The learned interactions of a label-ranking run, and co-occurrences of labels in training images."""
    # Gone if the set lacks a label of the run's method.
    method, images = method_of(run), image_labels(run.settings["set"])
    unknown = [name for name in method.names if name not in images.names]
    if unknown:
        raise ValueError(f"the model of run {run.id} has the label {unknown[0]!r}, which its image set lacks")
    columns = [images.names.index(name) for name in method.names]
    labels = images.labels[~images.test][:, columns]
    return pairs_of_labels.label_pairs(method.names, method.core, method.weights.interactions, labels)


@of_home(needs="model")
def label_ranker(run: Run) -> tuple[LabelRanker, LabelSet]:
    """The method of a label-ranking run, and the images of its set with the run's features and labels."""
    images, settings = image_set(run.settings["set"]), LabelTrainSettings.from_json(run.settings)
    features = projected(projection(run), features_of(run, settings.features))
    method, shown = method_of(run), label_set(images, features, settings.min_images)
    # raises a ValueError if its labels or features differ
    method.prediction(shown.part([0]))
    return method, shown


@of_home()
def label_entropy(run: Run) -> LabelEntropy:
    """The label probabilities of a label-ranking run, fitted on its training images."""
    from ranking.explain.question_strategies import LabelEntropy

    method, shown = label_ranker(run)
    return LabelEntropy.fitted(method, shown.part(~shown.test))


@of_home(spinner="Reading the test sequences …", needs="scores")
def ordered(run: Run) -> Ordered:
    """The test sequences of a sequence-ranking run in the predicted order."""
    from ranking.experiments.order_task import Ordered, held_out_sequences, make_drawing

    settings = OrderTrainSettings.from_json(run.settings)
    held_out = held_out_sequences(image_set(settings.set), settings)
    scores = read_scores(run.scores_file, f"run {run.id}", len(held_out.sequences.members))
    return Ordered.of(held_out, scores, make_drawing(settings.drawing))


@of_home(entries=SOME, needs="model")
def mid_rank(run: Run) -> tuple[MidRank, Features]:
    """The MidRank model of a sequence-ranking run, and the (n, d) features of its pool of test samples."""
    from ranking.experiments.order_task import held_out_sequences

    settings = OrderTrainSettings.from_json(run.settings)
    features = projected(projection(run), features_of(run, settings.features))
    return method_of(run), held_out_sequences(image_set(settings.set), settings, features).sequences.features


@of_home(spinner="Searching …")
def tree_search(run: Run, number: int, length: int, trees: int) -> TreeSearch:
    """The search of MidRank's ranker of one length for the best order of a test sequence."""
    from ranking.explain.tree_search import tree_search as search

    method, features = mid_rank(run)
    return search(method, length, features[ordered(run).sampled.sequences.sequence(number)], trees)


# ---------------------------------------------------------------------------------------------------------
# Experiments
# ---------------------------------------------------------------------------------------------------------


def findings(run: Run) -> Findings:
    """The results of an experiment so far; if it is running, they are at most POLL_SECONDS old."""
    return _findings(*_as_of(run))


def differences(run: Run) -> list[Difference]:
    """The differences between each two methods of an experiment per query, on the test samples."""
    # With intervals.
    return _differences(*_as_of(run))


def difference_on_test(run: Run, query: str, left: str, right: str) -> Interval | None:
    """The difference of two methods of an experiment on the test samples, as `differences` has it."""
    return _difference_on_test(*_as_of(run), query, left, right)


def _as_of(run: Run) -> tuple[str, str]:
    """The settings of an experiment, and a key that changes when there are more results."""
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


@of_home(entries=SOME)
def _difference_on_test(settings: str, when: str, query: str, left: str, right: str) -> Interval | None:
    from ranking.reports.differences import difference_on_test

    return difference_on_test(_findings(settings, when), query, left, right)


@of_home(spinner="Resampling test images …")
def _differences(settings: str, when: str) -> list[Difference]:
    from ranking.reports.differences import differences

    return differences(_findings(settings, when))


# ---------------------------------------------------------------------------------------------------------
# Loss-augmented inference. token: the content hash of scores (n,) and relevant (n,)
# ---------------------------------------------------------------------------------------------------------


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _inference_problem(
    token: str, loss: str, _scores: Floats, _relevant: Bools, _loss: RankingLoss
) -> InferenceProblem:
    from ranking.explain.inference_steps import InferenceProblem

    return InferenceProblem.of(_scores, _relevant, _loss)


def inference_problem(token: str, scores: Floats, relevant: Bools, loss: RankingLoss) -> InferenceProblem:
    return _inference_problem(token, loss.key, scores, relevant, loss)


def inference_trace(token: str, problem: InferenceProblem, algorithm: str) -> Trace:
    """All steps of an algorithm on the problem with this token and loss."""
    return _inference_trace(token, problem.loss.key, algorithm, problem)


@st.cache_resource(show_spinner="Searching for the most violated ranking …", max_entries=64)
def _inference_trace(token: str, loss: str, algorithm: str, _problem: InferenceProblem) -> Trace:
    from ranking.explain.inference_steps import trace_of

    return trace_of(_problem, algorithm)
