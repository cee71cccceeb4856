"""The page Interactive labelling without a browser: what it sends to the component, and what it offers where things are
missing."""

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
from image_sets import png
from label_home import HOSTILE, NAMES, LabelHome, board
from shown import charts_of, components, kinds, numbers_in, page_of, plain, press, text_of, values

from pages.parts.app import cache
from pages.parts.components import questions
from pages.parts.runs import answer_checks, answer_files, label_models, runs
from pages.parts.runs.labelling_session import LabellingSession, strategies
from ranking.core import ProgressEvent
from ranking.explain.labelling_model import Position, ranked_labels
from ranking.explain.question_strategies import closest_maxima, next_questions
from ranking.jobs import jobs
from ranking.jobs.events import Report
from ranking.jobs.uploaded_image import is_own_image, name_of, note
from ranking.metrics import break_even_precision
from ranking.reports.line_styles import LOOKS
from ranking.workspace.answers import AnswerEvent, AnswerKind, AnswerStore, fold
from ranking.workspace.run import Run

page = page_of("label_questions")
IMAGE = "board 00"


def event(
    home: LabelHome, number: int, label: str, kind: AnswerKind = "yes", image: str = IMAGE
) -> AnswerEvent:
    return AnswerEvent(
        "e" * 32, number, home.key, image, label, kind, home.own, "closest maxima", 1.5, None, number - 1, 1e9
    )


def sent_to(app: Any) -> dict[str, Any]:
    """What the component of the page is given."""
    [data] = components(app, "ranking_questions")
    return dict(data)


@dataclass
class Model:
    """A ranker of labels, the images as it sees them, and the row of IMAGE."""

    run: Run

    def __post_init__(self) -> None:
        self.method, self.images = cache.label_ranker(self.run)
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
    return Model(labels_here.store.run(labels_here.own))


@pytest.fixture
def baseline(labels_here: LabelHome) -> Model:
    return Model(labels_here.store.run(labels_here.baseline))


@pytest.fixture
def open_questions(labels_here: LabelHome, open_page: Any) -> Any:
    """Open the page about IMAGE, where the address says nothing else."""
    return lambda **query: open_page(
        "label_questions", **{"label_run": labels_here.own, "image": IMAGE, **query}
    )


# -------------------------------------------------------------------------- questions, rankings and the rival


def labels_of(rows: list[list[Any]]) -> list[int]:
    return [label for label, _, _ in rows]


def answers_in(rows: list[list[Any]]) -> dict[int, str]:
    return {label: answer for label, _, answer in rows if answer}


def test_the_question_is_that_of_the_strategy_and_the_ranking_of_each_coming_answer_goes_along(own):
    data = own.label_session().data([], {}, None)
    tree, names = data["tree"], own.images.names
    questions = next_questions(own.method.prediction(own.images.part([own.row])), closest_maxima)
    assert tree["label"] == questions.labels[0]
    assert (tree["inside"], tree["outside"]) == (questions.inside[0], questions.outside[0])
    assert labels_of(tree["ranking"]) == own.order()
    assert data["k"] == own.method.usual_k
    assert len(tree["after"]) == 3
    for after, has in zip(tree["after"], (True, False), strict=False):
        assert labels_of(after["ranking"]) == own.order({names[tree["label"]]: has})
        assert after["ranking"][0 if has else -1][0] == tree["label"]
    assert tree["after"][0]["after"][0]["ranking"] is None
    scores = own.method.scores(own.images.part([own.row]))[0]
    assert tree["precision"] == break_even_precision(own.images.labels[own.row], scores)
    assert own.label_session(known=False).data([], {}, None)["tree"]["precision"] is None


def test_answers_are_pinned_and_the_ranking_is_that_of_the_model_given_them(labels_here, own):
    names = own.images.names
    events = [event(labels_here, 1, names[3], "no"), event(labels_here, 2, names[20])]
    data = own.label_session().data(events, {}, None)
    assert labels_of(data["tree"]["ranking"]) == own.order({names[3]: False, names[20]: True})
    assert answers_in(data["tree"]["ranking"]) == {3: "no", 20: "yes"}
    assert data["before"] == own.order({names[3]: False}), "before the last answer"
    assert (data["given"], data["counted"]) == ([[3, "no"], [20, "yes"]], 2)
    assert not {3, 20} & set(data["order"])


def test_every_strategy_asks_the_same_again(own):
    assert "core first" in strategies(own.run)
    for strategy in strategies(own.run):
        first, again = (own.label_session(strategy).data([], {}, None) for _ in range(2))
        assert first["stamp"]["strategy"] == strategy
        assert first["order"] == again["order"], strategy
        assert strategy != "core first" or first["tree"]["label"] == own.method.core[0]


def test_a_baseline_is_given_the_same_answers_or_asks_its_own_questions(labels_here, own, baseline):
    names, truth = own.images.names, baseline.images.labels[baseline.row]
    answers = fold([event(labels_here, 1, names[5]), event(labels_here, 2, names[6], "no")])
    same = page.baseline_data(baseline.label_session(), answers, "same", 7)
    assert answers_in(same["rows"]) == {5: "yes", 6: "no"}
    yes, _, skip = same["after"]
    assert labels_of(skip["rows"]) == labels_of(same["rows"])
    assert list(answers_in(yes["rows"]).values()).count("yes") == 2
    itself = page.baseline_data(baseline.label_session(), answers, "own", 7)
    questions, _ = baseline.label_session().labelling_model.play(Position.of(names, {}), truth, 2)
    assert answers_in(itself["rows"]) == {label: "yes" if truth[label] else "no" for label in questions}
    assert page.way_of(baseline.run, "core first") == "closest maxima", "the independent model has no core"
    question_counts = [numbers_in(ranking["note"])[0] for ranking in (itself, *itself["after"])]
    assert question_counts == [2, 3, 3, 2], "one more after yes and no, none after skip"


def test_the_page_shows_the_truth_and_the_race_of_two_models_in_their_colours(own, baseline, open_questions):
    app = open_questions(truth="1", rival="own")
    data = sent_to(app)
    assert data["tree"] == json.loads(json.dumps(own.label_session().data([], {}, None)["tree"]))
    assert data["truth"] == np.flatnonzero(own.images.labels[own.row]).tolist()
    looks = dict(zip(("C-star", "Independent"), LOOKS, strict=False))
    [race] = charts_of(app)
    for line, name in zip(race["data"], looks, strict=True):
        assert (line["name"], line["line"]["color"], line["line"]["dash"]) == (name, *looks[name][:2])
    bars = {model["title"]: model["colour"] for model in (data["own"], data["baseline"])}
    assert bars == {name: look.colour for name, look in looks.items()}
    assert {player.title: player.look for player in label_models.players(baseline.run, own.run)} == looks
    assert page.TOGETHER in text_of(app)


def test_addresses_that_are_not_understood_are_reported_and_the_rest_is_followed(labels_here, open_questions):
    wrong = {"image": "no such", "label_k": "0", "strategy": "core first"}
    app = open_questions(label_run=labels_here.baseline, **wrong)
    warnings = "\n".join(map(plain, app.warning))
    assert all(name in warnings for name in wrong)
    data = sent_to(app)
    assert data["stamp"]["run"] == labels_here.baseline
    assert data["stamp"]["strategy"] == "closest maxima", "the independent model has no core"
    assert (data["truth"], data["baseline"]) == (None, None), "they are shown on request alone"
    assert page.ALONE in text_of(app)


# ------------------------------------------------------------------------------------- what the browser sends


def test_what_the_browser_has_sent_is_on_disk_before_the_page_confirms_it(
    labels_here, own, open_questions, monkeypatch
):
    """Also where the server has just started, and hears of the log only when it has shown the component."""
    names = own.images.names
    log = {"events": [event(labels_here, 1, names[4]).to_json()], "shown": names[7], "token": ""}
    seen = []

    def browser(data, key, on_more):
        seen.append((data, AnswerStore(labels_here.home).events(labels_here.key)))
        log["token"] = data["token"]
        return questions.Sent.of(log)

    monkeypatch.setattr(questions, "questions", browser)
    monkeypatch.setattr(questions, "sent_before", lambda key: questions.Sent.of(log if seen else None))
    open_questions()
    (first, before), (second, after) = seen
    assert (first["saved"], before) == ({}, [])
    assert (second["saved"], [event.label for event in after]) == ({"e" * 32: 1}, [names[4]])
    assert second["tree"]["label"] == 7, "what is on the screen stays there"
    assert second["given"] == [[4, "yes"]]


def test_k_is_raised_by_one_from_the_question(open_questions, monkeypatch):
    shown = []

    def browser(data, key, on_more):
        if not shown:  # what Streamlit calls before it shows the component again
            on_more()
        shown.append(data)
        return questions.Sent()

    monkeypatch.setattr(questions, "questions", browser)
    app = open_questions(label_k="3")
    assert [data["k"] for data in shown] == [3, 4]
    assert app.query_params["label_k"] == "4"
    assert app.slider(key="widget label_k").value == 4
    assert shown[0]["most"] == len(shown[0]["names"])


def test_a_log_that_is_none_is_refused(open_questions, monkeypatch):
    for log, named in (
        ([], r"\[\]"),
        ({"events": 1}, "'events': 1"),
        ({"events": [{"kind": "yes"}]}, "'kind': 'yes'"),
        ({"events": [None] * 1001}, "1,000"),
    ):
        with pytest.raises(ValueError, match=named):
            questions.Sent.of(log)
    monkeypatch.setattr(questions, "sent_before", lambda key: questions.Sent.of([]))
    assert len(open_questions().error) == 1


def test_an_event_that_cannot_be_kept_holds_up_no_other(labels_here):
    good, bad = event(labels_here, 2, "sea"), {**event(labels_here, 1, "sea").to_json(), "time": 1e12}
    sent = questions.Sent.of({"events": [bad, good.to_json()]})
    assert sent.events == (good,)
    [(session, number, reason)] = sent.refused
    assert (session, number) == (good.session, 1)
    assert "time" in reason


# ----------------------------------------------------------------------------------------------------- images


def test_the_queue_goes_from_image_to_image_and_to_the_next_unanswered(labels_here, own, open_page):
    queue = [str(name) for name in own.images.ids[own.images.test]]
    answers = AnswerStore(labels_here.home)
    answers.append([event(labels_here, n, own.images.names[0], image=queue[n - 1]) for n in (1, 2)])
    app = open_page("label_questions")
    assert sent_to(app)["stamp"]["run"] == labels_here.own, "unasked C-star asks, whatever was trained last"
    assert app.query_params["image"] == queue[2], "the first without an answer"
    press(app, "widget image Back")
    assert app.query_params["image"] == queue[1]
    press(app, "widget image Next unanswered")
    assert sent_to(app)["stamp"]["image"] == queue[2]


def test_your_own_image_is_described_and_not_kept(labels_here, own, open_questions):
    app = open_questions(truth="1")
    app.file_uploader[0].upload("mine.png", b"no image", "image/png")
    app.run()
    assert len(app.error) == 1
    assert sent_to(app)["stamp"]["image"] == IMAGE
    before = set(labels_here.home.rglob("*"))
    labels = zip(own.images.names, own.images.labels[own.row], strict=True)
    shown = {name for name, has in labels if has}
    app.file_uploader[0].upload("mine.png", png(board([name in shown for name in NAMES])), "image/png")
    app.run()
    data = sent_to(app)
    assert data["stamp"]["image"].startswith("own-")
    assert data["truth"] is None
    [usual] = components(app, "ranking_picture")
    assert (usual["width"], usual["height"]) == (48, 48)
    assert labels_of(data["tree"]["ranking"]) == own.order(), "the same image, the same ranking"
    assert is_own_image(labels_here.home, data["stamp"]["image"])
    kept = [file for file in set(labels_here.home.rglob("*")) - before if file.is_file()]
    assert [file.read_bytes() for file in kept] == [b""], "its name alone"


# ---------------------------------------------------------------------------------------------- training runs


def finish(home: LabelHome, run: Run) -> None:
    """End a run with the model of C-star."""
    Path(run.model_file).write_bytes(home.store.run(home.own).model_file.read_bytes())
    home.store.end_run(run.id, "finished", result={"certificate": None, "test": {"BEP": 0.5}})


def test_without_a_model_both_are_trained_and_watched(labels_here, started, open_page):
    for run_id in (labels_here.own, labels_here.baseline):
        labels_here.store.delete_run(run_id)
    app = open_page("label_questions")
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
    labels_here.store.end_run(started[-1].id, "failed", "too few *images*")
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
    coreless = labels_here.store.create_run("train", {**own.run.settings, "method_settings": given})
    finish(labels_here, coreless)
    app = open_questions(rival="own", rival_run=coreless.id, truth="1")
    [without] = set(runs.differing(coreless)) - set(runs.differing(own.run))
    assert numbers_in(without) == [0]
    options = app.selectbox(key="widget label_run").options
    assert [without in option for option in options] == [True, False, False]
    players = [sent_to(app)[side] for side in ("own", "baseline")]
    assert [numbers_in(player["title"]) for player in players] == [[5], [0]], "labels in the core"
    assert players[0]["colour"] != players[1]["colour"]
    assert [line["name"] for line in charts_of(app)[0]["data"]] == [player["title"] for player in players]


def test_bounds_are_shown_and_a_deleted_model_gives_way_to_its_baseline(
    labels_here, own, baseline, started, open_questions
):
    app = open_questions(rival="same")
    app.session_state["widget how it was trained"] = True
    app.run()
    proven, measured = own.run.result["certificate"], own.run.result["test"]
    [dual] = [line for line in charts_of(app)[0]["data"] if line.get("name") == "dual (lower bound)"]
    assert values(dual["y"])[-1] == pytest.approx(proven["dual"])
    assert {f"{proven['primal']:.4g}", f"{measured['BEP']:.3f}"} <= {metric.value for metric in app.metric}
    press(app, "delete runs")
    assert not app.warning
    assert labels_here.store.run(labels_here.own).deleted
    assert app.query_params["label_run"] == labels_here.baseline
    press(app, "widget train baseline")
    assert started[-1].settings["method"] == "C-star p@k"
    for part in ("set", "features", "min_images"):
        assert started[-1].settings[part] == baseline.run.settings[part]
    assert sent_to(app)["baseline"] is None
    press(app, "undo just deleted")
    assert labels_here.store.run(labels_here.own).deleted is None


def test_the_certificate_of_one_k_for_all_images_is_of_a_local_optimum(own):
    assert runs.is_convex(own.run)
    given = {**own.run.settings, "method_settings": {"k": 3}}
    assert not runs.is_convex(replace(own.run, settings=given))


def test_a_baseline_that_is_ready_first_does_not_begin_in_place_of_c_star(
    labels_here, own, started, open_page
):
    labels_here.store.delete_run(labels_here.own)
    learning = jobs.start_once(labels_here.store, "train", own.run.settings)
    app = open_page("label_questions")
    assert components(app, "ranking_questions") == []
    assert len(app.get("progress")) == 1
    named = open_page("label_questions", label_run=labels_here.baseline)
    assert sent_to(named)["stamp"]["run"] == labels_here.baseline, "its address opens the rival"
    labels_here.store.end_run(learning.id, "cancelled", "cancelled before any weights were saved")
    app.run()
    assert sent_to(app)["stamp"]["run"] == labels_here.baseline


def test_features_that_are_gone_are_computed_again(labels_here, open_questions):
    for file in labels_here.store.features.iterdir():
        file.unlink()
    cache.label_ranker.clear()
    app = open_questions()
    press(app, "widget compute features")
    assert sent_to(app)["stamp"]["run"] == labels_here.own


def test_a_method_of_tomorrow_asks_against_c_star_under_its_own_name_and_look(labels_here, own):
    """A method is one new file: no list of the page has to be edited."""
    run = labels_here.store.create_run("train", {**own.run.settings, "method": "Tomorrow p@k"})
    finish(labels_here, run)
    baseline, *_ = label_models.baselines_of(run)
    asking, beside = label_models.players(run, baseline)
    assert (asking.title, asking.look) == ("Tomorrow p@k", LOOKS[2]), "the next look of its own"
    assert (beside.title, beside.look) == ("C-star", LOOKS[0]), "before the newer independent one"


# ----------------------------------------------------------------------------- what is refused, and what is deleted


def test_an_answer_about_what_is_not_there_is_refused(labels_here, own):
    good = event(labels_here, 1, own.images.names[3])
    of_own_image = replace(good, number=2, image=name_of(b"an image"))
    note(labels_here.home, of_own_image.image)
    training = labels_here.store.create_run("train", {"set": labels_here.key})
    wrong = [
        replace(good, run="z" * 10),
        replace(good, run=training.id),
        replace(good, set="x" * 16),
        replace(good, image="board of another set"),
        replace(good, image="own-image"),
        replace(good, image=f"own-{'0' * 16}"),
        replace(good, image=f"../own_images/{of_own_image.image}"),
        replace(good, label="no label"),
        replace(good, strategy="a guess"),
    ]
    refused = answer_checks.refused([good, of_own_image, *wrong])
    assert list(refused) == wrong
    assert all(refused.values())


def test_events_that_the_browser_invented_are_refused_and_not_stored(
    labels_here, own, open_questions, monkeypatch
):
    good = event(labels_here, 1, own.images.names[3])
    sent = [good, replace(good, number=2, label="no label")]
    log = {"events": [one.to_json() for one in sent], "shown": None, "token": ""}
    refusals = []

    def browser(data, key, on_more):
        refusals.extend(data["refused"])
        return questions.Sent.of(log)

    monkeypatch.setattr(questions, "sent_before", lambda key: questions.Sent.of(log))
    monkeypatch.setattr(questions, "questions", browser)
    open_questions()
    [(session, number, why)] = refusals
    assert (session, number) == (good.session, 2)
    assert why
    assert AnswerStore(labels_here.home).events(labels_here.key) == [good]


def test_a_message_holds_so_many_letters(labels_here, own):
    long = replace(event(labels_here, 1, own.images.names[3]), label="x" * 1000, image="y" * 1000).to_json()
    fits = questions.MOST_LETTERS // sum(len(text) for text in long.values() if isinstance(text, str))
    questions.Sent.of({"events": [long] * fits})
    with pytest.raises(ValueError, match="letters"):
        questions.Sent.of({"events": [long] * (fits + 1)})


def test_the_answers_of_a_set_are_deleted_and_come_back(labels_here, own, open_questions):
    store, stored_event = AnswerStore(labels_here.home), event(labels_here, 1, own.images.names[3])
    store.append([stored_event])
    app = open_questions()
    press(app, "widget delete answers")
    assert store.events(labels_here.key) == []
    press(app, "widget restore answers")
    assert store.events(labels_here.key) == [stored_event]


# ------------------------------------------------------------------------------------------------------ files


def test_a_table_holds_what_stands_guarded_and_json_lines_every_event_in_its_order(labels_here):
    store = AnswerStore(labels_here.home)
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
