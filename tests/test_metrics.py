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


def untied(seed: int, grades: int = 2, n: int = 200) -> Sample:
    """Grades and scores of n samples, no two scores equal."""
    rng = np.random.default_rng(seed)
    relevance = rng.integers(0, grades, n)
    relevance[:2] = 0, grades - 1
    scores = relevance + 2 * rng.normal(size=n)
    assert len(np.unique(scores)) == n
    return relevance, scores


def small_tied(count: int) -> list[Sample]:
    """Small random samples, most of them with equal scores, with at least two different grades."""
    rng = np.random.default_rng(0)
    samples = []
    while len(samples) < count:
        n = int(rng.integers(2, 7))
        relevance, scores = rng.integers(0, 4, n), rng.integers(0, 4, n).astype(float)
        if len(set(relevance.tolist())) > 1:
            samples.append((relevance, scores))
    return samples


# ---------------------------------------------------------------------------------------------------------
# By hand
# ---------------------------------------------------------------------------------------------------------


def test_equal_scores_put_the_less_relevant_first_then_the_lower_row() -> None:
    relevance, scores = [1, 0, 2, 0, 1], [0.5, 0.5, 0.5, 0.5, 0.9]
    assert metrics.ranking_order(relevance, scores).tolist() == [4, 1, 3, 0, 2]
    assert metrics.ranking_order([0, 0], [1, 2]).tolist() == [1, 0], "without a relevant sample too"
    assert metrics.ranking_order([], []).tolist() == []


def test_a_perfect_ranking_scores_exactly_one() -> None:
    relevance = np.sort(np.random.default_rng(0).integers(0, 6, 1000))
    scores = relevance + np.linspace(0, 0.5, 1000)
    for metric in (metrics.average_precision, metrics.break_even_precision, metrics.ndcg, *PAIRS):
        assert metric(relevance, scores) == 1.0
    assert metrics.kendall_tau(relevance, -scores) == -1.0


# ---------------------------------------------------------------------------------------------------------
# Against the slow twins: the worst order that the scores allow
# ---------------------------------------------------------------------------------------------------------


def test_metrics_are_the_worst_over_all_orders_that_the_scores_allow() -> None:
    for relevance, scores in small_tied(150):
        check_worst(relevance, scores)


def check_worst(relevance: np.ndarray, scores: np.ndarray) -> None:
    def worst(metric: Callable[..., float], *details: Any) -> Any:
        value = reference.worst(lambda ranked: metric(ranked, *details), relevance.tolist(), scores.tolist())
        return pytest.approx(value, abs=1e-15)

    positives = int((relevance > 0).sum())
    assert metrics.average_precision(relevance, scores) == worst(reference.average_precision_of)
    assert metrics.break_even_precision(relevance, scores) == worst(reference.precision_of, positives)
    for k in range(1, len(relevance) + 1):
        assert metrics.precision_at_k(relevance, scores, k) == worst(reference.precision_of, k)
        assert metrics.ndcg(relevance, scores, k=k) == worst(reference.ndcg_of, k)
        assert metrics.ndcg(relevance, scores, gain="exponential", k=k) == worst(reference.ndcg_of, k, True)
    assert metrics.ndcg(relevance, scores) == worst(reference.ndcg_of, len(relevance))
    right, wrong = reference.right_and_wrong_pairs(relevance.tolist(), scores.tolist())
    assert metrics.pair_accuracy(relevance, scores) == right / (right + wrong)
    assert metrics.kendall_tau(relevance, scores) == (right - wrong) / (right + wrong)


def test_pairs_are_counted_as_one_by_one() -> None:
    for grades in (2, 3, 5, 8, 100, 10**6):
        rng = np.random.default_rng(grades)
        relevance, scores = rng.integers(0, grades, 150), rng.integers(0, 60, 150)
        right, wrong = reference.right_and_wrong_pairs(relevance.tolist(), scores.tolist())
        assert metrics.pair_accuracy(relevance, scores) == right / (right + wrong), grades


# ---------------------------------------------------------------------------------------------------------
# Against other libraries, where nothing ties
# ---------------------------------------------------------------------------------------------------------


def test_untied_metrics_are_those_of_scikit_learn() -> None:
    for seed in range(5):
        binary, scores = untied(seed)
        graded, graded_scores = untied(seed, grades=5)
        expected = average_precision_score(binary, scores)
        assert metrics.average_precision(binary, scores) == pytest.approx(expected), seed
        assert metrics.pair_accuracy(binary, scores) == pytest.approx(roc_auc_score(binary, scores)), seed
        for k in (1, 10, 200, None):
            expected = ndcg_score([graded], [graded_scores], k=k)
            assert metrics.ndcg(graded, graded_scores, k=k) == pytest.approx(expected), seed
            expected = ndcg_score([2**graded - 1], [graded_scores], k=k)
            ours = metrics.ndcg(graded, graded_scores, gain="exponential", k=k)
            assert ours == pytest.approx(expected), seed


def test_untied_metrics_are_those_of_trec_eval() -> None:
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


def test_kendall_tau_is_that_of_scipy_where_nothing_ties_and_somers_d_where_grades_do() -> None:
    permuted, scores = np.random.default_rng(0).permutation(200), untied(0)[1]
    assert metrics.kendall_tau(permuted, scores) == pytest.approx(
        stats.kendalltau(permuted, scores).statistic
    )
    many = np.random.default_rng(1).permutation(100_000)  # out of reach for what compares all pairs
    expected = stats.kendalltau(many, np.arange(100_000)).statistic
    assert metrics.kendall_tau(many, np.arange(100_000)) == pytest.approx(expected)
    graded, graded_scores = untied(1, grades=5)
    expected = stats.somersd(graded, graded_scores).statistic
    assert metrics.kendall_tau(graded, graded_scores) == pytest.approx(expected)


# ---------------------------------------------------------------------------------------------------------
# How metrics hang together
# ---------------------------------------------------------------------------------------------------------


def test_average_precision_is_the_sum_of_precision_times_the_step_of_recall() -> None:
    relevance, scores = untied(3, grades=3)
    scores = scores.round()
    precision, recall, order = metrics.precision_recall_curve(relevance, scores)
    area = (precision * np.diff(recall, prepend=0)).sum()
    assert area == pytest.approx(metrics.average_precision(relevance, scores))
    assert recall[-1] == 1.0
    np.testing.assert_array_equal(order, metrics.ranking_order(relevance, scores))
    assert precision[9] == metrics.precision_at_k(relevance, scores, 10)


def test_only_the_order_of_scores_counts_infinities_included() -> None:
    relevance = [0, 1, 2, 0, 1]
    finite, infinite = [5, 4, 3, 2, 1], [np.inf, 4, 3, 2, -np.inf]
    for metric in EVERY:
        np.testing.assert_equal(metric(relevance, infinite), metric(relevance, finite))
    assert metrics.average_precision([1, 0], [np.inf, np.inf]) == 1 / 2


def test_evaluate_keeps_the_cutoffs_that_the_samples_reach() -> None:
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


def test_grades_far_above_what_a_float_can_raise_two_to() -> None:
    relevance, scores = [5000, 4999, 0], [1, 2, 0]
    shift = (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))
    assert metrics.ndcg(relevance, scores, gain="exponential") == pytest.approx(shift)


# ---------------------------------------------------------------------------------------------------------
# Degenerate input has one stated outcome
# ---------------------------------------------------------------------------------------------------------


def test_without_a_relevant_sample_nothing_is_measured() -> None:
    for metric, n in itertools.product(BINARY, (0, 1, 3)):
        with refused("relevance"):
            metric([0] * n, [0.5] * n)


def test_without_two_grades_no_pair_is_compared() -> None:
    for metric, relevance in itertools.product(PAIRS, ([1, 1], [0], [])):
        with refused("relevance"):
            metric(relevance, [0.5] * len(relevance))


def test_without_an_irrelevant_sample_every_order_is_perfect() -> None:
    values = metrics.evaluate([1] * 10, np.arange(10))
    assert values == {"AP": 1.0, "P@10": 1.0, "NDCG": 1.0, "positives": 10.0, "samples": 10.0}
    assert metrics.break_even_precision([1, 1], [1, 1]) == 1.0


BAD_INPUT: list[tuple[str, Any, Any]] = [
    ("relevance", [1, 0], [1.0, 2.0, 3.0]),
    ("scores", [1, 0], [[1.0, 2.0]]),
    ("scores", [1, 0], 1.0),
    ("scores", [1, 0, 0], [1.0, np.nan, np.nan]),
    ("scores", [1, 0], ["a", "b"]),
    ("scores", [1, 0], [1j, 2]),
    ("scores", [1, 0], [None, 2]),
    ("relevance", [1, -1], [1, 2]),
    ("relevance", [1, 0.5], [1, 2]),
]


@pytest.mark.parametrize("metric", EVERY)
def test_bad_input_is_refused(metric: Callable[..., Any]) -> None:
    for subject, relevance, scores in BAD_INPUT:
        with refused(subject):
            metric(relevance, scores)


def test_k_is_a_whole_number_within_the_ranking() -> None:
    for k in (0, -1, 4, 2.0, True, np.bool_(True), "2"):
        with refused("k", repr(k)):
            metrics.precision_at_k([1, 0, 1], [3, 2, 1], k)  # type: ignore[arg-type]
        with refused("k", repr(k)):
            metrics.ndcg([1, 0, 1], [3, 2, 1], k=k)  # type: ignore[arg-type]
    assert metrics.precision_at_k([1, 0, 1], [3, 2, 1], np.int32(2)) == 1 / 2


def test_an_unknown_gain_is_refused() -> None:
    with refused("gain", "'cubic'"):
        metrics.ndcg([1, 0], [2, 1], gain="cubic")  # type: ignore[arg-type]
