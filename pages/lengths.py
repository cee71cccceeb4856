"""MidRank ablations: how the length of subsequences and other settings affect MidRank on an image set."""

from __future__ import annotations

import streamlit as st

from pages.parts.app import address, controls, frame, home, keys
from pages.parts.app.frame import escaped
from pages.parts.charts import ablation_charts, plots
from pages.parts.charts.ablation_words import TAU, WORDS
from pages.parts.sequences import order_models
from pages.parts.studies import ablation_form
from pages.parts.studies.study_page import offer_files
from pages.parts.training import run_actions
from ranking.experiments.ablations import AGREES, FIGURES, ROUNDS, SECONDS
from ranking.experiments.order_task import make_drawing
from ranking.metrics.ablation_curves import AblationResult
from ranking.storage.run import Run
from ranking.storage.run_settings import AblationSettings
from ranking.storage.sets import ImageSetRow


def steps() -> None:
    named = ablation_form.PAGE.named()
    shown, settings = st.container(), st.container(key="settings-lengths")
    with settings:
        left, right = st.columns(2, gap="medium")
    with left:
        row = order_models.choose_set()
        criterion = order_models.choose_criterion(row)
    with shown:
        run_actions.show_deleted(ablation_form.PAGE.task)
        varied = {name: name.capitalize() for name in FIGURES}
        with frame.picture("question"):
            study = controls.segments(
                "Setting to vary", keys.ABLATION, varied, next(iter(FIGURES)), label_visibility="collapsed"
            )
            with st.container(horizontal=True, vertical_alignment="bottom"):
                st.markdown(f"## {WORDS[study].question}", width="content")
                order_models.link_to_lesson()
    with right:
        run = choose_run(row, criterion, study, named)
    with shown:
        ablation_form.PAGE.lay_out(
            run,
            lambda: ablation_form.show(row, criterion, study),
            lambda: invite(study),
            lambda run: show_measured(run, row, study),
        )


def choose_run(row: ImageSetRow, criterion: str, study: str, named: Run | None) -> Run | None:
    """Choose an ablation of an image set; None if there is none."""
    # By default `named`, or else the newest that is running or has a result.
    listed = [
        run
        for run in home.store().runs.all(set_key=row.key, task=ablation_form.PAGE.task)
        if (run.settings["criterion"], run.settings["study"]) == (criterion, study)
    ]
    along = {keys.ORDER_SET: row.key, keys.CRITERION: criterion, keys.ABLATION: study}
    return ablation_form.PAGE.choose(listed, named, **along)


# ---------------------------------------------------------------------------------------------------------
# Results
# ---------------------------------------------------------------------------------------------------------


def invite(study: str) -> None:
    st.caption(
        f"Figure {FIGURES[study].figure} of the MidRank paper answers this for its own images. It has not been "
        "measured on this image set yet. The button below trains the models and measures them on the test images."
    )
    show_paper(study)


def show_measured(run: Run, row: ImageSetRow, study: str) -> None:
    if run.state != "finished":
        return
    with home.missing_as_error():
        outcome = AblationResult.from_json(run.result)
    words, curves = WORDS[study], outcome.curves
    with frame.picture("curves"):
        measure = choose_measure(outcome)
        figure = ablation_charts.figure_of(
            curves, measure, FIGURES[study].across, words.marks.get(measure, ()), words.of
        )
        alt = ablation_charts.in_words(curves, measure)
        plots.show(figure, keys.widget(f"study {study} {measure}"), alt, f"figure-{study}", height=425, top=8)
    st.caption(escaped(measured_on(run, row, measure, outcome)))
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("### On this image set")
        st.markdown(f"**Notice** {escaped(ablation_charts.notice(curves, measure))}.")
    with right:
        show_paper(study)
    offer_files(
        "All values as CSV",
        lambda: ablation_charts.csv_text(curves),
        f"{words.question} {row.title}",
        [(figure, alt)],
        lambda ending: f"study-{run.id}.{ending}",
    )


def choose_measure(outcome: AblationResult) -> str:
    """Choose the measure to plot; there is no control if there is one measure only."""
    names = list(outcome.curves[0].measures)
    first = AGREES if AGREES in names else TAU if TAU in names else names[0]
    if len(names) == 1:
        return first
    bound = address.bound(keys.MEASURE, address.one_of(names), first)
    return str(st.segmented_control("Measure", names, required=True, label_visibility="collapsed", **bound))


def measured_on(run: Run, row: ImageSetRow, measure: str, outcome: AblationResult) -> str:
    """Return the caption: the data, what the error bars mean, and whether all training runs converged."""
    settings = AblationSettings.from_json(run.settings)
    drawing = make_drawing(settings.drawing)
    if measure == SECONDS:
        sure = (
            f"One thread of this machine; medians of {ROUNDS} rounds; bars: half of the interquartile range. "
            "Both scales are logarithmic."
        )
    else:
        sure = (
            f"Means over {drawing.test:,} test sequences; bars: 95% confidence intervals over sequences, which share "
            "images."
        )
    proven = (
        ""
        if outcome.proven
        else " Some training runs did not converge to their tolerance; see the settings of MidRank."
    )
    return (
        f"{row.title} by “{settings.criterion}”, trained on {drawing.train:,} sequences of {drawing.length}. "
        f"{sure}{proven}"
    )


def show_paper(study: str) -> None:
    st.markdown("### In the paper")
    st.markdown("\n".join(f"- {escaped(sentence)}" for sentence in WORDS[study].paper))
    if WORDS[study].of:
        st.caption(
            f"Stars in the chart: {escaped(WORDS[study].of)}. The paper uses other images and features."
        )


frame.show_page("lengths", "MidRank's choices, measured here.", steps)
