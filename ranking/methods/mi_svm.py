"""MI-SVM: an SVM for images that show an object in an unknown window (Andrews et al. 2003)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ranking.core import Bools, Floats, Ints
from ranking.methods.bag_method import BagMethod
from ranking.methods.common_settings import penalty
from ranking.methods.registry import METHODS
from ranking.solvers import Cut


@METHODS.register("MI-SVM")
@dataclass(kw_only=True, eq=False)
class MISVM(BagMethod):
    """min 1/2 ||w||^2 + C min_b sum_i cost_i max(0, 1 - y_i (s_i(w) + b)), cost_i = 1/(2|P|) or 1/(2|N|).

    This is the MI-SVM of the paper, with a bias b that is not regularised, except that relevant and irrelevant images
    have the same total weight, as in `SVM`. By duality the minimum over b is

        max_a sum_i a_i (1 - y_i s_i),  0 <= a_i <= cost_i,  sum_P a = sum_N a,

    so an output is a vector a. The best a pairs images of P from the lowest score up with images of N from the highest
    score down, in equal total mass, as long as their scores satisfy s_P - s_N < 2.
    """

    summary: ClassVar[str] = (
        "Classifies images by their best windows, with the same weight for both kinds: the baseline without a ranking."
    )
    objective: ClassVar[str] = (
        r"\tfrac12\|w\|^2 + C\min_b\textstyle\sum_i c_i\max(0, 1 - y_i(s_i + b)),\quad "
        r"s_i = \max_h w^\top\varphi_i(h),\ c_i\in\{\tfrac1{2|\mathcal P|},\tfrac1{2|\mathcal N|}\}"
    )
    order = 42

    C: float = penalty(100.0, "misclassified image")

    def cut(self, scores: Floats, relevant: Bools) -> Cut:
        units = _shared_mass(scores, relevant)
        coefficients = np.where(relevant, -0.5, 0.5) * units / (relevant.sum() * (~relevant).sum())
        return Cut(coefficients, float(np.abs(coefficients).sum()))

    def bias_of(self, scores: Floats, relevant: Bools) -> float:
        """Return the middle of all b that attain the minimum.

        Where a_i is neither 0 nor its most, the margin is 1.
        """
        margins, units = np.where(relevant, 1.0, -1.0) - scores, _shared_mass(scores, relevant)
        full = units == np.where(relevant, (~relevant).sum(), relevant.sum())
        lowest = margins[np.where(relevant, ~full, units > 0)].max()
        highest = margins[np.where(relevant, units > 0, ~full)].min()
        return float(lowest + highest) / 2


def _shared_mass(scores: Floats, relevant: Bools) -> Ints:
    """Return (n,) the best a, in units of which an image of P has |N| and an image of N has |P|."""
    shown, hidden = np.flatnonzero(relevant), np.flatnonzero(~relevant)
    shown, hidden = shown[np.argsort(scores[shown])], hidden[np.argsort(-scores[hidden])]
    positives, negatives = len(shown), len(hidden)
    ends = np.union1d(negatives * np.arange(1, positives + 1), positives * np.arange(1, negatives + 1))
    close = scores[shown[(ends - 1) // negatives]] - scores[hidden[(ends - 1) // positives]] < 2.0
    mass = ends[close][-1] if close.any() else 0
    units = np.empty(len(scores), np.int64)
    units[shown] = np.clip(mass - negatives * np.arange(positives), 0, negatives)
    units[hidden] = np.clip(mass - positives * np.arange(negatives), 0, positives)
    return units
