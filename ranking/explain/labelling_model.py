"""The questions of interactive labelling about one image, computed in advance for all possible answers.

Users answer faster than the server responds. So the server sends the questions after all possible next answers as a
tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ranking.core import Bools, Floats, Ints
from ranking.explain.question_strategies import Urgency, next_questions
from ranking.methods.label_prediction import Answers, LabelPrediction
from ranking.metrics import break_even_precision

DEEPEST = 4  # answers in advance: 3 branches each, so 121 questions
MAX_WORK = 3e6  # labels times configurations of the core times questions: some 10 ms
SETTLED = 1e300  # size of the negative urgency of settled labels, above that of skipped ones
YES, NO, SKIP = 0, 1, 2  # the branches of a question


class Position(NamedTuple):
    """The answers so far about one image: answers (L,) of 1, -1 and 0 (unanswered), and skipped (L,)."""

    answers: Answers
    skipped: Bools

    @classmethod
    def of(
        cls,
        names: tuple[str, ...],
        answers: Mapping[str, bool],
        skipped: set[str] | frozenset[str] = frozenset(),
    ) -> Position:
        """Return the position for answers and skips by label name; names that the model does not have are ignored.

        >>> Position.of(("sea", "sand", "sky"), {"sky": True, "sea": False}, {"sand"}).answers.tolist()
        [-1, 0, 1]
        """
        marks = [0 if name not in answers else 1 if answers[name] else -1 for name in names]
        return cls(np.array(marks, np.int8), np.array([name in skipped for name in names], np.bool_))

    def after(self, label: int, branch: int) -> Position:
        """Return the position after the question about `label` is answered by YES, NO or SKIP."""
        answers, skipped = self.answers.copy(), self.skipped.copy()
        if branch == SKIP:
            skipped[label] = True
        else:
            answers[label] = 1 if branch == YES else -1
        return Position(answers, skipped)


@dataclass(frozen=True)
class Question:
    """A question and the questions after its answers.

    label: its number, -1 where all labels are answered or skipped. inside, outside: its two maxima. scores: (L,) the
    scores of all labels when it is asked. after: the questions after YES, NO and SKIP; empty at the leaves.
    """

    label: int
    inside: float
    outside: float
    scores: Floats
    after: list[Question] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class LabellingModel:
    """A label ranker that asks about one image. alone: its prediction (1, L) without answers."""

    alone: LabelPrediction
    urgency: Urgency

    def prediction(self, answers: Answers) -> LabelPrediction:
        """Return the prediction for N sets of answers (N, L); k is adjusted where answers require it."""
        count = len(answers)
        inside, outside = (answers > 0).sum(axis=1), (answers < 0).sum(axis=1)
        k = np.clip(np.repeat(self.alone.k, count), inside, answers.shape[1] - outside)
        return replace(self.alone, unary=np.repeat(self.alone.unary, count, axis=0), k=k, answers=answers)

    def scores(self, position: Position) -> Floats:
        """Return (L,) the scores that rank the labels."""
        return np.asarray(self.prediction(position.answers[None]).scores[0])

    def order(self, scores: Floats, position: Position) -> Ints:
        """Return (L,) the labels from the top when ranked by `scores`, with ties broken as on screen."""
        return ranked_labels(scores, self.alone.unary[0], position.answers)

    def precision(self, labels: Bools, scores: Floats, position: Position) -> float:
        """Return the break-even precision of `order`, which also ranks labels that answers have settled."""
        return break_even_precision(labels, -np.argsort(self.order(scores, position)))

    def in_order_of_urgency(self, position: Position) -> Ints:
        """Return the labels that are neither answered nor skipped, the next question first."""
        urgency = self._urgency(self.prediction(position.answers[None]), position.skipped[None])[0]
        open_ = np.flatnonzero((position.answers == 0) & ~position.skipped)
        return open_[np.argsort(-urgency[open_], kind="stable")]

    def question_tree(
        self, position: Position, first: int | None = None, depth: int | None = None
    ) -> Question:
        """Return the next question, with the questions after the next `depth` answers.

        depth: by default as many as MAX_WORK allows. first: the label to ask about now, because it is on screen
        already; ignored where it is answered.
        """
        depth = self._depth() if depth is None else depth
        answers, skipped = position.answers[None], position.skipped[None]
        root = level = self._questions(answers, skipped, first)
        for _ in range(depth):
            parents = np.array([row for row, question in enumerate(level) if question.label >= 0], np.int64)
            if not len(parents):
                break
            labels = np.repeat([level[row].label for row in parents], 3)
            answers, skipped = np.repeat(answers[parents], 3, axis=0), np.repeat(skipped[parents], 3, axis=0)
            rows = np.arange(len(labels))
            answers[rows[YES::3], labels[YES::3]] = 1
            answers[rows[NO::3], labels[NO::3]] = -1
            skipped[rows[SKIP::3], labels[SKIP::3]] = True
            below = self._questions(answers, skipped)
            for number, row in enumerate(parents):
                level[row].after.extend(below[3 * number : 3 * number + 3])
            level = below
        return root[0]

    def play(self, position: Position, labels: Bools, questions: int) -> tuple[list[int], list[float]]:
        """Ask `questions` questions of the ground truth `labels` (L,), beginning at `position`.

        Returns the labels of the questions, and the break-even precision before the first and after each answer.
        """
        labels_of_questions = list[int]()
        precisions = [self.precision(labels, self.scores(position), position)]
        for _ in range(questions):
            question = self.question_tree(position, depth=0)
            if question.label < 0:
                break
            position = position.after(question.label, YES if labels[question.label] else NO)
            labels_of_questions.append(question.label)
            precisions.append(self.precision(labels, self.scores(position), position))
        return labels_of_questions, precisions

    def _questions(self, answers: Answers, skipped: Bools, first: int | None = None) -> list[Question]:
        prediction = self.prediction(answers)
        urgency = self._urgency(prediction, skipped)
        if first is not None:
            urgency[0, first] = np.inf
        chosen = next_questions(prediction, lambda _: urgency)
        some = ((answers == 0) & ~skipped).any(axis=1)
        labels = np.where(some, chosen.labels, -1).tolist()
        parts = zip(labels, chosen.inside.tolist(), chosen.outside.tolist(), prediction.scores, strict=True)
        return [Question(*part) for part in parts]

    def _urgency(self, prediction: LabelPrediction, skipped: Bools) -> Floats:
        """Return (N, L) the strategy's urgency, below it settled labels, and below those the skipped ones.

        Among settled labels the one comes first whose unary score contradicts its state most: the image may have more
        labels than k, or fewer.
        """
        full = (prediction.answers > 0).sum(
            axis=1
        ) >= prediction.k  # all open labels are outside then, else inside
        doubt = np.where(full[:, None], prediction.unary, -prediction.unary)
        ranks = np.argsort(np.argsort(-doubt, axis=1, kind="stable"), axis=1)
        settled = -SETTLED * (1.0 + ranks / doubt.shape[1])
        return np.where(skipped, -np.inf, np.maximum(self.urgency(prediction), settled))

    def _depth(self) -> int:
        """Return how many answers can be computed in advance within MAX_WORK."""
        work = self.alone.unary.shape[1] * 2.0 ** len(self.alone.core)
        depths = [depth for depth in range(1, DEEPEST + 1) if work * 1.5 * 3.0**depth <= MAX_WORK]
        return depths[-1] if depths else 1


def ranked_labels(scores: Floats, unary: Floats, answers: Answers) -> Ints:
    """Return (L,) the labels from the top. Equal scores, as of settled labels: yes first, no last, then by `unary`.

    >>> settled, unary = np.array([np.inf, 0.5, np.inf]), np.array([1.0, 9.0, 2.0])
    >>> ranked_labels(settled, unary, np.array([0, 0, 0], np.int8)).tolist()
    [2, 0, 1]
    >>> ranked_labels(settled, unary, np.array([1, 0, 0], np.int8)).tolist()
    [0, 2, 1]
    """
    return np.lexsort((-unary, -answers, -scores))


def fixed_order(labels: int, seed: int) -> Urgency:
    """Return a strategy that asks in one random order, whatever the answers."""
    order = np.random.default_rng(seed).random(labels)
    return lambda prediction: np.broadcast_to(order, prediction.unary.shape)


def questions_needed(precisions: list[float]) -> int | None:
    """Return after how many questions the ranking is perfect and stays so; None where that does not happen.

    >>> questions_needed([0.5, 1.0, 0.5, 1.0, 1.0]), questions_needed([0.5]), questions_needed([1.0])
    (3, None, 0)
    """
    imperfect = [number for number, precision in enumerate(precisions) if precision < 1.0]
    last = imperfect[-1] + 1 if imperfect else 0
    return last if last < len(precisions) else None
