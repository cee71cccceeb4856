"""Two methods compared in words that follow from their numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pages.parts import rivals
from pages.parts.rivals import Standing
from ranking.ranked import Ranking


def test_a_standing_weighs_wrong_signs_and_finds_the_first_mistake():
    ranked = Ranking(np.arange(5), np.array([1, 0, 1, 0, 0]), np.array([2.0, 1.0, 0.0, -1.0, -2.0]))
    stands = rivals.standing("SVM", ranked, 2)
    loss = (1 / 2 + 1 / 3) / 2  # one of two relevant is missed, one of three irrelevant called relevant
    assert stands == Standing(
        "SVM",
        pytest.approx((1 + 2 / 3) / 2),
        0.5,
        pytest.approx(loss),
        called=2,
        relevant=2,
        samples=5,
        first_mistake=2,
    )


def stands(method, average_precision, zero_one):
    return Standing(method, average_precision, 0.5, zero_one, 30, 10, 100, 3)


def test_verdicts_are_what_the_numbers_state():
    """AP and weighted 0-1 loss of SVM, then of AP-SVM; who ranks better, who labels better."""
    verdicts = {}
    for svm, ap_svm, ranks, labels in (
        ((0.3, 0.2), (0.4, 0.5), "AP-SVM", "SVM"),
        ((0.4, 0.5), (0.3, 0.2), "SVM", "AP-SVM"),
        ((0.3, 0.5), (0.4, 0.2), "AP-SVM", "AP-SVM"),
        ((0.4, 0.2), (0.3, 0.5), "SVM", "SVM"),
        ((0.4, 0.2), (0.4001, 0.5), None, "SVM"),
        ((0.3, 0.2), (0.4, 0.2), "AP-SVM", None),
        ((0.3, 0.2), (0.3, 0.2), None, None),
    ):
        pair = stands("SVM", *svm), stands("AP-SVM", *ap_svm)
        better = rivals.better_ranking(*pair), rivals.better_labels(*pair)
        assert tuple(winner and winner.method for winner in better) == (ranks, labels)
        text = rivals.compared(*pair)
        assert text == rivals.compared(*pair[::-1])
        numbers = re.findall(r"0\.\d{3}", text)
        shown = [sorted({f"{value:.3f}" for value in values}) for values in zip(svm, ap_svm, strict=True)]
        assert sorted(numbers) == sorted([*shown[0], *shown[1]]), (
            "both where they differ, once where they do not"
        )
        assert re.findall(r"(?:AP-)?SVM", text) == [name for name in (ranks, labels) if name]
        verdicts[ranks, labels] = rivals.verdict(*pair)
    assert len(set(verdicts.values())) == 7
    for (ranks, labels), verdict in verdicts.items():
        winners = {ranks, labels} - {None}
        assert re.findall(r"(?:AP-)?SVM", verdict) == (list(winners) if len(winners) == 1 else [])


def test_why_states_how_many_scores_are_above_zero():
    svm = Standing("SVM", 0.3, 0.5, 0.2, 31, 10, 100, 3)
    text = rivals.why(svm, Standing("AP-SVM", 0.4, 0.5, 0.5, 32, 10, 100, 3))
    assert [int(number) for number in re.findall(r"\b\d\d+\b", text)] == [32, 100, 31, 10]
