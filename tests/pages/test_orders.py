"""The page Orders: strips are the methods' own orders, lines and measures those of the sequence."""

from __future__ import annotations

import csv
import io
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from order_home import DRAWING, HOSTILE, Recomputed, film_of, train_orders_here
from PIL import Image

from pages.parts import cache, film, frame, order_export
from ranking.events import Report
from ranking.metrics import kendall_tau, ndcg, pair_accuracy
from ranking.order_training import NAMES
from ranking.types import ProgressEvent

pytestmark = pytest.mark.usefixtures("started")  # nothing is imported or trained beside


def crossings(strip: dict[str, Any], frames: list[dict[str, Any]]) -> int:
    """Lines that cross between the true order and a strip: they begin as film.js has them begin."""
    true = sorted(strip["order"], key=lambda one: -frames[one]["grade"])
    ends = [(true.index(one), place) for place, one in enumerate(strip["order"])]
    return sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in combinations(ends, 2))


@pytest.mark.parametrize("number", [1, 7])
def test_strips_are_the_orders_of_the_methods(orders_here, open_page, number):
    app = open_page("orders", order_run=orders_here.own, sequence=str(number))
    assert not app.exception
    assert not app.error
    shown = film_of(app)
    assert [strip["title"] for strip in shown["strips"]] == [HOSTILE, "RankSVM"]
    assert not any(strip["movable"] for strip in shown["strips"])
    for strip, run_id in zip(shown["strips"], (orders_here.own, orders_here.rival), strict=True):
        tested = Recomputed(orders_here, run_id)
        relevance, scores = tested.relevance[number - 1], tested.scores[number - 1]
        assert [frame["grade"] for frame in shown["frames"]] == relevance.tolist()
        assert scores[strip["order"]].tolist() == sorted(scores, reverse=True)
        tau, pairs = kendall_tau(relevance, scores), pair_accuracy(relevance, scores)
        assert f"{100 * pairs:.0f}% of pairs right · Kendall tau {tau:.2f}" in strip["note"]
        assert f"NDCG {ndcg(relevance, scores):.3f} (linear gain)" in strip["note"]
        assert f"{ndcg(relevance, scores, gain='exponential'):.3f} (exponential)" in strip["note"]
        different = sum(one != other for one, other in combinations(relevance.tolist(), 2))
        assert crossings(strip, shown["frames"]) == round((1 - pairs) * different)
    samples = tested.drawn.samples[tested.drawn.sequences.sequence(number - 1)]
    years = tested.images.numbers_of("year")[samples]
    assert [frame["caption"] for frame in shown["frames"]] == [f"{year:.6g}" for year in years]
    assert (np.diff(years[shown["truth"]["order"]]) <= 0).all()
    wrong = crossings(shown["strips"][0], shown["frames"])
    said = " ".join(caption.value for caption in app.caption)
    assert f"a pair in the wrong order, {wrong} of " in said
    assert HOSTILE not in said, "markdown would read it"
    assert app.query_params["order_run"] == orders_here.own


def test_the_means_are_over_all_test_sequences(orders_here, open_page):
    app = open_page("orders")
    [table] = [one.value for one in app.markdown if one.value.startswith("| |")]
    for line, run_id in zip(table.splitlines()[2:], (orders_here.own, orders_here.rival), strict=True):
        told = orders_here.store.run(run_id).result["test"]
        cells = [cell.strip(" *") for cell in line.split("|")[2:6]]
        assert cells == [f"{told[name]:.3f}" for name in NAMES]
        tested = Recomputed(orders_here, run_id)
        pairs = [pair_accuracy(*one) for one in zip(tested.relevance, tested.scores, strict=True)]
        assert told["pair accuracy"] == pytest.approx(np.mean(pairs))
    assert "**" in table


def test_worst_best_next_and_previous(orders_here, open_page):
    tested = Recomputed(orders_here, orders_here.own)
    taus = [kendall_tau(*one) for one in zip(tested.relevance, tested.scores, strict=True)]
    app = open_page("orders")
    for label, expected in (
        ("Worst", np.argmin(taus) + 1),
        ("Best", np.argmax(taus) + 1),
    ):
        app.button(key=f"widget sequence {label}").click().run()
        assert app.query_params["sequence"] == str(expected)
        assert f"tau {taus[expected - 1]:.2f}" in film_of(app)["strips"][0]["note"]
    app.number_input(key="widget sequence").set_value(2).run()
    app.button(key="widget sequence Next").click().run()
    assert app.query_params["sequence"] == "3"
    app.button(key="widget sequence Previous").click().run()
    app.button(key="widget sequence Previous").click().run()
    assert app.query_params["sequence"] == "1"
    assert app.button(key="widget sequence Previous").disabled


def test_beside_stand_trainings_on_the_same_sequences_alone(orders_here, open_page):
    app = open_page("orders", order_run=orders_here.own)
    beside = app.multiselect(key="widget beside")
    assert beside.value == [orders_here.rival]
    assert not any(orders_here.shorter in option for option in beside.options)
    beside.set_value([]).run()
    assert [strip["title"] for strip in film_of(app)["strips"]] == [HOSTILE]
    unscaled = {**DRAWING, "train": 30, "scale": "as they are"}
    fewer = train_orders_here(orders_here.store, orders_here.key, "RankSVM", unscaled)
    app = open_page("orders", order_run=orders_here.own, beside=fewer.id)
    assert not app.error
    assert [strip["title"] for strip in film_of(app)["strips"]] == [HOSTILE, "RankSVM"]
    other = open_page("orders", order_run=orders_here.shorter)
    shown = film_of(other)
    assert len(shown["frames"]) == 4
    assert "the lowest first" in shown["truth"]["note"]
    years = [float(shown["frames"][one]["caption"]) for one in shown["truth"]["order"]]
    assert years == sorted(years)
    assert len(shown["strips"]) == 1


def test_ones_own_order_is_moved_and_measured(orders_here, open_page, monkeypatch):
    app = open_page("orders", order_view="own", sequence="2")
    shown = film_of(app)
    assert shown["truth"] is None, "the truth is hidden until one asks for it"
    [own] = shown["strips"]
    assert own["movable"]
    assert sorted(own["order"]) == list(range(6))
    order = own["order"][::-1]
    monkeypatch.setattr(film, "own_order", lambda key, token, first: tuple(order))
    app.toggle[0].set_value(True).run()
    assert not app.exception
    shown = film_of(app)
    assert [strip["title"] for strip in shown["strips"]] == ["Your order", HOSTILE, "RankSVM"]
    relevance = np.array([frame["grade"] for frame in shown["frames"]])
    scores = -np.argsort(order).astype(float)
    assert f"Kendall tau {kendall_tau(relevance, scores):.2f}" in shown["strips"][0]["note"]
    said = " ".join(caption.value for caption in app.caption)
    assert f"wrong order, {crossings(shown['strips'][0] | {'order': order}, shown['frames'])} of " in said


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (None, (2, 0, 1)),
        ({"token": "t", "order": [0, 1, 2]}, (0, 1, 2)),
        ({"token": "u", "order": [0, 1, 2]}, (2, 0, 1)),
        ({"token": "t", "order": [0, 0, 2]}, (2, 0, 1)),
        ({"token": "t", "order": ["0", 1, 2]}, (2, 0, 1)),
        ({"token": "t", "order": 5}, (2, 0, 1)),
        ("t", (2, 0, 1)),
    ],
)
def test_only_an_order_of_these_frames_is_ones_own(monkeypatch, told, expected):
    monkeypatch.setattr(film.st, "session_state", {"film": {"own": told}})
    assert film.own_order("film", "t", [2, 0, 1]) == expected
    assert film.own_order("another", "t", [2, 0, 1]) == (2, 0, 1)


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


@pytest.mark.parametrize("page", ["orders", "search_tree"])
def test_without_numbers_one_button_draws_cars(empty_home, open_page, started, page):
    app = open_page(page)
    assert not app.exception
    [button] = [one for one in app.button if one.proto.type == "primary"]
    button.click().run()
    assert [run.kind for run in started if run.settings.get("source") == "Timeline cars"] == ["import"]
    empty_home.end_run(started[-1].id, "failed", "no room")
    app.run()
    assert any("no room" in one.value for one in app.error)


@pytest.mark.parametrize("page", ["orders", "search_tree"])
def test_without_a_training_one_button_trains_two(orders_here, open_page, started, page):
    for run in orders_here.store.runs("order"):
        orders_here.store.delete_run(run.id)
    app = open_page(page)
    assert not app.exception
    before = len(started)
    app.button(key="widget train orders").click().run()
    begun = {run.settings["method"]: run for run in started[before:]}
    assert set(begun) == {"RankSVM", "MidRank"}
    assert {run.kind for run in begun.values()} == {"order"}
    assert begun["MidRank"].settings["criterion"] == "year"
    assert begun["MidRank"].settings["drawing"] == begun["RankSVM"].settings["drawing"] == {}


def test_a_new_training_has_what_was_chosen(orders_here, open_page, started):
    app = open_page("orders", order_method="ListNet")
    app.number_input(key="widget drawing.Sequences.length").set_value(5).run()
    app.button(key="train orders").click().run()
    assert not app.exception
    settings = started[-1].settings
    assert (settings["method"], settings["drawing"]) == ("ListNet", {"length": 5})
    assert settings["set"] == orders_here.key
    assert any("progress" in part.type or part.type == "button" for part in app.main), "it is watched"


def test_a_set_with_several_criteria_asks_by_which(orders_here, open_page):
    app = open_page("orders")
    criterion = app.selectbox(key="widget criterion")
    assert list(criterion.options) == list(orders_here.store.image_set(orders_here.key).criteria)
    criterion.set_value("brightness").run()
    assert not app.exception
    assert app.button(key="widget train orders").label == "Train RankSVM and MidRank"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"order_run": "aaaaaaaaaa"}, "'aaaaaaaaaa'"),
        ({"sequence": "99"}, "expected 1 to 15"),
        ({"criterion": "age"}, "expected one of"),
        ({"beside": "bbbbbbbbbb"}, "expected one of"),
    ],
)
def test_an_address_that_is_not_understood_is_said(orders_here, open_page, asked, said):
    app = open_page("orders", **asked)
    assert not app.exception
    assert any(said in one.value.replace("\\", "") for one in app.warning)


def test_scores_that_are_gone_or_of_another_length_are_said(orders_here, open_page):
    run = orders_here.store.run(orders_here.own)
    np.save(run.scores_file, np.zeros(3))
    app = open_page("orders", order_run=run.id)
    assert not app.exception
    assert frame.escaped("must have 90 scores") in app.error[0].value


def test_what_a_training_has_come_to_is_told_and_why_it_failed(orders_here, open_page, started):
    app = open_page("orders", order_method="MidRank")
    app.button(key="train orders").click().run()
    run = started[-1]
    Report(run.events_file).iteration(ProgressEvent(7, 10.0, 9.0, 0.1, 1, round=2))
    app.run()
    assert "Now ranker 2, iteration 7, proven within 10% of the best" in [
        caption.value for caption in app.caption
    ]
    assert film_of(app)["strips"], "what is there can be looked at meanwhile"
    orders_here.store.end_run(run.id, "failed", "ran out of *memory*")
    app.run()
    assert not app.exception
    assert "ran out of \\*memory\\*" in app.error[0].value
    assert film_of(app)["strips"]


def test_a_training_of_orders_is_named_deleted_and_brought_back(orders_here, open_page):
    app = open_page("orders", order_run=orders_here.own)
    app.button(key="star runs").click().run()
    assert app.selectbox(key="widget order_run").options[0].startswith("★ ")
    app.button(key="delete runs").click().run()
    assert not app.exception
    assert orders_here.store.run(orders_here.own).deleted
    assert app.query_params["order_run"] != orders_here.own, "the page goes on with another one"
    assert len(film_of(app)["strips"]) >= 1
    app.button(key="undo just deleted").click().run()
    assert not app.exception
    assert orders_here.store.run(orders_here.own).deleted is None


def test_the_last_training_of_orders_can_be_brought_back(orders_here, open_page):
    for run in orders_here.store.runs("order"):
        orders_here.store.delete_run(run.id)
    app = open_page("orders", order_set=orders_here.key)
    assert not app.exception
    app.button(key=f"widget restore {orders_here.own}").click().run()
    assert not app.exception
    assert film_of(app)["strips"][0]["title"] == HOSTILE


def test_the_address_of_a_deleted_training_of_orders_says_so(orders_here, open_page):
    orders_here.store.delete_run(orders_here.own)
    app = open_page("orders", order_run=orders_here.own)
    assert not app.exception
    assert any("that training of orders was deleted" in warning.value for warning in app.warning)
