"""Questions that are prepared ahead of the answers, against one prediction after another."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from ranking.explain import labelling_model as lookahead
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


def walk(
    model: LabellingModel, branches: tuple[int, ...], position: Position
) -> tuple[int, float, float, np.ndarray]:
    """The slow twin: one question after the other, each from a prediction of its own."""
    answers, skipped = position.answers.copy(), position.skipped.copy()
    for branch in branches:
        label = walk(model, (), Position(answers, skipped))[0]
        skipped[label] = branch == lookahead.SKIP
        answers[label] = {lookahead.SKIP: 0, lookahead.YES: 1}.get(branch, -1)
    prediction = model.prediction(answers[None])
    maxima = prediction.max_marginals
    open_ = [i for i in range(len(answers)) if answers[i] == 0 and not skipped[i]]
    if not open_:
        return -1, 0.0, 0.0, prediction.scores[0]
    urgency = model.urgency(prediction)[0]
    sign = 1.0 if (answers > 0).sum() == prediction.k[0] else -1.0  # settled: first what its own score doubts
    label = max(
        open_, key=lambda i: (urgency[i], sign * prediction.unary[0, i] if urgency[i] == -np.inf else -i)
    )
    return label, float(maxima.inside[0, label]), float(maxima.outside[0, label]), prediction.scores[0]


@pytest.mark.parametrize("urgency", [closest_maxima, core_first, fixed_order(LABELS, 3)])
def test_the_tree_holds_the_questions_of_one_by_one_labelling(urgency):
    for seed in range(5):
        model, position = labelling_model(seed, urgency=urgency), nothing()
        position.skipped[3] = True
        position.answers[5] = 1
        root = model.question_tree(position, depth=3)
        for branches in (each for length in range(4) for each in product(range(3), repeat=length)):
            question = root
            for branch in branches:
                question = question.after[branch]
            label, inside, outside, scores = walk(model, branches, position)
            assert question.label == label, (seed, branches)
            np.testing.assert_allclose((question.inside, question.outside), (inside, outside))
            np.testing.assert_allclose(question.scores, scores)


def test_without_skips_the_first_question_is_that_of_the_strategy():
    model = labelling_model(1)
    questions = next_questions(model.alone, closest_maxima)
    root = model.question_tree(nothing())
    assert (root.label, root.inside, root.outside) == tuple(part[0] for part in questions)
    next_label = (root.label + 1) % LABELS  # what a person sees already is asked first unless it is answered
    assert model.question_tree(nothing(), first=next_label, depth=0).label == next_label
    position = nothing()
    position.answers[next_label] = -1
    assert model.question_tree(position, first=next_label, depth=0).label != next_label


def test_the_order_of_urgency_begins_with_the_question_and_holds_each_open_label_once():
    model, position = labelling_model(1), nothing()
    position.answers[[1, 4]] = 1, -1
    position.skipped[6] = True
    order = model.in_order_of_urgency(position).tolist()
    assert order[0] == model.question_tree(position).label
    assert sorted(order) == [0, 2, 3, 5, 7, 8]


def test_skipped_labels_are_no_questions_even_if_all_others_are_settled():
    model, position = labelling_model(), nothing()
    position.answers[:K] = 1  # the top k is full: the others have no choice, but may be answered
    position.skipped[K] = True
    labels = []
    while (label := model.question_tree(position, depth=0).label) >= 0:
        labels.append(label)
        position.answers[label] = -1
    assert sorted(labels) == list(range(K + 1, LABELS))
    assert model.question_tree(position).after == []


def test_settled_labels_are_chosen_by_how_far_their_own_scores_contradict():
    """The top k is full, or only k labels are left."""
    for seed, (answer, count) in product(range(5), ((1, K), (-1, LABELS - K))):
        model, position = labelling_model(seed), nothing()
        position.answers[:count] = answer
        settled = np.arange(count, LABELS)
        expected = settled[np.argsort(-answer * model.alone.unary[0, settled])].tolist()
        assert model.in_order_of_urgency(position).tolist() == expected, seed
        assert model.question_tree(position, depth=0).label == expected[0], seed


def test_answers_go_before_what_only_follows_from_them():
    model = labelling_model(1)
    for sign in (1, -1):  # yes to the least likely, or the likeliest
        position, labels = nothing(), np.argsort(sign * model.alone.unary[0])
        position.answers[labels[:K]], position.answers[labels[-1]] = 1, -1
        order = model.order(model.scores(position), position)
        assert (position.answers[order[:K]] == 1).all()
        assert position.answers[order[-1]] == -1


def test_a_play_measures_the_ranking_that_is_shown_though_the_image_may_have_more_labels_than_k():
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


def test_a_large_core_is_looked_ahead_less_deep():
    def depth(question: lookahead.Question) -> int:
        return 1 + max(map(depth, question.after), default=-1)

    assert depth(labelling_model(core=2).question_tree(nothing())) == lookahead.DEEPEST
    assert depth(labelling_model(core=12, labels=100).question_tree(nothing(100))) == 1
