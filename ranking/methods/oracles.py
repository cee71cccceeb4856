"""Loss-augmented inference for several queries, and for rankings of one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ranking.core import Bools, Floats
from ranking.inference import most_violated_ranking
from ranking.losses import RankingLoss
from ranking.methods.training_set import TrainingSet
from ranking.solvers import Cut


def by_query(cut: Callable[[Floats, Bools], Cut], samples: TrainingSet) -> Callable[[Floats], Cut]:
    """Combine the most violated outputs of all queries into one cut."""
    # `cut` (scores, relevant) computes that of each.

    def oracle(scores: Floats) -> Cut:
        cuts = [cut(scores[part], samples.relevant[part]) for part in samples.parts]
        if len(cuts) == 1:
            return cuts[0]
        return Cut(np.concatenate([cut.coefficients for cut in cuts]), sum(cut.loss for cut in cuts))

    return oracle


def ranking_cut(scores: Floats, relevant: Bools, loss: RankingLoss, algorithm: str = "auto") -> Cut:
    """Return the most violated ranking as a cut: Psi(X, R) - Psi(X, R*) (quicksort, Lemma 6)."""
    violated = most_violated_ranking(scores, relevant, loss, algorithm)
    positives = int(np.count_nonzero(relevant))
    truth = np.where(relevant, 1.0 / positives, -1.0 / (len(relevant) - positives))
    return Cut(violated.coefficients - truth, violated.loss)
