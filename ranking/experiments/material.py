"""What the cells of an experiment are made of: features, relevance, and the neighbours on each side of each split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ranking.experiments.plan import Plan
from ranking.features import load_features
from ranking.features.extract import OnFeatures
from ranking.image_graph import compared_columns, graph_edges
from ranking.methods.training_set import TrainingSet
from ranking.similarity import similarity_graph
from ranking.types import Features, ImageSet, Ints, Query, SimilarityGraph

SIDES_KEPT = 4  # of splits: so many have their rows in memory a second time


class Side(NamedTuple):
    """Some samples: their rows in the set, ascending, and their similar pairs (m, 2), numbered among themselves."""

    rows: Ints
    edges: Ints


@dataclass(frozen=True, eq=False)
class Material:
    """Plain arrays, that they may be shared and sent.

    features: (n, d) of all samples. relevance: (n,) of each query. sides: of each fold, and of None, the samples to
    learn from and the held-out ones. compared: the columns of the features that the affinity compares, (0,) where no
    method uses a graph.
    """

    features: Features
    relevance: Mapping[str, Ints]
    sides: Mapping[int | None, tuple[Side, Side]]
    compared: Ints


def material_of(
    plan: Plan,
    image_set: ImageSet,
    cache: Path,
    on_features: OnFeatures | None = None,
    edges: Ints | None = None,
) -> Material:
    """The material of a plan on its set; on_features hears of features that have to be computed.

    edges: the pairs (m, 2) that the protocol names where it names a CSV (`ranking.store.Store.edges_of`).
    """
    features = load_features(image_set, plan.protocol.features, cache, on_features)
    graph = plan.graph
    nothing: Ints = np.empty(0, np.int64)
    compared = nothing if graph is None else compared_columns(image_set, plan.protocol.features)
    vectors = features[:, compared]

    def side(rows: Ints) -> Side:
        if graph is None:
            return Side(rows, np.empty((0, 2), np.int64))
        return Side(rows, graph_edges(image_set, graph, vectors, rows, edges))

    sides = {fold: (side(split.learn), side(split.held)) for fold, split in plan.splits.all.items()}
    relevance = {query: image_set.relevance(query) for query in plan.queries}
    return Material(features, relevance, sides, compared)


class Bench:
    """Cuts what a training needs from the material; the last few sides are at hand, for any number of threads."""

    def __init__(self, material: Material) -> None:
        self._material = material
        self._rows = lru_cache(SIDES_KEPT)(self._features_of)
        self._graph = lru_cache(SIDES_KEPT)(self._graph_of)

    def __reduce__(self) -> tuple[type[Bench], tuple[Material]]:
        """What is sent to another process is the material; the sides are cut there."""
        return Bench, (self._material,)

    def training_set(self, query: str, fold: int | None, leaning: bool) -> TrainingSet:
        """The samples to learn from, with their graph where the method leans on it; no fingerprint tells them apart."""
        relevant = self._material.relevance[query][self._material.sides[fold][0].rows] > 0
        graph = self._graph(fold, 0) if leaning else None
        return TrainingSet(self._rows(fold, 0), relevant, (slice(0, len(relevant)),), 0, graph)

    def held_out(self, query: str, fold: int | None, leaning: bool) -> Query:
        """The held-out samples; their relevance is there to measure by."""
        relevance = self._material.relevance[query][self._material.sides[fold][1].rows]
        return Query(self._rows(fold, 1), relevance, self._graph(fold, 1) if leaning else None)

    def _features_of(self, fold: int | None, side: int) -> Features:
        return np.ascontiguousarray(self._material.features[self._material.sides[fold][side].rows])

    def _graph_of(self, fold: int | None, side: int) -> SimilarityGraph:
        rows, edges = self._material.sides[fold][side]
        return similarity_graph(self._material.features[rows][:, self._material.compared], edges)
