"""The lesson about neighbours: what it shows follows from the trainings on disk, and from numbers that are made up."""

from __future__ import annotations

import json

import numpy as np
import pytest
from handed_out import every_step
from shown import choose, numbers_in, press, sound, texts
from test_start import strips_of

from pages.parts import all_actions, cache, keys, leanings, lessons
from pages.parts.all_actions import MEASURED
from ranking.leaning import Leaning
from ranking.metrics import average_precision, ranking_order

LESSON = lessons.NEIGHBOURS


def run_of(store, method):
    [run] = [run for run in store.runs("train") if run.settings["method"] == method]
    return run


def on_disk(store, method):
    """Relevance and scores of the test samples, from the files."""
    run = run_of(store, method)
    images = store.image_set(run.settings["set"])
    return images.relevance(LESSON.query)[images.test], np.load(run.scores_file)[images.test]


def ranks_at(store, strength):
    """The ranks of the test samples by their names, by HOAP-SVM with its penalties times `strength`, and the AP."""
    run = run_of(store, "HOAP-SVM")
    images, leaning = store.image_set(run.settings["set"]), cache.leaning(run)
    at = leaning.at(strength)
    tests = map(str, images.ids[images.test])
    return dict(zip(tests, leaning.places[at].tolist(), strict=True)), leaning.average_precision[at]


# ------------------------------------------------------------------------------------------------------ the page


def test_four_rankings_are_those_on_disk_and_images_of_one_scene_are_joined(taught, open_page):
    app = sound(open_page("neighbours_lesson", neighbours_step="5"))
    assert len(app.warning) == 1, "there are four steps"
    text, precisions = texts(app), {}
    images = taught.image_set(run_of(taught, "SVM").settings["set"])
    scene_of = dict(zip(map(str, images.ids), images.image_of.tolist(), strict=True))
    joined = 0
    for method, strip in zip(LESSON.methods, strips_of(app), strict=True):
        relevance, scores = on_disk(taught, method)
        precisions[method] = average_precision(relevance, scores)
        assert f"### {method}: AP {precisions[method]:.3f}" in text
        ordered = relevance[ranking_order(relevance, scores)][:8]
        items, scenes = strip["items"], [scene_of[item["id"]] for item in strip["items"]]
        assert [item["mark"] == "relevant" for item in items] == (ordered > 0).tolist()
        assert [bool(item["flag"]) for item in items].index(True) == int(np.argmin(ordered))
        for place, (item, scene) in enumerate(zip(items, scenes, strict=True)):
            same = [rank for rank, another in enumerate(scenes, 1) if another == scene and rank != place + 1]
            assert {items[rank - 1]["bracket"] for rank in same} <= {item["bracket"]}
            assert bool(item["bracket"]) == bool(same)
            with_whom = leanings.with_whom(leanings.shared(np.array(scenes)), place)
            assert item["alt"].endswith(with_whom) == bool(same)
            assert not same or numbers_in(with_whom) == same
            assert item["joined"] == (place + 2 in same)
        letters = {item["bracket"]: scene for item, scene in zip(items, scenes, strict=True)} | {"": None}
        assert len(set(letters.values())) == len(letters), "one letter, one scene"
        joined += sum(item["joined"] for item in items)
    assert joined > 0
    assert leanings.compared(precisions) in text
    for alone, leaning in leanings.PAIRS:
        assert precisions[leaning] > precisions[alone] + 0.02, "a query where neighbours help"
    relevance, _ = on_disk(taught, "HOAP-SVM")
    assert any(int(relevance.sum()) in numbers_in(caption.value) for caption in app.caption)
    measured = all_actions.measured(images)
    assert all_actions.table(measured, LESSON.query) in text
    assert all_actions.summed_up(measured) in text


def test_ranks_follow_the_strength_and_texts_what_it_changes(taught, open_page):
    (off, without), (learnt, with_them) = ranks_at(taught, 0.0), ranks_at(taught, 1.0)
    images = taught.image_set(run_of(taught, "HOAP-SVM").settings["set"])
    tests = [str(name) for name in images.ids[images.test]]
    relevant = dict(zip(tests, images.relevance(LESSON.query)[images.test] > 0, strict=True))
    order = ranking_order(*on_disk(taught, "HOAP-SVM"))
    assert [learnt[tests[sample]] for sample in order] == list(range(1, len(tests) + 1)), "as it was trained"
    assert with_them == pytest.approx(average_precision(*on_disk(taught, "HOAP-SVM")))

    def strip_at(strength):
        ranks, precision = ranks_at(taught, strength)
        assert not app.exception
        [strip] = strips_of(app)
        shown = [int(item["right"]) for item in strip["items"]]
        assert len(shown) > 1
        assert shown == [ranks[item["id"]] for item in strip["items"]] == sorted(shown), strength
        assert f"**{precision:.3f}**" in texts(app), strength
        return strip

    app = open_page("neighbours_lesson", strength="7")
    press(app, "next step")
    assert app.query_params["neighbours_step"] == "2"
    assert numbers_in(app.warning[0].value)[-3:-1] == [0, 2]
    strip = strip_at(1.0)
    [chosen] = [item for item in strip["items"] if item["id"] == strip["chosen"]]
    assert chosen["mark"] == "relevant"
    before, after = off[chosen["id"]], learnt[chosen["id"]]
    assert before - after > 50, "on the images that come with the lesson"
    assert before - after == max(off[name] - learnt[name] for name in tests if relevant[name])
    ahead = [item["id"] for item in strip["items"] if off[item["id"]] < before]
    numbers = [before, after, len(ahead), sum(relevant[name] for name in ahead)]
    [told] = [
        text.value for text in app.markdown if numbers_in(text.value)[-len(numbers) :][:2] == [before, after]
    ]
    assert chosen["left"] in told
    for strength in (0.0, 2.0, 0.5):
        choose(app.slider, "strength", strength)
        assert app.query_params["strength"] == f"{strength:g}"
        assert strip_at(strength)["chosen"] == strip["chosen"], "the same person"
    text = every_step(app, keys.NEIGHBOURS_STEP, 4)
    assert "<b>0.5</b>" in text, "the strength"
    assert text.count('class="whole"') == 2, "the scenes of steps 2 and 3"

    press(app, "next step")
    strip = strip_at(0.5)
    assert {item["mark"] for item in strip["items"]} == {"irrelevant"}
    assert strip["chosen"] is None
    ids = [item["id"] for item in strip["items"]]
    before, after = [off[name] for name in ids], [learnt[name] for name in ids]
    assert all(later < earlier for earlier, later in zip(before, after, strict=True))
    ends = [len(ids), min(before), max(before), min(after), max(after)]
    assert any(numbers_in(text.value)[-5:] == ends for text in app.markdown)

    press(app, "next step")
    alone = average_precision(*on_disk(taught, "AP-SVM"))
    assert any(f"{alone:.3f}" in caption.value for caption in app.caption), "edges off is another training"
    assert any(
        {round(without, 3), round(with_them, 3)} <= set(numbers_in(text.value)) for text in app.markdown
    )
    [primary] = [button for button in app.button if button.proto.type == "primary"]
    assert primary.key == "train with neighbours", "one obvious next step"
    sound(primary.click().run())
    assert app.selectbox(key="widget query").value == LESSON.query
    assert app.selectbox(key="widget method").value == "HOAP-SVM"
    assert app.selectbox(key="widget graph").value == "same image"


def test_a_model_that_is_gone_is_reported(taught, open_page):
    run_of(taught, "HOAP-SVM").model_file.unlink()
    app = sound(open_page("neighbours_lesson", neighbours_step="2"))
    assert app.error


# ------------------------------------------------------------------------------------------------ the stored figures


def test_the_stored_figures_are_of_these_images_and_what_the_methods_do(taught, monkeypatch, tmp_path):
    """Of the action that the lesson trains; the others are made by the same lines.

    The rounds of HOAP-SVM, which is not convex, lead elsewhere where products are rounded otherwise: .359 and .401 with
    one and two threads.
    """
    stored = json.loads(MEASURED.read_text())
    images = taught.image_set(run_of(taught, "SVM").settings["set"])
    assert tuple(stored["average_precision"]) == images.classes
    assert all(tuple(by) == LESSON.methods for by in stored["average_precision"].values())
    assert tuple(stored["features"]) == lessons.FEATURES
    for method, value in stored["average_precision"][LESSON.query].items():
        within = 0.08 if method == "HOAP-SVM" else 0.002
        assert average_precision(*on_disk(taught, method)) == pytest.approx(value, abs=within)
    moved = tmp_path / "ten_actions.json"
    moved.write_text(MEASURED.read_text().replace('"set": "', '"set": "0'))
    monkeypatch.setattr(all_actions, "MEASURED", moved)
    with pytest.raises(cache.Gone):
        all_actions.measured(images)


def test_the_table_marks_the_query_and_counts_where_neighbours_help():
    measured = json.loads(MEASURED.read_text())["average_precision"]
    rows = all_actions.table(measured, LESSON.query).splitlines()
    for action, by in measured.items():
        [row] = [line for line in rows if action in line.split(" | ")[0]]
        assert ("**" in row) == (action == LESSON.query)
        assert all(f" {value:.3f} |" in row for value in by.values())
    helped = [sum(by[with_] > by[alone] for by in measured.values()) for alone, with_ in leanings.PAIRS]
    assert numbers_in(all_actions.summed_up(measured)) == [helped[0], 10, helped[1]]


# ------------------------------------------------------------------------------------------------- the sentences


def test_pairs_are_compared_as_far_as_is_shown():
    for hob, hoap, changes in (
        (0.4, 0.1, (leanings.RISES, leanings.FALLS)),
        (0.3001, 0.5, (leanings.STAYS, leanings.RISES)),
        (0.1, 0.2, (leanings.FALLS, leanings.STAYS)),
    ):
        text = leanings.compared({"SVM": 0.3, "HOB-SVM": hob, "AP-SVM": 0.2, "HOAP-SVM": hoap})
        assert numbers_in(text) == pytest.approx([0.3, round(hob, 3), 0.2, hoap])
        words = [word for word in text.split() if word in (leanings.RISES, leanings.FALLS, leanings.STAYS)]
        assert tuple(words) == changes, (hob, hoap)


def made(off, learnt, relevance, precision=(0.25, 0.5)):
    ranks, image_of = np.array([off, learnt]), np.zeros(len(off), int)
    leaning = Leaning(np.array([0.0, 1.0]), np.array(relevance), image_of, ranks, np.array(precision))
    return leaning, np.arange(len(off))


def test_neighbours_that_pull_are_counted_and_those_that_rise_along_named():
    leaning, people = made([3, 1, 9, 5], [2, 1, 3, 5], [1, 0, 1, 0])
    text = leanings.lifting(leaning, people, 2, "ABCD")
    assert " C " in text
    assert numbers_in(text) == [9, 3, 3, 1], "before and after, neighbours above, relevant ones of them"
    by_irrelevant = leanings.lifting(leaning, people, 0, "ABCD")
    leaning, people = made([1, 3], [1, 2], [1, 1])
    by_relevant = leanings.lifting(leaning, people, 1, "AB")
    assert numbers_in(by_irrelevant) == [3, 2, 1]
    assert numbers_in(by_relevant) == [3, 2, 1]
    assert by_irrelevant.replace(" A ", " B ") != by_relevant

    def named(people, names):
        text = leanings.along(leaning, people, names)
        return [name for name in names if name in text]

    leaning, people = made([9, 8, 7, 1], [3, 2, 5, 6], [1, 0, 0, 0])
    assert named(people, "ABCD") == ["B", "C"]
    assert named(people[:2], "AB") == ["B"]
    assert named(people[[0, 3]], "AD") == [], "D falls"
    assert named(people[1:], "BCD") == [], "nobody there is relevant"


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
