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
from shown import kinds, numbers_in, press, sound

from pages.parts import cache, film, order_export, order_models, run_choice
from ranking.events import Report
from ranking.metrics import kendall_tau, ndcg, pair_accuracy
from ranking.order_training import NAMES
from ranking.types import ProgressEvent

pytestmark = pytest.mark.usefixtures("started")  # nothing is imported or trained beside


def crossings(strip: dict[str, Any], frames: list[dict[str, Any]]) -> int:
    """Lines that cross between the true order and a strip: they begin as film.js has them begin."""
    true = sorted(strip["order"], key=lambda frame: -frames[frame]["grade"])
    ends = [(true.index(frame), place) for place, frame in enumerate(strip["order"])]
    return sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in combinations(ends, 2))


def titles(app: Any) -> list[str]:
    return [strip["title"] for strip in film_of(app)["strips"]]


def check_sequence(app: Any, number: int, tests: list[Recomputed]) -> None:
    """The strips of test sequence `number` are the orders of the methods, with their measures."""
    assert not app.exception
    assert not app.error
    shown = film_of(app)
    assert titles(app) == [HOSTILE, "RankSVM"]
    assert not any(strip["movable"] for strip in shown["strips"])
    for strip, tested in zip(shown["strips"], tests, strict=True):
        relevance, scores = tested.relevance[number - 1], tested.scores[number - 1]
        assert [frame["grade"] for frame in shown["frames"]] == relevance.tolist()
        assert scores[strip["order"]].tolist() == sorted(scores, reverse=True)
        tau, pairs = kendall_tau(relevance, scores), pair_accuracy(relevance, scores)
        gains = [ndcg(relevance, scores), ndcg(relevance, scores, gain="exponential")]
        measured = [f"{100 * pairs:.0f}", f"{tau:.2f}", *(f"{gain:.3f}" for gain in gains)]
        assert numbers_in(strip["note"]) == [float(value) for value in measured], number
        different = sum(left != right for left, right in combinations(relevance.tolist(), 2))
        assert crossings(strip, shown["frames"]) == round((1 - pairs) * different)
    samples = tested.drawn.samples[tested.drawn.sequences.sequence(number - 1)]
    years = tested.images.numbers_of("year")[samples]
    assert [frame["caption"] for frame in shown["frames"]] == [f"{year:.6g}" for year in years]
    assert (np.diff(years[shown["truth"]["order"]]) <= 0).all()
    relevance = tested.relevance[number - 1]
    pairs = sum(left != right for left, right in combinations(relevance.tolist(), 2))
    wrong = [crossings(shown["strips"][0], shown["frames"]), pairs]
    assert any(numbers_in(caption.value)[:2] == wrong for caption in app.caption), "pairs in the wrong order"
    assert HOSTILE not in "".join(caption.value for caption in app.caption), "markdown would read it"


def test_sequences_their_means_and_what_is_beside_are_those_of_the_trainings(orders_here, open_page):
    tests = [Recomputed(orders_here, run_id) for run_id in (orders_here.own, orders_here.rival)]
    app = open_page("orders", sequence="2")
    check_sequence(app, 2, tests)
    assert app.query_params["order_run"] == orders_here.own
    [table] = [text.value for text in app.markdown if text.value.startswith("| |")]
    assert "**" in table
    for line, run_id, tested in zip(
        table.splitlines()[2:], (orders_here.own, orders_here.rival), tests, strict=True
    ):
        measured = orders_here.store.run(run_id).result["test"]
        cells = [cell.strip(" *") for cell in line.split("|")[2:6]]
        assert cells == [f"{measured[name]:.3f}" for name in NAMES]
        pairs = [pair_accuracy(*both) for both in zip(tested.relevance, tested.scores, strict=True)]
        assert measured["pair accuracy"] == pytest.approx(np.mean(pairs))

    taus = [kendall_tau(*both) for both in zip(tests[0].relevance, tests[0].scores, strict=True)]
    for button, number in (
        ("Previous", 1),
        ("Next", 2),
        ("Worst", np.argmin(taus) + 1),
        ("Best", np.argmax(taus) + 1),
    ):
        press(app, f"widget sequence {button}")
        assert app.query_params["sequence"] == str(number), button
        check_sequence(app, number, tests)
        assert app.button(key="widget sequence Previous").disabled == (number == 1)

    beside = app.multiselect(key="widget beside")
    assert beside.value == [orders_here.rival]
    assert not any(orders_here.shorter in option for option in beside.options)
    beside.set_value([]).run()
    assert titles(app) == [HOSTILE]

    press(app, "delete runs")
    assert orders_here.store.run(orders_here.own).deleted
    assert app.query_params["order_run"] != orders_here.own, "the page goes on with another one"
    assert titles(app)
    press(app, "undo just deleted")
    assert orders_here.store.run(orders_here.own).deleted is None


def test_a_training_on_the_lowest_numbers_first_and_other_criteria(orders_here, open_page):
    app = open_page("orders", order_run=orders_here.shorter)
    shown = film_of(app)
    assert len(shown["frames"]) == 4
    years = [float(shown["frames"][frame]["caption"]) for frame in shown["truth"]["order"]]
    assert years == sorted(years), "the lowest first"
    assert len(shown["strips"]) == 1
    criterion = app.selectbox(key="widget criterion")
    assert list(criterion.options) == list(orders_here.store.image_set(orders_here.key).criteria)
    criterion.set_value("brightness").run()
    assert not app.exception
    assert app.button(key="widget train orders")


def test_trainings_on_the_same_test_sequences_are_those_beside(orders_here):
    store, rival = orders_here.store, orders_here.store.run(orders_here.rival)
    settings = {**rival.settings, "drawing": {**DRAWING, "train": 30, "scale": "as they are"}}
    fewer = store.create_run("order", settings)
    shutil.copy(rival.scores_file, fewer.scores_file)
    store.end_run(fewer.id, "finished", result=rival.result)
    beside = order_models.same_sequences(store.run(orders_here.own))
    assert [run.id for run in beside] == [fewer.id, orders_here.rival]


def test_your_own_order_is_moved_and_measured(orders_here, open_page, monkeypatch):
    app = open_page("orders", order_view="own", sequence="2")
    shown = film_of(app)
    assert shown["truth"] is None, "the truth is hidden until it is asked for"
    [own] = shown["strips"]
    assert own["movable"]
    assert sorted(own["order"]) == list(range(6))
    order = own["order"][::-1]
    monkeypatch.setattr(film, "own_order", lambda key, token, first: tuple(order))
    app.toggle[0].set_value(True).run()
    assert not app.exception
    shown = film_of(app)
    assert titles(app)[1:] == [HOSTILE, "RankSVM"]
    relevance = np.array([frame["grade"] for frame in shown["frames"]])
    tau = kendall_tau(relevance, -np.argsort(order).astype(float))
    assert numbers_in(shown["strips"][0]["note"])[1] == round(tau, 2)
    wrong = crossings(shown["strips"][0] | {"order": order}, shown["frames"])
    assert any(numbers_in(caption.value)[:1] == [wrong] for caption in app.caption)


def test_only_an_order_of_these_frames_is_your_own(monkeypatch):
    shuffled = (2, 0, 1)
    for sent, expected in (
        (None, shuffled),
        ({"token": "t", "order": [0, 1, 2]}, (0, 1, 2)),
        ({"token": "u", "order": [0, 1, 2]}, shuffled),
        ({"token": "t", "order": [0, 0, 2]}, shuffled),
        ({"token": "t", "order": ["0", 1, 2]}, shuffled),
        ({"token": "t", "order": 5}, shuffled),
        ("t", shuffled),
    ):
        monkeypatch.setattr(film.st, "session_state", {"film": {"own": sent}})
        assert film.own_order("film", "t", shuffled) == expected, sent
        assert film.own_order("another", "t", shuffled) == shuffled


def test_files_hold_all_sequences_and_this_one(orders_here):
    runs = [orders_here.store.run(one) for one in (orders_here.own, orders_here.rival)]
    images = orders_here.store.image_set(orders_here.key)
    found = {f"{HOSTILE}{run.id}": cache.ordered(run) for run in runs}
    rows = list(csv.DictReader(io.StringIO(order_export.csv_text(images, "year", found))))
    assert len(rows) == DRAWING["test"] * DRAWING["length"]
    tested = Recomputed(orders_here, orders_here.own)
    sixth = [row for row in rows if row["sequence"] == "6"]
    assert [float(row["year"]) for row in sixth] == sorted(
        (float(row["year"]) for row in sixth), reverse=True
    )
    samples = tested.drawn.samples[tested.drawn.sequences.sequence(5)]
    by_place = sorted(sixth, key=lambda row: int(row[f"place by {HOSTILE}{orders_here.own}"]))
    best_first = samples[np.argsort(-tested.scores[5], kind="stable")]
    assert [row["sample"] for row in by_place] == images.ids[best_first].tolist()
    ordered = found[f"{HOSTILE}{orders_here.own}"]
    strips = [film.Strip(title, "note", tuple(ordered.order(5).tolist())) for title in ("one", "two")]
    truth = film.Strip("true", "", tuple(ordered.true_order(5).tolist()))
    pictures, captions = cache.thumbnails(images.key), ["year"] * 6
    relevance = ordered.relevance[5]
    drawn = [
        order_export.picture(pictures, ordered.samples(5), relevance, captions, truth, strips[:many], HOSTILE)
        for many in (1, 2)
    ]
    heights = [Image.open(io.BytesIO(one)).height for one in drawn]
    assert heights[1] > heights[0] > 300
    colours = {colour for _, colour in Image.open(io.BytesIO(drawn[0])).getcolors(1_000_000)}
    wanted = film.AHEAD if ordered.measures.tau[5] < 1 else film.IN_PLACE
    assert tuple(int(wanted[at : at + 2], 16) for at in (1, 3, 5)) in colours


# ---------------------------------------------------------------------------------------------------------
# Empty states and trainings
# ---------------------------------------------------------------------------------------------------------


def test_without_numbers_a_button_generates_cars(empty_home, open_page, started):
    app = sound(open_page("orders"))
    [button] = [button for button in app.button if button.proto.type == "primary"]
    button.click().run()
    assert [run.kind for run in started if run.settings.get("source") == order_models.SOURCE] == ["import"]
    empty_home.end_run(started[-1].id, "failed", "no room")
    app.run()
    assert any("no room" in error.value for error in app.error)


def test_without_a_training_a_button_trains_two_and_the_last_one_can_be_restored(
    orders_here, open_page, started
):
    for run in orders_here.store.runs("order"):
        orders_here.store.delete_run(run.id)
    app = sound(open_page("orders", order_run=orders_here.own, order_set=orders_here.key))
    assert app.warning, "it was deleted"
    press(app, "widget train orders")
    begun = {run.settings["method"]: run for run in kinds(started, "order")}
    assert set(begun) == {"RankSVM", "MidRank"}
    assert begun["MidRank"].settings["criterion"] == "year"
    assert begun["MidRank"].settings["drawing"] == begun["RankSVM"].settings["drawing"] == {}
    press(app, f"widget restore {orders_here.own}")
    assert titles(app)[0] == HOSTILE


def test_a_training_has_what_was_chosen_and_is_watched_until_it_fails(orders_here, open_page, started):
    app = open_page("orders", order_method="ListNet")
    app.number_input(key="widget drawing.Sequences.length").set_value(5)
    press(app, "train orders")
    [run] = kinds(started, "order")
    assert (run.settings["method"], run.settings["drawing"]) == ("ListNet", {"length": 5})
    assert run.settings["set"] == orders_here.key
    Report(run.events_file).iteration(ProgressEvent(7, 10.0, 9.0, 0.1, 1, round=2))
    app.run()
    assert app.get("progress")
    assert [2, 7, 10] in [numbers_in(caption.value) for caption in app.caption], "ranker, iteration, gap"
    assert film_of(app)["strips"], "what exists can be looked at meanwhile"
    orders_here.store.end_run(run.id, "failed", "ran out of *memory*")
    sound(app.run())
    assert "ran out of \\*memory\\*" in app.error[0].value
    assert film_of(app)["strips"]


def test_addresses_that_are_not_understood_are_reported(orders_here, open_page):
    wrong = {"order_run": "aaaaaaaaaa", "sequence": "99", "criterion": "age", "beside": "bbbbbbbbbb"}
    app = sound(open_page("orders", **wrong))
    warnings = "\n".join(warning.value for warning in app.warning)
    assert all(value in warnings for value in wrong.values())
    assert titles(app)


def test_scores_of_another_length_and_other_kinds_of_run_are_refused(orders_here):
    run = orders_here.store.run(orders_here.own)
    np.save(run.scores_file, np.zeros(3))
    with pytest.raises(cache.Gone) as caught:
        cache.ordered(run)
    assert {90, 3} <= set(numbers_in(str(caught.value)))
    for kind in ("study", "order"):
        if kind == "order":
            orders_here.store.delete_run(run.id)
        with pytest.raises(ValueError, match=run.called):
            run_choice.of_kind(run.id, kind, "what the page shows")
