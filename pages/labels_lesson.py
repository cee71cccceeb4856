"""The lesson about label ranking: labels of an image, the effect of an answer, the choice of a question."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import streamlit as st

from pages.parts.app import address, cache, controls, frame, keys
from pages.parts.charts import plots, simulation_charts
from pages.parts.components.picture import picture
from pages.parts.labelling import label_models, label_styles
from pages.parts.lessons import labels_lesson_data, labels_lesson_views, lesson_steps
from pages.parts.lessons.labels_lesson_data import BASELINE, BY_CHANCE, CHOSEN, OWN, QUESTIONS, LessonLabels
from pages.parts.lessons.lesson_settings import LABELS_SET, labels_run
from pages.parts.lessons.lesson_steps import Step
from ranking.core import Floats, Ints
from ranking.core.text import counted
from ranking.explain.labelling_model import Position
from ranking.metrics.fold_curves import FoldCurve
from ranking.reports.markup import data_url
from ranking.reports.prose import signed
from ranking.storage.run import Run

STEPS = ("1 · Ranked", "2 · Answer", "3 · Question", "4 · Summary")
# of charts: a projector shows a step whole
HEIGHT = 360
# labels whose maxima are shown
CLOSEST = 5
MAX_TIES = 4
ANSWERS = {"not asked": None, "yes": True, "no": False}


def steps() -> None:
    images = lesson_steps.bundled(LABELS_SET)
    for step in lesson_steps.each_step(STEPS, keys.LABELS_STEP):
        runs = trained(images.key)
        taught = labels_lesson_data.taught(*runs)
        if step.number == 4:
            step.headline.markdown("## How much does each answer help?")
            show_worth(taught, labels_lesson_data.curves(*runs))
        else:
            (show_ranked, show_answer, show_question)[step.number - 1](taught, read_scene(taught), step)


def trained(set_key: str) -> list[Run]:
    """Return the finished training runs of C-star and of the independent model."""
    methods = (label_models.OWN, label_models.BASELINE)
    runs = {method: lesson_steps.run_of(labels_run(set_key, method)) for method in methods}
    return list(lesson_steps.finished(runs).values())


# ---------------------------------------------------------------------------------------------------------
# The scene
# ---------------------------------------------------------------------------------------------------------


def letters(taught: LessonLabels) -> dict[str, int]:
    """Return the rows of the lesson's scenes by their letters."""
    return {chr(ord("A") + place): row for place, row in enumerate(taught.examples)}


def read_scene(taught: LessonLabels) -> int:
    known = letters(taught)
    return known[address.read(keys.SCENE, address.one_of(list(known)), "A")]


def choose_scene(taught: LessonLabels, step: int) -> None:
    """Show the control that chooses the scene."""
    # Where all steps are on one page, only the first step has it.
    if step > 1 and lesson_steps.on_one_page():
        return
    known = list(letters(taught))
    controls.segments(
        "Scene",
        keys.SCENE,
        known,
        known[0],
        help=f"{known[0]} to {known[CHOSEN - 1]} were chosen because the first answer moves other labels most there; "
        "the others are the first scenes of the test split.",
    )


def show_scene(taught: LessonLabels, row: int, step: int) -> None:
    shows = ", ".join(taught.names[label] for label in np.flatnonzero(taught.labels[row]))
    thumbnail = cache.thumbnails(taught.set).image(int(taught.scenes[row]))
    picture(
        data_url(thumbnail),
        labels_lesson_data.SIZE,
        [],
        alt=f"A generated scene that shows {shows}",
        key=keys.widget(f"generated scene {step}"),
    )


# ---------------------------------------------------------------------------------------------------------
# 1: ranked labels
# ---------------------------------------------------------------------------------------------------------


def show_ranked(taught: LessonLabels, row: int, step: Step) -> None:
    k = int(taught.labels[row].sum())
    labelling_model, nothing = taught.labelling_model(OWN, row), taught.position({})
    scores = labelling_model.scores(nothing)
    order = labels_lesson_data.ranked(labelling_model, nothing)
    right = int(taught.labels[row][order[:k]].sum())
    step.headline.markdown(f"## {right} of the top {k} labels are correct: precision {right / k:.3f}")
    left, wide = st.columns([1, 2], gap="large")
    with left:
        choose_scene(taught, 1)
        show_scene(taught, row, 1)
    with wide:
        figure = labels_lesson_views.ranked(taught.names, order, scores, taught.labels[row], k)
        alt = labels_lesson_views.listed(taught, row, order, k)
        plots.show(figure, keys.widget("ranked labels"), alt, "ranked-labels", height=HEIGHT + 60, top=8)
    st.caption(
        rf"{OWN} chooses the {k} of {len(taught.names)} labels that are best *together*: $\max_t\,t^\top s+t^\top Ft$ "
        f"($s$: pixels, $F$: interactions). **Notice** the hatched bars above the line: {k - right} of {k}.",
    )


# ---------------------------------------------------------------------------------------------------------
# 2: one answer
# ---------------------------------------------------------------------------------------------------------


def show_answer(taught: LessonLabels, row: int, step: Step) -> None:
    with st.container(horizontal=True, gap="large"):
        choose_scene(taught, 2)
        label, answer = choose_answer(taught, row)
    left, middle, right = st.columns([3, 5, 5], gap="medium")
    with left:
        show_scene(taught, row, 2)
        show_ties(taught, label)
    moved, own = {}, orders(taught, row, OWN, label, answer)
    for column, model in ((middle, OWN), (right, BASELINE)):
        with column:
            moved[model] = show_moves(taught, row, model, label, answer)
    name, notice = taught.names[label], labels_lesson_views.notice_answer(taught, label, *own)
    if answer is None:
        step.headline.markdown(f"## Is there “{name}”? Answer, and see which labels move")
    else:
        counts = ", ".join(f"{model} {count}" for model, count in moved.items())
        step.headline.markdown(f"## “{name}”: {'yes' if answer else 'no'}. Swapped pairs: {counts}")
    st.caption(f"{notice} {labels_lesson_views.usual_answers(taught)}")


def choose_answer(taught: LessonLabels, row: int) -> tuple[int, bool | None]:
    """Return the answered label, by default C-star's first question, and its answer."""
    # By default the answer is the ground truth.
    question = taught.labelling_model(OWN, row).question(taught.position({})).label
    offered = [
        taught.names[label] for label in dict.fromkeys([question, *taught.predictions[OWN].core.tolist()])
    ]
    help = f"“{offered[0]}” is the label that {OWN} asks about; the others are its core labels."
    name = controls.select("The image shows", keys.ANSWERED_LABEL, offered, offered[0], help=help)
    label = taught.names.index(name)
    truth = "yes" if taught.labels[row, label] else "no"
    answer = controls.segments("Answer", keys.ANSWER, list(ANSWERS), truth, help=f"Ground truth: {truth}.")
    return label, ANSWERS[answer]


def show_moves(taught: LessonLabels, row: int, model: str, label: int, answer: bool | None) -> int:
    """Show a model's ranking before and after the answer; return how many pairs of other labels swap."""
    labelling_model, positions = taught.labelling_model(model, row), positions_of(taught, label, answer)
    before, after = orders(taught, row, model, label, answer)
    precision = [
        labelling_model.precision(taught.labels[row], labelling_model.scores(at), at) for at in positions
    ]
    text = f"### {model}: precision {precision[0]:.3f} → {precision[1]:.3f}"
    st.markdown(
        text, help="All labels, from the top. The ends of a line are filled if the image shows the label."
    )
    k = int(taught.labels[row].sum())
    partners = [partner for partner, _ in labels_lesson_views.partners_of(taught, label)]
    figure = labels_lesson_views.moves(taught.names, before, after, label, taught.labels[row], k, partners)
    alt = f"{model}: {labels_lesson_views.moved(taught, before, after, label, k)}"
    plots.show(figure, keys.widget(f"moves of {model}"), alt, f"moves-{model}", height=HEIGHT - 50, top=22)
    return labels_lesson_data.overtakings(before, after, label)


def positions_of(taught: LessonLabels, label: int, answer: bool | None) -> tuple[Position, Position]:
    """Return the positions before and after an answer."""
    return taught.position({}), taught.position({} if answer is None else {label: answer})


def orders(taught: LessonLabels, row: int, model: str, label: int, answer: bool | None) -> tuple[Ints, Ints]:
    """Return the labels from the top, before and after an answer, (L,) each."""
    labelling_model, (before, after) = taught.labelling_model(model, row), positions_of(taught, label, answer)
    return labels_lesson_data.ranked(labelling_model, before), labels_lesson_data.ranked(
        labelling_model, after
    )


def show_ties(taught: LessonLabels, label: int) -> None:
    interactions = labels_lesson_data.strongest(taught.ties(label), MAX_TIES)
    st.markdown(f"**$F$ of “{taught.names[label]}”**")
    text = ", ".join(f"{taught.names[partner]} {signed(weight)}" for partner, weight in interactions)
    alt = f"Interactions of {taught.names[label]}: {text}"
    figure = labels_lesson_views.ties(taught.names, interactions)
    plots.show(figure, keys.widget("ties"), alt, "ties", height=16 + 24 * len(interactions), top=4)


# ---------------------------------------------------------------------------------------------------------
# 3: which question
# ---------------------------------------------------------------------------------------------------------


def show_question(taught: LessonLabels, row: int, step: Step) -> None:
    labelling_model, truth = taught.labelling_model(OWN, row), taught.labels[row]
    left, wide = st.columns([1, 2], gap="large")
    with left:
        choose_scene(taught, 3)
        show_scene(taught, row, 3)
    with wide:
        done = controls.slider("Answered questions", keys.ANSWERED, 0, QUESTIONS, 0)
    questions, precisions = labelling_model.play(taught.position({}), truth, done)
    position = taught.position({label: bool(truth[label]) for label in questions})
    marginals = labelling_model.prediction(position.answers[None]).max_marginals
    inside, outside = marginals.inside[0], marginals.outside[0]
    open_ = labels_lesson_data.closest(labelling_model, position)
    with left:
        st.markdown(
            f"**Precision {precisions[-1]:.3f}**{labels_lesson_views.answered(taught, row, questions)}"
        )
    if not len(open_):
        step.headline.markdown("## No question is left: the answers determine every label")
        st.caption("As many labels are answered with yes as the image has, so that it shows no other label.")
        return
    label = int(open_[0])
    # as printed: the label that replaces another one in the best k has the same difference
    lengths = np.abs(inside - outside)[open_].round(4)
    others = np.count_nonzero(lengths == lengths[0]) - 1
    tied = f" and {counted(others, 'other label')}" if others else ""
    step.headline.markdown(f"## Why ask about “{taught.names[label]}”? The model is least sure of it{tied}")
    with wide:
        shown = open_[:CLOSEST].tolist()
        figure = labels_lesson_views.maxima(taught.names, shown, inside, outside)
        alt = labels_lesson_views.maxima_alt(taught, shown, inside, outside)
        plots.show(figure, keys.widget("two maxima"), alt, "two-maxima", height=HEIGHT - 80, top=8)
        st.markdown(labels_lesson_views.with_and_without(taught, labelling_model, position, label))
    st.caption(labels_lesson_views.notice_question(taught, shown, inside, outside))


# ---------------------------------------------------------------------------------------------------------
# 4: summary
# ---------------------------------------------------------------------------------------------------------


def show_worth(taught: LessonLabels, curves: Mapping[str, Floats]) -> None:
    methods = (label_models.OWN, label_models.BASELINE, BY_CHANCE)
    styles = label_styles.of_models(dict(zip(curves, methods, strict=True)))
    lines = [FoldCurve(name, "", values.mean(axis=1)[None]) for name, values in curves.items()]
    figure = simulation_charts.panel(lines, list(curves), styles, simulation_charts.reach_of(lines))
    wide, narrow = st.columns([3, 2], gap="large", vertical_alignment="center")
    with wide:
        alt = f"Precision by the number of questions. {labels_lesson_views.from_to(curves)}"
        plots.show(figure, keys.widget("worth"), alt, "worth-of-questions", height=HEIGHT + 70, top=8)
    with narrow:
        both = {name: curves[name] for name in (OWN, BASELINE)}
        st.markdown(f"### With {QUESTIONS} answers: {labels_lesson_views.from_to(both)}")
        st.markdown(labels_lesson_views.table(curves))
    st.caption(labels_lesson_views.notice_worth(curves))
    with st.container(horizontal=True):
        frame.next_step("Answer its questions yourself", "interactive_labelling")
        frame.next_step("Simulate", "labelling_simulation", obvious=False)
    st.caption(labels_lesson_views.measured_on(taught))


frame.show_page("labels_lesson", "One answer moves other labels.", steps)
