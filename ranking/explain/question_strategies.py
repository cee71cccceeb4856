"""Interactive labelling: question strategies, and the labelling simulation (c-star, section 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ranking.core import Bools, Floats, Ints, LabelSet
from ranking.core.errors import InputError
from ranking.methods.label_prediction import LabelPrediction
from ranking.methods.label_ranker import LabelRanker
from ranking.metrics import break_even_precision

# (M, L): the label of greatest urgency is asked first
Urgency = Callable[[LabelPrediction], Floats]


class Strategy(NamedTuple):
    """A question strategy."""

    # which label is next
    summary: str
    # the reason for a question
    why: str
    # of the method
    needs_core: bool = False


STRATEGIES = {
    "closest maxima": Strategy(
        "The label whose forced-inside and forced-outside maxima are closest (c-star, section 5).",
        "The model is least sure: its two maxima are closest.",
    ),
    "entropy": Strategy(
        "The label whose probability, by a logistic fit on its own score, is closest to 50%.",
        "By its own score, the probability of this label is closest to 50%.",
    ),
    "core first": Strategy(
        "The core labels, the most informative first; then as closest maxima.",
        "Core labels are asked first, because they attract or repel all other labels.",
        needs_core=True,
    ),
    "random": Strategy(
        "A random label that is not answered yet.",
        "Chosen at random, to show what a well-chosen question is worth.",
    ),
}


class Questions(NamedTuple):
    """For each of M images the next label, -1 without one, and its inside and outside maxima (M,)."""

    # There is none where all labels are answered.

    labels: Ints
    inside: Floats
    outside: Floats


def next_questions(prediction: LabelPrediction, urgency: Urgency) -> Questions:
    """Return the unanswered label of greatest urgency for each image; of equally urgent labels the first."""
    open_ = prediction.answers == 0
    # Settled labels come last, not never.
    urgencies = np.maximum(urgency(prediction), -np.finfo(np.float64).max)
    labels = np.argmax(np.where(open_, urgencies, -np.inf), axis=1)
    maxima, rows = prediction.max_marginals, np.arange(len(labels))
    inside, outside = maxima.inside[rows, labels], maxima.outside[rows, labels]
    return Questions(np.where(open_.any(axis=1), labels, -1), inside, outside)


def strategies_for(core_size: int) -> list[str]:
    """Return the strategies for a method with `core_size` core labels, in their order.

    >>> [name for name in STRATEGIES if name not in strategies_for(0)]
    ['core first']
    """
    return [name for name, strategy in STRATEGIES.items() if core_size or not strategy.needs_core]


def make_strategy(name: str, method: LabelRanker, training: LabelSet, seed: int = 0) -> Urgency:
    """Return the strategy `name` of `STRATEGIES` for a fitted method."""
    # training: the images that the method was trained on. ValueError for core first where the method has no
    # core.
    if name == "closest maxima":
        return closest_maxima
    if name == "entropy":
        return LabelEntropy.fitted(method, training)
    if name == "core first":
        if not len(method.core):
            raise InputError(
                "strategy",
                f"one that needs no core, because {method.name} has none",
                name,
                "choose another strategy",
            )
        return core_first
    if name == "random":
        generator = np.random.default_rng(seed)
        return lambda prediction: generator.random(prediction.unary.shape)
    raise InputError("strategy", f"one of: {', '.join(STRATEGIES)}", repr(name))


def closest_maxima(prediction: LabelPrediction) -> Floats:
    """Return (M, L) minus the distance of the inside and outside maxima: the least certain is most urgent."""
    return -np.abs(prediction.scores)


def core_first(prediction: LabelPrediction) -> Floats:
    """Return (M, L) the core labels in their order, then all others as in `closest_maxima`."""
    urgency = closest_maxima(prediction)
    urgency[:, prediction.core] = 1.0 + np.arange(len(prediction.core))[::-1]
    return urgency


@dataclass(frozen=True, eq=False)
class LabelEntropy:
    """Urgency by the entropy of each label's probability, a logistic function of its unary score."""

    # slopes, offsets: (L,), fitted on the scores of training images, which are somewhat overconfident.
    # Answers do not change the urgency. Labels that all or none of the training images have get entropy 0.
    slopes: Floats
    offsets: Floats

    @classmethod
    def fitted(cls, method: LabelRanker, training: LabelSet) -> LabelEntropy:
        # takes a second to load
        from sklearn.linear_model import LogisticRegression

        scores = method.prediction(training).unary
        slopes, offsets = np.zeros(scores.shape[1]), np.full(scores.shape[1], np.inf)
        for i in range(scores.shape[1]):
            marks = training.labels[:, i]
            if marks.any() and not marks.all():
                length = max(float(scores[:, i].std()), np.finfo(np.float64).tiny)
                logistic = LogisticRegression().fit(scores[:, i : i + 1] / length, marks)
                slopes[i], offsets[i] = logistic.coef_[0, 0] / length, logistic.intercept_[0]
        return cls(slopes, offsets)

    def __call__(self, prediction: LabelPrediction) -> Floats:
        """Return (M, L) the entropy in bits."""
        logits = np.abs(prediction.unary * self.slopes + self.offsets)
        # the lesser of the two probabilities
        rare = np.exp(-logits) / (1.0 + np.exp(-logits))
        sure = -np.log1p(-rare) * (1.0 - rare)
        unsure = np.multiply(
            rare, np.log1p(np.exp(-logits)) + logits, out=np.zeros_like(rare), where=rare > 0.0
        )
        return np.asarray((sure + unsure) / np.log(2.0))


def simulate(method: LabelRanker, images: LabelSet, urgency: Urgency, questions: int) -> Floats:
    """Return (questions + 1,) the mean break-even precision after each number of answers by ground truth."""
    # k is the number of labels of each image, as the paper evaluates; answered labels are forced. Images
    # without labels are omitted, because break-even precision is not defined for them.
    labelled = images.part(images.labels.any(axis=1))
    if not len(labelled):
        raise InputError("images", "at least one image with a label, as break-even precision needs")
    prediction = method.prediction(labelled, k=labelled.labels.sum(axis=1))
    return np.asarray(precisions(prediction, labelled.labels, urgency, questions).mean(axis=1))


def precisions(prediction: LabelPrediction, labels: Bools, urgency: Urgency, questions: int) -> Floats:
    """Return (questions + 1, M) the break-even precision of each image after 0, 1, ... questions."""
    # labels: (M, L) ground truth, from which questions are answered; each image needs a label. prediction: of
    # those images, without answers.
    curve = [_precisions(labels, prediction.scores)]
    for _ in range(questions):
        labels_of_questions = next_questions(prediction, urgency).labels
        rows = np.flatnonzero(labels_of_questions >= 0)
        answers = prediction.answers.copy()
        answers[rows, labels_of_questions[rows]] = np.where(labels[rows, labels_of_questions[rows]], 1, -1)
        prediction = replace(prediction, answers=answers)
        curve.append(_precisions(labels, prediction.scores))
    return np.array(curve)


def mean_break_even_precision(images: LabelSet, scores: Floats) -> float:
    """Return the mean over images of `break_even_precision`; each image needs a label."""
    return float(_precisions(images.labels, scores).mean())


def _precisions(labels: Bools, scores: Floats) -> Floats:
    """Return (M,) the break-even precision of each image."""
    return np.array([break_even_precision(marks, row) for marks, row in zip(labels, scores, strict=True)])
