"""The lesson about labels: a picture whose labels are ranked, an answer that moves them, and why it was asked for."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.parts import (
    address,
    asking_charts,
    charts,
    frame,
    keys,
    label_looks,
    label_models,
    lessons,
    taught_charts,
    taught_labels,
    taught_words,
)
from pages.parts.colours import IRRELEVANT_GLYPH, RELEVANT_GLYPH
from pages.parts.picture import picture
from pages.parts.taught_labels import BY_CHANCE, CHOSEN, OWN, QUESTIONS, RIVAL, Taught
from ranking.datasets.action_figures.paint import SIZE
from ranking.fold_curves import FoldCurve

STEPS = ("1 · Ranked labels", "2 · One answer", "3 · Which question", "4 · Understood")
HEIGHT = 470  # of charts with a row a label
CLOSEST = 10  # labels whose maxima are shown
MOST_TIES = 6
NOT_ASKED, SAID_YES, SAID_NO = "not asked", "yes", "no"


def steps() -> None:
    left, right = st.columns([5, 4], vertical_alignment="center")
    with right:
        chosen = lessons.choose_step(STEPS, keys.LABELS_STEP)
    one = taught_labels.taught()
    with left:
        headline = st.container()
    if chosen == 4:
        headline.markdown("## What is a question worth?")
        show_worth(one)
    else:
        row = read_scene()
        [show_ranked, show_answer, show_question][chosen - 1](one, row, headline)
    lessons.offer_next(chosen, STEPS, keys.LABELS_STEP)


# ---------------------------------------------------------------------------------------------------------
# The scene
# ---------------------------------------------------------------------------------------------------------


def letters() -> dict[str, int]:
    """The rows of the scenes of the lesson by the letters that stand for them."""
    return {chr(ord("A") + place): row for place, row in enumerate(taught_labels.examples())}


def read_scene() -> int:
    known = letters()
    return known[address.read(keys.SCENE, address.one_of(list(known)), "A")]


def show_scene(one: Taught, row: int) -> None:
    """The picture, and the choice among those of the lesson."""
    shows = ", ".join(one.names[label] for label in np.flatnonzero(one.labels[row]))
    source = taught_labels.picture_of(one, row)
    picture(source, SIZE, [], alt=f"A drawn scene that shows {shows}", key=keys.widget("drawn scene"))
    known = list(letters())
    st.segmented_control(
        "Scene",
        known,
        required=True,
        help=f"{known[0]} to {known[CHOSEN - 1]} were chosen because an answer helps much there; the others are the "
        "first test scenes as they come.",
        **address.bound(keys.SCENE, address.one_of(known), known[0]),
    )


# ---------------------------------------------------------------------------------------------------------
# 1: ranked labels
# ---------------------------------------------------------------------------------------------------------


def show_ranked(one: Taught, row: int, headline: st.delta_generator.DeltaGenerator) -> None:
    k, count = int(one.labels[row].sum()), len(one.names)
    headline.markdown(f"## {count} labels, best first: what does this picture show?")
    asker, nothing = one.asker(OWN, row), one.told({})
    scores = asker.scores(nothing)
    order = asker.order(scores, nothing)
    right = int(one.labels[row][order[:k]].sum())
    left, wide = st.columns([2, 3], gap="large")
    with left:
        show_scene(one, row)
        st.metric(
            f"Right among the first {k}", f"{right} of {k}", f"precision {right / k:.3f}", delta_color="off"
        )
    with wide:
        figure = taught_charts.ranked(one.names, order, scores, one.labels[row], k)
        alt = taught_words.listed(one, row, order, k)
        charts.show(figure, keys.widget("ranked labels"), alt, "ranked-labels", height=HEIGHT + 30, top=8)
    st.caption(
        rf"{OWN} chooses the {k} labels that are best *together*: $\max_t\,t^\top s+t^\top Ft$. $s$ is what the pixels "
        "say of each label, $F$ which labels go with which; how many labels there are, it is told. **Notice** "
        f"{taught_words.first_mistakes(one, row, order, k)}"
    )


# ---------------------------------------------------------------------------------------------------------
# 2: one answer
# ---------------------------------------------------------------------------------------------------------


def show_answer(one: Taught, row: int, headline: st.delta_generator.DeltaGenerator) -> None:
    left, middle, right = st.columns([4, 5, 5], gap="medium")
    with left:
        show_scene(one, row)
        label, said = choose_answer(one, row)
    name = one.names[label]
    if said is None:
        headline.markdown(f"## Is there “{name}”? Give an answer, and look who moves")
    told = {}
    for column, model in ((middle, OWN), (right, RIVAL)):
        with column:
            told[model] = show_moves(one, row, model, label, said)
    if said is not None:
        headline.markdown(
            f"## “{name}”: {SAID_YES if said else SAID_NO}. Others overtake each other {told[OWN]:,} times with {OWN}, "
            f"{told[RIVAL]:,} with {RIVAL}"
        )
    with left:
        show_ties(one, label)
    st.caption(taught_words.notice_answer(one, row, label, said))


def choose_answer(one: Taught, row: int) -> tuple[int, bool | None]:
    """The label that is answered, at first what C-star asks, and how, at first by the truth."""
    asked = one.asker(OWN, row).ahead(one.told({}), depth=0).label
    offered = [one.names[label] for label in dict.fromkeys([asked, *one.predictions[OWN].core.tolist()])]
    bound = address.bound(keys.TOLD_LABEL, address.one_of(offered), offered[0])
    name = st.segmented_control(
        "The picture shows",
        offered,
        required=True,
        help=f"“{offered[0]}” is what {OWN} asks here; the others are its core.",
        **bound,
    )
    label = one.names.index(str(name))
    answers = {NOT_ASKED: None, SAID_YES: True, SAID_NO: False}
    truth = SAID_YES if one.labels[row, label] else SAID_NO
    bound = address.bound(keys.TOLD, address.one_of(list(answers)), truth)
    said = st.segmented_control(
        "Answer",
        list(answers),
        required=True,
        help=f"The truth: {truth}.",
        label_visibility="collapsed",
        **bound,
    )
    return label, answers[str(said)]


def show_moves(one: Taught, row: int, model: str, label: int, said: bool | None) -> int:
    """A model's ranking before and after the answer; returns how often others overtake each other."""
    asker, nothing = one.asker(model, row), one.told({})
    position = nothing if said is None else one.told({label: said})
    before, after = (asker.order(asker.scores(at), at) for at in (nothing, position))
    precision = [asker.precision(one.labels[row], asker.scores(at), at) for at in (nothing, position)]
    st.markdown(f"### {model}: precision {precision[0]:.3f} → {precision[1]:.3f}")
    k = int(one.labels[row].sum())
    figure = taught_charts.moves(one.names, before, after, label, one.labels[row], k)
    overtaken = taught_labels.overtakings(before, after, label)
    alt = f"{model}: {taught_words.moved(one, before, after, label, k)}"
    charts.show(figure, keys.widget(f"moves of {model}"), alt, f"moves-{model}", height=HEIGHT + 40, top=26)
    return overtaken


def show_ties(one: Taught, label: int) -> None:
    found = taught_labels.strongest(one.ties(label), MOST_TIES)
    st.markdown(f"**“{one.names[label]}” draws in and pushes out**: its $F$")
    said = ", ".join(f"{one.names[other]} {weight:+.3f}" for other, weight in found)
    alt = f"Interactions of {one.names[label]}: {said}"
    figure = taught_charts.ties(one.names, found)
    charts.show(figure, keys.widget("ties"), alt, "ties", height=50 + 24 * len(found), top=4)


# ---------------------------------------------------------------------------------------------------------
# 3: which question
# ---------------------------------------------------------------------------------------------------------


def show_question(one: Taught, row: int, headline: st.delta_generator.DeltaGenerator) -> None:
    asker, truth = one.asker(OWN, row), one.labels[row]
    left, wide = st.columns([2, 3], gap="large")
    with left:
        show_scene(one, row)
        bound = address.bound(keys.ASKED, address.number(int, 0, QUESTIONS), 0)
        done = int(st.slider("Questions that the truth has answered", 0, QUESTIONS, **bound))
    asked, precisions = asker.play(one.told({}), truth, done)
    position = one.told({label: bool(truth[label]) for label in asked})
    found = asker.given(position.answers[None]).max_marginals
    inside, outside = found.inside[0], found.outside[0]
    open_ = taught_labels.closest(asker, position)
    with left:
        listed = ", ".join(
            f"{one.names[label]} {RELEVANT_GLYPH if truth[label] else IRRELEVANT_GLYPH}" for label in asked
        )
        st.markdown(f"**Precision {precisions[-1]:.3f}**" + (f" · answered: {listed}" if asked else ""))
    if not len(open_):
        headline.markdown("## Nothing is left to ask: the answers settle every label")
        st.caption("As many labels were answered with yes as the picture has: no other can be among them.")
        return
    label = int(open_[0])
    headline.markdown(f"## Why ask for “{one.names[label]}”? There the two best answers are closest")
    with wide:
        shown = [int(other) for other in open_[:CLOSEST]]
        figure = taught_charts.maxima(one.names, shown, inside, outside)
        alt = "; ".join(
            f"{one.names[other]}: {inside[other]:.4f} with it, {outside[other]:.4f} without"
            for other in shown
        )
        charts.show(figure, keys.widget("two maxima"), alt, "two-maxima", height=HEIGHT - 40, top=8)
        st.markdown(taught_words.with_and_without(one, asker, position, label))
    st.caption(taught_words.notice_question(one, label, int(open_[-1]), inside, outside))


# ---------------------------------------------------------------------------------------------------------
# 4: understood
# ---------------------------------------------------------------------------------------------------------


def show_worth(one: Taught) -> None:
    found = taught_labels.curves()
    looks = label_looks.of_models([label_models.OWN, label_models.RIVAL, BY_CHANCE])
    looks = dict(zip(found, looks.values(), strict=True))
    lines = [FoldCurve(name, "", values.mean(axis=1)[None]) for name, values in found.items()]
    figure = asking_charts.panel(lines, list(found), looks, asking_charts.reach_of(lines))
    wide, narrow = st.columns([3, 2], gap="large", vertical_alignment="center")
    with wide:
        alt = f"Precision by the number of questions. {taught_words.from_to(found)}"
        charts.show(figure, keys.widget("worth"), alt, "worth-of-questions", height=430, top=8)
    with narrow:
        st.markdown(f"### {taught_words.summed_up(found)}")
        st.markdown(taught_words.table(found))
    st.caption(taught_words.notice_worth(one, found))
    with st.container(horizontal=True):
        frame.next_step("Answer its questions yourself", "label_questions")
        frame.next_step("Simulate other ways to ask", "ask_simulation", obvious=False)


frame.show_page(
    "labels_lesson", "One question, well chosen, and a whole ranking of labels moves with its answer.", steps
)
