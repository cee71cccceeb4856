"""How much answers are worth, for each ranker of labels and each way to ask (c-star, section 5 and table 1).

Images are dealt into folds; each method is trained on all folds but one, and the images of that one are asked about,
with the ground truth answering. Nothing is told of a test image but what was asked for and, as in the paper's
break-even precision, how many labels it has: that is k, and with it answers can settle labels that nobody asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ranking.asking import STRATEGIES, Urgency, make_strategy, simulate, strategies_for
from ranking.fold_curves import FoldCurve
from ranking.label_training import OnStep, label_set_of, labelled_blocks, make_label_ranker
from ranking.methods.label_ranker import LabelRanker
from ranking.run_settings import AskingSettings, Settings
from ranking.types import Floats, ImageSet, Ints, LabelSet

OnBeat = Callable[[], None]


@dataclass(frozen=True, eq=False)
class Asker:
    """A method that is to be trained anew in each fold, and the strategies by which it can ask."""

    name: str
    settings: Settings
    strategies: tuple[str, ...]


def simulate_asking(
    image_set: ImageSet,
    settings: AskingSettings,
    feature_cache: Path,
    on_step: OnStep | None = None,
    on_beat: OnBeat | None = None,
) -> list[FoldCurve]:
    """One curve for each method and strategy, in their order; none for a strategy
    that needs a core with a method without one.

    Equal settings give equal curves. on_step hears of the features, then of each training and each strategy of each
    fold; on_beat is called after every iteration and every block of images, so that what it raises is heard soon. All
    images of the set take part, also those kept for testing. ValueError for settings that make no simulation.
    """
    askers = askers_of(settings)
    images = label_set_of(image_set, settings, feature_cache, on_step)
    return asking_curves(images, settings, askers, on_step, on_beat)


def asking_curves(
    images: LabelSet,
    settings: AskingSettings,
    askers: list[Asker],
    on_step: OnStep | None = None,
    on_beat: OnBeat | None = None,
) -> list[FoldCurve]:
    """`simulate_asking` of images whose features are there; of `settings` only questions, folds and seed count."""
    steps = Steps(settings.folds * sum(1 + len(asker.strategies) for asker in askers), on_step)
    beat = on_beat or (lambda: None)
    asks = [(asker, strategy) for asker in askers for strategy in asker.strategies]
    values = np.empty((len(asks), settings.folds, settings.questions + 1))
    for fold, rows in enumerate(deal(len(images), settings.folds, settings.seed)):
        told = f"Fold {fold + 1} of {settings.folds}"
        asked, training = images.part(rows), images.part(np.setdiff1d(np.arange(len(images)), rows))
        place = 0
        for asker in askers:
            steps.begin(f"{told}: training {asker.name}")
            method = make_label_ranker(asker.name, asker.settings)
            method.fit(training, on_progress=lambda event: beat())
            for strategy in asker.strategies:
                steps.begin(f"{told}: asking {asker.name}, {strategy}")
                urgency = make_strategy(strategy, method, training, settings.seed + fold)
                values[place, fold] = asked_in_blocks(method, asked, urgency, settings.questions, beat)
                place += 1
    steps.end()
    return [
        FoldCurve(asker.name, strategy, folds, asker.settings)
        for (asker, strategy), folds in zip(asks, values, strict=True)
    ]


def asked_in_blocks(
    method: LabelRanker, images: LabelSet, urgency: Urgency, questions: int, beat: OnBeat
) -> Floats:
    """(questions + 1,) `ranking.asking.simulate` of all images that have labels, a block at a time."""
    total, count = np.zeros(questions + 1), 0
    for block in labelled_blocks(images):
        beat()
        total += len(block) * simulate(method, block, urgency, questions)
        count += len(block)
    if not count:
        raise ValueError(
            f"none of the {len(images)} images of a fold has a label; choose fewer folds, or fewer images a label"
        )
    return total / count


def askers_of(settings: AskingSettings) -> list[Asker]:
    """Each method with the strategies that it can follow; ValueError for settings that make no simulation."""
    for name, least in (("questions", 0), ("folds", 2), ("seed", 0)):
        if getattr(settings, name) < least:
            raise ValueError(f"{name} must be at least {least}, got {getattr(settings, name)}")
    for what, chosen in (("method", settings.methods), ("strategy", settings.strategies)):
        if not chosen:
            raise ValueError(f"expected at least one {what}, got none; choose one or more")
        if any(one in chosen[:place] for place, one in enumerate(chosen)):
            raise ValueError(f"every {what} once, got {', '.join(map(str, chosen))}")
    for strategy in settings.strategies:
        if strategy not in STRATEGIES:
            raise ValueError(f"no strategy is called {strategy!r}; choose one of: {', '.join(STRATEGIES)}")
    askers = []
    for name, given in settings.methods:
        core = getattr(make_label_ranker(name, given), "core_size", 0)
        able = strategies_for(core)
        askers.append(Asker(name, given, tuple(one for one in settings.strategies if one in able)))
    if not any(asker.strategies for asker in askers):
        raise ValueError(
            f"none of the methods has a core, which {settings.strategies[0]!r} asks for; choose another strategy"
        )
    return [asker for asker in askers if asker.strategies]


def deal(count: int, folds: int, seed: int) -> list[Ints]:
    """`count` images dealt into `folds` parts of nearly equal size, at random by `seed`; ascending within each.

    >>> [rows.tolist() for rows in deal(5, 2, seed=1)]
    [[1, 3, 4], [0, 2]]
    """
    if folds > count:
        raise ValueError(f"{count} images cannot be dealt into {folds} folds; choose at most {count} folds")
    order = np.random.default_rng(seed).permutation(count)
    return [np.sort(order[fold::folds]) for fold in range(folds)]


class Steps:
    """Counts what is done of `total` steps and tells it to `on_step`, with what has begun."""

    def __init__(self, total: int, on_step: OnStep | None) -> None:
        self._done, self._total, self._tell = -1, total, on_step or (lambda what, done, total: None)

    def begin(self, what: str) -> None:
        """All steps before have ended."""
        self._done += 1
        self._what = what
        self._tell(what, self._done, self._total)

    def end(self) -> None:
        """The last step has ended."""
        self._tell(self._what, self._total, self._total)
