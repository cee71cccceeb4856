"""The page Orders: strips are the methods' own orders, lines and measures those of the sequence."""

from __future__ import annotations

import csv
import io
import shutil
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from order_home import DRAWING, HOSTILE, Recomputed, film_of
from PIL import Image
from shown import captions, components, kinds, numbers_in, page_of, press, texts, warnings

from pages.parts.app import cache, home, menu
from pages.parts.app.frame import escaped
from pages.parts.charts import sheets
from pages.parts.components import film
from pages.parts.components.film import Strip
from pages.parts.sequences import order_models
from ranking.core import ProgressEvent
from ranking.experiments.order_task import NAMES, Ordered, OrderMeasures
from ranking.methods.mid_rank import MidRank
from ranking.metrics import kendall_tau, ndcg, pair_accuracy
from ranking.storage.events import Report

page = page_of("sequences")
# nothing is imported or trained beside
pytestmark = pytest.mark.usefixtures("started")


def titles(app: Any) -> list[str]:
    return [strip["title"] for strip in film_of(app)["strips"]]


def check_sequence(app: Any, number: int, orders: list[Ordered], years: np.ndarray) -> None:
    """The strips of test sequence `number` are the orders of the methods, with their measures."""
    assert not app.error
    shown, at = film_of(app), number - 1
    assert titles(app) == [HOSTILE, "RankSVM"]
    for strip, ordered in zip(shown["strips"], orders, strict=True):
        assert strip["order"] == ordered.order(at).tolist()
        assert strip["note"] == page.in_words(OrderMeasures(*(values[at] for values in ordered.measures)))
        assert not strip["movable"]
    grades, years = ordered.relevance[at], years[ordered.samples(at)]
    assert [frame["grade"] for frame in shown["frames"]] == grades.tolist()
    assert [frame["caption"] for frame in shown["frames"]] == [f"{year:.6g}" for year in years]
    assert (np.diff(years[shown["truth"]["order"]]) <= 0).all()
    different = sum(left != right for left, right in combinations(grades.tolist(), 2))
    wrong = round(different * (1 - orders[0].measures.pairs[at]))
    assert any(numbers_in(caption.value)[:2] == [wrong, different] for caption in app.caption)
    assert HOSTILE not in "".join(caption.value for caption in app.caption), "markdown would read it"


def test_orders_are_those_of_the_scores_of_the_method(orders_here):
    tested = Recomputed(orders_here, orders_here.own)
    ordered = order_models.ordered(orders_here.store.runs.get(orders_here.own))
    assert len(ordered) == len(tested.scores) == DRAWING["test"]
    for number, scores in enumerate(tested.scores):
        assert scores[ordered.order(number)].tolist() == sorted(scores, reverse=True)
        assert ordered.relevance[number].tolist() == tested.relevance[number].tolist()


def test_sequences_means_and_orders_beside_are_those_of_the_training_runs(orders_here, open_page):
    store = orders_here.store
    runs = [store.runs.get(run_id) for run_id in (orders_here.own, orders_here.baseline)]
    orders, years = (
        [order_models.ordered(run) for run in runs],
        store.sets.get(orders_here.key).numbers_of("year"),
    )
    app = open_page("sequences", sequence="2")
    check_sequence(app, 2, orders, years)
    assert app.query_params["order_run"] == orders_here.own
    [line] = [text.value for text in app.markdown if text.value.startswith("Mean Kendall tau of all")]
    assert numbers_in(line) == [
        DRAWING["test"],
        *(round(run.result["test"]["Kendall tau"], 3) for run in runs),
    ]
    assert "When do subsequences help?" in {link.proto.label for link in app.get("page_link")}
    [table] = [text.value for text in app.markdown if text.value.startswith("|  |")]
    assert "**" in table
    for line, run in zip(table.splitlines()[2:], runs, strict=True):
        means = [round(run.result["test"][name], 3) for name in NAMES]
        assert numbers_in(line.partition(" | ")[2])[:4] == means

    taus = orders[0].measures.tau
    for button, number in (
        ("Previous", 1),
        ("Next", 2),
        ("Worst", np.argmin(taus) + 1),
        ("Best", np.argmax(taus) + 1),
    ):
        press(app, f"widget sequence {button}")
        assert app.query_params["sequence"] == str(number), button
        check_sequence(app, number, orders, years)
        assert app.button(key="widget sequence Previous").disabled == (number == 1)

    beside = app.multiselect(key="widget beside")
    assert beside.value == [orders_here.baseline]
    assert not any(orders_here.shorter in option for option in beside.options)
    beside.set_value([]).run()
    assert titles(app) == [HOSTILE]


def test_another_criterion_has_its_own_training_runs(orders_here, open_page):
    app = open_page("sequences", order_run=orders_here.shorter)
    assert len(film_of(app)["strips"]) == 1, "no other is on sequences as short"
    criterion = app.selectbox(key="widget criterion")
    assert list(criterion.options) == list(orders_here.store.sets.get(orders_here.key).criteria)
    criterion.set_value("brightness").run()
    assert app.button(key="widget train sequences")


def test_only_runs_with_the_same_test_sequences_are_shown_beside(orders_here):
    store, baseline = orders_here.store, orders_here.store.runs.get(orders_here.baseline)
    drawing = {**DRAWING, "train": 30, "scale": "as they are"}
    fewer = store.runs.create("train", {**baseline.settings, "drawing": drawing})
    shutil.copy(baseline.scores_file, fewer.scores_file)
    store.runs.end(fewer.id, "finished", result=baseline.result)
    beside = order_models.same_sequences(store.runs.get(orders_here.own))
    assert [run.id for run in beside] == [fewer.id, orders_here.baseline]


def test_a_custom_order_is_moved_and_measured(orders_here, open_page, monkeypatch):
    app = open_page("sequences", order_view="own", sequence="2")
    shown = film_of(app)
    assert shown["truth"] is None, "the truth is hidden until it is asked for"
    [own] = shown["strips"]
    assert own["movable"]
    assert sorted(own["order"]) == list(range(6))
    order = own["order"][::-1]
    monkeypatch.setattr(film, "own_order", lambda key, token, first: tuple(order))
    app.toggle[0].set_value(True).run()
    shown = film_of(app)
    assert titles(app)[1:] == [HOSTILE, "RankSVM"]
    relevance = np.array([frame["grade"] for frame in shown["frames"]])
    by_hand = relevance, -np.argsort(order).astype(float)
    gains = [round(ndcg(*by_hand, gain=gain), 3) for gain in ("linear", "exponential")]
    measured = [round(100 * pair_accuracy(*by_hand)), round(kendall_tau(*by_hand), 2), *gains]
    assert numbers_in(shown["strips"][0]["note"]) == measured
    wrong = page.crossings(tuple(order), relevance)
    assert any(numbers_in(caption.value)[:1] == [wrong] for caption in app.caption)


def test_an_order_of_other_frames_is_not_a_custom_order(monkeypatch):
    shuffled = (2, 0, 1)
    for sent, expected in (
        (None, shuffled),
        ({"token": "t", "order": [0, 1, 2]}, (0, 1, 2)),
        ({"token": "u", "order": [0, 1, 2]}, shuffled),
        ({"token": "t", "order": [0, 0, 2]}, shuffled),
        ({"token": "t", "order": ["0", 1, 2]}, shuffled),
        ({"token": "t", "order": 5}, shuffled),
    ):
        monkeypatch.setattr(film.st, "session_state", {"film": {"own": sent}})
        assert film.own_order("film", "t", shuffled) == expected, sent
        assert film.own_order("another", "t", shuffled) == shuffled


def test_the_table_holds_all_sequences(orders_here):
    run, images = orders_here.store.runs.get(orders_here.own), orders_here.store.sets.get(orders_here.key)
    ordered = order_models.ordered(run)
    rows = list(csv.DictReader(io.StringIO(page.csv_text(images, "year", {HOSTILE: ordered}))))
    assert len(rows) == DRAWING["test"] * DRAWING["length"]
    sixth = [row for row in rows if row["sequence"] == "6"]
    true = ordered.samples(5)[ordered.true_order(5)]
    assert [row["sample"] for row in sixth] == images.ids[true].tolist()
    assert [float(row["year"]) for row in sixth] == images.numbers_of("year")[true].tolist()
    by_place = sorted(sixth, key=lambda row: int(row[f"place by {HOSTILE}"]))
    assert [row["sample"] for row in by_place] == images.ids[ordered.samples(5)[ordered.order(5)]].tolist()


def test_the_exported_image_has_the_lines_of_each_strip(orders_here):
    ordered = order_models.ordered(orders_here.store.runs.get(orders_here.own))
    strips = [Strip(title, "note", tuple(ordered.order(5).tolist())) for title in ("one", "two")]
    truth = Strip("true", "", tuple(ordered.true_order(5).tolist()))
    of_sequence = cache.thumbnails(orders_here.key), ordered.samples(5), ordered.relevance[5], ["year"] * 6
    one, two = (
        Image.open(io.BytesIO(sheets.sequence_sheet(*of_sequence, truth, strips[:many], HOSTILE)))
        for many in (1, 2)
    )
    assert two.height > one.height > 300
    colours = {colour for _, colour in one.getcolors(1_000_000)}
    wanted = film.AHEAD if ordered.measures.tau[5] < 1 else film.IN_PLACE
    assert tuple(int(wanted[at : at + 2], 16) for at in (1, 3, 5)) in colours


def test_without_numbers_a_button_leads_to_imports(empty_home, open_page):
    app = open_page("sequences")
    assert escaped(order_models.PICKER.needs) in texts(app)
    press(app, "widget go to image_sets")
    assert app.title[0].value == menu.PAGES["image_sets"]


def test_without_a_run_two_runs_are_trained_or_a_deleted_run_restored(orders_here, open_page, started):
    for run in orders_here.store.runs.all(task="sequences"):
        orders_here.store.runs.delete(run.id)
    app = open_page("sequences", order_run=orders_here.own, order_set=orders_here.key)
    assert app.warning, "it was deleted"
    press(app, "widget train sequences")
    begun = {run.settings["method"]: run for run in kinds(started, "sequences")}
    assert set(begun) == {"RankSVM", "MidRank"}
    assert begun["MidRank"].settings["criterion"] == "year"
    assert begun["MidRank"].settings["drawing"] == begun["RankSVM"].settings["drawing"] == {}
    press(app, f"widget restore {orders_here.own}")
    assert titles(app)[0] == HOSTILE


def test_a_run_has_the_chosen_settings_and_its_progress_is_shown_until_it_fails(
    orders_here, open_page, started
):
    app = open_page("sequences", order_method="ListNet")
    app.number_input(key="widget drawing.Sequences.length").set_value(5)
    press(app, "train sequences")
    [run] = kinds(started, "sequences")
    assert (run.settings["method"], run.settings["drawing"]) == ("ListNet", {"length": 5})
    assert run.settings["set"] == orders_here.key
    Report(run.events_file).iteration(ProgressEvent(7, 10.0, 9.0, 0.1, 1, round=2))
    app.run()
    assert app.get("progress")
    assert [2, 7, 10] in [numbers_in(caption.value)[:3] for caption in app.caption], "ranker, iteration, gap"
    assert film_of(app)["strips"], "what exists can be looked at meanwhile"
    orders_here.store.runs.end(run.id, "failed", "ran out of *memory*")
    app.run()
    assert "ran out of \\*memory\\*" in app.error[0].value
    assert film_of(app)["strips"]


def test_few_values_are_reported_before_training(orders_here, open_page, monkeypatch):
    images = cache.image_set(orders_here.key)
    years = images.numbers_of("year")[~images.test]
    count = len(set(years[~np.isnan(years)].tolist()))
    for method, enough, warned in (
        ("MidRank", count, []),
        ("MidRank", count + 1, [count]),
        ("RankSVM", count + 1, []),
    ):
        monkeypatch.setattr(MidRank, "enough_grades", enough)
        app = open_page("sequences", order_method=method)
        assert [numbers_in(warning.value)[0] for warning in app.warning] == warned, method


def test_scores_of_another_length_are_refused(orders_here):
    run = orders_here.store.runs.get(orders_here.own)
    np.save(run.scores_file, np.zeros(3))
    with pytest.raises(home.Gone) as caught:
        order_models.ordered(run)
    assert {90, 3} <= set(numbers_in(str(caught.value)))


def test_a_recorded_sequence_is_played_back_beside_another_training(orders_here, open_page):
    store = orders_here.store
    runs_here = [store.runs.get(run_id) for run_id in (orders_here.own, orders_here.baseline)]
    for number in (1, 5):
        app = open_page("sequences", sequence=str(number))
        [bar] = components(app, "ranking_play_bar")
        assert [lane["curves"] for lane in bar["lanes"]] == [["Kendall tau"]] * 2
        for lane, run in zip(bar["lanes"], runs_here, strict=True):
            ordered, last = order_models.ordered(run), lane["frames"][-1]
            samples = ordered.samples(number - 1)
            assert last["top"] == [str(row) for row in samples[ordered.order(number - 1)]]
            assert last["values"]["Kendall tau"] == pytest.approx(ordered.measures.tau[number - 1])
            assert set(last["top"]) <= set(bar["tiles"])
        facts = [dict(frame["facts"]) for frame in bar["lanes"][0]["frames"]]
        assert sorted({fact["ranker"] for fact in facts}) == ["0", "1", "2"], "RankSVM, and lengths 3 and 4"
        assert "ranker" not in dict(bar["lanes"][1]["frames"][0]["facts"])
    for parameters in ({"sequence": "6"}, {"sequence": "1", "order_view": "own"}):
        app = open_page("sequences", **parameters)
        assert not components(app, "ranking_play_bar"), "none was recorded, or it would tell the order"
        assert ("choose sequence 1" in captions(app)) == (parameters["sequence"] == "6")
    runs_here[0].playback_file.write_bytes(b"PK")
    app = open_page("sequences", sequence="1")
    [bar] = components(app, "ranking_play_bar")
    assert len(bar["lanes"]) == 1
    assert "playback.npz" in warnings(app)
