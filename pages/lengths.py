"""Lengths: what the length of subsequences, and the other choices of MidRank, are worth on one's own images."""

from __future__ import annotations

import streamlit as st

from pages.parts.app import address, cache, figures_file, frame, keys
from pages.parts.app.frame import escaped
from pages.parts.runs import jobs_panel, order_models, run_actions, run_choice, runs
from pages.parts.studies import study_charts, study_form
from pages.parts.studies.study_words import TAU, WORDS
from pages.parts.views import charts
from ranking.core.run_settings import StudySettings
from ranking.experiments.order_studies import AGREES, FIGURES, ROUNDS, SECONDS
from ranking.experiments.order_training import make_drawing
from ranking.metrics.study_curves import Outcome
from ranking.workspace.run import ENDED, Run
from ranking.workspace.store import ImageSetRow


def steps() -> None:
    asked = run_choice.asked(keys.STUDY_RUN, study_run, study_form.given)
    left, right = st.columns(2, gap="medium")
    with left:
        row = order_models.choose_set()
        criterion = order_models.choose_criterion(row)
    run_actions.say_deleted("midrank")
    study = choose_study()
    with right:
        run = choose_run(row, criterion, study, asked)
    if run is not None:
        address.imply(study_form.given(run))  # also of the newest, which the address did not name yet
    view, task = st.container(), st.container()
    with task, st.expander("Measure it again", icon=":material/science:", expanded=run is None):
        study_form.show(row, criterion, study)
    run_actions.bring_back("midrank")
    with view:
        st.markdown(f"## {WORDS[study].question}")
        if run is None:
            invite(study)
        elif run.state in ENDED:
            show_ended(run, row, study)
            run_actions.manage(run)
        else:
            jobs_panel.watch(run)


def study_run(run_id: str) -> Run:
    """The study of that id; ValueError where it is none."""
    run = run_choice.of_task(run_id, "midrank")
    if run.settings.get("study") not in FIGURES:
        raise ValueError(f"no study is called {run.settings.get('study')!r:.40}")
    return run


def choose_study() -> str:
    names = list(FIGURES)
    bound = address.bound(keys.STUDY, address.one_of(names), names[0])

    def told(name: str) -> str:
        return f"{name.capitalize()} · Fig. {FIGURES[name].figure}"

    return str(st.segmented_control("What is varied", names, format_func=told, required=True, **bound))


def choose_run(row: ImageSetRow, criterion: str, study: str, asked: Run | None) -> Run | None:
    """A study on a set: the one that was asked for, or the newest that goes on or has an outcome; None where there is
    none."""
    listed = [
        run
        for run in cache.store().runs(set_key=row.key, task="midrank")
        if (run.settings["criterion"], run.settings["study"]) == (criterion, study)
    ]
    along = {keys.ORDER_SET: row.key, keys.CRITERION: criterion, keys.STUDY: study}
    return run_choice.choose("Measured", keys.STUDY_RUN, listed, asked, name_of, **along)


def name_of(run: Run) -> str:
    """One line that tells a study from others; the same while it goes on."""
    settings = StudySettings.from_json(run.settings)
    features = runs.features_of(run)
    drawn = make_drawing(settings.drawing)
    called = f"{'★ ' if run.star else ''}{run.name or features}"
    return f"{called} · {drawn.train:,} sequences of {drawn.length} · {runs.when(run)} · {run.id}"


# ---------------------------------------------------------------------------------------------------------
# One that is there
# ---------------------------------------------------------------------------------------------------------


def invite(study: str) -> None:
    st.caption(
        f"Figure {FIGURES[study].figure} of the MidRank paper asks this of its own images. Nobody has asked it of "
        "these yet: the button below trains what it needs and measures it on images that were not trained on."
    )
    show_paper(study)


def show_ended(run: Run, row: ImageSetRow, study: str) -> None:
    jobs_panel.explain_end(run)
    if run.state != "finished":
        return
    with cache.or_gone():
        outcome = Outcome.from_json(run.result)
    measure = choose_measure(outcome)
    words, curves = WORDS[study], outcome.curves
    figure = study_charts.figure_of(
        curves, measure, FIGURES[study].across, words.marks.get(measure, ()), words.of
    )
    alt = study_charts.in_words(curves, measure)
    charts.show(figure, keys.widget(f"study {study} {measure}"), alt, f"figure-{study}", height=420, top=8)
    st.caption(escaped(measured_on(run, row, measure, outcome)))
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("### Here")
        st.markdown(f"**Notice** {escaped(words.notice({curve.line: curve for curve in curves}))}")
    with right:
        show_paper(study)
    with st.container(horizontal=True):
        st.download_button(
            "All values as CSV",
            lambda: study_charts.csv_text(curves),
            f"study-{run.id}.csv",
            "text/csv",
            icon=":material/table_view:",
            on_click="ignore",
        )
        figures_file.offer(f"{words.question} {row.title}", [(figure, alt)], f"study-{run.id}.html")


def choose_measure(outcome: Outcome) -> str:
    """Which of the measures is drawn; nothing is shown where there is one."""
    names = list(outcome.curves[0].measures)
    first = AGREES if AGREES in names else TAU if TAU in names else names[0]
    if len(names) == 1:
        return first
    bound = address.bound(keys.MEASURE, address.one_of(names), first)
    return str(st.segmented_control("Measure", names, required=True, **bound))


def measured_on(run: Run, row: ImageSetRow, measure: str, outcome: Outcome) -> str:
    """What the values are of, how sure they are, and whether the trainings are proven to have ended."""
    settings = StudySettings.from_json(run.settings)
    drawn = make_drawing(settings.drawing)
    if measure == SECONDS:
        sure = (
            f"One thread of this machine; the median of {ROUNDS} rounds, bars are half of their interquartile range. "
            "Both scales are logarithmic."
        )
    else:
        sure = (
            f"Means over {drawn.test:,} test sequences; bars are their 95% intervals, which tell of the "
            "drawing of sequences alone: these share their images."
        )
    proven = (
        ""
        if outcome.proven
        else " Not all trainings came within their tolerance of the best; see the settings of MidRank."
    )
    return (
        f"{row.title} by “{settings.criterion}”, trained on {drawn.train:,} sequences of {drawn.length}. "
        f"{sure}{proven}"
    )


def show_paper(study: str) -> None:
    st.markdown("### In the paper")
    st.markdown("\n".join(f"- {escaped(said)}" for said in WORDS[study].paper))
    if WORDS[study].of:
        st.caption(
            f"Stars in the chart: {escaped(WORDS[study].of)}. Other images and other features than these."
        )


frame.show_page("lengths", "Short subsequences or long ones? The figures of MidRank, measured here.", steps)
