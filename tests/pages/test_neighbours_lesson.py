"""The lesson about neighbours: what it says follows from the trainings on disk, and from numbers that are made up."""

from __future__ import annotations

import json

import numpy as np
import pytest
from handed_out import every_step
from test_lesson import said
from test_start import strips_of

from pages.parts import all_actions, keys, leanings, lessons
from pages.parts.all_actions import MEASURED
from ranking import method_class
from ranking.features import load_features
from ranking.inference import max_marginals
from ranking.leaning import Leaning
from ranking.metrics import average_precision, ranking_order
from ranking.run_settings import TrainSettings
from ranking.training import query_of

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
    """(n,) ranks of the test samples by HOAP-SVM with its penalties times `strength`, and the AP."""
    run = run_of(store, "HOAP-SVM")
    images, settings = store.image_set(run.settings["set"]), TrainSettings.from_json(run.settings)
    features = load_features(images, settings.features, store.features)
    query = query_of(images, settings, features, rows=images.test)
    unary, penalty = method_class("HOAP-SVM").load(run.model_file).model_of(query)
    scores = max_marginals(unary, query.graph.edges, strength * penalty).difference
    relevance = images.relevance(LESSON.query)[images.test]
    order = ranking_order(relevance, scores)
    ranks = {str(name): place for place, name in enumerate(images.ids[images.test][order], start=1)}
    return ranks, average_precision(relevance, scores)


# ------------------------------------------------------------------------------------------------------ the page


def test_whoever_comes_first_sees_the_trainings_begin_once(empty_home, started, open_page):
    for _ in range(2):
        app = open_page("neighbours_lesson")
        assert not app.exception
        assert "Training SVM on “phoning” … this happens once" in said(app)
    assert [run.settings["method"] for run in started if run.kind == "train"] == list(LESSON.methods)
    assert {run.settings["graph"] for run in started if run.kind == "train"} == {None}, "each method's own"


def test_four_rankings_are_those_on_disk_and_neighbours_help_on_these_images(taught, open_page):
    app = open_page("neighbours_lesson")
    assert not app.exception
    text, precisions = said(app), {}
    for method, strip in zip(LESSON.methods, strips_of(app), strict=True):
        relevance, scores = on_disk(taught, method)
        precisions[method] = average_precision(relevance, scores)
        assert f"### {method}: AP {precisions[method]:.3f}" in text
        ordered = relevance[ranking_order(relevance, scores)][:8]
        assert [item["mark"] == "relevant" for item in strip["items"]] == (ordered > 0).tolist()
        assert [item["flag"] for item in strip["items"]].index("wrong") == int(np.argmin(ordered))
    assert leanings.compared(precisions) in text
    for alone, leaning in leanings.PAIRS:
        assert precisions[leaning] > precisions[alone] + 0.02, (
            "this query is an example where neighbours help"
        )


def test_pictures_of_one_scene_are_joined_and_told(taught, open_page):
    images = taught.image_set(run_of(taught, "SVM").settings["set"])
    scene_of = dict(zip(map(str, images.ids), images.image_of.tolist(), strict=True))
    joined = 0
    for strip in strips_of(open_page("neighbours_lesson")):
        items, scenes = strip["items"], [scene_of[item["id"]] for item in strip["items"]]
        for place, (item, scene) in enumerate(zip(items, scenes, strict=True)):
            same = [rank for rank, other in enumerate(scenes, 1) if other == scene and rank != place + 1]
            assert {items[rank - 1]["bracket"] for rank in same} <= {item["bracket"]}
            assert bool(item["bracket"]) == bool(same)
            ranks = f"of one scene with rank{'s' if len(same) > 1 else ''} {' and '.join(map(str, same))}"
            assert item["alt"].endswith(ranks) if same else "of one scene" not in item["alt"]
            assert item["joined"] == (place + 2 in same)
        letters = {
            item["bracket"]: scene for item, scene in zip(items, scenes, strict=True) if item["bracket"]
        }
        assert len(set(letters.values())) == len(letters), "one letter, one scene"
        joined += sum(item["joined"] for item in items)
    assert joined > 0


def test_all_actions_are_shown_beside_the_one_that_was_chosen(taught, open_page):
    text, found = said(open_page("neighbours_lesson")), json.loads(MEASURED.read_text())
    images = taught.image_set(run_of(taught, "SVM").settings["set"])
    assert tuple(found["average_precision"]) == images.classes
    assert all(tuple(by) == LESSON.methods for by in found["average_precision"].values())
    assert tuple(found["features"]) == lessons.FEATURES
    for action, by in found["average_precision"].items():
        name = f"**{action}**" if action == LESSON.query else action
        row = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
        assert all(f" {value:.3f} |" in row for value in by.values())
    helped = [
        sum(by[two] > by[one] for by in found["average_precision"].values()) for one, two in leanings.PAIRS
    ]
    assert (
        f"rises for {helped[0]} of 10 actions where labels are counted, and for {helped[1]} where AP is optimised"
        in text
    )


def test_the_stored_figures_are_what_the_methods_do(taught):
    """Of the action that the lesson trains; the others are made by the same lines.

    The rounds of HOAP-SVM, which is not convex, lead elsewhere where products are rounded otherwise: .359 and .401 with
    one and two threads.
    """
    stored = json.loads(MEASURED.read_text())["average_precision"][LESSON.query]
    for method in LESSON.methods:
        within = 0.08 if method == "HOAP-SVM" else 0.002
        assert average_precision(*on_disk(taught, method)) == pytest.approx(stored[method], abs=within)


def test_figures_of_other_images_are_not_shown(taught, open_page, monkeypatch, tmp_path):
    other = tmp_path / "ten_actions.json"
    other.write_text(MEASURED.read_text().replace('"set": "', '"set": "0'))
    monkeypatch.setattr(all_actions, "MEASURED", other)
    app = open_page("neighbours_lesson")
    assert not app.exception
    assert "measure it again with" in app.error[0].value
    assert "actions where labels are counted" not in said(app)
    assert app.button(key="next step"), "the lesson goes on"


@pytest.mark.parametrize("step", ["2", "3"])
@pytest.mark.parametrize("strength", [None, "0", "0.5", "2"])
def test_the_ranks_of_a_scene_follow_the_strength(taught, open_page, step, strength):
    given = {} if strength is None else {"strength": strength}
    app = open_page("neighbours_lesson", neighbours_step=step, **given)
    assert not app.exception
    ranks, precision = ranks_at(taught, 1.0 if strength is None else float(strength))
    [strip] = strips_of(app)
    assert len(strip["items"]) > 1
    assert all(int(item["right"]) == ranks[item["id"]] for item in strip["items"])
    assert [int(item["right"]) for item in strip["items"]] == sorted(
        int(item["right"]) for item in strip["items"]
    )
    assert f"AP is **{precision:.3f}**" in said(app)


def test_the_slider_writes_to_the_address_and_moves_the_ranks(taught, open_page):
    app = open_page("neighbours_lesson", neighbours_step="2")
    [before] = strips_of(app)
    app.slider(key="widget strength").set_value(0.0).run()
    assert app.query_params["strength"] == "0"
    [after] = strips_of(app)
    assert [item["right"] for item in before["items"]] != [item["right"] for item in after["items"]]
    assert before["chosen"] == after["chosen"], "the same person"


def test_one_person_is_lifted_and_what_is_said_is_so(taught, open_page):
    app = open_page("neighbours_lesson", neighbours_step="2")
    [strip] = strips_of(app)
    [chosen] = [item for item in strip["items"] if item["id"] == strip["chosen"]]
    assert chosen["mark"] == "relevant"
    (off, _), (learnt, _) = ranks_at(taught, 0.0), ranks_at(taught, 1.0)
    before, after = off[chosen["id"]], learnt[chosen["id"]]
    assert before - after > 50, "on the images that come with the lesson"
    ahead = [item for item in strip["items"] if off[item["id"]] < before]
    right = sum(item["mark"] == "relevant" for item in ahead)
    assert f"By itself {chosen['left']} stands at rank {before}, with neighbours at {after}: " in said(app)
    higher = f"{len(ahead)} neighbours stood higher, {right} of them relevant."
    if len(ahead) == 1:
        higher = f"1 neighbour stood higher, {'relevant' if right else 'not relevant'}."
    assert higher in said(app)
    images = taught.image_set(run_of(taught, "HOAP-SVM").settings["set"])
    relevant = dict(zip(map(str, images.ids), images.relevance(LESSON.query), strict=True))
    tests = [str(name) for name in images.ids[images.test]]
    assert before - after == max(off[name] - learnt[name] for name in tests if relevant[name])


def test_one_scene_is_misled_and_what_is_said_is_so(taught, open_page):
    app = open_page("neighbours_lesson", neighbours_step="3")
    [strip] = strips_of(app)
    assert {item["mark"] for item in strip["items"]} == {"irrelevant"}
    assert strip["chosen"] is None
    (off, _), (learnt, _) = ranks_at(taught, 0.0), ranks_at(taught, 1.0)
    ids = [item["id"] for item in strip["items"]]
    before, after = [off[name] for name in ids], [learnt[name] for name in ids]
    assert all(later < earlier for earlier, later in zip(before, after, strict=True))
    assert (
        f"Nobody here is phoning, yet all {len(ids)} rise: from ranks {min(before)} to {max(before)} without "
        f"neighbours to {min(after)} to {max(after)} with them." in said(app)
    )


def test_next_goes_through_all_steps_and_on_to_a_training_that_is_filled_in(taught, open_page):
    app = open_page("neighbours_lesson")
    for step in "234":
        app.button(key="next step").click().run()
        assert not app.exception
        assert app.query_params["neighbours_step"] == step
    (_, off), (_, learnt) = ranks_at(taught, 0.0), ranks_at(taught, 1.0)
    assert f"AP goes from {off:.3f} to {learnt:.3f}: here they helped on the whole." in said(app)
    obvious = [button.label for button in app.button if button.proto.type == "primary"]
    assert obvious == ["Train it yourself"], "one obvious next step"
    app.button(key="train with neighbours").click().run()
    assert not app.exception
    assert app.selectbox(key="widget query").value == LESSON.query
    assert app.selectbox(key="widget method").value == "HOAP-SVM"
    assert app.selectbox(key="widget graph").value == "same image"


def test_edges_off_is_told_from_a_training_without(taught, open_page):
    alone = average_precision(*on_disk(taught, "AP-SVM"))
    text = said(open_page("neighbours_lesson", neighbours_step="4"))
    assert f"AP-SVM, trained without, has {alone:.3f}." in text
    relevance, _ = on_disk(taught, "HOAP-SVM")
    assert f"only {int(relevance.sum())} are relevant" in said(open_page("neighbours_lesson"))


def test_wrong_addresses_are_said_and_left_out(taught, open_page):
    app = open_page("neighbours_lesson", neighbours_step="5")
    assert "neighbours\\_step \\= " in app.warning[0].value
    app = open_page("neighbours_lesson", neighbours_step="2", strength="7")
    assert not app.exception
    assert "expected 0 to 2" in app.warning[0].value
    assert app.slider(key="widget strength").value == 1.0


def test_a_model_that_is_gone_is_said(taught, open_page):
    run_of(taught, "HOAP-SVM").model_file.unlink()
    app = open_page("neighbours_lesson", neighbours_step="2")
    assert not app.exception
    assert "has no method" in app.error[0].value


# ------------------------------------------------------------------------------------------------- the sentences


@pytest.mark.parametrize(
    ("hob", "hoap", "words"),
    [
        (0.4, 0.1, ("rises (SVM 0.300, HOB-SVM 0.400)", "falls (AP-SVM 0.200, HOAP-SVM 0.100)")),
        (0.3001, 0.5, ("stays (SVM 0.300, HOB-SVM 0.300)", "rises (AP-SVM 0.200, HOAP-SVM 0.500)")),
        (0.1, 0.2, ("falls (SVM 0.300, HOB-SVM 0.100)", "stays (AP-SVM 0.200, HOAP-SVM 0.200)")),
    ],
)
def test_pairs_are_compared_as_far_as_is_shown(hob, hoap, words):
    told = leanings.compared({"SVM": 0.3, "HOB-SVM": hob, "AP-SVM": 0.2, "HOAP-SVM": hoap})
    assert told == (
        f"With neighbours AP {words[0]} where labels are counted, and {words[1]} where AP is optimised."
    )


def made(off, learnt, relevance, precision=(0.25, 0.5)):
    places = np.array([off, learnt])
    everybody = np.zeros(len(off), int)
    return Leaning(
        np.array([0.0, 1.0]), np.array(relevance), everybody, places, np.array(precision)
    ), np.arange(len(off))


def test_who_pulls_is_counted():
    leaning, people = made([3, 1, 9, 5], [2, 1, 3, 5], [1, 0, 1, 0])
    assert leanings.lifting(leaning, people, 2, "ABCD") == (
        "By itself C stands at rank 9, with neighbours at 3: 3 neighbours stood higher, 1 of them relevant."
    )
    assert leanings.lifting(leaning, people, 0, "ABCD").endswith("1 neighbour stood higher, not relevant.")
    leaning, people = made([1, 3], [1, 2], [1, 1])
    assert leanings.lifting(leaning, people, 1, "AB").endswith("1 neighbour stood higher, relevant.")


def test_who_rises_along_is_named():
    leaning, people = made([9, 8, 7, 1], [3, 2, 5, 6], [1, 0, 0, 0])
    assert leanings.along(leaning, people, "ABCD") == ": B and C, who are not relevant, rise along"
    assert leanings.along(leaning, people[:2], "AB") == ": B, who is not relevant, rises along"
    assert leanings.along(leaning, people[[0, 3]], "AD") == "", "D falls"
    assert leanings.along(leaning, people[1:], "BCD") == "", "nobody there is relevant"


@pytest.mark.parametrize(
    ("precision", "words"),
    [
        ((0.25, 0.5), "helped on"),
        ((0.5, 0.25), "misled on"),
        ((0.25, 0.2501), "neither helped nor misled on"),
    ],
)
def test_the_sum_says_what_ap_says(precision, words):
    leaning, _ = made([4, 3, 2, 1], [3, 4, 1, 2], [1, 1, 1, 0], precision)
    assert leanings.summed_up(leaning) == (
        f"Of 3 relevant people neighbours lift 2 and lower 1; AP goes from {precision[0]:.3f} to {precision[1]:.3f}: "
        f"here they {words} the whole."
    )


def test_the_lesson_is_one_file_to_hand_out(taught, open_page):
    text = every_step(
        open_page("neighbours_lesson", neighbours_step="2", strength="0.5"), keys.NEIGHBOURS_STEP, 4
    )
    assert "Strength of the neighbours: <b>0.5</b>" in text
    assert text.count('class="whole"') == 2, "the scenes of steps 2 and 3"
