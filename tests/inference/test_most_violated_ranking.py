"""The most violated ranking against every ranking there is, and at the edges."""

from __future__ import annotations

import itertools
import math
import os

import numpy as np
import pytest
import reference
from checks import ALGORITHMS, DEFINITIONS, LOSSES, PAIRS, check_ranking, order_of
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.inference import most_violated_ranking
from ranking.inference.threads import A_PART, split
from ranking.losses import RankingLoss

Sample = tuple[np.ndarray, np.ndarray]


def small_samples(count: int, largest: int) -> list[Sample]:
    """Random scores, half of them on a coarse grid so that samples of both kinds tie, at several scales."""
    rng = np.random.default_rng(largest)
    samples = []
    while len(samples) < count:
        n = int(rng.integers(2, largest + 1))
        relevant = rng.uniform(size=n) < rng.uniform()
        scores = rng.integers(-2, 3, n).astype(float) if len(samples) % 2 else rng.normal(size=n)
        if 0 < relevant.sum() < n:
            samples.append((scores * 10.0 ** rng.integers(-2, 2), relevant))
    return samples


@pytest.mark.parametrize("loss", LOSSES)
def test_no_interleaving_is_better(loss: str) -> None:
    for scores, relevant in small_samples(60, largest=9):
        orders = reference.interleavings(scores, relevant)
        best = reference.best_objective(orders, scores, relevant, DEFINITIONS[loss])
        for algorithm in ALGORITHMS[loss]:
            found = most_violated_ranking(scores, relevant, LOSSES[loss], algorithm)
            assert found.objective == pytest.approx(best, rel=1e-12, abs=1e-12), (algorithm, scores, relevant)
            check_ranking(found, scores, relevant, loss)


@pytest.mark.parametrize("loss", LOSSES)
def test_no_permutation_is_better(loss: str) -> None:
    """Observation 1: nothing is lost by keeping each kind in the order of its scores."""
    for scores, relevant in small_samples(12, largest=5):
        orders = itertools.permutations(range(len(scores)))
        best = reference.best_objective(orders, scores, relevant, DEFINITIONS[loss])
        for algorithm in ALGORITHMS[loss]:
            found = most_violated_ranking(scores, relevant, LOSSES[loss], algorithm)
            assert found.objective == pytest.approx(best, rel=1e-12, abs=1e-12), (algorithm, scores, relevant)


@pytest.mark.parametrize(("loss", "algorithm"), PAIRS)
@pytest.mark.parametrize("value", [0.0, -0.0, 0.3, 1e6, -1e-9])
def test_equal_scores_put_every_irrelevant_sample_first(loss: str, algorithm: str, value: float) -> None:
    relevant = np.array([True, False, True, False, False, True, True])
    found = most_violated_ranking(np.full(7, value), relevant, LOSSES[loss], algorithm)
    assert found.interleaving_ranks.tolist() == [1, 1, 1]
    assert found.loss == pytest.approx(DEFINITIONS[loss]([4, 5, 6, 7]), abs=1e-14)
    check_ranking(found, np.full(7, value), relevant, loss)


@pytest.mark.parametrize(("loss", "algorithm"), PAIRS)
def test_the_top_rank_is_a_candidate(loss: str, algorithm: str) -> None:
    """Eqs. 8 and 9 stop at |P|; a sample that belongs below all |P| relevant ones has rank |P| + 1."""
    relevant = np.array([False, True, True, False, True])
    scores = np.where(relevant, 10.0, -10.0) + np.arange(5)
    found = most_violated_ranking(scores, relevant, LOSSES[loss], algorithm)
    assert found.interleaving_ranks.tolist() == [4, 4]
    assert found.loss == 0


@pytest.mark.parametrize("algorithm", ALGORITHMS["ap"])
def test_of_equally_good_ranks_the_highest_is_taken(algorithm: str) -> None:
    """Observation 4 rests on it. Being first is worth -0.25 + 0.5 to the irrelevant sample, being last 0.25."""
    found = most_violated_ranking([0.25, 0.0], [True, False], "ap", algorithm)
    assert found.interleaving_ranks.tolist() == [2]


@pytest.mark.parametrize(("loss", "algorithm"), PAIRS)
@pytest.mark.parametrize("relevant", [[True, False], [False, True]])
def test_one_sample_of_each_kind(loss: str, algorithm: str, relevant: list[bool]) -> None:
    for margin in (-1.0, 0.0, 0.1, 0.2, 0.4, 3.0):
        scores = np.where(relevant, margin, 0.0)
        swapped = DEFINITIONS[loss]([2])
        found = most_violated_ranking(scores, relevant, LOSSES[loss], algorithm)
        assert found.objective == pytest.approx(max(margin, swapped - margin), abs=1e-15)


def test_by_hand() -> None:
    """+ + - is worth (1.5 + 0.5)/2 and costs 0; + - + (1.5 - 0.5)/2 and 1/6; - + + is worth -1 and costs 5/12."""
    scores, relevant = [1.0, 0.0, -0.5], [True, True, False]
    found = most_violated_ranking(scores, relevant)
    assert found.objective == max(1.0, 0.5 + 1 / 6, -1 + 5 / 12)
    assert found.coefficients.tolist() == [0.5, 0.5, -1.0]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(-1e9, 1e9) | st.integers(-2, 2).map(float) | st.floats(-1e-300, 1e-300), st.booleans()
        ),
        min_size=2,
        max_size=8,
    ),
    st.sampled_from(PAIRS),
)
def test_any_scores(samples: list[tuple[float, bool]], pair: tuple[str, str]) -> None:
    scores, relevant = (np.array(column) for column in zip(*samples, strict=True))
    if not 0 < relevant.sum() < len(relevant):
        return
    loss, algorithm = pair
    found = most_violated_ranking(scores, relevant, LOSSES[loss], algorithm)
    orders = reference.interleavings(scores, relevant)
    best = reference.best_objective(orders, scores, relevant, DEFINITIONS[loss])
    assert found.objective == pytest.approx(best, rel=1e-12, abs=1e-12 * max(1, np.abs(scores).max()))
    check_ranking(found, scores, relevant, loss)


@pytest.mark.parametrize("loss", LOSSES)
def test_joint_feature_vectors_come_from_the_coefficients(loss: str) -> None:
    """Psi(X, R) = X.T @ c, with Psi summed pair by pair over the ranking that the ranks mean."""
    rng = np.random.default_rng(1)
    features, relevant = rng.normal(size=(12, 3)), np.arange(12) % 3 == 0
    scores = features @ [1.0, -0.2, 0.1]
    found = most_violated_ranking(scores, relevant, LOSSES[loss])
    psi = reference.joint_feature_vector(order_of(found, scores, relevant), features, relevant)
    np.testing.assert_allclose(features.T @ found.coefficients, psi, atol=1e-14)


# ---------------------------------------------------------------------------------------------------------
# What it is given
# ---------------------------------------------------------------------------------------------------------


def test_grades_above_zero_and_other_types_of_scores() -> None:
    expected = most_violated_ranking([0.5, 0.25, 0.0], [True, False, True])
    for scores, relevant in (
        (np.array([0.5, 0.25, 0.0], np.float32), [2, 0, 1]),
        (np.array([0.5, 9, 0.25, 9, 0.0])[::2], np.array([1, 0, 3.0])),
    ):
        found = most_violated_ranking(scores, relevant)
        np.testing.assert_array_equal(found.coefficients, expected.coefficients)
        assert (found.loss, found.objective) == (expected.loss, expected.objective)


def test_its_input_stays_as_it_was_and_results_repeat() -> None:
    rng = np.random.default_rng(2)
    scores, relevant = rng.normal(size=300), rng.uniform(size=300) < 0.2
    before = scores.copy(), relevant.copy()
    for loss, algorithm in PAIRS:
        first = most_violated_ranking(scores, relevant, LOSSES[loss], algorithm)
        again = most_violated_ranking(scores, relevant, LOSSES[loss], algorithm)
        np.testing.assert_array_equal(first.coefficients, again.coefficients)
    np.testing.assert_array_equal(scores, before[0])
    np.testing.assert_array_equal(relevant, before[1])


def test_a_loss_that_greedy_inference_would_get_wrong_is_refused() -> None:
    class Flat(RankingLoss):
        name = "flat"

        def gains(self, positives: int) -> np.ndarray:
            return np.ones(positives)

        def discount(self, positions: np.ndarray) -> np.ndarray:
            return 1 / np.log2(np.maximum(positions, 2))

    for algorithm in ALGORITHMS["root"]:
        with pytest.raises(ValueError, match="flat: the discount must be convex and not increasing"):
            most_violated_ranking([3.0, 1.0, 5.0], [False, False, True], Flat(), algorithm)


def test_search_is_for_the_average_precision_only() -> None:
    for loss in ("ndcg", LOSSES["root"]):
        with pytest.raises(
            ValueError, match=r"search needs the unimodality of the average precision.*use auto"
        ):
            most_violated_ranking([1.0, 2.0], [True, False], loss, "search")


def test_unknown_names_list_the_known() -> None:
    with pytest.raises(
        ValueError,
        match="no algorithm is called 'sort'; choose one of: auto, greedy, search, select, buckets",
    ):
        most_violated_ranking([1.0, 2.0], [True, False], "ap", "sort")
    with pytest.raises(ValueError, match="'map'"):
        most_violated_ranking([1.0, 2.0], [True, False], "map")


@pytest.mark.parametrize("n", [450_000, 1_100_000])
def test_many_samples_are_shared_among_threads(n: int) -> None:
    """The parts meet inside a run of irrelevant samples; the larger case has bins that 16 bits cannot number."""
    rng = np.random.default_rng(n)
    relevant = np.zeros(n, bool)
    relevant[rng.choice(n, 300, replace=False)] = True
    scores = rng.standard_normal(n) + relevant
    assert len(split(n, np.flatnonzero(relevant))) == min(n // A_PART, os.cpu_count(), 4)
    found, expected = (most_violated_ranking(scores, relevant, "ap", name) for name in ("buckets", "select"))
    np.testing.assert_array_equal(found.interleaving_ranks, expected.interleaving_ranks)
    np.testing.assert_array_equal(found.coefficients, expected.coefficients)
    assert found.objective == pytest.approx(scores @ found.coefficients + found.loss, rel=1e-12)
    assert found.objective == pytest.approx(expected.objective, rel=1e-12)


def test_the_objective_keeps_its_digits_where_nearly_all_samples_are_relevant() -> None:
    scores = 5.0 + np.random.default_rng(0).standard_normal(450_000)
    relevant = np.ones(len(scores), bool)
    relevant[7] = False
    found = most_violated_ranking(scores, relevant, "ap", "buckets")
    assert found.objective == pytest.approx(math.fsum(scores * found.coefficients) + found.loss, abs=1e-13)


def test_a_bad_score_among_many_is_found_wherever_it_stands() -> None:
    scores = np.linspace(-1.0, 1.0, 450_000)
    scores[[301_003, 444_444]] = math.nan, 1e302
    with pytest.raises(ValueError, match="at 2 places, first 301003"):
        most_violated_ranking(scores, scores > 0.9)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_must_be_finite(bad: float) -> None:
    with pytest.raises(
        ValueError,
        match=r"scores must be finite; NaN, infinity or above 1e\+301 in size at 2 places, first 1",
    ):
        most_violated_ranking([1.0, bad, 3.0, bad], [True, False, True, False])


@pytest.mark.parametrize(
    ("scores", "relevant"),
    [([1.0, 2.0], [True]), ([[1.0, 2.0]], [[True, False]]), (1.0, True), ([1.0], [[1]])],
)
def test_shapes_must_match(scores: object, relevant: object) -> None:
    with pytest.raises(ValueError, match=r"scores and relevant must be \(n,\) and as long, got"):
        most_violated_ranking(scores, relevant)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("relevant", "missing"), [([0, 0, 0], "relevant"), ([1, 2, 1], "irrelevant"), ([], "relevant")]
)
def test_both_kinds_are_needed(relevant: list[int], missing: str) -> None:
    with pytest.raises(ValueError, match=f"there is no {missing} sample; choose another query"):
        most_violated_ranking(np.zeros(len(relevant)), relevant)


@pytest.mark.parametrize("scores", [["1", "2"], [1j, 2.0], [None, 1.0]])
def test_scores_must_be_real_numbers(scores: list[object]) -> None:
    with pytest.raises(ValueError, match="scores must be real numbers, got"):
        most_violated_ranking(scores, [True, False])  # type: ignore[arg-type]
