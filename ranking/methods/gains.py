"""Gains of grades, for methods that maximise NDCG."""

from __future__ import annotations

import numpy as np

from ranking.core import Floats, Ints
from ranking.core.errors import InputError
from ranking.core.settings import setting

# grade: 2^-grade of a larger one is 0 in float64
HIGHEST = 1000
GAINS = ("linear", "exponential")


def gain_setting() -> str:
    """Return the setting gain."""
    return setting(
        "linear",
        label="Gain of a grade",
        help="The gain of a grade in NDCG. linear: the grade. exponential: 2 to the power of the grade, minus 1.",
        formula=r"\text{grade}\ \text{or}\ 2^{\text{grade}} - 1",
        choices=GAINS,
    )


def gains_of(grades: Ints, gain: str) -> Floats:
    """Return (n,) the gains of grades, up to a factor that cancels in NDCG, so that no grade overflows.

    >>> gains_of(np.array([0, 1, 2]), "exponential").tolist()
    [0.0, 0.25, 0.75]
    """
    values = grades.astype(np.float64)
    if gain == "exponential" and values.max(initial=0.0) > HIGHEST:
        raise InputError(
            "grades",
            f"at most {HIGHEST} with exponential gain",
            f"{values.max():g}",
            "choose linear gain, or coarser grades",
        )
    if gain == "exponential":
        values = np.exp2(values - values.max()) - np.exp2(-values.max())
    return values
