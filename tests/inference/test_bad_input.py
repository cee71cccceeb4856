"""What inference refuses: of each error its subject and what came."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from checks import FLAT_AT_THE_TOP, case
from refusals import ANYTHING, refused
from small_models import alone, order_model

from ranking.explain.assignment import precision_assignment
from ranking.explain.inference_steps import InferenceProblem, trace_of
from ranking.inference import (
    best_labelling,
    best_top_k,
    best_top_ks,
    bounded_labelling,
    bounded_max_marginals,
    max_marginals,
    most_violated_ranking,
)
from ranking.inference.best_order import OrderModel, approximate_order
from ranking.inference.best_permutation import WindowScores, best_permutations, exhaustive_permutations
from ranking.inference.cliques import Cliques
from ranking.inference.components import Components
from ranking.inference.doubling import Doubling
from ranking.inference.rank_fusion import weighted_votes

# the subject, what came, and a call that is refused
Row = tuple[str, Any, Callable[[], object]]

violated = most_violated_ranking
TWO = [1.0, 2.0], [True, False]
MANY = np.linspace(-1.0, 1.0, 450_000)
MANY[[301_003, 444_444]] = math.nan, 1e302

RANKINGS: list[Row] = [
    ("algorithm", "sort", lambda: violated(*TWO, "ap", "sort")),
    ("loss of search", "ndcg", lambda: violated(*TWO, "ndcg", "search")),
    ("discount of made", ANYTHING, lambda: violated([3.0, 1.0, 5.0], [0, 0, 1], FLAT_AT_THE_TOP)),
    ("scores", "2 others, the first at 301003", lambda: violated(MANY, MANY > 0.9)),
    *[
        ("scores", "1 others, the first at 1", lambda bad=bad: violated([1.0, bad, 3.0], [1, 0, 1]))
        for bad in (math.nan, math.inf, -math.inf)
    ],
    ("relevant", "no relevant sample", lambda: violated(np.zeros(3), [0, 0, 0])),
    ("relevant", "no irrelevant sample", lambda: violated(np.zeros(3), [1, 2, 1])),
    ("scores and relevant", "(2,) and (1,)", lambda: violated([1.0, 2.0], [True])),
    ("scores and relevant", "(1, 2) and (1, 2)", lambda: violated([[1.0, 2.0]], [[1, 0]])),
    ("scores", "<U1", lambda: violated(["1", "2"], TWO[1])),
    ("algorithm", "quicksort", lambda: trace_of(InferenceProblem.of(*TWO), "quicksort")),
    ("loss of search", "ndcg", lambda: trace_of(InferenceProblem.of(*TWO, "ndcg"), "search")),
    ("scores and relevant", "(1, 1) and (1,)", lambda: InferenceProblem.of([[1.0]], [True])),
    ("scores", None, lambda: InferenceProblem.of([1.0, np.nan], TWO[1])),
    ("relevant", "2 relevant of 2", lambda: InferenceProblem.of([1.0, 2.0], [True, True])),
    (
        "interleavings",
        184_756,
        lambda: InferenceProblem.of(np.arange(20.0), np.arange(20) < 10).interleavings(),
    ),
]


GOOD: dict[str, Any] = {"unary": [1.0, -1.0, 0.5], "edges": [[0, 1], [2, 1]], "penalty": [-1.0, -2.0]}
BAD_MODELS: list[tuple[dict[str, Any], str, object]] = [
    ({"unary": [[1.0]]}, "unary", (1, 1)),
    ({"unary": [1.0, np.nan, np.inf]}, "unary", "2 others, the first at 1"),
    ({"penalty": [-1.0]}, "penalty", (1,)),
    ({"penalty": [-1.0, 2.0]}, "penalty", "2 at edge 1"),
    ({"penalty": [-1.0, 1j]}, "penalty", "complex128"),
    ({"edges": [[0, 1], [1, 0]]}, "edges", "[0, 1] twice"),
    ({"edges": [[0, 1], [1, 3]]}, "edges", "[1, 3] at edge 1"),
    ({"edges": [[0, 1], [-1, 2]]}, "edges", "[-1, 2] at edge 1"),
    ({"edges": [[0, 1], [2, 2]]}, "edges", "[2, 2] at edge 1"),
    ({"edges": [[0.0, 1.0], [1, 2]]}, "edges", "float64 of shape (2, 2)"),
    ({"edges": [0, 1]}, "edges", "int64 of shape (2,)"),
]


def test_invalid_models_are_refused_by_every_solver() -> None:
    for details, subject, came in BAD_MODELS:
        for solve in (max_marginals, best_labelling):
            with case(details, solve), refused(subject, came):
                solve(**{**GOOD, **details})


PAIRS = max_marginals(**GOOD)
BOUNDS = bounded_max_marginals(np.zeros(3), [[0, 1], [1, 2]], np.zeros(2))
CHAIN = np.stack([np.arange(12), np.arange(1, 13)], axis=1)
COMPONENTS, DOUBLING = Components.of(13, CHAIN), Doubling.of(Components.of(13, CHAIN))
CLIQUES = Cliques.of(4, [np.arange(3)])
LABELS, ONES = [True, False, True], [1.0, 1.0, 1.0]

LABELLINGS: list[Row] = [
    ("algorithm", "cut", lambda: max_marginals(**GOOD, algorithm="cut")),
    ("samples in one component", 13, lambda: max_marginals(np.zeros(13), CHAIN, -np.ones(12), "enumerate")),
    *[
        ("components", ANYTHING, lambda n=n, edges=edges, solve=solve: solve(n, edges))
        for n, edges in ((13, CHAIN[::-1]), (14, CHAIN), (13, CHAIN[:-1]))
        for solve in (
            lambda n, edges: max_marginals(np.zeros(n), edges, -np.ones(len(edges)), "auto", COMPONENTS),
            lambda n, edges: bounded_labelling(np.zeros(n), edges, np.zeros(len(edges)), DOUBLING),
            lambda n, edges: bounded_max_marginals(np.zeros(n), edges, np.zeros(len(edges)), DOUBLING),
        )
    ],
    ("penalty", ANYTHING, lambda: bounded_max_marginals(np.zeros(2), [[0, 1]], [np.inf])),
    ("sample", -1, lambda: PAIRS.labelling(-1, True)),
    ("sample", 3, lambda: BOUNDS.labelling(3, True)),
    ("sample", 4, lambda: CLIQUES.max_marginals(np.zeros(4), [-1.0]).labelling(4, True)),
    ("labels", (2,), lambda: PAIRS.sums([True, False], ONES)),
    ("weights", (1, 3), lambda: PAIRS.sums(LABELS, [ONES])),
    ("weights", ANYTHING, lambda: PAIRS.sums(LABELS, [1.0, np.nan, 1.0])),
    ("unary", (2,), lambda: PAIRS.values(LABELS, [1.0, 1.0], [1.0, 1.0])),
    ("penalty", (3,), lambda: PAIRS.values(LABELS, ONES, ONES)),
    ("clique", [0], lambda: Cliques.of(4, [np.array([0])])),
    ("clique", [1, 1, 2], lambda: Cliques.of(4, [np.arange(3), np.array([1, 1, 2])])),
    ("penalty", (2,), lambda: CLIQUES.max_marginals(np.zeros(4), [-1.0, -1.0])),
    ("penalty", ANYTHING, lambda: CLIQUES.best_labelling(np.zeros(4), [1.0])),
]

AMONG = "interactions among core labels"
BAD_TOP_KS: list[tuple[dict[str, Any], str, object]] = [
    ({"unary": [[1.0]]}, "unary", (1, 1)),
    ({"unary": [np.inf, 0, 0, 0]}, "unary", None),
    ({"core": [1.5]}, "core", "float64 of shape (1,)"),
    ({"core": [4]}, "core", [4]),
    ({"core": [1, 1], "interactions": np.zeros((2, 4))}, "core", [1, 1]),
    ({"interactions": np.zeros((2, 4))}, "interactions", (2, 4)),
    ({"interactions": [[0, 0, 0, np.nan]]}, "interactions", None),
    ({"unary": [1e308] * 4}, "unary and interactions", "numbers up to 1e+308 and 0"),
    ({"interactions": [[1e308, 0, -1e308, 1e308]]}, "unary and interactions", "numbers up to 0 and 1e+308"),
    ({"interactions": [[0, 1, 0, 0]]}, AMONG, None),
    ({"core": [0, 1], "interactions": [[0, 1, 0, 0], [2, 0, 0, 0]]}, AMONG, None),
    ({"k": 5}, "k", 5),
    ({"k": 1.5}, "k", "float64 of shape ()"),
    ({"k": 1, "inside": [0, 2]}, "k", 1),
    ({"k": 3, "outside": [0, 2]}, "k", 3),
    ({"inside": [0], "outside": [0]}, "inside and outside", 0),
]


def test_invalid_top_k_problems_are_refused() -> None:
    good: dict[str, Any] = {"unary": np.zeros(4), "core": [1], "interactions": np.zeros((1, 4)), "k": 2}
    for details, subject, came in BAD_TOP_KS:
        with case(details), refused(subject, came):
            best_top_k(**{**good, **details})


NO_PLACES, ELEVEN = WindowScores(np.zeros((3, 3))), WindowScores(np.zeros((11, 3)))
ORDERS = order_model(0, 1)

TOPS_AND_ORDERS: list[Row] = [
    ("labels of the core", 21, lambda: best_top_k(np.zeros(30), range(21), np.zeros((21, 30)), 2)),
    ("k", 7, lambda: best_top_ks(np.zeros((2, 4)), [1], np.zeros((1, 4)), [2, 7])),
    ("k", 3, lambda: precision_assignment(np.zeros(2), [1, 0], 3, False)),
    ("method", "exact", lambda: approximate_order(ORDERS, "exact")),
    ("pair_design", None, lambda: order_with(pair_design=np.triu(ORDERS.pair_design))),
    ("designs", "(4,) and (5, 5)", lambda: order_with(design=ORDERS.design[:4])),
    ("values", None, lambda: weighted_votes(np.array([[0, 1]]), np.array([[np.nan]]), np.array([0, 2]))),
    ("samples of a sequence", 2, lambda: best_permutations(NO_PLACES, *alone(2))),
    ("first", None, lambda: best_permutations(NO_PLACES, *alone(3)[:2], np.array([0, 0, 1]))),
    ("trees", 0, lambda: best_permutations(NO_PLACES, *alone(3), trees=0)),
    ("samples of a sequence", 11, lambda: exhaustive_permutations(ELEVEN, *alone(11))),
    ("table", (3, 1), lambda: WindowScores(np.zeros((3, 1)))),
    ("table", None, lambda: WindowScores(np.full((3, 2), np.nan))),
    ("features", (3, 3), lambda: WindowScores(np.zeros((3, 2)), 0.0, np.zeros((3, 3)), np.zeros(2))),
]


def order_with(**parts: Any) -> OrderModel:
    return OrderModel(**{**vars(ORDERS), **parts})


@pytest.mark.parametrize("rows", [RANKINGS, LABELLINGS, TOPS_AND_ORDERS], ids=["rankings", "labels", "tops"])
def test_invalid_arguments_of_inference_are_refused(rows: list[Row]) -> None:
    for number, (subject, came, call) in enumerate(rows):
        with case(number, subject, came), refused(subject, came):
            call()
