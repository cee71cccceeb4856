"""The start page: an image to move through a ranking, and the next steps."""

from __future__ import annotations

import os
import subprocess
import sys

from shown import ROOT, components, errors, page_of, press, text_of

from pages.parts.app import cache, home, menu
from pages.parts.charts.moving_image import OTHERS, SHOWN
from ranking.explain import moving
from ranking.storage import examples

page = page_of("start")


def test_a_first_visit_can_be_played_and_leads_to_the_lesson(fresh_home, started, open_page):
    app = open_page("start")
    [strip], (images, _) = components(app, "ranking_strip"), cache.ready_made()
    marks = [item["mark"] == "relevant" for item in strip["items"]]
    assert marks == (moving.with_image_at(OTHERS, 1) > 0).tolist()
    shown = [list(images.ids).index(item["id"]) for item in strip["items"]]
    assert images.relevance(page.QUERY)[shown].astype(bool).tolist() == marks
    assert strip["items"][0]["src"].startswith("data:image/webp;base64,")
    before = app.metric[0].value
    app.slider(key="widget place").set_value(SHOWN).run()
    [moved] = components(app, "ranking_strip")
    assert moved["items"][-1]["id"] == strip["items"][0]["id"], "the image went to the end"
    assert float(app.metric[0].value) < float(before), "and AP fell"
    ways = {button.key.removeprefix("widget go to "): button.proto.type for button in app.button}
    pages_offered = set(page.WAYS.values())
    assert ways == {"lesson": "primary", **dict.fromkeys(pages_offered, "secondary")}, "one obvious next step"
    assert "workspace" not in app.query_params, "on their own machine users see nothing of workspaces"
    assert "room" not in text_of(app).lower()
    press(app, "widget go to lesson")
    assert app.title[0].value == menu.PAGES["lesson"]
    assert len(components(app, "ranking_strip")) == 2, "the rankings of both methods"
    assert not started


def test_an_unusable_data_folder_is_reported_below_the_image(tmp_path, monkeypatch, open_page):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RANKING_HOME", str(tmp_path / "file" / "home"))
    app = open_page("start")
    assert len(components(app, "ranking_strip")) == 1
    assert ["RANKING_HOME" in error for error in errors(app)] == [True]


def test_an_installation_without_bundled_scenes_is_reported(empty_home, started, open_page, monkeypatch):
    monkeypatch.setattr(examples, "FOLDER", ROOT / "nowhere")
    for name in ("start", "lesson", "image_sets", "train"):
        error = errors(open_page(name))[0]
        assert "data/examples" in error
        assert "git checkout data/examples" in error, "how to have them again"


def test_a_data_folder_without_image_sets_offers_an_import(empty_home, started, open_page):
    app = open_page("image_sets")
    assert errors(app) == [home.NO_EXAMPLES]
    assert "widget path of an import" in [box.key for box in app.text_input]


HEAVY = ("numba", "sklearn", "skimage", "scipy", "ranking.methods.svm")
VISIT = f"""
import sys
from streamlit.testing.v1 import AppTest
from ranking.storage import jobs
jobs.start_once = lambda store, kind, settings: store.runs.create(kind, settings)
app = AppTest.from_file({str(ROOT / "laboratory.py")!r}, default_timeout=120).run()
import pages.parts.training.playback, pages.parts.training.runs  # of most other pages
print(app.title[0].value, [name for name in {HEAVY!r} if name in sys.modules], len(app.exception))
"""


def test_the_first_image_does_not_wait_for_compiled_code(empty_home):
    completed = subprocess.run(
        [sys.executable, "-c", VISIT],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert completed.stdout.strip() == "Ranking laboratory [] 0"
