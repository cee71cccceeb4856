"""The rank SVM framework (quicksort, section 2.1), for any loss that has inference."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import ClassVar

from ranking.core import Bools, Floats, OnProgress
from ranking.losses import RankingLoss
from ranking.methods.common_settings import inference_algorithm
from ranking.methods.linear import Start, UnaryMethod
from ranking.methods.oracles import ranking_cut
from ranking.methods.training_set import TrainingSet
from ranking.solvers import Cut, Solution, cutting_plane


@dataclass(kw_only=True, eq=False)
class StructuredRankSVM(UnaryMethod):
    """min 1/2 ||w||^2 + C xi, w.Psi(X, R*) - w.Psi(X, R) >= Delta(R*, R) - xi for all R (quicksort, eq. 4).

    Psi(X, R) is the mean over pairs of one relevant and one irrelevant sample of R_xy (psi(x) - psi(y)) (eq. 1), and
    a ranking's interleaving ranks give its coefficients (Lemma 6, with |P| and |N| corrected).

    inference_scores: scores of the samples at the last call of loss-augmented inference; None before training.
    """

    loss: ClassVar[RankingLoss]

    algorithm: str = inference_algorithm()
    inference_scores: Floats | None = field(default=None, init=False, repr=False)

    @property
    def weights(self) -> Floats:
        """(d,) w; the score of a sample is w.psi(x)."""
        return self._fitted().weights

    def identify(self, samples: TrainingSet) -> int:
        """Return the fingerprint of the samples and of the settings of the loss: cuts contain losses."""
        given = self.loss.key.removeprefix(self.loss.name)
        return zlib.crc32(given.encode(), samples.fingerprint)

    def cut(self, scores: Floats, relevant: Bools) -> Cut:
        self.inference_scores = scores
        return ranking_cut(scores, relevant, self.loss, self.algorithm)

    def solve(self, samples: TrainingSet, on_progress: OnProgress | None, start: Start) -> Solution:
        return cutting_plane(
            self.risk(samples),
            self.tolerance,
            self.max_iterations,
            on_progress,
            start.weights,
            start.working_set,
            coefficients=start.coefficients,
        )
