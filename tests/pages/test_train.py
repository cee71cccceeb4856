from __future__ import annotations

import time

import numpy as np
import pytest

from pages.parts import jobs_panel
from pages.parts.frame import escaped
from ranking import method_class, method_names
from ranking.features import FEATURES, feature_class, feature_names
from ranking.settings import settings_dict


def texts(app):
    elements = [*app.markdown, *app.caption, *app.error, *app.warning, *app.success, *app.info]
    return "\n".join(element.value for element in elements)


def test_the_form_starts_a_training_with_what_it_shows(laboratory, started, open_page):
    app = open_page("train", set=laboratory.digits)
    app.selectbox(key="widget query").select("7")
    app.selectbox(key="widget method").select("AP-SVM")
    app.run()
    app.button(key="train").click().run()
    assert not app.exception
    [run] = started
    assert run.settings["query"] == "7"
    assert [name for name, _ in run.settings["features"]] == ["HOG", "Colour"]
    assert run.settings["method_settings"] == settings_dict(method_class("AP-SVM")())
    assert app.query_params["run"] == run.id
    assert "Training AP\\-SVM on “7”" in texts(app)


def test_the_first_choice_is_a_ranking_worth_looking_at(laboratory, open_page):
    app = open_page("train", set=laboratory.digits)
    assert (app.selectbox(key="widget method").value, app.selectbox(key="widget query").value) == (
        "AP-SVM",
        "8",
    )
    app = open_page("train", set=laboratory.shapes)
    classes = laboratory.store.image_set(laboratory.shapes).classes
    assert app.selectbox(key="widget query").value == classes[0], "where no class has that name"


@pytest.mark.parametrize("method", method_names(ranks="samples"))
def test_every_method_says_what_it_minimises(laboratory, open_page, method):
    app = open_page("train", set=laboratory.digits, method=method)
    assert escaped(method_class(method).summary) in [caption.value for caption in app.caption]
    assert f"${method_class(method).objective}$" in [element.value for element in app.markdown]


def test_a_method_that_says_nothing_of_itself_is_shown_without(laboratory, open_page, monkeypatch):
    for name in ("summary", "objective"):
        monkeypatch.delattr(method_class("AP-SVM"), name)
    assert not open_page("train", set=laboratory.digits).exception


def test_settings_that_differ_from_the_training_are_said(laboratory, open_page):
    def said(app):
        return [info.value for info in app.info if info.value.startswith("Like **")]

    for run in (laboratory.finished, laboratory.on_shapes, laboratory.not_converged):
        assert not said(open_page("train", run=run)), "left out settings have their defaults"
    for change, words in (
        ({"query": "7"}, "query 3 → 7"),
        ({"features": "HOG"}, "features Colour → HOG"),
        ({"features": "HOG,Colour"}, "features Colour → HOG \\+ Colour"),
        (
            {"method": "SVM"},
            "method AP\\-SVM → SVM\\; C 100 → 0\\.01\\; Stop at this duality gap 0\\.01 → 0\\.001",
        ),
        ({"method.AP-SVM.C": "7"}, "C 100 → 7"),
        ({"query": "7", "method.AP-SVM.C": "1e6"}, "query 3 → 7\\; C 100 → 1e\\+06"),
    ):
        [info] = said(open_page("train", run=laboratory.finished, **change))
        assert info == (f"Like **AP\\-SVM on “3”** but **{words}**: press **Train** to see what that does.")


def test_another_method_has_another_default_and_that_is_said(laboratory, open_page):
    app = open_page("train", run=laboratory.on_shapes, method="SVM")
    [said] = [info.value for info in app.info if info.value.startswith("Like **")]
    ours, other = method_class("AP-SVM")().C, method_class("SVM")().C
    said = said.replace("\\", "")
    assert f"method AP-SVM → SVM; C {ours:g} → {other:g} (each method's own default)**" in said


def test_the_button_and_what_comes_of_it_are_read_before_the_details(laboratory, open_page):
    app = open_page("train", run=laboratory.finished)
    order = [getattr(element, "key", None) or element.type for element in app.main]
    places = [order.index(name) for name in ("widget method", "train", "success", "widget features")]
    assert places == sorted(places)


def test_the_slider_offers_what_is_usual_and_takes_more(laboratory, open_page):
    app = open_page("train", set=laboratory.digits, method="AP-SVM")
    options = [float(text) for text in app.select_slider(key="widget method.AP-SVM.C").options]
    assert (min(options), max(options)) == (1e-4, 1e6)
    app = open_page("train", set=laboratory.digits, method="AP-SVM", **{"method.AP-SVM.C": "1e8"})
    assert not app.warning
    assert app.select_slider(key="widget method.AP-SVM.C").value == 1e8


def test_pressing_twice_starts_one_training(laboratory, started, open_page):
    app = open_page("train", set=laboratory.digits)
    app.button(key="train").click().run()
    app.button(key="train").click().run()
    assert len(started) == 1
    app.selectbox(key="widget query").select("5").run()
    app.button(key="train").click().run()
    assert len(started) == 2, "other settings are another training"


def test_settings_of_every_method_are_widgets_tied_to_the_address(laboratory, open_page):
    for name in method_names(ranks="samples"):
        app = open_page("train", set=laboratory.digits, method=name, **{f"method.{name}.C": "0.37"})
        assert not app.exception
        assert app.select_slider(key=f"widget method.{name}.C").value == 0.37
        assert app.query_params[f"method.{name}.C"] == "0.37"


def test_the_address_of_a_run_brings_back_its_settings(laboratory, open_page):
    app = open_page("train", run=laboratory.not_converged)
    assert not app.exception
    assert app.selectbox(key="widget query").value == "4"
    assert app.selectbox(key="widget method").value == "AP-SVM"
    assert app.select_slider(key="widget method.AP-SVM.C").value == 1e6
    assert app.number_input(key="widget method.AP-SVM.max_iterations").value == 2
    assert app.selectbox(key="widget set").value == laboratory.digits
    assert dict(app.query_params) == {"run": laboratory.not_converged}, "a run stands for its settings"


def test_a_change_joins_the_address_and_another_run_drops_it(laboratory, started, open_page):
    app = open_page("train", run=laboratory.not_converged)
    app.selectbox(key="widget query").select("7").run()
    assert dict(app.query_params) == {"run": laboratory.not_converged, "query": "7"}
    app = open_page("train", run=laboratory.not_converged, query="7", split="train")
    app.button(key="train").click().run()
    assert set(app.query_params) == {"run", "like", "split"}
    assert app.query_params["like"] == laboratory.not_converged
    assert app.selectbox(key="widget query").value == "7", "the new training has it"


def test_a_finished_training_shows_its_certificate(laboratory, open_page):
    app = open_page("train", run=laboratory.finished)
    assert "Converged" in app.success[0].value
    shown = {metric.label: metric.value for metric in app.metric}
    result = laboratory.store.run(laboratory.finished).result
    assert shown["Test AP"] == f"{result['test']['AP']:.3f}"
    assert float(shown["Primal"]) - float(shown["Dual"]) <= 0.011 * float(shown["Primal"])
    assert "go to ranked_images" in " ".join(button.key for button in app.button)


def test_a_training_that_did_not_converge_says_so(laboratory, open_page):
    app = open_page("train", run=laboratory.not_converged)
    assert "Not converged" in app.warning[0].value
    assert not app.success


def test_a_failed_training_says_why_where_it_stood_and_what_to_do(laboratory, open_page):
    app = open_page("train", run=laboratory.failed)
    said = app.error[0].value
    assert "iteration 7\\, gap 0\\.5" in said
    assert "\\*memory\\* \\<b\\>" in said, "what the worker said is not markdown"
    assert "press **Train** to try the same again" in texts(app)


def test_a_cancelled_training_says_so(laboratory, open_page):
    app = open_page("train", run=laboratory.cancelled)
    assert "was cancelled" in app.warning[0].value


def test_cancel_asks_the_worker_to_stop(laboratory, started, open_page, monkeypatch):
    cancelled = []
    monkeypatch.setattr(jobs_panel.jobs, "cancel", lambda store, run_id: cancelled.append(run_id))
    app = open_page("train", set=laboratory.digits)
    app.button(key="train").click().run()
    app.button(key=f"widget cancel {started[0].id}").click().run()
    assert cancelled == [started[0].id]


def test_the_curve_of_a_live_training_grows(laboratory, started, open_page):
    app = open_page("train", set=laboratory.digits)
    app.button(key="train").click().run()
    assert not app.get("plotly_chart")
    line = (
        '{"event": "iteration", "iteration": %d, "primal": 2.0, "dual": %s, "gap": 1, "relative_gap": %s}\n'
    )
    with open(started[0].folder / "events.jsonl", "w") as file:
        file.write(line % (1, "null", "null") + line % (2, "1.0", "0.5") + '{"event": "iter')
    app.run()
    assert not app.exception
    assert len(app.get("plotly_chart")) == 1


def test_no_feature_no_training(laboratory, open_page):
    app = open_page("train", set=laboratory.digits, features="")
    assert app.button(key="train").disabled
    assert "at least one feature" in app.info[0].value


def test_a_feature_named_twice_is_said_and_the_default_shown(laboratory, open_page):
    app = open_page("train", set=laboratory.digits, features="HOG,HOG")
    assert not app.exception
    assert "expected each name once" in app.warning[0].value
    assert list(app.button_group[0].value) == ["HOG", "Colour"]


@pytest.mark.parametrize(
    "line", ["[" * 100_000, '{"event": "progress"}', '{"event": "iteration", "iteration": "1"}']
)
def test_events_that_cannot_be_read_are_left_out(laboratory, open_page, line):
    with open(laboratory.store.run(laboratory.finished).events_file, "a") as file:
        file.write(line + "\n")
    app = open_page("train", run=laboratory.finished)
    assert not app.exception
    assert len(app.get("plotly_chart")) == 1


def test_what_the_address_gets_wrong_is_said_and_left_out(laboratory, open_page):
    wrong = {"run": "nosuchrun0", "query": "no class", "method": "Magic", "features": "HOG,Smell"}
    app = open_page("train", set=laboratory.digits, **wrong, **{"method.AP-SVM.C": "-3"})
    assert not app.exception
    said = "\n".join(warning.value for warning in app.warning)
    for name in (*wrong, "method\\.AP\\-SVM\\.C"):
        assert f"{name} \\=" in said
    assert not set(wrong) & set(app.query_params)
    app.run()
    assert "\n".join(warning.value for warning in app.warning) == said, "until the address changes"
    app.query_params["query"] = "5"
    app.run()
    assert not app.warning


def test_an_import_is_no_training(laboratory, open_page):
    [run, *_] = laboratory.store.runs("import")
    app = open_page("train", run=run.id)
    assert "expected a training that ranks images" in app.warning[0].value
    assert "import" in app.warning[0].value


@pytest.mark.parametrize(("kind", "called"), [("label", "training of labels"), ("asking", "simulation")])
def test_pages_of_trainings_say_what_another_run_is(laboratory, open_page, kind, called):
    store = laboratory.store
    listed = [str(item.value) for item in open_page("train", set=laboratory.digits).dataframe]
    run = store.create_run(kind, {"set": laboratory.digits})
    store.end_run(run.id, "finished", result={"curves": []})
    app = open_page("train", run=run.id, set=laboratory.digits)
    for words in ("expected a training that ranks images", called):
        assert words in app.warning[0].value
    assert [str(item.value) for item in app.dataframe] == listed, "it is no row of the table"
    told = open_page("image_sets", **{"import": run.id}).warning[0].value
    assert "expected an import" in told
    assert called in told
    assert not open_page("start").exception


def test_earlier_trainings_of_this_set_are_listed(laboratory, open_page):
    app = open_page("train", set=laboratory.digits)
    listed = app.dataframe[0].value
    assert list(listed["State"]) == ["✓ finished", "✓ finished", "– cancelled", "✗ failed"]
    assert np.isclose(
        listed["Test AP"].iloc[0], laboratory.store.run(laboratory.finished).result["test"]["AP"]
    )


def test_a_training_without_certificate_is_shown_as_one_that_proves_nothing(laboratory, open_page):
    store = laboratory.store
    result = store.run(laboratory.finished).result
    store.update_run(laboratory.finished, result={**result, "certificate": None})
    app = open_page("train", run=laboratory.finished)
    assert not app.exception
    assert [item.value for item in app.info] == [
        "**No proof.** AP\\-SVM does not say how far its weights are from the best."
    ]
    assert [metric.label for metric in app.metric] == ["Test AP"]
    assert not app.success
    ranked = open_page("ranked_images", run=laboratory.finished)
    assert not ranked.exception
    assert not ranked.warning
    assert ranked.query_params["run"] == laboratory.finished


def test_a_new_feature_is_offered_but_not_chosen(laboratory, open_page, monkeypatch):
    offered = feature_names()

    class Other(feature_class("Colour")):
        order = -1
        default = False

    monkeypatch.setitem(FEATURES._classes, "Other", Other)
    app = open_page("train")
    assert not app.exception
    pills = app.button_group[0]
    assert list(pills.options) == ["Other", *offered]
    assert list(pills.value) == ["HOG", "Colour"]


@pytest.mark.parametrize(("seconds_ago", "starts"), [(1.0, True), (100.0, False)])
def test_a_press_outlives_a_page_that_was_run_again_halfway(
    laboratory, started, open_page, monkeypatch, seconds_ago, starts
):
    app = open_page("train", set=laboratory.digits)
    app.session_state["train was pressed"] = (
        time.monotonic() - seconds_ago
    )  # before the page came to the button
    app.run()
    assert len(started) == starts
    app.run()
    assert len(started) == starts, "once"


def test_what_is_said_of_a_change_does_not_push_the_button_down(laboratory, open_page):
    def above(app):
        seen = [getattr(node, "key", None) for node in app.main]
        return seen[: seen.index("train")]

    before = above(open_page("train", run=laboratory.finished))
    app = open_page("train", run=laboratory.finished, **{"method.AP-SVM.C": "10"})
    assert app.info[0].value.startswith("Like **")
    assert above(app) == before
    assert len(before) > 5
