"""Most violated ranking: step through loss-augmented inference, which training runs at every iteration."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.parts.app import address, cache, controls, downloads, figures_file, frame, home, keys, menu
from pages.parts.app.frame import escaped
from pages.parts.charts import inference_charts, inference_words, plots
from pages.parts.charts.inference_words import NAMES
from pages.parts.components import tiles
from pages.parts.components.strip import strip
from pages.parts.rankings import inference_scores as chosen_scores
from pages.parts.rankings.inference_scores import Scores
from pages.parts.training import jobs_panel
from ranking.core import Ints
from ranking.core.spreadsheets import rows_csv
from ranking.explain.inference_steps import TRACED, InferenceProblem, Trace, bins_of
from ranking.inference import algorithms_for
from ranking.storage.run import ENDED


def steps() -> None:
    given = chosen_scores.choose()
    with frame.picture("scale"):
        left, right = st.columns([2, 5], gap="medium", vertical_alignment="bottom")
    with left:
        loss = chosen_scores.choose_loss(given.run)
    with right:
        given = replace(given, scores=given.scores * chosen_scores.choose_scale())
    watch_training()
    problem = chosen_scores.inference_problem(given, loss)
    usable = [name for name in TRACED if name in algorithms_for(problem.loss)]
    traces = {name: chosen_scores.inference_trace(given.token, problem, name) for name in usable}
    with frame.picture("ranking"):
        show_ranking(problem, traces["select"].ranks, given)
    step_through(problem, traces, given)
    show_counts(problem, traces)
    offer_files(problem, traces)


def watch_training() -> None:
    """While the chosen training run is running: its progress, and a button that loads its newest scores."""
    run = address.read(keys.RUN, home.store().runs.get, None)
    if address.get(keys.SCORES) not in (None, chosen_scores.MODEL) or run is None or run.state in ENDED:
        return
    jobs_panel.watch(run)
    st.button("Refresh scores", icon=":material/refresh:", key=keys.widget("newest scores"))


# ---------------------------------------------------------------------------------------------------------
# The ranking
# ---------------------------------------------------------------------------------------------------------


def show_ranking(problem: InferenceProblem, ranks: Ints, given: Scores) -> None:
    """The correct, the predicted and the most violated ranking, as patterns and with their values."""
    rankings = inference_words.three(problem, ranks)
    worth = {name: problem.value_of(ranks_of) for name, ranks_of in rankings.items()}
    st.markdown(f"## {inference_words.headline(problem, worth)}")
    figure = inference_charts.patterns(problem, list(rankings.items()))
    alt = inference_words.patterns_alt(problem, rankings)
    wide, narrow = st.columns([3, 2], gap="large", vertical_alignment="center")
    with wide:
        plots.show(figure, keys.widget("patterns"), alt, "most-violated-ranking", height=330, top=8)
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
    """The part of the page that depends on clicks: it runs again without the rest."""
    with frame.errors_in_place():
        st.markdown("## Step through the algorithm")
        left, right = st.columns([4, 5], gap="medium", vertical_alignment="bottom")
        with left:
            names = {name: NAMES[name] for name in traces}
            algorithm = controls.segments("Algorithm", keys.ALGORITHM, names, "select")
        trace = traces[algorithm]
        with right:
            done = choose_step(trace)
        show_step(problem, trace, done, given)
        if algorithm == "select":
            show_tree(trace, done)
        if algorithm == "buckets":
            show_bins(problem, trace)
    menu.show_again()


def choose_step(trace: Trace) -> int:
    """The number of steps that are done, chosen with buttons or typed."""
    count = len(trace.steps)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        return controls.stepper(
            f"Steps done, of {count:,}",
            keys.EVALUATED,
            0,
            count,
            0,
            lambda done: {"Start": 0, "Back": done - 1, "Next step": done + 1, "End": count},
            "Next step",
            width=170,
        )


def show_step(problem: InferenceProblem, trace: Trace, done: int, given: Scores) -> None:
    """What is known after `done` steps, and the effect of the last step."""
    wide, narrow = st.columns([3, 2], gap="large")
    with wide:
        figure = inference_charts.possible_ranks(problem, trace, done)
        alt = inference_words.possible_alt(problem, trace, done)
        plots.show(figure, keys.widget("possible ranks"), alt, "possible-ranks", height=380, top=8)
    with narrow:
        if not done:
            st.markdown(inference_words.BEFORE[trace.algorithm])
        else:
            step = trace.steps[done - 1]
            words = inference_words.of_step(step)
            st.markdown(f"**Step {done:,}.** {words}")
            if given.images is not None and given.rows is not None and step.what in ("sample", "median"):
                row = int(given.rows[problem.negatives[step.position]])
                shown = tiles.sample_tiles(given.images, cache.thumbnails(given.images.key), [row])
                label = "The sample that this step evaluates"
                strip(shown, name="sample of the step", label=label, columns=4, narrow=4)
                tiles.explain_cards(given.images)
            figure = inference_charts.of_rank(problem, step)
            plots.show(figure, keys.widget("f of the step"), words, "f-of-a-rank", height=270, top=8)
    st.caption(inference_words.notice_step(problem, trace, done))


def show_tree(trace: Trace, done: int) -> None:
    st.markdown("### The recursion of SELECT")
    figure = inference_charts.tree(trace, done)
    height = 130 + 34 * (max(trace.depths()) + 2)
    alt = inference_words.tree_alt(trace, done)
    plots.show(figure, keys.widget("tree of select"), alt, "select-tree", height=height, top=8)
    st.caption(inference_words.notice_tree(trace))


def show_bins(problem: InferenceProblem, trace: Trace) -> None:
    st.markdown("### The buckets")
    bins = bins_of(problem)
    if bins is None:
        st.info(
            "The scores are too close together for any grid of bins, so the algorithm falls back to SELECT.",
            icon=":material/info:",
        )
        return
    words = inference_words.notice_bins(problem, bins, trace)
    figure = inference_charts.bins(problem, bins, trace)
    plots.show(figure, keys.widget("bins"), words, "buckets", height=280, top=8)
    st.caption(words)


# ---------------------------------------------------------------------------------------------------------
# Operation counts
# ---------------------------------------------------------------------------------------------------------


def show_counts(problem: InferenceProblem, traces: dict[str, Trace]) -> None:
    st.markdown("## Operation counts")
    st.markdown(inference_words.counts_table(problem, traces))
    st.caption(inference_words.notice_counts(traces))
    frame.next_step("Inference timing", "speed_lab", obvious=False)


def offer_files(problem: InferenceProblem, traces: dict[str, Trace]) -> None:
    rankings = inference_words.three(problem, traces["select"].ranks)
    with st.container(horizontal=True):
        file = "most-violated-ranking"
        downloads.offer("All steps as CSV", lambda: csv_text(traces), f"{file}.csv")
        figure = inference_charts.patterns(problem, list(rankings.items()))
        shown = [(figure, inference_words.patterns_alt(problem, rankings))]
        shown += [
            (inference_charts.possible_ranks(problem, trace, len(trace.steps)), f"Ranks by {NAMES[name]}")
            for name, trace in traces.items()
        ]
        figures_file.offer("The most violated ranking", shown, f"{file}.html")


def csv_text(traces: dict[str, Trace]) -> str:
    """One line per step of each algorithm; positions and ranks start at 1."""
    return rows_csv(
        [
            {
                "algorithm": name,
                "step": number,
                "follows from": step.parent + 1 or None,
                "looks at": step.what,
                "place": step.position + 1,
                "score": float(step.score),
                "block from": step.block.start + 1,
                "block to": step.block.end,
                "lowest rank": step.block.low,
                "highest rank": step.block.high,
                "ranks tried": ";".join(map(str, step.probes)),
                "rank": step.rank,
                "comparisons": step.comparisons,
            }
            for name, trace in traces.items()
            for number, step in enumerate(trace.steps, start=1)
        ]
    )


frame.show_page(
    "most_violated_ranking",
    "Step through loss-augmented inference, which training runs at every iteration.",
    steps,
)
