"""The page Ranked images: its grid, its numbers, and what it says where there is nothing to rank by."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import numpy as np
import pytest
from filled_home import Laboratory
from PIL import Image
from shapes import HOSTILE
from shown import address, button_keys, components, plain_texts, texts, turn_to

from pages.parts import cache, export, runs
from pages.parts.colours import IRRELEVANT, RELEVANT
from pages.parts.frame import escaped
from ranking.metrics import average_precision, ndcg, precision_at_k
from ranking.ranked import Ranking


def grid_of(app):
    """What the grid of the ranking shows."""
    [grid] = [data for data in components(app, "ranking_image_grid") if data["label"].startswith("Ranked")]
    return grid


def row_of(app, name):
    [grid] = [data for data in components(app, "ranking_image_grid") if data["label"] == name]
    return grid


def line_of(app):
    [line] = components(app, "ranking_grid_line")
    return line


def parts_of(laboratory, run_id, test=True):
    run = laboratory.store.run(run_id)
    images = laboratory.store.image_set(run.settings["set"])
    rows = images.test == test
    return images.relevance(run.settings["query"])[rows], np.load(run.folder / "scores.npy")[rows]


def test_metrics_are_those_of_the_scores_on_disk(laboratory, open_page):
    app = open_page("ranked_images", run=laboratory.finished)
    for split in ("test", "train"):
        turn_to(app, run=laboratory.finished, split=split, k="20")
        relevance, scores = parts_of(laboratory, laboratory.finished, split == "test")
        assert {metric.label: metric.value for metric in app.metric} == {
            "AP": f"{average_precision(relevance, scores):.3f}",
            "P@20": f"{precision_at_k(relevance, scores, 20):.3f}",
            "NDCG": f"{ndcg(relevance, scores):.3f}",
            "Relevant": str(relevance.sum()),
            "Samples": str(len(scores)),
        }


def test_grid_shows_200_a_page_best_first_and_marked(laboratory, open_page):
    app = open_page("ranked_images", run=laboratory.finished)
    relevance, scores = parts_of(laboratory, laboratory.finished)
    items = grid_of(app)["items"]
    assert len(items) == 200
    assert [item["left"] for item in items[:3]] == ["1", "2", "3"]
    assert [float(item["right"]) for item in items] == pytest.approx(np.sort(scores)[::-1][:200], rel=0.006)
    assert all(item["src"].startswith("data:image/webp;base64,") for item in items)
    assert items[0]["alt"].startswith("rank 1, ")
    marks = [item["mark"] for item in items]
    assert marks.count("relevant") == relevance[np.argsort(-scores, kind="stable")][:200].sum()
    parts = list(app.main)
    grids = [
        number
        for number, part in enumerate(parts)
        if part.type == "bidi_component" and part.proto.component_name == "ranking_image_grid"
    ]
    above = {getattr(part, "key", None) for part in parts[: min(grids)]}
    assert {"widget view", "widget first irrelevant"} <= above, "what moves the grid stands above it"

    app.get("pagination")[0].set_value(2).run()
    assert address(app)["page"] == "2"
    assert grid_of(app)["items"][0]["left"] == "201"
    app.button(key="widget first irrelevant").click().run()
    ranked = cache.ranking(laboratory.store.run(laboratory.finished), "test")
    first = int(np.flatnonzero(ranked.relevance == 0)[0])
    assert first < 200
    assert "page" not in address(app)
    assert any(f" {first + 1} · ✗" in element.value for element in app.markdown)
    turn_to(app, run=laboratory.finished, page="3")
    app.segmented_control(key="widget split").set_value("train").run()
    assert "page" not in address(app)
    assert grid_of(app)["items"][0]["left"] == "1"


def test_equal_scores_are_shown_pessimistically(laboratory, open_page):
    run = laboratory.store.run(laboratory.on_shapes)
    np.save(run.folder / "scores.npy", np.zeros(len(np.load(run.folder / "scores.npy"))))
    marks = [item["mark"] for item in grid_of(open_page("ranked_images", run=run.id))["items"]]
    assert marks == sorted(marks), "irrelevant comes before relevant"
    assert len(set(marks)) == 2


def test_slider_for_k_writes_the_address_and_is_marked_in_the_grid(laboratory, open_page):
    app = open_page("ranked_images", run=laboratory.finished)
    assert app.slider(key="widget k").value == 10
    before, line = grid_of(app), line_of(app)
    assert line == {"channel": "widget sample", "id": before["items"][9]["id"], "label": "k = 10"}
    assert before["channel"] == line["channel"]
    app.slider(key="widget k").set_value(50).run()
    assert address(app)["k"] == "50"
    assert "P@50" in [metric.label for metric in app.metric]
    assert line_of(app)["id"] == before["items"][49]["id"]
    assert grid_of(app) == before, "the tiles need not travel again"


def test_wrong_addresses_are_listed_and_left_out(laboratory, open_page):
    wrong = {"k": "many", "page": "99", "split": "validation", "sample": "nobody"}
    app = open_page("ranked_images", run=laboratory.finished, **wrong)
    assert not app.exception
    listed = "\n".join(warning.value for warning in app.warning)
    assert all(f"{name} \\=" in listed and text in listed for name, text in wrong.items())
    turn_to(app, run="<script>", k="7")
    assert "\\<script\\>" in app.warning[0].value


def test_run_without_scores_leads_to_another(laboratory, started, open_page):
    app = open_page("ranked_images", run=laboratory.failed)
    assert not app.exception
    assert laboratory.failed in app.warning[0].value
    assert address(app)["run"] == laboratory.finished
    run = laboratory.store.run(laboratory.finished)
    run.scores_file.unlink()
    turn_to(app, run=run.id)
    assert run.id in app.warning[0].value
    assert address(app)["run"] != run.id
    with pytest.raises(cache.Gone):
        cache.ranking(run, "test")

    train = open_page("train", set=laboratory.digits)
    train.button(key="train").click().run()
    turn_to(app, run=started[0].id)
    assert button_keys(app) == ["widget go to train"], "where it is watched"
    for run in laboratory.store.runs("train"):
        laboratory.store.update_run(run.id, result={})
    laboratory.store.end_run(started[0].id, "cancelled")
    assert button_keys(turn_to(app)) == ["widget go to train"], (
        "where nothing is trained there is one next step"
    )


def test_scores_that_cannot_be_read_are_an_error_on_the_page(laboratory, open_page):
    app = open_page("ranked_images", run=laboratory.on_shapes)
    file = laboratory.store.run(laboratory.finished).folder / "scores.npy"
    for content in (b"", b"PK\x03\x04 half", b"\x93NUMPY"):
        file.write_bytes(content)
        assert laboratory.finished in turn_to(app, run=laboratory.finished).error[0].value, content


def test_hostile_labels_are_plain_text(laboratory, open_page):
    images = laboratory.store.image_set(laboratory.shapes)
    row = int(np.flatnonzero(images.labels[:, images.classes.index(HOSTILE)] & images.test)[0])
    app = open_page("ranked_images", run=laboratory.on_shapes, sample=str(images.ids[row]))
    assert not app.exception
    assert any(escaped(HOSTILE) in caption.value for caption in app.caption)
    assert HOSTILE in plain_texts(app)
    assert not re.search(r"(?<!\\)(<img|\]\()", texts(app))


def test_contact_sheet_marks_the_first_places(filled):
    ranked = Ranking(np.arange(20), np.arange(20) % 2, np.linspace(1, 0, 20))
    sheet = export.contact_sheet(filled.store.thumbnails(filled.digits), ranked, "title")
    picture = Image.open(io.BytesIO(sheet))
    corners = [
        (export.GAP + column * (export.SIDE + export.GAP), export.HEADER) for column in range(export.COLUMNS)
    ]
    expected = [RELEVANT if relevant else IRRELEVANT for relevant in ranked.relevance[: export.COLUMNS]]
    assert ["#{:02X}{:02X}{:02X}".format(*picture.getpixel(corner)) for corner in corners] == expected


def test_title_of_a_contact_sheet_tells_it_from_all_others(laboratory):
    run = laboratory.store.run(laboratory.finished)
    images, ranked = cache.image_set(laboratory.digits), cache.ranking(run, "test")
    headline, facts = export.title_of(run, images, ranked, "test").split("\n")
    assert headline == "AP-SVM on “3”, test"
    assert facts.startswith(f"AP {ranked.average_precision:.3f} · Digits, 1,797 images · Colour · C = 100.0")


def test_runs_of_one_name_are_told_apart(filled: Laboratory) -> None:
    """A selectbox sends the label of what is chosen: two alike would be one."""
    run = filled.store.run(filled.finished)
    named = runs.labels([run, replace(run, id="a" * 10)])
    assert len(set(named.values())) == 2
    assert runs.labels([run]) == {run.id: runs.name_of(run)}
