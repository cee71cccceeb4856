"""Two methods on one query: what each made of the test samples, in words that follow from the numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pages.parts.views.measures import ends, signed
from ranking.core import Floats, Ints
from ranking.losses.weighted_zero_one import best_threshold, weighted_zero_one
from ranking.metrics.intervals import DRAWS, Interval, interval, resampled_counts
from ranking.metrics.ranked import Ranking, first_mistake


@dataclass(frozen=True)
class Standing:
    """How a method's ranking stands.

    zero_one: its weighted 0-1 loss. called: how many of the `samples` have a score above 0, where `relevant` are.
    Both by the scores of `labelling`.
    first_mistake: the place, from 1, of the first irrelevant sample above a relevant one, None where there is none.
    """

    method: str
    average_precision: float
    zero_one: float
    called: int
    relevant: int
    samples: int
    first_mistake: int | None


def labelling(ranked: Ranking, trained: Ranking) -> Ranking:
    """The test ranking of a method with scores above 0 where it calls a sample relevant: those above the threshold with
    the least weighted 0-1 loss on the training samples. 1 − AP depends on the order only, and leaves zero anywhere."""
    return replace(ranked, scores=ranked.scores - best_threshold(trained.relevance, trained.scores))


def standing(method: str, ranked: Ranking) -> Standing:
    return Standing(
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
    """Two methods on the same samples, with AP and weighted 0-1 loss of the second minus those of the first; each
    difference has its interval, by the paired bootstrap over scenes."""

    first: Standing
    second: Standing
    gain: Interval
    loss: Interval

    @property
    def better_ranking(self) -> Standing | None:
        """Whose AP is significantly higher; None where neither is."""
        return None if not self.gain.without_zero else self.second if self.gain.value > 0 else self.first

    @property
    def better_labels(self) -> Standing | None:
        """Whose weighted 0-1 loss is significantly lower; None where neither is."""
        return None if not self.loss.without_zero else self.second if self.loss.value < 0 else self.first


def loss_difference(relevance: Ints, scores: Floats, units: Ints) -> Interval:
    """The weighted 0-1 loss by the second of two rows of scores (2, n) minus that by the first, with its interval by
    the paired bootstrap over `units` (n,)."""
    relevant = relevance > 0
    unit_of = np.unique(units, return_inverse=True)[1]
    counts = resampled_counts(int(unit_of.max()) + 1, DRAWS, np.random.default_rng(0))
    losses = np.zeros((len(scores), DRAWS))
    for side in (relevant, ~relevant):
        of_side = counts @ np.bincount(unit_of, side)
        for row, values in enumerate(scores):
            wrong = counts @ np.bincount(unit_of, side & ((values > 0) != relevant))
            losses[row] += np.divide(wrong, 2 * of_side, out=np.full(DRAWS, np.nan), where=of_side > 0)
    first, second = (weighted_zero_one(relevance, values) for values in scores)
    return interval(second - first, losses[1] - losses[0])


def compared(pair: LessonComparison) -> str:
    """Which of two ranks better and which labels better, as far as that is significant."""
    ranks = _lead(pair, pair.better_ranking, "ranks", pair.gain, "AP")
    labels = _lead(pair, pair.better_labels, "labels", pair.loss, "weighted 0-1 loss")
    return f"{ranks[0].upper()}{ranks[1:]}; {labels}."


def _lead(pair: LessonComparison, better: Standing | None, verb: str, apart: Interval, measure: str) -> str:
    if better is None:
        return f"neither {verb} significantly better"
    return f"{better.method} {verb} better ({signed(_of(pair, better, apart).value)} {measure})"


def _of(pair: LessonComparison, better: Standing, apart: Interval) -> Interval:
    """A difference as that of the better method minus the other."""
    return apart if better is pair.second else Interval(-apart.value, -apart.high, -apart.low)


def intervals(pair: LessonComparison) -> str:
    """The intervals of both differences, of the second method minus the first."""
    return (
        f"{pair.second.method} minus {pair.first.method}, paired bootstrap over scenes: AP {ends(pair.gain)}, weighted "
        f"0-1 loss {ends(pair.loss)}."
    )


def verdict(pair: LessonComparison) -> str:
    """What follows where each method leads at one of the two, the first optimising the weighted 0-1 loss and the second
    AP; "" elsewhere."""
    ranks, labels = pair.better_ranking, pair.better_labels
    if None in (ranks, labels) or ranks is labels:
        return ""
    if ranks is pair.second:
        return "Each method wins on the loss that it optimises."
    return "Each is better here at the loss that the other optimises."


def why(pair: LessonComparison) -> str:
    """What the two methods train on, and how their scores become labels."""
    svm, ap_svm = pair.first, pair.second
    return (
        f"{svm.method} minimises a bound on the weighted 0-1 loss of the training samples, an error rate of labels in "
        f"which relevant and irrelevant weigh the same; {ap_svm.method} a bound on 1 − AP, which depends on their "
        "order only. To label, each has the threshold that is best on the training samples: above it are "
        f"{ap_svm.called} of these {ap_svm.samples} people with {ap_svm.method}, {svm.called} with {svm.method}, where "
        f"{ap_svm.relevant} are relevant."
    )
