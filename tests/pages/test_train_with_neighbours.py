"""Methods that use a similarity graph: what the page Train asks for them and shows of their rounds."""

from __future__ import annotations

import json

import pytest
from filled_home import train_here
from homes import trained_besides
from shown import address, captions, compared, plain, plain_texts, press, texts, turn_to, warnings

from pages.parts.app import cache, home
from pages.parts.training import certificate, export, graph_choice, run_steps, runs, training_charts
from ranking.features.graph.image_graph import GRAPHS, no_edges, shares_of_same_label
from ranking.storage.run_settings import TrainSettings

METHOD = "HOAP-SVM"
ROUNDS = [
    {"round": 0, "iteration": 0, "primal": 9.0, "dual": 0.0, "relative_gap": 1.0},
    {"round": 1, "iteration": 0, "primal": 8.0, "dual": None, "relative_gap": None},
    {"round": 1, "iteration": 4, "primal": 6.0, "dual": 5.0, "relative_gap": 0.2},
    {"round": 2, "iteration": 4, "primal": 5.5, "dual": 1.0, "relative_gap": 0.8},
    {"round": 2, "iteration": 7, "primal": 3.0, "dual": 2.9, "relative_gap": 0.03},
]


@pytest.fixture
def on_neighbours(laboratory, homes, monkeypatch):
    """A run in rounds on the shapes, two of which lie in each image, in the home of the app."""

    def train(here):
        return train_here(here.store, here.shapes, "disc", METHOD, C=100.0).id

    here, run_id = trained_besides("in rounds", train, laboratory, homes, monkeypatch)
    return here.store.runs.get(run_id)


def graph_box(app):
    return [box for box in app.selectbox if box.key == "widget graph"]


def test_the_form_has_a_graph_for_methods_that_use_one(laboratory, started, open_page):
    app = open_page("train")
    for method in ("HOB-SVM", METHOD):
        turn_to(app, set=laboratory.digits, method=method)
        [box] = graph_box(app)
        assert box.value == "nearest", "because each image has one sample"
        assert box.options == [graph_choice.words(name) for name in GRAPHS]
        assert not warnings(app)
        box.select("none").run()
        assert address(app)["graph"] == "none"
        press(app, "train")
        assert started[-1].settings["graph"] == "none"
        assert "graph" not in address(app), "the run stands for it"
        assert graph_box(app)[0].value == "none"
    turn_to(app, set=laboratory.digits, method=METHOD, graph="friends")
    assert repr("friends") in warnings(app)
    turn_to(app, set=laboratory.digits, method="AP-SVM", graph="nearest")
    assert not graph_box(app)
    press(app, "train")
    assert started[-1].settings["graph"] is None
    unknown = TrainSettings("key", (), "disc", "TOP", graph="nearest")
    assert runs.neighbours_of(unknown) == "nearest", "of a method of another version as it was given"


def test_a_graph_without_edges_is_named_before_training_and_labels_of_one_image_where_they_are_measured(
    laboratory, open_page
):
    app = open_page("train", set=laboratory.digits, method=METHOD, graph="same image")
    assert no_edges([METHOD]) in warnings(app)
    assert "%" not in captions(app)
    turn_to(app, set=laboratory.digits, method=METHOD)
    assert not warnings(app)
    turn_to(app, set=laboratory.digits, method="AP-SVM", graph="same image")
    assert not warnings(app), "which has no graph"
    images = home.store().sets.get(laboratory.figures)
    assert [f"{share:.0%}" for share in shares_of_same_label(images)] == ["58%", "10%"]
    for graph in ("same image", "nearest"):
        turn_to(app, set=laboratory.figures, method=METHOD, graph=graph)
        assert ("58%" in captions(app), "10%" in captions(app)) == (graph == "same image",) * 2
        assert not warnings(app)
    turn_to(
        app := open_page("experiments"), experiment_set=laboratory.digits, graph="none", features="Colour"
    )
    assert no_edges(["HOB-SVM", METHOD]) in warnings(app)


def test_graph_of_a_run_is_named_in_table_contact_sheet_and_url(filled, on_neighbours, open_page):
    assert runs.telling(on_neighbours).endswith(" = same image")
    assert "same image" not in runs.telling(home.store().runs.get(filled.on_shapes))
    images = home.store().sets.get(filled.shapes)
    title = export.title_of(on_neighbours, images, cache.ranking(on_neighbours, "test"), "test")
    assert title.endswith(": same image")
    app = open_page("train", run=on_neighbours.id)
    assert address(app) == {"run": on_neighbours.id}
    assert not compared(app), "what was not given had its default"
    [difference] = compared(turn_to(app, run=on_neighbours.id, graph="none"))
    assert "same image → none" in difference
    [difference] = compared(turn_to(app, run=on_neighbours.id, method="AP-SVM", graph="none"))
    assert "same image" not in difference, "where one of the methods has none, the method tells it"


def test_objective_that_is_not_convex_ends_where_no_round_goes_lower(laboratory, open_page):
    app = open_page("train")
    for method, convex in ((METHOD, False), ("HOB-SVM", True)):
        turn_to(app, set=laboratory.shapes, method=method)
        explained = [each.help for each in app.markdown if each.help]
        assert any(certificate.LOCAL in help for help in explained) == (not convex)
        assert [formula.value.strip("$\n ") for formula in app.latex] == [certificate.formula(convex)]
        assert any(certificate.stops(1e-3, convex) in help for help in explained)


def test_certificate_is_one_of_the_last_round(filled, on_neighbours, open_page):
    app = open_page("train", run=filled.on_shapes)
    of_convex = {metric.label for metric in app.metric}
    assert run_steps.NOTICE[True] in texts(app)
    turn_to(app, run=on_neighbours.id)
    assert len(app.success) == 1
    shown = {metric.label: metric.value for metric in app.metric}
    assert len(of_convex - set(shown)) == 2, "a dual that bounds no objective has another name"
    proof = on_neighbours.result["certificate"]
    assert {format(proof[name], ".4g") for name in ("primal", "dual")} <= set(shown.values())
    assert run_steps.NOTICE[False] in texts(app)
    assert run_steps.NOTICE[True] not in texts(app)

    store = home.store()
    short = train_here(store, filled.shapes, "disc", METHOD, C=100.0, max_iterations=1, tolerance=1e-7)
    assert len(turn_to(app, run=short.id).warning) == 1
    assert not app.success


def test_lines_break_between_rounds_and_steps_do_not():
    rounds = training_charts.by_round(training_charts.in_rounds(ROUNDS))
    assert training_charts.stairs(rounds) == ([0, 4, 7], [8.0, 5.5, 3.0])
    line = training_charts.apart(rounds)
    assert [event["dual"] for event in line] == [None, 5.0, None, 1.0, 2.9]
    assert [event["iteration"] for event in line] == [0, 4, None, 4, 7]
    assert training_charts.in_rounds([{"iteration": 1}]) == [], "files of before there were rounds"


def test_before_the_first_round_the_page_names_the_warm_start(laboratory, started, open_page):
    def after(events):
        lines = (json.dumps({"event": "iteration", "gap": None, **event}) for event in events)
        started[0].events_file.write_text("\n".join(lines) + "\n")
        app.run()
        words = [plain(caption).replace(",", "").split() for caption in app.caption]
        beginning = [line for line in words if {METHOD, "HOB-SVM"} <= set(line)]
        return len(app.get("plotly_chart")), len(beginning)

    app = open_page("train", set=laboratory.shapes, method=METHOD)
    press(app, "train")
    assert after(ROUNDS[:1]) == (0, 1)
    assert after(ROUNDS) == (1, 0)
    gaps = [each.value for each in app.markdown if certificate.stops(1e-3, False) in each.value]
    assert [certificate.percent(0.03) in gap and "**2**" in gap for gap in gaps] == [True]
    assert METHOD in plain_texts(app)
