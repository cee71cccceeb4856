"""Every cache of the pages. Keys are content keys (image set, run) and the home folder, never arrays:
Streamlit samples large arrays when it hashes them, and would return stale answers."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np
import streamlit as st
from PIL import Image

from pages.parts import rooms
from pages.parts.picture import data_url
from ranking import jobs, method_class
from ranking.answers import AnswerStore
from ranking.comparison import Comparison
from ranking.datasets import Thumbnails, load_image_set, ready_made_folder
from ranking.features import cached_features, load_features
from ranking.features.projection import Projection, projected
from ranking.intervals import Redrawn
from ranking.intervals import redrawn as draw_again
from ranking.label_pairs import LabelPairs
from ranking.label_pairs import label_pairs as label_pairs_of
from ranking.label_sets import label_set
from ranking.methods import score_direction
from ranking.ranked import Ranking
from ranking.run import ENDED, Run
from ranking.run_settings import (
    ExperimentSettings,
    LabelTrainSettings,
    Named,
    OrderTrainSettings,
    TrainSettings,
)
from ranking.store import Store
from ranking.types import Bools, Floats, ImageSet, LabelSet

if TYPE_CHECKING:  # what this imports would load compiled parts before the first picture
    from pages.parts.pair_cues import Examples
    from ranking.asking import LabelEntropy
    from ranking.experiments.plan import Plan
    from ranking.inference_steps import Problem, Trace
    from ranking.leaning import Leaning
    from ranking.methods.label_ranker import LabelRanker
    from ranking.methods.mid_rank import MidRank
    from ranking.neighbourhood import Neighbourhood
    from ranking.order_training import Ordered
    from ranking.reports.differences import Difference
    from ranking.reports.findings import Findings
    from ranking.tree_search import TreeSearch
    from ranking.types import Features

EACH = 32  # entries of a cache: a class of thirty looks at one each, in thirty rooms
SOME = 8  # where an entry takes much memory
STRENGTHS = [step / 10 for step in range(21)]  # of neighbours, of what was learnt
MOST_PLACES = 20  # places of each of several rankings that are shown
MOST_LOOKED_AT = 1000  # samples among which the lesson about pairs looks for them
TINY = 80  # longest side of an image of which every pixel counts
LOOK_SECONDS = 3.0  # between two looks at the trainings of an experiment that goes on
WHOLE_SIDE = 1200  # longest side of an image that is shown whole


class Gone(Exception):
    """Something that the address or a run names is not there (any more). The message says what to do."""


class NoFeatures(Gone):
    """The features of a run are not in the store's cache: it was trained elsewhere, or somebody tidied up."""


def store() -> Store:
    """The store of the home that the visitor works in; what dead workers left is settled when it is first opened.

    Beside the page, where files are made that a person takes along, what needs it is wrapped in `rooms.kept`.
    """
    return _store(rooms.here())


def common() -> Store:
    """The store of what comes with the program, which all rooms are lent; without rooms the one and only."""
    return _store(str(rooms.all_rooms().bundled)) if rooms.used() else store()


@st.cache_resource(show_spinner=False)
def _store(home: str | None) -> Store:
    opened = Store(home)
    jobs.recover(opened)
    return opened


@contextmanager
def or_gone() -> Iterator[None]:
    """What the store lacks, or cannot read, comes as Gone, which pages show; any other error is a defect of ours."""
    try:
        yield
    except (ValueError, OSError, EOFError, BadZipFile) as error:
        raise Gone(str(error)) from error


def image_set(key: str) -> ImageSet:
    with or_gone():
        return _image_set(str(store().home), key)


def _image_set(home: str, key: str) -> ImageSet:
    return _image_set_at(_home_of_set(home, key), key)


def _home_of_set(home: str, key: str) -> str:
    """Where the set lies, so that what many rooms are lent is here once."""
    return str(_opened(home).home_of_set(key))


@st.cache_resource(show_spinner=False)
def _opened(home: str) -> Store:
    return Store(home)


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _image_set_at(home: str, key: str) -> ImageSet:
    return Store(home).image_set(key)


class GuardedThumbnails(Thumbnails):
    """Thumbnails whose files may go away between two reads: what cannot be read comes as Gone."""

    def crop(self, i: int) -> bytes:
        with or_gone():
            return super().crop(i)

    def image(self, j: int) -> bytes:
        with or_gone():
            return super().image(j)


def thumbnails(key: str) -> Thumbnails:
    with or_gone():
        return _thumbnails(str(store().home), key)


def _thumbnails(home: str, key: str) -> Thumbnails:
    return _thumbnails_at(_home_of_set(home, key), key)


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _thumbnails_at(home: str, key: str) -> Thumbnails:
    return GuardedThumbnails(_image_set_at(home, key).folder)


def ready_made() -> tuple[ImageSet, Thumbnails]:
    """The scenes that come with the program, from where they lie, which needs no home; Gone where they did not."""
    folder = ready_made_folder()
    if folder is None:
        raise Gone(
            "the scenes of data/action_figures did not come with this installation; run the laboratory from its "
            "own folder, as README.md says"
        )
    with or_gone():
        return _ready_made(str(folder))


@st.cache_resource(show_spinner=False, max_entries=1)
def _ready_made(folder: str) -> tuple[ImageSet, Thumbnails]:
    return load_image_set(Path(folder)), GuardedThumbnails(Path(folder))


def whole_image(key: str, image: int) -> str:
    """Image number `image` as a data URL, its longest side at most WHOLE_SIDE."""
    with or_gone():
        return _whole_image(str(store().home), key, image)


@st.cache_data(show_spinner=False, max_entries=64)
def _whole_image(home: str, key: str, image: int) -> str:
    return shrunk(_image_set(home, key), image)


def shrunk(images: ImageSet, image: int) -> str:
    """Image number `image` of a set as a data URL, its longest side at most WHOLE_SIDE."""
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


# ---------------------------------------------------------------------------------------------------------
# What trainings left
# ---------------------------------------------------------------------------------------------------------


def _needs(there: bool, run: Run, what: str) -> None:
    if not there:
        raise Gone(f"training {run.id} is {run.state} and has no {what}; train again")


def _scores(run: Run, count: int, each: str) -> Floats:
    """(count,) the scores of a training, one `each`; ValueError where they cannot be read, or are others."""
    try:
        scores: Floats = np.load(run.scores_file, allow_pickle=False)
    except (ValueError, OSError, EOFError, BadZipFile) as error:
        raise ValueError(f"the scores of training {run.id} cannot be read ({error}); train again") from error
    if scores.shape != (count,):
        raise ValueError(
            f"training {run.id} must have {count} scores, one {each}, it has {scores.shape}; train again"
        )
    return scores


def _features(home: str, run_id: str, images: ImageSet, described: Named) -> Features:
    """(n, d) the features that a training learnt from, before any projection; NoFeatures where they are not kept."""
    features = cached_features(images, described, Store(home).features)
    if features is None:
        raise NoFeatures(f"the features of training {run_id} are not kept here; compute them once more")
    return features


def ranking(run: Run, split: str) -> Ranking:
    """The ranking of an ended run; Gone where it left no scores."""
    _needs(run.has_scores, run, "scores")
    with or_gone():
        return _ranking(str(store().home), run.id, split)


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _ranking(home: str, run_id: str, split: str) -> Ranking:
    run = Store(home).run(run_id)
    images = _image_set(home, run.settings["set"])
    scores = _scores(run, len(images), "a sample")
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


def redrawn(shown: Sequence[Run], split: str) -> Redrawn:
    """Their measures, and the same on images of the split that are drawn again; Gone where there are too few."""
    compared = comparison(shown, split)
    with or_gone():
        return _redrawn(
            str(store().home), tuple(run.id for run in shown), split, shown[0].settings["set"], compared
        )


@st.cache_resource(show_spinner="Drawing images again …", max_entries=EACH)
def _redrawn(home: str, run_ids: tuple[str, ...], split: str, set_key: str, _compared: Comparison) -> Redrawn:
    units = _image_set(home, set_key).groups[_compared.samples]
    cutoffs = range(1, min(MOST_PLACES, len(_compared.samples)) + 1)
    return draw_again(_compared.relevance, _compared.scores, units, cutoffs=cutoffs)


def leaning(run: Run) -> Leaning:
    """The test samples of a run ranked with weaker and stronger neighbours; Gone where the run left no method.

    Only for a method that uses a graph (`ranking.methods.high_order`).
    """
    _needs(run.has_model, run, "method")
    with or_gone():
        return _leaning(str(store().home), run.id)


@st.cache_resource(show_spinner="Ranking with weaker and stronger neighbours …", max_entries=SOME)
def _leaning(home: str, run_id: str) -> Leaning:
    from ranking.leaning import leaning as leaning_of

    kept = Store(home)
    settings = TrainSettings.from_json(kept.run(run_id).settings)
    images = _image_set(home, settings.set)
    load_features(images, settings.features, kept.features)  # computes them where they are not kept
    return leaning_of(_neighbourhood(home, run_id), True, images.image_of, STRENGTHS)


def projection(run: Run) -> Projection | None:
    """The projection through which a run's method sees features; None where it sees them as they are, Gone where it is
    gone."""
    with or_gone():
        return _projection(str(store().home), run.id)


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _projection(home: str, run_id: str) -> Projection | None:
    from ranking.training import projection_of

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
    features = projected(_projection(home, run_id), _features(home, run_id, images, settings.features))
    method = method_class(settings.method).load(run.model_file)
    shown = label_set(images, features, settings.min_images)
    method.prediction(shown.part([0]))  # a ValueError says which labels or features it knows instead
    return method, shown


def label_entropy(run: Run) -> LabelEntropy:
    """The probabilities of the labels of a training by themselves, fitted on its training images."""
    with or_gone():
        return _label_entropy(str(store().home), run.id)


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _label_entropy(home: str, run_id: str) -> LabelEntropy:
    from ranking.asking import LabelEntropy

    method, shown = _label_ranker(home, run_id)
    return LabelEntropy.fitted(method, shown.part(~shown.test))


def criteria(key: str) -> tuple[str, ...]:
    """By what the samples of an image set can be put in order; () where that cannot be known."""
    with or_gone():
        return _criteria(str(store().home), key)


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _criteria(home: str, key: str) -> tuple[str, ...]:
    return Store(home).image_set(key).criteria  # not from the cache, which holds few: all sets are looked at


def pair_examples(key: str, criterion: str) -> tuple[Examples, Floats]:
    """Pairs and a sequence of training samples for the lesson about pairs, and (n, c) the cues of all samples, NaN of
    those that are not looked at; Gone where a set has no such pairs."""
    with or_gone():
        return _pair_examples(str(store().home), key, criterion)


@st.cache_data(show_spinner="Looking for pairs …", max_entries=SOME)
def _pair_examples(home: str, key: str, criterion: str) -> tuple[Examples, Floats]:
    from pages.parts.pair_cues import Examples, all_cues, find_examples

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
    from ranking.order_training import Ordered, drawn_for_test, make_drawing

    run = Store(home).run(run_id)
    settings = OrderTrainSettings.from_json(run.settings)
    drawn = drawn_for_test(_image_set(home, settings.set), settings)
    scores = _scores(run, len(drawn.sequences.members), "a member of its test sequences")
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
    from ranking.order_training import drawn_for_test

    run = Store(home).run(run_id)
    images, settings = _image_set(home, run.settings["set"]), OrderTrainSettings.from_json(run.settings)
    features = projected(_projection(home, run_id), _features(home, run_id, images, settings.features))
    method = method_class(settings.method).load(run.model_file)
    return method, drawn_for_test(images, settings, features).sequences.features


def tree_search(run: Run, number: int, length: int, trees: int) -> TreeSearch:
    """The search of a MidRank's ranker of one length for the best order of test sequence `number`, from 0."""
    mid_rank(run)
    with or_gone():
        return _tree_search(str(store().home), run.id, number, length, trees)


@st.cache_resource(show_spinner="Searching …", max_entries=EACH)
def _tree_search(home: str, run_id: str, number: int, length: int, trees: int) -> TreeSearch:
    from ranking.tree_search import tree_search as search

    method, features = _mid_rank(home, run_id)
    rows = _ordered(home, run_id).drawn.sequences.sequence(number)
    return search(method, length, features[rows], trees)


def neighbourhood(run: Run) -> Neighbourhood:
    """What its neighbours did to each sample of a run's image set; NoFeatures where it would first have to compute
    features, Gone where the run left no method, or one that is not the one that gave its scores."""
    _needs(run.has_model, run, "method")
    with or_gone():
        return _neighbourhood(str(store().home), run.id)


@st.cache_resource(show_spinner="Asking the neighbours …", max_entries=SOME)
def _neighbourhood(home: str, run_id: str) -> Neighbourhood:
    from ranking.neighbourhood import Neighbourhood
    from ranking.training import query_of

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


def findings(run: Run) -> Findings:
    """What is there of an experiment, of one that goes on a few seconds ago; Gone where its image set is not here."""
    with or_gone():
        return _findings(*_as_of(run))


def differences(run: Run) -> list[Difference]:
    """By what each two methods of an experiment differ on each query, with the intervals on the test samples."""
    with or_gone():
        return _differences(*_as_of(run))


def _as_of(run: Run) -> tuple[str, str, str]:
    """The home, the settings, and what changes when there is more of an experiment."""
    when = (
        f"{run.state} {run.trainings_done}" if run.state in ENDED else f"{time.monotonic() // LOOK_SECONDS}"
    )
    return str(store().home), json.dumps(run.settings, sort_keys=True), when


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _findings(home: str, settings: str, when: str) -> Findings:
    from ranking.experiments.at_home import cells_of
    from ranking.experiments.running import results_of
    from ranking.reports.findings import Findings

    plan, kept = _plan(home, settings), cells_of(Store(home))
    return Findings(plan, results_of(plan, kept), _image_set(home, plan.protocol.set), kept)


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _plan(home: str, settings: str) -> Plan:
    from ranking.experiments.plan import plan_of

    asked = ExperimentSettings.from_json(json.loads(settings))
    return plan_of(asked, _image_set(home, asked.set))


@st.cache_resource(show_spinner="Drawing test images again …", max_entries=EACH)
def _differences(home: str, settings: str, when: str) -> list[Difference]:
    from ranking.reports.differences import differences

    return differences(_findings(home, settings, when))


def inference_problem(token: str, scores: Floats, relevant: Bools, loss: str) -> Problem:
    """The problem of loss-augmented inference on scores (n,); `token`: the content hash of scores and relevant."""
    return _inference_problem(token, scores, relevant, loss)


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _inference_problem(token: str, _scores: Floats, _relevant: Bools, loss: str) -> Problem:
    from ranking.inference_steps import Problem

    return Problem.of(_scores, _relevant, loss)


def inference_trace(token: str, problem: Problem, algorithm: str) -> Trace:
    """All steps of an algorithm on the problem of that token and its loss."""
    return _inference_trace(token, problem.loss.name, algorithm, problem)


@st.cache_resource(show_spinner="Looking for the most violated ranking …", max_entries=64)
def _inference_trace(token: str, loss: str, algorithm: str, _problem: Problem) -> Trace:
    from ranking.inference_steps import trace_of

    return trace_of(_problem, algorithm)
