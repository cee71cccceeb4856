from __future__ import annotations

import contextlib
import json
import re
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace

import numpy as np
import pytest
from filled_home import import_here
from PIL import Image
from shapes import HOSTILE, write_shapes

from pages.parts import cache
from pages.parts.cache import image_sets
from ranking.store import Store


def component(app, name):
    """What the first component of that name shows."""
    return components(app, name)[0]


def components(app, name):
    found = [part for part in app.get("bidi_component") if part.proto.component_name == name]
    return [json.loads(part.proto.json) for part in found]


def test_the_contact_sheet_the_whole_image_and_the_classes(laboratory, open_page):
    app = open_page("image_sets", set=laboratory.shapes)
    assert not app.exception
    grid = component(app, "ranking_image_grid")
    assert [item["left"] for item in grid["items"][:2]] == ["photo_00", "photo_01"]
    assert grid["items"][1]["right"] == "test · 2"
    whole = component(app, "ranking_picture")
    assert (whole["width"], whole["height"], len(whole["boxes"])) == (200, 150, 2)
    assert "12 images with 24 samples to train on, 12 images with 24 samples to test on" in " ".join(
        caption.value for caption in app.caption
    )
    assert len(app.get("plotly_chart")) == 1


def test_classes_that_are_numbers_are_drawn_in_their_order(laboratory, open_page):
    app = open_page("image_sets", set=laboratory.digits)
    axis = json.loads(app.get("plotly_chart")[0].proto.spec)["layout"]["yaxis"]
    assert axis["ticktext"][::-1] == [str(digit) for digit in range(10)], "the first is at the top"


def test_the_pages_of_the_contact_sheet(laboratory, open_page):
    app = open_page("image_sets", set=laboratory.digits, sheet="38")
    assert [item["left"] for item in component(app, "ranking_image_grid")["items"]][-1] == "1796"
    app.get("pagination")[0].set_value(2).run()
    assert app.query_params["sheet"] == "2"
    assert component(app, "ranking_picture")["alt"].startswith("Image 0048")


def test_another_set_forgets_what_was_chosen_in_this_one(laboratory, open_page):
    app = open_page(
        "image_sets", set=laboratory.digits, sheet="3", sample="0100#1", query="3", **{"sheet.class": "3"}
    )
    app.selectbox(key="widget set").select(laboratory.shapes).run()
    assert not app.exception
    assert dict(app.query_params) == {"set": laboratory.shapes}


def test_unknown_sets_and_images_are_said_and_left_out(laboratory, open_page):
    app = open_page("image_sets", set="nothing")
    assert not app.exception
    assert "set \\= 'nothing'" in app.warning[0].value.replace("\\'", "'")
    assert "Digits" in app.warning[0].value
    assert laboratory.digits not in app.warning[0].value
    assert app.query_params["set"] in [row.key for row in laboratory.store.image_sets()]
    app = open_page("image_sets", set=laboratory.digits, sample="nobody", sheet="0")
    assert not app.exception
    assert len(app.warning) == 2
    assert component(app, "ranking_picture")["alt"].startswith("Image 0000 with 1 boxes")


def test_hostile_class_names_are_plain_text(laboratory, open_page):
    app = open_page("train", set=laboratory.shapes, query=HOSTILE)
    assert not app.exception
    app = open_page("image_sets", set=laboratory.shapes)
    assert HOSTILE in [
        box["label"] for number in range(3) for box in component_at(open_page, laboratory, number)
    ]
    for element in (*app.markdown, *app.caption):
        assert not re.search(r"(?<!\\)(<img|\]\()", element.value)
    chart = app.get("plotly_chart")[0].proto.spec
    assert "<img" not in chart.replace("\\u003c", "<")


def component_at(open_page, laboratory, image):
    return component(
        open_page("image_sets", set=laboratory.shapes, sample=f"photo_{image:02d}#1"), "ranking_picture"
    )["boxes"]


# --------------------------------------------------------------------------------------------- importing


@pytest.fixture
def imported(laboratory, tmp_path):
    """An import that waits for a decision: other images than those in the store."""
    return import_here(laboratory.store, "PASCAL VOC", folder=str(write_shapes(tmp_path / "more", images=18)))


def test_the_report_of_an_import_and_keeping_it(laboratory, open_page, imported):
    app = open_page("image_sets", **{"import": imported.id})
    assert not app.exception
    report = app.dataframe[0].value
    assert list(report.columns) == ["file", "expected", "came", "done"]
    assert "missing" in report["file"].iloc[0]
    grids = [
        json.loads(part.proto.json)
        for part in app.get("bidi_component")
        if "grid" in part.proto.component_name
    ]
    assert [len(grid["items"]) for grid in grids] == [12, 48, 2], "examples, images, boxes of the chosen one"
    app.button(key="keep import").click().run()
    assert not app.exception
    assert app.query_params["set"] == imported.result["key"]
    assert "import" not in app.query_params
    assert imported.result["key"] in [row.key for row in laboratory.store.image_sets()]


def test_discarding_an_import(laboratory, open_page, imported):
    app = open_page("image_sets", **{"import": imported.id})
    app.button(key="discard import").click().run()
    assert not app.exception
    assert "import" not in app.query_params
    assert imported.result["key"] not in [row.key for row in laboratory.store.image_sets()]
    app = open_page("image_sets", **{"import": imported.id})
    assert any("was discarded" in element.value for element in app.markdown)


def test_an_import_that_failed_says_why(laboratory, open_page):
    run = laboratory.store.create_run("import", {"source": "PASCAL VOC", "source_settings": {"folder": "/x"}})
    laboratory.store.end_run(run.id, "failed", "expected *a folder*")
    app = open_page("image_sets", **{"import": run.id})
    assert "expected \\*a folder\\*" in app.error[0].value


def test_an_equal_failure_is_told_from_the_one_before_it_beside_the_button(laboratory, open_page):
    said = []
    for ended in (1e9, 1e9 + 7):
        run = laboratory.store.create_run(
            "import", {"source": "PASCAL VOC", "source_settings": {"folder": "/x"}}
        )
        laboratory.store.end_run(run.id, "failed", "nothing there")
        laboratory.store.update_run(run.id, ended=ended)
        app = open_page("image_sets", **{"import": run.id})
        [form] = [part for part in app.expander if part.label == "Import images of your own"]
        assert [button.key for button in form.button] == ["look at path", "close import", "start import"]
        said += [error.value for error in form.error]
        assert len(app.error) == 1, "in the form, and nowhere else"
    times = [datetime.fromtimestamp(ended).strftime("%d %b at %H:%M:%S") for ended in (1e9, 1e9 + 7)]
    assert said == [
        "**This import failed:** nothing there",
        f"**This import (try 2, {times[1]}) failed:** nothing there",
    ]
    app = open_page("image_sets", **{"import": laboratory.store.runs("import")[1].id})
    assert app.error[0].value == f"**This import (try 1, {times[0]}) failed:** nothing there", (
        "now there are two"
    )


def test_an_import_that_waits_is_listed_until_it_is_decided_on(laboratory, open_page, imported):
    app = open_page("image_sets", set=laboratory.digits)
    assert "more: 18 images wait for your decision" in [button.label for button in app.button]
    app.button(key=f"widget decide {imported.id}").click().run()
    assert app.query_params["import"] == imported.id
    app.button(key="discard import").click().run()
    assert not [button for button in app.button if "wait for your decision" in button.label]


def test_a_set_that_is_there_already_asks_nothing(laboratory, open_page, tmp_path):
    again = import_here(laboratory.store, "Digits")
    assert again.result["key"] == laboratory.digits
    app = open_page("image_sets", set=laboratory.shapes)
    assert not [button for button in app.button if "wait for your decision" in button.label]
    app = open_page("image_sets", set=laboratory.shapes, **{"import": again.id})
    assert not app.exception
    assert any("You have this set already: **Digits**" in info.value for info in app.info)
    assert not {"keep import", "discard import"} & {button.key for button in app.button}
    assert laboratory.store.run(again.id).result["decision"] == "kept"
    app.button(key="look at known set").click().run()
    assert app.query_params["set"] == laboratory.digits
    assert "import" not in app.query_params


def test_what_to_notice_of_the_classes_is_counted(laboratory, open_page, monkeypatch):
    said = " ".join(caption.value for caption in open_page("image_sets", set=laboratory.digits).caption)
    assert "each class is about 1 in 10 of the samples" in said
    images = laboratory.store.image_set(laboratory.shapes)
    labels = images.labels.copy()
    labels[5:, 0] = 0
    monkeypatch.setattr(cache, "image_set", lambda key: replace(images, labels=labels))
    said = " ".join(caption.value for caption in open_page("image_sets", set=laboratory.shapes).caption)
    counts = labels.sum(axis=0)
    assert counts.max() >= 2 * counts.min()
    assert f"shown by {counts.min()} of {len(images)} samples" in said
    assert f"the most frequent with {counts.max()}" in said


@pytest.mark.parametrize("content", [None, "", '[{"file": "a', "[1]", "{}x", "[" * 100_000])
def test_a_report_that_cannot_be_read_is_said(laboratory, open_page, imported, content):
    if content is None:
        imported.problems_file.unlink()
    else:
        imported.problems_file.write_text(content)
    app = open_page("image_sets", **{"import": imported.id})
    assert not app.exception
    assert "report of this import cannot be read" in app.warning[0].value
    assert app.button(key="keep import"), "the images are whole"


def test_a_draft_that_is_gone_can_be_discarded(laboratory, open_page, imported):
    shutil.rmtree(imported.draft)
    app = open_page("image_sets", **{"import": imported.id})
    assert not app.exception
    assert "Discard it and import again" in app.error[0].value
    assert "keep import" not in [button.key for button in app.button]
    app.button(key="discard import").click().run()
    assert not app.exception
    assert "import" not in app.query_params


def test_a_draft_that_goes_before_it_is_kept_is_said(laboratory, open_page, imported, monkeypatch):
    app = open_page("image_sets", **{"import": imported.id})

    def keep(store, run_id):
        raise ValueError("the files are gone")

    monkeypatch.setattr(Store, "keep", keep)
    app.button(key="keep import").click().run()
    assert not app.exception
    assert "the files are gone" in app.error[0].value


# -------------------------------------------------------------------------------------------- first start


@pytest.mark.parametrize("page", ["image_sets", "train", "ranked_images"])
def test_at_the_first_start_the_ready_made_set_is_there_and_the_larger_one_is_begun_once(
    empty_home, started, open_page, page
):
    for _ in range(2):
        app = open_page(page)
        assert not app.exception
    assert [row.title for row in empty_home.image_sets()] == ["Action figures (180 scenes)"]
    assert [run.settings["source"] for run in started] == ["Action figures"]


def test_the_first_start_shows_scenes_and_how_far_the_larger_set_is(empty_home, started, open_page):
    app = open_page("image_sets")
    [ready_made] = empty_home.image_sets()
    assert app.query_params["set"] == ready_made.key
    assert len(component(app, "ranking_image_grid")["items"]) == 48
    assert "Preparing Action figures" in " ".join(caption.value for caption in app.caption)


def test_bundled_sets_are_kept_without_asking_one_after_the_other(empty_home, started, open_page):
    app = open_page("image_sets")
    chosen = app.query_params["set"]
    for source in ("Action figures", "Digits"):
        assert started[-1].settings == {"source": source, "source_settings": {}}
        finish(empty_home, started[-1], source)
        app.run()
        assert not app.exception
        assert app.toast[0].value.startswith(f"{source}, ")
    assert [row.source for row in empty_home.image_sets()] == ["Digits", "Action figures", "ready-made"]
    assert len(started) == 2
    assert app.query_params["set"] == chosen, "what somebody looks at does not change under their eyes"
    assert not [caption for caption in app.caption if "Preparing" in caption.value]


def finish(store, run, source):
    """Have the import that a page began end with a few images."""
    settings = {"images": 50} if source == "Action figures" else {}
    result = import_here(store, source, **settings)
    shutil.move(result.draft, run.draft)
    store.end_run(run.id, "finished", result=result.result)
    store.discard(result.id)


def test_the_larger_set_is_preferred_once_it_is_there(empty_home, started, open_page):
    open_page("image_sets")
    finish(empty_home, started[0], "Action figures")
    open_page("image_sets")
    app = open_page("train")
    rows = {row.key: row.source for row in empty_home.image_sets()}
    assert rows[app.selectbox(key="widget set").value] == "Action figures"


def test_a_bundled_set_that_failed_says_why_and_can_be_begun_again(empty_home, started, open_page):
    run = empty_home.create_run("import", {"source": "Action figures", "source_settings": {}})
    empty_home.end_run(run.id, "failed", "no space")
    app = open_page("image_sets")
    assert "no space" in app.error[0].value
    assert [run.settings["source"] for run in started] == ["Digits"], "the others are made all the same"
    app.button(key="widget prepare Action figures").click().run()
    assert [run.settings["source"] for run in started] == ["Digits", "Action figures"]


def test_an_import_of_somebody_s_own_is_not_taken_for_the_bundled_one(empty_home, started, open_page):
    mine = import_here(empty_home, "Action figures", images=50, seed=3)
    open_page("image_sets")
    assert "decision" not in empty_home.run(mine.id).result
    assert [run.settings["source"] for run in started] == ["Action figures"]


def test_a_home_that_cannot_be_used_is_said(tmp_path, monkeypatch, open_page):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RANKING_HOME", str(tmp_path / "file" / "home"))
    app = open_page("image_sets")
    assert not app.exception
    assert "set RANKING\\_HOME to a folder that can be written" in app.error[0].value


def test_a_set_whose_files_are_gone_is_said(laboratory, open_page):
    shutil.rmtree(laboratory.home / "sets" / laboratory.shapes)
    app = open_page("image_sets", set=laboratory.shapes)
    assert not app.exception
    assert "import it again" in app.error[0].value


def test_the_legend_stands_where_the_tools_of_the_chart_do_not(laboratory, open_page):
    app = open_page("image_sets", set=laboratory.digits)
    layout = json.loads(app.get("plotly_chart")[0].proto.spec)["layout"]
    assert (layout["legend"]["yref"], layout["legend"]["y"], layout["legend"]["yanchor"]) == (
        "container",
        0,
        "bottom",
    )
    assert layout["margin"]["t"] >= 30, "the tools have the upper edge for themselves"


@pytest.mark.parametrize(("large", "at_once"), [(100, 1), (10**6, 2)])
def test_large_images_are_decoded_one_after_the_other(monkeypatch, large, at_once):
    """One of fifty million pixels takes most of a gigabyte for a moment, and a class looks at thirty."""
    monkeypatch.setattr(image_sets, "LARGE", large)
    meeting, seen, most = threading.Barrier(2), [], []

    def open_image(number: int) -> Image.Image:
        seen.append(number)
        most.append(len(seen))
        with contextlib.suppress(threading.BrokenBarrierError):
            meeting.wait(timeout=0.5)
        seen.remove(number)
        return Image.new("RGB", (20, 20))

    images = SimpleNamespace(image_sizes=np.array([[20, 20], [20, 20]]), open_image=open_image)
    with ThreadPoolExecutor(2) as pool:
        assert len(list(pool.map(lambda number: cache.shrunk(images, number), range(2)))) == 2
    assert max(most) == at_once
