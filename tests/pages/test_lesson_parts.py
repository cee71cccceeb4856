"""Two methods compared in words that follow from their numbers."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    ("svm", "ap_svm", "compared", "verdict"),
    [
        (
            (0.3, 0.2),
            (0.4, 0.5),
            "AP-SVM ranks better (AP 0.400 against 0.300), "
            "SVM labels better (weighted 0-1 loss 0.200 against 0.500).",
            "Each does better here at what its objective bounds. One query is an example, not a proof.",
        ),
        (
            (0.3, 0.5),
            (0.4, 0.2),
            "AP-SVM ranks better (AP 0.400 against 0.300), "
            "AP-SVM also labels better (weighted 0-1 loss 0.200 against 0.500).",
            "AP-SVM does better here at both: ",
        ),
        (
            (0.4, 0.2),
            (0.3, 0.5),
            "SVM ranks better (AP 0.400 against 0.300), "
            "SVM also labels better (weighted 0-1 loss 0.200 against 0.500).",
            "SVM does better here at both: ",
        ),
        (
            (0.4, 0.5),
            (0.3, 0.2),
            "SVM ranks better (AP 0.400 against 0.300), "
            "AP-SVM labels better (weighted 0-1 loss 0.200 against 0.500).",
            "Each does better here at what the other's objective bounds: ",
        ),
        (
            (0.4, 0.2),
            (0.4001, 0.5),
            "both rank equally well (AP 0.400), SVM labels better (weighted 0-1 loss 0.200 against 0.500).",
            "SVM does better here at one of the two, and not worse at the other: ",
        ),
        (
            (0.3, 0.2),
            (0.4, 0.2),
            "AP-SVM ranks better (AP 0.400 against 0.300), both label equally well (weighted 0-1 loss 0.200).",
            "AP-SVM does better here at one of the two, and not worse at the other: ",
        ),
        (
            (0.3, 0.2),
            (0.3, 0.2),
            "both rank equally well (AP 0.300), both label equally well (weighted 0-1 loss 0.200).",
            "Neither does better here: ",
        ),
    ],
)
def test_sentences_are_what_the_numbers_say(svm, ap_svm, compared, verdict):
    svm, ap_svm = stands("SVM", *svm), stands("AP-SVM", *ap_svm)
    assert rivals.compared(svm, ap_svm) == rivals.compared(ap_svm, svm) == f"On these people {compared}"
    assert rivals.verdict(svm, ap_svm).startswith(verdict)


def test_why_tells_how_many_stand_above_zero():
    told = rivals.why(stands("SVM", 0.3, 0.2), stands("AP-SVM", 0.4, 0.5))
    assert "above it stand 30 of these 100 people (30 with SVM), where 10 are relevant." in told
