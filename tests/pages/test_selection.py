"""One selection for all pages, and what the contact sheet and the ranked grid make of it."""

from __future__ import annotations

import numpy as np
import pytest
from test_image_sets import component, components
from test_ranked_images import grid_of, row_of

from pages.parts import cache, keys, tiles


def test_a_sample_is_marked_on_every_page(laboratory, open_page):
    images = laboratory.store.image_set(laboratory.shapes)
    for row in (5, 30):
        sample = str(images.ids[row])
        app = open_page("ranked_images", run=laboratory.on_shapes, sample=sample)
        assert app.segmented_control(key="widget split").value == ("test" if images.test[row] else "train")
        assert grid_of(app)["told"][1:] == [sample, [sample]]
        app = open_page("image_sets", set=laboratory.shapes, sample=sample)
        boxes = component(app, "ranking_picture")["boxes"]
        assert [tuple(box["box"]) for box in boxes if box["strong"]] == [tuple(images.boxes[row].tolist())]
        assert components(app, "ranking_image_grid")[1]["told"][1] == sample


def test_a_sample_leads_to_its_page(laboratory, open_page):
    ranked = cache.ranking(laboratory.store.run(laboratory.finished), "test")
    images = laboratory.store.image_set(laboratory.digits)
    sample = str(images.ids[ranked.samples[450]])
    app = open_page("ranked_images", run=laboratory.finished, sample=sample)
    assert grid_of(app)["items"][50]["id"] == sample
    app.get("pagination")[0].set_value(1).run()
    assert app.query_params["sample"] == sample, "turning pages keeps it"
    app = open_page("image_sets", set=laboratory.digits, sample=sample)
    shown = [item["id"] for item in component(app, "ranking_image_grid")["items"]]
    assert sample in shown


@pytest.mark.parametrize("split", ["train", "test"])
def test_the_sheet_shows_a_class_and_a_split(laboratory, open_page, split):
    images = laboratory.store.image_set(laboratory.shapes)
    app = open_page("image_sets", set=laboratory.shapes, **{"sheet.class": "disc", "sheet.split": split})
    assert not app.exception
    wanted = set(
        images.image_of[(images.relevance("disc") > 0) & (images.test == (split == "test"))].tolist()
    )
    shown = [item["left"] for item in component(app, "ranking_image_grid")["items"]]
    assert shown == [str(images.image_names[image]) for image in sorted(wanted)]
    app.segmented_control(key="widget sheet.split").set_value(None).run()
    assert "sheet.split" not in app.query_params
    assert app.query_params["sheet.class"] == "disc"


def test_a_sheet_with_nothing_says_so(laboratory, open_page, monkeypatch):
    images = cache.image_set(laboratory.shapes)
    labels = images.labels.copy()
    labels[images.test] = False
    empty = type(images)(
        **{name: value for name, value in vars(images).items() if name != "test"} | {"labels": labels}
    )
    monkeypatch.setattr(cache, "image_set", lambda key: empty)
    app = open_page("image_sets", set=laboratory.shapes, **{"sheet.class": "disc", "sheet.split": "test"})
    assert not app.exception
    assert "Choose another" in app.info[0].value


def test_selected_together_are_listed_by_rank(laboratory, open_page):
    ranked = cache.ranking(laboratory.store.run(laboratory.finished), "test")
    images = laboratory.store.image_set(laboratory.digits)
    ids = [str(images.ids[ranked.samples[place]]) for place in (7, 3, 4)]
    app = open_page("ranked_images", run=laboratory.finished, sample=ids[0])
    app.session_state[keys.TOGETHER] = {"sample": ids}
    app.run()
    assert not app.exception
    table = app.dataframe[0].value
    assert table["rank"].tolist() == [4, 5, 8]
    assert table["score"].tolist() == ranked.scores[[3, 4, 7]].tolist()
    assert any(f"{ranked.scores[[3, 4, 7]].mean():+.4g}" in caption.value for caption in app.caption)
    app.query_params["sample"] = str(images.ids[ranked.samples[0]])
    app.run()
    assert not app.dataframe, "another sample in the address stands alone"


def test_first_errors_and_misses(laboratory, open_page):
    app = open_page("ranked_images", run=laboratory.finished, split="test")
    ranked = cache.ranking(laboratory.store.run(laboratory.finished), "test")
    first, last = row_of(app, "First errors")["items"], row_of(app, "Misses")["items"]
    wrong, right = np.flatnonzero(ranked.relevance == 0), np.flatnonzero(ranked.relevance)
    assert [int(item["left"]) for item in first] == (wrong[:10] + 1).tolist()
    assert [int(item["left"]) for item in last] == (right[::-1][:10] + 1).tolist()
    assert {item["mark"] for item in first} == {"irrelevant"}
    assert {item["mark"] for item in last} == {"relevant"}


def test_the_whole_image_with_the_box_of_the_sample(laboratory, open_page):
    app = open_page("ranked_images", run=laboratory.on_shapes, view="whole")
    images = laboratory.store.image_set(laboratory.shapes)
    for item in grid_of(app)["items"]:
        row = int(np.flatnonzero(images.ids == item["id"])[0])
        left, top, width, height = (200 * share for share in item["box"])  # the images are 200 by 150
        box = (left, top - 25, left + width, top - 25 + height)
        assert box == pytest.approx(images.boxes[row].tolist())
        assert dict(item["card"])["image"].startswith("photo_")


def test_every_sample_of_an_image_is_found(laboratory):
    images = laboratory.store.image_set(laboratory.shapes)
    found = [row for image in range(len(images.image_names)) for row in tiles.samples_of(images, image)]
    assert sorted(found) == list(range(len(images)))
