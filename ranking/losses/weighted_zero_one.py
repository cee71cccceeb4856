"""The weighted 0-1 loss of the binary SVM (high-order, eq. 7): a cost for each misclassified sample."""

from __future__ import annotations

import numpy as np

from ranking.core import Bools, Floats, Ints
from ranking.core.errors import InputError


def misclassification_costs(relevant: Bools) -> Floats:
    """Return (n,) the cost of misclassifying each sample, 1/(2|P|) or 1/(2|N|); the costs sum to 1.

    >>> misclassification_costs(np.array([True, False, False]))
    array([0.5 , 0.25, 0.25])
    """
    # J = |N|/|P| is the ratio of the costs of a relevant and of an irrelevant sample.
    positives = int(np.count_nonzero(relevant))
    negatives = len(relevant) - positives
    balance = negatives / positives
    return np.where(relevant, balance, 1.0) / (balance * positives + negatives)


def unit_of_cost(relevant: Bools) -> float:
    """Return 1/(4 |P| |N|), the product of both misclassification costs.

    >>> unit_of_cost(np.array([True, False, False]))
    0.125
    """
    # This is the factor of C with the unit "ranking". A margin of the weighted 0-1 loss is 1/(2|P|) or
    # 1/(2|N|), one of a ranking loss about 1. Weights are shorter by the same factor, and C weighs the loss
    # against their square; so C times this has the effect here that C has in a ranking loss.
    positives = int(np.count_nonzero(relevant))
    return 1.0 / (4 * positives * (len(relevant) - positives))


def weighted_zero_one(relevance: Ints, scores: Floats) -> float:
    """Return the loss, from 0 to 1, of labels by the sign of scores (n,): above 0 is relevant.

    The same label for all samples costs 0.5. ValueError unless relevance (n,) has relevant and irrelevant samples.

    >>> weighted_zero_one(np.array([1, 0, 0]), np.array([0.0, -1.0, 2.0]))
    0.75
    """
    relevant = relevance > 0
    if relevant.all() or not relevant.any():
        raise InputError(
            "relevance",
            "both relevant and irrelevant samples",
            f"{np.count_nonzero(relevant)} relevant of {len(relevant)}",
        )
    return float(misclassification_costs(relevant)[(scores > 0) != relevant].sum())


def best_threshold(relevance: Ints, scores: Floats) -> float:
    """Return the threshold of scores (n,) with the least `weighted_zero_one` of scores - threshold.

    >>> best_threshold(np.array([1, 1, 0, 0]), np.array([5.0, 4.0, 2.0, 1.0]))
    3.0
    >>> best_threshold(np.array([1, 0]), np.array([1.0, 2.0]))  # no better than calling none relevant
    2.0
    """
    # It is half-way between two scores; of equally good ones the highest.
    order = np.argsort(-scores, kind="stable")
    ranked, relevant = scores[order], relevance[order] > 0
    costs = misclassification_costs(relevant)
    # what calling the first ones relevant adds to the loss
    above = np.cumsum(np.where(relevant, -costs, costs))
    # no threshold separates equal scores
    ends = np.append(ranked[:-1] > ranked[1:], True)
    best = int(np.argmin(np.where(ends, above, np.inf)))
    if above[best] >= 0:
        return float(ranked[0])
    if best + 1 == len(ranked):
        return float(np.nextafter(ranked[-1], -np.inf))
    return float(ranked[best] + ranked[best + 1]) / 2
