"""What answers are worth, by folds: against one whole simulation for each, and what ends it."""

from __future__ import annotations

import functools
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from labelled_pictures import patches
from refusals import ANYTHING, refused

from ranking import LabelSet
from ranking.core import ImageSet
from ranking.experiments import label_task
from ranking.experiments.label_task import LabelTask, label_set_of
from ranking.experiments.labelling_simulation import (
    LabellingSimulation,
    Steps,
    askers_of,
    asking_curves,
    assign_folds,
)
from ranking.experiments.study import Context
from ranking.explain.question_strategies import STRATEGIES, make_strategy, simulate
from ranking.methods.label_ranker import LabelRanker
from ranking.metrics.fold_curves import FoldCurve
from ranking.storage.run_settings import SimulationSettings

ALONE = ("Independent p@k", {"C": 10.0, "tolerance": 0.05})
STAR = ("C-star p@k", {"C": 10.0, "tolerance": 0.05, "core_size": 2})
SETTINGS = SimulationSettings(
    "key", (("Colour", {"bins": 2}),), (ALONE, STAR), tuple(STRATEGIES), questions=2, folds=3, min_images=4
)


@pytest.fixture(scope="module")
def image_set(tmp_path_factory: pytest.TempPathFactory) -> ImageSet:
    return patches(tmp_path_factory.mktemp("patches") / "set", 30)


@pytest.fixture(scope="module")
def images(image_set: ImageSet, tmp_path_factory: pytest.TempPathFactory) -> LabelSet:
    return label_set_of(image_set, SETTINGS, tmp_path_factory.mktemp("features"))


def curves_of(images: LabelSet, **changes: Any) -> list[FoldCurve]:
    settings = replace(SETTINGS, **changes)
    return asking_curves(images, settings, askers_of(settings))


def test_each_image_is_in_one_fold():
    folds = assign_folds(np.arange(23), 5, seed=3)
    assert sorted(map(len, folds)) == [4, 4, 5, 5, 5]
    assert sorted(np.concatenate(folds).tolist()) == list(range(23))
    again, second = (np.concatenate(assign_folds(np.arange(23), 5, seed)).tolist() for seed in (3, 4))
    assert again == np.concatenate(folds).tolist() != second


@functools.cache
def trained_without(images: LabelSet, fold: int, seed: int) -> tuple[LabelRanker, LabelSet, LabelSet]:
    """A method that was trained on all images but those of a fold, these, and the others."""
    rows = assign_folds(images.groups, 3, seed)[fold]
    training = images.part([row for row in range(len(images)) if row not in rows])
    return LabelTask().make(*STAR).fit(training), images.part(rows), training


def expected_of(images: LabelSet, strategy: str, fold: int, seed: int) -> Any:
    """All images of a fold asked together, by a method that was trained on all others."""
    method, tested, training = trained_without(images, fold, seed)
    return simulate(method, tested, make_strategy(strategy, method, training, seed + fold), 2)


def test_curves_are_those_of_each_fold(images, monkeypatch):
    """Random questions follow from the seed and the fold."""
    # For other strategies, blocks of images make no difference.
    known = tuple(name for name in STRATEGIES if name != "random")
    for strategies, block in ((known, 4), (("random",), label_task.BLOCK)):
        monkeypatch.setattr(label_task, "BLOCK", block)
        curves = curves_of(images, methods=(STAR,), strategies=strategies, seed=7)
        for curve, strategy in zip(curves, strategies, strict=True):
            assert (curve.method, curve.settings, curve.strategy) == (*STAR, strategy)
            assert curve.folds.shape == (3, 3)
            for fold, precisions in enumerate(curve.folds):
                expected = expected_of(images, strategy, fold, seed=7)
                np.testing.assert_allclose(precisions, expected, atol=1e-12, err_msg=f"{strategy} {fold}")
            np.testing.assert_allclose(curve.mean, curve.folds.sum(axis=0) / 3)


def test_all_answers_make_all_rankings_right_and_folds_are_reported_when_measured(images):
    reports: list[tuple[list[FoldCurve], float]] = []
    settings = replace(SETTINGS, questions=len(images.names))
    curves = asking_curves(
        images, settings, askers_of(settings), on_fold=lambda *report: reports.append(report)
    )
    for curve in curves:
        assert curve.folds[:, 0].max() < 1.0
        assert (curve.folds[:, -1] == 1.0).all()
    # Without a core none is asked for first.
    pairs = [(name, strategy) for name in (ALONE[0], STAR[0]) for strategy in STRATEGIES]
    pairs.remove((ALONE[0], "core first"))
    assert [(curve.method, curve.strategy) for curve in curves] == pairs
    assert [len(before[0].folds) for before, _ in reports] == [1, 2, 3]
    for before, seconds in reports:
        assert seconds > 0
        for curve, last in zip(before, curves, strict=True):
            assert (curve.name, curve.strategy) == (last.name, last.strategy)
            np.testing.assert_array_equal(curve.folds, last.folds[: len(curve.folds)])


def test_progress_grows_from_fold_to_fold_and_within_a_training_run(image_set, tmp_path):
    heard: list[tuple[str, float, int]] = []
    settings = replace(SETTINGS, strategies=("core first", "random"), folds=2, questions=0)
    LabellingSimulation().run(
        settings, Context(image_set, tmp_path, on_step=lambda *step: heard.append(step))
    )
    # folds, not features
    heard = [step for step in heard if step[2] == 2]
    steps = list(dict.fromkeys(what for what, _, _ in heard))
    alone, star = ALONE[0], STAR[0]
    order = [(alone,), (alone, "random"), (star,), (star, "core first"), (star, "random")]
    for step, (fold, parts) in zip(steps, product("12", order), strict=True):
        assert all(part in step for part in (fold, *parts)), step
    done = [share for _, share, _ in heard]
    assert (done[0], done[-1]) == (0.0, 2.0)
    assert done == sorted(done)
    training = {share for what, share, _ in heard if what == steps[2]}
    assert min(training) == pytest.approx(2 / 5)
    assert max(training) == pytest.approx(3 / 5), "it ended with a gap below its tolerance"
    assert len(training) > 2, "it moves while it trains"


def test_later_folds_count_their_steps_by_what_they_took(monkeypatch):
    clock, done = [0.0], list[float]()
    monkeypatch.setattr("ranking.experiments.labelling_simulation.time.monotonic", lambda: clock[0])
    steps = Steps(3, 2, lambda what, share, total: done.append(round(share, 6)))
    for _ in range(2):
        steps.begin("training")
        clock[0] += 9.0
        steps.within(0.5)
        steps.begin("asking")
        clock[0] += 1.0
        assert steps.end_fold() == 10.0
    assert done == [0.0, 0.25, 0.5, 1.0, 1.0, 1.45, 1.9, 2.0]
    steps.begin("training")
    steps.within(0.5)
    steps.within(0.2)
    assert done[-1] == done[-2], "it does not go back"


def test_settings_that_make_no_simulation_are_refused(image_set, tmp_path):
    for changes, subject, came in (
        ({"methods": ()}, "methods", "none"),
        ({"strategies": ()}, "strategies", "none"),
        ({"methods": (STAR, STAR)}, "methods", ANYTHING),
        ({"strategies": ("random", "random")}, "strategies", "random, random"),
        ({"strategies": ("guess",)}, "strategy", "'guess'"),
        ({"methods": (ALONE,), "strategies": ("core first",)}, "methods", ANYTHING),
        ({"questions": -1}, "questions", -1),
        ({"folds": 1}, "folds", 1),
        ({"folds": 31}, "folds", 31),
        ({"seed": -1}, "seed", -1),
    ):
        with refused(subject, came):
            LabellingSimulation().run(replace(SETTINGS, **changes), Context(image_set, tmp_path))
    for method in (("AP-SVM", {}), ("C-star p@k", {"D": 1})):
        with pytest.raises(ValueError, match=method[0]):
            LabellingSimulation().run(replace(SETTINGS, methods=(method,)), Context(image_set, tmp_path))


def test_a_fold_without_labels_is_refused(images):
    with refused("images of a fold"):
        curves_of(images, methods=(ALONE,), strategies=("random",), folds=30, questions=0)
