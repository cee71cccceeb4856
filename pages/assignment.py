"""Ranking as assignment: precision at k, a c-star and AP on a few samples, each solved in every way."""

from __future__ import annotations

from string import ascii_uppercase

import numpy as np
import streamlit as st

from pages.parts.app import address, frame, keys
from pages.parts.views import assignment_charts, charts
from pages.parts.views.assignment_charts import cell
from pages.parts.views.assignment_words import (
    AP,
    PRECISION,
    PROBLEMS,
    ROUNDING,
    Example,
    example_of,
    linear_title,
    measure_of,
    note_of,
    notice_matrices,
    notice_solvers,
    value_in_numbers,
)
from ranking.inference.assignment import ENUMERATION, AssignmentSolution, permutation_matrix, solutions

FEWEST, MOST = 4, 6  # samples: all are solved exactly within a blink
MOST_SEED = 999
VIOLATED, PREDICTION = "most violated ranking", "prediction"


def steps() -> None:
    example, seed = choose()
    found = solutions(example.problem, seed)
    names = [solution.solver for solution in found]
    bound = address.bound(keys.SOLVER, address.one_of(names), ENUMERATION)
    heading = st.container()
    chosen = st.segmented_control("Ranking found by", names, required=True, **bound)
    solution = found[names.index(chosen)]
    with heading:
        order = " ".join(example.ranking(solution.positions))
        st.markdown(f"## {order}: {measure_of(example)} {solution.value:.3f}")
    show_matrices(example, solution)
    st.markdown(value_in_numbers(example, solution))
    st.caption(notice_matrices(example))
    show_solvers(example, found)


def choose() -> tuple[Example, int]:
    """The example that the URL asks for, and its seed; ends the page where no sample is relevant."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        bound = address.bound(keys.ASSIGNMENT, address.one_of(list(PROBLEMS)), PRECISION)
        kind = st.segmented_control("Measure or model", list(PROBLEMS), required=True, **bound)
        aims = [VIOLATED, PREDICTION]
        bound = address.bound(keys.ASSIGNMENT_AIM, address.one_of(aims), VIOLATED)
        aim = st.segmented_control("Find the", aims, required=True, **bound)
        bound = address.bound(keys.ASSIGNED, address.number(int, FEWEST, MOST), 5)
        n = int(st.number_input("Samples", FEWEST, MOST, step=1, width=120, **bound))
        letters = list(ascii_uppercase[:n])
        bound = address.bound(
            keys.ASSIGNED_RELEVANT,
            address.some_of(letters),
            ["A", "C"],
            lambda value: ",".join(sorted(value)),
        )
        marked = st.pills("Relevant", letters, selection_mode="multi", **bound)
        bound = address.bound(keys.ASSIGNED_K, address.number(int, 1, n), 2)
        k = 2
        if kind != AP:
            k = int(st.number_input("k", 1, n, step=1, width=110, **bound))
        bound = address.bound(keys.ASSIGNMENT_SEED, address.number(int, 0, MOST_SEED), 0)
        seed = int(st.number_input("Random scores", 0, MOST_SEED, step=1, width=130, **bound))
    if not marked:
        st.info("Choose at least one relevant sample: AP divides by their number.", icon=":material/info:")
        frame.end_page()
    return example_of(kind, np.isin(letters, marked), k, seed, aim == VIOLATED), seed


# ---------------------------------------------------------------------------------------------------------
# The matrices
# ---------------------------------------------------------------------------------------------------------


def show_matrices(example: Example, solution: AssignmentSolution) -> None:
    """The linear term with the cells of the ranking; the two matrices of the quadratic term in ranked order."""
    problem, n = example.problem, len(example.scores)
    P = permutation_matrix(solution.positions)
    ranks = [str(rank) for rank in range(1, n + 1)]
    in_order = [
        f"{rank} {name}" for rank, name in zip(ranks, example.ranking(solution.positions), strict=True)
    ]
    shown = [(linear_title(example), problem.linear, P > 0, example.names, ranks, ("sample", "rank"))]
    if not problem.is_linear:
        by_rank = P.T @ problem.flow @ P
        counts = by_rank * problem.design != 0
        flow, design = (
            ("−B: relevant pairs", "A: 1/k") if example.kind == AP else ("F: interactions", "D: |k − l|")
        )
        shown.append((flow, by_rank, counts, in_order, ranks, ("rank", "rank")))
        shown.append((design, problem.design, counts, ranks, ranks, ("rank", "rank")))
    columns = st.columns(3, gap="small")
    for column, (title, values, counted, rows, across, titles) in zip(columns, shown, strict=False):
        with column:
            st.markdown(f"**{title}**")
            figure = assignment_charts.matrix(values, counted, rows, across, titles)
            marked = ", ".join(
                f"{rows[i]} at {across[j]}: {cell(values[i, j])}" for i, j in np.argwhere(counted)
            )
            charts.show(
                figure,
                keys.widget(f"matrix {title}"),
                f"{title}, outlined: {marked}",
                "assignment",
                height=assignment_charts.height(n),
                top=8,
            )


# ---------------------------------------------------------------------------------------------------------
# The solvers
# ---------------------------------------------------------------------------------------------------------


def show_solvers(example: Example, found: list[AssignmentSolution]) -> None:
    st.markdown("### Solvers")
    best = found[0].value
    lines = [f"| solver | {measure_of(example)} | gap | ranking |", "|:--|--:|--:|:--|"]
    for solution in found:
        gap = best - solution.value
        order = "".join(ascii_uppercase[sample] for sample in np.argsort(solution.positions))
        kind = "exact" if solution.exact else "heuristic"
        below = "0" if gap < ROUNDING else f"**{gap:.3f}**"
        lines.append(f"| {solution.solver} ({kind}) | {solution.value:.3f} | {below} | {order} |")
    st.markdown("\n".join(lines))
    st.caption(f"{notice_solvers(example, found)} {note_of(example)}")
    if example.kind == AP:
        frame.next_step("Another score makes AP fast: Most violated ranking", "most_violated", obvious=False)


frame.show_page(
    "assignment", "p@k, a c-star and AP as assignment problems, solved exactly and by heuristics.", steps
)
