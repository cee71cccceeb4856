"""The lesson about label ranking: its statements follow from the scores of its runs.

Scores are compared label by label with the definitions of the papers.
"""

from __future__ import annotations

import base64
import re
from itertools import combinations

import numpy as np
import pytest
from homes import runs_of_labels_lesson
from shown import address, all_steps, charts_of, choose, components, numbers_in, page_of, press, texts, values

from pages.parts.labelling.label_models import OWN as OWN_METHOD
from pages.parts.lessons import labels_lesson_data, labels_lesson_views
from pages.parts.lessons.labels_lesson_data import BASELINE, BY_CHANCE, CHOSEN, OWN, QUESTIONS
from pages.parts.lessons.lesson_settings import LABELS_SET
from ranking import method_class
from ranking.datasets import Thumbnails, load_image_set
from ranking.storage.examples import folder_of, is_example

pytestmark = pytest.mark.usefixtures("started")


@pytest.fixture
def lesson(scenes_home):
    return labels_lesson_data.taught(*runs_of_labels_lesson(scenes_home))


@pytest.fixture
def curves(scenes_home):
    return labels_lesson_data.curves(*runs_of_labels_lesson(scenes_home))


def inference(lesson, model, row, answers):
    """The best labelling of a scene given answers, and (L,) the gap of the maxima of every label."""
    prediction = lesson.labelling_model(model, row).prediction(lesson.position(answers).answers[None])
    return set(np.flatnonzero(prediction.best.members[0]).tolist()), prediction.max_marginals.difference[0]


# ------------------------------------------------------------------------------------------------------ the runs


def test_the_lesson_has_the_scores_and_gaps_of_the_bundled_runs(scenes_home, lesson, curves):
    runs = runs_of_labels_lesson(scenes_home)
    assert all(is_example(run.folder) for run in runs)
    for name, run in zip((OWN, BASELINE), runs, strict=True):
        method, prediction = (
            method_class(run.settings["method"]).load(run.model_file),
            lesson.predictions[name],
        )
        assert run.result["certificate"]["converged"]
        assert np.array_equal(prediction.core, method.core)
        assert np.array_equal(prediction.interactions, method.weights.interactions)
        assert np.array_equal(prediction.k, lesson.labels.sum(axis=1)), (
            "each scene is given as many as it has"
        )
        assert curves[name][0].mean() == pytest.approx(run.result["test"]["BEP"])
        assert len(lesson.scenes) == run.result["test"]["images"]
        assert lesson.learned == run.result["train"]["images"]
    assert len(lesson.predictions[OWN].core) == method_class(OWN_METHOD)().core_size
    assert not len(lesson.predictions[BASELINE].core)
    assert lesson.gap == max(run.result["certificate"]["relative_gap"] for run in runs)


def test_scenes_have_the_labels_and_images_of_the_image_set(lesson, open_page):
    images = load_image_set(folder_of(LABELS_SET))
    assert lesson.scenes.tolist() == np.flatnonzero(images.test).tolist()
    for row, scene in enumerate(lesson.scenes):
        labels = {images.classes[label] for label in np.flatnonzero(images.labels[scene])}
        assert labels & set(lesson.names) == {lesson.names[i] for i in np.flatnonzero(lesson.labels[row])}
    app = open_page("labels_lesson", label_scene="B")
    shown = base64.b64decode(components(app, "ranking_picture")[0]["src"].partition(",")[2])
    assert shown == Thumbnails(images.folder).image(int(lesson.scenes[lesson.examples[1]]))


def test_scenes_are_those_whose_first_answer_moves_other_labels_most(lesson):
    changes = []
    for row in range(len(lesson.labels)):
        model, maxima = lesson.labelling_model(OWN, row), np.abs(inference(lesson, OWN, row, {})[1])
        label = model.question(lesson.position({})).label
        assert maxima[label] == pytest.approx(maxima.min())
        answer = bool(lesson.labels[row, label])
        before, after = (
            [i for i in labels_lesson_data.ranked(model, lesson.position(given)) if i != label]
            for given in ({}, {label: answer})
        )
        spare = lesson.labels[row].sum() - answer
        corrected = lesson.labels[row, after[:spare]].sum() - lesson.labels[row, before[:spare]].sum()
        swaps = sum(after.index(i) > after.index(j) for i, j in combinations(before, 2))
        changes.append((-corrected, -swaps, row, label))
    first = lesson.first_answers
    assert [-corrected for corrected, *_ in changes] == first.corrected.tolist()
    assert [-swaps for _, swaps, *_ in changes] == first.swaps.tolist()
    chosen = {}
    for *_, row, label in sorted(changes):
        chosen.setdefault(label, row)
    assert lesson.examples == [*list(chosen.values())[:CHOSEN], 0, 1, 2]


# ------------------------------------------------------------------------------------------------------ the page


def headline_of(app):
    return next(text.value for text in app.markdown if text.value.startswith("## "))


def quoted_in(text):
    return re.findall("“(.*?)”", text)


def check_ranking(lesson, app, row):
    names, truth = lesson.names, lesson.labels[row]
    members, _ = inference(lesson, OWN, row, {})
    right, k = int(truth[sorted(members)].sum()), int(truth.sum())
    assert numbers_in(headline_of(app)) == [right, k, round(right / k, 3)]
    [chart] = charts_of(app)
    ticks = chart["layout"]["yaxis"]["ticktext"]
    assert {names.index(tick[2:]) for tick in ticks[:k]} == members
    assert all(tick.startswith("✓" if truth[names.index(tick[2:])] else "✗") for tick in ticks)


def check_answer(lesson, app, row, answer):
    """The others move as the definition says, and none of the independent model."""
    crossings = []
    label = lesson.labelling_model(OWN, row).question(lesson.position({})).label
    answers = {label: answer == "yes"}
    for model, prediction in lesson.predictions.items():
        # Labels that change sides together have equal scores, which the score of a label by itself orders.
        before, after = (
            list(
                zip(np.round(inference(lesson, model, row, given)[1], 9), prediction.unary[row], strict=True)
            )
            for given in ({}, answers)
        )
        pairs = combinations([i for i in range(len(before)) if i != label], 2)
        crossings.append(sum((before[i] > before[j]) != (after[i] > after[j]) for i, j in pairs))
    assert numbers_in(headline_of(app)) == crossings, answer
    assert crossings[0] > 0
    assert crossings[1] == 0
    precision = lesson.labels[row, sorted(inference(lesson, OWN, row, answers)[0])].mean()
    assert f"→ {precision:.3f}" in texts(app), answer
    labelling_model = lesson.labelling_model(OWN, row)
    orders = [labels_lesson_data.ranked(labelling_model, lesson.position(given)) for given in ({}, answers)]
    assert labels_lesson_views.notice_answer(lesson, label, *orders) in texts(app)
    others = [[i for i in order.tolist() if i != label] for order in orders]
    for partner, _ in labels_lesson_data.strongest(lesson.ties(label), 2):
        moved = others[0].index(partner) - others[1].index(partner)
        way = f"{moved:+d}".replace("-", "−")
        assert re.search(rf"“{lesson.names[partner]}” \([^)]*\) {re.escape(way)}[,.]", texts(app)), answer


def check_question(lesson, app, row, done):
    """The label of the question has the closest maxima."""
    text, names = texts(app), lesson.names
    questions, _ = lesson.labelling_model(OWN, row).play(lesson.position({}), lesson.labels[row], done)
    answers = {label: bool(lesson.labels[row, label]) for label in questions}
    maxima = np.round(np.abs(inference(lesson, OWN, row, answers)[1]), 9)
    maxima[list(answers)] = np.nan
    [label] = [names.index(name) for name in quoted_in(headline_of(app))]
    assert maxima[label] == np.nanmin(maxima), done
    others = np.count_nonzero(maxima.round(4) == maxima[label].round(4)) - 1
    assert (f" and {others} other label" in headline_of(app)) == bool(others)
    assert f"{np.nanmin(maxima):.4f}" in text
    shown = labels_lesson_views.with_and_without(
        lesson, lesson.labelling_model(OWN, row), lesson.position(answers), label
    )
    assert shown in text
    entered, left_out = map(quoted_in, shown.split("; "))
    with_it, without = (inference(lesson, OWN, row, {**answers, label: has})[0] for has in (True, False))
    assert entered == [names[i] for i in [label, *sorted(with_it - without - {label})]]
    assert left_out == [names[i] for i in sorted(without - with_it)]


def check_worth(lesson, curves, app):
    text = texts(app)
    for row in (0, 7):
        for name in (OWN, BASELINE):
            truth = lesson.labels[row, sorted(inference(lesson, name, row, {})[0])]
            assert curves[name][0, row] == pytest.approx(truth.mean())
        played = lesson.labelling_model(OWN, row).play(lesson.position({}), lesson.labels[row], 3)[1]
        assert curves[OWN][:4, row] == pytest.approx(played)
    for name, precisions in curves.items():
        assert precisions.shape == (QUESTIONS + 1, len(lesson.scenes))
        assert f"| {name} | {100 * precisions[0].mean():.1f} |" in text
    assert (curves[BY_CHANCE][0] == curves[OWN][0]).all()
    assert curves[BY_CHANCE][-1].mean() < curves[OWN][-1].mean()
    assert f"{100 * (curves[OWN][-1] - curves[BASELINE][-1]).mean():+.1f} " in text
    for baseline in (BASELINE, BY_CHANCE):
        difference = curves[OWN][QUESTIONS] - curves[baseline][QUESTIONS]
        assert labels_lesson_views.interval(difference)[1] > 0, f"the lead over {baseline} is significant"
        assert labels_lesson_views.apart(difference) in text
        assert "not significant" not in labels_lesson_views.apart(difference)
    assert "not significant" in labels_lesson_views.apart(difference - difference.mean())


def test_every_step_shows_what_the_definition_says(lesson, curves, open_page, started):
    row = lesson.examples[0]
    app = open_page("labels_lesson", labels_step="9", label_scene="Z")
    assert not app.error
    assert len(app.warning) == 2
    assert not started, "its runs come with the program"
    check_ranking(lesson, app, row)

    press(app, "next step")
    question = lesson.labelling_model(OWN, row).question(lesson.position({})).label
    # the true one first
    answers = ("yes", "no") if lesson.labels[row, question] else ("no", "yes")
    check_answer(lesson, app, row, answers[0])
    choose(app.segmented_control, "told_answer", answers[1])
    check_answer(lesson, app, row, answers[1])
    choose(app.segmented_control, "told_answer", "not asked")
    for chart in charts_of(app)[1:]:
        ends = [values(trace["y"]) for trace in chart["data"]]
        assert all(before == after for before, after, *_ in ends), "nothing moves before an answer"
    labels = app.selectbox(key="widget told_label")
    other = next(name for name in labels.options if name != labels.value)
    choose(app.selectbox, "told_label", other)
    assert "told_answer" not in app.query_params, "the answer was about the other label"
    truth = "yes" if lesson.labels[row, lesson.names.index(other)] else "no"
    assert app.segmented_control(key="widget told_answer").value == truth

    press(app, "next step")
    check_question(lesson, app, row, 0)
    choose(app.slider, "questions_answered", 2)
    check_question(lesson, app, row, 2)
    choose(app.segmented_control, "label_scene", "B")

    press(app, "next step")
    assert {"labels_step": "4", "label_scene": "B"}.items() <= address(app).items()
    check_worth(lesson, curves, app)
    [primary] = [button for button in app.button if button.proto.type == "primary"]
    assert primary.key == "widget go to interactive_labelling"


def test_all_steps_on_one_page_show_one_scene(scenes_home, open_page):
    app = open_page("labels_lesson", labels_step="2", label_scene="B")
    all_steps(app, page_of("labels_lesson").STEPS)
    pictures = components(app, "ranking_picture")
    assert len(pictures) == 3
    assert len({picture["src"] for picture in pictures}) == 1
    choose(app.segmented_control, "label_scene", "A")
    assert components(app, "ranking_picture")[2]["src"] != pictures[2]["src"]


def test_the_end_of_all_questions_is_shown_of_a_scene(scenes_home, open_page, monkeypatch):
    monkeypatch.setattr(labels_lesson_data, "QUESTIONS", 11)
    app = open_page("labels_lesson", label_scene="D", labels_step="3", questions_answered="11")
    assert not quoted_in(headline_of(app)), "there is no label left to ask about"


# --------------------------------------------------------------------------------------------------------- parts


def test_ties_are_the_interactions_of_the_label(lesson):
    beach, sea = (lesson.names.index(name) for name in ("beach", "sea"))
    core = lesson.predictions[OWN].core.tolist()
    assert dict(lesson.ties(beach)) == {
        c: lesson.predictions[OWN].interactions[n, beach] for n, c in enumerate(core)
    }
    of_sea = dict(lesson.ties(sea))
    assert len(of_sea) == len(lesson.names) - 1
    assert of_sea[beach] == lesson.predictions[OWN].interactions[core.index(sea), beach]
    assert [weight for _, weight in lesson.ties(sea)] == sorted(of_sea.values(), reverse=True)


def test_hostile_names_are_escaped_in_charts():
    assert labels_lesson_views.marked("<b>x", True) == "✓ &lt;b&gt;x"
