"""Sets whose samples have numbers instead of classes, on the pages that choose a set."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import pytest
from label_home import board
from shown import button_keys, counts_in, text_of

from pages.parts import cache, frame
from ranking.datasets import build_image_set
from ranking.types import SourceBox, SourceImage

HOSTILE = "<img src=x> [year](x)"


@dataclass
class Dated:
    """Twelve boards with numbers of two criteria, one of which is known of few; no classes."""

    name: str = "Dated"

    def title(self):
        return "Dated *boards*"

    def __len__(self):
        return 12

    def records(self):
        for number in range(12):
            numbers = {HOSTILE: 1920.0 + number // 2, "price": number / 3 if number > 8 else math.nan}
            lit = [place == number for place in range(36)]
            yield SourceImage(
                f"board {number:02d}",
                board(lit),
                (SourceBox(None, (), numbers=numbers),),
                test=number % 3 == 0,
            )


@pytest.fixture
def dated(laboratory, tmp_path):
    """The key of such a set in the home of the app."""
    build_image_set(Dated(), tmp_path / "dated")
    return laboratory.store.adopt(tmp_path / "dated", "Dated")


def test_numbers_are_shown_and_the_next_step_is_an_order(dated, open_page):
    app = open_page("image_sets", set=dated, sample="board 11#1")
    assert not app.exception
    text = text_of(app)
    assert "price 3.66667" in text
    assert "1925" in text
    assert "<img" not in "".join(part.value for part in (*app.markdown, *app.caption)).replace("\\<img", "")
    counts = [8, 4, 1920, 1925, 6]  # to train on, to test on, from, to, different numbers
    assert counts in counts_in(app.caption)
    assert [box.label for box in app.selectbox if box.key == "widget sheet.class"] == []
    assert "widget go to train" not in button_keys(app)
    [chart] = app.get("plotly_chart")
    drawn = json.loads(chart.proto.spec)["data"]
    assert [bar["name"] for bar in drawn] == ["train", "test"]
    assert "<img" not in chart.proto.spec.replace("\\u003c", "<")
    criterion = next(box for box in app.selectbox if "price" in box.options)
    criterion.select("price").run()
    assert not app.exception
    assert [caption for caption in app.caption if "“price” of" in caption.value and " 9 " in caption.value], (
        "samples whose number is not known"
    )
    app.button(key="widget go to orders").click().run()
    assert not app.exception
    assert app.query_params["order_set"] == dated
    assert app.title[0].value == frame.PAGES["orders"]


def test_pages_that_need_classes_name_the_set_and_lead_to_orders(dated, open_page):
    app = open_page("train", set=dated)
    assert not app.exception
    assert "Dated \\*boards\\*" in app.info[0].value
    assert not {"train"} & set(button_keys(app))
    app.button(key="widget go to orders").click().run()
    assert app.query_params["order_set"] == dated
    with pytest.raises(cache.Gone, match=r"Dated \*boards\*"):
        cache.image_labels(dated)
    for page in ("label_interactions", "sample_graph", "max_marginals"):
        assert not open_page(page, set=dated).exception
