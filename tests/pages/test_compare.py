"""The page Compare: rankings side by side, which runs can be compared, and the files of a comparison."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from filled_home import train_here, train_settings
from homes import trained_besides
from image_sets import pictures
from PIL import Image
from shown import (
    address,
    button_keys,
    captions,
    choose,
    components,
    plain,
    plain_texts,
    press,
    texts,
    turn_to,
)

from pages.parts.app import cache, menu
from pages.parts.app.colours import IRRELEVANT, RELEVANT
from pages.parts.charts import sheets
from pages.parts.comparison import compared_rankings, compared_runs
from pages.parts.training import runs
from ranking.core import SourceBox
from ranking.datasets import build_image_set
from ranking.metrics.intervals import Interval
from ranking.metrics.ranked import first_mistake
from ranking.reports import comparison_files, comparison_words
from ranking.reports.compared import Compared
from ranking.reports.differences import sign_of
from ranking.reports.line_styles import of_methods
from ranking.storage import examples, jobs
from ranking.storage.examples import folder_of

QUERY = "playing instrument"
NAMES = ["SVM", "AP-SVM", "HOB-SVM"]


@pytest.fixture
def baselines(laboratory, homes, monkeypatch):
    """A copy of the laboratory with four runs on one query, as the home of the app."""

    def train(here):
        settings = (("SVM", {"C": 0.01, "unit": "paper"}), ("AP-SVM", {"C": 100.0}), ("AP-SVM", {"C": 1.0}))
        return [train_here(here.store, here.figures, QUERY, method, **given).id for method, given in settings]

    here, (svm, ap_svm, small) = trained_besides("baselines", train, laboratory, homes, monkeypatch)
    ids = {"svm": svm, "ap_svm": ap_svm, "ap_svm_small": small, "hob_svm": here.neighbours}
    return SimpleNamespace(laboratory=here, store=here.store, all=f"{svm},{ap_svm},{here.neighbours}", **ids)


def rows_of(app):
    [shown] = components(app, "ranking_rows")
    return shown


def titles_of(app):
    return [row["title"] for row in rows_of(app)["rows"]]


def compared_on_test(baselines):
    """The comparison of all three, its measures on images drawn again, and the images."""
    chosen = [baselines.store.runs.get(each) for each in baselines.all.split(",")]
    return (
        compared_rankings.comparison(chosen, "test"),
        compared_rankings.resampled(chosen, "test"),
        cache.image_set(baselines.laboratory.figures),
    )


# -------------------------------------------------------------------------------------------------- what is shown


def test_rows_show_the_top_ranks_and_the_table_has_paired_intervals(baselines, open_page):
    app = open_page("compare", compared=baselines.all, top="8")
    shown = rows_of(app)
    assert titles_of(app) == NAMES
    compared, comparison, images = compared_on_test(baselines)
    for row, ranked, run_id in zip(shown["rows"], compared.rankings, baselines.all.split(","), strict=True):
        assert [tile["id"] for tile in row["tiles"]] == images.ids[ranked.samples[:8]].tolist()
        marks = ["relevant" if relevant else "irrelevant" for relevant in ranked.relevance[:8]]
        assert [tile["mark"] for tile in row["tiles"]] == marks
        first = first_mistake(ranked.relevance)
        assert row["flagged"] == (first - 1 if first <= 8 else None)
        assert ranked.average_precision == baselines.store.runs.get(run_id).result["test"]["AP"]
        assert f"{ranked.average_precision:.3f}" in row["notes"][0]
        assert f"{first}" in row["notes"][1].split()
    assert len({(row["colour"], row["dash"]) for row in shown["rows"]}) == 3
    selected = shown["rows"][0]["tiles"][shown["rows"][0]["flagged"]]["id"]
    assert shown["selection"][1] == selected, "at first the first mistake is selected"

    assert comparison_words.verdict(NAMES, comparison) in plain_texts(app)
    [text] = [plain(each) for each in app.markdown if each.value.startswith("|  | AP |")]
    lines = [line.strip("| ").split(" | ") for line in text.splitlines()[2:]]
    for number, (name, *cells) in enumerate(lines):
        assert name == NAMES[number]
        for cell, measure in zip(cells, ("AP", "P@8", "NDCG"), strict=False):
            interval = comparison.interval(measure, number)
            assert cell.strip("*") == comparison_words.of_interval(interval)
            assert cell.startswith("**") == (interval.value == comparison.values[measure].max())
        if number:
            less = comparison.difference("AP", number, 0)
            expected = f"{comparison_words.of_difference(less)} {sign_of(less)}".rstrip()
            assert cells[3].strip("*") == expected


def test_the_verdict_names_the_highest_ap_and_the_runs_that_are_significantly_lower():
    for values, surely_beaten, highest, beaten in (
        ([0.9, 0.5, 0.6], {1, 2}, "First", "Second and Third"),
        ([0.5, 0.9, 0.6], {2}, "Second", "Third"),
        ([0.8999, 0.9, 0.5], {2}, "First and Second", "Third"),
        ([0.9, 0.9], {}, "First and Second", "no other"),
    ):
        comparison = SimpleNamespace(
            values={"AP": np.array(values)},
            difference=lambda _, best, second, sure=surely_beaten: Interval(
                0.1, 0.05 if second in sure else -0.05, 0.2
            ),
        )
        text = comparison_words.verdict(["First", "Second", "Third"][: len(values)], comparison)
        assert text == f"Highest AP 0.900 by {highest}, significantly above {beaten}."


def test_the_selected_sample_is_shown_after_the_top_ranks_if_its_rank_is_lower(baselines, open_page):
    compared, _, images = compared_on_test(baselines)
    sample = str(images.ids[compared.rankings[0].samples[99]])
    app = open_page("compare", compared=baselines.all, sample=sample)
    shown = rows_of(app)
    assert shown["selection"][1] == sample
    beyond = shown["beyond"][0]
    assert (beyond["id"], beyond["left"]) == (sample, "100")
    assert "SVM **100**" in texts(app)
    for row, further in zip(shown["rows"], shown["beyond"], strict=True):
        assert (sample in [tile["id"] for tile in row["tiles"]]) == (further is None)
    assert rows_of(app.run()) == shown, "an equal message does not travel again"

    choose(app.segmented_control, "split", "train")
    choose(app.slider, "top", 5)
    choose(app.segmented_control, "follow", "all")
    assert rows_of(app)["all"]
    assert {len(row["tiles"]) for row in rows_of(app)["rows"]} == {5}


def test_samples_with_the_largest_gain_of_ap_are_listed_first(baselines, open_page):
    app = open_page("compare", compared=baselines.all, pair=f"{baselines.hob_svm},{baselines.svm}")
    compared, _, images = compared_on_test(baselines)
    svm, _, hob_svm = range(3)
    largest = np.argsort(-compared.gains(hob_svm, svm), kind="stable")[:6]
    [most, *_] = components(app, "ranking_image_grid")
    assert [tile["id"] for tile in most["items"]] == images.ids[compared.samples[largest]].tolist()
    before, after = compared.ranks[[hob_svm, svm], largest[0]]
    assert most["items"][0]["left"] == f"{before}→{after}"
    difference = compared.rankings[svm].average_precision - compared.rankings[hob_svm].average_precision
    assert f"**{difference:+.3f}**".replace("-", "−") in texts(app)
    choose(app.segmented_control, "moved", "places")
    [most, *_] = components(app, "ranking_image_grid")
    assert most["items"][0]["right"] == f"+{compared.risen(hob_svm, svm).max():,}"


def test_equal_rankings_without_an_error_have_no_flag_and_no_movers(baselines, open_page):
    first = baselines.laboratory.on_shapes
    again = train_here(baselines.store, baselines.laboratory.shapes, "disc").id
    app = open_page("compare", compared=f"{first},{again}")
    shown = rows_of(app)
    assert [row["flagged"] for row in shown["rows"]] == [None, None]
    assert shown["selection"][1] == shown["rows"][0]["tiles"][0]["id"], "the first is selected"
    assert not components(app, "ranking_image_grid")


def test_split_without_relevant_samples_has_no_rows(baselines, open_page, monkeypatch):
    compared, *_ = compared_on_test(baselines)
    without = replace(compared, relevance=0 * compared.relevance)
    monkeypatch.setattr(compared_rankings, "comparison", lambda shown, split: without)
    app = open_page("compare", compared=baselines.all)
    assert app.info
    assert not components(app, "ranking_rows")


# ------------------------------------------------------------------------------------------------------ which runs


def test_by_default_the_newest_run_of_each_method_is_shown_in_the_order_of_the_paper(baselines, open_page):
    app = open_page("compare", run=baselines.hob_svm)
    assert address(app)["compared"] == f"{baselines.svm},{baselines.ap_svm_small},{baselines.hob_svm}"
    app = open_page("compare", run=baselines.ap_svm)
    assert address(app)["compared"] == baselines.all, "the run of the address stands for its method"
    app = open_page("compare")
    assert address(app)["compared"].startswith(baselines.svm), "the query with most methods comes first"


def test_the_page_and_the_exported_report_name_a_run_the_same(baselines, open_page):
    chosen = [baselines.store.runs.get(each) for each in (baselines.ap_svm, baselines.ap_svm_small)]
    exported = Compared.at_home(baselines.store, chosen)
    assert exported.names == ["AP-SVM, C = 100", "AP-SVM, C = 1"]
    app = open_page("compare", compared=",".join(run.id for run in chosen))
    assert titles_of(app) == exported.names


def test_a_run_is_compared_with_the_run_whose_settings_it_changed(baselines, open_page):
    app = open_page("compare", run=baselines.ap_svm_small, like=baselines.ap_svm)
    assert address(app)["compared"] == f"{baselines.ap_svm},{baselines.ap_svm_small}"
    app = open_page("compare", run=baselines.ap_svm_small, like=baselines.laboratory.not_converged)
    assert address(app)["compared"].startswith(baselines.svm), "that one has another query"


def test_bundled_runs_are_compared_only_where_there_is_nothing_else(baselines, open_page, monkeypatch):
    bundled = {baselines.svm: None}
    monkeypatch.setattr(examples, "is_example", lambda folder: folder.name in bundled)
    app = open_page("compare", run=baselines.ap_svm)
    assert address(app)["compared"] == f"{baselines.ap_svm},{baselines.hob_svm}"
    app = open_page("compare", run=baselines.svm)
    assert address(app)["compared"].startswith(baselines.svm), "it is asked for"
    bundled |= dict.fromkeys([baselines.hob_svm, baselines.ap_svm_small])
    app = open_page("compare", run=baselines.ap_svm)
    assert address(app)["compared"] == baselines.all


def test_line_styles_are_of_methods_and_never_shared(baselines, open_page):
    svm, large, small = map(
        baselines.store.runs.get, (baselines.svm, baselines.ap_svm, baselines.ap_svm_small)
    )
    app = open_page("compare", compared=",".join(run.id for run in (small, large, svm)))
    own = of_methods({name: name for name in NAMES})
    colours = [row["colour"] for row in rows_of(app)["rows"]]
    free = own["HOB-SVM"].colour
    assert colours == [own["AP-SVM"].colour, free, own["SVM"].colour], (
        "the second AP-SVM has the first unused one"
    )


def test_runs_that_cannot_be_compared_are_named(baselines):
    store, laboratory = baselines.store, baselines.laboratory
    imported, deleted, query_differs = store.runs.all("import")[0], baselines.ap_svm_small, baselines.hob_svm
    store.runs.delete(deleted)
    store.runs.update(query_differs, settings={**store.runs.get(query_differs).settings, "query": "reading"})
    first = store.runs.get(baselines.svm)
    for odd, named in (
        (laboratory.not_converged, runs.short_name(first)),
        (query_differs, runs.short_name(first)),
        (laboratory.failed, "failed"),
        (deleted, runs.short_name(store.runs.get(deleted))),
        (imported.id, imported.kind_name),
    ):
        with pytest.raises(ValueError, match=re.escape(named)):
            compared_runs._comparable(odd, [first])


def test_at_most_four_comparable_runs_are_kept_each_once(baselines, open_page, started):
    four = [baselines.svm, baselines.ap_svm, baselines.hob_svm, baselines.ap_svm_small]
    settings = train_settings(baselines.laboratory.figures, QUERY, "HOAP-SVM")
    fifth = jobs.start_once(baselines.store, "train", settings).id
    left_out = baselines.laboratory.not_converged, "abcdefghij", fifth
    app = open_page("compare", compared=",".join([four[0], *left_out[:2], *four, fifth]))
    assert [
        repr(run_id) in plain(warning) for run_id, warning in zip(left_out, app.warning, strict=True)
    ] == [True] * 3
    assert address(app)["compared"] == ",".join(four)
    turn_to(app, compared=f"{baselines.all},{fifth}")
    assert not app.warning
    assert titles_of(app) == NAMES, "while one is trained the others are compared"
    assert f"widget cancel {fifth}" in button_keys(app)


def test_choosing_fewer_than_two_asks_for_another_on_the_same_images(baselines, open_page):
    app = open_page("compare", compared=f"{baselines.ap_svm},{baselines.ap_svm_small}", top="5")
    choose(app.multiselect, "compared", [])
    assert "4" in app.info[0].value.split()
    press(app, "widget compare usual")
    assert titles_of(app) == NAMES
    choose(app.multiselect, "compared", [baselines.hob_svm, baselines.svm])
    assert titles_of(app) == ["HOB-SVM", "SVM"]
    app.query_params["pair"] = f"{baselines.svm},{baselines.hob_svm}"
    disc = (baselines.laboratory.shapes, "disc")
    choose(app.run().selectbox, "compared subject", disc)
    assert address(app)["compared"] == baselines.laboratory.on_shapes
    assert "pair" not in address(app)
    assert address(app)["top"] == "5", "another subject begins anew, as far as it is of the subject"


def test_one_run_offers_to_train_the_rest_of_the_paper_on_the_same_images(baselines, open_page, started):
    app = open_page("compare", compared=baselines.laboratory.on_shapes)
    press(app, "widget train missing")
    assert [run.settings["method"] for run in started] == ["SVM", "HOB-SVM", "HOAP-SVM"]
    like = baselines.store.runs.get(baselines.laboratory.on_shapes).settings
    assert all(run.settings[name] == like[name] for run in started for name in ("features", "set", "query"))
    svm, hob, hoap = (run.id for run in started)
    assert address(app)["compared"] == f"{svm},{baselines.laboratory.on_shapes},{hob},{hoap}"


def test_methods_whose_graph_joins_no_training_samples_are_left_out(baselines, open_page, started):
    """Images of one sample have a graph of similar samples; here, two samples share only the test images."""

    def draw(number, random):
        halves = [SourceBox((left, 0, left + 10, 20), (("dark", "light")[number % 2],)) for left in (0, 10)]
        return f"{number}", random.uniform(0, 255, (20, 20, 3)), halves if number % 3 == 2 else halves[:1]

    folder = baselines.store.home / "built"
    build_image_set(pictures("Halves", 12, draw), folder)
    key = baselines.store.sets.add(folder, "Halves")
    alone = train_here(baselines.store, key, "dark")
    app = open_page("compare", compared=baselines.laboratory.finished)
    press(app, "widget train missing")
    graphs = {run.settings["method"]: run.settings["graph"] for run in started}
    assert graphs == {"SVM": None, "HOB-SVM": "nearest", "HOAP-SVM": "nearest"}
    started.clear()
    turn_to(app, compared=alone.id)
    assert "Without HOB-SVM and HOAP-SVM" in captions(app)
    press(app, "widget train missing")
    assert [run.settings["method"] for run in started] == ["SVM"]
    baselines.store.runs.end(started[0].id, "cancelled", "")
    train_here(baselines.store, key, "dark", "SVM")
    turn_to(app, compared=alone.id)
    assert "widget train missing" not in button_keys(app), "nothing is left to train"


def test_where_nothing_is_ranked_a_button_leads_to_training(empty_home, open_page, started):
    empty_home.sets.add(folder_of("Action figures"), "Action figures")
    app = open_page("compare")
    press(app, "widget go to train")
    assert app.title[0].value == menu.PAGES["train"]
    assert not started


def test_table_of_runs_leads_to_the_comparison(baselines, open_page):
    app = open_page("train", run=baselines.svm, set=baselines.laboratory.figures)
    assert app.button(key="compare runs").disabled, "one alone cannot be compared"
    app.session_state["selected training runs"] = (baselines.svm, [baselines.svm, baselines.hob_svm])
    app.run()
    press(app, "compare runs")
    assert set(address(app)["compared"].split(",")) == {baselines.svm, baselines.hob_svm}


# ----------------------------------------------------------------------------------------------------------- files


def test_exported_files_have_every_rank_and_interval_and_the_image_its_frames(baselines):
    compared, comparison, images = compared_on_test(baselines)
    names = ["SVM", "=AP", "HOB"]
    lines = list(csv.reader(io.StringIO(comparison_files.ranks_csv(images, compared, names))))
    assert len(lines) == 1 + len(compared.samples)
    sample = int(compared.ranks[0].argmin())
    assert lines[1][0] == images.ids[compared.samples[sample]]
    assert [int(cell) for cell in lines[1][4::2]] == compared.ranks[:, sample].tolist()
    assert [float(cell) for cell in lines[1][5::2]] == compared.scores[:, sample].tolist()
    lines = list(csv.reader(io.StringIO(comparison_files.measures_csv(comparison, names, ["AP", "NDCG"]))))
    assert len(lines) == 1 + 3 * 2
    assert lines[3][:2] == ["'=AP", "AP"]
    assert [float(cell) for cell in lines[3][2:]] == [
        *comparison.interval("AP", 1),
        *comparison.difference("AP", 1, 0),
    ]

    thumbnails = cache.thumbnails(baselines.laboratory.figures)
    made = sheets.comparison_sheet(thumbnails, compared, NAMES, ["AP"] * 3, 6, 0, "headline")
    sheet = Image.open(io.BytesIO(made))
    side, band, foot = sheets.SIDE, sheets.BAND, sheets.FOOT
    assert sheet.width == sheets.HEAD + 6 * side + 2 * sheets.GAP
    for number, ranked in enumerate(compared.rankings):
        for place in range(6):
            left = sheets.HEAD + place * side
            upper = sheets.TOP + number * (side + foot + band)
            wanted = RELEVANT if ranked.relevance[place] else IRRELEVANT
            assert "#{:02X}{:02X}{:02X}".format(*sheet.getpixel((left + 2, upper + 2))) == wanted
