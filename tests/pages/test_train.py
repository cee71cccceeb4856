"""The page Train: the form and the address, a run while it is trained, and what it came to."""

from __future__ import annotations

import json
from urllib.parse import parse_qsl

from shown import address, button_keys, choose, compared, plain_texts, press, texts, turn_to, warnings

from pages.parts.app import menu
from pages.parts.app.frame import escaped
from pages.parts.rankings import inference_scores
from pages.parts.training import certificate, jobs_panel, runs
from ranking import method_class, method_names
from ranking.core.settings import settings_dict

GO_TO = "widget go to "
C_OF_AP_SVM = "method.AP-SVM.C"
EXACT = json.dumps(
    {"event": "iteration", "iteration": 1, "primal": 2.0, "dual": 1.0, "gap": 1, "relative_gap": 0.5}
)


def test_the_first_choice_is_a_ranking_method_and_the_first_class(laboratory, open_page):
    app = open_page("train", set=laboratory.digits, method="AP-SVM")
    turn_to(app, set=laboratory.digits)
    chosen = [app.selectbox(key=f"widget {name}").value for name in ("method", "query")]
    assert chosen == ["AP-SVM", laboratory.store.sets.get(laboratory.digits).classes[0]]
    options = [float(text) for text in app.select_slider(key=f"widget {C_OF_AP_SVM}").options]
    assert (min(options), max(options)) == (1e-4, 1e6)
    turn_to(app, set=laboratory.digits, **{C_OF_AP_SVM: "1e8"})
    assert not app.warning
    assert app.select_slider(key=f"widget {C_OF_AP_SVM}").value == 1e8, "the slider takes more than it offers"
    turn_to(app, set=laboratory.digits, features="")
    assert app.button(key="train").disabled
    assert app.info


def test_every_method_has_its_description(laboratory, open_page, monkeypatch):
    app = open_page("train", set=laboratory.digits)
    for name in method_names(ranks="samples"):
        turn_to(app, set=laboratory.digits, method=name)
        [help] = [
            text.proto.help for text in app.markdown if text.value == f"${method_class(name).objective}$"
        ]
        assert escaped(method_class(name).summary) in help, name
    # which a method of a contributor may lack
    for what in ("summary", "objective"):
        monkeypatch.delattr(method_class("AP-SVM"), what)
    turn_to(app, set=laboratory.digits)


def test_the_url_of_a_run_restores_its_settings(laboratory, started, open_page):
    run = laboratory.not_converged
    app = open_page("train", run=run)
    for name, value in (("query", "4"), ("method", "AP-SVM"), ("set", laboratory.digits)):
        assert app.selectbox(key=f"widget {name}").value == value
    assert app.select_slider(key=f"widget {C_OF_AP_SVM}").value == 1e6
    assert app.number_input(key="widget method.AP-SVM.max_iterations").value == 2
    assert address(app) == {"run": run}, "a run stands for its settings"
    choose(app.selectbox, "query", "7")
    assert address(app) == {"run": run, "query": "7"}
    app = open_page("train", run=run, query="7", split="train")
    press(app, "train")
    assert set(address(app)) == {"run", "like", "split"}
    assert address(app)["like"] == run
    assert app.selectbox(key="widget query").value == "7", "the new run has it"


def test_settings_that_differ_from_the_run_are_listed(laboratory, open_page):
    app = open_page("train")
    for run in (laboratory.finished, laboratory.on_shapes, laboratory.not_converged):
        assert not compared(turn_to(app, run=run)), "settings that were not given have their defaults"
    name = runs.short_name(laboratory.store.runs.get(laboratory.finished))
    for change, differences in (
        ({"features": "HOG,Colour"}, ["Colour → HOG + Colour"]),
        ({"method": "SVM"}, ["AP-SVM → SVM", "C 100 → 1000", "0.01 → 0.001"]),
        ({"query": "7", C_OF_AP_SVM: "1e6"}, ["3 → 7", "C 100 → 1e+06"]),
    ):
        [listed] = compared(turn_to(app, run=laboratory.finished, **change))
        assert name in listed
        for part, difference in zip(listed.split("**")[3].split("; "), differences, strict=True):
            assert part.endswith(difference)
    [listed] = compared(turn_to(app, run=laboratory.on_shapes, method="SVM"))
    assert "**method AP-SVM → SVM**" in listed, "their defaults are the same"


def test_the_button_does_not_move_and_results_are_above_the_details(laboratory, open_page):
    def order_on(app):
        return [getattr(element, "key", None) or element.type for element in app.main]

    app = open_page("train", run=laboratory.finished)
    order = order_on(app)
    places = [order.index(name) for name in ("widget method", "train", "success", "widget features")]
    assert places == sorted(places)
    turn_to(app, run=laboratory.finished, **{C_OF_AP_SVM: "10"})
    assert compared(app)
    assert order_on(app)[: places[1] + 1] == order[: places[1] + 1]


def test_the_page_shows_the_newest_run_of_the_set_unless_the_url_has_training_settings(laboratory, open_page):
    newest, *_ = [run for run in laboratory.store.runs.all("train") if run.has_scores]
    assert address(open_page("train"))["run"] == newest.id
    app = open_page("train", set=laboratory.shapes)
    assert address(app)["run"] == laboratory.on_shapes
    turn_to(app, set=laboratory.shapes)
    assert "run" not in address(app), "one who has left it is not taken back"
    for parameters in ({"query": "7"}, {"method": "SVM"}, {"features": "HOG"}):
        assert "run" not in address(open_page("train", set=laboratory.digits, **parameters))


def test_invalid_url_parameters_are_listed_and_ignored(laboratory, open_page):
    wrong = {"run": "nosuchrun0", "query": "no class", "method": "Magic", "features": "HOG,Smell"}
    app = open_page("train", set=laboratory.digits, **wrong, **{C_OF_AP_SVM: "-3"})
    listed = warnings(app)
    assert all(name in listed and repr(text) in listed for name, text in {**wrong, C_OF_AP_SVM: "-3"}.items())
    assert not set(wrong) & set(address(app))
    assert list(app.button_group[0].value) == ["HOG", "Colour", "CNN"]
    app.run()
    assert warnings(app) == listed, "until the address changes"
    app.query_params["query"] = "5"
    app.run()
    assert not app.warning


def test_runs_of_another_kind_are_no_rows_and_named_in_a_warning(laboratory, open_page):
    store = laboratory.store
    [imported, *_] = store.runs.all("import")
    runs_unlisted = [
        store.runs.create("train", {"set": laboratory.digits, "task": "labels"}),
        store.runs.create("study", {"set": laboratory.digits, "task": "asking"}),
    ]
    for run in runs_unlisted:
        store.runs.end(run.id, "finished", result={"curves": []})
    app, images = open_page("train", set=laboratory.digits), open_page("image_sets")
    assert len(app.dataframe[0].value) == len(store.runs.all(set_key=laboratory.digits, task="samples"))
    for run in (imported, *runs_unlisted):
        assert run.kind_name in warnings(turn_to(app, run=run.id, set=laboratory.digits))
    for run in runs_unlisted:
        assert run.kind_name in warnings(turn_to(images, **{"import": run.id}))


def test_run_from_its_start_to_cancel(laboratory, started, open_page, monkeypatch):
    cancelled = []
    monkeypatch.setattr(jobs_panel.jobs, "cancel", lambda store, run_id: cancelled.append(run_id))
    app = open_page("train", set=laboratory.digits, method="AP-SVM")
    assert any(certificate.stops(1e-3) in text.proto.help for text in app.markdown)
    choose(app.selectbox, "query", "7")
    press(app, "train")
    [run] = started
    assert run.settings["query"] == "7"
    assert [name for name, _ in run.settings["features"]] == ["HOG", "Colour", "CNN"]
    assert run.settings["method_settings"] == settings_dict(method_class("AP-SVM")())
    assert address(app)["run"] == run.id
    assert escaped(runs.short_name(run)) in texts(app)
    assert not app.get("plotly_chart")
    press(app, "train")
    assert len(started) == 1, "pressing twice starts one"
    press(app, "delete runs")
    assert runs.short_name(run) in plain_texts(app)
    assert app.error
    assert laboratory.store.runs.get(run.id).deleted is None

    without_dual = EXACT.replace("1.0", "null").replace("0.5", "null")
    run.events_file.write_text(f"{without_dual}\n{EXACT}\n")
    app.run()
    assert len(app.get("plotly_chart")) == 1
    shown = [element.value for element in app.markdown if certificate.stops(1e-3) in element.value]
    assert [certificate.percent(0.5) in text for text in shown] == [True]
    press(app, f"widget cancel {run.id}")
    assert cancelled == [run.id]


def test_a_queued_run_shows_its_position(laboratory, started, open_page, monkeypatch):
    def waiting(run):
        return jobs_panel.waits_for(run, 1) in str(app.get("progress")[0].proto)

    monkeypatch.setattr(jobs_panel.queue, "RUNS_AT_ONCE", 1)
    app = open_page("train", set=laboratory.digits)
    press(app, "train")
    assert not waiting(started[0])
    choose(app.selectbox, "query", "5")
    press(app, "train")
    assert len(started) == 2, "other settings are another run"
    assert waiting(started[1])
    assert jobs_panel.queue.waits_for(laboratory.store.home, started[1]) == 1


def test_runs_that_ended_in_every_way(laboratory, open_page):
    app, store = open_page("train", run=laboratory.finished), laboratory.store
    assert len(app.success) == 1
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["Test AP"] == f"{store.runs.get(laboratory.finished).result['test']['AP']:.3f}"
    assert float(shown["Primal"]) - float(shown["Dual"]) <= 0.011 * float(shown["Primal"])
    turn_to(app, run=laboratory.not_converged)
    assert len(app.warning) == 1
    assert not app.success
    turn_to(app, run=laboratory.failed)
    assert escaped(store.runs.get(laboratory.failed).reason) in app.error[0].value, "this is not markdown"
    turn_to(app, run=laboratory.cancelled)
    assert escaped(store.runs.get(laboratory.cancelled).reason) in app.warning[0].value
    assert not app.error


def test_a_training_leads_on_to_what_its_method_can_show(laboratory, open_page):
    """HOB-SVM has neighbours, and AP-SVM a loss whose most violated ranking it asks for."""
    for run, linked, besides in (
        (laboratory.neighbours, "neighbours", {"neighbours"}),
        (laboratory.finished, "most_violated_ranking", {"most_violated_ranking"}),
    ):
        for page in besides:
            app = open_page("train", run=run)
            ways = {
                key.removeprefix(GO_TO): app.button(key=key).proto.type
                for key in button_keys(app)
                if GO_TO in key
            }
            assert ways == {"ranked_images": "primary", **dict.fromkeys(besides, "secondary")}
            press(app, f"{GO_TO}{page}")
            assert app.title[0].value == menu.PAGES[page]
            assert not app.warning
            assert address(app)["run"] == run
        carried, ranked = {"run": run, "split": "test"}, open_page("ranked_images", run=run, split="test")
        links = [
            (link.proto.page, dict(parse_qsl(link.proto.query_string)))
            for link in ranked.get("page_link")
            if link.proto.label != "Lecture"
        ]
        assert [page for page, query in links if query != carried] == [linked], "besides those of the menu"
    assert inference_scores.address_of(laboratory.store.runs.get(run)).items() <= links[-1][1].items()


def test_run_without_certificate_is_shown_as_one_that_proves_nothing(laboratory, open_page):
    result = laboratory.store.runs.get(laboratory.finished).result
    laboratory.store.runs.update(laboratory.finished, result={**result, "certificate": None})
    app = open_page("train", run=laboratory.finished)
    assert len(app.info) == 1
    assert [metric.label for metric in app.metric] == ["Test AP"]
    assert not app.success
    ranked = open_page("ranked_images", run=laboratory.finished)
    assert not ranked.warning
    assert address(ranked)["run"] == laboratory.finished
