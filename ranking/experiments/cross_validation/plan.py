"""The trials of an experiment, and the paths on which they are trained: warm starts along C in rising order.

HOAP-SVM starts from the weights of HOB-SVM at the same grid point, as in the paper, so a path with both trains them in
turn. HOB-SVM trials that are needed only as warm starts are trained but not reported.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ranking.core import ImageSet
from ranking.core.errors import InputError
from ranking.core.settings import Settings
from ranking.core.text import readable
from ranking.experiments.cross_validation.protocol import (
    FEWER,
    MAX_TRAINING_RUNS,
    PATH,
    WARM_START,
    ComparedMethod,
    Point,
    compared_methods_of,
    graph_in_use,
    uses_graph,
)
from ranking.experiments.cross_validation.results import Results, TrialId
from ranking.experiments.cross_validation.splits import Split, Splits, check_queries, splits_of
from ranking.experiments.cross_validation.trial import Outcome, Trial
from ranking.features import feature_columns
from ranking.features.extract import cache_name
from ranking.features.projection import whole_projection
from ranking.storage.run_settings import Protocol

# trials, each after its warm starts
Path = tuple[Trial, ...]


@dataclass(frozen=True, eq=False)
class Plan:
    """A protocol on an image set. graph: the name of the similarity graph, None if no method uses one.

    samples: hashes of the samples, by fold and by whether the method uses the graph.
    """

    protocol: Protocol
    queries: tuple[str, ...]
    compared_methods: tuple[ComparedMethod, ...]
    graph: str | None
    splits: Splits
    samples: Mapping[tuple[int | None, bool], str]

    @cached_property
    def validation(self) -> dict[TrialId, Trial]:
        """The trials of the folds, query by query, so that tables fill in column by column."""
        trials: dict[TrialId, Trial] = {}
        for query in self.queries:
            for fold in range(self.protocol.folds):
                for compared_method in self.compared_methods:
                    for point, trial in self._chained(
                        query, compared_method, fold, compared_method.points
                    ).items():
                        trials[query, compared_method.name, point, fold] = trial
        return trials

    def wider(self, results: Results) -> dict[TrialId, Trial]:
        """The trials of the folds that `results` lack where a grid is extended beyond its ends."""
        trials: dict[TrialId, Trial] = {}
        for query in self.queries:
            for compared_method in self.compared_methods:
                points = results.points(query, compared_method.name)
                for fold in range(self.protocol.folds):
                    for point, trial in self._chained(query, compared_method, fold, points).items():
                        if (query, compared_method.name, point, fold) not in results.keys:
                            trials[query, compared_method.name, point, fold] = trial
        return trials

    def tests(self, results: Results) -> dict[TrialId, Trial]:
        """Return the trials on all training samples, at the points chosen so far; none without test samples.

        Each has only the warm start of its method.
        """
        trials: dict[TrialId, Trial] = {}
        for query in self.queries if self.tested else ():
            for compared_method in self.compared_methods:
                point = results.chosen(query, compared_method.name)
                if point is not None:
                    settings, beginning = compared_method.settings(point), compared_method.beginning(point)
                    trials[query, compared_method.name, point, None] = self._trial(
                        query, compared_method.method, settings, None, beginning
                    )
        return trials

    def results(self, trials: Mapping[TrialId, Trial], known: Mapping[str, Outcome]) -> Results:
        """Return the results of `trials` whose outcomes are `known` by key."""
        outcomes = {place: known[trial.key] for place, trial in trials.items() if trial.key in known}
        keys = {place: trial.key for place, trial in trials.items()}
        return Results(self.protocol, self.queries, self.compared_methods, outcomes, keys)

    @property
    def most_tests(self) -> int:
        """Return the number of tests at the end: one for each query and compared method."""
        return len(self.queries) * len(self.compared_methods) if self.tested else 0

    @property
    def tested(self) -> bool:
        """Whether the set has test samples."""
        return bool(len(self.splits.all[None].held))

    def _chained(
        self, query: str, compared_method: ComparedMethod, fold: int, points: Iterable[Point]
    ) -> dict[Point, Trial]:
        """Return the trials of a compared method on a fold; each starts from the one with the next smaller C.

        Trials with a C below the grid of the protocol have no warm start, and are not the warm start of others, so that
        extending a grid changes no result."""
        # by the point without its C
        last: dict[Point, Trial] = {}
        first = dict(compared_method.points[0]).get(PATH, 0.0)
        trials = {}
        # C is the first setting of a point, and rises
        for point in points:
            rest = tuple(item for item in point if item[0] != PATH)
            if dict(point).get(PATH, 0.0) <= first:
                last.pop(rest, None)
            trial = self._trial(
                query,
                compared_method.method,
                compared_method.settings(point),
                fold,
                compared_method.beginning(point),
                last.get(rest),
            )
            trials[point] = last[rest] = trial
        return trials

    def _trial(
        self,
        query: str,
        method: str,
        settings: Settings,
        fold: int | None,
        beginning: Settings | None,
        previous: Trial | None = None,
    ) -> Trial:
        """Return a trial. If its warm start is a HOB-SVM, that trial follows its own path along the same C, or is the
        same trial for all C."""
        begun = None
        if beginning is not None:
            begun = None if previous is None else previous.beginning
            if begun is None or begun.settings != beginning:
                begun = self._trial(query, WARM_START, beginning, fold, None, begun)
        return Trial(query, method, settings, fold, self.samples[fold, uses_graph(method)], previous, begun)


def plan_of(protocol: Protocol, image_set: ImageSet) -> Plan:
    """Return the plan of `protocol` on its image set; ValueError for a protocol without trials. Reads no features."""
    compared_methods = compared_methods_of(protocol)
    queries = protocol.queries or image_set.classes
    if not queries:
        raise InputError(
            readable(image_set.title), "classes to rank", "none", "choose an image set with classes"
        )
    training_runs = (
        len(queries)
        * protocol.folds
        * sum(len(compared_method.points) for compared_method in compared_methods)
    )
    if training_runs > MAX_TRAINING_RUNS:
        raise InputError("trials", f"at most {MAX_TRAINING_RUNS:,} in the folds", training_runs, FEWER)
    graph = graph_in_use(protocol, compared_methods)
    splits = splits_of(image_set, protocol.folds, protocol.seed)
    check_queries(image_set, splits, queries)
    _check_places(protocol.measure, splits)
    samples = {
        (fold, with_graph): _samples(protocol, image_set, split, graph if with_graph else None)
        for fold, split in splits.all.items()
        for with_graph in (False, True)
    }
    return Plan(protocol, tuple(queries), tuple(compared_methods), graph, splits, samples)


def _check_places(measure: str, splits: Splits) -> None:
    """Raise ValueError if a fold has fewer samples than the cutoff of precision at k."""
    if not measure.startswith("P@"):
        return
    least = min(len(split.held) for split in splits.all.values() if len(split.held))
    if least < int(measure[2:]):
        remedy = "choose another measure, or fewer folds"
        raise InputError("samples per fold", f"at least {measure[2:]} for {measure}", least, remedy)


def _samples(protocol: Protocol, image_set: ImageSet, split: Split, graph: str | None) -> str:
    """Return a hash of the samples of a split: set, features, graph, the rows of both sides, and the projection.

    Without a projection the hash equals that of versions that had none, so their trials stay valid.
    """
    features = [
        cache_name(image_set.key, feature) for feature, _ in feature_columns(protocol.features, image_set)
    ]
    parts: list[object] = [image_set.key, features, graph]
    if (projection := whole_projection(protocol.projection)) is not None:
        parts.append(projection)
    content = hashlib.sha256(json.dumps(parts).encode())
    for rows in (split.learn, split.held):
        content.update(rows.astype("<i8").tobytes())
        content.update(b"|")
    return content.hexdigest()


def paths_of(trials: Iterable[Trial]) -> list[Path]:
    """Return the trials and their warm starts as independent paths, each trial once.

    Along a path C rises, and a HOB-SVM comes directly before the HOAP-SVM that starts from it. Queries keep their
    order, so that tables fill in column by column. The long paths of a query come first, so that workers end at about
    the same time.
    """
    # by key of a trial: the path it is on
    path_of: dict[str, list[Trial]] = {}
    paths: list[list[Trial]] = []

    def place(trial: Trial) -> None:
        if trial.key in path_of:
            return
        for cause in trial.causes:
            place(cause)
        if trial.causes:
            path = path_of[trial.causes[0].key]
        else:
            paths.append(path := [])
        path.append(trial)
        path_of[trial.key] = path

    for trial in trials:
        place(trial)
    turn = {query: number for number, query in enumerate(dict.fromkeys(path[0].query for path in paths))}
    paths.sort(key=lambda path: (turn[path[0].query], not uses_graph(path[0].method), -len(path)))
    return [
        tuple(sorted(path, key=lambda trial: (trial.step, trial.beginning is not None))) for path in paths
    ]
