"""The weighted 0-1 loss of the binary SVM (high-order, eq. 7): a cost for each misclassified sample."""

from __future__ import annotations

import numpy as np

from ranking.types import Bools, Floats


def misclassification_costs(relevant: Bools) -> Floats:
    """(n,) what misclassifying each sample costs, with J = |N|/|P|: 1/(2|P|) or 1/(2|N|); they sum to 1.

    >>> misclassification_costs(np.array([True, False, False]))
    array([0.5 , 0.25, 0.25])
    """
    positives = int(np.count_nonzero(relevant))
    negatives = len(relevant) - positives
    balance = negatives / positives
    return np.where(relevant, balance, 1.0) / (balance * positives + negatives)
