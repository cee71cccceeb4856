"""Pictures of loss-augmented inference: patterns of rankings, ranks that are still possible, one function of the rank,
the tree of SELECT, the bins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from pages.parts.app.colours import BLUE, DARK_GREY, GREEN, GREY, IRRELEVANT, PURPLE, RELEVANT, VERMILLION
from pages.parts.views.inference_words import MOST_LINES
from ranking.core import Floats, Ints
from ranking.explain.inference_steps import Bins, InferenceProblem, Step, Trace

MOST_SIGNS = 48  # places of which each has its + or −
WIDE = 80  # columns that have a gap between them
BAND = 2.0  # from one ranking of a picture to the next
NO_LEGEND = {"showlegend": False}
STRIPES = {"shape": "/", "fillmode": "overlay", "fgcolor": "rgba(255,255,255,.55)", "size": 6}
TREE_LOOKS = {
    "to come": ("to come", "rgba(128,128,128,.2)", {"color": GREY}),
    "done": ("its median was looked at", DARK_GREY, {"color": "white"}),
    "now": ("this step", PURPLE, {"color": "black"}),
    "settled": ("settled without a look", BLUE, {"color": "white"}),
}


def patterns(problem: InferenceProblem, rankings: Sequence[tuple[str, Ints]]) -> go.Figure:
    """± patterns below each other, (name, interleaving ranks) each; lines follow irrelevant samples from one to the
    next. Relevant samples stand out by sign and height too."""
    figure, n = go.Figure(), len(problem.scores)
    bases = [BAND * (len(rankings) - 1 - row) for row in range(len(rankings))]
    for (_, ranks), base in zip(rankings, bases, strict=True):
        order = problem.order_of(ranks)
        for kind, name, colour, height, sign in (
            (True, "+ relevant", RELEVANT, 1.0, "+"),
            (False, "− not relevant", IRRELEVANT, 0.62, "−"),
        ):
            places = np.flatnonzero(problem.is_relevant[order] == kind)
            figure.add_bar(
                x=places + 1,
                y=[height] * len(places),
                base=base,
                width=0.92 if n <= WIDE else 1.0,
                name=name,
                marker={"color": colour, "line": {"width": 0}},
                text=[sign] * len(places) if n <= MOST_SIGNS else None,
                textposition="inside",
                textangle=0,
                textfont={"color": "white", "size": 17},
                insidetextanchor="middle",
                customdata=problem.scores[order[places]],
                hovertemplate="place %{x}, score %{customdata:.3g}<extra>" + name + "</extra>",
                showlegend=base == bases[0],
                legendgroup=name,
            )
    for upper, lower, base in zip(rankings, rankings[1:], bases[1:], strict=False):
        _join(figure, problem, (upper[1], lower[1]), base, VERMILLION if base == bases[-1] else GREY)
    figure.update_layout(barmode="overlay", bargap=0)
    figure.update_xaxes(title_text="place in the ranking", range=[0.3, n + 0.7], showgrid=False)
    labels = [name for name, _ in rankings]
    figure.update_yaxes(
        tickvals=[base + 0.4 for base in bases], ticktext=labels, showgrid=False, zeroline=False
    )
    return figure


def _join(
    figure: go.Figure, problem: InferenceProblem, pair: tuple[Ints, Ints], base: float, risen: str
) -> None:
    """Lines of the irrelevant samples between two rankings; those that rise have the colour `risen`, and are thick
    where that is not grey."""
    places = []
    for ranks in pair:
        place = np.empty(len(problem.scores), np.int64)
        place[problem.order_of(ranks)] = np.arange(1, len(problem.scores) + 1)
        places.append(place[problem.negatives])
    before, after = places
    if len(before) > MOST_LINES:
        return
    for rises, colour, width in ((False, GREY, 1.0), (True, risen, 1.0 if risen == GREY else 2.5)):
        x: list[float | None] = []
        y: list[float | None] = []
        for one, other in zip(before.tolist(), after.tolist(), strict=True):
            if (other < one) == rises:
                x += [one, other, None]
                y += [base + BAND, base + 0.62, None]
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines",
            line={"color": colour, "width": width},
            hoverinfo="skip",
            opacity=0.8,
            **NO_LEGEND,
        )


def possible_ranks(problem: InferenceProblem, trace: Trace, done: int) -> go.Figure:
    """For each irrelevant sample the ranks that it may still have; the last step's run in a frame, what it looked at as
    a diamond. Rank 1, above all relevant samples, is at the top."""
    low, high = trace.bounds_after(done, problem.highest)
    x, settled = np.arange(1, len(low) + 1), low == high
    figure = go.Figure()
    for chosen, name, colour, pattern in (
        (~settled, "still possible", GREY, STRIPES),
        (settled, "settled", BLUE, {}),
    ):
        figure.add_bar(
            x=x[chosen],
            y=(high - low + 1)[chosen],
            base=(low - 0.5)[chosen],
            width=0.92 if len(low) <= WIDE else 1.0,
            name=name,
            marker={"color": colour, "line": {"width": 0}, "pattern": pattern},
            opacity=1.0 if name == "settled" else 0.55,
            customdata=np.stack([low[chosen], high[chosen]], axis=1),
            hovertemplate="irrelevant sample %{x}: rank %{customdata[0]} to %{customdata[1]}<extra></extra>",
        )
    if done:
        step = trace.steps[done - 1]
        run, frame = step.run, {"color": PURPLE, "width": 3}
        corners = {"x0": run.start + 0.5, "x1": run.end + 0.5, "y0": run.low - 0.5, "y1": run.high + 0.5}
        figure.add_shape(type="rect", line=frame, **corners)
        figure.add_scatter(
            x=[step.position + (0.5 if step.what == "edge" else 1)],
            y=[step.rank],
            mode="markers",
            name="looked at",
            hoverinfo="skip",
            marker={"symbol": "diamond", "size": 15, "color": PURPLE, "line": {"color": "white", "width": 2}},
        )
    figure.update_layout(barmode="overlay", bargap=0)
    figure.update_xaxes(
        title_text="irrelevant samples, the highest score first", range=[0.3, len(low) + 0.7], showgrid=False
    )
    figure.update_yaxes(title_text="interleaving rank", range=[problem.highest + 0.6, 0.4], showgrid=False)
    if problem.highest <= 16:
        figure.update_yaxes(dtick=1)
    return figure


def of_rank(problem: InferenceProblem, step: Step) -> go.Figure:
    """f of what a step looked at, by rank, with the ranks that it tried, and the best."""
    j = step.position + 1
    values, ranks = problem.curve(j, step.score), np.arange(1, problem.highest + 1)
    figure = go.Figure()
    last = problem.unimodal_to(j)
    if last is not None and last < problem.highest:
        figure.add_vrect(x0=last, x1=problem.highest + 0.4, fillcolor=GREY, opacity=0.18, line_width=0)
    figure.add_scatter(
        x=ranks, y=values, mode="lines+markers", name="f", line={"color": GREY, "width": 2}, marker={"size": 5},
        hovertemplate="rank %{x}: %{y:.4g}<extra></extra>",
    )  # fmt: skip
    probes = np.array(step.probes, np.int64)
    if len(probes):
        tried = np.unique(np.concatenate([probes, probes + 1]))
        figure.add_scatter(
            x=tried, y=values[tried - 1], mode="markers", name="tried", hoverinfo="skip",
            marker={"color": BLUE, "size": 10, "symbol": "circle"},
        )  # fmt: skip
    figure.add_scatter(
        x=[step.rank], y=[values[step.rank - 1]], mode="markers", name="best of those possible", hoverinfo="skip",
        marker={"symbol": "diamond", "size": 16, "color": PURPLE, "line": {"color": "white", "width": 2}},
    )  # fmt: skip
    for edge in {step.run.low, step.run.high}:
        figure.add_vline(x=edge, line={"color": PURPLE, "dash": "dot", "width": 2})
    figure.update_xaxes(title_text="interleaving rank i", range=[0.6, problem.highest + 0.4], showgrid=False)
    figure.update_yaxes(title_text="f(i)")
    return figure


def tree(trace: Trace, done: int) -> go.Figure:
    """The recursion of SELECT: a bar a run, over the samples that it holds, halved from line to line; what is settled
    without a look of its own hangs below in another colour."""
    figure, depths = go.Figure(), trace.depths()
    rows: dict[str, list[tuple[int, int, int, str]]] = {"to come": [], "done": [], "now": [], "settled": []}
    for number, (step, depth) in enumerate(zip(trace.steps, depths, strict=True), start=1):
        state = "to come" if number > done else "now" if number == done else "done"
        run = step.run
        told = f"{run.low}–{run.high}" + ("" if state == "to come" else f" → {step.rank}")
        rows[state].append((run.start, run.end - run.start, depth, told))
        if state != "to come":
            for bound in step.bounds:
                if bound.low == bound.high and not bound.start <= step.position < bound.end:
                    rows["settled"].append(
                        (bound.start, bound.end - bound.start, depth + 1, f"all {bound.low}")
                    )
    for state, (name, colour, font) in TREE_LOOKS.items():
        if rows[state]:
            starts, widths, levels, told = zip(*rows[state], strict=True)
            figure.add_bar(
                x=widths,
                y=levels,
                base=[start + 0.5 for start in starts],
                orientation="h",
                width=0.86,
                name=name,
                marker={"color": colour, "line": {"color": "white", "width": 1}},
                text=told,
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                textfont={**font, "size": 14},
                hovertemplate="samples %{base} on: ranks %{text}<extra></extra>",
            )
    figure.update_layout(barmode="overlay", bargap=0, uniformtext={"mode": "hide", "minsize": 12})
    figure.update_xaxes(
        title_text="irrelevant samples, the highest score first",
        range=[0.3, len(trace.ranks) + 0.7],
        showgrid=False,
    )
    figure.update_yaxes(title_text="halved how often", autorange="reversed", dtick=1, showgrid=False)
    return figure


def bins(problem: InferenceProblem, found: Bins, trace: Trace) -> go.Figure:
    """How many irrelevant samples each bin holds, and how they were settled."""
    edges = sum(step.what == "edge" for step in trace.steps)
    low, high = trace.bounds_after(edges, problem.highest)
    counts = np.diff(found.starts)
    widths = 1 / found.grid.scale
    centres: Floats = found.grid.top - (np.arange(found.grid.bins) + 0.5) * widths
    inside = np.minimum(found.starts[:-1], len(low) - 1)
    left = high[inside] - low[inside]
    figure = go.Figure()
    for chosen, name, colour, pattern in (
        (left == 0, "bounds meet: settled without a look", BLUE, {}),
        (left == 1, "two ranks: one sign decides", GREEN, {**STRIPES, "shape": "\\"}),
        (left > 1, "more: left to SELECT", VERMILLION, {**STRIPES, "shape": "x"}),
    ):
        shown = chosen & (counts > 0)
        figure.add_bar(
            x=centres[shown],
            y=counts[shown],
            width=0.94 * widths,
            name=name,
            marker={"color": colour, "pattern": pattern},
            customdata=np.stack([low[inside][shown], high[inside][shown]], axis=1),
            hovertemplate="%{y} samples, ranks %{customdata[0]} to %{customdata[1]}<extra></extra>",
        )
    figure.update_layout(barmode="overlay", bargap=0)
    figure.update_xaxes(title_text="score, the highest first", autorange="reversed", showgrid=False)
    figure.update_yaxes(title_text="irrelevant samples")
    return figure
