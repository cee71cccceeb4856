"""The page Ranked images: its grid, its numbers, one selection for all pages, and no run to show."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from filled_home import Laboratory
from PIL import Image
from shown import address, button_keys, choose, components, plain, press, turn_to

from pages.parts.app import cache, home, keys
from pages.parts.app.colours import IRRELEVANT, RELEVANT
from pages.parts.charts import sheets
from pages.parts.components import tiles
from pages.parts.training import export, runs
from ranking.datasets import Thumbnails
from ranking.metrics import average_precision, ndcg, precision_at_k
from ranking.metrics.ranked import Ranking, first_irrelevant


def grid_of(app, name="Ranked"):
    [grid] = [data for data in components(app, "ranking_image_grid") if data["label"].startswith(name)]
    return grid


def line_of(app):
    [line] = components(app, "ranking_grid_line")
    return line


@pytest.fixture
def digits(laboratory):
    return laboratory.store.sets.get(laboratory.digits)


@pytest.fixture
def shapes(laboratory):
    return laboratory.store.sets.get(laboratory.shapes)


@pytest.fixture
def ranked(laboratory):
    return cache.ranking(laboratory.store.runs.get(laboratory.finished), "test")


def test_metrics_are_those_of_the_scores_on_disk(laboratory, digits, open_page):
    app, all_scores = (
        open_page("ranked_images"),
        np.load(laboratory.store.runs.get(laboratory.finished).scores_file),
    )
    for split in ("test", "train"):
        turn_to(app, run=laboratory.finished, split=split, k="20")
        rows = digits.test == (split == "test")
        relevance, scores = digits.relevance("3")[rows], all_scores[rows]
        assert {metric.label: metric.value for metric in app.metric} == {
            "AP": f"{average_precision(relevance, scores):.3f}",
            "P@20": f"{precision_at_k(relevance, scores, 20):.3f}",
            "NDCG": f"{ndcg(relevance, scores):.3f}",
            "Relevant": str(relevance.sum()),
            "Samples": str(len(scores)),
        }


def test_grid_shows_200_a_page_best_first_and_marked(laboratory, digits, ranked, open_page):
    app = open_page("ranked_images", run=laboratory.finished)
    items = grid_of(app)["items"]
    assert [item["id"] for item in items] == digits.ids[ranked.samples[:200]].tolist()
    assert [item["left"] for item in items] == [str(rank) for rank in range(1, 201)]
    assert [float(item["right"]) for item in items] == pytest.approx(ranked.scores[:200].tolist(), rel=0.006)
    assert [item["mark"] == "relevant" for item in items] == (ranked.relevance[:200] > 0).tolist()
    assert all(item["src"].startswith("data:image/webp;base64,") for item in items)
    assert items[0]["alt"].startswith("rank 1, ")
    parts = [
        getattr(part.proto, "component_name", None) or part.key for part in app.main if hasattr(part, "key")
    ]
    above = parts[: parts.index("ranking_image_grid")]
    assert {"widget view", "widget first irrelevant"} <= set(above), "what moves the grid stands above it"

    app.get("pagination")[0].set_value(2).run()
    assert address(app)["page"] == "2"
    assert grid_of(app)["items"][0]["left"] == "201"
    press(app, "widget first irrelevant")
    assert "page" not in address(app)
    assert any(f" {first_irrelevant(ranked.relevance)} · ✗" in element.value for element in app.markdown)
    turn_to(app, run=laboratory.finished, page="3")
    choose(app.segmented_control, "split", "train")
    assert "page" not in address(app)
    assert grid_of(app)["items"][0]["left"] == "1"


def test_slider_for_k_writes_the_address_and_is_marked_in_the_grid(laboratory, open_page):
    app = open_page("ranked_images", run=laboratory.finished)
    assert app.slider(key="widget k").value == 10
    before = grid_of(app)
    expected = {"channel": before["channel"], "id": before["items"][9]["id"], "label": "k = 10"}
    assert line_of(app) == expected
    choose(app.slider, "k", 50)
    assert address(app)["k"] == "50"
    assert "P@50" in [metric.label for metric in app.metric]
    assert line_of(app)["id"] == before["items"][49]["id"]
    assert grid_of(app) == before, "the tiles need not travel again"


def test_run_without_scores_leads_to_another(laboratory, started, open_page):
    app = open_page("ranked_images", run=laboratory.failed)
    assert "failed and has no scores" in app.warning[0].value
    assert address(app)["run"] == laboratory.finished
    run = laboratory.store.runs.get(laboratory.finished)
    run.scores_file.unlink()
    turn_to(app, run=run.id)
    assert "finished and has no scores" in app.warning[0].value
    assert address(app)["run"] != run.id
    with pytest.raises(home.Gone):
        cache.ranking(run, "test")

    press(open_page("train", set=laboratory.digits), "train")
    turn_to(app, run=started[0].id)
    assert button_keys(app) == ["widget go to train"], "where it is watched"
    for run in laboratory.store.runs.all("train"):
        laboratory.store.runs.update(run.id, result={})
    laboratory.store.runs.end(started[0].id, "cancelled")
    assert button_keys(turn_to(app)) == ["widget go to train"], "nothing is trained: one next step"


def test_scores_that_cannot_be_read_are_an_error_on_the_page(laboratory, open_page):
    app = open_page("ranked_images", run=laboratory.on_shapes)
    file = laboratory.store.runs.get(laboratory.finished).scores_file
    for content in (b"", b"PK\x03\x04 half", b"\x93NUMPY"):
        file.write_bytes(content)
        assert laboratory.finished in turn_to(app, run=laboratory.finished).error[0].value, content


def test_sample_is_marked_on_every_page(laboratory, shapes, open_page):
    on_ranked, on_sets = open_page("ranked_images"), open_page("image_sets")
    for row in (5, 30):
        sample = str(shapes.ids[row])
        turn_to(on_ranked, run=laboratory.on_shapes, sample=sample)
        split = "test" if shapes.test[row] else "train"
        assert on_ranked.segmented_control(key="widget split").value == split
        assert grid_of(on_ranked)["selection"][1:] == [sample, [sample]]
        turn_to(on_sets, set=laboratory.shapes, sample=sample)
        [picture] = components(on_sets, "ranking_picture")
        strong = [tuple(box["box"]) for box in picture["boxes"] if box["strong"]]
        assert strong == [tuple(shapes.boxes[row].tolist())]
        assert components(on_sets, "ranking_image_grid")[1]["selection"][1] == sample


def test_sample_leads_to_its_page(laboratory, digits, ranked, open_page):
    sample = str(digits.ids[ranked.samples[450]])
    app = open_page("ranked_images", run=laboratory.finished, sample=sample)
    assert grid_of(app)["items"][50]["id"] == sample
    app.get("pagination")[0].set_value(1).run()
    assert address(app)["sample"] == sample, "turning pages keeps it"
    app = open_page("image_sets", set=laboratory.digits, sample=sample)
    assert sample in [item["id"] for item in components(app, "ranking_image_grid")[0]["items"]]


def test_selected_together_are_listed_by_rank(laboratory, digits, ranked, open_page):
    ids = [str(digits.ids[ranked.samples[place]]) for place in (7, 3, 4)]
    app = open_page("ranked_images", run=laboratory.finished, sample=ids[0], split="test")
    app.session_state[keys.TOGETHER] = {"sample": ids}
    table = app.run().dataframe[0].value
    assert table["rank"].tolist() == [4, 5, 8]
    assert table["score"].tolist() == ranked.scores[[3, 4, 7]].tolist()
    assert any(f"{ranked.scores[[3, 4, 7]].mean():+.4g}" in caption.value for caption in app.caption)
    app.query_params["sample"] = str(digits.ids[ranked.samples[0]])
    app.run()
    assert not app.dataframe, "another sample in the address stands alone"


def test_first_errors_and_misses_are_those_of_the_ranking(laboratory, ranked, open_page):
    app = open_page("ranked_images", run=laboratory.finished)
    irrelevant, relevant = np.flatnonzero(ranked.relevance == 0), np.flatnonzero(ranked.relevance)
    errors = [place for place in irrelevant if (relevant > place).any()]
    misses = [place for place in relevant[::-1] if (irrelevant < place).any()]
    for name, places, mark in (
        ("Highest-ranked irrelevant samples", np.array(errors[:10]), "irrelevant"),
        ("Lowest-ranked relevant samples", np.array(misses[:10]), "relevant"),
    ):
        items = grid_of(app, name)["items"]
        assert [int(item["left"]) for item in items] == (places + 1).tolist()
        assert {item["mark"] for item in items} == {mark}


def test_a_ranking_without_an_error_shows_none(laboratory, ranked, open_page, monkeypatch):
    perfect = replace(ranked, relevance=np.sort(ranked.relevance)[::-1])
    monkeypatch.setattr(cache, "ranking", lambda run, split: perfect)
    app = open_page("ranked_images", run=laboratory.finished)
    captions = [caption.value for caption in app.caption]
    assert captions.count("All relevant samples of this split rank above all irrelevant ones.") == 2
    assert not any("hard to find" in caption for caption in captions)


def test_whole_image_with_the_box_of_the_sample(laboratory, shapes, open_page):
    app = open_page("ranked_images", run=laboratory.on_shapes, view="whole")
    for item in grid_of(app)["items"]:
        row = int(np.flatnonzero(shapes.ids == item["id"])[0])
        # the images are 200 by 150
        left, top, width, height = (200 * share for share in item["box"])
        box = (left, top - 25, left + width, top - 25 + height)
        assert box == pytest.approx(shapes.boxes[row].tolist())
        assert dict(item["card"])["image"].startswith("photo_")
    rows = [row for image in range(len(shapes.image_names)) for row in tiles.samples_of(shapes, image)]
    assert sorted(rows) == list(range(len(shapes))), "every sample of an image has a box"


def test_contact_sheet_marks_the_first_places(filled):
    ranked = Ranking(np.arange(20), np.arange(20) % 2, np.linspace(1, 0, 20))
    sheet = sheets.contact_sheet(Thumbnails(filled.store.sets.folder(filled.digits)), ranked, "title")
    picture = Image.open(io.BytesIO(sheet))
    for column, relevant in enumerate(ranked.relevance[: sheets.COLUMNS]):
        corner = picture.getpixel((sheets.GAP + column * (sheets.SIDE + sheets.GAP), sheets.HEADER))
        assert "#{:02X}{:02X}{:02X}".format(*corner) == (RELEVANT if relevant else IRRELEVANT)


def test_title_of_a_contact_sheet_tells_it_from_all_others(laboratory, digits, ranked):
    run = laboratory.store.runs.get(laboratory.finished)
    headline, facts = export.title_of(run, digits, ranked, "test").split("\n")
    assert headline == "AP-SVM on “3”, test"
    assert facts.startswith(f"AP {ranked.average_precision:.3f} · Digits, 1,797 images · Colour · C = 100.0")


def test_runs_of_one_name_become_unique(filled: Laboratory) -> None:
    """A selectbox sends the label of what is chosen: two alike would be one."""
    run = filled.store.runs.get(filled.finished)
    named = runs.labels([run, replace(run, id="a" * 10)])
    assert list(named.values()) == [f"{runs.name_of(run)} · 2", runs.name_of(run)], "newest first"
    assert runs.labels([run]) == {run.id: runs.name_of(run)}


# ------------------------------------------------------------------------------------ what the grid shows


def places_of(app):
    """The ranks in the grid, counted from 0."""
    return [int(item["left"].replace(",", "")) - 1 for item in grid_of(app)["items"]]


def caption_of(app):
    """What is said below the grid."""
    texts = "first dashed border", "ranks from the whole ranking"
    return next(each.value for each in app.caption if any(text in each.value for text in texts))


@pytest.mark.parametrize("k", [10, 60])
def test_the_grid_shows_some_samples_with_their_ranks_among_all(laboratory, ranked, open_page, k):
    relevant, top = ranked.relevance > 0, np.arange(len(ranked)) < k
    app = open_page("ranked_images", run=laboratory.finished, k=str(k))
    for name, kept in {
        "relevant": relevant,
        "irrelevant": ~relevant,
        "errors": ~relevant & top,
        "misses": relevant & ~top,
    }.items():
        choose(app.segmented_control, "filter", name)
        assert address(app)["filter"] == name
        expected = np.flatnonzero(kept)
        if not len(expected):
            assert not [
                data for data in components(app, "ranking_image_grid") if data["label"].startswith("Ranked")
            ]
            assert any("None of the" in info.value for info in app.info)
            press(app, "widget show all")
            assert "filter" not in address(app)
            continue
        assert places_of(app) == expected[:200].tolist()
        assert caption_of(app).startswith(f"**{len(expected):,} of {len(ranked):,} samples**: ")
        last = expected[expected < k]
        assert line_of(app)["id"] == (grid_of(app)["items"][len(last) - 1]["id"] if len(last) else "")
    choose(app.segmented_control, "filter", "all")
    assert places_of(app) == list(range(200))
    assert " of " not in caption_of(app)


def test_a_range_of_scores_is_in_the_address_and_joins_the_other_filter(laboratory, ranked, open_page):
    app = open_page("ranked_images", run=laboratory.finished)
    slider = app.slider(key="widget score_range")
    assert slider.min <= ranked.scores.min() < ranked.scores.max() <= slider.max
    low, high = float(np.median(ranked.scores)), float(ranked.scores[2])
    choose(app.slider, "score_range", (low, high))
    low, high = (float(end) for end in address(app)["score_range"].split(","))
    between = (ranked.scores >= low) & (ranked.scores <= high)
    assert 0 < between.sum() < len(ranked)
    assert places_of(app) == np.flatnonzero(between)[:200].tolist()
    assert f"{between.sum():,} of {len(ranked):,}" in caption_of(app)
    choose(app.segmented_control, "filter", "relevant")
    both = np.flatnonzero(between & (ranked.relevance > 0))
    assert places_of(app) == both[:200].tolist()
    assert "relevant samples with scores from" in caption_of(app)
    choose(app.segmented_control, "split", "train")
    assert "score_range" not in address(app), "the scores of others"
    for bad in ("1", "2,1", "a,b", "1,nan"):
        turn_to(app, run=laboratory.finished, score_range=bad)
        assert any(f"score_range = '{bad}'" in plain(warning) for warning in app.warning), bad
    turn_to(app, run=laboratory.finished, score_range="-1e9,1e9")
    assert app.slider(key="widget score_range").value == (slider.min, slider.max)
    assert places_of(app) == list(range(200))


def test_a_sample_that_is_filtered_out_is_shown_beside_and_the_way_to_the_first_error_shows_all(
    laboratory, digits, ranked, open_page
):
    relevant = int(np.flatnonzero(ranked.relevance)[0])
    sample = str(digits.ids[ranked.samples[relevant]])
    app = open_page("ranked_images", run=laboratory.finished, filter="irrelevant", sample=sample)
    assert f"The selected sample, at rank {relevant + 1}, is not among them." in caption_of(app)
    assert any(element.value.startswith(f"#### Rank {relevant + 1} ") for element in app.markdown)
    press(app, "widget first irrelevant")
    assert not {"filter", "score_range"} & address(app).keys()
    first = first_irrelevant(ranked.relevance)
    assert any(element.value.startswith(f"#### Rank {first} ") for element in app.markdown)
    turn_to(app, run=laboratory.finished, filter="irrelevant")
    assert any(element.value.startswith(f"#### Rank {first} ") for element in app.markdown), "the first shown"
    app.get("pagination")[0].set_value(2).run()
    assert places_of(app) == np.flatnonzero(ranked.relevance == 0)[200:400].tolist()
    choose(app.segmented_control, "filter", "all")
    assert "page" not in address(app), "another page of what is shown now would tell nothing"
