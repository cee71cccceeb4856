"""Methods whose samples lean on their neighbours: what the page Train asks of them and shows of their rounds."""

from __future__ import annotations

import itertools
import json

import pytest
from filled_home import train_here
from test_train import texts

from pages.parts import cache, certificate, export, runs, training_charts
from ranking import run_archive
from ranking.image_graph import GRAPHS
from ranking.run_settings import TrainSettings
from ranking.store import Store

METHOD = "HOAP-SVM"


@pytest.fixture
def on_neighbours(laboratory):
    """A training in rounds on the shapes, two of which lie in each image."""
    return train_here(laboratory.store, laboratory.shapes, "disc", METHOD, C=100.0)


def widget(app, name):
    return [box for box in app.selectbox if box.key == f"widget {name}"]


def events_of(run):
    return [json.loads(line) for line in run.events_file.read_text().splitlines()]


# ------------------------------------------------------------------------------------------------- who leans on whom


@pytest.mark.parametrize("method", ["HOB-SVM", METHOD])
def test_a_method_that_uses_neighbours_asks_which(laboratory, started, open_page, method):
    app = open_page("train", set=laboratory.digits, method=method)
    [box] = widget(app, "graph")
    assert box.value == "same image"
    assert box.options == [graph.words.capitalize() for graph in GRAPHS.values()]
    box.select("nearest").run()
    assert app.query_params["graph"] == "nearest"
    app.button(key="train").click().run()
    assert not app.exception
    assert started[0].settings["graph"] == "nearest"
    assert "graph" not in app.query_params, "the training stands for it"
    assert widget(app, "graph")[0].value == "nearest"


def test_a_method_without_neighbours_asks_nothing(laboratory, started, open_page):
    app = open_page("train", set=laboratory.digits, method="AP-SVM", graph="nearest")
    assert not widget(app, "graph")
    app.button(key="train").click().run()
    assert started[0].settings["graph"] is None


def test_another_graph_is_said_to_differ(laboratory, on_neighbours, open_page):
    def said(**change):
        app = open_page("train", run=on_neighbours.id, **change)
        return [info.value.replace("\\", "") for info in app.info if info.value.startswith("Like **")]

    assert not said(), "what was not given had its default"
    [info] = said(graph="none")
    assert "but **neighbours same image → none**" in info
    [info] = said(method="AP-SVM", graph="none")
    assert "neighbours" not in info, "where one of the methods has none, the method says it"


def test_the_table_the_sheet_and_the_address_name_the_graph(laboratory, on_neighbours, open_page):
    assert runs.telling(on_neighbours).endswith("neighbours = same image")
    assert "neighbours" not in runs.telling(laboratory.store.run(laboratory.on_shapes))
    images = laboratory.store.image_set(laboratory.shapes)
    title = export.title_of(on_neighbours, images, cache.ranking(on_neighbours, "test"), "test")
    assert title.endswith("neighbours: same image")
    app = open_page("train", run=on_neighbours.id)
    assert dict(app.query_params) == {"run": on_neighbours.id}
    app = open_page("train", run=on_neighbours.id, graph="none")
    app.query_params["run"] = laboratory.on_shapes
    assert not app.run().exception


def test_a_graph_that_the_address_gets_wrong_is_said(laboratory, open_page):
    app = open_page("train", set=laboratory.digits, method=METHOD, graph="friends")
    assert not app.exception
    assert "graph \\= 'friends'" in app.warning[0].value.replace("\\'", "'")
    assert widget(app, "graph")[0].value == "same image"


def test_a_graph_of_a_method_of_another_version_is_said_as_it_was_told():
    told = TrainSettings("key", (), "disc", "TOP", graph="nearest")
    assert runs.neighbours_of(told) == "nearest"


@pytest.mark.parametrize(
    ("label", "title"), [("What neighbours did", "Max-marginals"), ("Who leans on whom", "Sample graph")]
)
def test_it_leads_on_to_what_its_neighbours_did(laboratory, on_neighbours, open_page, label, title):
    app = open_page("train", run=on_neighbours.id)
    [button] = [button for button in app.button if button.label == label]
    assert button.proto.type == "secondary", "the ranking is the obvious next step"
    button.click().run()
    assert not app.exception
    assert app.title[0].value == title
    assert app.query_params["run"] == on_neighbours.id
    alone = open_page("train", run=laboratory.on_shapes)
    assert label not in [button.label for button in alone.button]


def test_it_leaves_and_comes_back_with_its_neighbours(laboratory, on_neighbours, tmp_path):
    archive = run_archive.export_run(laboratory.store, on_neighbours.id)
    again = run_archive.import_run(laboratory.store, archive)
    assert again.imported["checked"]["scores"], "by the scores with neighbours"
    elsewhere = run_archive.import_run(Store(tmp_path / "else"), archive)
    assert runs.settings_given(elsewhere) == runs.settings_given(on_neighbours)


# ------------------------------------------------------------------------------------------------------- its rounds


def test_a_method_that_is_not_convex_says_where_it_ends(laboratory, open_page):
    app = open_page("train", set=laboratory.shapes, method=METHOD)
    said = texts(app)
    assert "**Ends where no round goes lower.**" in said
    assert "go down the stairs" in said
    assert [formula.value.strip("$\n ") for formula in app.latex] == [certificate.LOCAL_FORMULA]
    assert "stops by itself when one more round can gain at most 0.1% of the objective" in said
    said = texts(open_page("train", set=laboratory.shapes, method="HOB-SVM"))
    assert "no round goes lower" not in said
    assert "watch two bounds meet" in said


def test_its_certificate_is_one_of_its_last_round(laboratory, on_neighbours, open_page):
    app = open_page("train", run=on_neighbours.id)
    assert not app.exception
    [success] = app.success
    assert success.value.startswith(
        "**Converged: no round goes lower.** The convex bound that touches the objective here falls no further than "
    )
    assert "proof that no weights" not in success.value
    assert "This is no proof of the best weights, not even of those nearby" in success.value
    assert "local optimum" not in texts(app)
    shown = {metric.label: metric for metric in app.metric}
    assert {"Objective", "Dual of the last round"} <= set(shown)
    assert "no bound on the objective" in shown["Dual of the last round"].help
    assert "each round bounds the objective by a convex problem" in texts(app)
    assert "grey band" not in texts(app)


def test_one_that_did_not_converge_speaks_of_the_bound_that_touches(laboratory, open_page):
    run = train_here(
        laboratory.store, laboratory.shapes, "disc", METHOD, C=100.0, max_iterations=1, tolerance=1e-7
    )
    app = open_page("train", run=run.id)
    assert "The gap to the convex bound that touches the objective here is" in app.warning[0].value


def test_an_imported_one_claims_that_no_round_goes_lower(laboratory, on_neighbours, open_page):
    archive = run_archive.export_run(laboratory.store, on_neighbours.id)
    app = open_page("train", run=run_archive.import_run(laboratory.store, archive).id)
    assert any(info.value.startswith("**Converged: no round goes lower, says the lab") for info in app.info)


def test_the_stairs_are_the_objective_of_each_round(laboratory, on_neighbours):
    iterations = training_charts.in_rounds([event for event in events_of(on_neighbours) if "primal" in event])
    rounds = training_charts.by_round(iterations)
    assert [events[0]["round"] for events in rounds] == list(range(1, len(rounds) + 1))
    assert len(rounds) > 1
    places, heights = training_charts.stairs(rounds)
    assert len(heights) == len(rounds) + 1
    assert all(later <= earlier for earlier, later in itertools.pairwise(heights)), "never rises"
    proof = on_neighbours.result["certificate"]
    assert heights[-1] == pytest.approx(proof["primal"], rel=1e-3)
    assert places[-1] == iterations[-1]["iteration"] == proof["iterations"]


ROUNDS = [
    {"round": 0, "iteration": 0, "primal": 9.0, "dual": 0.0, "relative_gap": 1.0},
    {"round": 1, "iteration": 0, "primal": 8.0, "dual": None, "relative_gap": None},
    {"round": 1, "iteration": 4, "primal": 6.0, "dual": 5.0, "relative_gap": 0.2},
    {"round": 2, "iteration": 4, "primal": 5.5, "dual": 1.0, "relative_gap": 0.8},
    {"round": 2, "iteration": 7, "primal": 3.0, "dual": 2.9, "relative_gap": 0.03},
]


def test_lines_break_between_rounds_and_steps_do_not():
    rounds = training_charts.by_round(training_charts.in_rounds(ROUNDS))
    assert training_charts.stairs(rounds) == ([0, 4, 7], [8.0, 5.5, 3.0])
    line = training_charts.apart(rounds)
    assert [event["dual"] for event in line] == [None, 5.0, None, 1.0, 2.9]
    assert [event["iteration"] for event in line] == [0, 4, None, 4, 7]
    assert training_charts.in_rounds([{"iteration": 1}]) == [], "files of before there were rounds"


def write(run, events):
    lines = (
        json.dumps({"event": "iteration", "gap": None, **event}).replace("NaN", "null") for event in events
    )
    run.events_file.write_text("\n".join(lines) + "\n")


def test_before_its_first_round_it_says_what_it_is_busy_with(laboratory, started, open_page):
    app = open_page("train", set=laboratory.shapes, method=METHOD)
    app.button(key="train").click().run()
    write(started[0], ROUNDS[:1])
    app.run()
    assert not app.exception
    assert not app.get("plotly_chart")
    said = texts(app)
    assert "HOAP\\-SVM is before its first round: it is finding HOB\\-SVM\\, whose weights" in said
    write(started[0], ROUNDS)
    app.run()
    assert len(app.get("plotly_chart")) == 1
    said = texts(app)
    assert "before its first round" not in said
    assert "Round **2**, gap to the bound of its convex problem: **3% of the objective**" in said
    assert "one more round can gain" in said


@pytest.mark.parametrize("wrong", [-1, 1.5, True, "2", None])
def test_a_round_that_is_none_is_no_event(laboratory, on_neighbours, open_page, wrong):
    [whole, *_] = [event for event in events_of(on_neighbours) if event.get("round")]
    on_neighbours.events_file.write_text(json.dumps({**whole, "round": wrong}) + "\n")
    app = open_page("train", run=on_neighbours.id)
    assert not app.exception
    assert not app.get("plotly_chart")
