"""The page Interactive labelling without a browser: questions, answers, and missing data."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from image_sets import png
from label_home import HOSTILE, NAMES, LabelHome, board
from shown import (
    button,
    captions,
    charts_of,
    components,
    errors,
    kinds,
    numbers_in,
    page_of,
    plain,
    press,
    text_of,
    values,
)

from pages.parts.labelling import answer_files, label_models, questions
from pages.parts.labelling.labelling_session import LabellingSession, strategies
from pages.parts.training import runs
from ranking.core import ProgressEvent
from ranking.core.errors import HomeError
from ranking.explain.labelling_model import Position, ranked_labels
from ranking.explain.question_strategies import closest_maxima, next_questions
from ranking.metrics import break_even_precision
from ranking.reports.line_styles import STYLES
from ranking.storage.answers import AnswerEvent, AnswerKind, Answers, fold
from ranking.storage.events import Report
from ranking.storage.run import Run
from ranking.storage.store import Store

page = page_of("interactive_labelling")
ROW = re.compile(
    r"<li class=\"([^\"]*)\" data-answer=\"(\w*)\".*?<span>(\d+)</span><span>(.*?)</span><span>.*?</span>"
    r"<span>(.*?)</span><i .*?</i><span>(.*?)</span>"
)


class Row(NamedTuple):
    """A row of a ranking, as HTML."""

    states: str
    answer: str
    rank: str
    truth: str
    name: str
    moved: str


IMAGE = "board 00"


def event(
    home: LabelHome, number: int, label: str, kind: AnswerKind = "yes", image: str = IMAGE
) -> AnswerEvent:
    return AnswerEvent(
        "e" * 32, number, home.key, image, label, kind, home.own, "closest maxima", 1.5, None, number - 1, 1e9
    )


def asked(app: Any) -> str:
    """The label that the page asks about."""
    [question] = [plain(title) for title in app.subheader if plain(title).startswith("Does it show")]
    return question.removeprefix("Does it show **").removesuffix("**?")


def ranked(app: Any) -> list[list[Row]]:
    """The rows of each ranking that the page shows."""
    [page_text] = [element.proto.body for element in app.get("html") if "<section" in element.proto.body]
    return [[Row(*parts) for parts in ROW.findall(section)] for section in page_text.split("<section")[1:]]


def answer(app: Any, text: str) -> None:
    """Press the button of an answer."""
    button(app, text).click().run()


@dataclass
class Model:
    """A ranker of labels, the images as it sees them, and the row of IMAGE."""

    run: Run

    def __post_init__(self) -> None:
        self.method, self.images = label_models.label_ranker(self.run)
        self.row = int(np.flatnonzero(self.images.ids == IMAGE)[0])

    def label_session(self, strategy: str = "closest maxima", known: bool = True) -> LabellingSession:
        [player] = label_models.players(self.run)
        return LabellingSession.of(player, self.images, self.row, strategy, self.method.usual_k, known)

    def order(self, answers: dict[str, bool] | None = None) -> list[int]:
        """The labels from the top, given answers."""
        given = Position.of(self.images.names, answers or {}).answers[None]
        prediction = self.method.prediction(self.images.part([self.row]), answers=given)
        return ranked_labels(prediction.scores[0], prediction.unary[0], prediction.answers[0]).tolist()


@pytest.fixture
def own(labels_here: LabelHome) -> Model:
    return Model(labels_here.store.runs.get(labels_here.own))


@pytest.fixture
def baseline(labels_here: LabelHome) -> Model:
    return Model(labels_here.store.runs.get(labels_here.baseline))


@pytest.fixture
def open_questions(labels_here: LabelHome, open_page: Any) -> Any:
    """Open the page about IMAGE, where the address says nothing else."""
    return lambda **query: open_page(
        "interactive_labelling", **{"label_run": labels_here.own, "image": IMAGE, **query}
    )


# -------------------------------------------------------------------------- questions, rankings and the baseline


def position_of(model: Model, events: list[AnswerEvent]) -> Position:
    return model.label_session().position(fold(events))


def test_the_question_is_that_of_the_strategy_and_answers_are_pinned(labels_here, own):
    session, names = own.label_session(), own.images.names
    [first], [inside], [outside] = next_questions(
        own.method.prediction(own.images.part([own.row])), closest_maxima
    )
    assert session.labelling_model.question(position_of(own, [])) == (first, inside, outside)
    events = [event(labels_here, 1, names[3], "no"), event(labels_here, 2, names[20])]
    before, now = position_of(own, events[:1]), position_of(own, events)
    ranking = session.ranking(now, before, "")
    assert ranking.order.tolist() == own.order({names[3]: False, names[20]: True})
    assert ranking.before.tolist() == own.order({names[3]: False})
    assert [ranking.answer(label) for label in (3, 20, 4)] == ["no", "yes", ""]
    assert (ranking.order[0], ranking.order[-1]) == (20, 3)
    assert ranking.k == own.method.usual_k
    nothing = position_of(own, [])
    scores = own.method.scores(own.images.part([own.row]))[0]
    precision = break_even_precision(own.images.labels[own.row], scores)
    assert session.ranking(nothing, nothing, "").precision == precision
    assert own.label_session(known=False).ranking(nothing, nothing, "").precision is None


def test_every_strategy_asks_the_same_again(own):
    assert "core first" in strategies(own.run)
    nothing = position_of(own, [])
    for strategy in strategies(own.run):
        first, again = (
            own.label_session(strategy).labelling_model.in_order_of_urgency(nothing).tolist()
            for _ in range(2)
        )
        assert first == again, strategy
        assert strategy != "core first" or first[0] == own.method.core[0]


def test_a_baseline_is_given_the_same_answers_or_asks_its_own_questions(
    labels_here, own, baseline, open_questions
):
    names, truth = own.images.names, baseline.images.labels[baseline.row]
    Store(labels_here.home).answers.append(
        [event(labels_here, 1, names[5]), event(labels_here, 2, names[6], "no")]
    )
    answers = [
        {row.name: row.answer for row in rows if row.answer}
        for rows in ranked(open_questions(baseline="same"))
    ]
    assert answers == [{names[5]: "yes", names[6]: "no"}] * 2
    given, itself = (
        {row.name: row.answer for row in rows if row.answer}
        for rows in ranked(open_questions(baseline="own"))
    )
    assert given == answers[0]
    questions, _ = baseline.label_session().labelling_model.play(position_of(baseline, []), truth, 2)
    assert itself == {html.escape(names[label]): "yes" if truth[label] else "no" for label in questions}
    assert page.way_of(baseline.run, "core first") == "closest maxima", "the independent model has no core"


def test_the_page_shows_the_truth_and_the_race_of_two_models_in_their_colours(own, baseline, open_questions):
    app = open_questions(truth="1", baseline="own")
    for rows in ranked(app):
        true = {row.name for row in rows if row.truth}
        assert true == {html.escape(own.images.names[i]) for i in np.flatnonzero(own.images.labels[own.row])}
    styles = dict(zip(("C-star", "Independent"), STYLES, strict=False))
    [race] = charts_of(app)
    for line, name in zip(race["data"], styles, strict=True):
        assert (line["name"], line["line"]["color"], line["line"]["dash"]) == (name, *styles[name][:2])
    [shown] = [element.proto.body for element in app.get("html") if "<section" in element.proto.body]
    bars = re.findall(r"--bar: (.*?)\"><p><b>(.*?)</b>", shown)
    assert bars == [(style.colour, name) for name, style in styles.items()]
    assert {player.title: player.style for player in label_models.players(baseline.run, own.run)} == styles
    assert page.TOGETHER in text_of(app)


def test_invalid_url_parameters_are_reported_and_valid_ones_used(labels_here, open_questions):
    wrong = {"image": "no such", "label_k": "0", "strategy": "core first"}
    app = open_questions(label_run=labels_here.baseline, **wrong)
    warnings = "\n".join(map(plain, app.warning))
    assert all(name in warnings for name in wrong)
    [rows] = ranked(app)
    assert not any(row.truth for row in rows), "it is shown on request alone"
    assert page.ALONE in text_of(app)
    answer(app, "✓ yes")
    [given] = Store(labels_here.home).answers.events(labels_here.key)
    assert given.run == labels_here.baseline
    assert given.strategy == "closest maxima", "the independent model has no core"


# -------------------------------------------------------------------------------------------------- answers


def test_each_answer_is_on_disk_and_re_ranks_and_undo_takes_it_back(labels_here, own, open_questions):
    store = Store(labels_here.home).answers
    app = open_questions()
    first = asked(app)
    kinds_given = [("✓ yes", "yes"), ("✗ no", "no"), ("skip", "skip")]
    labels = []
    for count, (text, kind) in enumerate(kinds_given, start=1):
        labels.append(asked(app))
        answer(app, text)
        events = store.events(labels_here.key, IMAGE)
        assert [(each.label, each.kind, each.number) for each in events][-1] == (labels[-1], kind, count)
        assert f"{count} question" in captions(app)
    assert len({each.session for each in events}) == 1
    assert events[0].inside is not None
    [rows] = ranked(app)
    names = [html.escape(label) for label in labels]
    assert {row.name: row.answer for row in rows if row.answer} == dict(
        zip(names, ("yes", "no", "skip"), strict=True)
    )
    assert (rows[0].name, rows[-1].name) == tuple(names[:2]), "an answer is pinned to its end"
    for label in reversed(labels):
        answer(app, "undo")
        assert asked(app) == label, "what was undone is asked again"
    assert [each.label for each in store.events(labels_here.key, IMAGE)] == [*labels, *reversed(labels)]
    assert (asked(app), button(app, "undo").disabled) == (first, True)


def test_a_second_press_for_a_question_is_ignored_and_two_tabs_lose_nothing(labels_here, open_questions):
    store = Store(labels_here.home).answers
    app, other = open_questions(), open_questions()
    yes, label = button(app, "✓ yes"), asked(app)
    yes.click().run()
    key = yes.key
    assert key not in [each.key for each in app.button], "a late press finds no button of the next question"
    answer(other, "✗ no")
    answer(other, "✓ yes")
    answer(app, "skip")
    events = store.events(labels_here.key, IMAGE)
    assert [each.kind for each in events] == ["yes", "no", "yes", "skip"]
    assert [each.label for each in events][:2] == [label, label], "the other tab still showed that question"
    assert len({each.session for each in events}) == 2


def test_one_press_saves_one_answer(labels_here, own, monkeypatch):
    state: dict[str, Any] = {}
    monkeypatch.setattr(questions.st, "session_state", state)
    monkeypatch.setattr(questions.home, "store", lambda: Store(labels_here.home))
    # pressed before the next question is shown
    for kind in ("yes", "yes", "no"):
        questions.answer(event(labels_here, 1, own.images.names[0], kind))
    questions.answer(event(labels_here, 2, own.images.names[1]))
    events = Store(labels_here.home).answers.events(labels_here.key)
    assert [(each.number, each.kind) for each in events] == [(1, "yes"), (2, "yes")]


def test_an_answer_that_cannot_be_saved_is_reported_and_asked_again(labels_here, open_questions, monkeypatch):
    app, append = open_questions(), Answers.append
    label = asked(app)

    def full(*_: Any) -> int:
        raise HomeError("the disk is full")

    monkeypatch.setattr(Answers, "append", full)
    answer(app, "✓ yes")
    assert "the disk is full" in errors(app)[0]
    monkeypatch.setattr(Answers, "append", append)
    app.run()
    assert (asked(app), errors(app)) == (label, [])
    answer(app, "✓ yes")
    assert [each.label for each in Store(labels_here.home).answers.events(labels_here.key)] == [label]


def test_a_full_top_k_is_reported_and_raised_by_one(labels_here, own, open_questions):
    names = own.images.names
    Store(labels_here.home).answers.append([event(labels_here, n, names[n]) for n in (1, 2, 3)])
    app = open_questions(label_k="3")
    assert "The top k is full: you answered yes for 3 labels" in text_of(app)
    press(app, "widget raise k")
    assert app.query_params["label_k"] == "4"
    assert app.slider(key="widget label_k").value == 4
    assert "The top k is full" not in text_of(app)


def test_labels_far_below_the_top_k_are_shown_on_request(own, open_questions):
    app, k = open_questions(), own.method.usual_k
    [rows] = ranked(app)
    assert [int(row.rank) for row in rows][: k + 2] == list(range(1, k + 3))
    assert asked(app) in [html.unescape(row.name) for row in rows if "asked" in row.states]
    assert [int(row.rank) for row in rows if "top" in row.states] == list(range(1, k + 1))
    assert [int(row.rank) for row in rows if "last" in row.states] == [k]
    assert len(rows) < len(own.images.names)
    app.toggle(key="widget all labels").set_value(True).run()
    [rows] = ranked(app)
    assert [html.unescape(row.name) for row in rows] == [own.images.names[i] for i in own.order()]


# ----------------------------------------------------------------------------------------------------- images


def test_the_queue_goes_from_image_to_image_and_to_the_next_unanswered(labels_here, own, open_page):
    queue = [str(name) for name in own.images.ids[own.images.test]]
    answers = Store(labels_here.home).answers
    answers.append([event(labels_here, n, own.images.names[0], image=queue[n - 1]) for n in (1, 2)])
    app = open_page("interactive_labelling")
    assert app.query_params["label_run"] == labels_here.own, "unasked C-star asks, whatever was trained last"
    assert app.query_params["image"] == queue[2], "the first without an answer"
    press(app, "widget image Back")
    assert app.query_params["image"] == queue[1]
    press(app, "widget image Next unanswered")
    assert app.query_params["image"] == queue[2]


def test_an_uploaded_image_is_described_and_not_kept(labels_here, own, open_questions):
    app = open_questions(truth="1")
    app.file_uploader[0].upload("mine.png", b"no image", "image/png")
    app.run()
    assert len(app.error) == 1
    assert IMAGE in components(app, "ranking_picture")[0]["alt"]
    before = set(labels_here.home.rglob("*"))
    labels = zip(own.images.names, own.images.labels[own.row], strict=True)
    shown = {name for name, has in labels if has}
    app.file_uploader[0].upload("mine.png", png(board([name in shown for name in NAMES])), "image/png")
    app.run()
    [usual] = components(app, "ranking_picture")
    assert (usual["width"], usual["height"]) == (48, 48)
    [rows] = ranked(app)
    assert not any(row.truth for row in rows)
    top = [html.unescape(row.name) for row in rows if "top" in row.states]
    same = [own.images.names[label] for label in own.order()[: len(top)]]
    assert top == same, "the same image, the same ranking"
    kept = [file for file in set(labels_here.home.rglob("*")) - before if file.is_file()]
    assert {file.name for file in kept} <= {"run.json", "lock"}, "the record of its run alone"
    answer(app, "✓ yes")
    [given] = Store(labels_here.home).answers.events(labels_here.key)
    assert given.image.startswith("own-")


# ---------------------------------------------------------------------------------------------- training runs


def finish(home: LabelHome, run: Run) -> None:
    """End a run with the model of C-star."""
    Path(run.model_file).write_bytes(home.store.runs.get(home.own).model_file.read_bytes())
    home.store.runs.end(run.id, "finished", result={"certificate": None, "test": {"BEP": 0.5}})


def test_without_a_model_both_are_trained_and_watched(labels_here, started, open_page):
    for run_id in (labels_here.own, labels_here.baseline):
        labels_here.store.runs.delete(run_id)
    app = open_page("interactive_labelling")
    press(app, "widget train labels")
    learning = kinds(started, "labels")
    assert {run.settings["method"] for run in learning} == {"C-star p@k", "Independent p@k"}
    assert {run.settings["set"] for run in learning} == {labels_here.key}
    for run, dual in zip(learning, (0.75, 0.5), strict=True):
        Report(run.events_file).iteration(ProgressEvent(3, 1.0, dual, 0.1, 3))
    app.run()
    assert len(app.get("progress")) == 2
    now = [numbers_in(text.value)[:2] for text in app.caption]
    assert [gap for gap in now if gap in ([3, 25], [3, 50])] == [[3, 25], [3, 50]], (
        "each has events of its own"
    )


def test_a_model_with_other_settings_is_trained_and_shown(labels_here, started, open_questions):
    app = open_questions()
    press(app, "train labels")
    labels_here.store.runs.end(started[-1].id, "failed", "too few *images*")
    app.number_input(key="widget method.C-star p@k.core_size").set_value(0)
    app.number_input(key="widget label training least").set_value(1)
    app.run()
    assert "\\*images\\*" in app.error[0].value
    press(app, "train labels")
    run = started[-1]
    assert (run.settings["set"], run.settings["method"]) == (labels_here.key, "C-star p@k")
    assert [numbers_in(text) for text in runs.differing(run)] == [[0], [1]], "core size, and least images"
    finish(labels_here, run)
    app.run()
    assert app.query_params["label_run"] == labels_here.own, "nobody is torn away from a question"
    press(app, "widget show just trained")
    assert app.query_params["label_run"] == run.id


def test_models_of_one_method_are_named_by_their_settings_and_play_against_each_other(
    labels_here, own, open_questions
):
    given = {**own.run.settings["method_settings"], "core_size": 0}
    coreless = labels_here.store.runs.create("train", {**own.run.settings, "method_settings": given})
    finish(labels_here, coreless)
    app = open_questions(baseline="own", baseline_run=coreless.id, truth="1")
    [without] = set(runs.differing(coreless)) - set(runs.differing(own.run))
    assert numbers_in(without) == [0]
    options = app.selectbox(key="widget label_run").options
    assert [without in option for option in options] == [True, False, False]
    lines = charts_of(app)[0]["data"]
    assert [numbers_in(line["name"]) for line in lines] == [[5], [0]], "labels in the core"
    assert lines[0]["line"]["color"] != lines[1]["line"]["color"]


def test_bounds_are_shown_and_a_deleted_model_gives_way_to_its_baseline(
    labels_here, own, baseline, started, open_questions
):
    app = open_questions(baseline="same")
    app.session_state["widget how it was trained"] = True
    app.run()
    proven, measured = own.run.result["certificate"], own.run.result["test"]
    [dual] = [line for line in charts_of(app)[0]["data"] if line.get("name") == "dual (lower bound)"]
    assert values(dual["y"])[-1] == pytest.approx(proven["dual"])
    assert {f"{proven['primal']:.4g}", f"{measured['BEP']:.3f}"} <= {metric.value for metric in app.metric}
    press(app, "delete runs")
    assert not app.warning
    assert labels_here.store.runs.get(labels_here.own).deleted
    assert app.query_params["label_run"] == labels_here.baseline
    press(app, "widget train baseline")
    assert started[-1].settings["method"] == "C-star p@k"
    for part in ("set", "features", "min_images"):
        assert started[-1].settings[part] == baseline.run.settings[part]
    assert len(ranked(app)) == 1
    press(app, "undo just deleted")
    assert labels_here.store.runs.get(labels_here.own).deleted is None


def test_the_certificate_of_one_k_for_all_images_is_of_a_local_optimum(own):
    assert runs.is_convex(own.run)
    given = {**own.run.settings, "method_settings": {"k": 3}}
    assert not runs.is_convex(replace(own.run, settings=given))


# ------------------------------------------------------------------------------------------- what is deleted


def test_the_answers_of_a_set_are_deleted_and_come_back(labels_here, own, open_questions):
    store, stored_event = Store(labels_here.home).answers, event(labels_here, 1, own.images.names[3])
    store.append([stored_event])
    app = open_questions()
    press(app, "widget delete answers")
    assert store.events(labels_here.key) == []
    press(app, "widget restore answers")
    assert store.events(labels_here.key) == [stored_event]


# ------------------------------------------------------------------------------------------------------ files


def test_a_table_holds_what_stands_guarded_and_json_lines_every_event_in_its_order(labels_here):
    store = Store(labels_here.home).answers
    given: list[tuple[str, AnswerKind]] = [(HOSTILE, "yes"), ("sea", "yes"), ("sea", "undo"), ("sky", "skip")]
    store.append([event(labels_here, n, *answer) for n, answer in enumerate(given, start=1)])
    late = replace(event(labels_here, 1, "sea", "no", "board 04"), session="f" * 32, time=time.time())
    store.append([late])
    rows = list(csv.DictReader(io.StringIO(answer_files.csv_text(store.images(labels_here.key)))))
    columns = "image place label answer inside outside strategy run time session number"
    assert list(rows[0]) == columns.split()
    expected = {
        "label": f"'{HOSTILE}",
        "image": IMAGE,
        "place": "1",
        "answer": "yes",
        "inside": "1.5",
        "outside": "",
    }
    assert expected.items() <= rows[0].items()
    assert [(row["label"], row["answer"]) for row in rows[1:]] == [("sky", "skip"), ("sea", "no")]
    first, second = map(json.loads, answer_files.json_lines(store.events(labels_here.key)).splitlines())
    assert [(event["label"], event["kind"]) for event in first["events"]] == given
    assert (first["image"], first["answers"], first["skipped"]) == (IMAGE, {HOSTILE: "yes"}, ["sky"])
    assert second["answers"] == {"sea": "no"}
