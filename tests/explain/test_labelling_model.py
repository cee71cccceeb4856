"""Questions about one image, and the ranking after its answers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from ranking.explain.labelling_model import LabellingModel, Position, fixed_order
from ranking.explain.question_strategies import closest_maxima, core_first, next_questions
from ranking.methods.label_prediction import LabelPrediction
from ranking.metrics import break_even_precision

LABELS, K = 9, 4


def labelling_model(
    seed: int = 0, core: int = 2, labels: int = LABELS, urgency=closest_maxima
) -> LabellingModel:
    generator = np.random.default_rng(seed)
    numbers = np.arange(core)
    interactions = generator.standard_normal((core, labels))
    interactions[:, :core] = (interactions[:, :core] + interactions[:, :core].T) / 2
    interactions[numbers, numbers] = 0.0
    unary, answers = generator.standard_normal((1, labels)), np.zeros((1, labels), np.int8)
    return LabellingModel(LabelPrediction(unary, numbers, interactions, np.array([K]), answers), urgency)


def nothing(labels: int = LABELS) -> Position:
    return Position(np.zeros(labels, np.int8), np.zeros(labels, np.bool_))


def slow_question(model: LabellingModel, position: Position) -> tuple[int, float, float]:
    """The slow twin: one open label after the other."""
    prediction = model.prediction(position.answers[None])
    open_ = [i for i in range(LABELS) if position.answers[i] == 0 and not position.skipped[i]]
    urgency = model.urgency(prediction)[0]
    sign = 1.0 if (position.answers > 0).sum() == prediction.k[0] else -1.0
    # of settled labels first what its own score doubts
    label = max(
        open_, key=lambda i: (urgency[i], sign * prediction.unary[0, i] if urgency[i] == -np.inf else -i)
    )
    maxima = prediction.max_marginals
    return label, maxima.inside[0, label], maxima.outside[0, label]


@pytest.mark.parametrize("urgency", [closest_maxima, core_first, fixed_order(LABELS, 3)])
def test_each_question_is_the_most_urgent_open_label(urgency):
    for seed, answers in product(range(5), product((1, -1, 0), repeat=3)):
        model, position = labelling_model(seed, urgency=urgency), nothing()
        position.skipped[3] = True
        position.answers[5] = 1
        for answer in answers:
            question = model.question(position)
            assert question == pytest.approx(slow_question(model, position)), (seed, answers)
            if answer:
                position = position.after(question.label, answer == 1)
            else:
                position.skipped[question.label] = True


def test_without_skips_the_first_question_is_that_of_the_strategy():
    model = labelling_model(1)
    assert model.question(nothing()) == tuple(part[0] for part in next_questions(model.alone, closest_maxima))


def test_the_order_of_urgency_begins_with_the_question_and_holds_each_open_label_once():
    model, position = labelling_model(1), nothing()
    position.answers[[1, 4]] = 1, -1
    position.skipped[6] = True
    order = model.in_order_of_urgency(position).tolist()
    assert order[0] == model.question(position).label
    assert sorted(order) == [0, 2, 3, 5, 7, 8]


def test_skipped_labels_are_no_questions_even_if_all_others_are_settled():
    model, position = labelling_model(), nothing()
    # the top k is full: the others have no choice, but may be answered
    position.answers[:K] = 1
    position.skipped[K] = True
    labels = []
    while (label := model.question(position).label) >= 0:
        labels.append(label)
        position.answers[label] = -1
    assert sorted(labels) == list(range(K + 1, LABELS))


def test_settled_labels_are_chosen_by_how_far_their_own_scores_contradict():
    """The top k is full, or only k labels are left."""
    for seed, (answer, count) in product(range(5), ((1, K), (-1, LABELS - K))):
        model, position = labelling_model(seed), nothing()
        position.answers[:count] = answer
        settled = np.arange(count, LABELS)
        expected = settled[np.argsort(-answer * model.alone.unary[0, settled])].tolist()
        assert model.in_order_of_urgency(position).tolist() == expected, seed
        assert model.question(position).label == expected[0], seed


def test_answers_go_before_what_only_follows_from_them():
    model = labelling_model(1)
    # yes to the least likely, or the likeliest
    for sign in (1, -1):
        position, labels = nothing(), np.argsort(sign * model.alone.unary[0])
        position.answers[labels[:K]], position.answers[labels[-1]] = 1, -1
        order = model.order(model.scores(position), position)
        assert (position.answers[order[:K]] == 1).all()
        assert position.answers[order[-1]] == -1


def test_a_replay_measures_the_shown_ranking_also_of_images_with_more_than_k_labels():
    for seed, relevant in product(range(5), (3, K + 2)):
        model, position = labelling_model(seed), nothing()
        truth = np.random.default_rng(seed).permutation(LABELS) < relevant
        labels, precisions = model.play(position, truth, 100)
        assert sorted(labels) == list(range(LABELS))
        assert model.play(position, truth, 2) == (labels[:2], precisions[:3])
        assert precisions[0] == break_even_precision(truth, model.scores(position))
        assert precisions[-1] == 1.0
        for label, precision in zip([None, *labels], precisions, strict=True):
            if label is not None:
                position.answers[label] = 1 if truth[label] else -1
            shown = model.order(model.scores(position), position)
            assert precision == truth[shown[:relevant]].mean(), (seed, label)
