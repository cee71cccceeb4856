"""A small assignment problem, its value in numbers, and what to notice about it."""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_uppercase

import numpy as np

from pages.parts.app.colours import IRRELEVANT_GLYPH, RELEVANT_GLYPH
from ranking.core import Bools, Floats, Ints
from ranking.inference.assignment import (
    LINEAR,
    Assignment,
    AssignmentSolution,
    all_orders,
    ap_assignment,
    average_precision,
    c_star_assignment,
    precision_assignment,
)

CORE = 2  # the first samples are the core of the c-star
PRECISION, STAR, AP = "p@k", "c-star", "AP"
PROBLEMS = (PRECISION, STAR, AP)
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Example:
    """A problem and what it is made of: kind of PROBLEMS, scores (n,), relevant (n,), k.

    violated: whether the most violated ranking is looked for.
    """

    kind: str
    scores: Floats
    relevant: Bools
    k: int
    violated: bool
    problem: Assignment

    @property
    def names(self) -> list[str]:
        """Of each sample: its letter, and whether it is relevant."""
        return [
            f"{letter} {RELEVANT_GLYPH if mark else IRRELEVANT_GLYPH}"
            for letter, mark in zip(ascii_uppercase, self.relevant, strict=False)
        ]

    def ranking(self, places: Ints) -> list[str]:
        """Names from the top."""
        return [self.names[sample] for sample in np.argsort(places)]


def example_of(kind: str, relevant: Bools, k: int, seed: int, violated: bool) -> Example:
    """Random scores and interactions with one decimal, so that sums can be checked by hand."""
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
    """What a ranking is chosen by (eq. 3, or eq. 4 for a prediction)."""
    return "score + loss" if example.violated else "score"


def linear_title(example: Example) -> str:
    loss = example.violated and example.kind != AP
    return "L: score at the rank" + (" + loss" if loss else "")


def notice_matrices(example: Example) -> str:
    told = "Outlined cells add up to the linear term: one per row and column."
    if example.problem.is_linear:
        return f"{told} **Notice** that no cell depends on another: this is a linear assignment."
    return (
        f"{told} In the other two, multiply each outlined cell by its twin and add the products. "
        "**Notice** that a cell there needs the ranks of two samples: this is a quadratic assignment."
    )


def value_in_numbers(example: Example, solution: AssignmentSolution) -> str:
    """g of the ranking, term by term, as the definitions have it."""
    problem, places = example.problem, solution.positions
    linear = problem.linear[np.arange(len(places)), places]
    said = f"\\underbrace{{{summed(linear[np.argsort(places)])}}}_{{\\langle L,\\Pi\\rangle}}"
    if example.kind == AP and example.violated:
        ap = average_precision(example.relevant, places)
        said += f"+1-\\underbrace{{{ap_in_numbers(example.relevant, places)}}}_{{AP\\,=\\,{ap:.3f}}}"
        form = r"s^\top\Pi c+1-\mathrm{Tr}\{A\,\Pi^\top B\,\Pi\}"
    elif problem.is_linear:
        form = r"\langle L,\Pi\rangle"
    else:
        pairs = solution.value - float(linear.sum())
        said += f"\\underbrace{{{pairs:+.2f}}}_{{\\mathrm{{Tr}}\\{{F\\Pi D\\Pi^\\top\\}}}}"
        form = r"\langle L,\Pi\rangle+\mathrm{Tr}\{F\,\Pi D\,\Pi^\top\}"
    return f"$\\displaystyle {form}={said}={solution.value:.3f}$"


def summed(terms: Floats) -> str:
    """Terms that are not 0, with signs; zeros stay away.

    >>> summed(np.array([0.5, 0.0, -0.25]))
    '0.5-0.25'
    """
    listed = "".join(f"{float(term):+.3g}" for term in terms if abs(term) > ROUNDING)
    return listed.removeprefix("+") or "0"


def ap_in_numbers(relevant: Bools, places: Ints) -> str:
    """The mean of the precision at each rank of a relevant sample.

    >>> ap_in_numbers(np.array([True, False, True]), np.array([0, 1, 2]))
    '\\\\tfrac{1}{2}(\\\\tfrac{1}{1}+\\\\tfrac{2}{3})'
    """
    ranks = np.sort(places[relevant]) + 1
    terms = "+".join(f"\\tfrac{{{count}}}{{{rank}}}" for count, rank in enumerate(ranks.tolist(), start=1))
    return f"\\tfrac{{1}}{{{len(ranks)}}}({terms})"


def notice_solvers(example: Example, found: list[AssignmentSolution]) -> str:
    values = example.problem.values(all_orders(len(example.scores)))
    best = found[0].value
    ties = int((values > best - ROUNDING).sum())
    missed = [solution.solver for solution in found if best - solution.value > ROUNDING]
    told = (
        f"{' and '.join(missed)} missed the best" if missed else "every solver found the best value this time"
    )
    shared = "one ranking has" if ties == 1 else f"{ties} rankings share"
    return (
        "Gap: to the best value; heuristics are inexact. "
        f"**Notice** that {shared} the best of {len(values):,} values, and that {told}."
    )


def note_of(example: Example) -> str:
    """What lets an exact solver be fast here."""
    if example.kind == AP and not example.violated:
        return "Without the loss AP is not in the problem: ranking by score is the best, as c = 1/rank falls."
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
