"""Input arrays of the trials: features, relevance, and edges within each side of each split."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ranking.core import Features, ImageSet, Ints, Query, SimilarityGraph
from ranking.core.settings import Json
from ranking.experiments.cross_validation.plan import Plan
from ranking.features import load_features
from ranking.features.extract import OnFeatures
from ranking.features.graph.image_graph import compared_columns, graph_edges
from ranking.features.graph.similarity import similarity_graph
from ranking.features.projection import Projection, make_projection, projected
from ranking.methods.training_set import TrainingSet

# number of splits whose rows are copied in memory
SIDES_KEPT = 4


class SplitSide(NamedTuple):
    """Some samples: their rows in the set, ascending, and their similar pairs (m, 2) by position in `rows`."""

    rows: Ints
    edges: Ints


@dataclass(frozen=True, eq=False)
class TrialData:
    """The input of all trials as plain arrays, and the part of it that a training run needs."""

    # (n, d) of all samples
    features: Features
    # (n,) of each query
    relevance: Mapping[str, Ints]
    # by fold, or None for the test: the training samples and the held-out samples
    sides: Mapping[int | None, tuple[SplitSide, SplitSide]]
    # the columns of the features that the affinity compares, (0,) if no method uses a graph
    compared: Ints
    # by fold, or None, fitted on the training samples and applied to both sides; empty without a projection
    projections: Mapping[int | None, Projection] = field(default_factory=dict)

    def __getstate__(self) -> Json:
        """Pickle the fields only; the sides are computed again in the other process."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def training_set(self, query: str, fold: int | None, graph: bool) -> TrainingSet:
        """Return the training samples, with their graph if the method uses one."""
        relevant = self.relevance[query][self.sides[fold][0].rows] > 0
        similar = self._graph(fold, 0) if graph else None
        return TrainingSet(self._rows(fold, 0), relevant, (slice(0, len(relevant)),), 0, similar)

    def held_out(self, query: str, fold: int | None, graph: bool) -> Query:
        """Return the held-out samples, with their relevance for evaluation."""
        relevance = self.relevance[query][self.sides[fold][1].rows]
        return Query(self._rows(fold, 1), relevance, self._graph(fold, 1) if graph else None)

    @cached_property
    def _rows(self) -> Callable[[int | None, int], Features]:
        """Return a function for the features of a side, safe to call from any thread."""

        @lru_cache(SIDES_KEPT)
        def rows_of(fold: int | None, side: int) -> Features:
            rows = self.sides[fold][side].rows
            return np.ascontiguousarray(projected(self.projections.get(fold), self.features[rows]))

        return rows_of

    @cached_property
    def _graph(self) -> Callable[[int | None, int], SimilarityGraph]:
        """Return a function for the graph of a side, safe to call from any thread."""

        @lru_cache(SIDES_KEPT)
        def graph_of(fold: int | None, side: int) -> SimilarityGraph:
            rows, edges = self.sides[fold][side]
            return similarity_graph(self.features[rows][:, self.compared], edges)

        return graph_of


def trial_data_of(
    plan: Plan,
    image_set: ImageSet,
    cache: Path,
    on_features: OnFeatures | None = None,
    edges: Ints | None = None,
) -> TrialData:
    """Return the input arrays of a plan; on_features receives the progress of features and projections."""
    # `edges` are the pairs (m, 2) of the CSV file that the protocol names (`Store.features.edges_of`).
    features = load_features(image_set, plan.protocol.features, cache, on_features)
    graph = plan.graph
    nothing: Ints = np.empty(0, np.int64)
    compared = nothing if graph is None else compared_columns(image_set, plan.protocol.features)
    vectors = features[:, compared]

    def side(rows: Ints) -> SplitSide:
        if graph is None:
            return SplitSide(rows, np.empty((0, 2), np.int64))
        return SplitSide(rows, graph_edges(image_set, graph, vectors, rows, edges))

    sides = {fold: (side(split.learn), side(split.held)) for fold, split in plan.splits.all.items()}
    relevance = {query: image_set.relevance(query) for query in plan.queries}
    return TrialData(features, relevance, sides, compared, projections_of(plan, features, on_features))


def projections_of(
    plan: Plan, features: Features, on_step: OnFeatures | None = None
) -> dict[int | None, Projection]:
    """Fit the protocol's projection on the training samples of each split."""
    # Each is fitted once for all trials, so that the weights of a warm start refer to the same projection.
    made, splits = make_projection(plan.protocol.projection), plan.splits.all
    projections: dict[int | None, Projection] = {}
    if made is None:
        return projections
    for fold, split in splits.items():
        if on_step is not None:
            on_step(f"Fitting {made.name}", len(projections), len(splits))
        projections[fold] = made.fitted(features, split.learn)
    return projections
