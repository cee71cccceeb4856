"""Shared by all MidRank ablations: sampling sequences, training, measuring orders and reporting progress."""

from __future__ import annotations

from dataclasses import replace

from ranking.core import Features, ImageSet, Ints, OnStep, ProgressEvent
from ranking.core.settings import GivenSettings
from ranking.datasets.sequences import SampledSequences, draw_sequences
from ranking.experiments.order_task import NAMES, OrderTask, make_drawing, measures
from ranking.methods.length_rankings import scores_of_orders
from ranking.methods.mid_rank import MidRank
from ranking.metrics.ablation_curves import Measured, over_sequences
from ranking.storage.run_settings import AblationSettings


def make_mid_rank(settings: GivenSettings) -> MidRank:
    method = OrderTask().make("MidRank", settings)
    assert isinstance(method, MidRank)
    return method


class Bench:
    """The sequences of one ablation, and its training runs on them."""

    def __init__(
        self,
        image_set: ImageSet,
        features: Features,
        settings: AblationSettings,
        steps: int,
        on_step: OnStep | None,
    ) -> None:
        self.drawing = make_drawing(settings.drawing)
        self.proven = True
        self._of = (image_set, features, settings.criterion)
        self._given = settings.method_settings
        self.plain = make_mid_rank(self._given)
        self._tell = on_step or (lambda what, done, total: None)
        self._done, self._total, self._what = -1, steps, ""
        self.train, self.test = draw_sequences(*self._of, self.drawing)

    def begin(self, what: str) -> None:
        """Report that the next step begins, after all steps before have ended."""
        self._done, self._what = self._done + 1, what
        self._tell(what, self._done, self._total)

    def end(self) -> None:
        """Report that the last step has ended."""
        self._tell(self._what, self._done + 1, self._total)

    def test_of(self, length: int) -> SampledSequences:
        """Return test sequences of another length."""
        return draw_sequences(*self._of, replace(self.drawing, length=length))[1]

    def fit(self, what: str, **changes: object) -> MidRank:
        """Train a MidRank with the settings of the ablation and these `changes`, as one step."""
        self.begin(what)
        method = make_mid_rank({**self._given, **changes})

        def listen(event: ProgressEvent) -> None:
            # RankSVM, with which training begins, is round 0
            length = method.shortest + event.round - 1
            now = f", subsequences of {length}" if event.round else ", RankSVM"
            self._tell(what + now, self._done, self._total)

        method.fit(self.train.sequences, on_progress=listen)
        assert method.certificate is not None
        self.proven &= method.certificate.converged
        return method

    def judged(self, sampled: SampledSequences, orders: Ints) -> dict[str, Measured]:
        """Return the measures of orders (N,), each sequence numbered from 0, by the grades."""
        scores = scores_of_orders(orders, sampled.sequences.starts)
        results = measures(sampled, scores, self.drawing)
        return {name: over_sequences(values) for name, values in zip(NAMES, results, strict=True)}
