from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pages.parts import cache
from ranking.datasets import ready_made_folder

ROOT = Path(__file__).parents[2]
TRAINED = ROOT / "data" / "start_strip.json"


def strips_of(app):
    """What the strips of a page show, in the order of the page."""
    parts = [part for part in app.get("bidi_component") if part.proto.component_name == "ranking_strip"]
    return [json.loads(part.proto.json) for part in parts]


def test_the_picture_is_what_the_method_does():
    spec = importlib.util.spec_from_file_location("start_strip", ROOT / "data" / "start_strip.py")
    start_strip = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(start_strip)
    again, stored = start_strip.ranked(), json.loads(TRAINED.read_text())
    now, then = dict(again.pop("shown")), dict(stored.pop("shown"))
    assert again.pop("average_precision") == pytest.approx(stored.pop("average_precision"), abs=0.002)
    assert again == stored
    # Other processors round otherwise: two scores that are nearly equal may change places.
    assert now == pytest.approx(then, abs=0.01)
    assert sorted(then.values(), reverse=True) == list(then.values())


def test_the_strip_shows_what_was_trained_and_points_at_the_first_mistake(empty_home, started, open_page):
    app = open_page("start")
    assert not app.exception
    [strip] = strips_of(app)
    told, (images, _) = json.loads(TRAINED.read_text()), cache.ready_made()
    assert [item["id"] for item in strip["items"]] == [name for name, _ in told["shown"]]
    relevant = set(images.ids[images.relevance(told["query"]) > 0])
    marks = ["relevant" if name in relevant else "irrelevant" for name, _ in told["shown"]]
    assert [item["mark"] for item in strip["items"]] == marks
    first = marks.index("irrelevant")
    assert [place for place, item in enumerate(strip["items"]) if item["flag"]] == [first]
    assert all(item["src"].startswith("data:image/webp;base64,") for item in strip["items"])
    assert strip["items"][0]["alt"].startswith("rank 1, relevant")
    assert f"The first mistake stands at place {first + 1}" in "".join(said.value for said in app.caption)


def test_what_is_shown_was_tested_and_not_learnt():
    images, _ = cache.ready_made()
    tested = set(images.ids[images.test])
    assert {name for name, _ in json.loads(TRAINED.read_text())["shown"]} <= tested


def test_labels_and_their_questions_are_one_press_away(empty_home, started, open_page):
    app = open_page("start")
    assert "The model asks" in " ".join(text.value for text in app.markdown)
    app.button(key="widget go to label_questions").click().run()
    assert app.title[0].value == "Label questions"


def test_there_is_one_obvious_next_step(empty_home, started, open_page):
    app = open_page("start")
    kinds = {button.label: button.proto.type for button in app.button}
    assert kinds == {
        "Why optimise AP?": "primary",
        "Do neighbours help?": "secondary",
        "What did these pairs mean?": "secondary",
        "One ranking among n!": "secondary",
        "Labels that ask": "secondary",
        "Train a method": "secondary",
        "Answer a model's questions": "secondary",
        "Look at the images": "secondary",
        "Put cars in order": "secondary",
    }
    next(button for button in app.button if button.label == "Why optimise AP?").click().run()
    assert app.title[0].value == "Why optimise AP?"
    app = open_page("start")
    next(button for button in app.button if button.label == "Do neighbours help?").click().run()
    assert app.title[0].value == "Do neighbours help?"


def test_whoever_comes_first_begins_the_trainings_of_the_lesson_and_nobody_else(
    empty_home, started, open_page
):
    for _ in range(2):
        open_page("start")
    assert [run.settings["method"] for run in started] == ["SVM", "AP-SVM"]
    assert [row.title for row in empty_home.image_sets()] == ["Action figures (180 scenes)"]


def test_a_home_that_cannot_be_used_is_said_below_the_picture(tmp_path, monkeypatch, open_page):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RANKING_HOME", str(tmp_path / "file" / "home"))
    app = open_page("start")
    assert not app.exception
    assert len(strips_of(app)) == 1
    assert "set RANKING\\_HOME to a folder that can be written" in app.error[0].value


@pytest.mark.parametrize("page", ["start", "lesson"])
def test_an_installation_without_its_scenes_says_so(empty_home, started, open_page, monkeypatch, page):
    monkeypatch.setattr(cache.image_sets, "ready_made_folder", lambda: None)
    monkeypatch.setattr("pages.parts.sets.ready_made_folder", lambda: None)
    app = open_page(page)
    assert not app.exception
    assert "run the laboratory from its own folder" in app.error[0].value


def test_a_strip_of_other_images_says_how_to_make_it_again(empty_home, started, open_page, monkeypatch):
    images, thumbnails = cache.ready_made()
    other = replace(images, ids=np.array([f"other {name}" for name in images.ids]))
    monkeypatch.setattr(cache, "ready_made", lambda: (other, thumbnails))
    app = open_page("start")
    assert not app.exception
    assert "python data\\/start\\_strip\\.py" in app.error[0].value


HEAVY = ("numba", "sklearn", "skimage", "scipy", "ranking.methods.svm")
VISIT = f"""
import sys
from streamlit.testing.v1 import AppTest
from ranking import jobs
jobs.start_once = lambda store, kind, settings: store.create_run(kind, settings)
app = AppTest.from_file({str(ROOT / "app.py")!r}, default_timeout=60).run()
print(app.title[0].value, [name for name in {HEAVY!r} if name in sys.modules], len(app.exception))
"""


def test_the_first_picture_waits_for_nothing_compiled(empty_home):
    assert ready_made_folder() is not None
    found = subprocess.run(
        [sys.executable, "-c", VISIT],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "Ranking laboratory [] 0"
