"""A small assignment problem: its matrices as heatmaps, its value in numbers, and what to notice about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.parts.app import keys
from pages.parts.app.colours import (
    DARK_BLUE,
    DARK_GREY,
    DARK_VERMILLION,
    IRRELEVANT_GLYPH,
    PURPLE,
    RELEVANT_GLYPH,
)
from pages.parts.charts import plots
from ranking.core import Bools, Floats, Ints
from ranking.explain.assignment import (
    LINEAR,
    Assignment,
    AssignmentSolution,
    all_orders,
    ap_assignment,
    average_precision,
    c_star_assignment,
    precision_assignment,
)

# the first samples are the core of the c-star
CORE = 2
PRECISION, STAR, AP = "p@k", "c-star", "AP"
PROBLEMS = (PRECISION, STAR, AP)
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Example:
    """A problem and its parts."""

    # One of PROBLEMS.
    kind: str
    # (n,)
    scores: Floats
    # (n,)
    relevant: Bools
    k: int
    # Whether it asks for the most violated ranking.
    violated: bool
    problem: Assignment

    @property
    def names(self) -> list[str]:
        """Return the letter of each sample with the sign of its relevance."""
        return [
            f"{letter} {RELEVANT_GLYPH if mark else IRRELEVANT_GLYPH}"
            for letter, mark in zip(ascii_uppercase, self.relevant, strict=False)
        ]

    def ranking(self, places: Ints) -> list[str]:
        """Return the names from the top."""
        return [self.names[sample] for sample in np.argsort(places)]


def example_of(kind: str, relevant: Bools, k: int, seed: int, violated: bool) -> Example:
    """Return a problem with random scores and interactions of one decimal."""
    # So that sums can be checked by hand.
    rng = np.random.default_rng(seed)
    n = len(relevant)
    scores = rng.normal(scale=0.6, size=n).round(1)
    pairs = rng.normal(scale=0.3, size=(n, n)).round(1)
    interactions = (np.triu(pairs, 1) + np.triu(pairs, 1).T)[:CORE]
    problem = {
        PRECISION: lambda: precision_assignment(scores, relevant, k, violated),
        STAR: lambda: c_star_assignment(scores, relevant, k, np.arange(CORE), interactions, violated),
        AP: lambda: ap_assignment(scores, relevant, violated),
    }[kind]()
    return Example(kind, scores, relevant, k, violated, problem)


def measure_of(example: Example) -> str:
    """Return what the ranking maximises (eq. 3, or eq. 4 for a prediction)."""
    return "score + loss" if example.violated else "score"


def linear_title(example: Example) -> str:
    loss = example.violated and example.kind != AP
    return "L: score at the rank" + (" + loss" if loss else "")


def notice_matrices(example: Example) -> str:
    outlined = "Outlined cells add up to the linear term: one per row and column."
    if example.problem.is_linear:
        return f"{outlined} **Notice** that no cell depends on another: this is a linear assignment."
    return (
        f"{outlined} In the other two, multiply each outlined cell by its twin and add the products. "
        "**Notice** that a cell there needs the ranks of two samples: this is a quadratic assignment."
    )


def value_in_numbers(example: Example, solution: AssignmentSolution) -> str:
    """Return g of the ranking as LaTeX, term by term as in the definitions."""
    problem, places = example.problem, solution.positions
    linear = problem.linear[np.arange(len(places)), places]
    terms = f"\\underbrace{{{summed(linear[np.argsort(places)])}}}_{{\\langle L,\\Pi\\rangle}}"
    form = r"\langle L,\Pi\rangle"
    if example.kind == AP and example.violated:
        ap = average_precision(example.relevant, places)
        terms += f"+1-\\underbrace{{{ap_in_numbers(example.relevant, places)}}}_{{AP\\,=\\,{ap:.3f}}}"
        form = r"s^\top\Pi c+1-\mathrm{Tr}\{A\,\Pi^\top B\,\Pi\}"
    elif not problem.is_linear:
        pairs = solution.value - float(linear.sum())
        terms += f"\\underbrace{{{pairs:+.2f}}}_{{\\mathrm{{Tr}}\\{{F\\Pi D\\Pi^\\top\\}}}}"
        form += r"+\mathrm{Tr}\{F\,\Pi D\,\Pi^\top\}"
    return f"$\\displaystyle {form}={terms}={solution.value:.3f}$"


def summed(terms: Floats) -> str:
    """Return the terms with their signs, without zeros.

    >>> summed(np.array([0.5, 0.0, -0.25]))
    '0.5-0.25'
    """
    listed = "".join(f"{float(term):+.3g}" for term in terms if abs(term) > ROUNDING)
    return listed.removeprefix("+") or "0"


def ap_in_numbers(relevant: Bools, places: Ints) -> str:
    """Return AP as LaTeX: the mean of the precision at the rank of each relevant sample.

    >>> ap_in_numbers(np.array([True, False, True]), np.array([0, 1, 2]))
    '\\\\tfrac{1}{2}(\\\\tfrac{1}{1}+\\\\tfrac{2}{3})'
    """
    ranks = np.sort(places[relevant]) + 1
    terms = "+".join(f"\\tfrac{{{count}}}{{{rank}}}" for count, rank in enumerate(ranks.tolist(), start=1))
    return f"\\tfrac{{1}}{{{len(ranks)}}}({terms})"


def notice_solvers(example: Example, results: list[AssignmentSolution]) -> str:
    values = example.problem.values(all_orders(len(example.scores)))
    best = results[0].value
    ties = int((values > best - ROUNDING).sum())
    missed = ", ".join(solution.solver for solution in results if best - solution.value > ROUNDING)
    return (
        "Gap: difference to the best value; heuristics are inexact. "
        f"**Notice** how many of {len(values):,} rankings have the best value, {ties}, and which solvers missed it: "
        f"{missed or 'none'}."
    )


def note_of(example: Example) -> str:
    """Say why an exact solver is fast for this problem."""
    if example.kind == AP and not example.violated:
        return "Without the loss AP is not in the problem: ranking by score is best, because c = 1/rank decreases."
    if example.problem.is_linear:
        return (
            f"{LINEAR} takes O(N³). quadratic_assignment has the linear term on the diagonals of its two matrices; "
            "faq relaxes it to squares."
        )
    if example.kind == STAR:
        return (
            f"The core is {' and '.join(ascii_uppercase[:CORE])}: best_order solves one linear assignment for each "
            "placement of the core, O(N^(C+3)). F > 0 puts two samples far apart, F < 0 close together."
        )
    return (
        "Relevant samples alone interact, so best_order takes all of them but one as its core. "
        "The score here is s′Πc with c = 1/rank."
    )


# White numbers are legible on all of them.
COLOURS = [[0.0, DARK_VERMILLION], [0.5, DARK_GREY], [1.0, DARK_BLUE]]
# pixels
ROW = 34
# of a cell, from its middle to its outline
EDGE = 0.46


def show_matrix(
    title: str,
    values: Floats,
    counted: Bools,
    rows: Sequence[str],
    columns: Sequence[str],
    titles: tuple[str, str],
) -> None:
    """Show a matrix."""
    # values: (N, N) from the top. counted: (N, N), whether a cell is outlined and bold. titles: of the rows
    # and of the columns.
    most, n = max(1e-9, float(np.abs(values).max())), len(values)
    figure = go.Figure()
    figure.add_heatmap(
        z=values,
        zmin=-most,
        zmax=most,
        colorscale=COLOURS,
        showscale=False,
        xgap=2,
        ygap=2,
        customdata=np.array([[[row, column] for column in columns] for row in rows]),
        hovertemplate="%{customdata[0]}, %{customdata[1]}: %{z:.3f}<extra></extra>",
    )
    i, j = np.indices(values.shape).reshape(2, -1)
    texts = [
        f"<b>{cell(values[at])}</b>" if counted[at] else cell(values[at]) for at in zip(i, j, strict=True)
    ]
    font = {"size": 14, "color": "white"}
    figure.add_scatter(x=j, y=i, mode="text", text=texts, textfont=font, hoverinfo="skip", showlegend=False)
    marked = np.argwhere(counted).tolist()
    for y, x in marked:
        corners = {"x0": x - EDGE, "x1": x + EDGE, "y0": y - EDGE, "y1": y + EDGE}
        figure.add_shape(type="rect", line={"color": PURPLE, "width": 3}, **corners)
    fixed = {
        "tickvals": list(range(n)),
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
        "tickangle": 0,
    }
    figure.update_xaxes(
        ticktext=list(columns), side="top", title_text=titles[1], range=[-0.5, n - 0.5], **fixed
    )
    figure.update_yaxes(ticktext=list(rows), title_text=titles[0], range=[n - 0.5, -0.5], **fixed)
    alt = ", ".join(f"{rows[y]} at {columns[x]}: {cell(values[y, x])}" for y, x in marked)
    st.markdown(f"**{title}**")
    key, height = keys.widget(f"matrix {title}"), 70 + ROW * n
    plots.show(figure, key, f"{title}, outlined: {alt}", "assignment", height, top=8)


def cell(value: float) -> str:
    """Return a number as the text of a cell.

    >>> cell(0.0), cell(-0.25), cell(1 / 3), cell(2.0)
    ('0', '−0.25', '0.33', '2')
    """
    text = f"{value:.2f}".rstrip("0").rstrip(".").replace("-", "−")
    return "0" if text == "−0" else text
