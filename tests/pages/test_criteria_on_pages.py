"""Sets whose samples have numbers instead of classes, on the pages that choose a set."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import pytest
from label_home import board

from pages.parts import cache
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


@pytest.fixture
def open_dated(dated, open_page):
    return lambda page, **told: open_page(page, set=dated, **told)


def test_the_numbers_are_shown_where_there_are_no_classes(open_dated):
    app = open_dated("image_sets", sample="board 11#1")
    assert not app.exception
    said = " ".join(element.value for element in (*app.markdown, *app.caption))
    assert "price 3\\.66667" in said
    assert "1925" in said
    assert "<img" not in said.replace("\\<img", "")
    assert "8 samples to train on and 4 to test on, from 1920 to 1925" in said
    assert "there are 6 different numbers" in said
    assert [box.label for box in app.selectbox if box.label == "Images that show"] == []
    assert not [button for button in app.button if button.label == "Train on this image set"]
    [chart] = app.get("plotly_chart")
    drawn = json.loads(chart.proto.spec)["data"]
    assert [bar["name"] for bar in drawn] == ["train", "test"]
    assert "<img" not in chart.proto.spec.replace("\\u003c", "<")
    app.selectbox(key=next(box.key for box in app.selectbox if box.label == "Criterion")).select(
        "price"
    ).run()
    assert not app.exception
    said = " ".join(element.value for element in app.caption)
    assert "Of 9 samples the number is not known" in said


def test_training_says_what_such_a_set_is_for(open_dated):
    app = open_dated("train")
    assert not app.exception
    assert "has no classes, so there is none to rank first" in app.info[0].value
    assert "Dated \\*boards\\*" in app.info[0].value
    assert not [button for button in app.button if button.label == "Train"]


def test_a_set_without_classes_has_no_labels_to_rank(dated, open_dated):
    app = open_dated("label_interactions")
    assert not app.exception
    with pytest.raises(cache.Gone, match="labels"):
        cache.image_labels(dated)


@pytest.mark.parametrize(
    "page", ["start", "ranked_images", "sample_graph", "max_marginals", "label_questions"]
)
def test_other_pages_are_as_they_were(open_dated, page):
    assert not open_dated(page).exception


@pytest.mark.parametrize(
    ("page", "label"), [("image_sets", "Put its samples in order"), ("train", "Put them in order")]
)
def test_the_next_step_of_such_a_set_is_an_order(dated, open_dated, page, label):
    app = open_dated(page)
    [button] = [one for one in app.button if one.label == label]
    button.click().run()
    assert not app.exception
    assert app.query_params["order_set"] == dated
    assert app.title[0].value == "Orders"
