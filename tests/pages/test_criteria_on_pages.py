"""Sets whose samples have numbers instead of classes, on the pages that choose a set."""

from __future__ import annotations

import json
import math

import pytest
from image_sets import pictures
from shown import address, button_keys, charts_of, counts_in, press, text_of

from pages.parts.app import home, menu
from pages.parts.labelling import label_models
from ranking.core import SourceBox
from ranking.datasets import build_image_set

HOSTILE = "<img src=x> [year](x)"


def patch(number, random):
    """A patch without classes; a criterion that is always known has a hostile name."""
    numbers = {HOSTILE: 1920.0 + number // 2, "price": number / 3 if number > 8 else math.nan}
    return f"patch {number:03}", random.uniform(0, 255, (8, 8, 3)), (SourceBox(None, (), numbers=numbers),)


@pytest.fixture
def dated(laboratory, tmp_path):
    """The key of such a set in the home of the app."""
    build_image_set(pictures("Dated *boards*", 12, patch), tmp_path / "dated")
    return laboratory.store.sets.add(tmp_path / "dated", "Dated")


def test_numbers_are_shown_and_the_next_step_is_an_order(dated, open_page):
    app = open_page("image_sets", set=dated, sample="patch 011#1")
    text = text_of(app)
    assert "price 3.66667" in text
    assert "1925" in text
    assert "<img" not in "".join(part.value for part in (*app.markdown, *app.caption)).replace("\\<img", "")
    # to train on, to test on, from, to, different numbers
    counts = [8, 4, 1920, 1925, 6]
    assert counts in counts_in(app.caption)
    assert [box.label for box in app.selectbox if box.key == "widget sheet.class"] == []
    assert "widget go to train" not in button_keys(app)
    *_, chart = charts_of(app)
    assert [bar["name"] for bar in chart["data"]] == ["train", "test"]
    assert "<img" not in json.dumps(chart)
    criterion = next(box for box in app.selectbox if "price" in box.options)
    criterion.select("price").run()
    [unknown] = [counts for counts in counts_in(app.caption) if 9 in counts]
    assert unknown, "samples whose number is not known"
    press(app, "widget go to sequences")
    assert address(app)["order_set"] == dated
    assert app.title[0].value == menu.PAGES["sequences"]


def test_pages_that_need_classes_name_the_set_and_lead_to_orders(dated, open_page):
    app = open_page("train", set=dated)
    assert "Dated \\*boards\\*" in app.info[0].value
    assert "train" not in button_keys(app)
    press(app, "widget go to sequences")
    assert address(app)["order_set"] == dated
    with pytest.raises(home.Gone, match=r"Dated \*boards\*"):
        label_models.image_labels(dated)
    for page in ("label_interactions", "neighbours"):
        open_page(page, set=dated)
