"""Two methods on one query: what each made of the test samples, and that in words that follow from the numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranking.losses.weighted_zero_one import weighted_zero_one
from ranking.metrics import precision_at_k
from ranking.metrics.ranked import Ranking, first_mistake


@dataclass(frozen=True)
class Standing:
    """How a method's ranking stands.

    zero_one: its weighted 0-1 loss. called: how many of the `samples` have a score above 0, where `relevant` are.
    first_mistake: the place, from 1, of the first irrelevant sample above a relevant one, None where there is none.
    """

    method: str
    average_precision: float
    precision: float
    zero_one: float
    called: int
    relevant: int
    samples: int
    first_mistake: int | None


def standing(method: str, ranked: Ranking, k: int) -> Standing:
    return Standing(
        method,
        ranked.average_precision,
        precision_at_k(ranked.relevance, ranked.scores, k),
        weighted_zero_one(ranked.relevance, ranked.scores),
        int(np.count_nonzero(ranked.scores > 0)),
        ranked.positives,
        len(ranked),
        first_mistake(ranked.relevance),
    )


def compared(one: Standing, other: Standing) -> str:
    """Which of two ranks better and which labels better, in one sentence."""
    ranks, labels = better_ranking(one, other), better_labels(one, other)
    if ranks is None:
        ranking = f"both rank equally well (AP {one.average_precision:.3f})"
    else:
        worse = other if ranks is one else one
        against = f"AP {ranks.average_precision:.3f} against {worse.average_precision:.3f}"
        ranking = f"{ranks.method} ranks better ({against})"
    if labels is None:
        labelling = f"both label equally well (weighted 0-1 loss {one.zero_one:.3f})"
    else:
        worse = other if labels is one else one
        against = f"weighted 0-1 loss {labels.zero_one:.3f} against {worse.zero_one:.3f}"
        labelling = f"{labels.method} {'also ' if labels is ranks else ''}labels better ({against})"
    return f"On these people {ranking}, {labelling}."


def better_ranking(one: Standing, other: Standing) -> Standing | None:
    """Whose AP is higher, as far as it is shown; None where none is."""
    return _smaller(one, -one.average_precision, other, -other.average_precision)


def better_labels(one: Standing, other: Standing) -> Standing | None:
    """Whose weighted 0-1 loss is lower, as far as it is shown; None where none is."""
    return _smaller(one, one.zero_one, other, other.zero_one)


def _smaller(one: Standing, first: float, other: Standing, second: float) -> Standing | None:
    first, second = round(first, 3), round(second, 3)
    return None if first == second else one if first < second else other


def verdict(svm: Standing, ap_svm: Standing) -> str:
    """What follows for "why optimise AP?", whatever the numbers say."""
    ranks, labels = better_ranking(svm, ap_svm), better_labels(svm, ap_svm)
    if ranks is ap_svm and labels is svm:
        return "Each does better here at what its objective bounds. One query is an example, not a proof."
    winners = [winner for winner in (ranks, labels) if winner is not None]
    if not winners:
        found = "Neither does better here"
    elif len(winners) == 1:
        found = f"{winners[0].method} does better here at one of the two, and not worse at the other"
    elif ranks is labels:
        found = f"{winners[0].method} does better here at both"
    else:
        found = "Each does better here at what the other's objective bounds"
    return f"{found}: objectives bound losses on the training samples, and new ones may fall out otherwise."


def why(svm: Standing, ap_svm: Standing) -> str:
    """What the two methods train on, and what the signs of the scores make of it."""
    return (
        f"Beside a penalty on the weights, both minimise a bound on a loss of the training samples: {svm.method} on "
        f"the weighted 0-1 loss, {ap_svm.method} on 1 − AP, which sees only their order. So zero is no threshold of "
        f"the scores of {ap_svm.method}: above it stand {ap_svm.called} of these {ap_svm.samples} people "
        f"({svm.called} with {svm.method}), where {ap_svm.relevant} are relevant. "
        "To call everybody the same costs a weighted 0-1 loss of 0.5."
    )
