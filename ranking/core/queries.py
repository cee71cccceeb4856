"""The samples of a query, and their similarity graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranking.core.arrays import AnyArray, Features, Ints, check_features, check_ids, check_relevance, is_real
from ranking.core.errors import InputError


@dataclass(frozen=True, eq=False)
class SimilarityGraph:
    """Pairs of samples that tend to share their label (high-order, section 3).

    edges: (m, 2) int, each unordered pair once. affinity: (m, d2) >= 0, Phi of eq. 5, without eta; float32 and
    float64 are kept as they are.
    """

    edges: Ints
    affinity: Features

    def __post_init__(self) -> None:
        edges, affinity = np.asarray(self.edges), np.asarray(self.affinity)
        if not is_real(affinity):
            raise InputError("affinity", "real numbers", affinity.dtype)
        if affinity.dtype not in (np.float32, np.float64):
            affinity = affinity.astype(np.float64)
        if edges.ndim != 2 or edges.shape[1] != 2 or not np.issubdtype(edges.dtype, np.integer):
            raise InputError(
                "edges", "whole numbers of shape (m, 2)", f"{edges.dtype} of shape {edges.shape}"
            )
        if affinity.ndim != 2 or len(affinity) != len(edges):
            raise InputError("affinity", f"shape ({len(edges)}, d2), one row per edge", affinity.shape)
        if len(edges) and (edges.min() < 0 or (edges[:, 0] == edges[:, 1]).any()):
            wrong = (edges < 0).any(axis=1) | (edges[:, 0] == edges[:, 1])
            raise InputError("edges", "pairs of different samples, numbered from 0", edges[wrong][0].tolist())
        lower, upper = edges.min(axis=1), edges.max(axis=1)
        order = np.lexsort((upper, lower))
        lower, upper = lower[order], upper[order]
        if ((lower[1:] == lower[:-1]) & (upper[1:] == upper[:-1])).any():
            raise InputError("edges", "each unordered pair once", "a pair twice", "remove the duplicates")
        # Minimum and maximum need no copy; with a NaN, both are NaN.
        if affinity.size and not 0 <= affinity.min() <= affinity.max() < np.inf:
            raise InputError("affinity", "finite numbers from 0", f"{affinity.min()} to {affinity.max()}")
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "affinity", affinity)


@dataclass(frozen=True, eq=False)
class Query:
    """The samples that one query ranks.

    features: (n, d) float32 or float64, finite. relevance: (n,) grades >= 0, needed for training only. graph: the
    similarity graph of the samples, optional. ids: (n,) stable names of the samples; the row numbers by default.
    """

    features: Features
    relevance: Ints | None = None
    graph: SimilarityGraph | None = None
    ids: AnyArray | None = None

    def __post_init__(self) -> None:
        features = check_features(self.features)
        object.__setattr__(self, "features", features)
        if self.relevance is not None:
            object.__setattr__(self, "relevance", check_relevance(self.relevance, len(features)))
        object.__setattr__(self, "ids", check_ids(self.ids, len(features), "sample"))
        kind = type(self.graph)
        if self.graph is not None and not issubclass(kind, SimilarityGraph):
            remedy = "give SimilarityGraph(edges, affinity)"
            raise InputError("graph", "a SimilarityGraph", kind.__name__, remedy)
        if self.graph is not None and len(self.graph.edges) and self.graph.edges.max() >= len(features):
            raise InputError("edges", f"samples 0 to {len(features) - 1}", self.graph.edges.max())

    def __len__(self) -> int:
        return len(self.features)
