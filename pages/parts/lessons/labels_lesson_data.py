"""Data of the lesson about label ranking: the test scenes, and what two training runs predict about them.

The effects of answers are computed here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pages.parts.app.home import of_home
from pages.parts.labelling import label_models
from ranking.core import Bools, Floats, Ints
from ranking.explain.labelling_model import LabellingModel, Position, ranked_labels
from ranking.explain.question_strategies import closest_maxima, precisions
from ranking.methods.label_prediction import LabelPrediction
from ranking.storage.run import Run

# the methods of the two runs, as the lesson shows them
OWN, BASELINE = "C-star", "Independent"
QUESTIONS = 10
# of a scene, in pixels
SIZE = (320, 240)
# of a score; later digits are rounding errors
DIGITS = 9
# number of scenes of the lesson: chosen scenes, and the first ones of the others
CHOSEN, ANY = 3, 3


class FirstAnswers(NamedTuple):
    """What the true answer to C-star's first question changes in M scenes."""

    # (M,) the labels of the questions.
    questions: Ints
    # (M,) how many more of the first labels besides the answered one are correct after the answer: of as many
    # as fit into the top k with it.
    corrected: Ints
    # (M,) how many pairs of these labels change their order.
    swaps: Ints


@dataclass(frozen=True, eq=False)
class LessonLabels:
    """M test scenes with labels (M, L), and the predictions of both models without answers."""

    # The key of the image set, of which `scenes` (M,) are numbers.
    set: str
    names: tuple[str, ...]
    scenes: Ints
    labels: Bools
    # k is the number of labels of each scene, as in the paper.
    predictions: dict[str, LabelPrediction]
    # The number of training scenes.
    learned: int
    # The larger relative duality gap of the two training runs.
    gap: float

    def labelling_model(self, model: str, row: int) -> LabellingModel:
        """Return a model that asks about one scene by the paper's strategy."""
        whole = self.predictions[model]
        part = slice(row, row + 1)
        alone = LabelPrediction(
            whole.unary[part], whole.core, whole.interactions, whole.k[part], whole.answers[part]
        )
        return LabellingModel(alone, closest_maxima)

    def position(self, answers: dict[int, bool]) -> Position:
        """Return the answers, given by label number, as a position."""
        return Position.of(self.names, {self.names[label]: answer for label, answer in answers.items()})

    def ties(self, label: int) -> list[tuple[int, float]]:
        """Return (other label, F) of every pair that `label` interacts in, the greatest F first."""
        # A label of the core interacts with all labels, any other with the core.
        whole = self.predictions[OWN]
        interactions = dict(zip(whole.core.tolist(), whole.interactions[:, label].tolist(), strict=True))
        if label in interactions:
            interactions = dict(enumerate(whole.interactions[whole.core.tolist().index(label)].tolist()))
            del interactions[label]
        return sorted(interactions.items(), key=lambda tie: -tie[1])

    @cached_property
    def examples(self) -> list[int]:
        """Return the rows of the lesson's scenes: CHOSEN of large effect of an answer, and ANY others."""
        # Where the first answer corrects the most other labels, then swaps the most pairs of them, each about
        # another label; then the first others.
        first, best = self.first_answers, dict[int, int]()
        for row in np.lexsort((-first.swaps, -first.corrected)):
            best.setdefault(int(first.questions[row]), int(row))
        chosen = list(best.values())[:CHOSEN]
        return [*chosen, *[row for row in range(len(self.labels)) if row not in chosen][:ANY]]

    @cached_property
    def first_answers(self) -> FirstAnswers:
        """Return what the true answer to C-star's first question changes in each scene."""
        own = self.predictions[OWN]
        questions, answers = np.argmax(closest_maxima(own), axis=1), own.answers.copy()
        rows = np.arange(len(questions))
        answers[rows, questions] = np.where(self.labels[rows, questions], 1, -1)
        before, after = (
            [
                ranked_labels(*row)
                for row in zip(np.round(each.scores, DIGITS), each.unary, each.answers, strict=True)
            ]
            for each in (own, replace(own, answers=answers))
        )
        corrected, swaps = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
        for row, (was, now, label) in enumerate(zip(before, after, questions, strict=True)):
            spare = own.k[row] - self.labels[row, label]
            now_right, was_right = (
                self.labels[row, order[order != label][:spare]].sum() for order in (now, was)
            )
            corrected[row], swaps[row] = now_right - was_right, overtakings(was, now, label)
        return FirstAnswers(questions, corrected, swaps)


@of_home(spinner="Computing features of the scenes …")
def taught(own: Run, baseline: Run) -> LessonLabels:
    """Return the test scenes and the predictions of C-star and of the independent model."""
    # Both runs have the same labels.
    (method, shown), (independent, _) = (label_models.label_ranker(run) for run in (own, baseline))
    test = shown.part(shown.test)
    k = test.labels.sum(axis=1)
    predictions = {OWN: method.prediction(test, k), BASELINE: independent.prediction(test, k)}
    gap = max(method.certificate.relative_gap, independent.certificate.relative_gap)
    scenes, learned = np.flatnonzero(shown.test), int(np.count_nonzero(~shown.test))
    return LessonLabels(own.settings["set"], test.names, scenes, test.labels, predictions, learned, gap)


BY_CHANCE = f"{OWN}, random questions"


@of_home(spinner="Asking about every test scene …")
def curves(own: Run, baseline: Run) -> dict[str, Floats]:
    """Return by model the precision (QUESTIONS + 1, M) on each scene after 0, 1, ... answers."""
    # Also that of C-star with random questions.
    lesson = taught(own, baseline)
    by_name = {
        name: precisions(prediction, lesson.labels, closest_maxima, QUESTIONS)
        for name, prediction in lesson.predictions.items()
    }
    order = np.random.default_rng(0).random(lesson.labels.shape)
    by_name[BY_CHANCE] = precisions(lesson.predictions[OWN], lesson.labels, lambda _: order, QUESTIONS)
    return by_name


def ranked(labelling_model: LabellingModel, position: Position) -> Ints:
    """Return the labels (L,) from the top."""
    # Labels that flip together have equal scores up to rounding; these are ordered by their unary scores.
    return labelling_model.order(np.round(labelling_model.scores(position), DIGITS), position)


def closest(labelling_model: LabellingModel, position: Position) -> Ints:
    """Return the unsettled labels, the next question first, the surest last; empty if all are settled."""
    difference = labelling_model.prediction(position.answers[None]).max_marginals.difference[0]
    order = labelling_model.in_order_of_urgency(position)
    return order[np.isfinite(difference[order])]


def strongest(ties: list[tuple[int, float]], most: int) -> list[tuple[int, float]]:
    """Return the `most` interactions with the greatest absolute value, in the order of `ties`.

    >>> strongest([(4, 0.3), (2, 0.1), (7, -0.2)], 2)
    [(4, 0.3), (7, -0.2)]
    """
    least = sorted((abs(weight) for _, weight in ties), reverse=True)[:most][-1]
    return [tie for tie in ties if abs(tie[1]) >= least]


def overtakings(before: Ints, after: Ints, answered: int) -> int:
    """Return how many pairs of the other labels change their order.

    >>> overtakings(np.array([0, 1, 2]), np.array([1, 2, 0]), 0)
    0
    >>> overtakings(np.array([0, 1, 2]), np.array([1, 0, 2]), 2)
    1
    """
    place = np.argsort(after)[before[before != answered]]
    return int(np.count_nonzero(np.triu(place[:, None] > place[None, :], 1)))
