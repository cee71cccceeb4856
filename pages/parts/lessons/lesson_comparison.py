"""Two methods on one query: their results on the test samples, and captions that are computed from them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pages.parts.charts.measures import ends
from ranking.core import Floats, Ints
from ranking.losses.weighted_zero_one import best_threshold, weighted_zero_one
from ranking.metrics.intervals import DRAWS, Interval, interval, resampled_counts
from ranking.metrics.ranked import Ranking, first_mistake
from ranking.reports.prose import change


@dataclass(frozen=True)
class MethodResult:
    """The results of a method."""

    method: str
    average_precision: float
    # The weighted 0-1 loss. It and `positive` use the scores of `labelling`.
    zero_one: float
    # How many of the `samples` have a score above 0; `relevant` of them are relevant.
    positive: int
    relevant: int
    samples: int
    # The rank, from 1, of the first irrelevant sample above a relevant one; None if there is none.
    first_mistake: int | None


def labelling(ranked: Ranking, trained: Ranking) -> Ranking:
    """Return the test ranking with scores shifted so that a score above 0 predicts relevant."""
    # The threshold minimises the weighted 0-1 loss on the training samples. A method that optimises 1 − AP
    # needs it, because that loss depends on the order only.
    return replace(ranked, scores=ranked.scores - best_threshold(trained.relevance, trained.scores))


def standing(method: str, ranked: Ranking) -> MethodResult:
    return MethodResult(
        method,
        ranked.average_precision,
        weighted_zero_one(ranked.relevance, ranked.scores),
        int(np.count_nonzero(ranked.scores > 0)),
        ranked.positives,
        len(ranked),
        first_mistake(ranked.relevance),
    )


@dataclass(frozen=True)
class LessonComparison:
    """Two methods on the same samples."""

    first: MethodResult
    second: MethodResult
    # AP and weighted 0-1 loss of the second method minus those of the first, with intervals by the paired
    # bootstrap over scenes.
    gain: Interval
    loss: Interval

    @property
    def better_ranking(self) -> MethodResult | None:
        """The method with significantly higher AP; None if there is none."""
        return None if not self.gain.without_zero else self.second if self.gain.value > 0 else self.first

    @property
    def better_labels(self) -> MethodResult | None:
        """The method with significantly lower weighted 0-1 loss; None if there is none."""
        return None if not self.loss.without_zero else self.second if self.loss.value < 0 else self.first


def loss_difference(relevance: Ints, scores: Floats, units: Ints) -> Interval:
    """Return the weighted 0-1 loss of the second row of scores (2, n) minus that of the first."""
    # With its interval by the paired bootstrap over `units` (n,).
    relevant = relevance > 0
    group_of = np.unique(units, return_inverse=True)[1]
    counts = resampled_counts(int(group_of.max()) + 1, DRAWS, np.random.default_rng(0))
    losses = np.zeros((len(scores), DRAWS))
    for side in (relevant, ~relevant):
        of_side = counts @ np.bincount(group_of, side)
        for row, values in enumerate(scores):
            wrong = counts @ np.bincount(group_of, side & ((values > 0) != relevant))
            losses[row] += np.divide(wrong, 2 * of_side, out=np.full(DRAWS, np.nan), where=of_side > 0)
    first, second = (weighted_zero_one(relevance, values) for values in scores)
    return interval(second - first, losses[1] - losses[0])


def compared(pair: LessonComparison) -> str:
    """Say which of two methods ranks better and which labels better, where the difference is significant."""
    precisions = pair.first.average_precision, pair.second.average_precision
    losses = pair.first.zero_one, pair.second.zero_one
    ranks = _lead(pair, pair.better_ranking, "ranks", precisions, "AP")
    labels = _lead(pair, pair.better_labels, "labels", losses, "weighted 0-1 loss")
    return f"{ranks} {labels}"


def _lead(
    pair: LessonComparison, better: MethodResult | None, verb: str, values: tuple[float, float], measure: str
) -> str:
    """Return which method is better and by how much. values: of the first and of the second method."""
    if better is None:
        return f"Neither {verb} significantly better."
    before, after = values if better is pair.second else values[::-1]
    return f"{better.method} {verb} better ({change(before, after)} {measure})."


def intervals(pair: LessonComparison) -> str:
    """Return the intervals of both differences, of the second method minus the first, in words."""
    return (
        f"{pair.second.method} minus {pair.first.method}, paired bootstrap over scenes: AP {ends(pair.gain)}, weighted "
        f"0-1 loss {ends(pair.loss)}."
    )


def why(pair: LessonComparison) -> str:
    """Say what the two methods minimise, and how their scores become labels."""
    svm, ap_svm = pair.first, pair.second
    return (
        f"{svm.method} minimises a bound on the weighted 0-1 loss of the training samples, an error rate in which "
        f"relevant and irrelevant samples have the same weight. {ap_svm.method} minimises a bound on 1 − AP, which "
        "depends only on the order. For labels, each method has the threshold that is best on the training samples: "
        f"{ap_svm.positive} of these {ap_svm.samples} people are above it with {ap_svm.method}, {svm.positive} with "
        f"{svm.method}, while {ap_svm.relevant} are relevant."
    )
