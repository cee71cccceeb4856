"""The lesson about labels: what it says follows from the stored scores by the papers' definitions, label by label."""

from __future__ import annotations

import importlib.util
import json
from itertools import combinations, islice
from pathlib import Path

import numpy as np
import pytest
from handed_out import every_step
from test_lesson import said

from pages.parts import frame, keys, label_models, taught_charts, taught_labels, taught_words
from pages.parts.label_models import OWN as OWN_METHOD
from pages.parts.taught_labels import BY_CHANCE, CHOSEN, FILE, OWN, QUESTIONS, RIVAL
from ranking import method_class
from ranking.datasets import make_source

pytestmark = pytest.mark.usefixtures("empty_home", "started")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def stored():
    """The file as it lies there."""
    with np.load(FILE, allow_pickle=False) as arrays:
        return {**arrays, **json.loads(str(arrays["told"]))}


def best_value(stored, model, row, inside=(), outside=()):
    """The greatest t's + t'Ft of all sets of k labels, by every choice of core labels; and its members."""
    unary = stored["unary"][model][row].astype(float)
    k, count = int(stored["labels"][row].sum()), len(unary)
    whole = np.zeros((count, count))
    if model == 0:
        whole[stored["core"]] = stored["interactions"]
        whole[:, stored["core"]] = stored["interactions"].T
    core = [int(i) for i in stored["core"]] if model == 0 else []
    best, members = -np.inf, None
    for size in range(len(core) + 1):
        for chosen in combinations(core, size):
            t = set(chosen)
            if any(i in core and i not in t for i in inside) or any(i in t for i in outside):
                continue
            others = [i for i in range(count) if i not in core and i not in outside]
            worth = {i: unary[i] + 2 * sum(whole[i, c] for c in t) for i in others}
            forced = [i for i in inside if i not in core]
            free = sorted((i for i in others if i not in forced), key=lambda i: -worth[i])
            t |= set(forced)
            t |= set(free[: k - len(t)])
            if len(t) != k:
                continue
            rows = np.array(sorted(t))
            value = unary[rows].sum() + whole[np.ix_(rows, rows)].sum()
            if value > best:
                best, members = value, t
    return best, members


def gaps(stored, model, row, inside=(), outside=()):
    """(L,) inside - outside of every label that is not answered."""
    found = np.full(len(stored["names"]), np.nan)
    for i in range(len(found)):
        if i not in inside and i not in outside:
            with_it = best_value(stored, model, row, (*inside, i), outside)[0]
            found[i] = with_it - best_value(stored, model, row, inside, (*outside, i))[0]
    return found


def specs(app):
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def row_of(letter="A"):
    return taught_labels.examples()[ord(letter) - ord("A")]


# ------------------------------------------------------------------------------------------------------ the file


def test_the_command_writes_what_the_methods_say(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("labels_lesson", ROOT / "data" / "labels_lesson.py")
    command = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(command)
    monkeypatch.setattr(command, "default_names", lambda _: ["Colour"])
    made = command.measured(images=50, min_images=10, max_iterations=2)
    np.savez_compressed(tmp_path / "few.npz", **made)
    monkeypatch.setattr(taught_labels, "FILE", tmp_path / "few.npz")
    one = taught_labels.taught()
    assert command.METHODS == (label_models.OWN, label_models.RIVAL)
    told = json.loads(str(made["told"]))
    assert [*told["certificates"]] == list(command.METHODS)
    assert one.learnt + len(one.scenes) == 50
    source = make_source("Label scenes")
    for row, scene in enumerate(one.scenes[:3]):
        drawn = source.record(int(scene))
        assert drawn.test
        assert [name in drawn.boxes[0].classes for name in one.names] == one.labels[row].tolist()
    assert len(one.predictions[OWN].core) == method_class(OWN_METHOD)().core_size
    assert not len(one.predictions[RIVAL].core)
    assert one.predictions[OWN].unary == pytest.approx(made["unary"][0])


def test_the_stored_trainings_came_to_their_end(stored):
    for method, proven in stored["certificates"].items():
        assert proven["converged"], method
        assert 0 <= proven["primal"] - proven["dual"] <= 0.02 * proven["primal"]
    assert stored["learnt"] + len(stored["scenes"]) == 1000
    assert stored["unary"].shape == (2, *stored["labels"].shape)


def test_scenes_are_drawn_as_the_source_draws_them(stored):
    source = make_source("Label scenes", seed=stored["seed"])
    for letter in "AF":
        row = row_of(letter)
        record = source.record(int(stored["scenes"][row]))
        shows = [stored["names"][i] for i in np.flatnonzero(stored["labels"][row])]
        assert set(shows) == set(record.boxes[0].classes) & set(stored["names"])
    third = next(islice(source.records(), 3, None))
    assert (third.name, third.data) == (source.record(3).name, source.record(3).data)


def test_a_file_of_other_scenes_or_of_none_says_how_to_make_it_again(
    stored, open_page, monkeypatch, tmp_path
):
    with np.load(FILE, allow_pickle=False) as arrays:
        kept = dict(arrays)
    np.savez_compressed(tmp_path / "other.npz", **{**kept, "scenes": kept["scenes"] + 1})
    np.savez_compressed(tmp_path / "less.npz", **{name: kept[name] for name in kept if name != "core"})
    for name in ("other", "less"):
        monkeypatch.setattr(taught_labels, "FILE", tmp_path / f"{name}.npz")
        app = open_page("labels_lesson")
        assert not app.exception
        assert "python data\\/labels\\_lesson\\.py" in app.error[0].value


# ------------------------------------------------------------------------------------------------------ the page


def test_it_needs_no_training_and_no_images_and_ranks_as_the_definition_says(
    stored, empty_home, started, open_page
):
    app = open_page("labels_lesson")
    assert not app.exception
    assert not app.error
    assert not started
    row = row_of()
    k, truth = int(stored["labels"][row].sum()), stored["labels"][row]
    _, members = best_value(stored, 0, row)
    right = sum(bool(truth[i]) for i in members)
    assert f"## {right} of the first {k} labels are right: precision {right / k:.3f}" in said(app)
    [chart] = specs(app)
    ticks = chart["layout"]["yaxis"]["ticktext"]
    top = {stored["names"].index(tick[2:]) for tick in ticks[:k]}
    assert top == members
    assert all(tick.startswith("✓" if truth[stored["names"].index(tick[2:])] else "✗") for tick in ticks)


def test_scenes_were_chosen_as_it_is_said(stored):
    rows = taught_labels.examples()
    one = taught_labels.taught()
    asked = []
    for row in rows[:CHOSEN]:
        found = np.abs(gaps(stored, 0, row))
        label = one.asker(OWN, row).ahead(one.told({}), depth=0).label
        assert found[label] == pytest.approx(np.nanmin(found))
        assert stored["labels"][row, label]
        asked.append(label)
    assert len(set(asked)) == CHOSEN
    assert rows[CHOSEN:] == [0, 1, 2]


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_an_answer_moves_the_others_as_the_definition_says_and_none_of_the_independent_model(
    stored, open_page, answer
):
    app = open_page("labels_lesson", labels_step="2", told_answer=answer)
    assert not app.exception
    row, text = row_of(), said(app)
    label = stored["names"].index("beach")
    answered = {"inside": (label,)} if answer == "yes" else {"outside": (label,)}
    crossings = []
    for model in (0, 1):
        # Labels that change sides together have equal scores, which the score of a label by itself orders.
        keys = [
            [
                (round(gap, 9), by_itself)
                for gap, by_itself in zip(found, stored["unary"][model][row], strict=True)
            ]
            for found in (gaps(stored, model, row), gaps(stored, model, row, **answered))
        ]
        others = [i for i in range(len(keys[0])) if i != label]
        crossings.append(
            sum((keys[0][i] > keys[0][j]) != (keys[1][i] > keys[1][j]) for i, j in combinations(others, 2))
        )
    assert f"Overtakings: {OWN} {crossings[0]}, {RIVAL} {crossings[1]}" in text
    assert crossings[0] > 10
    assert crossings[1] == 0
    own_after = best_value(stored, 0, row, **answered)[1]
    precision = np.mean([stored["labels"][row, i] for i in own_after])
    assert f"→ {precision:.3f}" in text
    truth = "so it is" if answer == "yes" else "which is not so"
    assert f"“beach”, {answer}: {truth}" in text


def test_not_asked_moves_nothing_and_another_label_takes_its_own_truth(stored, open_page):
    app = open_page("labels_lesson", labels_step="2", told_answer="not asked")
    assert "nothing moves before an answer. Answer, and see" in said(app)
    for spec in specs(app)[1:]:
        assert all(trace["y"][0] == trace["y"][1] for trace in map(decoded, spec["data"]))
    app.segmented_control(key="widget told_label").set_value("night").run()
    assert not app.exception
    assert "told_answer" not in app.query_params, "the answer was about the other label"
    truth = "yes" if stored["labels"][row_of(), stored["names"].index("night")] else "no"
    assert app.segmented_control(key="widget told_answer").value == truth


def decoded(trace):
    return {**trace, "y": trace["y"] if isinstance(trace["y"], list) else numbers(trace["y"])}


def numbers(packed):
    from test_label_interactions import numbers as unpacked

    return list(unpacked(packed))


def test_ties_are_the_interactions_of_the_label(stored):
    one = taught_labels.taught()
    beach, sea = (stored["names"].index(name) for name in ("beach", "sea"))
    core = stored["core"].tolist()
    assert dict(one.ties(beach)) == {c: stored["interactions"][n, beach] for n, c in enumerate(core)}
    of_sea = dict(one.ties(sea))
    assert len(of_sea) == len(stored["names"]) - 1
    assert of_sea[beach] == stored["interactions"][core.index(sea), beach]
    assert [weight for _, weight in one.ties(sea)] == sorted(of_sea.values(), reverse=True)


@pytest.mark.parametrize("done", [0, 2])
def test_the_asked_label_has_the_closest_maxima(stored, open_page, done):
    app = open_page("labels_lesson", labels_step="3", questions_answered=str(done))
    assert not app.exception
    row, text, names = row_of(), said(app), stored["names"]
    inside, outside = [], []
    for _ in range(done):
        label = int(np.nanargmin(np.round(np.abs(gaps(stored, 0, row, inside, outside)), 9)))
        (inside if stored["labels"][row, label] else outside).append(label)
    found = np.round(np.abs(gaps(stored, 0, row, inside, outside)), 9)
    asked = text[text.index("Why “") + 5 :].partition("”")[0]
    assert found[names.index(asked)] == np.nanmin(found)
    assert f"“{asked}” differs by only {np.nanmin(found):.4f}" in text
    assert f"the surest, by {np.nanmax(found):.4f}" in text
    label = names.index(asked)
    with_it = best_value(stored, 0, row, (*inside, label), outside)[1]
    without = best_value(stored, 0, row, inside, (*outside, label))[1]
    also, instead = (sorted(one - other - {label}) for one, other in ((with_it, without), (without, with_it)))
    brought = taught_words.quoted([names[i] for i in also]) if also else "nothing else"
    assert f"brings {brought} into the best" in text
    assert f"**out**, {taught_words.quoted([names[i] for i in instead])}." in text


def test_curves_begin_and_end_as_the_definition_says(stored, open_page):
    app = open_page("labels_lesson", labels_step="4")
    assert not app.exception
    found, text = taught_labels.curves(), said(app)
    for row in (0, 7):
        for model, name in enumerate((OWN, RIVAL)):
            members = best_value(stored, model, row)[1]
            assert found[name][0, row] == pytest.approx(np.mean([stored["labels"][row, i] for i in members]))
        asker = taught_labels.taught().asker(OWN, row)
        played = asker.play(taught_labels.taught().told({}), stored["labels"][row], 3)[1]
        assert found[OWN][:4, row] == pytest.approx(played)
    for name, values in found.items():
        assert values.shape == (QUESTIONS + 1, len(stored["scenes"]))
        assert f"| {name} | {100 * values[0].mean():.1f} |" in text
    assert (found[BY_CHANCE][0] == found[OWN][0]).all()
    assert found[BY_CHANCE][-1].mean() < found[OWN][-1].mean()
    apart = found[OWN][-1] - found[RIVAL][-1]
    assert f"{100 * apart.mean():+.1f} points" in text


def test_next_goes_through_all_steps_and_on_to_label_questions(open_page):
    app = open_page("labels_lesson", label_scene="B")
    for step in "234":
        app.button(key="next step").click().run()
        assert not app.exception
        assert app.query_params["labels_step"] == step
    assert app.query_params["label_scene"] == "B"
    [primary] = [button for button in app.button if button.proto.type == "primary"]
    assert primary.label == "Answer its questions yourself"
    primary.click().run()
    assert app.title[0].value == "Label questions"


def test_every_scene_and_the_end_of_all_questions_are_shown(open_page):
    for letter in "ABCDEF":
        app = open_page("labels_lesson", label_scene=letter, labels_step="3", questions_answered="10")
        assert not app.exception
        assert not app.error


def test_what_the_address_gets_wrong_is_said(open_page):
    app = open_page("labels_lesson", labels_step="9", label_scene="Z")
    assert not app.exception
    assert len(app.warning) == 2
    assert "expected one of A, B" in "".join(one.value for one in app.warning).replace("\\", "")


def test_nothing_is_left_where_answers_settle_all():
    one = taught_labels.taught()
    row = row_of()
    everything = one.told({i: bool(has) for i, has in enumerate(one.labels[row]) if has})
    assert not len(taught_labels.closest(one.asker(OWN, row), everything))


def test_it_stands_among_the_lessons_and_on_the_start_page(open_page):
    assert frame.SECTIONS["Lessons"]["labels_lesson"] == "Labels that ask"
    app = open_page("start")
    app.button(key="widget go to labels_lesson").click().run()
    assert not app.exception
    assert app.title[0].value == "Labels that ask"


def test_hostile_names_are_escaped_in_charts():
    assert taught_charts.marked("<b>x", True) == "✓ &lt;b&gt;x"


def test_every_step_is_handed_out_as_it_is_set(open_page):
    text = every_step(
        open_page("labels_lesson", labels_step="2", label_scene="B"), keys.LABELS_STEP, 4, pictures=3
    )
    assert "Scene: <b>B</b>" in text
    assert "Questions that the truth has answered: <b>0</b>" in text
