"""Ranking as assignment: precision at k, a c-star and AP on a few samples, each solved by all solvers."""

from __future__ import annotations

from string import ascii_uppercase

import numpy as np
import streamlit as st

from pages.parts.app import address, controls, frame, keys
from pages.parts.rankings import assignment_charts
from pages.parts.rankings.assignment_charts import (
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
from ranking.explain.assignment import ENUMERATION, AssignmentSolution, permutation_matrix, solutions

# samples: so few that each problem is solved exactly without a noticeable delay
MIN_SAMPLES, MAX_SAMPLES = (
    4,
    6,
)
MAX_SEED = 999
VIOLATED, PREDICTION = "most violated ranking", "prediction"


def steps() -> None:
    with frame.picture("assignment"):
        example, seed = choose()
        by_solver = {solution.solver: solution for solution in solutions(example.problem, seed)}
        heading = st.container()
        solution = by_solver[controls.segments("Solver", keys.SOLVER, list(by_solver), ENUMERATION)]
        order = " ".join(example.ranking(solution.positions))
        heading.markdown(f"## {order}: {measure_of(example)} {solution.value:.3f}")
        show_matrices(example, solution)
    st.markdown(value_in_numbers(example, solution))
    st.caption(notice_matrices(example))
    show_solvers(example, list(by_solver.values()))


def choose() -> tuple[Example, int]:
    """The example in the URL and its seed; ends the page if no sample is relevant."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = controls.segments("Measure or model", keys.ASSIGNMENT, PROBLEMS, PRECISION)
        aim = controls.segments("Find the", keys.ASSIGNMENT_AIM, (VIOLATED, PREDICTION), VIOLATED)
        n = controls.number("Samples", keys.ASSIGNED, MIN_SAMPLES, MAX_SAMPLES, 5, width=120)
        letters = list(ascii_uppercase[:n])
        parse = address.some_of(letters)
        bound = address.bound(
            keys.ASSIGNED_RELEVANT, parse, ["A", "C"], lambda value: ",".join(sorted(value))
        )
        marked = st.pills("Relevant", letters, selection_mode="multi", **bound)
        k = controls.number("k", keys.ASSIGNED_K, 1, n, 2, width=110) if kind != AP else 2
        seed = controls.number("Random scores", keys.ASSIGNMENT_SEED, 0, MAX_SEED, 0, width=130)
    if not marked:
        st.info("Choose at least one relevant sample: AP divides by their number.", icon=":material/info:")
        frame.end_page()
    return example_of(kind, np.isin(letters, marked), k, seed, aim == VIOLATED), seed


# ---------------------------------------------------------------------------------------------------------
# The matrices
# ---------------------------------------------------------------------------------------------------------


def show_matrices(example: Example, solution: AssignmentSolution) -> None:
    """The linear term with the cells of the ranking, and both matrices of the quadratic term by rank."""
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
        flow, design = "F: interactions", "D: |k − l|"
        if example.kind == AP:
            flow, design = "−B: relevant pairs", "A: 1/k"
        shown.append((flow, by_rank, counts, in_order, ranks, ("rank", "rank")))
        shown.append((design, problem.design, counts, ranks, ranks, ("rank", "rank")))
    for column, matrix in zip(st.columns(3, gap="small"), shown, strict=False):
        with column:
            assignment_charts.show_matrix(*matrix)


# ---------------------------------------------------------------------------------------------------------
# The solvers
# ---------------------------------------------------------------------------------------------------------


def show_solvers(example: Example, results: list[AssignmentSolution]) -> None:
    st.markdown("### Solvers")
    best = results[0].value
    lines = [f"| solver | {measure_of(example)} | gap | ranking |", "|:--|--:|--:|:--|"]
    for solution in results:
        gap = best - solution.value
        order = "".join(ascii_uppercase[sample] for sample in np.argsort(solution.positions))
        kind = "exact" if solution.exact else "heuristic"
        below = "0" if gap < ROUNDING else f"**{gap:.3f}**"
        lines.append(f"| {solution.solver} ({kind}) | {solution.value:.3f} | {below} | {order} |")
    st.markdown("\n".join(lines))
    st.caption(f"{notice_solvers(example, results)} {note_of(example)}")
    if example.kind == AP:
        frame.next_step(
            "The most violated ranking for AP needs no assignment solver",
            "most_violated_ranking",
            obvious=False,
        )


frame.show_page(
    "assignment", "p@k, a c-star and AP as assignment problems, solved exactly and by heuristics.", steps
)
