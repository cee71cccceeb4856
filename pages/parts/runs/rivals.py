"""Two methods on one query: what each made of the test samples, in words that follow from the numbers."""

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


def compared(first: Standing, second: Standing) -> str:
    """Which of two ranks better and which labels better, in one sentence."""
    ranks, labels = better_ranking(first, second), better_labels(first, second)
    ranking = f"both rank equally well (AP {first.average_precision:.3f})"
    if ranks is not None:
        worse = second if ranks is first else first
        precisions = f"AP {ranks.average_precision:.3f} against {worse.average_precision:.3f}"
        ranking = f"{ranks.method} ranks better ({precisions})"
    labelling = f"both label equally well (weighted 0-1 loss {first.zero_one:.3f})"
    if labels is not None:
        worse = second if labels is first else first
        losses = f"weighted 0-1 loss {labels.zero_one:.3f} against {worse.zero_one:.3f}"
        labelling = f"{labels.method} {'also ' if labels is ranks else ''}labels better ({losses})"
    return f"On these people {ranking}, {labelling}."


def better_ranking(first: Standing, second: Standing) -> Standing | None:
    """Whose AP is higher, as far as it is shown; None where neither is."""
    difference = round(first.average_precision, 3) - round(second.average_precision, 3)
    return None if not difference else first if difference > 0 else second


def better_labels(first: Standing, second: Standing) -> Standing | None:
    """Whose weighted 0-1 loss is lower, as far as it is shown; None where neither is."""
    difference = round(first.zero_one, 3) - round(second.zero_one, 3)
    return None if not difference else first if difference < 0 else second


def verdict(svm: Standing, ap_svm: Standing) -> str:
    """What follows for "why optimise AP?", whatever the numbers say."""
    ranks, labels = better_ranking(svm, ap_svm), better_labels(svm, ap_svm)
    if ranks is ap_svm and labels is svm:
        return "Here each method wins on the loss that it optimises. One query is an example, not a proof."
    winners = [winner for winner in (ranks, labels) if winner is not None]
    if not winners:
        outcome = "Neither does better here"
    elif len(winners) == 1:
        outcome = f"{winners[0].method} does better here at one of the two, and not worse at the other"
    elif ranks is labels:
        outcome = f"{winners[0].method} does better here at both"
    else:
        outcome = "Each does better here at what the other's objective bounds"
    return f"{outcome}: objectives bound losses on the training samples, and new ones may fall out otherwise."


def why(svm: Standing, ap_svm: Standing) -> str:
    """What the two methods train on, and what the signs of the scores make of it."""
    return (
        f"Beside a penalty on the weights, both minimise a bound on a loss of the training samples: {svm.method} on "
        f"the weighted 0-1 loss, {ap_svm.method} on 1 − AP, which sees only their order. So zero is no threshold of "
        f"the scores of {ap_svm.method}: above it are {ap_svm.called} of these {ap_svm.samples} people "
        f"({svm.called} with {svm.method}), where {ap_svm.relevant} are relevant. "
        "Giving everybody the same label costs a weighted 0-1 loss of 0.5."
    )
