"""What answers are worth, by folds: against one whole simulation for each, and what ends it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from labelled_pictures import patches

from ranking import LabelSet, label_training
from ranking.asking import STRATEGIES, make_strategy, simulate
from ranking.asking_simulation import Steps, askers_of, asking_curves, deal, simulate_asking
from ranking.fold_curves import FoldCurve
from ranking.label_training import label_set_of, make_label_ranker
from ranking.methods.label_ranker import LabelRanker
from ranking.run_settings import AskingSettings
from ranking.types import ImageSet

ALONE = ("Independent p@k", {"C": 10.0, "tolerance": 0.05})
STAR = ("C-star p@k", {"C": 10.0, "tolerance": 0.05, "core_size": 2})
SETTINGS = AskingSettings(
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


def numbers(curves: list[FoldCurve]) -> list[list[list[float]]]:
    return [curve.folds.tolist() for curve in curves]


def test_images_are_dealt_once_each() -> None:
    dealt = deal(23, 5, seed=3)
    assert sorted(map(len, dealt)) == [4, 4, 5, 5, 5]
    assert sorted(np.concatenate(dealt).tolist()) == list(range(23))
    assert [rows.tolist() for rows in dealt] == [rows.tolist() for rows in deal(23, 5, seed=3)]
    assert [rows.tolist() for rows in dealt] != [rows.tolist() for rows in deal(23, 5, seed=4)]


def expected_of(images: LabelSet, strategy: str, fold: int, seed: int) -> Any:
    """All images of a fold asked together, by a method that was trained on all others."""
    rows = deal(len(images), 3, seed)[fold]
    training = images.part([row for row in range(len(images)) if row not in rows])
    method = make_label_ranker(*STAR).fit(training)
    return simulate(method, images.part(rows), make_strategy(strategy, method, training, seed + fold), 2)


def test_curves_are_those_of_each_fold_at_once(images: LabelSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_training, "BLOCK", 4)
    sure = tuple(name for name in STRATEGIES if name != "random")
    found = curves_of(images, methods=(STAR,), strategies=sure, seed=7)
    for curve, strategy in zip(found, sure, strict=True):
        assert (curve.method, curve.settings, curve.strategy) == (*STAR, strategy)
        assert curve.folds.shape == (3, 3)
        for fold in range(3):
            np.testing.assert_allclose(
                curve.folds[fold], expected_of(images, strategy, fold, seed=7), atol=1e-12
            )
        np.testing.assert_allclose(curve.mean, curve.folds.sum(axis=0) / 3)
        told = curve.to_json()
        assert (told["mean"], told["folds"]) == (curve.mean.tolist(), curve.folds.tolist())


def test_random_questions_follow_from_the_seed_and_the_fold(images: LabelSet) -> None:
    [curve] = curves_of(images, methods=(STAR,), strategies=("random",), seed=7)
    for fold in range(3):
        np.testing.assert_allclose(curve.folds[fold], expected_of(images, "random", fold, seed=7), atol=1e-12)


def test_equal_settings_give_equal_curves_and_another_seed_others(images: LabelSet) -> None:
    asked = {"methods": (ALONE,), "strategies": ("random", "entropy")}
    first = numbers(curves_of(images, **asked))
    assert first == numbers(curves_of(images, **asked))
    other = numbers(curves_of(images, **asked, seed=1))
    assert first[0] != other[0]
    assert first[1] != other[1], "another deal"


def test_all_answers_make_all_rankings_right(images: LabelSet) -> None:
    for curve in curves_of(images, questions=len(images.names)):
        assert curve.folds[:, 0].max() < 1.0
        assert (curve.folds[:, -1] == 1.0).all()


def test_without_a_core_none_is_asked_for_first(images: LabelSet) -> None:
    pairs = [(curve.method, curve.strategy) for curve in curves_of(images, questions=0)]
    expected = [(name, strategy) for name in (ALONE[0], STAR[0]) for strategy in STRATEGIES]
    assert pairs == [pair for pair in expected if pair != (ALONE[0], "core first")]


def test_no_method_learns_from_the_images_that_it_is_asked_about(
    images: LabelSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[set[str], set[str]]] = []
    fit = LabelRanker.fit

    def spy(self: LabelRanker, learnt: LabelSet, **options: Any) -> LabelRanker:
        seen.append((set(learnt.ids.tolist()), set()))
        return fit(self, learnt, **options)

    def asked(method: LabelRanker, block: LabelSet, urgency: Any, questions: int) -> Any:
        seen[-1][1].update(block.ids.tolist())
        return np.ones(questions + 1)

    monkeypatch.setattr(LabelRanker, "fit", spy)
    monkeypatch.setattr("ranking.asking_simulation.simulate", asked)
    curves_of(images, methods=(ALONE,), strategies=("random",))
    labelled = set(images.ids[images.labels.any(axis=1)].tolist())
    assert len(seen) == 3
    assert all(not learnt & told for learnt, told in seen)
    assert all((learnt | told) >= labelled for learnt, told in seen)
    assert sorted(one for _, told in seen for one in told) == sorted(labelled)


def test_what_is_done_grows_from_fold_to_fold_and_within_a_training(
    image_set: ImageSet, tmp_path: Path
) -> None:
    heard: list[tuple[str, float, int]] = []
    settings = replace(SETTINGS, strategies=("core first", "random"), folds=2, questions=0)
    simulate_asking(image_set, settings, tmp_path, on_step=lambda *step: heard.append(step))
    heard = [step for step in heard if step[0].startswith("Fold")]
    assert list(dict.fromkeys(what for what, _, _ in heard)) == [
        f"Fold {fold} of 2: {what}"
        for fold in (1, 2)
        for what in (
            "training Independent p@k",
            "asking Independent p@k, random",
            "training C-star p@k",
            "asking C-star p@k, core first",
            "asking C-star p@k, random",
        )
    ]
    done = [share for _, share, _ in heard]
    assert (done[0], done[-1]) == (0.0, 2.0)
    assert done == sorted(done)
    assert {total for _, _, total in heard} == {2}
    training = {share for what, share, _ in heard if what == "Fold 1 of 2: training C-star p@k"}
    assert min(training) == pytest.approx(2 / 5)
    assert max(training) == pytest.approx(3 / 5), "it ended with a gap below its tolerance"
    assert len(training) > 2, "it moves while it trains"


def test_later_folds_count_their_steps_by_what_they_took(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, done = [0.0], list[float]()
    monkeypatch.setattr("ranking.asking_simulation.time.monotonic", lambda: clock[0])
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


def test_folds_are_told_as_they_are_measured(images: LabelSet) -> None:
    told: list[tuple[list[FoldCurve], float]] = []
    whole = asking_curves(
        images, SETTINGS, askers_of(SETTINGS), on_fold=lambda curves, seconds: told.append((curves, seconds))
    )
    assert [len(curves[0].folds) for curves, _ in told] == [1, 2, 3]
    for curves, seconds in told:
        assert seconds > 0
        for one, last in zip(curves, whole, strict=True):
            assert (one.name, one.strategy) == (last.name, last.strategy)
            np.testing.assert_array_equal(one.folds, last.folds[: len(one.folds)])


@pytest.mark.parametrize("during", ["training", "asking"])
def test_what_is_raised_while_it_works_ends_it_at_once(images: LabelSet, during: str) -> None:
    heard = 0

    def step(what: str, done: float, total: int) -> None:
        nonlocal heard
        if during in what and done % 1:  # not at the very beginning
            heard += 1
            raise KeyError(during)

    with pytest.raises(KeyError, match=during):
        asking_curves(images, SETTINGS, askers_of(SETTINGS), step)
    assert heard == 1


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"methods": ()}, "expected at least one method, got none"),
        ({"strategies": ()}, "expected at least one strategy, got none"),
        ({"methods": (STAR, STAR)}, "every method once, got "),
        ({"strategies": ("random", "random")}, "every strategy once, got random, random"),
        ({"methods": (("AP-SVM", {}),)}, "AP-SVM"),
        ({"methods": (("C-star p@k", {"D": 1}),)}, "C-star p@k.*'D'"),
        ({"strategies": ("guess",)}, "no strategy is called 'guess'; choose one of: closest maxima, "),
        ({"methods": (ALONE,), "strategies": ("core first",)}, "none of the methods has a core"),
        ({"questions": -1}, "questions must be at least 0, got -1"),
        ({"folds": 1}, "folds must be at least 2, got 1"),
        ({"folds": 31}, "30 images cannot be dealt into 31 folds; choose at most 30 folds"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
    ],
)
def test_settings_that_make_no_simulation_are_refused(
    image_set: ImageSet, tmp_path: Path, changes: dict[str, Any], expected: str
) -> None:
    with pytest.raises(ValueError, match=expected):
        simulate_asking(image_set, replace(SETTINGS, **changes), tmp_path)


def test_a_fold_without_labels_is_told(images: LabelSet) -> None:
    with pytest.raises(ValueError, match="none of the 1 images of a fold has a label; choose fewer folds"):
        curves_of(images, methods=(ALONE,), strategies=("random",), folds=30, questions=0)
