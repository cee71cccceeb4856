"""Speed lab: how long loss-augmented inference takes on one's own machine, beside what the paper prints."""

from __future__ import annotations

import streamlit as st

from pages.parts import (
    address,
    cache,
    charts,
    figures_file,
    frame,
    jobs_panel,
    keys,
    run_choice,
    runs,
    timing_charts,
    timing_words,
)
from pages.parts.frame import escaped
from ranking import jobs
from ranking.run import ENDED, Run
from ranking.run_settings import TimingSettings
from ranking.timing_studies import SAMPLES, TABLE, TimingOutcome

SHARES = {"a tenth": 0.1, "a third": 1 / 3, "all": 1.0}
SECONDS = {"a tenth": 15, "a third": 30, "all": 80}  # of processor time, about


def steps() -> None:
    run = choose_timing()
    view, task = st.container(), st.container()
    with task, st.expander("Measure it on this machine", icon=":material/timer:", expanded=run is None):
        show_form()
    with view:
        if run is None:
            invite()
        elif run.state not in ENDED:
            st.markdown("## Measuring … all algorithms answer the same calls, in turn")
            jobs_panel.watch(run)
        else:
            jobs_panel.explain_end(run)
            if run.state == "finished":
                show_outcome(run)


def timing_run(run_id: str) -> Run:
    """The timing of that id; ValueError where it is none."""
    return run_choice.of_kind(run_id, "timing", "a timing")


def choose_timing() -> Run | None:
    """The timing of the address, or the newest that goes on or has an outcome; None where there is none."""
    asked = address.read(keys.TIMING, timing_run, None)
    return run_choice.choose("Measured", keys.TIMING, cache.store().runs("timing"), asked, name_of)


def name_of(run: Run) -> str:
    settings = TimingSettings.from_json(run.settings)
    shares = {value: name for name, value in SHARES.items()}
    size = shares.get(settings.share, f"{settings.share:g}")
    name = run.name or f"{size} of the paper's samples"
    return f"{name} · {settings.rounds} rounds · {runs.when(run)} · {run.id}"


def show_form() -> None:
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        size = st.segmented_control(
            "How many of the paper's samples",
            list(SHARES),
            default="all",
            required=True,
            key=keys.widget("timing size"),
        )
    settings = TimingSettings(share=SHARES[str(size)])
    with right:
        if frame.pressed("Measure", "start timing", type="primary", icon=":material/play_arrow:"):
            run = jobs.start_once(cache.store(), "timing", settings.to_json())
            address.put(**{keys.TIMING: run.id})
            st.rerun()
    st.caption(
        f"The paper has 3,347 people, 227 of them phoning, with 2,404 features each; {size} of them take about "
        f"{jobs_panel.in_minutes(SECONDS[str(size)])} on two idle cores. With fewer samples the fixed costs of a "
        "call hide what the algorithms differ by. Samples are synthetic: times depend on how many there are and "
        "how well they are told apart, not on what they show. Other work on this machine slows some rounds; "
        "every time is the median of five."
    )


def invite() -> None:
    st.markdown("## How long does one most violated ranking take?")
    st.caption(
        "The paper trains AP-SVM and NDCG-SVM and times nothing but the search for the most violated ranking. "
        "Press *Measure* below: the same is done here, with the paper's algorithms and with counting, and stands "
        "beside the paper's numbers."
    )


def show_outcome(run: Run) -> None:
    with cache.or_gone():
        outcome = TimingOutcome.from_json(run.result)
    views = list(timing_words.VIEWS)
    bound = address.bound(keys.TIMED, address.one_of(views), views[0])
    view = st.segmented_control(
        "What is shown", views, format_func=timing_words.VIEWS.get, required=True, **bound
    )
    kind, _, loss = str(view).partition(" ")
    if kind == "tables":
        show_table(outcome, loss)
    else:
        show_figure(outcome, loss)
    st.caption(
        f"Measured on {escaped(outcome.machine)}. Medians of {run.settings.get('rounds', 5)} rounds in which all "
        "take turns, summed over the calls of a complete training (of long trainings 60 calls, evenly, stand for "
        "all). The paper's machine is not known."
    )
    offer_files(run, outcome)


def show_table(outcome: TimingOutcome, loss: str) -> None:
    [point] = [one for one in outcome.points if (one.loss, one.varied) == (loss, TABLE)]
    st.markdown(f"## {timing_words.headline(point)}")
    st.markdown(timing_words.table(point))
    st.caption(
        f"{timing_words.TABLES[loss]} of the paper, with {point.positives:,} relevant and {point.negatives:,} "
        f"irrelevant samples. **Notice** {escaped(timing_words.notice(point))}"
    )


def show_figure(outcome: TimingOutcome, loss: str) -> None:
    axes = timing_charts.axes_of(outcome.points, loss)
    st.markdown(f"## {timing_words.FIGURES[loss]}: what a training spends on most violated rankings")
    figures = timing_charts.figures_of(axes)
    for column, (axis, figure) in zip(st.columns(len(figures), gap="small"), figures.items(), strict=True):
        with column:
            alt, file = timing_charts.in_words(axes[axis]), f"times-{loss}-{axis.replace(' ', '-')}"
            charts.show(figure, keys.widget(f"times {loss} {axis}"), alt, file, height=440, top=8)
    st.caption(
        f"**Notice** {escaped(timing_words.notice_figure(axes[SAMPLES]))} Both scales are logarithmic."
    )


def offer_files(run: Run, outcome: TimingOutcome) -> None:
    with st.container(horizontal=True):
        st.download_button(
            "All times as CSV",
            lambda: timing_charts.csv_text(outcome),
            f"times-{run.id}.csv",
            "text/csv",
            icon=":material/table_view:",
            on_click="ignore",
        )
        shown = []
        for loss in timing_words.FIGURES:
            axes = timing_charts.axes_of(outcome.points, loss)
            shown += [
                (figure, f"{timing_words.FIGURES[loss]}. {timing_charts.in_words(axes[axis])}")
                for axis, figure in timing_charts.figures_of(axes).items()
            ]
        figures_file.offer("Times of loss-augmented inference", shown, f"times-{run.id}.html")


frame.show_page("speed_lab", "The paper's times, measured again on this machine.", steps)
