"""A labelling session: an image, a model that ranks its labels and asks about them."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pages.parts.labelling import label_models
from pages.parts.labelling.label_models import Player
from pages.parts.labelling.label_ranking import Ranking
from ranking.core import Bools, LabelSet
from ranking.explain.labelling_model import LabellingModel, Position, fixed_order
from ranking.explain.question_strategies import Urgency, make_strategy, strategies_for
from ranking.storage.answers import ImageAnswers
from ranking.storage.run import Run


@dataclass(frozen=True, eq=False)
class LabellingSession:
    """A model that asks about one image."""

    player: Player
    strategy: str
    labelling_model: LabellingModel
    names: tuple[str, ...]
    # Of the image.
    id: str
    # Its labels (L,); None if they are not known.
    truth: Bools | None

    @classmethod
    def of(
        cls, player: Player, images: LabelSet, row: int, strategy: str, k: int, known: bool
    ) -> LabellingSession:
        """Return a session about image `row` of `images`."""
        # k: the number of labels to predict. known: whether the labels of the image are its ground truth.
        method, _ = label_models.label_ranker(player.run)
        image, id = images.part([row]), str(images.ids[row])
        labelling_model = LabellingModel(method.prediction(image, k=k), _urgency(player.run, strategy, id))
        truth = image.labels[0] if known and image.labels.any() else None
        return cls(player, strategy, labelling_model, images.names, id, truth)

    @property
    def k(self) -> int:
        return int(self.labelling_model.alone.k[0])

    @property
    def run(self) -> Run:
        return self.player.run

    def position(self, answers: ImageAnswers) -> Position:
        return Position.of(self.names, answers.answers, answers.skipped)

    def played(self) -> list[float]:
        """Return the break-even precision before the first question and after each true answer."""
        # [] without ground truth.
        if self.truth is None:
            return []
        return self.labelling_model.play(self._nothing(), self.truth, len(self.names))[1]

    def _nothing(self) -> Position:
        return Position.of(self.names, {})

    def ranking(self, position: Position, before: Position, note: str) -> Ranking:
        """Return the ranking at `position`, and its moves since the position `before`."""
        # note: who answers.
        model = self.labelling_model
        scores = model.scores(position)
        return Ranking(
            title=self.player.title,
            colour=self.player.style.colour,
            note=note,
            k=int(model.prediction(position.answers[None]).k[0]),
            order=model.order(scores, position),
            before=model.order(model.scores(before), before),
            shares=np.clip(scores / self._longest, -1.0, 1.0),
            position=position,
            precision=None if self.truth is None else model.precision(self.truth, scores, position),
        )

    def ranking_of_its_own_questions(self, count: int) -> Ranking:
        """Return the ranking after `count` questions of this model, answered by the ground truth."""
        assert self.truth is not None
        questions, _ = self.labelling_model.play(self._nothing(), self.truth, count)
        answers = {self.names[label]: bool(self.truth[label]) for label in questions}
        position = Position.of(self.names, answers)
        before = Position.of(self.names, dict(list(answers.items())[:-1]))
        last = f", the last: {self.names[questions[-1]]}" if questions else ""
        note = f"{len(questions)} own questions ({self.strategy}), answered by the ground truth{last}"
        return self.ranking(position, before, note)

    @cached_property
    def _longest(self) -> float:
        """The greatest absolute score without answers."""
        # With it, bars before and after an answer have the same scale.
        scores = np.abs(self.labelling_model.scores(self._nothing()))
        return float(scores[np.isfinite(scores)].max(initial=1e-9))


def _urgency(run: Run, strategy: str, image: str) -> Urgency:
    method, shown = label_models.label_ranker(run)
    if strategy == "entropy":
        return label_models.label_entropy(run)
    if strategy == "random":
        return fixed_order(len(method.names), zlib.crc32(image.encode()))
    return make_strategy(strategy, method, shown)


def strategies(run: Run) -> list[str]:
    """Return the question strategies of a run; without core labels, none that asks about them first."""
    method, _ = label_models.label_ranker(run)
    return strategies_for(len(method.core))
