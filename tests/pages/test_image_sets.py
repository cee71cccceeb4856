"""The page Image sets: what it shows of a set, imports that wait for a decision, and the first start."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from types import SimpleNamespace

import numpy as np
import pytest
from filled_home import import_here
from PIL import Image
from shapes import HOSTILE, write_shapes
from shown import button_keys, captions, counts_in, errors, plain, text_of

from pages.parts import cache, charts, importing, jobs_panel
from pages.parts.cache import image_sets
from pages.parts.frame import escaped
from ranking.store import Store


def component(app, name):
    """What the first component of that name shows."""
    return components(app, name)[0]


def components(app, name):
    found = [part for part in app.get("bidi_component") if part.proto.component_name == name]
    return [json.loads(part.proto.json) for part in found]


def test_a_set_is_shown_with_hostile_class_names_as_plain_text(laboratory, open_page):
    images = laboratory.store.image_set(laboratory.shapes)
    hostile = int(np.flatnonzero(images.relevance(HOSTILE) > 0)[0])
    app = open_page("image_sets", set=laboratory.shapes, sample=str(images.ids[hostile]))
    assert not app.exception
    grid = component(app, "ranking_image_grid")
    assert [item["left"] for item in grid["items"][:2]] == ["photo_00", "photo_01"]
    assert grid["items"][1]["right"] == "test · 2"
    whole = component(app, "ranking_picture")
    assert (whole["width"], whole["height"], len(whole["boxes"])) == (200, 150, 2)
    assert HOSTILE in [box["label"] for box in whole["boxes"]]
    assert [12, 24, 12, 24] in [counts[:4] for counts in counts_in(app.caption)], (
        "images, samples: train, test"
    )
    for element in (*app.markdown, *app.caption):
        assert not re.search(r"(?<!\\)(<img|\]\()", element.value)
    [chart] = app.get("plotly_chart")
    assert "<img" not in chart.proto.spec.replace("\\u003c", "<")


def test_pages_of_the_contact_sheet_and_what_another_set_forgets(laboratory, open_page):
    app = open_page("image_sets", set=laboratory.digits, sheet="38")
    assert component(app, "ranking_image_grid")["items"][-1]["left"] == "1796"
    layout = json.loads(app.get("plotly_chart")[0].proto.spec)["layout"]
    numbers = [str(digit) for digit in range(10)]
    assert layout["yaxis"]["ticktext"][::-1] == numbers, "classes that are numbers: the first is at the top"
    legend = layout["legend"]
    assert (legend["yref"], legend["y"], legend["yanchor"]) == ("container", 0, "bottom")
    assert layout["margin"]["t"] >= 30, "the tools have the upper edge for themselves"
    assert "take set away" not in button_keys(app), "it comes with the program"
    app.get("pagination")[0].set_value(2).run()
    assert app.query_params["sheet"] == "2"
    assert component(app, "ranking_picture")["alt"].startswith("Image 0048")
    for name, value in {"sample": "0100#1", "query": "3", "sheet.class": "3"}.items():
        app.query_params[name] = value
    app.selectbox(key="widget set").select(laboratory.shapes).run()
    assert not app.exception
    assert dict(app.query_params) == {"set": laboratory.shapes}
    images = laboratory.store.image_set(laboratory.shapes)
    discs = np.unique(images.image_of[(images.relevance("disc") > 0) & images.test])
    app.query_params["sheet.class"], app.query_params["sheet.split"] = "disc", "test"
    app.run()
    shown = [item["left"] for item in component(app, "ranking_image_grid")["items"]]
    assert shown == list(images.image_names[discs]), "of one class and split"


def test_unknown_sets_and_images_are_reported_and_ignored(laboratory, open_page):
    app = open_page("image_sets", set="nothing", sample="nobody", sheet="0")
    assert not app.exception
    assert len(app.warning) == 3
    [of_set] = [plain(warning) for warning in app.warning if "'nothing'" in plain(warning)]
    assert "Digits" in of_set, "the sets that there are, by title"
    assert laboratory.digits not in of_set
    chosen = app.query_params["set"]
    first = laboratory.store.image_set(chosen).image_names[0]
    assert component(app, "ranking_picture")["alt"].startswith(f"Image {first} ")


def test_how_even_the_classes_are_is_counted():
    class Classes(SimpleNamespace):
        def __len__(self):
            return len(self.labels)

    even = Classes(labels=np.eye(10, dtype=int)[np.arange(100) % 10], classes=tuple("0123456789"))
    assert re.findall(r"\d+", charts.how_even(even)) == ["1", "10"]
    uneven = Classes(labels=np.eye(3, dtype=int)[[0] * 12 + [1] * 5 + [2] * 7], classes=("a*", "b", "c"))
    text = charts.how_even(uneven)
    assert re.findall(r"“(.*?)”", text) == ["b", escaped("a*")], "the rarest and the most frequent"
    assert re.findall(r"\d+", text) == ["5", "24", "12"]


# --------------------------------------------------------------------------------------------- importing


@pytest.fixture
def imported(laboratory, tmp_path):
    """An import that waits for a decision: other images than those in the store."""
    return import_here(laboratory.store, "PASCAL VOC", folder=str(write_shapes(tmp_path / "more", images=18)))


def test_an_import_waits_until_it_is_discarded(laboratory, open_page, imported):
    app = open_page("image_sets", set=laboratory.shapes)
    waits = app.button(key=f"widget decide {imported.id}")
    assert waits.label.startswith("more: 18 ")
    waits.click().run()
    assert app.query_params["import"] == imported.id
    report = app.dataframe[0].value
    assert list(report.columns) == ["file", "expected", "came", "done"]
    assert "missing" in report["file"].iloc[0]
    grids = [part for part in app.get("bidi_component") if "grid" in part.proto.component_name]
    shown = [len(json.loads(part.proto.json)["items"]) for part in grids]
    assert shown == [12, 24, 2], "examples, images, boxes of the chosen one"
    app.button(key="discard import").click().run()
    assert not app.exception
    assert "import" not in app.query_params
    assert f"widget decide {imported.id}" not in button_keys(app)
    assert imported.result["key"] not in [row.key for row in laboratory.store.image_sets()]
    app = open_page("image_sets", **{"import": imported.id})
    assert "discarded" in text_of(app)
    assert not {"keep import", "discard import"} & set(button_keys(app))


def test_what_is_damaged_of_an_import_is_reported_and_it_can_be_discarded(
    laboratory, open_page, imported, monkeypatch
):
    warned: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(importing.st, "warning", lambda text, **look: warned.append(text))
        imported.problems_file.unlink()
        importing._show_problems(imported)
        for content in ("", '[{"file": "a', "[1]", "[" * 100_000):
            imported.problems_file.write_text(content)
            importing._show_problems(imported)
    assert len(warned) == 5
    imported.problems_file.write_text("{}x")
    app = open_page("image_sets", **{"import": imported.id})
    assert not app.exception
    assert [warning.value for warning in app.warning] == warned[:1]

    def keep(store, run_id):
        raise ValueError("the files are gone")

    with monkeypatch.context() as patch:
        patch.setattr(Store, "keep", keep)
        app.button(key="keep import").click().run()
    assert not app.exception
    assert "the files are gone" in errors(app)[0]
    shutil.rmtree(imported.draft)
    app.run()
    assert not app.exception
    assert len(app.error) == 1
    assert "keep import" not in button_keys(app)
    app.button(key="discard import").click().run()
    assert not app.exception
    assert "import" not in app.query_params


def test_imports_that_failed_give_the_reason_in_the_form_and_are_numbered(laboratory, open_page):
    def failed(ended):
        settings = {"source": "COCO", "source_settings": {}, "brought": "my *zoo*.zip"}
        run = laboratory.store.create_run("import", settings)
        laboratory.store.end_run(run.id, "failed", "expected *a folder*")
        laboratory.store.update_run(run.id, ended=ended)
        return laboratory.store.run(run.id)

    first = failed(1e9)
    app = open_page("image_sets", **{"import": first.id})
    assert len(app.error) == 1, "in the form, and nowhere else"
    [form] = [part for part in app.expander if app.error[0].value in [error.value for error in part.error]]
    assert [button.key for button in form.button] == ["look at path", "close import", "start import"]
    assert "expected \\*a folder\\*" in app.error[0].value
    assert "my *zoo*.zip" in captions(app), "the upload has to be dropped once more"
    alone = importing._which_try(first)
    second = failed(1e9 + 7)
    app.query_params["import"] = second.id
    app.run()
    tries = [importing._which_try(run) for run in (first, second)]
    assert tries[1] in errors(app)[0]
    assert alone == ""
    times = [datetime.fromtimestamp(ended).strftime("%d %b at %H:%M:%S") for ended in (1e9, 1e9 + 7)]
    assert tries == [f"try 1, {times[0]}", f"try 2, {times[1]}"]


def test_an_import_of_a_known_set_leaves_nothing_to_decide(laboratory, open_page, tmp_path):
    folder = write_shapes(tmp_path / "shapes")  # that of the set, written again
    again = import_here(laboratory.store, "PASCAL VOC", folder=str(folder))
    assert again.result["key"] == laboratory.shapes
    app = open_page("image_sets", set=laboratory.figures)
    assert f"widget decide {again.id}" not in button_keys(app)
    app.query_params["import"] = again.id
    app.run()
    assert not app.exception
    assert any("**shapes**" in info.value for info in app.info)
    assert not {"keep import", "discard import"} & set(button_keys(app))
    assert laboratory.store.run(again.id).result["decision"] == "kept"
    app.button(key="look at known set").click().run()
    assert dict(app.query_params) == {"set": laboratory.shapes}


# -------------------------------------------------------------------------------------------- first start


def test_bundled_sets_are_made_one_after_the_other_and_kept_unasked(empty_home, started, open_page, tmp_path):
    mine = empty_home.create_run(
        "import", {"source": "Action figures", "source_settings": {"images": 50, "seed": 3}}
    )
    empty_home.end_run(mine.id, "finished", result={"key": "0" * 64, "title": "mine", "images": 50})
    app = open_page("image_sets")
    [ready_made] = empty_home.image_sets()
    assert ready_made.title == "Action figures (180 scenes)"
    assert app.query_params["set"] == ready_made.key
    assert len(component(app, "ranking_image_grid")["items"]) == 48
    assert not open_page("ranked_images").exception
    for source in ("Action figures", "Digits"):
        assert started[-1].settings == {"source": source, "source_settings": {}}, "none begins twice"
        assert any(source in caption.value for caption in app.caption), "what is being prepared"
        finish(empty_home, started[-1], tmp_path)
        app.run()
        assert not app.exception
        assert len(app.toast) == 1
    assert len(started) == 2
    assert [row.source for row in empty_home.image_sets()] == ["Digits", "Action figures", "ready-made"]
    assert app.query_params["set"] == ready_made.key, "the set that a person looks at stays"
    assert "decision" not in empty_home.run(mine.id).result, "an import with other settings is theirs to keep"
    rows = {row.key: row.source for row in empty_home.image_sets()}
    app = open_page("train")
    assert rows[app.selectbox(key="widget set").value] == "Action figures", "preferred to the ready-made one"


def finish(store, run, tmp_path):
    """Have the import that a page began end with a few images."""
    source = run.settings["source"]
    folder = write_shapes(tmp_path / source, images=6 + len(source))
    result = import_here(store, "PASCAL VOC", folder=str(folder))
    shutil.move(result.draft, run.draft)
    store.end_run(run.id, "finished", result=result.result)
    store.discard(result.id)


def test_a_bundled_set_that_failed_gives_the_reason_and_can_be_begun_again(empty_home, started, open_page):
    run = empty_home.create_run("import", {"source": "Action figures", "source_settings": {}})
    empty_home.end_run(run.id, "failed", "no space")
    app = open_page("image_sets")
    assert "no space" in app.error[0].value
    assert [run.settings["source"] for run in started] == ["Digits"], "the others are made all the same"
    app.button(key="widget prepare Action figures").click().run()
    assert [run.settings["source"] for run in started] == ["Digits", "Action figures"]


def test_an_import_in_the_queue_states_how_many_it_waits_for(monkeypatch):
    stated: list[str] = []
    monkeypatch.setattr(jobs_panel.st, "progress", lambda share, text: stated.append(text))
    run = SimpleNamespace(kind="import", started=None, created=time.time())
    for waits in (1, 2):
        monkeypatch.setattr(jobs_panel, "_waits_for", lambda run, waits=waits: waits)
        jobs_panel._progress(run, [])
    assert [counts[0] for counts in counts_in(stated)] == [1, 2]


def test_large_images_are_decoded_one_after_the_other(monkeypatch):
    """One of fifty million pixels takes most of a gigabyte for a moment, and a class looks at thirty."""
    for large, at_once in ((100, 1), (10**6, 2)):
        monkeypatch.setattr(image_sets, "LARGE", large)
        assert most_at_once() == at_once, f"at most {large} pixels are decoded beside others"


def most_at_once() -> int:
    """How many images of 400 pixels are decoded at the same time, of two."""
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
    return max(most)
