"""Metrics against their definitions, against other libraries, and at the edges."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import pytrec_eval
import reference
from scipy import stats
from sklearn.metrics import average_precision_score, ndcg_score, precision_recall_curve, roc_auc_score

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


def test_one_relevant_of_four_tied_samples_is_last() -> None:
    relevance, scores = [1, 0, 0, 0], [0.0, 0.0, -0.0, 0.0]
    assert metrics.average_precision(relevance, scores) == 1 / 4
    assert metrics.precision_at_k(relevance, scores, 3) == 0
    assert metrics.precision_at_k(relevance, scores, 4) == 1 / 4
    assert metrics.break_even_precision(relevance, scores) == 0
    assert metrics.ndcg(relevance, scores) == pytest.approx(1 / math.log2(5))
    assert metrics.pair_accuracy(relevance, scores) == 0
    assert metrics.kendall_tau(relevance, scores) == -1


def test_a_tie_in_the_middle_by_hand() -> None:
    # The order is: relevant, then the tied irrelevant and relevant, then irrelevant: 1 0 1 0.
    relevance, scores = [1, 1, 0, 0], [3, 2, 2, 1]
    assert metrics.average_precision(relevance, scores) == pytest.approx((1 + 2 / 3) / 2)
    assert metrics.ndcg(relevance, scores) == pytest.approx((1 + 1 / 2) / (1 + 1 / math.log2(3)))
    assert metrics.break_even_precision(relevance, scores) == 1 / 2
    assert metrics.pair_accuracy(relevance, scores) == 3 / 4
    assert metrics.kendall_tau(relevance, scores) == 1 / 2


def test_exponential_gain_by_hand() -> None:
    worked = (1 + 7 / math.log2(3)) / (7 + 1 / math.log2(3))
    assert metrics.ndcg([1, 3, 0], [0.9, 0.8, 0.7], gain="exponential") == pytest.approx(worked)


def test_the_gain_in_use_is_linear_unless_asked() -> None:
    relevance, scores = untied(0, grades=4)
    assert metrics.ndcg(relevance, scores) == metrics.ndcg(relevance, scores, gain="linear")
    assert metrics.ndcg(relevance, scores) != metrics.ndcg(relevance, scores, gain="exponential")


def test_a_perfect_ranking_scores_exactly_one() -> None:
    relevance = np.sort(np.random.default_rng(0).integers(0, 6, 1000))
    scores = relevance + np.linspace(0, 0.5, 1000)
    for metric in (metrics.average_precision, metrics.break_even_precision, metrics.ndcg, *PAIRS):
        assert metric(relevance, scores) == 1.0
    assert metrics.kendall_tau(relevance, -scores) == -1.0


# ---------------------------------------------------------------------------------------------------------
# Against the slow twins: the worst order that the scores allow
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sample", small_tied(150), ids=lambda sample: f"{sample[0]}-{sample[1]}")
def test_metrics_are_the_worst_over_all_orders_that_the_scores_allow(sample: Sample) -> None:
    relevance, scores = sample

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


@pytest.mark.parametrize("grades", [2, 3, 5, 8, 100, 10**6])
def test_pairs_are_counted_as_one_by_one(grades: int) -> None:
    rng = np.random.default_rng(grades)
    relevance, scores = rng.integers(0, grades, 150), rng.integers(0, 60, 150)
    right, wrong = reference.right_and_wrong_pairs(relevance.tolist(), scores.tolist())
    assert metrics.pair_accuracy(relevance, scores) == right / (right + wrong)


# ---------------------------------------------------------------------------------------------------------
# Against other libraries, where nothing ties
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_untied_metrics_are_those_of_scikit_learn(seed: int) -> None:
    binary, scores = untied(seed)
    graded, graded_scores = untied(seed, grades=5)
    assert metrics.average_precision(binary, scores) == pytest.approx(average_precision_score(binary, scores))
    assert metrics.pair_accuracy(binary, scores) == pytest.approx(roc_auc_score(binary, scores))
    for k in (1, 10, 200, None):
        expected = ndcg_score([graded], [graded_scores], k=k)
        assert metrics.ndcg(graded, graded_scores, k=k) == pytest.approx(expected)
        expected = ndcg_score([2**graded - 1], [graded_scores], k=k)
        assert metrics.ndcg(graded, graded_scores, gain="exponential", k=k) == pytest.approx(expected)


def test_precision_recall_curve_is_that_of_scikit_learn() -> None:
    relevance, scores = untied(0)
    precision, recall, order = metrics.precision_recall_curve(relevance, scores)
    theirs, their_recall, _ = precision_recall_curve(relevance, scores)
    np.testing.assert_allclose(precision, theirs[-2::-1])  # theirs ends with an added point (1, 0)
    np.testing.assert_allclose(recall, their_recall[-2::-1])
    np.testing.assert_array_equal(order, np.argsort(-scores))


@pytest.mark.parametrize("seed", range(5))
def test_untied_metrics_are_those_of_trec_eval(seed: int) -> None:
    relevance, scores = untied(seed, grades=4)
    judged = {"query": {f"row{row}": int(grade) for row, grade in enumerate(relevance)}}
    run = {"query": {f"row{row}": float(score) for row, score in enumerate(scores)}}
    theirs = pytrec_eval.RelevanceEvaluator(judged, {"map", "ndcg", "Rprec", "P_10", "P_100", "ndcg_cut_10"})
    expected = theirs.evaluate(run)["query"]
    ours = metrics.evaluate(relevance, scores)
    assert ours["AP"] == pytest.approx(expected["map"])
    assert ours["NDCG"] == pytest.approx(expected["ndcg"])
    assert ours["P@10"] == pytest.approx(expected["P_10"])
    assert ours["P@100"] == pytest.approx(expected["P_100"])
    assert metrics.break_even_precision(relevance, scores) == pytest.approx(expected["Rprec"])
    assert metrics.ndcg(relevance, scores, k=10) == pytest.approx(expected["ndcg_cut_10"])


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


@pytest.mark.parametrize("n", [1, 9, 10, 99, 100])
def test_evaluate_keeps_the_cuts_that_the_samples_reach(n: int) -> None:
    relevance, scores = np.arange(n) % 2 == 0, -np.arange(n)
    values = metrics.evaluate(relevance, scores)
    cuts = [f"P@{k}" for k in (10, 50, 100) if k <= n]
    assert list(values) == ["AP", *cuts, "NDCG", "positives", "samples"]
    assert all(type(value) is float for value in values.values())
    assert values["AP"] == metrics.average_precision(relevance, scores)
    assert values["NDCG"] == metrics.ndcg(relevance, scores)
    assert all(values[cut] == metrics.precision_at_k(relevance, scores, int(cut[2:])) for cut in cuts)
    assert (values["positives"], values["samples"]) == ((n + 1) // 2, n)


def test_grades_far_above_what_a_float_can_raise_two_to() -> None:
    relevance, scores = [5000, 4999, 0], [1, 2, 0]
    shift = (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))
    assert metrics.ndcg(relevance, scores, gain="exponential") == pytest.approx(shift)


# ---------------------------------------------------------------------------------------------------------
# Degenerate input has one stated outcome
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", BINARY)
@pytest.mark.parametrize("n", [0, 1, 3])
def test_no_relevant_sample_is_an_error_with_its_remedy(metric: Callable[..., Any], n: int) -> None:
    text = rf"must hold a sample with a grade > 0, got {n} samples and none is relevant; .*: leave it out"
    with pytest.raises(ValueError, match=text):
        metric([0] * n, [0.5] * n)


@pytest.mark.parametrize("metric", PAIRS)
@pytest.mark.parametrize(("relevance", "came"), [([1, 1], "one grade"), ([0], "one grade"), ([], "no grade")])
def test_one_grade_has_no_pair_to_compare(
    metric: Callable[..., Any], relevance: list[int], came: str
) -> None:
    text = f"two different grades to compare, got {len(relevance)} samples and {came}; leave such a query out"
    with pytest.raises(ValueError, match=text):
        metric(relevance, [0.5] * len(relevance))


def test_without_an_irrelevant_sample_every_order_is_perfect() -> None:
    values = metrics.evaluate([1] * 10, np.arange(10))
    assert values == {"AP": 1.0, "P@10": 1.0, "NDCG": 1.0, "positives": 10.0, "samples": 10.0}
    assert metrics.break_even_precision([1, 1], [1, 1]) == 1.0


def test_an_order_needs_no_relevant_sample() -> None:
    assert metrics.ranking_order([0, 0], [1, 2]).tolist() == [1, 0]
    assert metrics.ranking_order([], []).tolist() == []


BAD_INPUT: list[tuple[Any, Any, str]] = [
    ([1, 0], [1.0, 2.0, 3.0], r"relevance must be \(3,\), one grade a sample, got shape \(2,\)"),
    ([1, 0], [[1.0, 2.0]], r"scores must be \(n,\), one a sample, got shape \(1, 2\)"),
    ([1, 0], 1.0, r"scores must be \(n,\), one a sample, got shape \(\)"),
    ([1, 0, 0], [1.0, np.nan, np.nan], r"must not be NaN; 2 of 3 are, the first in row 1"),
    ([1, 0], ["a", "b"], r"scores must be real numbers, got <U1"),
    ([1, 0], [1j, 2], r"scores must be real numbers, got complex128"),
    ([1, 0], [None, 2], r"scores must be real numbers, got object"),
    ([1, -1], [1, 2], r"relevance must be whole grades >= 0"),
    ([1, 0.5], [1, 2], r"relevance must be whole grades >= 0"),
]


@pytest.mark.parametrize("metric", EVERY)
@pytest.mark.parametrize(("relevance", "scores", "text"), BAD_INPUT)
def test_bad_input_is_an_error_that_says_what_came(
    metric: Callable[..., Any], relevance: Any, scores: Any, text: str
) -> None:
    with pytest.raises(ValueError, match=text):
        metric(relevance, scores)


@pytest.mark.parametrize("k", [0, -1, 4, 2.0, True, np.bool_(True), "2"])
def test_k_outside_the_ranking_is_an_error(k: Any) -> None:
    text = r"k must be a whole number from 1 to 3, the number of samples, got "
    with pytest.raises(ValueError, match=text):
        metrics.precision_at_k([1, 0, 1], [3, 2, 1], k)
    with pytest.raises(ValueError, match=text):
        metrics.ndcg([1, 0, 1], [3, 2, 1], k=k)


def test_k_may_be_any_integer_type() -> None:
    assert metrics.precision_at_k([1, 0, 1], [3, 2, 1], np.int32(2)) == 1 / 2


def test_an_unknown_gain_is_an_error_that_lists_the_gains() -> None:
    with pytest.raises(ValueError, match="gain must be one of 'linear', 'exponential', got 'cubic'"):
        metrics.ndcg([1, 0], [2, 1], gain="cubic")  # type: ignore[arg-type]
