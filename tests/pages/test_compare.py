from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from filled_home import Laboratory, copy_home, train_here, train_settings
from PIL import Image

from pages.parts import cache, compared_runs, comparison_export, method_looks
from pages.parts.colours import IRRELEVANT, RELEVANT
from ranking import jobs
from ranking.comparison import Comparison
from ranking.intervals import redrawn
from ranking.metrics import average_precision, ndcg, precision_at_k
from ranking.ranked import first_mistake
from ranking.reports import comparison_files, comparison_words
from ranking.reports.looks import OF_METHODS
from ranking.store import Store

QUERY = "playing instrument"


@dataclass(frozen=True)
class Rivals:
    """A home with four trainings on one query, and what else the laboratory has."""

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


@pytest.fixture(scope="module")
def rivals_once(filled: Laboratory, tmp_path_factory: pytest.TempPathFactory) -> Rivals:
    home = tmp_path_factory.mktemp("rivals") / "home"
    copy_home(filled.home, home)
    here = Laboratory(**{**vars(filled), "home": home})
    made = [
        train_here(here.store, filled.figures, QUERY, method, **settings).id
        for method, settings in (("SVM", {"C": 0.01}), ("AP-SVM", {"C": 100.0}), ("AP-SVM", {"C": 1.0}))
    ]
    return Rivals(here, *made, hob_svm=filled.neighbours)


@pytest.fixture
def rivals(rivals_once: Rivals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rivals:
    """A copy that this test may change, as the home of the app."""
    home = tmp_path / "home"
    copy_home(rivals_once.laboratory.home, home)
    monkeypatch.setenv("RANKING_HOME", str(home))
    return replace(rivals_once, laboratory=Laboratory(**{**vars(rivals_once.laboratory), "home": home}))


def components(app, name):
    found = [part for part in app.get("bidi_component") if part.proto.component_name == name]
    return [json.loads(part.proto.json) for part in found]


def rows_of(app):
    [shown] = components(app, "ranking_rows")
    return shown


def parts_of(rivals, run_id):
    run = rivals.store.run(run_id)
    images = rivals.store.image_set(run.settings["set"])
    rows = images.test
    return images, images.relevance(QUERY)[rows], np.load(run.scores_file)[rows], images.groups[rows]


def table_of(app):
    [text] = [one.value.replace("\\", "") for one in app.markdown if one.value.startswith("|  | AP |")]
    lines = [line.strip("| ").split(" | ") for line in text.splitlines()]
    return lines[0], {line[0].strip("| "): line[1:] for line in lines[2:]}


def said(app):
    return "\n".join(element.value for element in (*app.markdown, *app.caption, *app.info, *app.warning))


# ---------------------------------------------------------------------------------------------------------
# What is shown
# ---------------------------------------------------------------------------------------------------------


def test_the_rows_are_the_first_places_of_each_training(rivals, open_page):
    app = open_page("compare", compared=rivals.all, top="8")
    assert not app.exception
    shown = rows_of(app)
    assert [row["title"] for row in shown["rows"]] == ["SVM", "AP-SVM", "HOB-SVM"]
    for row, run_id in zip(shown["rows"], rivals.all.split(","), strict=True):
        images, relevance, scores, _ = parts_of(rivals, run_id)
        order = np.lexsort((relevance, -scores))
        assert [tile["id"] for tile in row["tiles"]] == images.ids[images.test][order][:8].tolist()
        marks = ["relevant" if relevance[one] else "irrelevant" for one in order[:8]]
        assert [tile["mark"] for tile in row["tiles"]] == marks
        first = first_mistake(relevance[order])
        assert row["flagged"] == (first - 1 if first <= 8 else None)
        assert row["notes"] == [f"AP {average_precision(relevance, scores):.3f}", f"first mistake at {first}"]
    looks = [(row["colour"], row["dash"]) for row in shown["rows"]]
    assert len(set(looks)) == 3


def test_the_table_has_the_measures_of_the_scores_on_disk_and_paired_intervals(rivals, open_page):
    app = open_page("compare", compared=rivals.all, top="7")
    heads, lines = table_of(app)
    assert heads == ["AP", "P@7", "NDCG", "AP less SVM"]
    parts = {
        name: parts_of(rivals, run_id) for name, run_id in zip(lines, rivals.all.split(","), strict=True)
    }
    _, relevance, _, units = next(iter(parts.values()))
    scores = np.array([scores for _, _, scores, _ in parts.values()])
    found = redrawn(relevance, scores, units, cutoffs=(7,))
    for number, (name, cells) in enumerate(lines.items()):
        assert name == ["SVM", "AP-SVM", "HOB-SVM"][number]
        values = [average_precision(relevance, scores[number]), precision_at_k(relevance, scores[number], 7)]
        values.append(ndcg(relevance, scores[number]))
        for cell, value, measure in zip(cells, values, ("AP", "P@7", "NDCG"), strict=False):
            told = found.interval(measure, number)
            assert cell.strip("*") == f"{value:.3f}\xa0[{told.low:.3f},\xa0{told.high:.3f}]"
            assert cell.startswith("**") == (value == found.values[measure].max())
        if number:
            less = found.difference("AP", number, 0)
            assert (
                cells[3].strip("*").startswith(f"{values[0] - found.values['AP'][0]:+.3f}".replace("-", "−"))
            )
            sign = "△" if less.low > 0 else "▽" if less.high < 0 else "]"
            assert cells[3].endswith(sign), "as in the report of the same comparison"
    assert "△ better and ▽ worse than SVM" in said(app).replace("\\", "")
    assert "drawn again 2,000 times" in said(app)


def test_the_verdict_follows_from_the_numbers():
    generator = np.random.default_rng(0)
    relevance = np.arange(300) % 5 == 0
    noise = generator.standard_normal(300)
    good, bad = noise + 2.0 * relevance, noise
    like_good = good + 0.01 * generator.standard_normal(300)
    found = redrawn(relevance.astype(int), [bad, good, like_good], np.arange(300), draws=300)
    told = comparison_words.verdict(["bad", "good", "like"], found)
    best, other = ("good", "like") if found.values["AP"][1] > found.values["AP"][2] else ("like", "good")
    assert told.startswith(
        f"{best} ranks best, AP {found.values['AP'].max():.3f}. Its lead over bad is significant"
    )
    assert told.endswith(f", over {other} it is not.")
    equal = redrawn(relevance.astype(int), [good, 2 * good, bad], np.arange(300), draws=50)
    assert comparison_words.verdict(["a", "b", "c"], equal).startswith("a and b share the highest AP")
    equal = redrawn(relevance.astype(int), [good, 2 * good], np.arange(300), draws=50)
    assert comparison_words.verdict(["a", "b"], equal).startswith("All have the same AP")


def test_a_chosen_sample_is_followed_and_stands_after_the_dots_where_it_is_further_down(rivals, open_page):
    images, relevance, scores, _ = parts_of(rivals, rivals.svm)
    order = np.lexsort((relevance, -scores))
    sample = str(images.ids[images.test][order[99]])
    app = open_page("compare", compared=rivals.all, sample=sample)
    shown = rows_of(app)
    assert shown["told"][1] == sample
    beyond = shown["beyond"][0]
    assert (beyond["id"], beyond["left"]) == (sample, "100")
    assert "SVM **100**" in said(app)
    for row, one in zip(shown["rows"], shown["beyond"], strict=True):
        assert (sample in [tile["id"] for tile in row["tiles"]]) == (one is None)
    again = rows_of(app.run())
    assert again == shown, "an equal message does not travel again"


def test_at_first_the_first_mistake_is_selected(rivals, open_page):
    shown = rows_of(open_page("compare", compared=rivals.all))
    first = shown["rows"][0]
    assert shown["told"][1] == first["tiles"][first["flagged"]]["id"]


def test_what_gives_most_to_ap_sums_to_the_difference(rivals, open_page):
    app = open_page("compare", compared=rivals.all, pair=f"{rivals.hob_svm},{rivals.svm}")
    assert not app.exception
    compared = Comparison.of(
        [cache.ranking(rivals.store.run(one), "test") for one in (rivals.hob_svm, rivals.svm)]
    )
    gains = compared.gains(0, 1)
    [grid] = [data for data in components(app, "ranking_image_grid") if data["label"].startswith("Give most")]
    images = cache.image_set(rivals.laboratory.figures)
    largest = np.argsort(-gains, kind="stable")[:6]
    assert [tile["id"] for tile in grid["items"]] == images.ids[compared.samples[largest]].tolist()
    before, after = compared.places[:, largest[0]]
    assert grid["items"][0]["left"] == f"{before}→{after}"
    difference = compared.rankings[1].average_precision - compared.rankings[0].average_precision
    assert f"**{difference:+.3f}**".replace("-", "−") in said(app)
    app.segmented_control(key="widget moved").set_value("places").run()
    [grid] = [data for data in components(app, "ranking_image_grid") if data["label"].startswith("Rose most")]
    risen = compared.risen(0, 1)
    assert grid["items"][0]["right"] == f"+{risen.max():,}"


def test_another_split_a_longer_list_and_lines_for_all_are_in_the_address(rivals, open_page):
    app = open_page("compare", compared=rivals.all)
    app.segmented_control(key="widget split").set_value("train").run()
    app.slider(key="widget top").set_value(5).run()
    app.segmented_control(key="widget follow").set_value("all").run()
    assert not app.exception
    assert {name: app.query_params[name] for name in ("split", "top", "follow")} == {
        "split": "train",
        "top": "5",
        "follow": "all",
    }
    shown = rows_of(app)
    assert shown["all"]
    assert {len(row["tiles"]) for row in shown["rows"]} == {5}


def test_a_split_without_relevant_samples_says_so(rivals, open_page, monkeypatch):
    whole = cache.comparison

    def without(shown, split):
        found = whole(shown, split)
        return replace(found, relevance=0 * found.relevance)

    monkeypatch.setattr(cache, "comparison", without)
    app = open_page("compare", compared=rivals.all)
    assert not app.exception
    assert "No sample of this split is relevant to the query" in said(app)
    assert not components(app, "ranking_rows")


# ---------------------------------------------------------------------------------------------------------
# Which trainings
# ---------------------------------------------------------------------------------------------------------


def test_without_a_choice_the_newest_of_each_method_stand_in_the_order_of_the_paper(rivals, open_page):
    app = open_page("compare", run=rivals.hob_svm)
    assert not app.exception
    assert app.query_params["compared"] == f"{rivals.svm},{rivals.ap_svm_small},{rivals.hob_svm}"
    app = open_page("compare", run=rivals.ap_svm)
    assert app.query_params["compared"] == rivals.all, "the training of the address stands for its method"
    app = open_page("compare")
    assert app.query_params["compared"].startswith(rivals.svm), "the query with most methods comes first"


def test_two_trainings_by_one_method_are_told_apart(rivals, open_page):
    app = open_page("compare", compared=f"{rivals.ap_svm},{rivals.ap_svm_small}")
    shown = rows_of(app)
    assert [row["title"] for row in shown["rows"]] == ["AP-SVM, C = 100", "AP-SVM, C = 1"]
    assert len({(row["colour"], row["dash"]) for row in shown["rows"]}) == 2


def test_looks_are_of_methods_and_never_shared(rivals):
    of_id = {
        name: rivals.store.run(getattr(rivals, name)) for name in ("svm", "ap_svm", "ap_svm_small", "hob_svm")
    }
    looks = method_looks.of_runs([of_id["ap_svm_small"], of_id["ap_svm"], of_id["svm"]])
    assert looks[rivals.svm] == OF_METHODS["SVM"]
    assert looks[rivals.ap_svm_small] == OF_METHODS["AP-SVM"]
    assert looks[rivals.ap_svm] == OF_METHODS["HOB-SVM"], "the first that is left"
    assert len(set(method_looks.of_runs(list(of_id.values())).values())) == 4
    with pytest.raises(ValueError, match="there are looks for 5 runs, got 6"):
        method_looks.of_runs(3 * [of_id["svm"], of_id["ap_svm"]])


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ("not_converged", "ranks another image set than SVM on “playing instrument”"),
        ("failed", "has failed and has no scores"),
        ("deleted", "was deleted; the page Train can bring it back"),
        ("unknown", "no run"),
        ("import", "expected a training that ranks images, got: import"),
    ],
)
def test_what_cannot_be_compared_is_said_in_words_and_left_out(rivals, open_page, other, reason):
    ids = {
        "unknown": "abcdefghij",
        "deleted": rivals.ap_svm_small,
        "import": rivals.store.runs("import")[0].id,
    }
    odd = ids.get(other) or getattr(rivals.laboratory, other)
    if other == "deleted":
        rivals.store.delete_run(odd)
    app = open_page("compare", compared=f"{rivals.svm},{odd},{rivals.ap_svm}")
    assert not app.exception
    [warning] = app.warning
    assert reason in warning.value.replace("\\", "")
    assert app.query_params["compared"] == f"{rivals.svm},{rivals.ap_svm}"
    assert len(rows_of(app)["rows"]) == 2


def test_another_query_of_the_same_images_is_left_out(rivals, open_page):
    other = train_here(rivals.store, rivals.laboratory.figures, "reading", "SVM", C=0.01).id
    app = open_page("compare", compared=f"{rivals.svm},{rivals.ap_svm},{other}")
    assert "ranks another query than SVM" in app.warning[0].value.replace("\\", "")
    assert app.query_params["compared"] == f"{rivals.svm},{rivals.ap_svm}"


def test_at_most_four_and_each_once(rivals, open_page):
    five = [train_here(rivals.store, rivals.laboratory.shapes, "disc", C=float(c)).id for c in range(1, 5)]
    app = open_page("compare", compared=",".join([*five, five[0], rivals.laboratory.on_shapes]))
    assert "At most 4 trainings can be compared at once" in app.warning[0].value
    assert app.query_params["compared"] == ",".join(five)


def test_choosing_fewer_than_two_asks_for_another_on_the_same_images(rivals, open_page):
    app = open_page("compare", compared=f"{rivals.ap_svm},{rivals.ap_svm_small}")
    app.multiselect(key="widget compared").set_value([]).run()
    assert not app.exception
    assert "Choose at least two of the 4 trainings on “playing instrument” above" in said(app)
    app.button(key="widget compare usual").click().run()
    assert [row["title"] for row in rows_of(app)["rows"]] == ["SVM", "AP-SVM", "HOB-SVM"]
    app.multiselect(key="widget compared").set_value([rivals.hob_svm, rivals.svm]).run()
    assert [row["title"] for row in rows_of(app)["rows"]] == ["HOB-SVM", "SVM"]


def test_another_subject_begins_anew(rivals, open_page):
    app = open_page("compare", compared=rivals.all, pair=f"{rivals.svm},{rivals.hob_svm}", top="5")
    disc = compared_runs.Subject(rivals.laboratory.shapes, "disc")
    app.selectbox(key="widget compared subject").set_value(disc).run()
    assert not app.exception
    assert app.query_params["compared"] == rivals.laboratory.on_shapes
    assert "pair" not in app.query_params
    assert app.query_params["top"] == "5"


def test_one_training_offers_to_train_the_rest_of_the_paper_on_the_same_images(rivals, open_page, started):
    app = open_page("compare", compared=rivals.laboratory.on_shapes)
    assert not app.exception
    assert "Only AP\\-SVM has ranked “disc” so far" in said(app)
    app.button(key="widget train missing").click().run()
    assert [run.settings["method"] for run in started] == ["SVM", "HOB-SVM", "HOAP-SVM"]
    like = rivals.store.run(rivals.laboratory.on_shapes).settings
    assert all(
        run.settings["features"] == like["features"] and run.settings["set"] == like["set"] for run in started
    )
    svm, hob, hoap = (run.id for run in started)
    assert app.query_params["compared"] == f"{svm},{rivals.laboratory.on_shapes},{hob},{hoap}"
    assert "Training SVM on “disc” …, 2 more after it" in said(app).replace("\\", "")


def test_while_one_is_trained_the_others_are_compared(rivals, open_page, started):
    jobs.start_once(rivals.store, "train", train_settings(rivals.laboratory.figures, QUERY, "HOAP-SVM"))
    [live] = started
    app = open_page("compare", compared=f"{rivals.all},{live.id}")
    assert not app.exception
    assert "Training HOAP-SVM on “playing instrument” …" in said(app).replace("\\", "")
    assert len(rows_of(app)["rows"]) == 3


def test_where_nothing_is_ranked_one_button_trains_all_four(empty_home, open_page, started):
    app = open_page("compare")
    assert not app.exception
    assert "Nothing is ranked yet" in said(app)
    app.button(key="widget train all").click().run()
    asked = [run.settings["method"] for run in started if run.kind == "train"]
    assert asked == ["SVM", "HOB-SVM", "AP-SVM", "HOAP-SVM"]
    assert len(app.query_params["compared"].split(",")) == 4


def test_the_table_of_trainings_leads_to_the_comparison(rivals, open_page):
    app = open_page("train", run=rivals.svm, set=rivals.laboratory.figures)
    assert app.button(key="compare runs").disabled, "one alone cannot be compared"
    app.session_state["selected trainings"] = (rivals.svm, [rivals.svm, rivals.hob_svm])
    app.run()
    assert not app.button(key="compare runs").disabled
    app.button(key="compare runs").click().run()
    assert not app.exception
    assert set(app.query_params["compared"].split(",")) == {rivals.svm, rivals.hob_svm}


# ---------------------------------------------------------------------------------------------------------
# To take along
# ---------------------------------------------------------------------------------------------------------


def compared_of(rivals):
    chosen = [rivals.store.run(one) for one in rivals.all.split(",")]
    return cache.comparison(chosen, "test"), cache.redrawn(chosen, "test")


def test_the_tables_have_every_rank_and_every_interval(rivals):
    compared, found = compared_of(rivals)
    images = cache.image_set(rivals.laboratory.figures)
    names = ["SVM", "=AP", "HOB"]
    lines = list(csv.reader(io.StringIO(comparison_files.ranks_csv(images, compared, names))))
    assert lines[0][4:8] == ["rank by SVM", "score by SVM", "rank by =AP", "score by =AP"]
    assert len(lines) == 1 + len(compared.samples)
    first = lines[1]
    sample = int(compared.places[0].argmin())
    assert first[0] == images.ids[compared.samples[sample]]
    assert [int(one) for one in first[4::2]] == compared.places[:, sample].tolist()
    assert [float(one) for one in first[5::2]] == compared.scores[:, sample].tolist()
    lines = list(csv.reader(io.StringIO(comparison_files.measures_csv(found, names, ["AP", "NDCG"]))))
    assert len(lines) == 1 + 3 * 2
    assert lines[3][:2] == ["'=AP", "AP"]
    told, less = found.interval("AP", 1), found.difference("AP", 1, 0)
    assert [float(one) for one in lines[3][2:]] == [*told, *less]


def test_the_picture_shows_the_rows_and_the_lines(rivals):
    compared, _ = compared_of(rivals)
    thumbnails = cache.thumbnails(rivals.laboratory.figures)
    made = comparison_export.picture(
        thumbnails, compared, ["SVM", "AP-SVM", "HOB-SVM"], ["AP"] * 3, 6, 0, "headline"
    )
    sheet = Image.open(io.BytesIO(made))
    side, band, foot = comparison_export.SIDE, comparison_export.BAND, comparison_export.FOOT
    assert sheet.width == comparison_export.HEAD + 6 * side + 2 * comparison_export.GAP
    for number, ranked in enumerate(compared.rankings):
        for place in range(6):
            left = comparison_export.HEAD + place * side
            upper = comparison_export.TOP + number * (side + foot + band)
            frame = sheet.getpixel((left + 8, upper + 8))
            wanted = RELEVANT if ranked.relevance[place] else IRRELEVANT
            assert "#{:02X}{:02X}{:02X}".format(*frame) == wanted
