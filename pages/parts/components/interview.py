"""One image and the models that rank its labels: what is asked, what was said, and what the browser is told of it."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pages.parts.app import cache
from pages.parts.runs.label_models import Player
from ranking.core import Bools, Floats, LabelSet
from ranking.explain.asking import STRATEGIES, Urgency, make_strategy, strategies_for
from ranking.explain.lookahead import LabellingModel, Position, Question, fixed_order
from ranking.workspace.answers import AnswerEvent, ImageAnswers, fold
from ranking.workspace.run import Run

WITH_RANKING = 1  # answers ahead whose rankings are sent along; of those after them only the questions


@dataclass(frozen=True, eq=False)
class Interview:
    """A player that asks about one image. id: of the image; truth: (L,) its labels, None where nobody knows them."""

    player: Player
    strategy: str
    asker: LabellingModel
    names: tuple[str, ...]
    id: str
    truth: Bools | None

    @classmethod
    def of(cls, player: Player, images: LabelSet, row: int, strategy: str, k: int, known: bool) -> Interview:
        """About image `row` of `images`, which is given `k` labels; `known`: whether its labels are the truth."""
        method, _ = cache.label_ranker(player.run)
        one, id = images.part([row]), str(images.ids[row])
        asker = LabellingModel(method.prediction(one, k=k), _urgency(player.run, strategy, id))
        truth = one.labels[0] if known and one.labels.any() else None
        return cls(player, strategy, asker, images.names, id, truth)

    @property
    def k(self) -> int:
        return int(self.asker.alone.k[0])

    @property
    def run(self) -> Run:
        return self.player.run

    @property
    def token(self) -> str:
        """What a question on the screen belongs to."""
        return "\n".join([self.run.settings["set"], self.id, self.run.id, self.strategy, str(self.k)])

    def position(self, told: ImageAnswers) -> Position:
        return Position.of(self.names, told.answers, told.skipped)

    def precision(self, scores: Floats, position: Position) -> float | None:
        """Break-even precision of a ranking as it is shown; None where nobody knows the truth."""
        return None if self.truth is None else self.asker.precision(self.truth, scores, position)

    def played(self) -> list[float]:
        """Break-even precision before the first and after each question that the truth answers; [] without a truth."""
        if self.truth is None:
            return []
        return self.asker.play(self._nothing(), self.truth, len(self.names))[1]

    def _nothing(self) -> Position:
        return Position.of(self.names, {})

    # -------------------------------------------------------------------------------------------- the browser

    def told(self, events: list[AnswerEvent], saved: dict[str, int], shown: str | None) -> dict[str, Any]:
        """What questions.js is told; `shown`: the label that a person sees asked already."""
        told = fold(events)
        position = self.position(told)
        first = self.names.index(shown) if shown in self.names else None
        before = self.position(fold([one for one in told.standing[:-1]]))
        k = int(self.asker.prediction(position.answers[None]).k[0])
        return {
            "token": self.token,
            "stamp": {
                "set": self.run.settings["set"],
                "image": self.id,
                "run": self.run.id,
                "strategy": self.strategy,
            },
            "names": list(self.names),
            "k": k,
            "saved": saved,
            "given": [
                [self.names.index(one.label), one.kind] for one in told.standing if one.label in self.names
            ],
            "counted": told.events,
            "tree": self._node(self.asker.question_tree(position, first), position, 0),
            "order": self.asker.in_order_of_urgency(position).tolist(),
            "before": self.asker.order(self.asker.scores(before), before).tolist(),
            "why": STRATEGIES[self.strategy].why,
            "own": {"title": self.player.title, "colour": self.player.look.colour, "note": "your answers"},
            "truth": None,
            "rival": None,
        }

    def ranking(self, position: Position, before: Position) -> dict[str, Any]:
        """A ranking to be shown beside another: its rows, and the order before the last answer."""
        scores = self.asker.scores(position)
        return {
            "title": self.player.title,
            "colour": self.player.look.colour,
            "rows": self._rows(scores, position),
            "before": self.asker.order(self.asker.scores(before), before).tolist(),
            "precision": self.precision(scores, position),
            "k": int(self.asker.prediction(position.answers[None]).k[0]),
            "note": "your answers too",
        }

    def ranking_of_its_own_questions(self, count: int) -> dict[str, Any]:
        """The ranking after `count` questions of this model's own, which the truth has answered."""
        assert self.truth is not None
        asked, _ = self.asker.play(self._nothing(), self.truth, count)
        positions = []
        for number in (len(asked), max(0, len(asked) - 1)):
            said = {self.names[label]: bool(self.truth[label]) for label in asked[:number]}
            positions.append(Position.of(self.names, said))
        last = f", the last: {self.names[asked[-1]]}" if asked else ""
        note = f"{len(asked)} own questions ({self.strategy}), answered by the truth{last}"
        return {**self.ranking(*positions), "note": note}

    def _node(self, question: Question, position: Position, depth: int) -> dict[str, Any]:
        told: dict[str, Any] = {"label": question.label, "ranking": None, "precision": None, "after": []}
        for side in ("inside", "outside"):
            value = getattr(question, side)
            told[side] = float(value) if np.isfinite(value) else None
        if depth <= WITH_RANKING:
            told["ranking"] = self._rows(question.scores, position)
            told["precision"] = self.precision(question.scores, position)
        for branch, after in enumerate(question.after):
            told["after"].append(self._node(after, position.after(question.label, branch), depth + 1))
        return told

    def _rows(self, scores: Floats, position: Position) -> list[list[Any]]:
        """[label, share of the longest bar, what was said] from the top."""
        shares = np.clip(scores / self._longest, -1.0, 1.0)
        said = {1: "yes", -1: "no"}
        return [
            [
                int(label),
                round(float(shares[label]), 3),
                said.get(int(position.answers[label]), "skip" if position.skipped[label] else ""),
            ]
            for label in self.asker.order(scores, position)
        ]

    @cached_property
    def _longest(self) -> float:
        """The greatest score without answers: the length of a bar means the same before and after an answer."""
        scores = np.abs(self.asker.scores(self._nothing()))
        return float(scores[np.isfinite(scores)].max(initial=1e-9))


def _urgency(run: Run, strategy: str, image: str) -> Urgency:
    method, shown = cache.label_ranker(run)
    if strategy == "entropy":
        return cache.label_entropy(run)
    if strategy == "random":
        return fixed_order(len(method.names), zlib.crc32(image.encode()))
    return make_strategy(strategy, method, shown)


def strategies(run: Run) -> list[str]:
    """The ways to ask of a training; where it has no core, there is none to ask for first."""
    method, _ = cache.label_ranker(run)
    return strategies_for(len(method.core))
