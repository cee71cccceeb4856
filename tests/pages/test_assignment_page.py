"""The page Ranking as assignment: what it shows is what the definitions give."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
import reference
from shown import headline_of, texts

from pages.parts.rankings import assignment_charts
from ranking.explain.assignment import solutions

pytestmark = pytest.mark.usefixtures("started", "empty_home")
# matrices that each shows
KINDS = {"p@k": 1, "c-star": 3, "AP": 3}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("aim", ["most violated ranking", "prediction"])
def test_each_problem_and_its_best(kind, aim, open_page):
    app = open_page("assignment", **{"assignment": kind, "assignment.aim": aim, "assignment.seed": "4"})
    assert not app.error
    relevant = np.isin(list("ABCDE"), ["A", "C"])
    example = assignment_charts.example_of(kind, relevant, 2, 4, aim == "most violated ranking")
    best = best_by_definition(example)
    assert headline_of(app).endswith(f" {best:.3f}")
    matrices = 1 if kind == "AP" and aim == "prediction" else KINDS[kind]
    assert len(app.get("plotly_chart")) == matrices
    for solution in solutions(example.problem, 4):
        below = best - solution.value
        shown = "0" if below < 1e-9 else f"**{below:.3f}**"
        kind = "exact" if solution.exact else "heuristic"
        assert f"| {solution.solver} ({kind}) | {solution.value:.3f} | {shown} |" in texts(app)


def best_by_definition(example):
    """The greatest score plus loss, with the matrices' sum and the slow measures."""
    scores, n = example.scores, len(example.scores)
    values = []
    for order in itertools.permutations(range(n)):
        marks = [int(example.relevant[sample]) for sample in order]
        if example.kind == "AP":
            score = sum(scores[sample] / rank for rank, sample in enumerate(order, start=1))
            loss = 1 - reference.average_precision_of(marks)
        else:
            score = scores[list(order[: example.k])].sum()
            loss = 1 - reference.precision_of(marks, example.k)
        if example.kind == "c-star":
            F = example.problem.model.pairs
            score += sum(F[order[a], order[b]] * abs(a - b) for a in range(n) for b in range(n))
        values.append(score + example.violated * loss)
    return max(values)


def test_the_ranking_of_a_heuristic_is_shown_with_its_own_value(open_page):
    address = {"assignment": "AP", "assignment.seed": "0", "assignment.solver": "quadratic_assignment, faq"}
    app = open_page("assignment", **address)
    example = assignment_charts.example_of("AP", np.isin(list("ABCDE"), ["A", "C"]), 2, 0, True)
    by_solver = {solution.solver: solution for solution in solutions(example.problem)}
    faq = by_solver["quadratic_assignment, faq"]
    assert by_solver["enumeration"].value - faq.value > 1e-3, "an example in which it misses the best"
    assert headline_of(app).endswith(f"{faq.value:.3f}")
    assert re.search(r"missed it: [^.]*quadratic_assignment, faq", texts(app))
    terms = re.search(r"AP\\,=\\,(\d\.\d+)", texts(app))
    marks = [int(mark) for mark in example.relevant[np.argsort(faq.positions)]]
    assert float(terms[1]) == pytest.approx(reference.average_precision_of(marks), abs=5e-4)


def test_no_relevant_sample_is_reported(open_page):
    app = open_page("assignment", **{"assignment.relevant": ""})
    assert "at least one relevant sample" in app.info[0].value
    assert not app.get("plotly_chart")
