"""Correcting wrong labels on the page Ranked images, and training with the corrections."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from shown import address, button_keys, captions, choose, compared, components, press, turn_to
from training_runs import finished

from pages.parts.app import cache, keys
from pages.parts.comparison import compared_rankings
from pages.parts.training import export, runs
from ranking.metrics import average_precision
from ranking.reports.settings_words import names_of
from ranking.storage.corrections import csv_text
from ranking.storage.store import Store

RELEVANT, IRRELEVANT, UNDO = (
    "widget mark as relevant",
    "widget mark as irrelevant",
    "widget undo correction",
)


@pytest.fixture
def digits(laboratory):
    return laboratory.store.sets.get(laboratory.digits)


@pytest.fixture
def ranked(laboratory):
    return cache.ranking(laboratory.store.runs.get(laboratory.finished), "test")


@pytest.fixture
def corrections(laboratory):
    return Store(laboratory.home).corrections


def ids_at(images, ranked, places):
    return images.ids[ranked.samples[places]].tolist()


def tile_of(app, sample):
    items = [item for data in components(app, "ranking_image_grid") for item in data["items"]]
    return next(item for item in items if item["id"] == sample)


def test_one_sample_is_marked_and_unmarked(laboratory, digits, ranked, corrections, open_page):
    [sample] = ids_at(digits, ranked, np.flatnonzero(ranked.relevance == 0)[:1])
    app = open_page("ranked_images", run=laboratory.finished, sample=sample)
    assert (app.button(key=RELEVANT).disabled, app.button(key=IRRELEVANT).disabled) == (False, True)
    assert UNDO not in button_keys(app)
    measures = [metric.value for metric in app.metric]
    before, tile = digits.labels.copy(), tile_of(app, sample)
    assert tile["corrected"] == ""
    press(app, RELEVANT)
    standing = corrections.standing(laboratory.digits, "3")
    assert [(each.sample, each.original, each.corrected) for each in standing.values()] == [
        (sample, False, True)
    ]
    marked = tile_of(app, sample)
    assert (marked["corrected"], marked["mark"]) == ("✓", "irrelevant"), (
        "its border is still the original label"
    )
    assert marked["alt"].endswith("corrected to relevant")
    assert "1 correction of “3”" in captions(app)
    assert [metric.value for metric in app.metric] == measures, "by the original labels"
    assert "All metrics use the original labels" in captions(app)
    assert (app.button(key=RELEVANT).disabled, app.button(key=IRRELEVANT).disabled) == (True, False)
    again = open_page("ranked_images", run=laboratory.finished, sample=sample)
    assert tile_of(again, sample)["corrected"] == "✓", "another tab reads it from the disk"
    press(app, UNDO)
    assert corrections.standing(laboratory.digits, "3") == {}
    assert tile_of(app, sample) == tile
    assert "1 correction" not in captions(app)
    assert np.array_equal(laboratory.store.sets.get(laboratory.digits).labels, before)


def test_several_samples_are_marked_at_once_and_listed(laboratory, digits, ranked, corrections, open_page):
    places = [*np.flatnonzero(ranked.relevance)[:1], *np.flatnonzero(ranked.relevance == 0)[:2]]
    ids = ids_at(digits, ranked, places)
    app = open_page("ranked_images", run=laboratory.finished, sample=ids[0])
    app.session_state[keys.TOGETHER] = {"sample": ids}
    app.run()
    assert app.button(key=IRRELEVANT).label == "✗ Mark all 3 as irrelevant"
    press(app, RELEVANT)
    assert sorted(corrections.standing(laboratory.digits, "3")) == sorted(ids[1:]), "one is relevant already"
    assert "2 corrections of “3”" in captions(app)
    table = app.dataframe[0].value
    assert dict(zip(table["sample"], table["corrected to"], strict=True)) == {
        ids[0]: "",
        **dict.fromkeys(ids[1:], "✓"),
    }
    press(app, IRRELEVANT)
    assert list(corrections.standing(laboratory.digits, "3")) == ids[:1]
    for left in (2, 0):
        press(app, UNDO)
        assert len(corrections.standing(laboratory.digits, "3")) == left


def test_corrections_are_downloaded_where_there_are_some(laboratory, digits, corrections, open_page):
    app = open_page("ranked_images", run=laboratory.finished)
    assert "Corrections as CSV" not in [each.proto.label for each in app.get("download_button")]
    corrections.mark(laboratory.digits, "8", {str(digits.ids[0]): False}, True)
    turn_to(app, run=laboratory.finished)
    assert "Corrections as CSV" in [each.proto.label for each in app.get("download_button")], "of any class"
    [row] = csv.DictReader(io.StringIO(csv_text(corrections.all(laboratory.digits))))
    assert list(row) == ["id", "class", "original", "corrected", "when"]


def test_a_run_is_trained_with_corrections_only_where_that_is_switched_on(
    laboratory, digits, corrections, started, open_page
):
    app = open_page("train", run=laboratory.finished)
    assert "widget corrections" not in [toggle.key for toggle in app.toggle], "there are none"
    ids = sorted(digits.ids[np.flatnonzero(digits.relevance("3"))[:2]].tolist())
    corrections.mark(laboratory.digits, "8", dict.fromkeys(ids, False), True)
    turn_to(app, run=laboratory.finished)
    assert "widget corrections" not in [toggle.key for toggle in app.toggle], "they are of another class"
    corrections.mark(laboratory.digits, "3", dict.fromkeys(ids, True), False)
    turn_to(app, run=laboratory.finished)
    toggle = app.toggle(key="widget corrections")
    assert (toggle.label, toggle.value) == ("Use my 2 corrections of “3”", False)
    press(app, "train")
    assert "corrections" not in started[-1].settings
    turn_to(app, run=laboratory.finished)
    choose(app.toggle, "corrections", True)
    assert address(app)["corrections"] == "True"
    assert any("corrected labels 0 → 2" in text for text in compared(app))
    press(app, "train")
    assert started[-1].settings["corrections"] == ids
    assert len(started) == 2
    turn_to(app, run=started[-1].id)
    assert app.toggle(key="widget corrections").value, "the run's own settings"
    assert not compared(app)
    corrections.undo(laboratory.digits, corrections.last_press(laboratory.digits, "3").id)
    turn_to(app, run=started[-1].id)
    assert any("corrected labels 2 → 0" in text for text in compared(app)), "the run keeps what it was given"


@pytest.fixture
def corrected(laboratory, digits):
    """A run trained with two training and two test samples corrected, and their ids."""
    rows = [*np.flatnonzero(digits.relevance("3") & digits.test)[:2], *np.flatnonzero(~digits.test)[:2]]
    ids = digits.ids[rows].tolist()
    plain = laboratory.store.runs.get(laboratory.finished).settings
    return finished(laboratory.store, {**plain, "corrections": ids}), ids


def test_a_run_with_corrections_is_measured_by_them_and_says_so(laboratory, digits, corrected, open_page):
    run, ids = corrected
    app = open_page("ranked_images", run=run.id)
    scores, relevance = np.load(run.scores_file)[digits.test], digits.relevance("3", ids)[digits.test]
    assert relevance.sum() == digits.relevance("3")[digits.test].sum() - 2
    [shown] = [metric.value for metric in app.metric if metric.label == "AP"]
    assert shown == f"{average_precision(relevance, scores):.3f}" == f"{run.result['test']['AP']:.3f}"
    assert "4 corrected labels: 2 of training samples, 2 of test samples." in captions(app)
    turn_to(app, run=run.id, sample=ids[0])
    tile = tile_of(app, ids[0])
    assert (tile["mark"], tile["corrected"]) == ("irrelevant", "✗"), (
        "nothing is corrected any more but in the run"
    )
    assert "rank " in tile["alt"]
    assert "corrected labels = 4" in runs.telling(run)
    assert "with corrected labels" in runs.name_of(run)
    assert "4 corrected labels" in export.title_of(run, digits, cache.ranking(run, "test"), "test")
    turn_to(app, run=laboratory.finished)
    assert "corrected" not in captions(app).replace("correct it", "")
    on_train = open_page("train", run=run.id)
    assert "Trained and evaluated with 4 corrected labels." in captions(on_train)


def test_rankings_are_compared_by_the_original_labels(laboratory, digits, corrected, open_page):
    run, _ = corrected
    chosen = [run, laboratory.store.runs.get(laboratory.finished)]
    app = open_page("compare", compared=",".join(each.id for each in chosen))
    assert np.array_equal(
        compared_rankings.comparison(chosen, "test").relevance, digits.relevance("3")[digits.test]
    )
    name = names_of(chosen)[0]
    assert (
        f"use the original labels. Runs with corrected labels: {name} (2 of training samples, 2 of test samples)."
        in captions(app)
    )
    turn_to(app, compared=f"{laboratory.finished},{laboratory.not_converged}")
    assert "corrected" not in captions(app)
