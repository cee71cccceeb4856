"""The page Label questions without a browser: what it tells the component, and says where things are missing."""

from __future__ import annotations

import csv
import io
import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from label_home import HOSTILE, NAMES, LabelHome, board, train_labels_here
from test_label_interactions import numbers
from test_ranked_images import components

from pages.parts import answer_files, cache, label_looks, label_models, questions, runs
from pages.parts.interview import Interview
from ranking import jobs, worker
from ranking.answers import AnswerEvent, AnswerKind, AnswerStore, fold
from ranking.asking import closest_maxima, next_questions
from ranking.events import Report
from ranking.lookahead import Position, ranked_labels
from ranking.methods.label_ranker import LabelRanker
from ranking.methods.registry import METHODS
from ranking.metrics import break_even_precision
from ranking.run_settings import LabelTrainSettings
from ranking.types import ProgressEvent

IMAGE = "board 00"


def event(
    home: LabelHome, number: int, label: str, kind: AnswerKind = "yes", image: str = IMAGE
) -> AnswerEvent:
    return AnswerEvent(
        "e" * 32, number, home.key, image, label, kind, home.own, "closest maxima", 1.5, None, number - 1, 1e9
    )


def answered(names: tuple[str, ...], said: dict[str, bool]) -> Any:
    return Position.of(names, said).answers[None]


def told(app: Any) -> dict[str, Any]:
    [data] = [data for data in components(app, "ranking_questions")]
    return dict(data)


def names(rows: list[list[Any]]) -> list[str]:
    return [NAMES_OF[label] for label, _, _ in rows]


NAMES_OF: list[str] = []  # of the method, filled by `model`


def model(home: LabelHome, run_id: str | None = None) -> tuple[Any, Any, int]:
    """The method of a training, the images as it sees them, and the row of IMAGE."""
    method, images = cache.label_ranker(home.store.run(run_id or home.own))
    NAMES_OF[:] = images.names
    return method, images, int(np.flatnonzero(images.ids == IMAGE)[0])


def test_the_question_is_the_one_of_the_strategy_and_its_two_values_are_shown(labels_here, open_page):
    app = open_page("label_questions", label_run=labels_here.own, image=IMAGE)
    assert not app.exception
    assert not app.error
    method, images, row = model(labels_here)
    prediction = method.prediction(images.part([row]))
    asked = next_questions(prediction, closest_maxima)
    tree = told(app)["tree"]
    assert tree["label"] == asked.labels[0]
    assert (tree["inside"], tree["outside"]) == (asked.inside[0], asked.outside[0])
    order = ranked_labels(prediction.scores[0], prediction.unary[0], prediction.answers[0]).tolist()
    assert [label for label, _, _ in tree["ranking"]] == order
    assert told(app)["k"] == method.usual_k
    assert len(tree["after"]) == 3


def test_answers_on_disk_are_pinned_and_the_ranking_is_that_of_the_model_given_them(labels_here, open_page):
    answers = AnswerStore(labels_here.home)
    method, images, row = model(labels_here)
    said = {images.names[3]: False, images.names[20]: True}
    answers.append([event(labels_here, 1, images.names[3], "no"), event(labels_here, 2, images.names[20])])
    data = told(open_page("label_questions", label_run=labels_here.own, image=IMAGE))
    prediction = method.prediction(images.part([row]), answers=answered(images.names, said))
    order = ranked_labels(prediction.scores[0], prediction.unary[0], prediction.answers[0]).tolist()
    assert [label for label, _, _ in data["tree"]["ranking"]] == order
    assert {label: kept for label, _, kept in data["tree"]["ranking"] if kept} == {3: "no", 20: "yes"}
    first = method.prediction(images.part([row]), answers=answered(images.names, {images.names[3]: False}))
    before = ranked_labels(first.scores[0], first.unary[0], first.answers[0]).tolist()
    assert data["before"] == before, "before the last answer"
    assert (data["given"], data["counted"]) == ([[3, "no"], [20, "yes"]], 2)
    assert not {3, 20} & set(data["order"])


def test_the_ranking_of_each_coming_answer_is_sent_along(labels_here, open_page):
    data = told(open_page("label_questions", label_run=labels_here.own, image=IMAGE))
    method, images, row = model(labels_here)
    asked = data["tree"]["label"]
    for branch, has in enumerate((True, False)):
        after = data["tree"]["after"][branch]
        prediction = method.prediction(
            images.part([row]), answers=answered(images.names, {images.names[asked]: has})
        )
        assert [label for label, _, _ in after["ranking"]] == ranked_labels(
            prediction.scores[0], prediction.unary[0], prediction.answers[0]
        ).tolist()
        assert after["ranking"][0 if has else -1][0] == asked
    assert data["tree"]["after"][0]["after"][0]["ranking"] is None


@pytest.mark.parametrize("strategy", ["entropy", "core first", "random"])
def test_every_way_to_ask_asks(labels_here, open_page, strategy):
    app = open_page("label_questions", label_run=labels_here.own, image=IMAGE, strategy=strategy)
    assert not app.exception
    data, (method, _, _) = told(app), model(labels_here)
    assert data["stamp"]["strategy"] == strategy
    if strategy == "core first":
        assert data["tree"]["label"] == method.core[0]
    again = told(open_page("label_questions", label_run=labels_here.own, image=IMAGE, strategy=strategy))
    assert again["order"] == data["order"], "also at random: a page that is loaded again asks the same"


def test_the_independent_model_has_no_core_to_ask_for_first(labels_here, open_page):
    app = open_page("label_questions", label_run=labels_here.rival, image=IMAGE, strategy="core first")
    assert not app.exception
    assert "strategy" in app.warning[0].value
    assert told(app)["stamp"]["strategy"] == "closest maxima"


def test_the_truth_is_marked_and_measured_on_request_alone(labels_here, open_page):
    closed = told(open_page("label_questions", label_run=labels_here.own, image=IMAGE))
    assert closed["truth"] is None
    app = open_page("label_questions", label_run=labels_here.own, image=IMAGE, truth="1", rival="own")
    data, (method, images, row) = told(app), model(labels_here)
    assert data["truth"] == np.flatnonzero(images.labels[row]).tolist()
    scores = method.scores(images.part([row]))[0]
    assert data["tree"]["precision"] == break_even_precision(images.labels[row], scores)
    assert any("Right for good: C-star after" in caption.value for caption in app.caption)


def test_a_rival_is_given_the_same_answers_or_asks_its_own_questions(labels_here, open_page):
    model(labels_here)
    answers = AnswerStore(labels_here.home)
    answers.append([event(labels_here, 1, NAMES_OF[5]), event(labels_here, 2, NAMES_OF[6], "no")])
    same = told(open_page("label_questions", label_run=labels_here.own, image=IMAGE, rival="same"))["rival"]
    assert {label: kept for label, _, kept in same["rows"] if kept} == {5: "yes", 6: "no"}
    yes, _, skip = same["after"]
    assert [label for label, _, _ in skip["rows"]] == [label for label, _, _ in same["rows"]]
    assert len([kept for _, _, kept in yes["rows"] if kept == "yes"]) == 2
    own = told(open_page("label_questions", label_run=labels_here.own, image=IMAGE, rival="own"))["rival"]
    _, images, row = model(labels_here, labels_here.rival)
    [player] = label_models.players(labels_here.store.run(labels_here.rival))
    interview = Interview.of(player, images, row, "closest maxima", 10, True)
    asked, _ = interview.asker.play(Position.of(images.names, {}), images.labels[row], 2)
    kept = {label: "yes" if images.labels[row, label] else "no" for label in asked}
    assert {label: said for label, _, said in own["rows"] if said} == kept
    assert own["note"].startswith("2 own questions (closest maxima), answered by the truth")
    assert told(open_page("label_questions", label_run=labels_here.own, image=IMAGE))["rival"] is None


@pytest.mark.parametrize("asks", ["own", "rival"])
def test_a_model_has_one_colour_whoever_asks(labels_here, open_page, asks):
    run_id = getattr(labels_here, asks)
    app = open_page("label_questions", label_run=run_id, image=IMAGE, truth="1", rival="own")
    assert not app.exception
    [race] = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    lines = {line["name"]: (line["line"]["color"], line["line"]["dash"]) for line in race["data"]}
    star, alone = label_looks.LOOKS[:2]
    assert lines == {"C-star": (star.colour, star.dash), "Independent": (alone.colour, alone.dash)}
    bars = {one["title"]: one["colour"] for one in (told(app)["own"], told(app)["rival"])}
    assert bars == {"C-star": star.colour, "Independent": alone.colour}


def test_what_the_browser_has_sent_is_on_disk_before_the_page_says_so(labels_here, open_page, monkeypatch):
    """Also where the server has just started, and hears of the log only when it has shown the component."""
    model(labels_here)
    log = {"events": [event(labels_here, 1, NAMES_OF[4]).to_json()], "shown": NAMES_OF[7], "token": ""}
    seen = []

    def browser(data, key, on_more):
        seen.append((data, AnswerStore(labels_here.home).events(labels_here.key)))
        log["token"] = data["token"]
        return questions.Sent.of(log)

    def sent_before(key):
        return questions.Sent.of(log) if seen else questions.Sent()

    monkeypatch.setattr(questions, "questions", browser)
    monkeypatch.setattr(questions, "sent_before", sent_before)
    open_page("label_questions", label_run=labels_here.own, image=IMAGE)
    (first, before), (second, after) = seen
    assert (first["saved"], before) == ({}, [])
    assert (second["saved"], [one.label for one in after]) == ({"e" * 32: 1}, [NAMES_OF[4]])
    assert second["tree"]["label"] == 7, "what is on the screen stays there"
    assert second["given"] == [[4, "yes"]]


def test_k_is_raised_by_one_from_the_question(labels_here, open_page, monkeypatch):
    shown, pressed = [], []

    def browser(data, key, on_more):
        shown.append(data)
        if not pressed:  # what Streamlit calls before it shows the component again
            pressed.append(True)
            on_more()
        return questions.Sent()

    monkeypatch.setattr(questions, "questions", browser)
    app = open_page("label_questions", label_run=labels_here.own, image=IMAGE, label_k="3")
    assert not app.exception
    assert [data["k"] for data in shown] == [3, 4]
    assert app.query_params["label_k"] == "4"
    assert app.slider(key="widget label_k").value == 4
    assert shown[0]["most"] == len(shown[0]["names"])


@pytest.mark.parametrize(
    "log", [[], {"events": 1}, {"events": [{"kind": "yes"}]}, {"events": [None] * 10_001}]
)
def test_a_log_that_is_none_is_refused_and_said(labels_here, open_page, monkeypatch, log):
    with pytest.raises(ValueError, match=r"the browser|an answer"):
        questions.Sent.of(log)
    monkeypatch.setattr(questions, "sent_before", lambda key: questions.Sent.of(log))
    app = open_page("label_questions", label_run=labels_here.own, image=IMAGE)
    assert not app.exception
    assert len(app.error) == 1


def test_an_event_that_cannot_be_kept_holds_up_no_other(labels_here):
    good, bad = event(labels_here, 2, "sea"), {**event(labels_here, 1, "sea").to_json(), "time": 1e12}
    sent = questions.Sent.of({"events": [bad, good.to_json()]})
    assert sent.events == (good,)
    [(session, number, why)] = sent.refused
    assert (session, number) == (good.session, 1)
    assert "time" in why


def test_the_queue_goes_from_image_to_image_and_to_the_next_unanswered(labels_here, open_page):
    _, images, _ = model(labels_here)
    queue = [str(id) for id in images.ids[images.test]]
    answers = AnswerStore(labels_here.home)
    answers.append([event(labels_here, n, NAMES_OF[0], image=queue[n - 1]) for n in (1, 2)])
    app = open_page("label_questions", label_run=labels_here.own)
    assert app.query_params["image"] == queue[2], "the first that nobody has answered"
    [back] = [button for button in app.button if button.label == "Back"]
    back.click().run()
    assert app.query_params["image"] == queue[1]
    [further] = [button for button in app.button if button.label == "Next unanswered"]
    further.click().run()
    assert app.query_params["image"] == queue[2]
    assert told(app)["stamp"]["image"] == queue[2]


def test_an_image_of_ones_own_is_described_and_not_kept(labels_here, open_page):
    app = open_page("label_questions", label_run=labels_here.own, image=IMAGE, truth="1")
    before = sorted(labels_here.home.rglob("*"))
    _, images, row = model(labels_here)
    app.file_uploader[0].upload("mine.png", board(images_lit(images, row)), "image/png")
    app.run()
    assert not app.exception
    data = told(app)
    assert data["stamp"]["image"].startswith("own-")
    assert data["truth"] is None
    [usual] = [part for part in components(app, "ranking_picture")]
    assert (usual["width"], usual["height"]) == (48, 48)
    method, _, _ = model(labels_here)
    alone = method.prediction(images.part([row]))
    order = ranked_labels(alone.scores[0], alone.unary[0], alone.answers[0])
    assert [label for label, _, _ in data["tree"]["ranking"]] == order.tolist(), (
        "the same image, the same ranking"
    )
    assert [path for path in sorted(labels_here.home.rglob("*")) if path not in before] == []


def images_lit(images: Any, row: int) -> Any:
    shown = {name for name, has in zip(images.names, images.labels[row], strict=True) if has}
    return np.array([name in shown for name in NAMES])


def test_what_is_no_image_is_refused(labels_here, open_page):
    app = open_page("label_questions", label_run=labels_here.own, image=IMAGE)
    app.file_uploader[0].upload("mine.png", b"no image", "image/png")
    app.run()
    assert not app.exception
    assert "this file" in app.error[0].value
    assert told(app)["stamp"]["image"] == IMAGE


# ---------------------------------------------------------------------------------------------------------
# What is missing
# ---------------------------------------------------------------------------------------------------------


def test_without_images_of_several_labels_label_scenes_are_offered_and_kept(
    laboratory, started, open_page, monkeypatch
):
    monkeypatch.setattr(label_models, "MOST_LABELS_OF_ONE", 99.0)
    app = open_page("label_questions")
    assert not app.exception
    [draw] = [button for button in app.button if button.label == "Draw label scenes"]
    draw.click().run()
    [run] = [run for run in started if run.settings["source"] == "Label scenes"]
    assert run.kind == "import"
    assert not app.exception
    assert [button.label for button in app.button if button.label == "Cancel"] == ["Cancel"]


def test_without_a_model_both_are_trained_with_one_press(labels_here, started, open_page):
    for run_id in (labels_here.own, labels_here.rival):
        labels_here.store.delete_run(run_id)
    app = open_page("label_questions")
    assert not app.exception
    [train] = [button for button in app.button if button.label == "Train C-star and its rival"]
    train.click().run()
    assert not app.exception
    assert {run.settings["method"] for run in started if run.kind == "label"} == {
        "C-star p@k",
        "Independent p@k",
    }
    assert {run.settings["set"] for run in started if run.kind == "label"} == {labels_here.key}


def test_both_trainings_of_one_press_are_watched_with_their_gaps(labels_here, started, open_page):
    for run_id in (labels_here.own, labels_here.rival):
        labels_here.store.delete_run(run_id)
    app = open_page("label_questions")
    [train] = [button for button in app.button if button.label == "Train C-star and its rival"]
    train.click().run()
    learning = [run for run in started if run.kind == "label"]
    for run, dual in zip(learning, (0.75, 0.5), strict=True):
        Report(run.events_file).iteration(ProgressEvent(3, 1.0, dual, 0.1, 3))
    app.run()
    assert not app.exception
    assert len(app.get("progress")) == 2
    gaps = [text.value for text in app.markdown if text.value.startswith("Gap now")]
    assert ["25%" in gaps[0], "50%" in gaps[1]] == [True, True], "each has events of its own"


def test_a_model_with_other_settings_is_trained_and_shown(labels_here, started, open_page):
    app = open_page("label_questions", label_run=labels_here.own, image=IMAGE)
    app.number_input(key="widget label training.C-star p@k.core_size").set_value(0)
    app.number_input(key="widget label training least").set_value(1)
    app.button(key="widget train another").click().run()
    assert not app.exception
    [run] = [run for run in started if run.kind == "label"]
    settings = LabelTrainSettings.from_json(run.settings)
    assert (settings.set, settings.method, settings.min_images) == (labels_here.key, "C-star p@k", 1)
    assert settings.method_settings["core_size"] == 0
    assert "Cancel" in [button.label for button in app.button]
    said = [text.value.replace("\\", "") for text in app.caption]
    assert "C-star p@k · Labels in the core = 0, images a label ≥ 1" in said
    Path(run.model_file).write_bytes(labels_here.store.run(labels_here.own).model_file.read_bytes())
    labels_here.store.end_run(run.id, "finished", result={"certificate": None, "test": {"BEP": 0.5}})
    app.run()
    assert app.query_params["label_run"] == labels_here.own, "nobody is torn away from a question"
    app.button(key="widget show just trained").click().run()
    assert app.query_params["label_run"] == run.id


def test_a_training_that_fails_says_so_beside_its_form(labels_here, started, open_page):
    app = open_page("label_questions", label_run=labels_here.own, image=IMAGE)
    app.button(key="widget train another").click().run()
    [run] = [run for run in started if run.kind == "label"]
    labels_here.store.end_run(run.id, "failed", "no label is shown by 20 images")
    app.run()
    assert "no label is shown by 20 images" in app.error[0].value


@pytest.fixture
def coreless(labels_here: LabelHome) -> str:
    """The id of a C-star without a core, on the same features and labels."""
    settings = labels_here.store.run(labels_here.own).settings
    given = {**settings, "method_settings": {**settings["method_settings"], "core_size": 0}}
    run = labels_here.store.create_run("label", given)
    report = Report(run.events_file)
    labels_here.store.end_run(run.id, "finished", result=worker.train_labels(labels_here.store, run, report))
    report.flush()
    return run.id


def test_trainings_are_told_apart_by_their_settings_and_play_against_each_other(
    labels_here, coreless, open_page
):
    app = open_page("label_questions", label_run=labels_here.own, image=IMAGE, rival="own", truth="1")
    options = app.selectbox(key="widget label_run").options
    assert [("Labels in the core = 0" in option) for option in options] == [True, False, False]
    app.selectbox(key="widget rival_run").set_value(coreless).run()
    assert not app.exception
    data = told(app)
    assert data["own"]["title"] == "C-star (Labels in the core = 5)"
    assert data["rival"]["title"] == "C-star (Labels in the core = 0)"
    assert data["own"]["colour"] != data["rival"]["colour"]
    [race] = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    assert len(race["data"]) == 2


def test_both_bounds_of_a_training_can_be_looked_at(labels_here, open_page):
    app = open_page("label_questions", label_run=labels_here.own, image=IMAGE)
    app.session_state["widget label training"] = True
    app.run()
    assert not app.exception
    [curve] = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    proof = labels_here.store.run(labels_here.own).result["certificate"]
    lines = {line["name"]: line for line in curve["data"] if "name" in line}
    assert numbers(lines["dual (lower bound)"]["y"])[-1] == pytest.approx(proof["dual"])
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["Primal"] == f"{proof['primal']:.4g}"
    assert shown["Test BEP"] == f"{labels_here.store.run(labels_here.own).result['test']['BEP']:.3f}"


def test_trainings_of_labels_are_starred_named_deleted_and_brought_back(labels_here, open_page):
    app = open_page("label_questions", label_run=labels_here.own, image=IMAGE)
    app.session_state["widget label training"] = True
    app.run()
    app.button(key="star runs").click().run()
    assert labels_here.store.run(labels_here.own).star
    [name] = [field for field in app.text_input if field.label == "Name"]
    name.set_value("With a core")
    [save] = [button for button in app.button if button.label == "Save"]
    save.click().run()
    assert "★ With a core" in app.selectbox(key="widget label_run").options[0]
    app.button(key="delete runs").click().run()
    assert not app.exception
    assert not app.warning
    assert labels_here.store.run(labels_here.own).deleted
    assert app.query_params["label_run"] == labels_here.rival
    app.button(key="undo just deleted").click().run()
    assert labels_here.store.run(labels_here.own).deleted is None


def test_the_certificate_of_one_k_for_all_images_is_of_a_local_optimum(labels_here):
    run = labels_here.store.run(labels_here.own)
    assert runs.is_convex(run)
    given = {**run.settings, "method_settings": {"k": 3}}
    assert not runs.is_convex(replace(run, settings=given))


def test_what_to_notice_is_of_the_model_that_asks(labels_here, open_page):
    for run_id, moves in ((labels_here.own, True), (labels_here.rival, False)):
        [said] = [
            text.value
            for text in open_page("label_questions", label_run=run_id).caption
            if "Keys:" in text.value
        ]
        assert ("moves that nobody asked for" in said) is moves


def test_a_rival_that_is_ready_first_does_not_begin_in_the_place_of_c_star(labels_here, started, open_page):
    settings = labels_here.store.run(labels_here.own).settings
    labels_here.store.delete_run(labels_here.own)
    learning = jobs.start_once(labels_here.store, "label", settings)
    app = open_page("label_questions")
    assert not app.exception
    assert components(app, "ranking_questions") == []
    assert "learns to rank the labels of Boards" in " ".join(text.value for text in app.markdown)
    named = open_page("label_questions", label_run=labels_here.rival)
    assert told(named)["stamp"]["run"] == labels_here.rival, "whoever asks for the rival gets it"
    labels_here.store.end_run(learning.id, "cancelled", "cancelled before any weights were saved")
    assert told(open_page("label_questions"))["stamp"]["run"] == labels_here.rival


def test_a_rival_that_is_not_there_is_trained_on_the_same_features(labels_here, started, open_page):
    labels_here.store.delete_run(labels_here.rival)
    app = open_page("label_questions", label_run=labels_here.own, image=IMAGE, rival="same")
    [train] = [button for button in app.button if button.label.startswith("Train Independent p@k")]
    train.click().run()
    [run] = [run for run in started if run.kind == "label"]
    asked = labels_here.store.run(labels_here.own).settings
    assert (run.settings["features"], run.settings["min_images"]) == (asked["features"], asked["min_images"])
    assert told(app)["rival"] is None


def test_features_that_are_gone_are_computed_once_more(labels_here, open_page):
    for file in labels_here.store.features.iterdir():
        file.unlink()
    cache._label_ranker.clear()
    app = open_page("label_questions", label_run=labels_here.own, image=IMAGE)
    [compute] = [button for button in app.button if button.label == "Compute them once more"]
    compute.click().run()
    assert not app.exception
    assert told(app)["stamp"]["run"] == labels_here.own


@pytest.mark.parametrize(
    ("name", "value"), [("label_run", "nonsense"), ("image", "no such"), ("label_k", "0"), ("strategy", "x")]
)
def test_an_address_that_is_not_understood_is_said(labels_here, open_page, name, value):
    app = open_page("label_questions", **{"label_run": labels_here.own, "image": IMAGE, name: value})
    assert not app.exception
    assert name.replace("_", "\\_") in app.warning[0].value
    assert told(app)["tree"]["label"] >= 0


# ---------------------------------------------------------------------------------------------------------
# Files
# ---------------------------------------------------------------------------------------------------------


def test_answers_as_a_table_are_guarded_and_exact(labels_here):
    answers = AnswerStore(labels_here.home)
    answers.append(
        [
            event(labels_here, 1, HOSTILE),
            event(labels_here, 2, "sea", "no"),
            event(labels_here, 3, "sea", "undo"),
        ]
    )
    [head, *rows] = csv.reader(io.StringIO(answer_files.csv_text(answers.images(labels_here.key))))
    assert tuple(head) == answer_files.COLUMNS
    [row] = [dict(zip(head, row, strict=True)) for row in rows]
    assert row["label"] == f"'{HOSTILE}"
    assert (row["image"], row["place"], row["answer"], row["inside"], row["outside"]) == (
        IMAGE,
        "1",
        "yes",
        "1.5",
        "",
    )


def test_json_lines_hold_every_event_in_its_order(labels_here):
    answers = AnswerStore(labels_here.home)
    kinds: list[AnswerKind] = ["yes", "undo", "skip", "no"]
    answers.append([event(labels_here, n, "sea", kind) for n, kind in enumerate(kinds, start=1)])
    answers.append(
        [replace(event(labels_here, 1, HOSTILE, image="board 04"), session="f" * 32, time=time.time())]
    )
    lines = answer_files.json_lines(answers.events(labels_here.key)).splitlines()
    first, second = map(json.loads, lines)
    assert [one["kind"] for one in first["events"]] == kinds
    assert (first["image"], first["answers"], first["skipped"]) == (IMAGE, {"sea": "no"}, [])
    assert second["answers"] == {HOSTILE: "yes"}
    assert first["answers"] == {
        name: "yes" if has else "no"
        for name, has in fold(answers.events(labels_here.key, IMAGE)).answers.items()
    }


# ---------------------------------------------------------------------------------------------------------
# Methods of tomorrow
# ---------------------------------------------------------------------------------------------------------


def test_a_ranker_of_labels_of_tomorrow_asks_as_well(labels_here, open_page, monkeypatch):
    """A method is one new file: no list of the page has to be edited."""
    METHODS.names()  # all are found before one is added
    known = dict(METHODS._classes)
    monkeypatch.setattr(METHODS, "_classes", known)

    @METHODS.register("Tomorrow p@k")
    @dataclass(kw_only=True, eq=False)
    class Tomorrow(LabelRanker):
        def choose_core(self, label_set: Any) -> list[int]:
            return []

    run = train_labels_here(labels_here.store, labels_here.key, "Tomorrow p@k")
    app = open_page("label_questions", label_run=run.id, image=IMAGE, rival="same")
    assert not app.exception
    assert not app.warning
    data = told(app)
    assert (data["stamp"]["run"], data["own"]["title"]) == (run.id, "Tomorrow p@k")
    assert data["rival"]["title"] == "C-star"
    assert data["rival"]["colour"] == label_looks.LOOKS[0].colour
    assert data["own"]["colour"] == label_looks.LOOKS[2].colour, "the next one of its own"
    first = told(open_page("label_questions", image=IMAGE))
    assert first["stamp"]["run"] == labels_here.own, "unasked C-star asks, whatever was trained last"
