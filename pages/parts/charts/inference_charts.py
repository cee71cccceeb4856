"""Charts of loss-augmented inference, one for each of its ideas.

Patterns of rankings, possible ranks, one function of the rank, the recursion of SELECT, and bins; for the
lesson: all rankings as points, one curve per image, planes, and operations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from pages.parts.app.colours import BLUE, DARK_GREY, GREEN, GREY, IRRELEVANT, PURPLE, RELEVANT, VERMILLION
from pages.parts.charts.inference_words import MAX_LINES
from pages.parts.charts.plots import hatched, line, points
from ranking.core import Floats, Ints
from ranking.explain.inference_steps import Bins, InferenceProblem, Step, Trace

# this import would load compiled modules before the first page is shown
if TYPE_CHECKING:
    from ranking.explain.training_planes import TrainingPlanes

# largest number of ranks with a + or − on each bar
MAX_SIGNS = 48
# largest number of columns with gaps between them
WIDE = 80
# distance of two rankings
BAND = 2.0
TREE_STYLES = {
    "to come": ("not yet evaluated", "rgba(128,128,128,.2)", {"color": GREY}),
    "done": ("median evaluated", DARK_GREY, {"color": "white"}),
    "now": ("this step", PURPLE, {"color": "black"}),
    "settled": ("settled without evaluation", BLUE, {"color": "white"}),
}
# Styles of lines in one chart: each differs from the others in colour, dash and symbol.
CURVES = (
    (BLUE, "solid", "circle"),
    (VERMILLION, "dash", "square"),
    (GREEN, "dot", "triangle-up"),
    (PURPLE, "dashdot", "cross"),
    (GREY, "longdash", "x"),
)
BY_SCORE = "irrelevant samples, the highest score first"


def patterns(problem: InferenceProblem, rankings: Sequence[tuple[str, Ints]]) -> go.Figure:
    """Plot ± patterns below each other, (name, interleaving ranks) each."""
    # Lines join the irrelevant samples of two successive patterns. Relevant samples also differ in sign and
    # height.
    figure, n = go.Figure(), len(problem.scores)
    bases = [BAND * (len(rankings) - 1 - row) for row in range(len(rankings))]
    for (_, ranks), base in zip(rankings, bases, strict=True):
        order = problem.order_of(ranks)
        for kind, name, colour, height, sign in (
            (True, "+ relevant", RELEVANT, 1.0, "+"),
            (False, "− irrelevant", IRRELEVANT, 0.62, "−"),
        ):
            places = np.flatnonzero(problem.is_relevant[order] == kind)
            figure.add_bar(
                x=places + 1,
                y=[height] * len(places),
                base=base,
                width=0.92 if n <= WIDE else 1.0,
                name=name,
                marker={"color": colour, "line": {"width": 0}},
                text=[sign] * len(places) if n <= MAX_SIGNS else None,
                textposition="inside",
                textangle=0,
                textfont={"color": "white", "size": 17},
                insidetextanchor="middle",
                customdata=problem.scores[order[places]],
                hovertemplate="rank %{x}, score %{customdata:.3g}<extra>" + name + "</extra>",
                showlegend=base == bases[0],
                legendgroup=name,
            )
    for upper, lower, base in zip(rankings, rankings[1:], bases[1:], strict=False):
        _join(figure, problem, (upper[1], lower[1]), base, VERMILLION if base == bases[-1] else GREY)
    figure.update_layout(barmode="overlay", bargap=0)
    figure.update_xaxes(title_text="rank", range=[0.3, n + 0.7], showgrid=False)
    labels = [name for name, _ in rankings]
    figure.update_yaxes(
        tickvals=[base + 0.4 for base in bases], ticktext=labels, showgrid=False, zeroline=False
    )
    return figure


def _join(
    figure: go.Figure, problem: InferenceProblem, pair: tuple[Ints, Ints], base: float, risen: str
) -> None:
    """Join the irrelevant samples of two rankings by lines; those that move up have the colour `risen`."""
    # Their lines are thick unless the colour is grey.
    if len(problem.negatives) > MAX_LINES:
        return
    before, after = (np.argsort(problem.order_of(ranks))[problem.negatives] + 1 for ranks in pair)
    for rises, colour, width in ((False, GREY, 1.0), (True, risen, 1.0 if risen == GREY else 2.5)):
        x: list[float | None] = []
        y: list[float | None] = []
        for start, end in zip(before.tolist(), after.tolist(), strict=True):
            if (end < start) == rises:
                x += [start, end, None]
                y += [base + BAND, base + 0.62, None]
        line(figure, x, y, colour, width, opacity=0.8)


def possible_ranks(problem: InferenceProblem, trace: Trace, done: int) -> go.Figure:
    """Plot the possible ranks of each irrelevant sample; rank 1, above all relevant ones, is at the top."""
    # A frame is around the block of the last step, and a diamond at its evaluation.
    low, high = trace.bounds_after(done, problem.highest)
    x, settled = np.arange(1, len(low) + 1), low == high
    figure = go.Figure()
    for chosen, name, style, opacity in (
        (~settled, "still possible", {**hatched(GREY, size=6), "line": {"width": 0}}, 0.55),
        (settled, "settled", {"color": BLUE, "line": {"width": 0}}, 1.0),
    ):
        figure.add_bar(
            x=x[chosen],
            y=(high - low + 1)[chosen],
            base=(low - 0.5)[chosen],
            width=0.92 if len(low) <= WIDE else 1.0,
            name=name,
            marker=style,
            opacity=opacity,
            customdata=np.stack([low[chosen], high[chosen]], axis=1),
            hovertemplate="irrelevant sample %{x}: rank %{customdata[0]} to %{customdata[1]}<extra></extra>",
        )
    if done:
        step = trace.steps[done - 1]
        block = step.block
        corners = {
            "x0": block.start + 0.5,
            "x1": block.end + 0.5,
            "y0": block.low - 0.5,
            "y1": block.high + 0.5,
        }
        figure.add_shape(type="rect", line={"color": PURPLE, "width": 3}, **corners)
        at = step.position + (0.5 if step.what == "edge" else 1)
        points(figure, [at], [step.rank], PURPLE, "diamond", 15, ("white", 2), name="evaluated")
    figure.update_layout(barmode="overlay", bargap=0)
    figure.update_xaxes(title_text=BY_SCORE, range=[0.3, len(low) + 0.7], showgrid=False)
    figure.update_yaxes(title_text="interleaving rank", range=[problem.highest + 0.6, 0.4], showgrid=False)
    if problem.highest <= 16:
        figure.update_yaxes(dtick=1)
    return figure


def of_rank(problem: InferenceProblem, step: Step) -> go.Figure:
    """Plot f by rank for the sample or bin boundary that a step evaluated; mark tried ranks and the best."""
    j = step.position + 1
    values, ranks = problem.curve(j, step.score), np.arange(1, problem.highest + 1)
    figure = go.Figure()
    last = problem.unimodal_to(j)
    if last is not None and last < problem.highest:
        figure.add_vrect(x0=last, x1=problem.highest + 0.4, fillcolor=GREY, opacity=0.18, line_width=0)
    hover = "rank %{x}: %{y:.4g}<extra></extra>"
    small = {"mode": "lines+markers", "marker": {"size": 5}}
    line(figure, ranks, values, GREY, 2, name="f", hovertemplate=hover, **small)
    probes = np.array(step.probes, np.int64)
    if len(probes):
        tried = np.unique(np.concatenate([probes, probes + 1]))
        points(figure, tried, values[tried - 1], BLUE, size=10, edge=(BLUE, 0), name="tried")
    best = [step.rank], [values[step.rank - 1]]
    points(figure, *best, PURPLE, "diamond", 16, ("white", 2), name="best possible rank")
    for edge in {step.block.low, step.block.high}:
        figure.add_vline(x=edge, line={"color": PURPLE, "dash": "dot", "width": 2})
    figure.update_xaxes(title_text="interleaving rank i", range=[0.6, problem.highest + 0.4], showgrid=False)
    figure.update_yaxes(title_text="f(i)")
    return figure


def tree(trace: Trace, done: int) -> go.Figure:
    """Plot the recursion of SELECT: a bar per block over its samples, a row per depth."""
    # Samples that are settled without evaluation are below their block in another colour.
    figure, depths = go.Figure(), trace.depths()
    rows: dict[str, list[tuple[int, int, int, str]]] = {state: [] for state in TREE_STYLES}
    for number, (step, depth) in enumerate(zip(trace.steps, depths, strict=True), start=1):
        state = "to come" if number > done else "now" if number == done else "done"
        block, reached = step.block, number <= done
        words = f"{block.low}–{block.high}" + (f" → {step.rank}" if reached else "")
        rows[state].append((block.start, block.end - block.start, depth, words))
        for bound in step.bounds if reached else ():
            if bound.low == bound.high and not bound.start <= step.position < bound.end:
                settled = bound.start, bound.end - bound.start, depth + 1, f"all {bound.low}"
                rows["settled"].append(settled)
    for state, (name, colour, font) in TREE_STYLES.items():
        if rows[state]:
            starts, widths, levels, texts = zip(*rows[state], strict=True)
            figure.add_bar(
                x=widths,
                y=levels,
                base=[start + 0.5 for start in starts],
                orientation="h",
                width=0.86,
                name=name,
                marker={"color": colour, "line": {"color": "white", "width": 1}},
                text=texts,
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                textfont={**font, "size": 14},
                hovertemplate="samples from %{base}: ranks %{text}<extra></extra>",
            )
    figure.update_layout(barmode="overlay", bargap=0, uniformtext={"mode": "hide", "minsize": 12})
    figure.update_xaxes(title_text=BY_SCORE, range=[0.3, len(trace.ranks) + 0.7], showgrid=False)
    figure.update_yaxes(title_text="recursion depth", autorange="reversed", dtick=1, showgrid=False)
    return figure


def bins(problem: InferenceProblem, partition: Bins, trace: Trace) -> go.Figure:
    """Plot how many irrelevant samples are in each bin, and how they were settled."""
    edges = sum(step.what == "edge" for step in trace.steps)
    low, high = trace.bounds_after(edges, problem.highest)
    counts = np.diff(partition.starts)
    widths = 1 / partition.grid.scale
    centres: Floats = partition.grid.top - (np.arange(partition.grid.bins) + 0.5) * widths
    inside = np.minimum(partition.starts[:-1], len(low) - 1)
    left = high[inside] - low[inside]
    figure = go.Figure()
    for chosen, name, style in (
        (left == 0, "bounds coincide: settled without evaluation", {"color": BLUE}),
        (left == 1, "two ranks left: decided by one sign", hatched(GREEN, "\\", 6)),
        (left > 1, "more: left to SELECT", hatched(VERMILLION, "x", 6)),
    ):
        shown = chosen & (counts > 0)
        figure.add_bar(
            x=centres[shown],
            y=counts[shown],
            width=0.94 * widths,
            name=name,
            marker=style,
            customdata=np.stack([low[inside][shown], high[inside][shown]], axis=1),
            hovertemplate="%{y} samples, ranks %{customdata[0]} to %{customdata[1]}<extra></extra>",
        )
    figure.update_layout(barmode="overlay", bargap=0)
    figure.update_xaxes(title_text="score, the highest first", autorange="reversed", showgrid=False)
    figure.update_yaxes(title_text="irrelevant samples")
    return figure


# ---------------------------------------------------------------------------------------------------------
# Lesson
# ---------------------------------------------------------------------------------------------------------


def all_rankings(
    worth: Sequence[tuple[float, float]], marked: Sequence[tuple[str, float, float]]
) -> go.Figure:
    """Plot every ranking as a point by score and loss, with names at the marked ones (name, score, loss)."""
    # Score plus loss is constant along the dotted line, which goes through the most violated ranking.
    scores, losses = (np.array(column) for column in zip(*worth, strict=True))
    best = float((scores + losses).max())
    figure = go.Figure()
    hover = "score %{x:.3f}, loss %{y:.3f}<extra></extra>"
    points(figure, scores, losses, GREY, edge=(GREY, 0), opacity=0.6, hovertemplate=hover)
    low, high = float(losses.min()) - 0.05, float(losses.max()) + 0.08
    line(figure, [best - low, best - high], [low, high], PURPLE, 3, "dot")
    styles = ((BLUE, "square"), (RELEVANT, "circle"), (VERMILLION, "diamond"))
    for (name, score, loss), (colour, symbol) in zip(marked, styles, strict=True):
        points(
            figure,
            [score],
            [loss],
            colour,
            symbol,
            18,
            ("white", 2),
            mode="markers+text",
            text=[f"<b>{name.removeprefix('most ')}</b>"],
            textposition="top left" if name == marked[0][0] else "top right" if loss < 0.5 else "bottom left",
            textfont={"size": 16},
            cliponaxis=False,
            hovertemplate=f"{name}: {hover}",
        )
    margin = 0.06 * float(np.ptp(scores)) + 1e-9
    figure.update_xaxes(
        title_text="score w·Ψ(X, R)", range=[float(scores.min()) - margin, float(scores.max()) + 6 * margin]
    )
    figure.update_yaxes(title_text="loss Δ(R*, R)", range=[low, high + 0.06])
    return figure


def all_of_rank(problem: InferenceProblem, names: Sequence[str]) -> go.Figure:
    """Plot f_j of each irrelevant sample as a line, with its best rank marked; at most as many lines as CURVES."""
    figure, ranks = go.Figure(), np.arange(1, problem.highest + 1)
    for values, name, (colour, dash, symbol) in zip(problem.values, names, CURVES, strict=False):
        best = problem.highest - 1 - int(np.argmax(values[::-1]))
        sizes = [20 if at == best else 8 for at in range(len(values))]
        marker = {"symbol": symbol, "size": sizes, "line": {"color": "white", "width": 1}}
        hover = f"{name}, rank %{{x}}: %{{y:.4g}}<extra></extra>"
        both = {"mode": "lines+markers", "marker": marker}
        line(figure, ranks, values, colour, 3, dash, name=name, hovertemplate=hover, **both)
    title = "interleaving rank i: one plus the relevant samples above it"
    figure.update_xaxes(title_text=title, dtick=1, showgrid=False)
    figure.update_yaxes(title_text="contribution to score + loss, f(i)")
    return figure


def planes(bounds: TrainingPlanes) -> go.Figure:
    """Plot both bounds by the number of planes found, with a mark for each plane that shows whether it is active."""
    figure, number = go.Figure(), np.arange(1, len(bounds.dual) + 1)
    line(figure, number, bounds.primal, BLUE, 3, name="primal")
    line(figure, number, bounds.dual, VERMILLION, 3, "dash", name="dual: optimum over the planes")
    hover = "plane %{x}, multiplier %{customdata:.3g}<extra></extra>"
    for chosen, name, symbol in (
        (bounds.multipliers > 0, "active", "circle"),
        (bounds.multipliers == 0, "not active", "circle-open"),
    ):
        x, y, of = number[chosen], bounds.dual[chosen], bounds.multipliers[chosen]
        points(
            figure,
            x,
            y,
            VERMILLION,
            symbol,
            13,
            (VERMILLION, 2),
            name=name,
            customdata=of,
            hovertemplate=hover,
        )
    figure.update_xaxes(title_text="planes found")
    figure.update_yaxes(title_text="objective", rangemode="tozero")
    return figure


def operations(sizes: Sequence[int], counts: Mapping[str, Sequence[int]]) -> go.Figure:
    """Plot the operations of each algorithm by the number of irrelevant samples, on logarithmic scales."""
    figure = go.Figure()
    for (name, values), (colour, dash, symbol) in zip(counts.items(), CURVES, strict=False):
        both = {"mode": "lines+markers", "marker": {"symbol": symbol, "size": 10}}
        hover = f"%{{x:,}} irrelevant samples, {name}: %{{y:,}}<extra></extra>"
        line(figure, list(sizes), list(values), colour, 3, dash, name=name, hovertemplate=hover, **both)
    ticks = [f"{size:,}" for size in sizes]
    figure.update_xaxes(title_text="irrelevant samples", type="log", tickvals=list(sizes), ticktext=ticks)
    figure.update_yaxes(title_text="operations", type="log", exponentformat="power", dtick=1)
    return figure
