"""Labelling simulation: the value of answers, per label ranker and question strategy (c-star, section 5 and table 1).

Images are split into folds. Each method is trained on all folds but one and asks about the images of that fold; the
ground truth answers. Of a test image a model knows only the answers and, as in the paper's break-even precision,
the number of labels k, so answers can determine labels that were not asked about.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ranking.core import Floats, Ints, LabelSet, OnProgress, ProgressEvent
from ranking.core.errors import InputError
from ranking.core.settings import Settings
from ranking.experiments.label_task import LabelTask, label_set_of, labelled_blocks, seen_through
from ranking.experiments.study import Context, OnShare, Result, Study
from ranking.explain.question_strategies import STRATEGIES, Urgency, make_strategy, simulate, strategies_for
from ranking.features.projection import fit_projection
from ranking.methods.label_ranker import LabelRanker
from ranking.metrics.fold_curves import FoldCurve
from ranking.storage.run_settings import SimulationSettings

# The curves of all folds so far, the seconds of the last one.
OnFold = Callable[[list[FoldCurve], float], None]


@dataclass(frozen=True, eq=False)
class SimulatedModel:
    """A method that is trained in each fold, and the question strategies that it supports."""

    name: str
    settings: Settings
    strategies: tuple[str, ...]


class LabellingSimulation(Study[SimulationSettings]):
    """Curves per method and strategy, in their order, and the seconds of each fold, of all images."""

    # The curves are those of `ranking.metrics.fold_curves.curves_of`; equal settings give equal ones. Methods
    # without a core have none for strategies that need a core. on_step receives progress for features, then
    # after every iteration and every block of images the number of folds done; on_result receives the result
    # after each fold.
    settings = SimulationSettings

    def run(self, settings: SimulationSettings, context: Context) -> Result:
        assert context.images is not None
        askers, result = askers_of(settings), Result(curves=[], seconds=[])

        def save(curves: list[FoldCurve], seconds: float) -> None:
            result["curves"] = [curve.to_json() for curve in curves]
            result["seconds"].append(round(seconds, 3))
            context.on_result(result)

        images = label_set_of(context.images, settings, context.features, context.on_step)
        asking_curves(images, settings, askers, context.on_step, save)
        return result


def asking_curves(
    images: LabelSet,
    settings: SimulationSettings,
    askers: list[SimulatedModel],
    on_step: OnShare | None = None,
    on_fold: OnFold | None = None,
) -> list[FoldCurve]:
    """Return the curves of images with computed features."""
    # Of `settings` only questions, folds, seed and projection are used; the projection is fitted in each fold
    # on its training images.
    steps = Steps(
        settings.folds, sum(1 + len(labelling_model.strategies) for labelling_model in askers), on_step
    )
    asks = [
        (labelling_model, strategy) for labelling_model in askers for strategy in labelling_model.strategies
    ]
    values = np.empty((len(asks), settings.folds, settings.questions + 1))
    curves = list[FoldCurve]()
    for fold, rows in enumerate(assign_folds(images.groups, settings.folds, settings.seed)):
        held_out, training = images.part(rows), images.part(np.setdiff1d(np.arange(len(images)), rows))
        projection = fit_projection(settings.projection, training.features)
        held_out, training = seen_through(projection, held_out), seen_through(projection, training)
        place = 0
        for labelling_model in askers:
            steps.begin(f"training {labelling_model.name}")
            method = LabelTask().make(labelling_model.name, labelling_model.settings)
            method.fit(training, on_progress=steps.trains(method.tolerance))
            for strategy in labelling_model.strategies:
                steps.begin(f"asking {labelling_model.name}, {strategy}")
                urgency = make_strategy(strategy, method, training, settings.seed + fold)
                values[place, fold] = simulate_in_blocks(
                    method, held_out, urgency, settings.questions, steps.within
                )
                place += 1
        seconds = steps.end_fold()
        curves = [
            FoldCurve(labelling_model.name, strategy, folds[: fold + 1].copy(), labelling_model.settings)
            for (labelling_model, strategy), folds in zip(asks, values, strict=True)
        ]
        if on_fold is not None:
            on_fold(curves, seconds)
    return curves


def trained_share(event: ProgressEvent, tolerance: float) -> float:
    """Estimate the finished share of a training run; 0 before there is a lower bound."""
    # It is the share of the powers of ten from 1 to `tolerance` that its gap has passed.
    gap = event.relative_gap
    if not 0 < tolerance < 1 or not math.isfinite(gap) or gap >= 1:
        return 0.0
    return 1.0 if gap <= tolerance else math.log(gap) / math.log(tolerance)


def simulate_in_blocks(
    method: LabelRanker, images: LabelSet, urgency: Urgency, questions: int, on_share: Callable[[float], None]
) -> Floats:
    """Return `question_strategies.simulate` (questions + 1,) of all images with labels, in blocks."""
    # Before each block, on_share receives the finished share of the images.
    total, count = np.zeros(questions + 1), 0
    for block in labelled_blocks(images):
        on_share(count / len(images))
        total += len(block) * simulate(method, block, urgency, questions)
        count += len(block)
    if not count:
        raise InputError(
            "images of a fold",
            "at least one image with a label",
            f"{len(images)} images without labels",
            "choose fewer folds, or fewer images per label",
        )
    return total / count


def askers_of(settings: SimulationSettings) -> list[SimulatedModel]:
    """Return each method with the strategies that it supports; ValueError for settings without any combination."""
    settings.check()
    for what, chosen in (("methods", settings.methods), ("strategies", settings.strategies)):
        if not chosen:
            raise InputError(what, "at least one", "none", "choose one or more")
        if any(item in chosen[:place] for place, item in enumerate(chosen)):
            raise InputError(what, "each of them once", ", ".join(map(str, chosen)))
    for strategy in settings.strategies:
        if strategy not in STRATEGIES:
            raise InputError("strategy", f"one of: {', '.join(STRATEGIES)}", repr(strategy))
    askers = []
    for name, given in settings.methods:
        able = strategies_for(LabelTask().make(name, given).core_size)
        askers.append(
            SimulatedModel(
                name, given, tuple(strategy for strategy in settings.strategies if strategy in able)
            )
        )
    if not any(labelling_model.strategies for labelling_model in askers):
        raise InputError(
            "methods",
            f"at least one with a core, which {settings.strategies[0]!r} needs",
            remedy="choose another strategy",
        )
    return [labelling_model for labelling_model in askers if labelling_model.strategies]


def assign_folds(groups: Ints, folds: int, seed: int) -> list[Ints]:
    """Split images at random by `seed` into `folds` ascending folds of nearly equal size, groups (M,) whole.

    >>> [rows.tolist() for rows in assign_folds(np.arange(5), 2, seed=1)]
    [[1, 3, 4], [0, 2]]
    """
    unit = np.unique(groups, return_inverse=True)[1]
    sizes = np.bincount(unit)
    if folds > len(sizes):
        raise InputError("folds", f"at most {len(sizes)}, the number of images or groups", folds)
    order = np.random.default_rng(seed).permutation(len(sizes))
    parts, fold_of = np.zeros(folds), np.zeros(len(sizes), np.int64)
    for group in order[np.argsort(-sizes[order], kind="stable")]:
        fold_of[group] = parts.argmin()
        parts[fold_of[group]] += sizes[group]
    return [np.flatnonzero(fold_of[unit] == fold) for fold in range(folds)]


class Steps:
    """Reports to `on_step` the finished share of the folds and the current step."""

    # All folds have the same number of steps. In the first fold they count equally, later each step by its
    # time in earlier folds, so that progress is nearly proportional to time.
    def __init__(self, folds: int, steps: int, on_step: OnShare | None) -> None:
        self._folds, self._tell = folds, on_step or (lambda what, done, total: None)
        self._fold, self._step, self._share, self._what = 0, -1, 0.0, ""
        self._weights = np.full(steps, 1.0 / steps)
        # of each step, over all folds so far
        self._seconds = np.zeros(steps)
        self._since = self._fold_since = time.monotonic()

    def begin(self, what: str) -> None:
        """Report that a step begins, after all steps before have ended."""
        self._finish_step()
        self._step += 1
        self._what, self._share = f"Fold {self._fold + 1} of {self._folds}: {what}", 0.0
        self._report()

    def within(self, share: float) -> None:
        """Report that at least the given share (0 to 1) of the current step is done."""
        self._share = max(self._share, min(1.0, share))
        self._report()

    def trains(self, tolerance: float) -> OnProgress:
        """Return a callback that reports the iterations of a run with a relative gap of `tolerance` at its end."""
        return lambda event: self.within(trained_share(event, tolerance))

    def end_fold(self) -> float:
        """End the last step of a fold; return the seconds of the fold."""
        self._finish_step()
        now = time.monotonic()
        seconds, self._fold_since = now - self._fold_since, now
        total = float(self._seconds.sum())
        if total:
            self._weights = self._seconds / total
        self._fold, self._step, self._share = self._fold + 1, -1, 0.0
        self._report()
        return seconds

    def _finish_step(self) -> None:
        now = time.monotonic()
        if self._step >= 0:
            self._seconds[self._step] += now - self._since
        self._since = now

    def _report(self) -> None:
        done = float(self._weights[: max(0, self._step)].sum())
        if self._step >= 0:
            done += self._share * float(self._weights[self._step])
        self._tell(self._what, self._fold + min(1.0, done), self._folds)
