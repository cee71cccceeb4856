"""A question about a label of an image: its buttons and keys, its answers, and the rankings below it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from secrets import token_hex

import numpy as np
import streamlit as st

from pages.parts.app import address, frame, home, keys
from pages.parts.app.frame import escaped
from pages.parts.labelling import label_ranking
from pages.parts.labelling.labelling_session import LabellingSession
from ranking.core.errors import HomeError
from ranking.core.text import counted
from ranking.explain.labelling_model import Question
from ranking.explain.question_strategies import STRATEGIES
from ranking.storage.answers import AnswerEvent, AnswerKind, ImageAnswers, fold

MAX_K = 100
# The key and the text of the button of each answer.
BUTTONS: dict[AnswerKind, tuple[str, str]] = {
    "yes": ("1", "✓ yes"),
    "no": ("0", "✗ no"),
    "skip": ("S", "skip"),
    "undo": ("U", "undo"),
}


def most_k(names: Sequence[str]) -> int:
    """Return the greatest number of labels to predict."""
    return min(MAX_K, len(names))


@st.fragment
def ask(own: LabellingSession, baseline: LabellingSession | None, beside: str, truth: bool) -> None:
    """Show the question and the rankings."""
    # An answer runs only this again, which takes some 50 ms.
    with frame.errors_in_place():
        if error := st.session_state.pop(keys.ANSWER_ERROR, None):
            # about the last answer; its question is asked again below
            raise error
    with frame.errors_in_place():
        answers = fold(home.store().answers.events(own.run.settings["set"], own.id))
        question = own.labelling_model.question(own.position(answers))
        with st.container(border=True, key="question", gap="small"):
            show_question(own, question, answers)
        show_rankings(own, baseline, beside, truth, answers, question.label)
        if beside == "own" and baseline is not None and baseline.truth is None:
            st.caption("This image has no ground truth, so the baseline uses your answers.")


def show_question(own: LabellingSession, question: Question, answers: ImageAnswers) -> None:
    """Show the question and its buttons."""
    if question.label < 0:
        st.markdown("Every label is answered or skipped.")
    else:
        st.subheader(f"Does it show **{escaped(own.names[question.label])}**?", anchor=False)
        explain_question(own, question, answers)
    given = [event.label for event in answers.standing if event.label in own.names]
    event = next_event(own, question, answers)
    with st.container(horizontal=True, vertical_alignment="center"):
        for kind, (key, text) in BUTTONS.items():
            label = (given or [""])[-1] if kind == "undo" else event.label
            st.button(
                text,
                # The key names the question, so that a late press for an earlier question does not answer this one.
                key=keys.widget(f"{kind} {own.id} {event.label} {event.counted}"),
                type="primary" if kind in ("yes", "no") else "secondary",
                shortcut=key,
                disabled=not label,
                on_click=answer,
                args=(replace(event, kind=kind, label=label),),
            )
        if given:
            st.caption(
                f"{counted(len(set(given)), 'question')} answered or skipped, all saved", width="content"
            )


def next_event(own: LabellingSession, question: Question, answers: ImageAnswers) -> AnswerEvent:
    """Return the answer to a question, without its kind and time."""
    # Each browser tab numbers its answers from 1.
    inside, outside = (value if np.isfinite(value) else None for value in (question.inside, question.outside))
    return AnswerEvent(
        session=st.session_state.setdefault(keys.ANSWERING, token_hex(16)),
        number=st.session_state.get(keys.ANSWERS_GIVEN, 0) + 1,
        set=own.run.settings["set"],
        image=own.id,
        label=own.names[question.label] if question.label >= 0 else "",
        kind="skip",
        run=own.run.id,
        strategy=own.strategy,
        inside=inside,
        outside=outside,
        counted=answers.events,
        time=0.0,
    )


def answer(event: AnswerEvent) -> None:
    """Save an answer, before the page shows that it is saved."""
    # A second press for the same question is ignored.
    if event.number <= st.session_state.get(keys.ANSWERS_GIVEN, 0):
        return
    try:
        home.store().answers.append([replace(event, time=time.time())])
    except (HomeError, home.Gone) as error:
        st.session_state[keys.ANSWER_ERROR] = error
    else:
        st.session_state[keys.ANSWERS_GIVEN] = event.number


def explain_question(own: LabellingSession, question: Question, answers: ImageAnswers) -> None:
    """Show why the question is asked and its two maxima, or that the top k is full."""
    taken = sum(answers.answers.values())
    if taken < own.k:
        st.markdown(f"{STRATEGIES[own.strategy].why}  \n{maxima(own.k, question)}")
        return
    st.markdown(
        f"The top k is full: you answered yes for {counted(taken, 'label')}, so the ranking no longer changes."
    )
    if taken < most_k(own.names) and frame.pressed(f"Raise k to {taken + 1}", keys.widget("raise k")):
        address.put(**{keys.LABEL_K: str(taken + 1)})
        # the whole page, because the models depend on k
        st.rerun()


def maxima(k: int, question: Question) -> str:
    """Return the two maxima in words.

    >>> maxima(3, Question(0, 0.5004, 0.5))
    'best 3 with it **0.500**, without it **0.500**: less than 0.001 apart'
    """
    inside, outside = (f"{value:.3f}" for value in (question.inside, question.outside))
    # As one subtracts what is shown, unless that is equal.
    apart = abs(float(inside) - float(outside)) or abs(question.inside - question.outside)
    shown = "less than 0.001" if 0.0 < apart < 0.001 else f"{apart:.3f}"
    return f"best {k} with it **{inside}**, without it **{outside}**: {shown} apart"


def show_rankings(
    own: LabellingSession,
    baseline: LabellingSession | None,
    beside: str,
    truth: bool,
    answers: ImageAnswers,
    asked: int,
) -> None:
    """Show the ranking of the model, and that of the baseline beside it."""
    before = fold(answers.standing[:-1])
    rankings = [own.ranking(own.position(answers), own.position(before), "with your answers")]
    if baseline is not None and beside == "own" and baseline.truth is not None:
        rankings.append(baseline.ranking_of_its_own_questions(len(answers.answers)))
    elif baseline is not None:
        at, was = (baseline.position(given) for given in (answers, before))
        rankings.append(baseline.ranking(at, was, "with your answers too"))
    everything = st.session_state.get(keys.widget("all labels"), False)
    label_ranking.show(rankings, own.names, asked, own.truth if truth else None, everything)
    st.toggle(f"All {len(own.names)} labels", key=keys.widget("all labels"))
