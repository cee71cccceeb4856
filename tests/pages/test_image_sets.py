"""The page Image sets: what it shows of a set, imports that wait for a decision, and the first start."""

from __future__ import annotations

import re

import numpy as np
import pytest
from image_sets import image_set
from imports_here import import_here
from shapes import HOSTILE, write_shapes
from shown import (
    address,
    button_keys,
    charts_of,
    choose,
    components,
    counts_in,
    plain,
    press,
    text_of,
    turn_to,
)

from pages.parts.app.frame import escaped
from pages.parts.charts import plots


def sheet_of(app):
    """The names of the images on the contact sheet."""
    return [item["left"] for item in components(app, "ranking_image_grid")[0]["items"]]


def whole_image(app):
    [picture] = components(app, "ranking_picture")
    return picture


def test_a_set_is_shown_with_hostile_class_names_as_plain_text(laboratory, open_page):
    images = laboratory.store.sets.get(laboratory.shapes)
    hostile = int(np.flatnonzero(images.relevance(HOSTILE) > 0)[0])
    app = open_page("image_sets", set=laboratory.shapes, sample=str(images.ids[hostile]))
    assert sheet_of(app)[:2] == ["photo_00", "photo_01"]
    assert components(app, "ranking_image_grid")[0]["items"][1]["right"] == "test · 2"
    whole = whole_image(app)
    assert (whole["width"], whole["height"], len(whole["boxes"])) == (200, 150, 2)
    assert HOSTILE in [box["label"] for box in whole["boxes"]]
    counted = [counts[:4] for counts in counts_in(app.caption)]
    assert [12, 24, 12, 24] in counted, "images, samples: train, test"
    for element in (*app.markdown, *app.caption):
        assert not re.search(r"(?<!\\)(<img|\]\()", element.value)
    *_, chart = app.get("plotly_chart")
    assert "<img" not in chart.proto.spec.replace("\\u003c", "<")


def test_pages_of_the_contact_sheet_and_what_another_set_forgets(laboratory, open_page):
    app = open_page("image_sets", set=laboratory.digits, sheet="38")
    assert sheet_of(app)[-1] == "1796"
    *_, chart = charts_of(app)
    numbers = [str(digit) for digit in range(10)]
    assert chart["layout"]["yaxis"]["ticktext"][::-1] == numbers, (
        "classes that are numbers: the first is on top"
    )
    assert "delete set" in button_keys(app)
    app.get("pagination")[0].set_value(2).run()
    assert address(app)["sheet"] == "2"
    assert whole_image(app)["alt"].startswith("Image 0048")
    turn_to(app, set=laboratory.digits, **{"sample": "0100#1", "query": "3", "sheet.class": "3"})
    choose(app.selectbox, "set", laboratory.shapes)
    assert address(app) == {"set": laboratory.shapes}
    images = laboratory.store.sets.get(laboratory.shapes)
    discs = np.unique(images.image_of[(images.relevance("disc") > 0) & images.test])
    turn_to(app, set=laboratory.shapes, **{"sheet.class": "disc", "sheet.split": "test"})
    assert sheet_of(app) == list(images.image_names[discs]), "of one class and split"


def test_unknown_sets_and_images_are_reported_and_ignored(laboratory, open_page):
    app = open_page("image_sets", set="nothing", sample="nobody", sheet="0")
    assert len(app.warning) == 3
    [of_set] = [plain(warning) for warning in app.warning if "'nothing'" in plain(warning)]
    assert "Digits" in of_set, "the sets that there are, by title"
    assert laboratory.digits not in of_set
    chosen = app.query_params["set"]
    first = laboratory.store.sets.get(chosen).image_names[0]
    assert whole_image(app)["alt"].startswith(f"Image {first} ")


def test_how_even_the_classes_are_is_counted():
    def text_about(classes, shown):
        labels = np.eye(len(classes), dtype=int)[shown]
        return plots.how_even(
            image_set(range(len(shown)), [False] * len(shown), labels=labels, classes=classes)
        )

    assert counts_in([text_about(tuple("0123456789"), np.arange(100) % 10)]) == [[10, 100]]
    text = text_about(("a*", "b", "c"), [0] * 12 + [1] * 5 + [2] * 7)
    assert re.findall(r"“(.*?)”", text) == ["b", escaped("a*")], "the rarest and the most frequent"
    assert counts_in([text]) == [[5, 24, 12]]
    both = text_about(("a", "b", "c"), [0] * 5 + [1] * 7 + [2] * 7)
    assert re.findall(r"“(.*?)”", both) == ["a", "b", "c"], "both of the most frequent classes"


# --------------------------------------------------------------------------------------------- importing


@pytest.fixture
def imported(laboratory, tmp_path):
    """A finished import of other images than those in the store."""
    return import_here(laboratory.store, "PASCAL VOC", folder=str(write_shapes(tmp_path / "more", images=18)))


def test_an_import_that_has_finished_shows_what_it_added_and_its_report(laboratory, open_page, imported):
    key = imported.result["key"]
    assert key in [row.key for row in laboratory.store.sets.rows()]
    app = open_page("image_sets", set=key, **{"import": imported.id})
    assert [int(metric.value) for metric in app.metric][:3] == [18, 36, 3], "images, samples, classes"
    report = app.table[0].value
    assert list(report.columns) == ["file", "expected", "found", "action"]
    assert "missing" in report["found"].iloc[0]
    press(app, "widget go to train")
    assert address(app)["set"] == key, "the next step is to train on it"


def test_an_import_whose_set_was_deleted_says_so(laboratory, open_page, imported):
    laboratory.store.sets.delete(imported.result["key"])
    app = open_page("image_sets", **{"import": imported.id})
    assert "was deleted" in text_of(app)
    assert "undo import" not in button_keys(app)


def test_an_import_that_failed_gives_the_reason_in_the_form(laboratory, open_page):
    settings = {"source": "COCO", "source_settings": {}, "upload": "my *zoo*.zip"}
    run = laboratory.store.runs.create("import", settings)
    laboratory.store.runs.end(run.id, "failed", "expected *a folder*")
    app = open_page("image_sets", **{"import": run.id})
    [error] = app.error
    assert "expected \\*a folder\\*" in error.value
    [form] = [part for part in app.expander if part.error]
    assert [button.key for button in form.button] == ["read import", "close import", "add source"]
    assert "my *zoo*.zip" in text_of(app), "the upload has to be dropped once more"


def test_an_import_of_a_known_set_says_so_and_cannot_be_undone(laboratory, open_page, tmp_path):
    # that of the set, written again
    folder = write_shapes(tmp_path / "shapes")
    again = import_here(laboratory.store, "PASCAL VOC", folder=str(folder))
    assert (again.result["key"], again.result["known"]) == (laboratory.shapes, True)
    app = open_page("image_sets", set=laboratory.figures, **{"import": again.id})
    assert any("already exists" in info.value for info in app.info)
    assert "undo import" not in button_keys(app)
