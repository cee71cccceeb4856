"""A labelling session: an image, a model that ranks its labels and asks about them, and the data for the browser."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pages.parts.app import cache
from pages.parts.runs.label_models import Player
from ranking.core import Bools, Floats, LabelSet
from ranking.explain.labelling_model import LabellingModel, Position, Question, fixed_order
from ranking.explain.question_strategies import STRATEGIES, Urgency, make_strategy, strategies_for
from ranking.workspace.answers import AnswerEvent, ImageAnswers, fold
from ranking.workspace.run import Run

WITH_RANKING = (
    1  # number of answers ahead for which rankings are sent to the browser; for later ones only questions
)


@dataclass(frozen=True, eq=False)
class LabellingSession:
    """A model that asks about one image. id: of the image. truth: its labels (L,); None if they are not known."""

    player: Player
    strategy: str
    labelling_model: LabellingModel
    names: tuple[str, ...]
    id: str
    truth: Bools | None

    @classmethod
    def of(
        cls, player: Player, images: LabelSet, row: int, strategy: str, k: int, known: bool
    ) -> LabellingSession:
        """Return a session about image `row` of `images`. k: the number of labels to predict. known: whether the labels
        of the image are its ground truth."""
        method, _ = cache.label_ranker(player.run)
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

    @property
    def token(self) -> str:
        """Identifies the session that a question on the screen belongs to."""
        return "\n".join([self.run.settings["set"], self.id, self.run.id, self.strategy, str(self.k)])

    def position(self, answers: ImageAnswers) -> Position:
        return Position.of(self.names, answers.answers, answers.skipped)

    def precision(self, scores: Floats, position: Position) -> float | None:
        """Return the break-even precision of a ranking; None without ground truth."""
        return None if self.truth is None else self.labelling_model.precision(self.truth, scores, position)

    def played(self) -> list[float]:
        """Return the break-even precision before the first question and after each answer of the ground truth; []
        without ground truth."""
        if self.truth is None:
            return []
        return self.labelling_model.play(self._nothing(), self.truth, len(self.names))[1]

    def _nothing(self) -> Position:
        return Position.of(self.names, {})

    # -------------------------------------------------------------------------------------------- the browser

    def data(self, events: list[AnswerEvent], saved: dict[str, int], shown: str | None) -> dict[str, Any]:
        """Return the data for questions.js. shown: the label of the question that is already on the screen."""
        answers = fold(events)
        position, before = self.position(answers), self.position(fold(answers.standing[:-1]))
        first = self.names.index(shown) if shown in self.names else None
        stamp = {
            "set": self.run.settings["set"],
            "image": self.id,
            "run": self.run.id,
            "strategy": self.strategy,
        }
        return {
            **self._common(position, before),
            "token": self.token,
            "stamp": stamp,
            "names": list(self.names),
            "saved": saved,
            "given": [
                [self.names.index(event.label), event.kind]
                for event in answers.standing
                if event.label in self.names
            ],
            "counted": answers.events,
            "tree": self._node(self.labelling_model.question_tree(position, first), position, 0),
            "order": self.labelling_model.in_order_of_urgency(position).tolist(),
            "why": STRATEGIES[self.strategy].why,
            "own": {"title": self.player.title, "colour": self.player.look.colour, "note": "your answers"},
            "truth": None,
            "baseline": None,
        }

    def ranking(self, position: Position, before: Position, note: str = "your answers too") -> dict[str, Any]:
        """Return the ranking of a baseline: its rows, and the order before the last answer."""
        scores = self.labelling_model.scores(position)
        return {
            **self._common(position, before),
            "title": self.player.title,
            "colour": self.player.look.colour,
            "rows": self._rows(scores, position),
            "precision": self.precision(scores, position),
            "note": note,
        }

    def _common(self, position: Position, before: Position) -> dict[str, Any]:
        return {
            "k": int(self.labelling_model.prediction(position.answers[None]).k[0]),
            "before": self.labelling_model.order(self.labelling_model.scores(before), before).tolist(),
        }

    def ranking_of_its_own_questions(self, count: int) -> dict[str, Any]:
        """Return the ranking after `count` questions of this model, answered by the ground truth."""
        assert self.truth is not None
        questions, _ = self.labelling_model.play(self._nothing(), self.truth, count)
        answers = {self.names[label]: bool(self.truth[label]) for label in questions}
        position = Position.of(self.names, answers)
        before = Position.of(self.names, dict(list(answers.items())[:-1]))
        last = f", the last: {self.names[questions[-1]]}" if questions else ""
        note = f"{len(questions)} own questions ({self.strategy}), answered by the ground truth{last}"
        return self.ranking(position, before, note)

    def _node(self, question: Question, position: Position, depth: int) -> dict[str, Any]:
        close = depth <= WITH_RANKING
        inside, outside = (
            float(value) if np.isfinite(value) else None for value in (question.inside, question.outside)
        )
        return {
            "label": question.label,
            "inside": inside,
            "outside": outside,
            "ranking": self._rows(question.scores, position) if close else None,
            "precision": self.precision(question.scores, position) if close else None,
            "after": [
                self._node(after, position.after(question.label, branch), depth + 1)
                for branch, after in enumerate(question.after)
            ],
        }

    def _rows(self, scores: Floats, position: Position) -> list[list[Any]]:
        """Return [label, share of the longest bar, answer] from the top."""
        shares = np.clip(scores / self._longest, -1.0, 1.0)
        answers = {1: "yes", -1: "no"}
        return [
            [
                int(label),
                round(float(shares[label]), 3),
                answers.get(int(position.answers[label]), "skip" if position.skipped[label] else ""),
            ]
            for label in self.labelling_model.order(scores, position)
        ]

    @cached_property
    def _longest(self) -> float:
        """The greatest absolute score without answers, so that bars before and after an answer have the same scale."""
        scores = np.abs(self.labelling_model.scores(self._nothing()))
        return float(scores[np.isfinite(scores)].max(initial=1e-9))


def _urgency(run: Run, strategy: str, image: str) -> Urgency:
    method, shown = cache.label_ranker(run)
    if strategy == "entropy":
        return cache.label_entropy(run)
    if strategy == "random":
        return fixed_order(len(method.names), zlib.crc32(image.encode()))
    return make_strategy(strategy, method, shown)


def strategies(run: Run) -> list[str]:
    """Return the question strategies of a run; without core labels, none that asks about them first."""
    method, _ = cache.label_ranker(run)
    return strategies_for(len(method.core))
