"""The page Find the object: rounds, starts and detections are those of the run's files."""

from __future__ import annotations

import json

import numpy as np
import pytest
from shown import captions, components, errors, kinds, page_of, press, warnings

from pages.parts.components.tiles import share_of
from pages.parts.training import recordings, sets
from ranking.explain.localisation import objects_of
from ranking.explain.playback import part_localisation
from ranking.metrics import ranking_order
from ranking.metrics.detection import overlap

page = page_of("find_the_object")
pytestmark = pytest.mark.usefixtures("started")


def bars_of(app):
    bars = components(app, "ranking_play_bar")
    for bar in bars:
        json.dumps(bar, allow_nan=False)
    return bars


def test_the_image_set_of_other_pages_is_chosen(laboratory, open_page):
    for key in (laboratory.shapes, laboratory.digits):
        app = open_page("find_the_object", set=key)
        assert app.selectbox(key="widget object_set").value == key


def test_rounds_show_the_best_windows_solid_and_the_true_boxes_dashed(objects_here, open_page):
    store, run = objects_here.store, objects_here.store.runs.get(objects_here.several)
    images, located = store.sets.get(objects_here.key), recordings.localisation(run)
    objects, relevance = objects_of(images, "red"), images.image_relevance("red")
    for split, part in (("test", images.image_test), ("train", ~images.image_test)):
        app = open_page("find_the_object", object_run=run.id, split=split)
        assert not app.error
        rounds = bars_of(app)[0]
        assert rounds["unit"] == "Round"
        assert rounds["steps"][0] == 1
        assert rounds["steps"] == sorted({*rounds["steps"]})
        [lane] = rounds["lanes"]
        last, facts = lane["frames"][-1], dict(lane["frames"][-1]["facts"])
        scores = np.load(run.scores_file)
        rows = np.flatnonzero(part)
        order = ranking_order(relevance[rows], scores[rows].astype(np.float32))
        assert last["top"] == [str(row) for row in rows[order][:12]]
        assert last["ranks"] == list(range(1, len(last["top"]) + 1))
        metrics = run.result["test" if split == "test" else "train"]
        name = f"CorLoc, {'test' if split == 'test' else 'training'}"
        assert (
            facts[name]
            == f"{metrics['CorLoc']:.3f}"
            == f"{part_localisation(located.boxes, objects, rows):.3f}"
        )
        for image, box in zip(last["top"], last["boxes"], strict=True):
            row = int(image)
            size = images.image_sizes[row]
            assert box == pytest.approx(share_of(located.boxes[row], size, rounds["ratio"]))
            assert rounds["known"][image] == [
                pytest.approx(share_of(real, size, rounds["ratio"])) for real in objects[row]
            ]
            assert (rounds["tiles"][image]["mark"] == "relevant") == bool(relevance[row])
        shares = [frame["values"][name] for frame in lane["frames"]]
        assert f"{name}: {shares[0]:.2f} → {shares[-1]:.2f}." in captions(app)
        ends = dict(zip(located.starts, located.objectives, strict=True))
        # a round is above the end of its start, and below those of earlier ones
        for frame in lane["frames"]:
            begun, value = dict(frame["facts"])["start"], frame["values"]["objective"]
            earlier = list(ends.values())[: list(ends).index(begun)]
            assert ends[begun] <= value * (1 + 1e-9)
            assert all(value < end for end in earlier)
        assert dict(last["facts"])["start"] == min(ends, key=ends.get)


def test_starts_and_detections_are_those_of_the_file(objects_here, open_page):
    run, store = objects_here.store.runs.get(objects_here.several), objects_here.store
    images, located = store.sets.get(objects_here.key), recordings.localisation(run)
    objects = objects_of(images, "red")
    _, starts, detections = bars_of(open_page("find_the_object", object_run=run.id))
    titles = [lane["title"].partition(" · ")[0] for lane in starts["lanes"]]
    assert titles == located.starts.tolist()
    [kept] = [number for number, lane in enumerate(starts["lanes"]) if lane["title"].endswith("kept")]
    assert kept == int(np.argmin(located.objectives))
    [lane] = detections["lanes"]
    [top] = lane["frames"]
    for number, box in zip(top["top"], top["boxes"], strict=True):
        image = int(located.detected[int(number)])
        size = images.image_sizes[image]
        assert box == pytest.approx(share_of(located.detections[int(number)], size, detections["ratio"]))
        near = len(objects[image]) and overlap(located.detections[[int(number)]], objects[image]).max() >= 0.5
        assert (detections["tiles"][number]["mark"] == "relevant") == bool(near), "one square per image"


def test_a_model_without_weights_is_reported(objects_here, open_page):
    app = open_page("find_the_object", object_run=objects_here.nothing)
    assert "othing was learned; try another start" in warnings(app)
    app = open_page("find_the_object", object_run=objects_here.several)
    assert not app.warning
    assert any("no round gains more" in element.value.lower() for element in app.success)
    assert "optim" not in captions(app).lower()


def test_without_known_boxes_none_is_dashed_and_nothing_is_measured(objects_here, open_page, monkeypatch):
    monkeypatch.setattr(recordings, "objects", lambda key, query: None)
    recordings.frames_of_images.clear()
    app = open_page("find_the_object", object_run=objects_here.several)
    recordings.frames_of_images.clear()
    assert not app.error
    for bar in bars_of(app):
        assert not any(bar["known"].values())
        for lane in bar["lanes"]:
            assert lane["curves"] in (["objective"], [])
            assert not [name for name, _ in lane["frames"][0]["facts"] if name.startswith("CorLoc")]
    assert "has no boxes" in captions(app)
    assert not app.get("plotly_chart")
    assert {tile["mark"] for tile in bars_of(app)[2]["tiles"].values()} == {None}


def test_damaged_files_are_named(objects_here, open_page):
    run = objects_here.store.runs.get(objects_here.several)
    run.localisation_file.write_bytes(b"PK")
    run.playback_file.write_bytes(b"PK")
    app = open_page("find_the_object", object_run=run.id)
    assert "localisation.npz" in "".join(errors(app))
    assert "playback.npz" in warnings(app)


def test_a_new_training_has_what_the_form_has(objects_here, open_page, started):
    app = open_page("find_the_object", object_method="MI-SVM")
    app.selectbox(key="widget windows.windows.source").set_value("grid")
    press(app, "train objects")
    [run] = kinds(started, "windows")
    assert run.settings["windows"] == {"source": "grid"}
    assert (run.settings["method"], run.settings["query"]) == ("MI-SVM", "red")


def test_first_training_runs_are_offered_if_there_are_none(objects_here, open_page, started):
    app = open_page("find_the_object", object_class="green")
    press(app, "widget train windows")
    assert {run.settings["method"] for run in kinds(started, "windows")} == {"Latent AP-SVM", "MI-SVM"}
    assert {run.settings["query"] for run in started} == {"green"}


def test_before_training_the_size_of_the_objects_is_stated(objects_here, open_page, monkeypatch):
    images = objects_here.store.sets.get(objects_here.key)
    rows = [row for row in range(len(images)) if images.relevance("green")[row] > 0]
    sides = [images.boxes[row][2:] - images.boxes[row][:2] for row in rows]
    shares = [
        w * h / np.prod(images.image_sizes[images.image_of[row]])
        for row, (w, h) in zip(rows, sides, strict=True)
    ]
    chosen = {"object_set": objects_here.key, "object_class": "green"}
    app = open_page("find_the_object", **chosen)
    assert f"covers {np.median(shares):.1%} of its image" in captions(app)
    assert "poor choice" not in captions(app)
    [row] = [row for row in objects_here.store.sets.rows() if row.key == objects_here.key]
    monkeypatch.setattr(sets, "FIGURES", row.source)
    assert "poor choice" in captions(open_page("find_the_object", **chosen))
