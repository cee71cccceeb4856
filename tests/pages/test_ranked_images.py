from __future__ import annotations

import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from filled_home import Laboratory
from PIL import Image
from shapes import HOSTILE

from pages.parts import cache, export, runs
from pages.parts.colours import IRRELEVANT, RELEVANT
from ranking.metrics import average_precision, ndcg, precision_at_k
from ranking.ranked import Ranking
from ranking.store import Store


def grid_of(app):
    """What the grid of the ranking shows."""
    [grid] = [data for data in components(app, "ranking_image_grid") if data["label"].startswith("Ranked")]
    return grid


def row_of(app, name):
    [grid] = [data for data in components(app, "ranking_image_grid") if data["label"] == name]
    return grid


def components(app, name):
    found = [part for part in app.get("bidi_component") if part.proto.component_name == name]
    return [json.loads(part.proto.json) for part in found]


def parts_of(laboratory, run_id, test=True):
    run = laboratory.store.run(run_id)
    images = laboratory.store.image_set(run.settings["set"])
    rows = images.test == test
    return images.relevance(run.settings["query"])[rows], np.load(run.folder / "scores.npy")[rows]


@pytest.mark.parametrize("split", ["test", "train"])
def test_the_metrics_are_those_of_the_scores_on_disk(laboratory, open_page, split):
    app = open_page("ranked_images", run=laboratory.finished, split=split, k="20")
    assert not app.exception
    relevance, scores = parts_of(laboratory, laboratory.finished, split == "test")
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown == {
        "AP": f"{average_precision(relevance, scores):.3f}",
        "P@20": f"{precision_at_k(relevance, scores, 20):.3f}",
        "NDCG": f"{ndcg(relevance, scores):.3f}",
        "Relevant": str(relevance.sum()),
        "Samples": str(len(scores)),
    }


def test_the_grid_shows_200_a_page_best_first_and_marked(laboratory, open_page):
    app = open_page("ranked_images", run=laboratory.finished)
    relevance, scores = parts_of(laboratory, laboratory.finished)
    items = grid_of(app)["items"]
    assert len(items) == 200
    assert [item["left"] for item in items[:3]] == ["1", "2", "3"]
    assert [float(item["right"]) for item in items] == pytest.approx(np.sort(scores)[::-1][:200], rel=0.006)
    assert all(item["src"].startswith("data:image/webp;base64,") for item in items)
    spoken = {"relevant": "rank 1, relevant, score ", "irrelevant": "rank 1, not relevant, score "}
    assert items[0]["alt"].startswith(spoken[items[0]["mark"]])
    app.get("pagination")[0].set_value(2).run()
    assert app.query_params["page"] == "2"
    assert grid_of(app)["items"][0]["left"] == "201"
    marks = [item["mark"] for item in items]
    assert marks.count("relevant") == relevance[np.argsort(-scores, kind="stable")][:200].sum()


def test_equal_scores_are_shown_pessimistically(laboratory, open_page):
    run = laboratory.store.run(laboratory.on_shapes)
    np.save(run.folder / "scores.npy", np.zeros(len(np.load(run.folder / "scores.npy"))))
    marks = [item["mark"] for item in grid_of(open_page("ranked_images", run=run.id))["items"]]
    assert marks == sorted(marks), "irrelevant comes before relevant"
    assert len(set(marks)) == 2


def test_the_slider_for_k_writes_the_address(laboratory, open_page):
    app = open_page("ranked_images", run=laboratory.finished)
    assert app.slider(key="widget k").value == 10
    app.slider(key="widget k").set_value(50).run()
    assert app.query_params["k"] == "50"
    assert "P@50" in [metric.label for metric in app.metric]


def test_the_chosen_k_is_marked_in_the_grid(laboratory, open_page):
    app = open_page("ranked_images", run=laboratory.finished, k="20")
    before, [line] = grid_of(app), components(app, "ranking_grid_line")
    assert line == {"channel": "widget sample", "id": before["items"][19]["id"], "label": "k = 20"}
    assert before["channel"] == line["channel"]
    app.slider(key="widget k").set_value(30).run()
    [line] = components(app, "ranking_grid_line")
    assert line["id"] == before["items"][29]["id"]
    assert grid_of(app) == before, "the tiles need not travel again"


def test_the_first_irrelevant_is_one_press_away(laboratory, open_page):
    app = open_page("ranked_images", run=laboratory.finished, page="3")
    first = int(
        np.flatnonzero(cache.ranking(laboratory.store.run(laboratory.finished), "test").relevance == 0)[0]
    )
    assert first < 200
    app.button(key="widget first irrelevant").click().run()
    assert not app.exception
    assert "page" not in app.query_params
    assert any(f"Rank {first + 1} · ✗" in element.value for element in app.markdown)


def test_another_split_starts_at_its_first_page(laboratory, open_page):
    app = open_page("ranked_images", run=laboratory.finished, page="3")
    app.segmented_control(key="widget split").set_value("train").run()
    assert "page" not in app.query_params
    assert grid_of(app)["items"][0]["left"] == "1"


def test_wrong_addresses_are_said_and_left_out(laboratory, open_page):
    wrong = {"k": "many", "page": "99", "split": "validation", "sample": "nobody"}
    app = open_page("ranked_images", run=laboratory.finished, **wrong)
    assert not app.exception
    said = "\n".join(warning.value for warning in app.warning)
    assert all(f"{name} \\=" in said for name in wrong)
    app = open_page("ranked_images", run="<script>")
    assert not app.exception
    assert "\\<script\\>" in app.warning[0].value


def test_a_training_without_scores_leads_to_another(laboratory, open_page):
    app = open_page("ranked_images", run=laboratory.failed)
    assert not app.exception
    assert "has failed and has no scores" in app.warning[0].value
    assert app.query_params["run"] == laboratory.finished


def test_scores_that_are_gone_are_said(laboratory, open_page):
    run = laboratory.store.run(laboratory.finished)
    run.scores_file.unlink()
    app = open_page("ranked_images", run=run.id)
    assert not app.exception
    assert f"Training {run.id} has finished and has no scores" in app.warning[0].value
    assert app.query_params["run"] != run.id
    with pytest.raises(cache.Gone, match=f"training {run.id} is finished and has no scores; train again"):
        cache.ranking(run, "test")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 half", b"\x93NUMPY"])
def test_scores_that_cannot_be_read_are_said(laboratory, open_page, content):
    (laboratory.store.run(laboratory.finished).folder / "scores.npy").write_bytes(content)
    app = open_page("ranked_images", run=laboratory.finished)
    assert not app.exception
    assert "cannot be read" in app.error[0].value
    assert "train again" in app.error[0].value


def test_a_training_under_way_leads_to_where_it_is_watched(laboratory, started, open_page):
    app = open_page("train", set=laboratory.digits)
    app.button(key="train").click().run()
    app = open_page("ranked_images", run=started[0].id)
    assert "still going on" in app.markdown[0].value
    assert [button.label for button in app.button] == ["Watch it train"]


def test_with_nothing_trained_there_is_one_next_step(laboratory, open_page):
    for run in laboratory.store.runs("train"):
        laboratory.store.update_run(run.id, result={})
    app = open_page("ranked_images")
    assert not app.exception
    assert [button.label for button in app.button] == ["Train a method"]


def test_hostile_labels_are_plain_text(laboratory, open_page):
    images = laboratory.store.image_set(laboratory.shapes)
    row = int(np.flatnonzero(images.labels[:, images.classes.index(HOSTILE)] & images.test)[0])
    app = open_page("ranked_images", run=laboratory.on_shapes, sample=str(images.ids[row]))
    assert not app.exception
    assert any("\\<img src\\=http" in caption.value for caption in app.caption)
    for element in (*app.markdown, *app.caption):
        assert not re.search(r"(?<!\\)(<img|\]\()", element.value)


def test_the_table_holds_the_whole_ranking(laboratory):
    store = Store(laboratory.home)
    run = store.run(laboratory.on_shapes)
    images = store.image_set(run.settings["set"])
    lines = export.csv_text(images, {"test": cache.ranking(run, "test")}).splitlines()
    relevance, scores = parts_of(laboratory, run.id)
    assert len(lines) == len(scores) + 1
    assert [float(line.split(",")[1]) for line in lines[1:]] == sorted(scores, reverse=True)
    assert sum(int(line.split(",")[2]) for line in lines[1:]) == relevance.sum()


def test_the_contact_sheet_marks_the_first_places(laboratory):
    ranked = Ranking(np.arange(20), np.arange(20) % 2, np.linspace(1, 0, 20))
    sheet = export.contact_sheet(laboratory.store.thumbnails(laboratory.digits), ranked, "title")
    picture = Image.open(io.BytesIO(sheet))
    corners = [
        (export.GAP + column * (export.SIDE + export.GAP), export.HEADER) for column in range(export.COLUMNS)
    ]
    expected = [RELEVANT if relevant else IRRELEVANT for relevant in ranked.relevance[: export.COLUMNS]]
    assert ["#{:02X}{:02X}{:02X}".format(*picture.getpixel(corner)) for corner in corners] == expected


def test_the_title_of_a_contact_sheet_tells_it_from_all_others(laboratory):
    run = laboratory.store.run(laboratory.finished)
    images, ranked = cache.image_set(laboratory.digits), cache.ranking(run, "test")
    headline, facts = export.title_of(run, images, ranked, "test").split("\n")
    assert headline == "AP-SVM on “3”, test"
    assert facts.startswith(f"AP {ranked.average_precision:.3f} · Digits, 1,797 images · Colour · C = 100.0")


def test_what_moves_the_grid_stands_above_it(laboratory, open_page):
    app = open_page("ranked_images", run=laboratory.finished)
    parts = list(app.main)
    grid_at = min(
        number for number, part in enumerate(parts) if part.type == "bidi_component" and is_grid(part)
    )
    above = {getattr(part, "key", None) for part in parts[:grid_at]}
    assert {"widget view", "widget first irrelevant"} <= above


def is_grid(part):
    return part.proto.component_name == "ranking_image_grid"


def test_trainings_of_one_name_are_told_apart(filled: Laboratory) -> None:
    """A selectbox sends the label of what is chosen: two alike would be one."""
    run = filled.store.run(filled.finished)
    named = runs.labels([run, replace(run, id="a" * 10)])
    assert len(set(named.values())) == 2
    assert runs.labels([run]) == {run.id: runs.name_of(run)}
