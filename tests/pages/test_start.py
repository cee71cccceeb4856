"""The start page: a ranking that was really made, the next steps, and what it begins unasked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from shown import ROOT, components, errors, page_of, press, program_of, text_of, texts

from pages.parts.app import cache, frame
from ranking.metrics.ranked import first_irrelevant
from ranking.workspace import examples

page = page_of("start")
TRAINED = ROOT / "data" / "start_strip.json"


def test_the_stored_strip_is_what_the_method_ranks():
    again, stored = program_of("start_strip").ranked(), json.loads(TRAINED.read_text())
    now, then = dict(again.pop("shown")), dict(stored.pop("shown"))
    assert again.pop("average_precision") == pytest.approx(stored.pop("average_precision"), abs=0.002)
    assert again == stored
    # Other processors round otherwise: two scores that are nearly equal may change places.
    assert now == pytest.approx(then, abs=0.01)
    assert sorted(then.values(), reverse=True) == list(then.values())


def test_a_first_visit_shows_what_was_trained_and_leads_to_the_lesson(fresh_home, started, open_page):
    app = open_page("start")
    [strip], (images, _) = components(app, "ranking_strip"), cache.ready_made()
    ranked = page.ranking_of(json.loads(TRAINED.read_text()), images)
    assert images.test[ranked.samples].all(), "tested, and not learned from"
    first = first_irrelevant(ranked.relevance)
    for place, (item, row) in enumerate(zip(strip["items"], ranked.samples, strict=True), start=1):
        assert item["id"] == images.ids[row]
        assert (item["mark"] == "relevant") == (ranked.relevance[place - 1] > 0)
        assert bool(item["flag"]) == (place == first)
        assert item["src"].startswith("data:image/webp;base64,")
    assert strip["items"][0]["alt"].startswith("rank 1, relevant")
    assert page.describe(first, ranked, images) in texts(app)
    ways = {button.key.removeprefix("widget go to "): button.proto.type for button in app.button}
    others = {*frame.SECTIONS["Lessons"], "train", "label_questions", "image_sets", "orders"} - {"lesson"}
    assert ways == {"lesson": "primary", **dict.fromkeys(others, "secondary")}, "one obvious next step"
    assert "room" not in app.query_params, "of rooms a person on their own machine sees nothing"
    assert "room" not in text_of(app).lower()
    folders = {path.name for path in fresh_home.home.iterdir() if path.is_dir()}
    assert folders == {
        "copies",
        "edges",
        "experiments",
        "features",
        "models",
        "runs",
        "sets",
        "trash",
        "vectors",
    }
    press(app, "widget go to lesson")
    assert app.title[0].value == frame.PAGES["lesson"]
    assert len(components(app, "ranking_strip")) == 2, "the rankings of both methods"
    assert not started


def test_a_home_that_cannot_be_used_is_reported_below_the_picture(tmp_path, monkeypatch, open_page):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RANKING_HOME", str(tmp_path / "file" / "home"))
    app = open_page("start")
    assert len(components(app, "ranking_strip")) == 1
    assert ["RANKING_HOME" in error for error in errors(app)] == [True]


def test_an_installation_without_its_scenes_reports_it(empty_home, started, open_page, monkeypatch):
    images, thumbnails = cache.ready_made()
    other = replace(images, ids=np.array([f"other {name}" for name in images.ids]))
    with monkeypatch.context() as patch:
        patch.setattr(cache, "ready_made", lambda: (other, thumbnails))
        app = open_page("start")
    assert "python data/start_strip.py" in errors(app)[0], "how to make the strip again"
    monkeypatch.setattr(examples, "FOLDER", ROOT / "nowhere")
    for name in ("start", "lesson"):
        assert "data/examples" in errors(open_page(name))[0]


HEAVY = ("numba", "sklearn", "skimage", "scipy", "ranking.methods.svm")
VISIT = f"""
import sys
from streamlit.testing.v1 import AppTest
from ranking.jobs import jobs
jobs.start_once = lambda store, kind, settings: store.create_run(kind, settings)
app = AppTest.from_file({str(ROOT / "laboratory.py")!r}, default_timeout=120).run()
print(app.title[0].value, [name for name in {HEAVY!r} if name in sys.modules], len(app.exception))
"""


def test_the_first_picture_waits_for_nothing_compiled(empty_home):
    found = subprocess.run(
        [sys.executable, "-c", VISIT],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "Ranking laboratory [] 0"
