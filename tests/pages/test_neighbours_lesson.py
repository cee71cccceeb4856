"""The lesson about neighbours: what it shows follows from the trainings on disk, and from numbers that are made up."""

from __future__ import annotations

import json
from itertools import pairwise
from statistics import fmean

import numpy as np
import pytest
from shown import all_steps, choose, components, numbers_in, page_of, press, texts

from pages.parts.app import cache
from pages.parts.runs import lessons
from pages.parts.views import all_actions, leanings
from pages.parts.views.all_actions import MEASURED
from ranking.explain.edge_strength import EdgeStrengthCurve
from ranking.metrics.ranked import first_mistake

LESSON = lessons.NEIGHBOURS


def run_of(store, method):
    [run] = [run for run in store.runs("train") if run.settings["method"] == method]
    return run


def strips_of(app):
    return [strip["items"] for strip in components(app, "ranking_strip")]


@pytest.fixture
def images(taught):
    return taught.image_set(run_of(taught, "SVM").settings["set"])


@pytest.fixture
def rankings(taught):
    return {method: cache.ranking(run_of(taught, method), "test") for method in LESSON.methods}


def test_rankings_are_those_on_disk_and_images_of_a_scene_are_joined(taught, images, rankings, open_page):
    app = open_page("neighbours_lesson", neighbours_step="5")
    assert len(app.warning) == 1, "there are four steps"
    text = texts(app)
    for (method, ranked), items in zip(rankings.items(), strips_of(app), strict=True):
        assert f"### {method}: AP {ranked.average_precision:.3f}" in text
        assert [item["id"] for item in items] == images.ids[ranked.samples[:8]].tolist()
        assert [item["mark"] == "relevant" for item in items] == (ranked.relevance[:8] > 0).tolist()
        assert [bool(item["flag"]) for item in items].index(True) == first_mistake(ranked.relevance) - 1
        scenes = leanings.shared(images.image_of[ranked.samples[:8]])
        assert [item["bracket"] for item in items] == scenes
        assert [item["joined"] for item in items] == [a == b != "" for a, b in pairwise([*scenes, ""])]
        for place, item in enumerate(items):
            assert item["alt"].endswith(leanings.with_whom(scenes, place)) == bool(scenes[place])
    assert any(item["joined"] for items in strips_of(app) for item in items)
    precisions = {method: ranked.average_precision for method, ranked in rankings.items()}
    assert leanings.compared(precisions) in text
    for alone, leaning in leanings.PAIRS:
        assert precisions[leaning] > precisions[alone] + 0.01, "a query where neighbours help"
    assert any(ranked.positives in numbers_in(caption.value) for caption in app.caption)
    measured = all_actions.measured(images)
    assert all_actions.table(measured, LESSON.query) in text
    assert all_actions.summed_up(measured) in text
    for alone, leaning in leanings.PAIRS:
        gained = round(precisions[leaning], 3) - round(precisions[alone], 3)
        mean = fmean(by[leaning] - by[alone] for by in measured.values())
        assert (
            f"{leaning} minus {alone} in AP: **{gained:+.3f}** on “{LESSON.query}”, **{mean:+.3f}** on"
            in text
        )


def test_ranks_follow_the_strength_and_texts_what_it_changes(taught, images, rankings, open_page):
    leaning, tests = cache.leaning(run_of(taught, "HOAP-SVM")), images.ids[images.test]
    off, learnt = (leaning.ranks[leaning.at(strength)] for strength in (0.0, 1.0))
    trained = rankings["HOAP-SVM"]
    np.testing.assert_array_equal(tests[np.argsort(learnt)], images.ids[trained.samples])
    assert leaning.precision_at(1.0) == pytest.approx(trained.average_precision)

    def strip_at(strength, people):
        """Of these people, in the order that they have at that strength."""
        ranks = leaning.ranks[leaning.at(strength)]
        order = people[np.argsort(ranks[people])]
        [strip] = components(app, "ranking_strip")
        assert [item["id"] for item in strip["items"]] == tests[order].tolist(), strength
        assert [int(item["right"]) for item in strip["items"]] == ranks[order].tolist()
        assert f"**{leaning.precision_at(strength):.3f}**" in texts(app), strength
        return strip

    app = open_page("neighbours_lesson", strength="7")
    press(app, "next step")
    assert app.query_params["neighbours_step"] == "2"
    assert numbers_in(app.warning[0].value)[-3:-1] == [0, 2]
    lifted = leaning.most_lifted()
    assert off[lifted] - learnt[lifted] > 50, "on the images that come with the lesson"
    people = leaning.of_image(int(leaning.image_of[lifted]))
    assert leanings.lifting(leaning, people, lifted, "ABCDEFGH") in texts(app)
    for strength in (1.0, 0.0, 2.0, 0.5):
        choose(app.slider, "strength", strength)
        assert strip_at(strength, people)["chosen"] == tests[lifted]
    assert app.query_params["strength"] == "0.5"
    all_steps(app, page_of("neighbours_lesson").STEPS)
    assert len(components(app, "ranking_picture")) == 2, "the scenes of steps 2 and 3"
    assert "Strength of the neighbours: **0.5**" in texts(app), "of step 3"
    choose(app.toggle, "all_steps", False)

    press(app, "next step")
    misled = leaning.most_misled()
    assert strip_at(0.5, misled)["chosen"] is None
    assert leanings.misleading(leaning, misled, LESSON.query) in texts(app)

    press(app, "next step")
    alone = rankings["AP-SVM"].average_precision
    assert any(f"{alone:.3f}" in caption.value for caption in app.caption), "edges off is another training"
    assert leanings.summed_up(leaning) in texts(app)
    [primary] = [button for button in app.button if button.proto.type == "primary"]
    assert primary.key == "train with neighbours", "one obvious next step"
    press(app, primary.key)
    chosen = [app.selectbox(key=f"widget {name}").value for name in ("query", "method", "graph")]
    assert chosen == [LESSON.query, "HOAP-SVM", "same image"]


def test_a_model_that_is_gone_is_reported(taught, open_page):
    run_of(taught, "HOAP-SVM").model_file.unlink()
    assert open_page("neighbours_lesson", neighbours_step="2").error


def test_the_stored_figures_are_of_these_images_and_methods(images, rankings, monkeypatch, tmp_path):
    """Of the action that the lesson trains; the others are made by the same lines.

    The rounds of HOAP-SVM, which is not convex, lead elsewhere where products are rounded otherwise: .359 and .401 with
    one and two threads.
    """
    stored = json.loads(MEASURED.read_text())
    assert tuple(stored["average_precision"]) == images.classes
    assert all(tuple(by) == LESSON.methods for by in stored["average_precision"].values())
    assert tuple(stored["features"]) == lessons.FEATURES
    for method, value in stored["average_precision"][LESSON.query].items():
        within = 0.08 if method == "HOAP-SVM" else 0.002
        assert rankings[method].average_precision == pytest.approx(value, abs=within)
    moved = tmp_path / "ten_actions.json"
    moved.write_text(MEASURED.read_text().replace('"set": "', '"set": "0'))
    monkeypatch.setattr(all_actions, "MEASURED", moved)
    with pytest.raises(cache.Gone):
        all_actions.measured(images)


def test_the_table_marks_the_query():
    measured = json.loads(MEASURED.read_text())["average_precision"]
    *rows, last = all_actions.table(measured, LESSON.query).splitlines()[2:]
    assert last.startswith("| Average |")
    assert all(f" {fmean(by[method] for by in measured.values()):.3f} |" in last for method in LESSON.methods)
    for row, (action, by) in zip(rows, measured.items(), strict=True):
        assert row.startswith(f"| **{action}** |" if action == LESSON.query else f"| {action} |")
        assert all(f" {value:.3f} |" in row for value in by.values())


def test_pairs_are_compared_as_far_as_is_shown():
    for hob, hoap, changes in (
        (0.4, 0.1, [leanings.RISES, leanings.FALLS]),
        (0.3001, 0.5, [leanings.STAYS, leanings.RISES]),
    ):
        text = leanings.compared({"SVM": 0.3, "HOB-SVM": hob, "AP-SVM": 0.2, "HOAP-SVM": hoap})
        assert numbers_in(text) == pytest.approx([0.3, round(hob, 3), 0.2, hoap])
        assert [word for word in text.split() if word in leanings.VERDICTS] == changes, (hob, hoap)


def made(off, learnt, relevance, precision=(0.25, 0.5)):
    ranks, image_of = np.array([off, learnt]), np.zeros(len(off), int)
    leaning = EdgeStrengthCurve(
        np.array([0.0, 1.0]), np.array(relevance), image_of, ranks, np.array(precision)
    )
    return leaning, np.arange(len(off))


def test_neighbours_that_pull_are_counted_and_those_that_rise_along_named():
    leaning, people = made([3, 1, 9, 5], [2, 1, 3, 5], [1, 0, 1, 0])
    text = leanings.lifting(leaning, people, 2, "ABCD")
    assert " C " in text
    assert numbers_in(text) == [9, 3, 3, 1], "before and after, neighbours above, relevant ones of them"
    by_irrelevant = leanings.lifting(leaning, people, 0, "AB")
    by_relevant = leanings.lifting(*made([3, 1], [2, 1], [1, 1]), 0, "AB")
    assert numbers_in(by_irrelevant) == numbers_in(by_relevant) == [3, 2, 1]
    assert by_irrelevant != by_relevant
    leaning, people = made([9, 8, 7, 1], [3, 2, 5, 6], [1, 0, 0, 0])
    assert numbers_in(leanings.misleading(leaning, people[1:3], "phoning")) == [2, 7, 8, 2, 5]
    for names, expected in (("ABCD", "BC"), ("AB", "B"), ("AD", ""), ("BCD", "")):  # D falls
        text = leanings.along(leaning, people[["ABCD".index(name) for name in names]], names)
        assert [name for name in names if name in text] == list(expected), names


def test_the_sum_gives_the_verdict_of_ap():
    for precision, change in (
        ((0.25, 0.5), leanings.RISES),
        ((0.5, 0.25), leanings.FALLS),
        ((0.25, 0.2501), leanings.STAYS),
    ):
        leaning, _ = made([4, 3, 2, 1], [3, 4, 1, 2], [1, 1, 1, 0], precision)
        text = leanings.summed_up(leaning)
        assert numbers_in(text) == pytest.approx([3, 2, 1, *np.round(precision, 3)])
        assert f"they {leanings.VERDICTS[change]} on" in text
