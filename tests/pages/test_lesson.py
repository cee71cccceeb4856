from __future__ import annotations

import numpy as np
import pytest
from test_start import strips_of

from pages.parts import lessons
from ranking import run_archive
from ranking.metrics import average_precision, precision_at_k, ranking_order

LESSON = lessons.WHY_AP


def on_disk(store, method):
    """Relevance and scores of the test samples of the lesson's training, from the files."""
    [run] = [run for run in store.runs("train") if run.settings["method"] == method]
    images = store.image_set(run.settings["set"])
    return images.relevance(lessons.WHY_AP.query)[images.test], np.load(run.scores_file)[images.test]


def loss_by_sign(relevance, scores):
    """The mean of the shares of wrong labels of both kinds."""
    return (np.mean(scores[relevance > 0] <= 0) + np.mean(scores[relevance == 0] > 0)) / 2


def said(app):
    return "\n".join(element.value for element in (*app.markdown, *app.caption))


# ------------------------------------------------------------------------------------------- how it begins


def test_whoever_comes_first_sees_the_trainings_begin_once(empty_home, started, open_page):
    for _ in range(2):
        app = open_page("lesson")
        assert not app.exception
        assert "Training SVM on “playing instrument” … this happens once" in said(app)
    assert [run.settings["method"] for run in started] == ["SVM", "AP-SVM"]


def test_later_visitors_find_them(taught, open_page, started):
    app = open_page("lesson")
    assert not app.exception
    assert len(strips_of(app)) == 2
    assert [run.kind for run in started] == ["import"], "nothing is trained again"


@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_a_training_that_failed_says_why_and_can_be_begun_again(taught, open_page, started, state):
    for run in taught.runs("train"):
        taught.update_run(run.id, state=state)
        taught.end_run(run.id, state, "no *space*") if state == "failed" else None
    app = open_page("lesson")
    assert not app.exception
    assert app.error if state == "failed" else app.warning
    assert not strips_of(app)
    app.button(key="widget train the lesson again").click().run()
    assert [run.settings["method"] for run in started] == ["SVM", "AP-SVM"]
    assert "this happens once" in said(app)


def test_scores_that_are_gone_are_made_again(taught, open_page, started):
    for run in taught.runs("train"):
        run.scores_file.unlink()
    app = open_page("lesson")
    assert not app.exception
    assert [run.settings["method"] for run in started] == ["SVM", "AP-SVM"]


@pytest.mark.parametrize("state", ["finished", "failed"])
def test_what_somebody_imported_is_not_the_lesson(taught, open_page, started, state):
    for own in taught.runs("train"):
        imported = run_archive.import_run(taught, run_archive.export_run(taught, own.id))
        assert taught.equal_runs("train", own.settings)[0].id == imported.id, "equal, and the newest"
        taught.update_run(imported.id, state=state)
    own = [run.id for run in taught.runs("train") if run.imported is None]
    assert {run.id for run in lessons.WHY_AP.begin().values()} == set(own)
    for run in own:
        taught.delete_run(run)
    assert not open_page("lesson").exception
    assert [run.settings["method"] for run in started if run.kind == "train"] == ["SVM", "AP-SVM"]


def test_a_home_that_cannot_be_used_is_said(tmp_path, monkeypatch, open_page):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RANKING_HOME", str(tmp_path / "file" / "home"))
    app = open_page("lesson")
    assert not app.exception
    assert "set RANKING\\_HOME to a folder that can be written" in app.error[0].value


# --------------------------------------------------------------------------------------------- the three steps


def test_two_rankings_are_those_on_disk_and_their_first_mistakes_are_pointed_out(taught, open_page):
    app = open_page("lesson")
    for number, (method, strip) in enumerate(zip(lessons.WHY_AP.methods, strips_of(app), strict=True)):
        relevance, scores = on_disk(taught, method)
        ap, precision, errors = app.metric[3 * number : 3 * number + 3]
        assert ap.value == f"{average_precision(relevance, scores):.3f}"
        assert (precision.label, precision.value) == ("P@5", f"{precision_at_k(relevance, scores, 5):.3f}")
        assert errors.value == f"{loss_by_sign(relevance, scores):.3f}"
        ordered = relevance[ranking_order(relevance, scores)]
        assert [item["mark"] == "relevant" for item in strip["items"]] == (ordered[:12] > 0).tolist()
        first = int(np.argmin(ordered))
        assert [item["flag"] for item in strip["items"]].index("first mistake") == first
        assert f"the first mistake: place **{first + 1}** shows “" in said(app)
    assert "the lesson's small set of 180 scenes" in said(app)


def test_the_lesson_is_true_on_the_images_that_come_with_it(taught, open_page):
    (svm, svm_scores), (ap, ap_scores) = (on_disk(taught, method) for method in lessons.WHY_AP.methods)
    assert average_precision(ap, ap_scores) > average_precision(svm, svm_scores) + 0.02
    assert loss_by_sign(svm, svm_scores) < loss_by_sign(ap, ap_scores) - 0.1
    assert np.mean(ap_scores > 0) > 2 * np.mean(ap > 0), "zero is no threshold of AP-SVM"
    for step in "13":
        assert "Each does better here at what its objective bounds." in said(open_page("lesson", step=step))


def test_next_goes_one_step_further_in_the_address(taught, open_page):
    app = open_page("lesson")
    app.button(key="next step").click().run()
    assert app.query_params["step"] == "2"
    assert app.slider(key="widget place").value == 1


def test_the_moved_image_is_where_the_address_says_and_the_numbers_follow(taught, open_page):
    app = open_page("lesson", step="2", place="3", small_k="2")
    assert not app.exception
    [strip] = strips_of(app)
    assert [item["flag"] for item in strip["items"]] == ["", "", "moves", *[""] * 9]
    assert {item["left"]: item["right"] for item in strip["items"] if item["right"]} == {
        "3": "1/3",
        "7": "2/7",
        "9": "3/9",
        "11": "4/11",
    }
    assert [item["left"] for item in strip["items"] if item["below"]] == ["4"]
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["AP"] == f"{(1 / 3 + 2 / 7 + 3 / 9 + 4 / 11) / 4:.3f}"
    assert (shown["P@2"], shown["Wrong labels at the cut"]) == ("0.000", "0.500")
    moved = strip["chosen"]
    app.slider(key="widget place").set_value(12).run()
    assert app.query_params["place"] == "12"
    [strip] = strips_of(app)
    assert strip["items"][11]["id"] == moved
    assert "It cannot go further down." in said(app)


@pytest.mark.parametrize("k", range(1, 12))
def test_precision_at_k_changes_where_the_caption_says(taught, open_page, k):
    app = open_page("lesson", step="2", small_k=str(k))
    at = "does not change at all" if k in (6, 8, 10) else f"changes at one step of 11, {k} → {k + 1}"
    assert f"P@{k} {at}; the share of wrong labels at the cut changes at one step of 11, 4 → 5." in said(app)


def test_the_last_step_leads_to_a_training_that_is_filled_in(taught, open_page):
    app = open_page("lesson", step="3")
    assert not app.exception
    obvious = [button.label for button in app.button if button.proto.type == "primary"]
    assert obvious == ["Train it yourself"], "one obvious next step"
    assert "The gaps, 6 → 7, 8 → 9, 10 → 11: there it moves past another relevant image" in said(app)
    assert "the share of wrong labels at the cut changes at one step of 11, 4 → 5, where" in said(app)
    app.button(key="train it yourself").click().run()
    assert not app.exception
    given = {"query": lessons.WHY_AP.query, "method": "AP-SVM", "features": ",".join(lessons.FEATURES)}
    assert {name: app.query_params[name] for name in given} == given
    assert app.selectbox(key="widget query").value == lessons.WHY_AP.query
    assert app.selectbox(key="widget method").value == "AP-SVM"
    assert app.get("button_group")[0].value == list(lessons.FEATURES)


def test_wrong_addresses_are_said_and_left_out(taught, open_page):
    app = open_page("lesson", step="9", small_k="<script>")
    assert not app.exception
    warnings = "\n".join(warning.value for warning in app.warning)
    assert "step \\= " in warnings
    assert "small\\_k \\= " in warnings
    assert "\\<script\\>" in warnings
    app = open_page("lesson", step="2", place="-1")
    assert "expected 1 to 12" in app.warning[0].value
    assert app.slider(key="widget place").value == 1
