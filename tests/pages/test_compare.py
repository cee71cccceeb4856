"""The page Compare: rankings side by side, which runs can be compared, and the files of a comparison."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace

import numpy as np
import pytest
from filled_home import Laboratory, train_here, train_settings
from homes import Homes, trained_besides
from PIL import Image
from shown import address, button_keys, components, texts, turn_to

from pages.parts import cache, compared_runs, comparison_export, method_looks, runs
from pages.parts.colours import IRRELEVANT, RELEVANT
from ranking import jobs, run_archive
from ranking.comparison import Comparison
from ranking.intervals import redrawn
from ranking.metrics import average_precision, ndcg, precision_at_k
from ranking.ranked import first_mistake
from ranking.reports import comparison_files, comparison_words
from ranking.reports.looks import OF_METHODS
from ranking.store import Store

QUERY = "playing instrument"
NAMES = ["SVM", "AP-SVM", "HOB-SVM"]


@dataclass(frozen=True)
class Rivals:
    """A home with four runs on one query, and what else the laboratory has."""

    laboratory: Laboratory
    svm: str
    ap_svm: str
    ap_svm_small: str
    hob_svm: str

    @property
    def store(self) -> Store:
        return self.laboratory.store

    @property
    def all(self) -> str:
        return f"{self.svm},{self.ap_svm},{self.hob_svm}"


@pytest.fixture
def rivals(laboratory: Laboratory, homes: Homes, monkeypatch: pytest.MonkeyPatch) -> Rivals:
    """A copy that this test may change, as the home of the app."""

    def train(here: Laboratory) -> list[str]:
        settings = (("SVM", 0.01), ("AP-SVM", 100.0), ("AP-SVM", 1.0))
        return [train_here(here.store, here.figures, QUERY, method, C=C).id for method, C in settings]

    here, made = trained_besides("rivals", train, laboratory, homes, monkeypatch)
    return Rivals(here, *made, hob_svm=here.neighbours)


def rows_of(app):
    [shown] = components(app, "ranking_rows")
    return shown


def titles_of(app):
    return [row["title"] for row in rows_of(app)["rows"]]


def parts_of(rivals, run_id):
    run = rivals.store.run(run_id)
    images = rivals.store.image_set(run.settings["set"])
    rows = images.test
    return images, images.relevance(QUERY)[rows], np.load(run.scores_file)[rows], images.groups[rows]


def cells_of(app):
    """The rows of the table of measures by their names."""
    [text] = [each.value.replace("\\", "") for each in app.markdown if each.value.startswith("|  | AP |")]
    lines = [line.strip("| ").split(" | ") for line in text.splitlines()]
    return {line[0].strip("| "): line[1:] for line in lines[2:]}


def warning_of(app):
    [warning] = app.warning
    return warning.value.replace("\\", "")


# -------------------------------------------------------------------------------------------------- what is shown


def test_rows_are_the_first_places_and_the_table_has_paired_intervals(rivals, open_page):
    app = open_page("compare", compared=rivals.all, top="8")
    assert not app.exception
    shown = rows_of(app)
    assert titles_of(app) == NAMES
    parts = [parts_of(rivals, run_id) for run_id in rivals.all.split(",")]
    for row, (images, relevance, scores, _) in zip(shown["rows"], parts, strict=True):
        order = np.lexsort((relevance, -scores))
        assert [tile["id"] for tile in row["tiles"]] == images.ids[images.test][order][:8].tolist()
        marks = ["relevant" if relevance[place] else "irrelevant" for place in order[:8]]
        assert [tile["mark"] for tile in row["tiles"]] == marks
        first = first_mistake(relevance[order])
        assert row["flagged"] == (first - 1 if first <= 8 else None)
        assert f"{average_precision(relevance, scores):.3f}" in row["notes"][0]
        assert f"{first}" in row["notes"][1].split()
    assert len({(row["colour"], row["dash"]) for row in shown["rows"]}) == 3
    selected = shown["rows"][0]["tiles"][shown["rows"][0]["flagged"]]["id"]
    assert shown["told"][1] == selected, "at first the first mistake is selected"

    lines = cells_of(app)
    assert list(lines) == NAMES
    _, relevance, _, units = parts[0]
    scores = np.array([scores for _, _, scores, _ in parts])
    again = redrawn(relevance, scores, units, cutoffs=(8,))
    assert comparison_words.verdict(NAMES, again) in texts(app).replace("\\", "")
    for number, cells in enumerate(lines.values()):
        values = [average_precision(relevance, scores[number]), precision_at_k(relevance, scores[number], 8)]
        values.append(ndcg(relevance, scores[number]))
        for cell, value, measure in zip(cells, values, ("AP", "P@8", "NDCG"), strict=False):
            interval = again.interval(measure, number)
            assert cell.strip("*") == f"{value:.3f}\xa0[{interval.low:.3f},\xa0{interval.high:.3f}]"
            assert cell.startswith("**") == (value == again.values[measure].max())
        if number:
            difference = again.difference("AP", number, 0)
            less = f"{values[0] - again.values['AP'][0]:+.3f}".replace("-", "−")
            assert cells[3].strip("*").startswith(less)
            assert cells[3].endswith("△" if difference.low > 0 else "▽" if difference.high < 0 else "]")


def test_verdict_follows_from_the_numbers():
    generator = np.random.default_rng(0)
    relevance = np.arange(300) % 5 == 0
    noise = generator.standard_normal(300)
    good, bad = noise + 2.0 * relevance, noise
    like_good = good + 0.01 * generator.standard_normal(300)

    def verdict(scores, names):
        again = redrawn(relevance.astype(int), scores, np.arange(300), draws=100)
        return comparison_words.verdict(names, again), again.values["AP"]

    text, values = verdict([bad, good, like_good], ["Bad", "Good", "Like"])
    best, second = ("Good", "Like") if values[1] > values[2] else ("Like", "Good")
    assert text.startswith(f"{best} ")
    assert f"{values.max():.3f}" in text
    assert text.index("Bad") < text.index(second), "first those that it surely beats"
    text, values = verdict([good, 2 * good, bad], ["First", "Second", "Third"])
    assert ["First" in text, "Second" in text, "Third" in text] == [True, True, False]
    text, values = verdict([good, 2 * good], ["First", "Second"])
    assert ["First" in text, "Second" in text, f"{values[0]:.3f}" in text] == [False, False, True]


def test_chosen_sample_is_followed_and_stands_after_the_dots_where_it_is_further_down(rivals, open_page):
    images, relevance, scores, _ = parts_of(rivals, rivals.svm)
    order = np.lexsort((relevance, -scores))
    sample = str(images.ids[images.test][order[99]])
    app = open_page("compare", compared=rivals.all, sample=sample)
    shown = rows_of(app)
    assert shown["told"][1] == sample
    beyond = shown["beyond"][0]
    assert (beyond["id"], beyond["left"]) == (sample, "100")
    assert "SVM **100**" in texts(app)
    for row, further in zip(shown["rows"], shown["beyond"], strict=True):
        assert (sample in [tile["id"] for tile in row["tiles"]]) == (further is None)
    assert rows_of(app.run()) == shown, "an equal message does not travel again"

    app.segmented_control(key="widget split").set_value("train").run()
    app.slider(key="widget top").set_value(5).run()
    app.segmented_control(key="widget follow").set_value("all").run()
    assert not app.exception
    chosen = {"split": "train", "top": "5", "follow": "all"}
    assert chosen.items() <= address(app).items()
    assert rows_of(app)["all"]
    assert {len(row["tiles"]) for row in rows_of(app)["rows"]} == {5}


def test_what_gives_most_to_ap_sums_to_the_difference(rivals, open_page):
    app = open_page("compare", compared=rivals.all, pair=f"{rivals.hob_svm},{rivals.svm}")
    assert not app.exception
    rankings = [cache.ranking(rivals.store.run(each), "test") for each in (rivals.hob_svm, rivals.svm)]
    compared = Comparison.of(rankings)
    gains = compared.gains(0, 1)
    [most, *_] = components(app, "ranking_image_grid")
    images = cache.image_set(rivals.laboratory.figures)
    largest = np.argsort(-gains, kind="stable")[:6]
    assert [tile["id"] for tile in most["items"]] == images.ids[compared.samples[largest]].tolist()
    before, after = compared.places[:, largest[0]]
    assert most["items"][0]["left"] == f"{before}→{after}"
    difference = compared.rankings[1].average_precision - compared.rankings[0].average_precision
    assert f"**{difference:+.3f}**".replace("-", "−") in texts(app)
    app.segmented_control(key="widget moved").set_value("places").run()
    [most, *_] = components(app, "ranking_image_grid")
    assert most["items"][0]["right"] == f"+{compared.risen(0, 1).max():,}"


def test_equal_rankings_without_a_mistake_have_nothing_to_flag_or_to_move(rivals, open_page):
    first = rivals.laboratory.on_shapes
    again = run_archive.import_run(rivals.store, run_archive.export_run(rivals.store, first)).id
    app = open_page("compare", compared=f"{first},{again}")
    assert not app.exception
    shown = rows_of(app)
    assert [row["flagged"] for row in shown["rows"]] == [None, None]
    assert shown["told"][1] == shown["rows"][0]["tiles"][0]["id"], "the first is selected"
    assert not components(app, "ranking_image_grid")


def test_split_without_relevant_samples_has_no_rows(rivals, open_page, monkeypatch):
    whole = cache.comparison

    def without(shown, split):
        compared = whole(shown, split)
        return replace(compared, relevance=0 * compared.relevance)

    monkeypatch.setattr(cache, "comparison", without)
    app = open_page("compare", compared=rivals.all)
    assert not app.exception
    assert app.info
    assert not components(app, "ranking_rows")


# ------------------------------------------------------------------------------------------------------ which runs


def test_without_a_choice_the_newest_of_each_method_stand_in_the_order_of_the_paper(rivals, open_page):
    app = open_page("compare", run=rivals.hob_svm)
    assert not app.exception
    assert address(app)["compared"] == f"{rivals.svm},{rivals.ap_svm_small},{rivals.hob_svm}"
    app = open_page("compare", run=rivals.ap_svm)
    assert address(app)["compared"] == rivals.all, "the run of the address stands for its method"
    app = open_page("compare")
    assert address(app)["compared"].startswith(rivals.svm), "the query with most methods comes first"


def test_names_and_looks_are_of_methods_and_never_shared(rivals):
    svm, large, small, hob = (
        rivals.store.run(each) for each in (rivals.svm, rivals.ap_svm, rivals.ap_svm_small, rivals.hob_svm)
    )
    assert list(compared_runs.titles([large, small]).values()) == ["AP-SVM, C = 100", "AP-SVM, C = 1"]
    looks = method_looks.of_runs([small, large, svm])
    assert looks[rivals.svm] == OF_METHODS["SVM"]
    assert looks[rivals.ap_svm_small] == OF_METHODS["AP-SVM"]
    assert looks[rivals.ap_svm] == OF_METHODS["HOB-SVM"], "the first that is left"
    assert len(set(method_looks.of_runs([svm, large, small, hob]).values())) == 4
    with pytest.raises(ValueError, match="6"):
        method_looks.of_runs(3 * [svm, large])


def test_what_cannot_be_compared_is_listed_and_left_out(rivals, open_page):
    store, laboratory = rivals.store, rivals.laboratory
    imported, deleted, other_query = store.runs("import")[0], rivals.ap_svm_small, rivals.hob_svm
    store.delete_run(deleted)
    settings = store.run(other_query).settings
    store.update_run(other_query, settings={**settings, "query": "reading"})
    kept = [rivals.svm, rivals.ap_svm]
    app = open_page("compare")
    for top, (odd, named) in enumerate(
        (
            (laboratory.not_converged, runs.short_name(store.run(rivals.svm))),
            (other_query, runs.short_name(store.run(rivals.svm))),
            (laboratory.failed, "failed"),
            (deleted, runs.short_name(store.run(deleted))),
            (imported.id, imported.called),
            ("abcdefghij", ""),
        ),
        start=5,
    ):  # a number of places of its own, so that what was listed before is not listed again
        turn_to(app, compared=",".join([kept[0], odd, kept[1]]), top=str(top))
        assert repr(odd) in warning_of(app)
        assert named in warning_of(app)
        assert address(app)["compared"] == ",".join(kept)
        assert len(rows_of(app)["rows"]) == 2


def test_at_most_four_and_each_once(rivals, open_page, started):
    four = [rivals.svm, rivals.ap_svm, rivals.hob_svm, rivals.ap_svm_small]
    settings = train_settings(rivals.laboratory.figures, QUERY, "HOAP-SVM")
    fifth = jobs.start_once(rivals.store, "train", settings).id
    app = open_page("compare", compared=",".join([*four, four[0], fifth]))
    assert repr(fifth) in warning_of(app)
    assert address(app)["compared"] == ",".join(four)
    turn_to(app, compared=f"{rivals.all},{fifth}")
    assert not app.warning
    assert len(rows_of(app)["rows"]) == 3, "while one is trained the others are compared"
    assert f"widget cancel {fifth}" in button_keys(app)


def test_choosing_fewer_than_two_asks_for_another_on_the_same_images(rivals, open_page):
    app = open_page("compare", compared=f"{rivals.ap_svm},{rivals.ap_svm_small}", top="5")
    app.multiselect(key="widget compared").set_value([]).run()
    assert not app.exception
    assert "4" in app.info[0].value.split()
    app.button(key="widget compare usual").click().run()
    assert titles_of(app) == NAMES
    app.multiselect(key="widget compared").set_value([rivals.hob_svm, rivals.svm]).run()
    assert titles_of(app) == ["HOB-SVM", "SVM"]
    app.query_params["pair"] = f"{rivals.svm},{rivals.hob_svm}"
    disc = compared_runs.Subject(rivals.laboratory.shapes, "disc")
    app.run().selectbox(key="widget compared subject").set_value(disc).run()
    assert not app.exception
    assert address(app)["compared"] == rivals.laboratory.on_shapes
    assert "pair" not in address(app)
    assert address(app)["top"] == "5", "another subject begins anew, as far as it is of the subject"


def test_one_run_offers_to_train_the_rest_of_the_paper_on_the_same_images(rivals, open_page, started):
    app = open_page("compare", compared=rivals.laboratory.on_shapes)
    app.button(key="widget train missing").click().run()
    assert not app.exception
    assert [run.settings["method"] for run in started] == ["SVM", "HOB-SVM", "HOAP-SVM"]
    like = rivals.store.run(rivals.laboratory.on_shapes).settings
    assert all(run.settings[name] == like[name] for run in started for name in ("features", "set", "query"))
    svm, hob, hoap = (run.id for run in started)
    assert address(app)["compared"] == f"{svm},{rivals.laboratory.on_shapes},{hob},{hoap}"


def test_where_nothing_is_ranked_one_button_trains_all_four(empty_home, open_page, started):
    app = open_page("compare")
    app.button(key="widget train all").click().run()
    assert not app.exception
    assert [run.settings["method"] for run in started if run.kind == "train"] == [
        "SVM",
        "HOB-SVM",
        "AP-SVM",
        "HOAP-SVM",
    ]
    assert len(address(app)["compared"].split(",")) == 4


def test_table_of_runs_leads_to_the_comparison(rivals, open_page):
    app = open_page("train", run=rivals.svm, set=rivals.laboratory.figures)
    assert app.button(key="compare runs").disabled, "one alone cannot be compared"
    app.session_state["selected trainings"] = (rivals.svm, [rivals.svm, rivals.hob_svm])
    app.run()
    app.button(key="compare runs").click().run()
    assert not app.exception
    assert set(address(app)["compared"].split(",")) == {rivals.svm, rivals.hob_svm}


# ----------------------------------------------------------------------------------------------------------- files


def test_files_have_every_rank_and_interval_and_the_picture_its_frames(rivals):
    chosen = [rivals.store.run(each) for each in rivals.all.split(",")]
    compared, again = cache.comparison(chosen, "test"), cache.redrawn(chosen, "test")
    images = cache.image_set(rivals.laboratory.figures)
    names = ["SVM", "=AP", "HOB"]
    lines = list(csv.reader(io.StringIO(comparison_files.ranks_csv(images, compared, names))))
    assert lines[0][4:8] == ["rank by SVM", "score by SVM", "rank by =AP", "score by =AP"]
    assert len(lines) == 1 + len(compared.samples)
    sample = int(compared.places[0].argmin())
    assert lines[1][0] == images.ids[compared.samples[sample]]
    assert [int(cell) for cell in lines[1][4::2]] == compared.places[:, sample].tolist()
    assert [float(cell) for cell in lines[1][5::2]] == compared.scores[:, sample].tolist()
    lines = list(csv.reader(io.StringIO(comparison_files.measures_csv(again, names, ["AP", "NDCG"]))))
    assert len(lines) == 1 + 3 * 2
    assert lines[3][:2] == ["'=AP", "AP"]
    assert [float(cell) for cell in lines[3][2:]] == [*again.interval("AP", 1), *again.difference("AP", 1, 0)]

    thumbnails = cache.thumbnails(rivals.laboratory.figures)
    made = comparison_export.picture(thumbnails, compared, NAMES, ["AP"] * 3, 6, 0, "headline")
    sheet = Image.open(io.BytesIO(made))
    side, band, foot = comparison_export.SIDE, comparison_export.BAND, comparison_export.FOOT
    assert sheet.width == comparison_export.HEAD + 6 * side + 2 * comparison_export.GAP
    for number, ranked in enumerate(compared.rankings):
        for place in range(6):
            left = comparison_export.HEAD + place * side
            upper = comparison_export.TOP + number * (side + foot + band)
            wanted = RELEVANT if ranked.relevance[place] else IRRELEVANT
            assert "#{:02X}{:02X}{:02X}".format(*sheet.getpixel((left + 8, upper + 8))) == wanted
