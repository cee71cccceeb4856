"""Most violated ranking: what training asks for at every iteration, and how four algorithms find it, step by step."""

from __future__ import annotations

import csv
import io

import streamlit as st

from pages.parts.app import address, cache, figures_file, frame, keys
from pages.parts.app.frame import escaped
from pages.parts.components.strip import strip
from pages.parts.components.tile import Tile
from pages.parts.components.tiles import sample_tiles
from pages.parts.runs import jobs_panel
from pages.parts.views import charts, inference_charts, inference_words
from pages.parts.views import inference_scores as chosen_scores
from pages.parts.views.inference_scores import Scores
from pages.parts.views.inference_words import NAMES
from ranking.core import Ints
from ranking.explain.inference_steps import TRACED, InferenceProblem, Trace, bins_of
from ranking.inference import algorithms_for
from ranking.workspace.run import ENDED

COLUMNS = (
    *("algorithm", "step", "follows from", "looks at", "place", "score", "run from", "run to"),
    *("lowest rank", "highest rank", "ranks tried", "rank", "comparisons"),
)


def steps() -> None:
    given = chosen_scores.choose()
    left, right = st.columns([2, 5], gap="medium", vertical_alignment="bottom")
    with left:
        loss = chosen_scores.choose_loss()
    with right:
        given = given.times(chosen_scores.choose_scale())
    watch_training()
    problem = cache.inference_problem(given.token, given.scores, given.relevant, loss)
    traces = {name: cache.inference_trace(given.token, problem, name) for name in usable(problem)}
    show_ranking(problem, traces["select"].ranks, given)
    step_through(problem, traces, given)
    show_counts(problem, traces)
    offer_files(problem, traces)


def usable(problem: InferenceProblem) -> list[str]:
    """The algorithms that the loss allows."""
    return [name for name in TRACED if name in algorithms_for(problem.loss.name)]


def watch_training() -> None:
    """While the chosen training goes on: how far it is, and the way to its newest scores."""
    run = address.read(keys.RUN, cache.store().run, None)
    if address.get(keys.SCORES) not in (None, chosen_scores.MODEL) or run is None or run.state in ENDED:
        return
    jobs_panel.watch(run)
    st.button("Take the scores that it has now", icon=":material/refresh:", key=keys.widget("newest scores"))


# ---------------------------------------------------------------------------------------------------------
# The ranking
# ---------------------------------------------------------------------------------------------------------


def show_ranking(problem: InferenceProblem, ranks: Ints, given: Scores) -> None:
    """The right ranking, the prediction and the most violated one, as patterns and as numbers."""
    rankings = inference_words.three(problem, ranks)
    worth = {name: problem.value_of(found) for name, found in rankings.items()}
    st.markdown(f"## {inference_words.headline(problem, worth)}")
    figure = inference_charts.patterns(problem, list(rankings.items()))
    alt = inference_words.patterns_alt(problem, rankings)
    wide, narrow = st.columns([3, 2], gap="large", vertical_alignment="center")
    with wide:
        charts.show(figure, keys.widget("patterns"), alt, "most-violated-ranking", height=330, top=8)
    with narrow:
        st.markdown(inference_words.worth_table(worth))
        st.markdown(
            r"$\displaystyle\bar R=\arg\max_R\;\underbrace{w^\top\Psi(X,R)}_{\text{score}}"
            r"+\underbrace{\Delta(R^*,R)}_{\text{loss}}$"
        )
    st.caption(f"{inference_words.notice_ranking(problem, ranks, worth)} {escaped(given.note)}")


# ---------------------------------------------------------------------------------------------------------
# Step by step
# ---------------------------------------------------------------------------------------------------------


@st.fragment
def step_through(problem: InferenceProblem, traces: dict[str, Trace], given: Scores) -> None:
    """What answers to a click, without the rest of the page running again."""
    with frame.in_place():
        st.markdown("## How is it found?")
        names = list(traces)
        left, right = st.columns([4, 5], gap="medium", vertical_alignment="bottom")
        with left:
            bound = address.bound(keys.ALGORITHM, address.one_of(names), "select")
            algorithm = st.segmented_control(
                "Algorithm", names, format_func=NAMES.get, required=True, **bound
            )
        trace = traces[algorithm]
        with right:
            done = choose_step(trace)
        show_step(problem, trace, done, given)
        if algorithm == "select":
            show_tree(trace, done)
        if algorithm == "buckets":
            show_bins(problem, trace)
    frame.show_menu()


def choose_step(trace: Trace) -> int:
    """How many steps are done: by buttons, or by hand."""
    count = len(trace.steps)
    done = int(address.read(keys.LOOK, address.number(int, 0, count), 0))
    ways = {"Start": 0, "Back": max(0, done - 1), "Next step": min(count, done + 1), "End": count}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        bound = address.bound(keys.LOOK, address.number(int, 0, count), 0)
        st.number_input(f"Steps done, of {count:,}", 0, count, step=1, width=170, **bound)
        for label, target in ways.items():
            st.button(
                label,
                key=keys.widget(f"look {label}"),
                type="primary" if label == "Next step" else "secondary",
                disabled=target == done,
                on_click=address.put,
                kwargs={keys.LOOK: str(target)},
            )
    return done


def show_step(problem: InferenceProblem, trace: Trace, done: int, given: Scores) -> None:
    """What is known after the last step, and what that step did."""
    wide, narrow = st.columns([3, 2], gap="large")
    with wide:
        figure = inference_charts.possible_ranks(problem, trace, done)
        alt = inference_words.possible_alt(problem, trace, done)
        charts.show(figure, keys.widget("possible ranks"), alt, "possible-ranks", height=380, top=8)
    with narrow:
        if not done:
            st.markdown(inference_words.BEFORE[trace.algorithm])
        else:
            step = trace.steps[done - 1]
            said = inference_words.of_step(problem, step)
            st.markdown(f"**Step {done:,}.** {said}")
            if given.images is not None and given.rows is not None and step.what in ("sample", "median"):
                show_sample(problem, given, step.position)
            figure = inference_charts.of_rank(problem, step)
            charts.show(figure, keys.widget("f of the step"), said, "f-of-a-rank", height=270, top=8)
    st.caption(inference_words.notice_step(problem, trace, done))


def show_sample(problem: InferenceProblem, given: Scores, place: int) -> None:
    """The picture of the irrelevant sample at a place of the order of scores, from 0."""
    assert given.images is not None
    assert given.rows is not None
    row = int(given.rows[problem.negatives[place]])
    tiles: list[Tile] = sample_tiles(given.images, cache.thumbnails(given.images.key), [row])
    strip(tiles, name="sample of the step", label="The sample that this step looks at", columns=4, narrow=4)


def show_tree(trace: Trace, done: int) -> None:
    st.markdown("### The recursion of SELECT")
    figure = inference_charts.tree(trace, done)
    height = 130 + 34 * (max(trace.depths()) + 2)
    alt = inference_words.tree_alt(trace, done)
    charts.show(figure, keys.widget("tree of select"), alt, "select-tree", height=height, top=8)
    st.caption(inference_words.notice_tree(trace))


def show_bins(problem: InferenceProblem, trace: Trace) -> None:
    st.markdown("### The buckets")
    found = bins_of(problem)
    if found is None:
        st.info(
            "No grid can tell these scores apart: counting leaves them to SELECT.", icon=":material/info:"
        )
        return
    said = inference_words.notice_bins(problem, found, trace)
    charts.show(
        inference_charts.bins(problem, found, trace), keys.widget("bins"), said, "buckets", height=280, top=8
    )
    st.caption(said.replace("Notice", "**Notice**"))


# ---------------------------------------------------------------------------------------------------------
# What it takes
# ---------------------------------------------------------------------------------------------------------


def show_counts(problem: InferenceProblem, traces: dict[str, Trace]) -> None:
    st.markdown("## What does it take?")
    st.markdown(inference_words.counts_table(problem, traces))
    st.caption(inference_words.notice_counts(traces))
    frame.next_step("How long does that take? Speed lab", "speed_lab", obvious=False)


def offer_files(problem: InferenceProblem, traces: dict[str, Trace]) -> None:
    ranks = traces["select"].ranks
    rankings = inference_words.three(problem, ranks)
    with st.container(horizontal=True):
        st.download_button(
            "All steps as CSV",
            lambda: csv_text(problem, traces),
            "most-violated-ranking.csv",
            "text/csv",
            icon=":material/table_view:",
            on_click="ignore",
        )
        figure = inference_charts.patterns(problem, list(rankings.items()))
        shown = [(figure, inference_words.patterns_alt(problem, rankings))]
        shown += [
            (inference_charts.possible_ranks(problem, trace, len(trace.steps)), f"Ranks by {NAMES[name]}")
            for name, trace in traces.items()
        ]
        figures_file.offer("The most violated ranking", shown, "most-violated-ranking.html")


def csv_text(problem: InferenceProblem, traces: dict[str, Trace]) -> str:
    """One line a step of each algorithm; places and ranks from 1."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(COLUMNS)
    for name, trace in traces.items():
        for number, step in enumerate(trace.steps, start=1):
            run, tried = step.run, ";".join(map(str, step.probes))
            where = [name, number, step.parent + 1 or "", step.what, step.position + 1, repr(step.score)]
            found = [run.start + 1, run.end, run.low, run.high, tried, step.rank, step.comparisons]
            writer.writerow([*where, *found])
    return stream.getvalue()


frame.show_page(
    "most_violated", "The wrong ranking that hurts most: what training asks for, again and again.", steps
)
