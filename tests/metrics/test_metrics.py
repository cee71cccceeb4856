"""Metrics against their definitions, against other libraries, and at the edges."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import pytrec_eval
import reference
from refusals import refused
from scipy import stats
from sklearn.metrics import average_precision_score, ndcg_score, roc_auc_score

from ranking import metrics
from ranking.metrics import measures

Sample = tuple[np.ndarray, np.ndarray]

BINARY: list[Callable[..., Any]] = [
    metrics.average_precision,
    metrics.break_even_precision,
    metrics.ndcg,
    metrics.evaluate,
    metrics.precision_recall_curve,
    lambda relevance, scores: metrics.precision_at_k(relevance, scores, 1),
]
PAIRS = [metrics.kendall_tau, metrics.pair_accuracy]
EVERY = [*BINARY, *PAIRS, metrics.ranking_order]


def untied(seed: int, grades: int) -> Sample:
    """Grades and scores of 200 samples, no two scores equal."""
    rng = np.random.default_rng(seed)
    relevance = rng.integers(0, grades, 200)
    relevance[:2] = 0, grades - 1
    return relevance, relevance + 2 * rng.normal(size=200)


def test_equal_scores_put_the_less_relevant_first_then_the_lower_row():
    relevance, scores = [1, 0, 2, 0, 1], [0.5, 0.5, 0.5, 0.5, 0.9]
    assert metrics.ranking_order(relevance, scores).tolist() == [4, 1, 3, 0, 2]
    assert metrics.ranking_order([0, 0], [1, 2]).tolist() == [1, 0], "without a relevant sample too"


def test_a_perfect_ranking_scores_exactly_one():
    relevance = np.sort(np.random.default_rng(0).integers(0, 6, 1000))
    scores = relevance + np.linspace(0, 0.5, 1000)
    for metric in (metrics.average_precision, metrics.break_even_precision, metrics.ndcg, *PAIRS):
        assert metric(relevance, scores) == 1.0
    assert metrics.kendall_tau(relevance, -scores) == -1.0


@pytest.mark.parametrize("seed", range(150))
def test_metrics_are_the_worst_over_all_orders_that_the_scores_allow(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    # most of them tied
    relevance, scores = rng.integers(0, 4, n), rng.integers(0, 4, n).astype(float)
    relevance[0] = 1

    def worst(metric: Callable[..., float], *details: Any) -> Any:
        value = reference.worst(lambda ranked: metric(ranked, *details), relevance.tolist(), scores.tolist())
        return pytest.approx(value, abs=1e-15)

    positives = int((relevance > 0).sum())
    assert metrics.average_precision(relevance, scores) == worst(reference.average_precision_of)
    assert metrics.break_even_precision(relevance, scores) == worst(reference.precision_of, positives)
    for k in range(1, n + 1):
        assert metrics.precision_at_k(relevance, scores, k) == worst(reference.precision_of, k)
        assert metrics.ndcg(relevance, scores, k=k) == worst(reference.ndcg_of, k)
        assert metrics.ndcg(relevance, scores, gain="exponential", k=k) == worst(reference.ndcg_of, k, True)
    assert metrics.ndcg(relevance, scores) == worst(reference.ndcg_of, n)


def test_pair_counts_equal_those_of_a_loop_over_pairs():
    for grades in (2, 3, 5, 8, 100, 10**6):
        rng = np.random.default_rng(grades)
        relevance, scores = rng.integers(0, grades, 150), rng.integers(0, 60, 150)
        right, wrong = reference.right_and_wrong_pairs(relevance.tolist(), scores.tolist())
        assert metrics.pair_accuracy(relevance, scores) == right / (right + wrong), grades
        assert metrics.kendall_tau(relevance, scores) == (right - wrong) / (right + wrong), grades


def test_untied_metrics_are_those_of_other_libraries():
    for seed in range(5):
        relevance, scores = untied(seed, grades=4)
        judged = {"query": {f"row{row}": int(grade) for row, grade in enumerate(relevance)}}
        run = {"query": {f"row{row}": float(score) for row, score in enumerate(scores)}}
        values = metrics.evaluate(relevance, scores)
        ours = {
            "map": values["AP"],
            "ndcg": values["NDCG"],
            "P_10": values["P@10"],
            "P_100": values["P@100"],
            "Rprec": metrics.break_even_precision(relevance, scores),
            "ndcg_cut_10": metrics.ndcg(relevance, scores, k=10),
        }
        theirs = pytrec_eval.RelevanceEvaluator(judged, set(ours)).evaluate(run)["query"]
        assert ours == pytest.approx({name: theirs[name] for name in ours}), seed
        expected = ndcg_score([2**relevance - 1], [scores], k=10)
        assert metrics.ndcg(relevance, scores, gain="exponential", k=10) == pytest.approx(expected), seed
        binary = relevance > 0
        expected = average_precision_score(binary, scores)
        assert metrics.average_precision(binary, scores) == pytest.approx(expected), seed
        assert metrics.pair_accuracy(binary, scores) == pytest.approx(roc_auc_score(binary, scores)), seed


def test_kendall_tau_is_that_of_scipy_where_nothing_ties_and_somers_d_where_grades_do():
    # out of reach for what compares all pairs
    many = np.random.default_rng(1).permutation(100_000)
    expected = stats.kendalltau(many, np.arange(100_000)).statistic
    assert metrics.kendall_tau(many, np.arange(100_000)) == pytest.approx(expected)
    graded, scores = untied(1, grades=5)
    assert metrics.kendall_tau(graded, scores) == pytest.approx(stats.somersd(graded, scores).statistic)


def test_average_precision_is_the_sum_of_precision_times_the_step_of_recall():
    relevance, scores = untied(3, grades=3)
    scores = scores.round()
    precision, recall, order = metrics.precision_recall_curve(relevance, scores)
    area = (precision * np.diff(recall, prepend=0)).sum()
    assert area == pytest.approx(metrics.average_precision(relevance, scores))
    assert recall[-1] == 1.0
    np.testing.assert_array_equal(order, metrics.ranking_order(relevance, scores))


def test_only_the_order_of_scores_counts_infinities_included():
    relevance = [0, 1, 2, 0, 1]
    finite, infinite = [5, 4, 3, 2, 1], [np.inf, 4, 3, 2, -np.inf]
    for metric in EVERY:
        np.testing.assert_equal(metric(relevance, infinite), metric(relevance, finite))
    assert metrics.average_precision([1, 0], [np.inf, np.inf]) == 1 / 2


def test_evaluate_keeps_the_cutoffs_that_the_samples_reach():
    for n in (1, 9, 10, 99, 100):
        relevance, scores = np.arange(n) % 2 == 0, -np.arange(n)
        values = metrics.evaluate(relevance, scores)
        expected = {
            "AP": metrics.average_precision(relevance, scores),
            **{f"P@{k}": metrics.precision_at_k(relevance, scores, k) for k in (10, 50, 100) if k <= n},
            "NDCG": metrics.ndcg(relevance, scores),
            "positives": (n + 1) // 2,
            "samples": n,
        }
        assert list(values.items()) == list(expected.items())
        assert all(type(value) is float for value in values.values())


def test_pairs_have_decimal_and_negative_grades_which_other_measures_refuse_with_a_remedy():
    truth, scores = np.array([-1.5, 0.25, 0.25, 7.0]), [1, 1, 3, 2]
    ranks = [0, 1, 1, 2]
    for metric in PAIRS:
        assert metric(truth, scores) == metric(ranks, scores)
    with refused("relevance", -1.5) as caught:
        metrics.ndcg(truth, scores)
    assert "np.unique" in caught.value.remedy


def test_exponential_ndcg_of_very_large_grades_does_not_overflow():
    relevance, scores = [5000, 4999, 0], [1, 2, 0]
    shift = (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))
    assert metrics.ndcg(relevance, scores, gain="exponential") == pytest.approx(shift)


def test_measures_of_data_without_relevant_samples_or_different_grades_are_refused():
    nothing = [*itertools.product(BINARY, ([], [0], [0, 0, 0])), *itertools.product(PAIRS, ([1, 1], [0], []))]
    for metric, relevance in nothing:
        with refused("relevance"):
            metric(relevance, [0.5] * len(relevance))


def test_without_an_irrelevant_sample_every_order_is_perfect():
    values = metrics.evaluate([1] * 10, np.arange(10))
    assert values == {"AP": 1.0, "P@10": 1.0, "NDCG": 1.0, "positives": 10.0, "samples": 10.0}
    assert metrics.break_even_precision([1, 1], [1, 1]) == 1.0


@pytest.mark.parametrize("metric", EVERY)
def test_bad_input_is_refused(metric):
    for subject, relevance, scores in (
        ("relevance", [1, 0], [1.0, 2.0, 3.0]),
        ("relevance", [1, np.nan], [1, 2]),
        ("relevance", [1, np.inf], [1, 2]),
        ("relevance", [1, "a"], [1, 2]),
        ("scores", [1, 0], [[1.0, 2.0]]),
        ("scores", [1, 0], 1.0),
        ("scores", [1, 0, 0], [1.0, np.nan, np.nan]),
        ("scores", [1, 0], ["a", "b"]),
        ("scores", [1, 0], [1j, 2]),
    ):
        with refused(subject):
            metric(relevance, scores)


def test_k_is_a_whole_number_within_the_ranking_and_the_gain_one_of_two():
    wrong = (0, -1, 4, 2.0, True, np.bool_(True), "2")
    for metric, k in itertools.product((metrics.precision_at_k, metrics.ndcg), wrong):
        with refused("k", repr(k)):
            metric([1, 0, 1], [3, 2, 1], k=k)
    assert metrics.precision_at_k([1, 0, 1], [3, 2, 1], np.int32(2)) == 1 / 2
    with refused("gain", "'cubic'"):
        metrics.ndcg([1, 0], [2, 1], gain="cubic")


def test_ascending_pairs_are_counted_also_where_some_grades_are_missing():
    for seed in range(50):
        numbers = np.random.default_rng(seed).integers(0, 9, 7)
        assert measures._ascents(numbers) == sum(
            a < b for a, b in itertools.combinations(numbers.tolist(), 2)
        ), seed
