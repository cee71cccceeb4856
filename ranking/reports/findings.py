"""The findings of an experiment: results, rankings of held-out samples, and sentences about them."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Self

import numpy as np

from ranking.core import Floats, ImageSet
from ranking.core.text import counted
from ranking.experiments.cross_validation.curves import GridCurve, grid_curves
from ranking.experiments.cross_validation.plan import Plan
from ranking.experiments.cross_validation.protocol import PATH
from ranking.experiments.cross_validation.results import Results, higher
from ranking.experiments.cross_validation.tables import point_words
from ranking.experiments.cross_validation.trial_store import TrialStore
from ranking.explain.playback import Frame, frames_of
from ranking.metrics.ranked import Ranking
from ranking.reports.at_home import results_at_home, trials_of
from ranking.storage.run_settings import ExperimentSettings
from ranking.storage.store import Store


@dataclass(frozen=True, eq=False)
class Findings:
    """An experiment on an image set, as far as its trials are finished."""

    plan: Plan
    results: Results
    images: ImageSet
    trials: TrialStore

    @classmethod
    def at_home(cls, store: Store, settings: ExperimentSettings) -> Self:
        """Read an experiment of a data folder; ValueError without its image set or for invalid settings."""
        plan, results = results_at_home(store, settings)
        return cls(plan, results, store.sets.get(settings.set), trials_of(store))

    @property
    def planned(self) -> int:
        """Number of runs behind the tables: those of the folds, and one test for each query and method."""
        return sum(fold is not None for *_, fold in self.results.keys) + self.plan.most_tests

    @property
    def done(self) -> int:
        """Number of those runs that are finished."""
        return len(self.results.outcomes)

    @property
    def splits(self) -> list[int | None]:
        """The folds, and None for the test samples if the set has any."""
        return [*self.results.folds, *([None] if self.plan.tested else [])]

    def scores(self, query: str, compared_method: str, fold: int | None) -> Floats | None:
        """Return scores (h,) of the held-out samples at a method's chosen setting; None before they exist."""
        # They are in the order of the split.
        point = self.results.chosen(query, compared_method)
        if point is None or (query, compared_method, point, fold) not in self.results.outcomes:
            return None
        return self.trials.scores(self.results.keys[query, compared_method, point, fold])

    def ranking(self, query: str, compared_method: str, fold: int | None) -> Ranking | None:
        """Return the ranking of the held-out samples at a method's chosen setting; None before it exists."""
        scores = self.scores(query, compared_method, fold)
        if scores is None:
            return None
        held = self.plan.splits.all[fold].held
        return Ranking.of(held, self.images.relevance(query)[held], scores)

    def frames(self, query: str, compared_method: str) -> list[Frame]:
        """Return the recorded iterations of a method's final model, with the top test samples."""
        # The model is that of the chosen setting. There are none if the trial was not recorded.
        if self.scores(query, compared_method, None) is None:
            return []
        held, point = self.plan.splits.all[None].held, self.results.chosen(query, compared_method)
        assert point is not None
        recording = self.trials.recording(self.results.keys[query, compared_method, point, None], len(held))
        if recording is None:
            return []
        relevance = self.images.relevance(query)[held]
        frames = frames_of(recording, relevance, np.ones(len(held), np.bool_), None)
        return [frame._replace(top=held[frame.top]) for frame in frames]

    def rankings(self, query: str, fold: int | None) -> dict[str, Ranking]:
        """Return the rankings of all methods that have one, in the order of the methods."""
        rankings = {
            method.name: self.ranking(query, method.name, fold) for method in self.results.compared_methods
        }
        return {name: ranked for name, ranked in rankings.items() if ranked is not None}

    def curves(self, query: str) -> list[tuple[GridCurve, bool]]:
        """Return the curves of a query along C, each with whether it contains the chosen setting."""
        return [
            (curve, curve.others == self._others(query, curve.compared_method))
            for curve in grid_curves(self.results, query)
        ]

    def _others(self, query: str, compared_method: str) -> str | None:
        """Return the chosen settings but C, as in a curve's label; None before they are chosen."""
        point = self.results.chosen(query, compared_method)
        if point is None:
            return None
        rest = tuple(item for item in point if item[0] != PATH)
        return point_words(rest) if rest else ""


def split_words(fold: int | None) -> str:
    """Name a fold, or the test samples.

    >>> split_words(0), split_words(None)
    ('fold 1', 'test')
    """
    return "test" if fold is None else f"fold {fold + 1}"


def notice_best(results: Results, test: bool) -> str:
    """Say which methods have the highest values, averaged over queries; explain missing results."""
    table = {}
    for method in results.compared_methods:
        values = [_value(results, query, method.name, test) for query in results.queries]
        known = [value for value in values if value is not None and not math.isnan(value)]
        if len(known) == len(values):
            table[method.name] = known
    if len(table) < len(results.compared_methods) or not table:
        return "“–”: not finished yet. The best value of a column is marked once the column is complete."
    mean = {name: statistics.fmean(values) for name, values in table.items()}
    best, *others = sorted(mean, key=lambda name: -mean[name])
    highest = ", then ".join(f"{name} {mean[name]:.3f}" for name in (best, *others[:1]))
    columns = zip(*table.values(), strict=True)
    won = sum(not higher(max(column), table[best][place]) for place, column in enumerate(columns))
    return (
        f"Highest mean over queries: {highest}. {best} is best on {won} of {counted(len(results.queries), 'query')}. "
        "The best value of each column is marked."
    )


def _value(results: Results, query: str, compared_method: str, test: bool) -> float | None:
    if test:
        return results.test(query, compared_method)
    folds = results.validation(query, compared_method)
    return None if folds is None else statistics.fmean(folds)
