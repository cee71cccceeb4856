"""The play bar on the page Train: its data, the run beside, and runs without a recording."""

from __future__ import annotations

import json

import numpy as np
from filled_home import train_here
from shown import captions, components, numbers_in, turn_to, warnings

from pages.parts.training.playback import words
from ranking.explain.playback import Frame, frames_of, read_playback
from ranking.storage.run import Run


def bars_of(app):
    return components(app, "ranking_play_bar")


def frames_in(store, run: Run) -> list[Frame]:
    images = store.sets.get(run.settings["set"])
    playback = read_playback(run.playback_file, len(images))
    assert playback is not None
    return frames_of(playback, images.relevance(run.settings["query"]), images.test, "ap")


def test_the_bar_has_every_recorded_iteration_and_a_tile_of_each_sample(laboratory, open_page):
    store = laboratory.store
    run = store.runs.get(laboratory.finished)
    app = open_page("train", run=run.id)
    [bar] = bars_of(app)
    frames = frames_in(store, run)
    [lane] = bar["lanes"]
    assert [frame["iteration"] for frame in lane["frames"]] == [frame.iteration for frame in frames]
    assert bar["steps"] == [frame.iteration for frame in frames]
    relevance = store.sets.get(run.settings["set"]).relevance(run.settings["query"])
    for given, frame in zip(lane["frames"], frames, strict=True):
        assert given["top"] == [str(row) for row in frame.top]
        assert dict(given["facts"])["AP"] == f"{frame.measures['AP']:.3f}"
        assert given["values"]["primal"] == frame.primal
        for row in (*given["top"], *(row for row, _ in given["moved_up"])):
            assert (bar["tiles"][row]["mark"] == "relevant") == bool(relevance[int(row)])
    assert lane["curves"] == ["primal", "dual"]
    assert dict(lane["frames"][-1]["facts"])["AP"] == f"{run.result['test']['AP']:.3f}"
    assert any(frame["moved_up"] for frame in lane["frames"])
    best = max(frame.measures["AP"] for frame in frames)
    assert f"{best:.3f}" in captions(app)
    json.dumps(bar, allow_nan=False)


def test_an_svm_stands_beside_an_ap_svm_that_learned_the_same_and_another_can_be_chosen(
    laboratory, open_page
):
    store = laboratory.store
    svm_of_3 = train_here(store, laboratory.digits, "3", "SVM")
    svm_of_4 = train_here(store, laboratory.digits, "4", "SVM")
    again = train_here(store, laboratory.digits, "3", "NDCG-SVM")
    app = open_page("train", run=laboratory.finished)
    [bar] = bars_of(app)
    assert [bool(lane["violated"]) for lane in bar["lanes"]] == [True, False]
    assert bar["token"].split()[:2] == [laboratory.finished, svm_of_3.id]
    options = app.selectbox(key="widget played").options
    assert len(options) == 3, "none, and the two of the same query"
    for chosen, lanes in (("none", 1), (again.id, 2), (svm_of_4.id, 2)):
        turn_to(app, run=laboratory.finished, played=chosen)
        [bar] = bars_of(app)
        assert len(bar["lanes"]) == lanes
        assert (chosen in bar["token"]) == (chosen == again.id)


def test_damaged_recordings_are_named_and_missing_ones_not_shown(laboratory, open_page):
    run = laboratory.store.runs.get(laboratory.on_shapes)
    sound = run.playback_file.read_bytes()
    run.playback_file.write_bytes(sound[: len(sound) // 2])
    app = open_page("train", run=run.id)
    assert not bars_of(app)
    assert "playback.npz" in warnings(app)
    run.playback_file.unlink()
    turn_to(app, run=run.id)
    assert not bars_of(app)
    assert not app.warning


def test_a_cancelled_training_is_played_too(laboratory, open_page):
    assert bars_of(open_page("train", run=laboratory.not_converged))


def test_the_words_say_where_ap_was_highest():
    def frame(iteration: int, ap: float | None) -> Frame:
        return Frame(iteration, 0, 1.0, 0.0, np.arange(2), {"AP": ap})

    names = "AP", "the test samples", "samples"

    text = words([frame(0, 0.1), frame(3, 0.7), frame(6, 0.7), frame(9, 0.5)], *names)
    assert numbers_in(text) == [0.7, 3, 0.5, 9], "the first of equal ones"
    assert words([frame(0, None)], *names) == ""
