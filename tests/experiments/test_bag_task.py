"""Training on images as bags of windows: what it learns from, what it measures, and what its run keeps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hidden_squares import hidden_squares, settings_of
from image_sets import image_set
from refusals import refusal, refused

from ranking import method_names
from ranking.experiments.bag_task import BagTask, bags_of
from ranking.experiments.recording import Recorder
from ranking.experiments.tasks import train
from ranking.explain.localisation import objects_of
from ranking.explain.playback import Playback, frames_of_images, part_localisation
from ranking.metrics import evaluate
from ranking.metrics.detection import detection_average_precision


@pytest.fixture(scope="module")
def squares(tmp_path_factory):
    return hidden_squares(tmp_path_factory.mktemp("squares") / "set")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("windows")


@pytest.mark.parametrize("method", method_names(ranks="windows"))
def test_training_finds_squares_and_its_measures_are_those_of_its_boxes(squares, cache, method):
    trained = train(squares, settings_of(squares.key, method), cache)
    located, relevance = trained.measured.localisation, squares.image_relevance("red")
    assert trained.method.learned
    assert trained.scores.shape == (len(squares.image_names),)
    objects = objects_of(squares, "red")
    for part, rows in (("train", ~squares.image_test), ("test", squares.image_test)):
        metrics = dict(trained.metrics[part])
        assert metrics.pop("CorLoc") == part_localisation(located.boxes, objects, np.flatnonzero(rows))
        assert (metrics.pop("detection AP", None) is None) == (part == "train")
        assert metrics.pop("window recall", None) == (None if part == "train" else 1.0)
        assert metrics == evaluate(relevance[rows], trained.scores[rows])
    assert trained.metrics["test"]["AP"] > 0.8
    tested = np.flatnonzero(squares.image_test)
    assert {*located.detected.tolist()} <= {*tested.tolist()}
    expected = detection_average_precision(located.by_image(tested), [objects[row] for row in tested])
    assert trained.metrics["test"]["detection AP"] == expected
    assert located.starts.tolist() == ["whole image"]


def test_a_training_is_repeatable_and_does_not_see_the_true_boxes(squares, cache):
    settings = settings_of(squares.key)
    first = train(squares, settings, cache)
    elsewhere = replace(squares, boxes=np.roll(squares.boxes, 1, axis=0))
    for images in (squares, elsewhere):
        again = train(images, settings, cache)
        assert again.scores.tobytes() == first.scores.tobytes()
        assert (again.measured.localisation.boxes == first.measured.localisation.boxes).all()
    assert again.metrics != first.metrics, "the boxes matter to the measures"


def test_every_round_that_lowered_the_objective_is_recorded_with_its_boxes(squares, cache):
    recordings: list[Playback] = []
    events = []
    settings = settings_of(squares.key, start="several")
    trained = train(
        squares, settings, cache, recorder=Recorder(recordings.append), on_iteration=events.append
    )
    playback = recordings[-1]
    assert (np.diff(playback.primal[:-1]) < 0).all()
    falls = {event.primal for event in events}
    assert {*playback.primal[:-1].tolist()} <= falls
    assert playback.primal[-1] == min(falls) == pytest.approx(trained.certificate.primal)
    located = trained.measured.localisation
    assert (playback.boxes[-1] == located.boxes).all()
    assert (playback.boxes[0] == [0, 0, *squares.image_sizes[0]]).all(), (
        "at weights 0 the whole image is first"
    )
    assert located.starts.tolist() == list(trained.method.ends)
    lowest = int(np.argmin(located.objectives))
    assert (located.start_boxes[lowest] == located.boxes).all()
    assert located.objectives[lowest] == pytest.approx(trained.certificate.primal)
    tested, learned = (np.flatnonzero(squares.image_test == part) for part in (True, False))
    parts, objects = {"test": tested, "training": learned}, objects_of(squares, "red")
    frames = frames_of_images(playback, squares.image_relevance("red"), parts, objects)
    assert [frame.primal for frame in frames] == sorted(falls, reverse=True), "each fall once, also the last"
    for frame, boxes in zip(frames, playback.boxes, strict=False):
        assert (frame.boxes == boxes[frame.top]).all()
        assert (frame.top == frames[-1].top).all()
    assert frames[-1].ranks == tuple(range(1, 13))
    relevant = squares.image_relevance("red")[frames[0].top] > 0
    ranks = np.array(frames[0].ranks)
    assert ranks[relevant].min() > ranks[~relevant].max(), (
        "at weights 0 all are tied: irrelevant ones come first"
    )
    assert frames[0].measures["CorLoc, test"] == 0
    for part, name in (("test", "CorLoc, test"), ("train", "CorLoc, training")):
        assert frames[-1].measures[name] == trained.metrics[part]["CorLoc"]
    assert frames[-1].measures["AP, test"] == pytest.approx(trained.metrics["test"]["AP"])


def test_true_boxes_are_known_where_they_are_not_whole_images(squares):
    whole = image_set([0, 0, 1], [False, True], classes=("a",), labels=np.array([[True], [False], [True]]))
    assert objects_of(whole, "a") is None
    objects = objects_of(squares, "green")
    for image, boxes in enumerate(objects):
        rows = (squares.image_of == image) & (squares.relevance("green") > 0)
        assert (boxes == squares.boxes[rows]).all()
    assert [bool(len(boxes)) for boxes in objects] == squares.image_relevance("green").astype(bool).tolist()


def test_an_image_shows_what_any_of_its_samples_shows():
    labels = np.array([[True], [False], [False], [False]])
    images = image_set([0, 0, 1, 2], [False, False, True], classes=("a",), labels=labels)
    assert images.image_relevance("a").tolist() == [1, 0, 0]
    with refused("class of Set", "'b'"):
        images.image_relevance("b")


def test_without_known_boxes_there_is_no_measure_of_them(squares, cache):
    sizes = squares.image_sizes[squares.image_of]
    whole = replace(squares, boxes=np.hstack([np.zeros_like(sizes), sizes]))
    metrics = train(whole, settings_of(squares.key), cache).metrics
    assert not {"CorLoc", "detection AP"} & (metrics["train"].keys() | metrics["test"].keys())


def test_bags_of_some_images_are_theirs(squares, cache):
    bags = BagTask().data(squares, settings_of(squares.key), cache, None, None)[0].bags
    part = bags_of(bags, squares.image_test)
    assert part.ids.tolist() == squares.image_names[squares.image_test].tolist()
    for number, image in enumerate(np.flatnonzero(squares.image_test)):
        ours = slice(*part.starts[number : number + 2])
        theirs = slice(*bags.starts[image : image + 2])
        assert (part.windows[ours] == bags.windows[theirs]).all()
        assert (part.boxes[ours] == bags.boxes[theirs]).all()


def test_settings_that_make_no_training_are_refused(squares, cache):
    settings = settings_of(squares.key)
    for changes, subject in (
        ({"method": "AP-SVM"}, "method"),
        ({"query": "blue"}, "class of Hidden squares"),
        ({"windows": {"sauce": "grid"}}, "windows"),
        ({"windows": {"source": "tiles"}}, "source of windows"),
        ({"windows": {"most": True}}, "most of windows"),
    ):
        result = refusal(train, squares, replace(settings, **changes), cache)
        assert result is not None, changes
        assert result[0] == subject, changes
    alone = replace(squares, labels=np.zeros_like(squares.labels))
    with refused(
        "training images of Hidden squares", f"none of {np.count_nonzero(~squares.image_test)} show it"
    ):
        train(alone, settings, cache)
    features = np.zeros((len(squares.image_names), 2), np.float32)
    with refused("set"):
        train(replace(squares, image_features=features), settings, cache)
