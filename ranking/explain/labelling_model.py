"""Interactive labelling of one image: a model, the answers so far, and the next question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ranking.core import Bools, Floats, Ints
from ranking.explain.question_strategies import Urgency
from ranking.methods.label_prediction import Answers, LabelPrediction
from ranking.metrics import break_even_precision

# size of the negative urgency of settled labels
SETTLED = 1e300


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
        """Return the position for answers and skips by label name, without names unknown to the model.

        >>> Position.of(("sea", "sand", "sky"), {"sky": True, "sea": False}, {"sand"}).answers.tolist()
        [-1, 0, 1]
        """
        marks = [0 if name not in answers else 1 if answers[name] else -1 for name in names]
        return cls(np.array(marks, np.int8), np.array([name in skipped for name in names], np.bool_))

    def after(self, label: int, answer: bool) -> Position:
        """Return the position after the question about `label` is answered."""
        answers = self.answers.copy()
        answers[label] = 1 if answer else -1
        return Position(answers, self.skipped)


class Question(NamedTuple):
    """A label to ask about, and the best values of the top k with the label and without it."""

    # -1 where all labels are answered or skipped
    label: int
    inside: float
    outside: float


@dataclass(frozen=True, eq=False)
class LabellingModel:
    """A label ranker that asks about one image."""

    # its prediction (1, L) without answers
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
        return self._in_order(self.prediction(position.answers[None]), position)

    def question(self, position: Position) -> Question:
        """Return the next question."""
        prediction = self.prediction(position.answers[None])
        label = next(iter(self._in_order(prediction, position).tolist()), -1)
        maxima = prediction.max_marginals
        return Question(label, float(maxima.inside[0, label]), float(maxima.outside[0, label]))

    def play(self, position: Position, labels: Bools, questions: int) -> tuple[list[int], list[float]]:
        """Ask `questions` questions of the ground truth `labels` (L,), beginning at `position`."""
        # Returns the labels of the questions, and the break-even precision before the first and after each
        # answer.
        labels_of_questions = list[int]()
        precisions = [self.precision(labels, self.scores(position), position)]
        for _ in range(questions):
            label = self.question(position).label
            if label < 0:
                break
            position = position.after(label, bool(labels[label]))
            labels_of_questions.append(label)
            precisions.append(self.precision(labels, self.scores(position), position))
        return labels_of_questions, precisions

    def _in_order(self, prediction: LabelPrediction, position: Position) -> Ints:
        """Return the open labels in the order of the strategy's urgency; settled labels come last."""
        # Among settled labels the one comes first whose unary score contradicts its state most: the image may
        # have more labels than k, or fewer.

        # All open labels are outside then, else inside.
        full = (position.answers > 0).sum() >= prediction.k[0]
        doubt = prediction.unary[0] if full else -prediction.unary[0]
        ranks = np.argsort(np.argsort(-doubt, kind="stable"))
        urgency = np.maximum(self.urgency(prediction)[0], -SETTLED * (1.0 + ranks / len(doubt)))
        open_ = np.flatnonzero((position.answers == 0) & ~position.skipped)
        return open_[np.argsort(-urgency[open_], kind="stable")]


def ranked_labels(scores: Floats, unary: Floats, answers: Answers) -> Ints:
    """Return (L,) the labels from the top.

    >>> settled, unary = np.array([np.inf, 0.5, np.inf]), np.array([1.0, 9.0, 2.0])
    >>> ranked_labels(settled, unary, np.array([0, 0, 0], np.int8)).tolist()
    [2, 0, 1]
    >>> ranked_labels(settled, unary, np.array([1, 0, 0], np.int8)).tolist()
    [0, 2, 1]
    """
    # Equal scores, as of settled labels: yes first, no last, then by `unary`.
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
