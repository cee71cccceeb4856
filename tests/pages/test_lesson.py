"""The first lesson, its trainings, which all visitors share, and those of the other lessons."""

from __future__ import annotations

import numpy as np
import pytest
from shown import choose, kinds, numbers_in, page_of, press, sound, texts
from test_start import strips_of

from pages.parts import lessons, rivals
from ranking import moving, run_archive
from ranking.metrics import average_precision, precision_at_k, ranking_order
from ranking.ranked import Ranking

page = page_of("lesson")
LESSON = lessons.WHY_AP


def on_disk(store, method):
    """Relevance and scores of the test samples of the lesson's training, from the files."""
    [run] = [run for run in store.runs("train") if run.settings["method"] == method]
    images = store.image_set(run.settings["set"])
    return images.relevance(LESSON.query)[images.test], np.load(run.scores_file)[images.test]


def loss_by_sign(relevance, scores):
    """The mean of the shares of wrong labels of both kinds."""
    return (np.mean(scores[relevance > 0] <= 0) + np.mean(scores[relevance == 0] > 0)) / 2


def methods_of(runs):
    return [run.settings["method"] for run in kinds(runs, "train")]


# ------------------------------------------------------------------------------------------- how it begins


def test_the_trainings_of_every_lesson_begin_once(empty_home, started):
    begun = 0
    for lesson in (lessons.WHY_AP, lessons.NEIGHBOURS):
        assert lesson.begin() == lesson.begin()
        assert tuple(methods_of(started)[begun:]) == lesson.methods
        begun += len(lesson.methods)
    assert {run.settings["graph"] for run in kinds(started, "train")} == {None}, "each method's own"
    lessons.VIOLATED.begin()
    assert len(methods_of(started)) == begun, "it has the training of the first lesson"


def test_trainings_that_did_not_finish_give_the_reason_and_can_be_started_again(taught, open_page, started):
    failed, cancelled = taught.runs("train")
    taught.update_run(failed.id, state="failed", reason="no *space*")
    taught.update_run(cancelled.id, state="cancelled")
    app = sound(open_page("lesson"))
    assert "\\*space\\*" in app.error[0].value
    assert app.warning
    assert not strips_of(app)
    press(app, "widget train the lesson again")
    assert sorted(methods_of(started)) == sorted(LESSON.methods)
    assert app.get("progress")


def test_what_cannot_be_shown_or_was_imported_is_not_the_lesson(taught, started):
    own = {run.id for run in taught.runs("train")}
    imported = []
    for run_id in own:
        run = run_archive.import_run(taught, run_archive.export_run(taught, run_id))
        assert taught.equal_runs("train", run.settings)[0].id == run.id, "equal, and the newest"
        imported.append(run.id)
    for state in ("finished", "failed"):
        for run_id in imported:
            taught.update_run(run_id, state=state)
        assert {run.id for run in LESSON.begin().values()} == own, state
    for run_id in own:
        taught.run(run_id).scores_file.unlink()
    again = {run.id for run in LESSON.begin().values()}
    assert methods_of(started) == list(LESSON.methods)
    assert not again & {*own, *imported}


# --------------------------------------------------------------------------------------------- the three steps


def test_two_rankings_are_those_on_disk_and_the_lesson_is_true(taught, open_page, started):
    app = sound(open_page("lesson", step="9", small_k="<script>"))
    assert not methods_of(started), "nothing is trained again"
    assert len(app.warning) == 2
    assert any("\\<script\\>" in warning.value for warning in app.warning)
    text, standings = texts(app), []
    for number, (method, strip) in enumerate(zip(LESSON.methods, strips_of(app), strict=True)):
        relevance, scores = on_disk(taught, method)
        average, precision, errors = app.metric[3 * number : 3 * number + 3]
        assert average.value == f"{average_precision(relevance, scores):.3f}"
        assert (precision.label, precision.value) == ("P@5", f"{precision_at_k(relevance, scores, 5):.3f}")
        assert errors.value == f"{loss_by_sign(relevance, scores):.3f}"
        ordered = relevance[ranking_order(relevance, scores)]
        assert [item["mark"] == "relevant" for item in strip["items"]] == (ordered[:12] > 0).tolist()
        first = int(np.argmin(ordered))
        assert [bool(item["flag"]) for item in strip["items"]].index(True) == first
        assert f"**{first + 1}**" in text
        ranked = Ranking.of(np.arange(len(scores)), relevance, scores)
        standings.append(rivals.standing(method, ranked, 5))
    assert rivals.compared(*standings) in text
    assert rivals.verdict(*standings) in text
    assert 180 in numbers_in(app.caption[-1].value), "scenes of the lesson's small set"
    (svm, svm_scores), (ap, ap_scores) = (on_disk(taught, method) for method in LESSON.methods)
    assert average_precision(ap, ap_scores) > average_precision(svm, svm_scores) + 0.02
    assert loss_by_sign(svm, svm_scores) < loss_by_sign(ap, ap_scores) - 0.1
    assert np.mean(ap_scores > 0) > 2 * np.mean(ap > 0), "zero is no threshold of AP-SVM"


def test_the_image_moves_to_its_place_and_steps_lead_to_a_training_that_is_filled_in(taught, open_page):
    app = open_page("lesson", place="-1", small_k="2")
    press(app, "next step")
    assert app.query_params["step"] == "2"
    assert numbers_in(app.warning[0].value)[-3:-1] == [1, 12], "the places that are possible"
    assert app.slider(key="widget place").value == 1
    choose(app.slider, "place", 3)
    [strip] = strips_of(app)
    assert [bool(item["flag"]) for item in strip["items"]] == [False, False, True, *[False] * 9]
    assert {item["left"]: item["right"] for item in strip["items"] if item["right"]} == {
        "3": "1/3",
        "7": "2/7",
        "9": "3/9",
        "11": "4/11",
    }
    assert [item["left"] for item in strip["items"] if item["below"]] == ["4"]
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["AP"] == f"{(1 / 3 + 2 / 7 + 3 / 9 + 4 / 11) / 4:.3f}"
    assert (shown["P@2"], shown[page.CUT]) == ("0.000", "0.500")
    moved = strip["chosen"]
    choose(app.slider, "place", 12)
    assert app.query_params["place"] == "12"
    [strip] = strips_of(app)
    assert strip["items"][11]["id"] == moved
    press(app, "next step")
    [primary] = [button for button in app.button if button.proto.type == "primary"]
    assert primary.key == "train it yourself", "one obvious next step"
    sound(primary.click().run())
    given = {"query": LESSON.query, "method": "AP-SVM", "features": ",".join(lessons.FEATURES)}
    assert {name: app.query_params[name] for name in given} == given
    assert app.selectbox(key="widget query").value == LESSON.query
    assert app.selectbox(key="widget method").value == "AP-SVM"
    assert app.get("button_group")[0].value == list(lessons.FEATURES)


def test_captions_give_the_steps_at_which_a_measure_changes():
    for k in range(1, 12):
        by_place = moving.measures_by_place(page.OTHERS, k)
        changes = numbers_in(page.say_changes([measured.precision for measured in by_place]))
        assert changes == ([] if k in (6, 8, 10) else [11, k, k + 1]), k
        assert numbers_in(page.say_changes([measured.zero_one for measured in by_place])) == [11, 4, 5], k
    average = [measured.average_precision for measured in by_place]
    assert numbers_in(page.say_changes(average)) == [8, 11]
    assert numbers_in(page.say_step(by_place, 12)) == [], "it cannot go further down"
    assert numbers_in(page.say_step(by_place, 4)) == pytest.approx(
        [average[3] - average[4], 2 / 12], abs=5e-4
    )
    costs = numbers_in(page.say_costs(average, [measured.zero_one for measured in by_place]))
    ends = [average[0] - average[1], 11, 12, average[-2] - average[-1]]
    assert costs[3:7] == pytest.approx(ends, abs=5e-4)
    assert costs[7:-4] == [6, 7, 8, 9, 10, 11], "where another relevant image is passed"
    assert costs[-4:] == [11, 4, 5, page.RELEVANT]
