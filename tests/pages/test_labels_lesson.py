"""The lesson about labels: what it says follows from the stored scores by the papers' definitions, label by label."""

from __future__ import annotations

import base64
import json
import re
from itertools import combinations

import numpy as np
import pytest
from shown import (
    address,
    all_steps,
    charts_of,
    choose,
    components,
    numbers_in,
    page_of,
    press,
    program_of,
    texts,
    values,
)  # fmt: skip

from pages.parts.app import home
from pages.parts.runs import label_models
from pages.parts.runs.label_models import OWN as OWN_METHOD
from pages.parts.views import labels_lesson_data, labels_lesson_views
from pages.parts.views.labels_lesson_data import BASELINE, BY_CHANCE, CHOSEN, FILE, OWN, QUESTIONS
from ranking import method_class
from ranking.datasets import Thumbnails, load_image_set
from ranking.workspace.examples import folder_of

pytestmark = pytest.mark.usefixtures("empty_home", "started")


@pytest.fixture(scope="module")
def stored():
    """The file as it lies there."""
    with np.load(FILE, allow_pickle=False) as arrays:
        return {**arrays, **json.loads(str(arrays["told"]))}


def inference(model, row, answers):
    """The members of the best labelling of a scene given answers, and (L,) the gap of the maxima of every label."""
    taught = labels_lesson_data.taught()
    found = taught.labelling_model(model, row).prediction(taught.position(answers).answers[None])
    return set(np.flatnonzero(found.best.members[0]).tolist()), found.max_marginals.difference[0]


# ------------------------------------------------------------------------------------------------------ the file


def test_the_command_writes_what_the_methods_compute(tmp_path, monkeypatch):
    command = program_of("labels_lesson")
    monkeypatch.setattr(command, "default_names", lambda _: ["Colour"])
    made = command.measured(images=50, min_images=10, max_iterations=2)
    np.savez_compressed(tmp_path / "few.npz", **made)
    monkeypatch.setattr(labels_lesson_data, "FILE", tmp_path / "few.npz")
    taught = labels_lesson_data.taught()
    assert command.METHODS == (label_models.OWN, label_models.BASELINE)
    assert taught.learned + len(taught.scenes) == 50
    for row, scene in enumerate(taught.scenes[:3]):
        assert load_image_set(folder_of("Label scenes")).test[scene]
        assert labels_lesson_data.picture_of(taught, row), (
            "which is refused where it does not show its labels"
        )
    assert len(taught.predictions[OWN].core) == method_class(OWN_METHOD)().core_size


def test_the_stored_trainings_have_ended_and_are_what_the_lesson_is_made_of(stored):
    for method, proven in stored["certificates"].items():
        assert proven["converged"], method
        assert 0 <= proven["primal"] - proven["dual"] <= 0.02 * proven["primal"]
    assert stored["learnt"] + len(stored["scenes"]) == 400
    taught, count = labels_lesson_data.taught(), stored["labels"].sum(axis=1)
    for name, unary in zip((OWN, BASELINE), stored["unary"], strict=True):
        prediction = taught.predictions[name]
        assert np.array_equal(prediction.unary, unary)
        assert np.array_equal(prediction.k, count), "each scene is given as many labels as it has"
    assert not len(taught.predictions[BASELINE].core)
    assert np.array_equal(taught.predictions[OWN].core, stored["core"])
    assert np.array_equal(taught.predictions[OWN].interactions, stored["interactions"])


def test_scenes_are_those_that_ship():
    taught, images = labels_lesson_data.taught(), load_image_set(folder_of("Label scenes"))
    assert taught.scenes.tolist() == np.flatnonzero(images.test).tolist()
    for row in labels_lesson_data.examples():
        shown = base64.b64decode(labels_lesson_data.picture_of(taught, row).partition(",")[2])
        assert shown == Thumbnails(images.folder).image(int(taught.scenes[row]))


def test_a_file_of_other_scenes_or_of_none_names_the_command_that_makes_it_again(monkeypatch, tmp_path):
    with np.load(FILE, allow_pickle=False) as arrays:
        kept = dict(arrays)
    row = labels_lesson_data.examples()[0]
    np.savez_compressed(tmp_path / "other.npz", **{**kept, "scenes": kept["scenes"] + 1})
    np.savez_compressed(tmp_path / "less.npz", **{name: kept[name] for name in kept if name != "core"})
    for name in ("other", "less"):
        monkeypatch.setattr(labels_lesson_data, "FILE", tmp_path / f"{name}.npz")
        with pytest.raises(home.Gone) as caught:
            labels_lesson_data.picture_of(labels_lesson_data.taught(), row)
        assert labels_lesson_data.AGAIN in str(caught.value), name


def test_scenes_are_those_whose_first_answer_helps_much(stored):
    rows, taught = labels_lesson_data.examples(), labels_lesson_data.taught()
    asked = []
    for row in rows[:CHOSEN]:
        found = np.abs(inference(OWN, row, {})[1])
        label = taught.labelling_model(OWN, row).question_tree(taught.position({}), depth=0).label
        assert found[label] == pytest.approx(found.min())
        assert stored["labels"][row, label]
        asked.append(label)
    assert len(set(asked)) == CHOSEN
    assert rows[CHOSEN:] == [0, 1, 2]


# ------------------------------------------------------------------------------------------------------ the page


def headline_of(app):
    return next(text.value for text in app.markdown if text.value.startswith("## "))


def quoted_in(text):
    return re.findall("“(.*?)”", text)


def check_ranking(stored, app, row):
    names, truth = stored["names"], stored["labels"][row]
    members, _ = inference(OWN, row, {})
    right, k = int(truth[sorted(members)].sum()), int(truth.sum())
    assert numbers_in(headline_of(app)) == [right, k, round(right / k, 3)]
    [chart] = charts_of(app)
    ticks = chart["layout"]["yaxis"]["ticktext"]
    assert {names.index(tick[2:]) for tick in ticks[:k]} == members
    assert all(tick.startswith("✓" if truth[names.index(tick[2:])] else "✗") for tick in ticks)


def check_answer(stored, app, row, answer):
    """The others move as the definition says, and none of the independent model."""
    taught, crossings = labels_lesson_data.taught(), []
    label = taught.labelling_model(OWN, row).question_tree(taught.position({}), depth=0).label
    answers = {label: answer == "yes"}
    for model, by_itself in zip((OWN, BASELINE), stored["unary"][:, row], strict=True):
        # Labels that change sides together have equal scores, which the score of a label by itself orders.
        before, after = (
            list(zip(np.round(inference(model, row, given)[1], 9), by_itself, strict=True))
            for given in ({}, answers)
        )
        pairs = combinations([i for i in range(len(before)) if i != label], 2)
        crossings.append(sum((before[i] > before[j]) != (after[i] > after[j]) for i, j in pairs))
    assert numbers_in(headline_of(app)) == crossings, answer
    assert crossings[0] > 10 or answer == "no"
    assert crossings[1] == 0
    precision = stored["labels"][row, sorted(inference(OWN, row, answers)[0])].mean()
    assert f"→ {precision:.3f}" in texts(app), answer
    taught = labels_lesson_data.taught()
    labelling_model = taught.labelling_model(OWN, row)
    orders = [labels_lesson_data.ranked(labelling_model, taught.position(given)) for given in ({}, answers)]
    assert labels_lesson_views.notice_answer(taught, row, label, answers[label], *orders) in texts(app)
    others = [[i for i in order.tolist() if i != label] for order in orders]
    for partner, _ in labels_lesson_data.strongest(taught.ties(label), 2):
        moved = others[0].index(partner) - others[1].index(partner)
        way = f"moves {'up' if moved > 0 else 'down'} {abs(moved)}" if moved else "does not move"
        assert re.search(f"“{stored['names'][partner]}” [^“]*{way}", texts(app)), answer


def check_question(stored, app, row, done):
    """The label of the question has the closest maxima."""
    text, names, taught = texts(app), stored["names"], labels_lesson_data.taught()
    asked, _ = taught.labelling_model(OWN, row).play(taught.position({}), stored["labels"][row], done)
    answers = {label: bool(stored["labels"][row, label]) for label in asked}
    found = np.round(np.abs(inference(OWN, row, answers)[1]), 9)
    found[list(answers)] = np.nan
    [label] = [names.index(name) for name in quoted_in(headline_of(app))]
    assert found[label] == np.nanmin(found), done
    assert f"{np.nanmin(found):.4f}" in text
    shown = labels_lesson_views.with_and_without(
        taught, taught.labelling_model(OWN, row), taught.position(answers), label
    )
    assert shown in text
    brought, left_out = map(quoted_in, shown.split("; "))
    with_it, without = (inference(OWN, row, {**answers, label: has})[0] for has in (True, False))
    assert brought == [names[i] for i in [label, *sorted(with_it - without - {label})]]
    assert left_out == [names[i] for i in sorted(without - with_it)]


def check_worth(stored, app):
    found, text, taught = labels_lesson_data.curves(), texts(app), labels_lesson_data.taught()
    for row in (0, 7):
        for name in (OWN, BASELINE):
            truth = stored["labels"][row, sorted(inference(name, row, {})[0])]
            assert found[name][0, row] == pytest.approx(truth.mean())
        played = taught.labelling_model(OWN, row).play(taught.position({}), stored["labels"][row], 3)[1]
        assert found[OWN][:4, row] == pytest.approx(played)
    for name, precisions in found.items():
        assert precisions.shape == (QUESTIONS + 1, len(stored["scenes"]))
        assert f"| {name} | {100 * precisions[0].mean():.1f} |" in text
    assert (found[BY_CHANCE][0] == found[OWN][0]).all()
    assert found[BY_CHANCE][-1].mean() < found[OWN][-1].mean()
    assert f"{100 * (found[OWN][-1] - found[BASELINE][-1]).mean():+.1f} " in text
    for baseline in (BASELINE, BY_CHANCE):
        difference = found[OWN][QUESTIONS] - found[baseline][QUESTIONS]
        assert labels_lesson_views.interval(difference)[1] > 0, f"the lead over {baseline} is significant"
        assert labels_lesson_views.apart(difference) in text
        assert "not significant" not in labels_lesson_views.apart(difference)
    assert "not significant" in labels_lesson_views.apart(difference - difference.mean())


def test_every_step_shows_what_the_definition_says(stored, open_page, started):
    row = labels_lesson_data.examples()[0]
    app = open_page("labels_lesson", labels_step="9", label_scene="Z")
    assert not app.error
    assert len(app.warning) == 2
    assert not started, "it needs no training and no images"
    check_ranking(stored, app, row)

    press(app, "next step")
    check_answer(stored, app, row, "yes")
    choose(app.segmented_control, "told_answer", "no")
    check_answer(stored, app, row, "no")
    choose(app.segmented_control, "told_answer", "not asked")
    for chart in charts_of(app)[1:]:
        ends = [values(trace["y"]) for trace in chart["data"]]
        assert all(before == after for before, after, *_ in ends), "nothing moves before an answer"
    labels = app.selectbox(key="widget told_label")
    other = next(name for name in labels.options if name != labels.value)
    choose(app.selectbox, "told_label", other)
    assert "told_answer" not in app.query_params, "the answer was about the other label"
    truth = "yes" if stored["labels"][row, stored["names"].index(other)] else "no"
    assert app.segmented_control(key="widget told_answer").value == truth

    press(app, "next step")
    check_question(stored, app, row, 0)
    choose(app.slider, "questions_answered", 2)
    check_question(stored, app, row, 2)
    choose(app.segmented_control, "label_scene", "B")

    press(app, "next step")
    assert {"labels_step": "4", "label_scene": "B"}.items() <= address(app).items()
    check_worth(stored, app)
    [primary] = [button for button in app.button if button.proto.type == "primary"]
    assert primary.key == "widget go to label_questions"


def test_all_steps_on_one_page_show_one_scene(stored, open_page):
    app = open_page("labels_lesson", labels_step="2", label_scene="B")
    all_steps(app, page_of("labels_lesson").STEPS)
    pictures = components(app, "ranking_picture")
    assert len(pictures) == 3
    assert len({picture["src"] for picture in pictures}) == 1
    choose(app.segmented_control, "label_scene", "A")
    assert components(app, "ranking_picture")[2]["src"] != pictures[2]["src"]


def test_the_end_of_all_questions_is_shown_of_a_scene(open_page, monkeypatch):
    monkeypatch.setattr(labels_lesson_data, "QUESTIONS", 11)
    app = open_page("labels_lesson", label_scene="D", labels_step="3", questions_answered="11")
    assert not quoted_in(headline_of(app)), "there is no label left to ask about"


# --------------------------------------------------------------------------------------------------------- parts


def test_ties_are_the_interactions_of_the_label(stored):
    taught = labels_lesson_data.taught()
    beach, sea = (stored["names"].index(name) for name in ("beach", "sea"))
    core = stored["core"].tolist()
    assert dict(taught.ties(beach)) == {c: stored["interactions"][n, beach] for n, c in enumerate(core)}
    of_sea = dict(taught.ties(sea))
    assert len(of_sea) == len(stored["names"]) - 1
    assert of_sea[beach] == stored["interactions"][core.index(sea), beach]
    assert [weight for _, weight in taught.ties(sea)] == sorted(of_sea.values(), reverse=True)


def test_hostile_names_are_escaped_in_charts():
    assert labels_lesson_views.marked("<b>x", True) == "✓ &lt;b&gt;x"
