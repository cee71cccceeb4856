"""The readable twins find what the compiled algorithms find, and tell truly how."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import reference
from checks import case

from ranking.explain.inference_steps import TRACED, InferenceProblem, Trace, bins_of, trace_of
from ranking.explain.inference_steps.selecting import split_at_median
from ranking.inference import algorithms_for, most_violated_ranking
from ranking.inference.bins import bin_grid, count, plan_ranks
from ranking.inference.interleaving import Derivative
from ranking.losses import loss_names

PAIRS = [(loss, name) for loss in loss_names() for name in TRACED if name in algorithms_for(loss)]
SIZES = [((1, 1), None), ((1, 6), None), ((5, 1), None), ((3, 8), None), ((40, 12), None), ((25, 300), None)]
SIZES += [((7, 40), decimals) for decimals in (None, 0, 1)]


def random_problem(positives: int, negatives: int, seed: int, decimals: int | None = None) -> Any:
    """Scores and relevance; decimals: equal scores are many."""
    random = np.random.default_rng(seed)
    relevant = random.permutation(np.arange(positives + negatives) < positives)
    scores = random.normal(size=len(relevant)) * 10.0 ** random.integers(-2, 2) + 0.5 * relevant
    return (scores if decimals is None else scores.round(decimals)), relevant


@pytest.mark.parametrize(("loss", "algorithm"), PAIRS)
def test_bounds_close_on_the_ranks_of_the_compiled_algorithm(loss, algorithm):
    """Where scores are equal, on ranks that are worth as much."""
    for (size, decimals), seed in itertools.product(SIZES, range(12)):
        scores, relevant = random_problem(*size, seed, decimals)
        problem = InferenceProblem.of(scores, relevant, loss)
        fast = most_violated_ranking(scores, relevant, loss, algorithm)
        trace = trace_of(problem, algorithm)
        value = problem.value_of(trace.ranks)
        with case(size, decimals, seed):
            assert value.objective == pytest.approx(fast.objective, rel=1e-9, abs=1e-12)
            if decimals is None:
                ranks = fast.interleaving_ranks[np.argsort(-scores[~relevant], kind="stable")]
                assert trace.ranks.tolist() == ranks.tolist()
                assert value.loss == pytest.approx(fast.loss, abs=1e-12)
            assert (np.diff(trace.ranks) >= 0).all()
            assert_ends_where_it_says(trace, problem)


def test_of_two_ranks_that_are_worth_the_same_all_take_the_lower_one():
    """One of each kind, so that the wrong order costs 1/2, and the scores are apart by as much as that is worth."""
    scores, relevant = np.array([0.25, 0.0]), np.array([True, False])
    problem = InferenceProblem.of(scores, relevant)
    assert problem.derivative(1, 1, 0.0) == 0.0
    for algorithm in TRACED:
        assert trace_of(problem, algorithm).ranks.tolist() == [2], algorithm


@pytest.mark.parametrize("loss", loss_names())
def test_the_functions_of_the_rank_add_up_to_the_objective_of_any_interleaving(loss):
    scores, relevant = random_problem(4, 6, 3)
    problem, loss_of = InferenceProblem.of(scores, relevant, loss), reference.definition_of(loss)
    listed = {tuple(problem.order_of(ranks).tolist()): ranks for ranks in problem.interleavings()}
    assert listed.keys() == set(reference.interleavings(scores, relevant))
    for order, ranks in listed.items():
        value, expected = problem.value_of(ranks), reference.objective(order, scores, relevant, loss_of)
        assert problem.values[np.arange(6), ranks - 1].sum() == pytest.approx(expected)
        assert value.loss == pytest.approx(loss_of(reference.positions_of_relevant(order, relevant)))
        assert value.score + value.loss == value.objective


def test_derivatives_are_differences_of_the_functions():
    scores, relevant = random_problem(6, 9, 1)
    for loss in loss_names():
        problem = InferenceProblem.of(scores, relevant, loss)
        for j in range(1, 10):
            slopes = [problem.derivative(j, i, float(problem.irrelevant[j - 1])) for i in range(1, 7)]
            np.testing.assert_allclose(np.diff(problem.values[j - 1]), np.array(slopes) * 2 / 54, atol=1e-12)
            of_sample = problem.curve(j, float(problem.irrelevant[j - 1]))
            np.testing.assert_allclose(of_sample, problem.values[j - 1], atol=1e-12)


def test_the_prediction_maximises_the_score_alone():
    for seed in range(5):
        scores, relevant = random_problem(4, 5, seed, decimals=1)
        problem = InferenceProblem.of(scores, relevant)
        best = max(problem.value_of(ranks).score for ranks in problem.interleavings())
        assert problem.value_of(problem.ranks_by_score).score == pytest.approx(best)
        assert (np.diff(scores[problem.order_of(problem.ranks_by_score)]) <= 0).all()
    ranks = InferenceProblem.of([1.0, 1.0, 1.0, 0.0], [True, False, True, False]).ranks_by_score
    assert ranks.tolist() == [1, 3], "equal scores are predicted pessimistically"


def test_proposition_5_holds_where_it_is_claimed_and_no_further():
    crossings = 0
    for seed in range(20):
        scores, relevant = random_problem(9, 15, seed)
        problem = InferenceProblem.of(scores, relevant)
        for j in range(1, 16):
            last = problem.unimodal_to(j)
            assert last == min(10, j)
            signs = np.sign(np.diff(problem.values[j - 1]))
            assert (np.diff(signs[: last - 1]) <= 0).all()
            crossings += bool((np.diff(signs) > 0).any())
    assert crossings, "beyond it f is not unimodal, else the linear search there would be for nothing"
    assert InferenceProblem.of(scores, relevant, "ndcg").unimodal_to(3) is None


def assert_ends_where_it_says(trace: Trace, problem: InferenceProblem) -> None:
    """Bounds only close, hold the ranks at any time, and meet at the end."""
    bounds = [trace.bounds_after(number, problem.highest) for number in range(len(trace.steps) + 1)]
    low, high = (np.stack(ends) for ends in zip(*bounds, strict=True))
    assert (low[0] == 1).all()
    assert (high[0] == problem.highest).all()
    assert (np.diff(low, axis=0) >= 0).all()
    assert (np.diff(high, axis=0) <= 0).all()
    assert low[-1].tolist() == high[-1].tolist() == trace.ranks.tolist()


def test_operations_are_what_the_paper_says_of_them():
    positives, negatives = 30, 400
    scores, relevant = random_problem(positives, negatives, 5)
    problem = InferenceProblem.of(scores, relevant)
    traces = {name: trace_of(problem, name) for name in TRACED}
    assert traces["greedy"].derivatives == positives * negatives
    assert traces["greedy"].comparisons == traces["search"].comparisons
    assert negatives - 1 <= traces["greedy"].comparisons <= negatives * math.ceil(math.log2(negatives))
    # the first |P| samples: on from the mode, one by one
    linear = positives * positives
    assert traces["search"].derivatives <= negatives * math.ceil(math.log2(positives + 1)) + linear
    # Proposition 3: T_pos <= C'(p - 1) log(1 + n); on one level of the recursion ranks overlap in their ends only.
    assert traces["select"].derivatives <= positives * math.ceil(math.log2(1 + negatives))
    assert traces["buckets"].counted == positives + negatives
    assert traces["buckets"].comparisons < traces["select"].comparisons
    open_bins = sum(
        step.block.end - step.block.start for step in traces["buckets"].steps if step.what == "bin"
    )
    assert 0 < open_bins <= traces["buckets"].evaluated < traces["select"].comparisons
    assert traces["select"].evaluated < traces["search"].evaluated == negatives


def test_select_is_a_tree_of_halves_and_counts_a_comparison_for_each_sample_beside_a_pivot():
    scores, relevant = random_problem(5, 31, 2)
    trace = trace_of(InferenceProblem.of(scores, relevant), "select")
    for step, depth in zip(trace.steps, trace.depths(), strict=True):
        assert step.block.end - step.block.start <= 31 / 2**depth
        assert step.position == (step.block.start + step.block.end) // 2
        assert step.score == np.sort(scores[~relevant])[::-1][step.position]
    first, last, comparisons = split_at_median([9.0, 8.0, 1.0, 7.0, 2.0, 3.0, 4.0], 0, 7)
    assert (first, last, comparisons) == (3, 4, 7 + 4 + 1), "beside 7, of those below beside 3, and 4 alone"


def test_bins_are_those_of_the_compiled_form():
    for seed in range(8):
        scores, relevant = random_problem(6, 120, seed)
        problem = InferenceProblem.of(scores, relevant)
        bins, grid = bins_of(problem), bin_grid(scores)
        bin_of = np.empty(len(scores), np.uint16)
        counts, usable = count(scores, grid, bin_of)
        assert usable
        derivative = Derivative(problem.relevant, problem.half_gains, problem.steps)
        _, plan, _ = plan_ranks(counts, bin_of[relevant], grid, derivative)
        irrelevant = np.bincount(bin_of[~relevant], minlength=grid.bins)
        np.testing.assert_array_equal(np.diff(bins.starts), irrelevant)
        edges = [step for step in trace_of(problem, "buckets").steps if step.what == "edge"]
        low, high = Trace("", tuple(edges), np.zeros(120)).bounds_after(len(edges), problem.highest)
        for number in np.flatnonzero(irrelevant):
            inside = slice(bins.starts[number], bins.starts[number + 1])
            assert (set(low[inside]) == set(high[inside])) == (plan.entry[number] > 0), "settled"


def test_scores_that_no_grid_can_tell_apart_are_left_to_select():
    trace = trace_of(InferenceProblem.of([1.0, 1.0, 1.0], [True, False, False]), "buckets")
    assert trace.algorithm == "select"
    assert trace.ranks.tolist() == [1, 1]


@pytest.mark.parametrize("algorithm", ["greedy", "search", "select"])
def test_the_probes_of_a_trace_are_those_that_were_made(algorithm, monkeypatch):
    ranks, plain = list[int](), InferenceProblem.derivative

    def noted(problem: InferenceProblem, j: int, i: int, score: float) -> float:
        ranks.append(i)
        return plain(problem, j, i, score)

    monkeypatch.setattr(InferenceProblem, "derivative", noted)
    for seed in range(20):
        ranks.clear()
        trace = trace_of(InferenceProblem.of(*random_problem(5, 9, seed)), algorithm)
        assert [i for step in trace.steps for i in step.probes] == ranks
        assert trace.derivatives == len(ranks)
