from __future__ import annotations

import math

import numpy as np
import pytest
from reference import average_precision_of, ndcg_of, precision_of, resampled
from refusals import refused

from ranking import metrics
from ranking.metrics import intervals
from ranking.metrics.intervals import Interval, interval, measures_of_counts, resample, resampled_counts


def some_rankings(seed, n, rankings=2, tied=False):
    generator = np.random.default_rng(seed)
    relevance = generator.integers(0, 2, n)
    relevance[:2] = 0, 1
    scores = generator.standard_normal((rankings, n))
    return relevance, np.round(scores) if tied else scores


def test_measures_of_a_resample_are_those_of_its_repeated_samples():
    for seed in range(60):
        generator = np.random.default_rng(seed)
        n, units = int(generator.integers(2, 14)), int(generator.integers(1, 6))
        relevance, [scores] = some_rankings(seed, n, rankings=1, tied=seed % 2 == 0)
        group_of = generator.integers(0, units, n)
        counts = resampled_counts(units, 8, generator)
        order = metrics.ranking_order(relevance, scores)
        measures = measures_of_counts(relevance[order] > 0, counts[:, group_of[order]], (1, 3))
        for draw, times in enumerate(counts):
            ranked = resampled(relevance, scores, group_of, times)
            expected = {"AP": math.nan, "NDCG": math.nan, "P@1": math.nan, "P@3": math.nan}
            if any(ranked):
                expected |= {"AP": average_precision_of(ranked), "NDCG": ndcg_of(ranked, len(ranked))}
                expected |= {f"P@{k}": precision_of(ranked, k) for k in (1, 3) if k <= len(ranked)}
            of_draw = {name: values[draw] for name, values in measures.items()}
            assert of_draw == pytest.approx(expected, nan_ok=True, abs=1e-12), seed


def test_the_values_are_those_of_the_metrics():
    relevance, scores = some_rankings(0, 50, tied=True)
    measures = resample(relevance, scores, np.arange(50) // 3, cutoffs=(7,), draws=20)
    for number, own in enumerate(scores):
        assert measures.values["AP"][number] == metrics.average_precision(relevance, own)
        assert measures.values["NDCG"][number] == metrics.ndcg(relevance, own)
        assert measures.values["P@7"][number] == metrics.precision_at_k(relevance, own, 7)
    assert [values.shape for values in measures.resampled.values()] == [(2, 20)] * 3


def test_resamples_are_paired_and_consist_of_whole_units():
    relevance, scores = some_rankings(1, 60)
    measures = resample(relevance, [scores[0], 2 * scores[0], scores[1]], np.arange(60), draws=50)
    assert measures.difference("AP", 0, 1) == Interval(0.0, 0.0, 0.0)
    assert measures.difference("AP", 0, 2).low < measures.difference("AP", 0, 2).high
    # One unit holds the only mistake: a draw is perfect without it, and the same whenever it is drawn once.
    measures = resample([1, 0, 1, 1], [[4, 3, 2, 1]], [0, 1, 1, 2], draws=200)
    counts = resampled_counts(3, 200, np.random.default_rng(0))
    assert (measures.resampled["AP"][0][counts[:, 1] == 0] == 1).all()
    assert (measures.resampled["AP"][0][(counts[:, 1] > 0) & (counts[:, 0] + counts[:, 2] > 0)] < 1).all()


def test_memory_does_not_change_the_resamples(monkeypatch):
    relevance, scores = some_rankings(2, 30)
    whole = resample(relevance, scores, np.arange(30), draws=40)
    monkeypatch.setattr(intervals, "MAX_COUNTS", 7 * 30)
    parts = resample(relevance, scores, np.arange(30), draws=40)
    assert np.array_equal(whole.resampled["AP"], parts.resampled["AP"])
    of_seed_1 = resample(relevance, scores, np.arange(30), draws=40, seed=1)
    assert not np.array_equal(whole.resampled["AP"], of_seed_1.resampled["AP"])


def test_resamples_with_an_undefined_measure_are_omitted_and_counted():
    # One relevant sample in one of four images: (3/4)^4 of the draws have none.
    measures = resample([1, 0, 0, 0], [[2, 3, 1, 0]], np.arange(4), cutoffs=(2,), draws=2000)
    assert measures.undefined("AP") == measures.undefined("P@2") == pytest.approx(2000 * 0.75**4, rel=0.1)
    # Two images, of one and of three samples: a draw of the first alone has two samples, and no P@3.
    measures = resample([1, 1, 0, 0], [[4, 3, 2, 1]], [0, 1, 1, 1], cutoffs=(3,), draws=2000)
    assert measures.undefined("AP") == 0
    assert measures.undefined("P@3") == pytest.approx(500, rel=0.15)


def test_an_interval_contains_the_middle_95_percent_of_the_resamples():
    resamples = np.concatenate([np.random.default_rng(0).permutation(1001) / 1000, [np.nan]])
    assert interval(0.3, resamples) == pytest.approx((0.3, 0.025, 0.975))


def test_intervals_of_a_mean_measure_reach_as_far_as_theory_says():
    """P@n is the share of relevant samples, whose standard error over single images is known."""
    relevance = np.arange(400) % 4 == 0
    measures = resample(relevance.astype(int), [np.arange(400.0)], np.arange(400), cutoffs=(400,))
    interval = measures.interval("P@400", 0)
    error = math.sqrt(0.25 * 0.75 / 400)
    assert interval.value == 0.25
    assert interval.low == pytest.approx(0.25 - 1.96 * error, abs=0.006)
    assert interval.high == pytest.approx(0.25 + 1.96 * error, abs=0.006)


def test_data_without_an_interval_is_refused():
    for relevance, scores, units, subject in (
        ([0, 0], [[1, 2]], [0, 1], "relevance"),
        ([0, 2], [[1, 2]], [0, 1], "relevance"),
        ([0, 1], [[1, 2]], [3, 3], "units"),
        ([0, 1], [[1, 2]], [0], "scores and units"),
        ([0, 1], [[1, math.nan]], [0, 1], "scores"),
    ):
        with refused(subject):
            resample(relevance, scores, units)
    with refused("draws"):
        interval(1.0, np.array([np.nan]))
