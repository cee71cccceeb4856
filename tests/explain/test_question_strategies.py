"""Questions and answers: which label is asked for next, and what answers are worth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from refusals import refused

from ranking import LabelSet, make_method
from ranking.explain.question_strategies import (
    STRATEGIES,
    LabelEntropy,
    closest_maxima,
    make_strategy,
    mean_break_even_precision,
    next_questions,
    simulate,
)
from ranking.inference import best_top_k
from ranking.methods.label_ranker import LabelRanker


def images(count: int = 40) -> LabelSet:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(count, 4))
    marks = features @ rng.normal(size=(4, 6)) + rng.normal(size=(count, 6)) > 0.7
    marks[0] = False
    return LabelSet(features, marks, tuple("abcdef"))


@pytest.fixture(scope="module")
def star() -> LabelRanker:
    method: LabelRanker = make_method("C-star p@k", core_size=2, C=10.0).fit(images())
    return method


def test_the_next_question_is_the_label_with_the_closest_maxima(star):
    """By forcing each label inside and outside, one by one."""
    prediction = star.prediction(images(), 3)
    questions = next_questions(prediction, closest_maxima)
    for m in range(5):
        model = (prediction.unary[m], prediction.core, prediction.interactions, 3)
        maxima = [
            (best_top_k(*model, inside=[i]).value, best_top_k(*model, outside=[i]).value) for i in range(6)
        ]
        gaps = [abs(within - without) for within, without in maxima]
        assert gaps[questions.labels[m]] == pytest.approx(min(gaps))
        assert (questions.inside[m], questions.outside[m]) == pytest.approx(maxima[questions.labels[m]])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_each_label_is_a_question_once_and_all_answers_make_the_ranking_perfect(strategy, star):
    label_set, rows = images(), np.arange(40)
    urgency = make_strategy(strategy, star, label_set, seed=1)
    prediction = star.prediction(label_set, label_set.labels.sum(axis=1))
    for number in range(6):
        labels = next_questions(prediction, urgency).labels
        assert (prediction.answers[rows, labels] == 0).all()
        if strategy == "core first" and number < 2:
            assert (labels == star.core[number]).all()
        answers = prediction.answers.copy()
        answers[rows, labels] = np.where(label_set.labels[rows, labels], 1, -1)
        prediction = replace(prediction, answers=answers)
    assert (next_questions(prediction, urgency).labels == -1).all()
    measured = simulate(star, label_set, make_strategy(strategy, star, label_set), 6)
    assert measured.shape == (7,)
    assert measured[-1] == 1.0
    kept = label_set.part(label_set.labels.any(axis=1))
    assert len(kept) < len(label_set)
    assert measured[0] == mean_break_even_precision(kept, star.scores(kept, kept.labels.sum(axis=1))) < 1.0


def test_the_entropy_is_of_a_logistic_fit(star):
    label_set = images()
    marks = label_set.labels.copy()
    marks[:, 5] = False
    entropy = LabelEntropy.fitted(star, LabelSet(label_set.features, marks, label_set.names))
    prediction = star.prediction(label_set)
    urgencies = entropy(prediction)
    logits = prediction.unary * entropy.slopes + np.where(np.isfinite(entropy.offsets), entropy.offsets, 0.0)
    p = 1.0 / (1.0 + np.exp(-logits[:, :5]))
    np.testing.assert_allclose(urgencies[:, :5], -p * np.log2(p) - (1 - p) * np.log2(1 - p), atol=1e-9)
    assert not urgencies[:, 5].any()
    assert (entropy.slopes[:5] > 0).all()
    assert urgencies[:, :5].max() <= 1.0
    # Probabilities of a fit with an offset are right on average; a penalised slope leaves that to the offset.
    np.testing.assert_allclose(p.mean(axis=0), marks[:, :5].mean(axis=0), atol=1e-3)
    sure = replace(prediction, unary=1e6 * prediction.unary)
    assert np.isfinite(entropy(sure)).all()


def test_unknown_strategies_and_unlabelled_images_cannot_be_simulated(star):
    label_set = images()
    alone = make_method("Independent p@k").fit(label_set)
    for name, method, came in (("core first", alone, "core first"), ("oracle", star, "'oracle'")):
        with refused("strategy", came):
            make_strategy(name, method, label_set)
    with refused("images"):
        simulate(star, label_set.part([0]), closest_maxima, 1)
