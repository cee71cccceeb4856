"""The first lesson, its trainings, which all visitors share, and its two methods compared in words."""

from __future__ import annotations

import json
import re
from statistics import fmean

import numpy as np
import pytest
from shown import all_steps, choose, components, kinds, numbers_in, page_of, press, texts

from pages.parts.app import cache
from pages.parts.runs import lessons, rivals
from pages.parts.runs.rivals import Standing
from pages.parts.views import all_actions
from ranking.jobs import run_archive
from ranking.metrics import moving
from ranking.metrics.ranked import Ranking

page = page_of("lesson")
LESSON = lessons.WHY_AP


def methods_of(runs):
    return [run.settings["method"] for run in kinds(runs, "train")]


def strips_of(app):
    return components(app, "ranking_strip")


def test_the_trainings_of_every_lesson_come_with_the_program(fresh_home):
    images, _ = cache.ready_made()
    for lesson in (lessons.WHY_AP, lessons.VIOLATED, lessons.NEIGHBOURS):
        for method in lesson.methods:
            settings = lesson.settings_of(images.key, method).to_json()
            assert [run.state for run in fresh_home.equal_runs("train", settings)] == ["finished"], (
                "run python data/examples.py"
            )


def test_a_training_that_was_deleted_is_made_again(taught, open_page, started):
    for run in taught.runs("train"):
        taught.delete_run(run.id)
    assert open_page("lesson").get("progress")
    open_page("lesson")
    assert methods_of(started) == list(LESSON.methods), "once"


def test_trainings_that_did_not_finish_give_the_reason_and_can_be_started_again(taught, open_page, started):
    failed, cancelled = taught.runs("train")
    taught.update_run(failed.id, state="failed", reason="no *space*")
    taught.update_run(cancelled.id, state="cancelled")
    app = open_page("lesson")
    assert "\\*space\\*" in app.error[0].value
    assert app.warning
    assert not strips_of(app)
    press(app, "widget train the lesson again")
    assert sorted(methods_of(started)) == sorted(LESSON.methods)
    assert app.get("progress")


def begun():
    """The runs of the lesson by method."""
    images, _ = cache.ready_made()
    return {method: lessons._run_of(LESSON.settings_of(images.key, method)) for method in LESSON.methods}


def test_what_cannot_be_shown_or_was_imported_is_not_the_lesson(taught, started):
    own = {run.id for run in taught.runs("train")}
    imported = [run_archive.import_run(taught, run_archive.export_run(taught, run_id)).id for run_id in own]
    assert {run.id for run in taught.equal_runs("train", taught.run(imported[0]).settings)} > {imported[0]}
    for state in ("finished", "failed"):
        for run_id in imported:
            taught.update_run(run_id, state=state)
        assert {run.id for run in begun().values()} == own, state
    for run_id in own:
        taught.run(run_id).scores_file.unlink()
    again = {run.id for run in begun().values()}
    assert methods_of(started) == list(LESSON.methods)
    assert not again & {*own, *imported}


def test_two_rankings_are_those_on_disk_and_the_lesson_is_true(taught, open_page, started):
    app = open_page("lesson", step="9", small_k="<script>")
    assert not methods_of(started), "nothing is trained again"
    assert len(app.warning) == 2
    assert any("\\<script\\>" in warning.value for warning in app.warning)
    runs, text = {run.settings["method"]: run for run in taught.runs("train")}, texts(app)
    rankings = [cache.ranking(runs[method], "test") for method in LESSON.methods]
    svm, ap_svm = standings = [
        rivals.standing(*both, 5) for both in zip(LESSON.methods, rankings, strict=True)
    ]
    for number, (ranked, stands, strip) in enumerate(zip(rankings, standings, strips_of(app), strict=True)):
        shown = {metric.label: metric.value for metric in app.metric[3 * number : 3 * number + 3]}
        measured = {
            "AP": stands.average_precision,
            "P@5": stands.precision,
            "Weighted 0-1 loss": stands.zero_one,
        }
        assert shown == {label: f"{value:.3f}" for label, value in measured.items()}
        assert [item["mark"] == "relevant" for item in strip["items"]] == (ranked.relevance[:12] > 0).tolist()
        assert [bool(item["flag"]) for item in strip["items"]].index(True) == stands.first_mistake - 1
        assert f"**{stands.first_mistake}**" in text
    assert rivals.compared(*standings) in text
    assert rivals.verdict(*standings) in text
    assert rivals.why(*standings) in text
    stored = json.loads(all_actions.MEASURED.read_text())["average_precision"]
    svm_mean, ap_mean = (fmean(by[method] for by in stored.values()) for method in LESSON.methods)
    gained = round(ap_svm.average_precision, 3) - round(svm.average_precision, 3)
    sentence = (
        f"**{gained:+.3f}** on “{LESSON.query}”, **{ap_mean - svm_mean:+.3f}** on average over all 10 actions"
    )
    assert sentence in text
    assert sentence in texts(open_page("lesson", step="3"))
    assert 600 in numbers_in(app.caption[-1].value), "scenes of the lesson's small set"
    assert ap_svm.average_precision > svm.average_precision + 0.02
    assert svm.zero_one < ap_svm.zero_one - 0.1
    assert ap_svm.called > 2 * ap_svm.relevant, "zero is no threshold of AP-SVM"


def test_the_image_moves_to_its_place_and_steps_lead_to_a_training_that_is_filled_in(taught, open_page):
    app = open_page("lesson", place="-1", small_k="2")
    press(app, "next step")
    assert app.query_params["step"] == "2"
    assert numbers_in(app.warning[0].value)[-3:-1] == [1, 12], "the places that are possible"
    assert app.slider(key="widget place").value == 1
    choose(app.slider, "place", 3)
    [strip] = strips_of(app)
    assert [item["left"] for item in strip["items"] if item["flag"]] == ["3"]
    terms = {item["left"]: item["right"] for item in strip["items"] if item["right"]}
    assert terms == {"3": "1/3", "7": "2/7", "9": "3/9", "11": "4/11"}
    assert [item["left"] for item in strip["items"] if item["below"]] == ["4"]
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["AP"] == f"{(1 / 3 + 2 / 7 + 3 / 9 + 4 / 11) / 4:.3f}"
    assert (shown["P@2"], shown[page.CUT]) == ("0.000", "0.500")
    moved = strip["chosen"]
    choose(app.slider, "place", 12)
    assert app.query_params["place"] == "12"
    assert strips_of(app)[0]["items"][11]["id"] == moved
    all_steps(app, page.STEPS)
    choose(app.slider, "small_k", 1)
    assert {"P@1", "P@2"} & {metric.label for metric in app.metric} == {"P@1"}, "steps 1 and 2 show one k"
    choose(app.toggle, "all_steps", False)
    press(app, "next step")
    [primary] = [button for button in app.button if button.proto.type == "primary"]
    assert primary.key == "train it yourself", "one obvious next step"
    press(app, primary.key)
    chosen = [app.selectbox(key=f"widget {name}").value for name in ("query", "method")]
    assert chosen == [LESSON.query, "AP-SVM"]
    assert app.get("button_group")[0].value == list(lessons.FEATURES)


def test_captions_give_the_steps_at_which_a_measure_changes():
    by_place = moving.measures_by_rank(page.OTHERS, 5)
    average, zero_one = ([getattr(at, name) for at in by_place] for name in ("average_precision", "zero_one"))
    for values, changes in (([0.5] * 12, []), (zero_one, [11, 4, 5]), (average, [8, 11])):
        assert numbers_in(page.changes_text(values)) == changes
    assert numbers_in(page.next_step_text(by_place, 12)) == [], "it cannot go further down"
    fall = average[3] - average[4]
    assert numbers_in(page.next_step_text(by_place, 4)) == pytest.approx([fall, 2 / 12], abs=5e-4)
    costs = numbers_in(page.costs_caption(average, zero_one))
    ends = [average[0] - average[1], 11, 12, average[-2] - average[-1]]
    assert costs[3:7] == pytest.approx(ends, abs=5e-4)
    assert costs[7:-4] == [6, 7, 8, 9, 10, 11], "where another relevant image is passed"
    assert costs[-4:] == [11, 4, 5, page.RELEVANT]


def test_a_standing_weighs_wrong_signs_and_finds_the_first_mistake():
    ranked = Ranking(np.arange(5), np.array([1, 0, 1, 0, 0]), np.array([2.0, 1.0, 0.0, -1.0, -2.0]))
    precision, loss = (
        (1 + 2 / 3) / 2,
        (1 / 2 + 1 / 3) / 2,
    )  # one of two relevant is missed, one of three others not
    expected = "SVM", pytest.approx(precision), 0.5, pytest.approx(loss), 2, 2, 5, 2
    assert rivals.standing("SVM", ranked, 2) == Standing(*expected)


def test_verdicts_are_what_the_numbers_state():
    """AP and weighted 0-1 loss of SVM, then of AP-SVM; who ranks better, who labels better."""
    verdicts = set()
    for svm, ap_svm, ranks, labels in (
        ((0.3, 0.2), (0.4, 0.5), "AP-SVM", "SVM"),
        ((0.4, 0.5), (0.3, 0.2), "SVM", "AP-SVM"),
        ((0.3, 0.5), (0.4, 0.2), "AP-SVM", "AP-SVM"),
        ((0.4, 0.2), (0.3, 0.5), "SVM", "SVM"),
        ((0.4, 0.2), (0.4001, 0.5), None, "SVM"),
        ((0.3, 0.2), (0.4, 0.2), "AP-SVM", None),
        ((0.3, 0.2), (0.3, 0.2), None, None),
    ):
        pair = [
            Standing(method, average_precision, 0.5, zero_one, 30, 10, 100, 3)
            for method, (average_precision, zero_one) in (("SVM", svm), ("AP-SVM", ap_svm))
        ]
        text, verdict = rivals.compared(*pair), rivals.verdict(*pair)
        assert text == rivals.compared(*pair[::-1])
        assert re.findall(r"(?:AP-)?SVM", text) == [name for name in (ranks, labels) if name]
        told = {f"{value:.3f}" for value in (*svm, *ap_svm)}
        assert set(re.findall(r"0\.\d{3}", text)) == told
        winners = {ranks, labels} - {None}
        assert re.findall(r"(?:AP-)?SVM", verdict) == (list(winners) if len(winners) == 1 else [])
        verdicts.add(verdict)
    assert len(verdicts) == 7
