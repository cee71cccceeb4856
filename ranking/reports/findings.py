"""What there is to show of an experiment: its results, the rankings of held-out samples behind them, and what to
notice."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Self

import numpy as np

from ranking.core import Floats, ImageSet
from ranking.core.run_settings import ExperimentSettings
from ranking.experiments.cross_validation.curves import GridCurve, grid_curves
from ranking.experiments.cross_validation.plan import Plan
from ranking.experiments.cross_validation.protocol import PATH
from ranking.experiments.cross_validation.results import Results, higher
from ranking.experiments.cross_validation.tables import point_words
from ranking.experiments.cross_validation.trial_store import TrialStore
from ranking.explain.playback import Frame, frames_of
from ranking.metrics.ranked import Ranking
from ranking.reports.at_home import results_at_home, trials_of
from ranking.workspace.store import Store


@dataclass(frozen=True, eq=False)
class Findings:
    """An experiment on an image set, as far as its trials are finished."""

    plan: Plan
    results: Results
    images: ImageSet
    trials: TrialStore

    @classmethod
    def at_home(cls, store: Store, settings: ExperimentSettings) -> Self:
        """Those of a home; ValueError where its image set is not there, or the settings make no experiment."""
        plan, results = results_at_home(store, settings)
        return cls(plan, results, store.image_set(settings.set), trials_of(store))

    @property
    def planned(self) -> int:
        """How many trainings the tables follow from: those of the folds, and a test for each query and method."""
        return sum(fold is not None for *_, fold in self.results.keys) + self.plan.most_tests

    @property
    def done(self) -> int:
        """How many of them are there."""
        return len(self.results.outcomes)

    @property
    def splits(self) -> list[int | None]:
        """The folds, and None for the test samples where the set has any."""
        return [*self.results.folds, *([None] if self.plan.tested else [])]

    def scores(self, query: str, contender: str, fold: int | None) -> Floats | None:
        """(h,) of the held-out samples, in the order of the split, by a method at its chosen setting; None until they
        are there."""
        point = self.results.chosen(query, contender)
        if point is None or (query, contender, point, fold) not in self.results.outcomes:
            return None
        return self.trials.scores(self.results.keys[query, contender, point, fold])

    def ranking(self, query: str, contender: str, fold: int | None) -> Ranking | None:
        """The held-out samples as a method at its chosen setting ranks them; None until that is there."""
        scores = self.scores(query, contender, fold)
        if scores is None:
            return None
        held = self.plan.splits.all[fold].held
        return Ranking.of(held, self.images.relevance(query)[held], scores)

    def frames(self, query: str, contender: str) -> list[Frame]:
        """How the final model of a method at its chosen setting ranked the test samples at some iterations; none where
        that was not recorded."""
        if self.scores(query, contender, None) is None:
            return []
        held, point = self.plan.splits.all[None].held, self.results.chosen(query, contender)
        assert point is not None
        recording = self.trials.recording(self.results.keys[query, contender, point, None], len(held))
        if recording is None:
            return []
        relevance = self.images.relevance(query)[held]
        frames = frames_of(recording, relevance, np.ones(len(held), np.bool_), None)
        return [frame._replace(top=held[frame.top]) for frame in frames]

    def rankings(self, query: str, fold: int | None) -> dict[str, Ranking]:
        """Those of all methods that are there, in the order of the methods."""
        rankings = {method.name: self.ranking(query, method.name, fold) for method in self.results.contenders}
        return {name: ranked for name, ranked in rankings.items() if ranked is not None}

    def curves(self, query: str) -> list[tuple[GridCurve, bool]]:
        """What the settings are worth on a query, and whether a curve goes through the setting that was chosen."""
        return [
            (curve, curve.others == self._others(query, curve.contender))
            for curve in grid_curves(self.results, query)
        ]

    def _others(self, query: str, contender: str) -> str | None:
        """The chosen settings but for C, as a curve calls them; None before they are chosen."""
        point = self.results.chosen(query, contender)
        if point is None:
            return None
        rest = tuple(item for item in point if item[0] != PATH)
        return point_words(rest) if rest else ""


def split_words(fold: int | None) -> str:
    """What people call a fold, or the test samples.

    >>> split_words(0), split_words(None)
    ('fold 1', 'test')
    """
    return "test" if fold is None else f"fold {fold + 1}"


def notice_best(results: Results, test: bool) -> str:
    """Which method is best on average and on how many queries; words for what is not there yet."""
    table = {}
    for method in results.contenders:
        values = [_value(results, query, method.name, test) for query in results.queries]
        known = [value for value in values if value is not None and not math.isnan(value)]
        if len(known) == len(values):
            table[method.name] = known
    if len(table) < len(results.contenders) or not table:
        return "“–” is not there yet; the best of a column is marked where all of it is."
    mean = {name: statistics.fmean(values) for name, values in table.items()}
    best = max(mean, key=lambda name: mean[name])
    columns = zip(*table.values(), strict=True)
    won = sum(not higher(max(column), table[best][place]) for place, column in enumerate(columns))
    second = max((name for name in mean if name != best), key=lambda name: mean[name], default=None)
    wins = f"on {won} of {len(results.queries)} {'query' if len(results.queries) == 1 else 'queries'}"
    if second is not None and not higher(mean[best], mean[second]):
        return f"{best} and {second} are level on average, {mean[best]:.3f}; {best} is best {wins}."
    ahead = "" if second is None else f", {mean[best] - mean[second]:.3f} above {second}"
    return (
        f"{best} is best on average, {mean[best]:.3f}{ahead}; and {wins}. The best of each column is marked."
    )


def _value(results: Results, query: str, contender: str, test: bool) -> float | None:
    if test:
        return results.test(query, contender)
    folds = results.validation(query, contender)
    return None if folds is None else statistics.fmean(folds)
