"""Inference timing: the time of loss-augmented inference on this machine, beside the paper's."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from pages.parts.app import controls, figures_file, frame, home, keys
from pages.parts.app.frame import escaped
from pages.parts.charts import plots
from pages.parts.studies import timing_charts, timing_words
from pages.parts.studies.study_page import StudyPage, offer_files
from pages.parts.training import jobs_panel, run_actions
from ranking.experiments.timing_studies import SAMPLES, Point, TimingOutcome
from ranking.storage import examples
from ranking.storage.run import ENDED, Run
from ranking.storage.run_settings import TimingSettings

QUICK = "tables, a third of the samples"
SIZES = {
    QUICK: TimingSettings(share=1 / 3, rounds=3, parts="tables"),
    "tables, all samples": TimingSettings(rounds=3, parts="tables"),
    "tables and figures, a third of the samples": TimingSettings(share=1 / 3),
    "tables and figures, all samples": TimingSettings(),
}
# approximate processor time
SECONDS = dict(zip(SIZES, (5, 20, 30, 80), strict=True))
# height in pixels of a chart of calls: per algorithm, and of axes and margins
ROW, AROUND = 52, 90


def steps() -> None:
    run_actions.show_deleted(PAGE.task)
    run = PAGE.choose(home.store().runs.all(task=PAGE.task), PAGE.named())
    outcome = outcome_of(run)
    with frame.picture("view"):
        kind, _, loss = choose_view().partition(" ")
        st.markdown(f"## {headline(kind, loss, outcome)}")
    if run is not None and run.state not in ENDED:
        st.markdown("**Measuring …** all algorithms run the same calls in turn.")
        jobs_panel.watch(run)
    elif outcome is None:
        if run is not None:
            jobs_panel.explain_end(run)
        show_form("Measure on this machine", "primary")
    (show_table if kind == "tables" else show_figure)(loss, outcome)
    if run is not None and outcome is not None:
        show_method(run, outcome)
        offer_files(
            "All times as CSV",
            lambda: timing_charts.csv_text(outcome),
            "Times of loss-augmented inference",
            figures_shown(outcome),
            lambda ending: f"times-{run.id}.{ending}",
        )
        run_actions.manage(run, PAGE.run, PAGE.set)
        show_form(PAGE.new, "secondary")
    run_actions.show_trash(PAGE.task, PAGE.name_of)


def given(run: Run) -> dict[str, str]:
    """Return no parameters, because the URL of a timing has only its id."""
    return {}


def words(run: Run) -> str:
    """Describe a timing: its size and its number of rounds."""
    settings = TimingSettings.from_json(run.settings)
    known = {(choice.share, choice.parts): name for name, choice in SIZES.items()}
    size = known.get((settings.share, settings.parts), f"{settings.share:g} of the samples, {settings.parts}")
    return f"{size} · {settings.rounds} rounds"


PAGE = StudyPage(TimingSettings.task, keys.TIMING, None, "Timing run", "Measure again", given, words)


def outcome_of(run: Run | None) -> TimingOutcome | None:
    """Return the measurements of a run; None if it has not finished."""
    if run is None or run.state != "finished":
        return None
    with home.missing_as_error():
        return TimingOutcome.from_json(run.result)


def choose_view() -> str:
    views = timing_words.views()
    return controls.segments("View", keys.TIMED, views, next(iter(views)))


def headline(kind: str, loss: str, outcome: TimingOutcome | None) -> str:
    if kind == "figure":
        return f"{timing_words.figure_name(loss)}: time per training run spent on most violated rankings"
    return timing_words.headline(loss, table_point(outcome, loss))


def table_point(outcome: TimingOutcome | None, loss: str) -> Point | None:
    return None if outcome is None else timing_words.table_point(outcome.points, loss)


def show_form(label: str, style: Literal["primary", "secondary"]) -> None:
    """Show the button that starts a timing."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        size = str(
            st.segmented_control(
                label,
                list(SIZES),
                default=QUICK,
                required=True,
                key=keys.widget("timing size"),
                width="content",
                help="Samples are synthetic, because times depend on their number and separability, not on their "
                "content. With few samples, the fixed cost per call hides the differences between the algorithms.",
            )
        )
        settings = SIZES[size]
        PAGE.offer_start("Measure", settings, "start timing", type=style)
    share = "as many samples as in the paper" if settings.share == 1 else "fewer samples than in the paper"
    st.caption(
        f"It takes about {jobs_panel.in_minutes(SECONDS[size])} on two idle cores, with {share} (3,347 people, 227 of "
        f"them phoning, 2,404 features each). Every time is the median of {settings.rounds} rounds."
    )


def show_table(loss: str, outcome: TimingOutcome | None) -> None:
    point = table_point(outcome, loss)
    if point is None and loss not in timing_words.PAPER:
        show_unmeasured("The paper has no table for this loss.")
        return
    with frame.picture("calls"):
        figure = timing_charts.calls_of(loss, point)
        alt, key = timing_charts.calls_in_words(loss, point), keys.widget(f"calls {loss} {outcome is None}")
        rows = len(figure.layout.yaxis.tickvals)
        plots.show(figure, key, alt, f"calls-{loss}", height=AROUND + ROW * rows, top=8)
    st.markdown(timing_words.table(loss, point))
    st.caption(f"**Notice** {escaped(timing_words.notice(loss, point))}")
    texts = []
    if loss in timing_words.PAPER:
        texts.append(
            f"“Paper”: {timing_words.TABLES[loss]} as printed in {timing_words.PRINTED_IN}, on an unspecified "
            "machine; means and standard deviations over all iterations and ten actions."
        )
    if point is not None:
        texts.append(
            f"Measured here with {point.positives:,} relevant and {point.negatives:,} irrelevant samples. With few "
            "samples, most of the time of fast algorithms is the fixed cost of a call."
        )
    if loss == "ap":
        texts.append(timing_words.LATENT)
    st.caption(" ".join(texts))


def show_figure(loss: str, outcome: TimingOutcome | None) -> None:
    axes = timing_charts.axes_of([] if outcome is None else outcome.points, loss)
    if not axes[SAMPLES]:
        show_unmeasured(
            f"The paper plots {timing_words.FIGURES[loss]} without printing its numbers."
            if loss in timing_words.FIGURES
            else "The paper has no figure for this loss."
        )
        return
    figures = timing_charts.figures_of(axes)
    with frame.picture("figures"):
        columns = st.columns(len(figures), gap="small")
    for column, (axis, figure) in zip(columns, figures.items(), strict=True):
        with column:
            alt, file = timing_charts.in_words(axes[axis]), f"times-{loss}-{axis.replace(' ', '-')}"
            plots.show(figure, keys.widget(f"times {loss} {axis}"), alt, file, height=440, top=8)
    st.caption(
        f"**Notice** {escaped(timing_words.notice_figure(axes[SAMPLES]))} Both scales are logarithmic."
    )


def show_unmeasured(paper: str) -> None:
    st.info(
        f"{paper} There is nothing to show until you measure it: choose “tables and figures” and press *Measure*.",
        icon=":material/info:",
    )


def show_method(run: Run, outcome: TimingOutcome) -> None:
    made = ", where this example was made" if examples.is_example(run.folder) else ""
    st.caption(
        f"Measured on {escaped(outcome.machine)}{made}. Medians over {run.settings.get('rounds', 5)} rounds in which "
        "all algorithms take turns, summed over the calls of a complete training run (long runs are represented by 60 "
        "evenly spaced calls)."
    )


def figures_shown(outcome: TimingOutcome) -> list[figures_file.Shown]:
    """Return all charts of a timing with their texts."""
    shown = []
    for loss in dict.fromkeys(point.loss for point in outcome.points):
        point = table_point(outcome, loss)
        text = f"{timing_words.table_name(loss)}. {timing_charts.calls_in_words(loss, point)}"
        shown.append((timing_charts.calls_of(loss, point), text))
        axes = timing_charts.axes_of(outcome.points, loss)
        if axes[SAMPLES]:
            shown += [
                (figure, f"{timing_words.figure_name(loss)}. {timing_charts.in_words(axes[axis])}")
                for axis, figure in timing_charts.figures_of(axes).items()
            ]
    return shown


frame.show_page("speed_lab", "Time per most violated ranking, in the paper and on this machine.", steps)
