"""The lesson about inference: how to find one ranking among n!, first on a handful of images, then on all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, factorial, lgamma, log

import numpy as np
import streamlit as st

from pages.parts.app import address, cache, controls, frame, keys
from pages.parts.charts import inference_charts, inference_words, plots
from pages.parts.charts.inference_words import NAMES, PREDICTED, RIGHT, VIOLATED
from pages.parts.components import tiles
from pages.parts.components.strip import strip
from pages.parts.lessons import lesson_steps, training_planes
from pages.parts.lessons.lesson_settings import VIOLATED as LESSON
from pages.parts.rankings.inference_scores import (
    FEW_IRRELEVANT,
    FEW_RELEVANT,
    MODEL,
    Scores,
    handful,
    inference_problem,
    inference_trace,
)
from ranking.core import ImageSet, Ints
from ranking.explain.inference_steps import InferenceProblem, trace_of
from ranking.losses import AveragePrecision
from ranking.metrics.ranked import Ranking
from ranking.storage.run import Run

METHOD = LESSON.methods[0]
STEPS = ("1 · Most violated", "2 · Image by image", "3 · Halving", "4 · Planes", "5 · Summary")
SIZES = (10, 30, 100, 300, 1000)
# irrelevant samples per relevant sample, as in Fig. 1 of the paper
ONE_IN = 10

FEW = FEW_RELEVANT + FEW_IRRELEVANT
HEADLINES = (
    f"{FEW} images, {factorial(FEW):,} orders: which is most violated?",
    "Each irrelevant image has its own best rank",
    "The best rank of the median bounds both halves",
    r"$n!$ constraints, of which a few determine the optimum",
    r"One ranking among $n!$ costs about $|N|\log|P|$ operations",
)


def steps() -> None:
    for step in lesson_steps.each_step(STEPS, keys.VIOLATED_STEP):
        step.headline.markdown(f"## {HEADLINES[step.number - 1]}")
        show_step(step.number)


def show_step(number: int) -> None:
    run = lesson_steps.trained(LESSON)[METHOD]
    if number <= 2:
        images = cache.image_set(run.settings["set"])
        few = handful(images, cache.ranking(run, "test"))
        problem = inference_problem(few, AveragePrecision())
        (show_worst if number == 1 else show_each)(images, few, problem)
    else:
        {3: show_halves, 4: show_planes, 5: show_summary}[number](run)


# ---------------------------------------------------------------------------------------------------------
# 1: the most violated ranking
# ---------------------------------------------------------------------------------------------------------


def show_worst(images: ImageSet, few: Scores, problem: InferenceProblem) -> None:
    ranks = trace_of(problem, "select").ranks
    rankings = inference_words.three(problem, ranks)
    worth = {name: problem.value_of(order) for name, order in rankings.items()}
    wide, narrow = st.columns(2, gap="large")
    with wide:
        for name, order in rankings.items():
            value = worth[name]
            st.markdown(
                f"**{TITLES[name]}**: score {value.score:.3f} + loss {value.loss:.3f} = **{value.objective:.3f}**",
            )
            show_order(images, few, problem, order, name)
    every = problem.interleavings()
    values = [problem.value_of(value) for value in every]
    figure = inference_charts.all_rankings(
        [(value.score, value.loss) for value in values],
        [(name, value.score, value.loss) for name, value in worth.items()],
    )
    with narrow:
        alt = f"All {len(every)} patterns by score and loss. " + "; ".join(
            f"{name}: {value.score:.3f} and {value.loss:.3f}" for name, value in worth.items()
        )
        plots.show(figure, keys.widget("all rankings"), alt, "all-rankings", height=400, top=8)
        st.caption(
            "Training requires the score of the correct ranking to exceed that of every other by at least its loss."
        )
    st.caption(
        f"All {factorial(len(few.scores)):,} orders have {len(every)} patterns of ✓ and ✗: the points. "
        "**Notice** the most violated ranking, farthest up and right: its score plus loss exceeds the correct one's by "
        f"{max(0.0, worth[VIOLATED].objective - worth[RIGHT].objective):.3f}, its slack $\\xi$."
    )


TITLES = {
    RIGHT: "The correct ranking R*",
    PREDICTED: f"The prediction of {METHOD}",
    VIOLATED: "The most violated ranking",
}


def show_order(images: ImageSet, few: Scores, problem: InferenceProblem, ranks: Ints, name: str) -> None:
    """Show the handful of images in the order of the interleaving ranks."""
    assert few.rows is not None
    order = problem.order_of(ranks)
    ranked = Ranking(
        few.rows[order], few.relevant[order].astype(np.int64), -np.arange(len(order), dtype=float)
    )
    shown = [
        replace(tile, right=f"{few.scores[row]:+.1f}")
        for tile, row in zip(tiles.top_tiles(images, ranked), order, strict=True)
    ]
    label = f"{TITLES[name]}: {len(shown)} images"
    strip(shown, name=f"order {name}", label=label, columns=len(shown), narrow=4)


# ---------------------------------------------------------------------------------------------------------
# 2: image by image
# ---------------------------------------------------------------------------------------------------------

ADDS = "Each irrelevant image adds a term, which depends on how many relevant images are above it (Observation 3)."


def show_each(images: ImageSet, few: Scores, problem: InferenceProblem) -> None:
    ranks = trace_of(problem, "greedy").ranks
    names = [f"image {place + 1}, score {score:+.2f}" for place, score in enumerate(problem.irrelevant)]
    figure = inference_charts.all_of_rank(problem, names)
    wide, narrow = st.columns([3, 2], gap="large")
    with wide:
        listed = ", ".join(f"{name}: best rank {rank}" for name, rank in zip(names, ranks, strict=True))
        plots.show(figure, keys.widget("f of each"), listed, "f-of-each", height=400, top=8)
    with narrow:
        st.markdown("**Irrelevant images and their best ranks**")
        assert few.rows is not None
        shown = tiles.sample_tiles(images, cache.thumbnails(images.key), few.rows[problem.negatives].tolist())
        shown = [
            replace(tile, left=f"{place}", right=f"rank {rank}", mark="irrelevant")
            for place, (tile, rank) in enumerate(zip(shown, ranks, strict=True), start=1)
        ]
        strip(
            shown, name="irrelevant ones", label="Irrelevant images with their best rank", columns=3, narrow=3
        )
        st.markdown(r"$\displaystyle \text{score}+\text{loss}=\sum_{j=1}^{|N|} f_j(r_j)$", help=ADDS)
    tried, every = problem.values.size, len(problem.interleavings())
    st.caption(
        f"**Notice** the large marks, the top of each curve: {tried} values instead of {every} patterns. The best "
        f"ranks, {', '.join(map(str, ranks))}, never decrease (quicksort, Observation 4), so choosing each alone gives "
        "a ranking."
    )


# ---------------------------------------------------------------------------------------------------------
# 3: halving
# ---------------------------------------------------------------------------------------------------------


def show_halves(run: Run) -> None:
    ranked = cache.ranking(run, "train")
    given = Scores(ranked.scores, ranked.relevance > 0)
    problem = inference_problem(given, AveragePrecision())
    trace = inference_trace(given.token, problem, "select")
    count = len(trace.steps)
    done = controls.slider("Evaluated medians", keys.EVALUATED, 0, count, 1)
    figure = inference_charts.possible_ranks(problem, trace, done)
    alt = inference_words.possible_alt(problem, trace, done)
    plots.show(figure, keys.widget("halves"), alt, "halves", height=310, top=8)
    text = inference_words.of_step(trace.steps[done - 1]) if done else "No rank is bounded yet."
    low, high = trace.bounds_after(done, problem.highest)
    st.markdown(f"### {text}")
    st.caption(
        f"{METHOD} for “{LESSON.query}”: {len(problem.scores):,} training samples, {len(problem.positives)} relevant. "
        f"**Notice** that {np.count_nonzero(low == high)} of {len(low)} are settled after {done} of {count} evaluations"
        f"; {np.count_nonzero(trace.ranks == problem.highest)} samples end below every relevant one."
    )


# ---------------------------------------------------------------------------------------------------------
# 4: planes
# ---------------------------------------------------------------------------------------------------------


def show_planes(run: Run) -> None:
    planes, n = training_planes.of(run), len(cache.ranking(run, "train").scores)
    count, last = len(planes.dual), planes.dual[-1]
    alt = (
        f"Both bounds by the number of planes found: {planes.active} of {count} planes are active at the end"
    )
    plots.show(inference_charts.planes(planes), keys.widget("planes"), alt, "planes", height=350, top=8)
    st.markdown(
        f"Optimum over {count} planes: **{planes.cvxpy:.6g}** in CVXPY, **{last:.6g}** here.",
        help=PLANE,
    )
    # in percent, rounded up
    most = ceil(1e4 * (1 - last / planes.primal[-1])) / 100
    orders = rf"${n}! > 10^{{{int(lgamma(n + 1) / log(10))}}}$"
    st.caption(
        f"The first *plane* and those of {count - 1} iterations are constraints of most violated rankings. "
        f"{n:,} samples: {orders} constraints. **Notice**: {planes.active} of {count} planes are active; all other "
        f"constraints change the optimum by at most {most:.2f}%."
    )


PLANE = (
    "The program over the planes has only their constraints, so its optimum is a lower bound on the objective. A plane "
    "is active if its multiplier is positive."
)


# ---------------------------------------------------------------------------------------------------------
# 5: summary
# ---------------------------------------------------------------------------------------------------------


def show_summary(run: Run) -> None:
    counts = counted()
    figure = inference_charts.operations(SIZES, counts)
    last = {name: values[-1] for name, values in counts.items()}
    listed = ", ".join(f"{name} {value:,}" for name, value in last.items())
    alt = f"Operations by the number of irrelevant samples. With {SIZES[-1]:,}: {listed}"
    plots.show(figure, keys.widget("operations"), alt, "operations", height=380, top=8)
    st.caption(
        "**Greedy** tries every rank of each irrelevant sample, **SEARCH** bisects, **SELECT** halves, "
        "and **Buckets** counts scores into bins. Operations: comparisons of scores, scores counted, differences of "
        f"$f_j$; one relevant sample per {ONE_IN} irrelevant. **Notice**: {grown(counts)}."
    )
    with st.container(horizontal=True):
        if frame.pressed("Step through your own scores", keys.widget("own scores"), type="primary"):
            st.switch_page(
                "pages/most_violated_ranking.py",
                query_params=address.only(**{keys.RUN: run.id, keys.SCORES: MODEL, keys.SPLIT: "train"}),
            )
        frame.next_step("Measure inference times", "speed_lab", obvious=False)


def grown(counts: Mapping[str, Sequence[int]]) -> str:
    """Say how the operations of each algorithm grow from the middle of SIZES to its end."""
    middle = len(SIZES) // 2
    times = (f"{name} {values[-1] / values[middle]:.0f}×" for name, values in counts.items())
    return (
        f"with {SIZES[-1] / SIZES[middle]:.0f} times as many irrelevant samples, {SIZES[middle]:,} to {SIZES[-1]:,}, "
        f"they grow: {', '.join(times)}"
    )


@st.cache_data(show_spinner="Counting operations …", max_entries=1)
def counted() -> dict[str, list[int]]:
    """Count the operations of each algorithm at SIZES, on random scores."""
    counts: dict[str, list[int]] = {name: [] for name in NAMES.values()}
    random = np.random.default_rng(0)
    for size in SIZES:
        relevant = np.arange(size + size // ONE_IN) < size // ONE_IN
        problem = InferenceProblem.of(random.normal(size=len(relevant)) + 2.0 * relevant, relevant)
        for key, name in NAMES.items():
            trace = trace_of(problem, key)
            counts[name].append(trace.comparisons + trace.derivatives + trace.counted)
    return counts


frame.show_page("violated_lesson", "One ranking among n! is found fast.", steps)
