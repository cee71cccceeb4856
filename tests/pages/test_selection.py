"""One selection for all pages, and what the contact sheet and the ranked grid make of it."""

from __future__ import annotations

import numpy as np
import pytest
from shown import address, components, turn_to
from test_ranked_images import grid_of, row_of

from pages.parts import cache, keys, tiles


def test_sample_is_marked_on_every_page(laboratory, open_page):
    images = laboratory.store.image_set(laboratory.shapes)
    ranked, sets = open_page("ranked_images"), open_page("image_sets")
    for row in (5, 30):
        sample = str(images.ids[row])
        turn_to(ranked, run=laboratory.on_shapes, sample=sample)
        split = "test" if images.test[row] else "train"
        assert ranked.segmented_control(key="widget split").value == split
        assert grid_of(ranked)["told"][1:] == [sample, [sample]]
        turn_to(sets, set=laboratory.shapes, sample=sample)
        [picture] = components(sets, "ranking_picture")
        strong = [tuple(box["box"]) for box in picture["boxes"] if box["strong"]]
        assert strong == [tuple(images.boxes[row].tolist())]
        assert components(sets, "ranking_image_grid")[1]["told"][1] == sample


def test_sample_leads_to_its_page(laboratory, open_page):
    ranked = cache.ranking(laboratory.store.run(laboratory.finished), "test")
    images = laboratory.store.image_set(laboratory.digits)
    sample = str(images.ids[ranked.samples[450]])
    app = open_page("ranked_images", run=laboratory.finished, sample=sample)
    assert grid_of(app)["items"][50]["id"] == sample
    app.get("pagination")[0].set_value(1).run()
    assert address(app)["sample"] == sample, "turning pages keeps it"
    app = open_page("image_sets", set=laboratory.digits, sample=sample)
    [grid, *_] = components(app, "ranking_image_grid")
    assert sample in [item["id"] for item in grid["items"]]


def test_sheet_shows_a_class_and_a_split(laboratory, open_page, monkeypatch):
    images = laboratory.store.image_set(laboratory.shapes)
    app = open_page("image_sets", set=laboratory.shapes)
    for split in ("train", "test"):
        turn_to(app, set=laboratory.shapes, **{"sheet.class": "disc", "sheet.split": split})
        shows = (images.relevance("disc") > 0) & (images.test == (split == "test"))
        [sheet, *_] = components(app, "ranking_image_grid")
        names = [str(images.image_names[image]) for image in sorted(set(images.image_of[shows].tolist()))]
        assert [item["left"] for item in sheet["items"]] == names
    app.segmented_control(key="widget sheet.split").set_value(None).run()
    assert "sheet.split" not in address(app)
    assert address(app)["sheet.class"] == "disc"

    labels = images.labels.copy()
    labels[images.test] = False
    held = {name: value for name, value in vars(images).items() if name != "test"}
    monkeypatch.setattr(cache, "image_set", lambda key: type(images)(**held | {"labels": labels}))
    turn_to(app, set=laboratory.shapes, **{"sheet.class": "disc", "sheet.split": "test"})
    assert app.info, "there is nothing to show"


def test_selected_together_are_listed_by_rank(laboratory, open_page):
    ranked = cache.ranking(laboratory.store.run(laboratory.finished), "test")
    images = laboratory.store.image_set(laboratory.digits)
    ids = [str(images.ids[ranked.samples[place]]) for place in (7, 3, 4)]
    app = open_page("ranked_images", run=laboratory.finished, sample=ids[0], split="test")
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

    first, last = row_of(app, "First errors")["items"], row_of(app, "Misses")["items"]
    irrelevant, relevant = np.flatnonzero(ranked.relevance == 0), np.flatnonzero(ranked.relevance)
    assert [int(item["left"]) for item in first] == (irrelevant[:10] + 1).tolist()
    assert [int(item["left"]) for item in last] == (relevant[::-1][:10] + 1).tolist()
    assert {item["mark"] for item in first} == {"irrelevant"}
    assert {item["mark"] for item in last} == {"relevant"}


def test_whole_image_with_the_box_of_the_sample(laboratory, open_page):
    app = open_page("ranked_images", run=laboratory.on_shapes, view="whole")
    images = laboratory.store.image_set(laboratory.shapes)
    for item in grid_of(app)["items"]:
        row = int(np.flatnonzero(images.ids == item["id"])[0])
        left, top, width, height = (200 * share for share in item["box"])  # the images are 200 by 150
        box = (left, top - 25, left + width, top - 25 + height)
        assert box == pytest.approx(images.boxes[row].tolist())
        assert dict(item["card"])["image"].startswith("photo_")
    rows = [row for image in range(len(images.image_names)) for row in tiles.samples_of(images, image)]
    assert sorted(rows) == list(range(len(images))), "every sample of an image has a box"
