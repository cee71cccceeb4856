"""The checked samples of all queries, concatenated: what sample methods train on."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ranking.core import Bools, Features, Query, SimilarityGraph
from ranking.core.errors import InputError


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """The samples of all queries that a method is trained on."""

    # With several queries an objective is that of structured SVMs, the mean over queries (high-order, eq. 1).

    # (n, d)
    features: Features
    # (n,)
    relevant: Bools
    # the rows of each query
    parts: tuple[slice, ...]
    # a hash of everything, by which runs on the same samples are recognised
    fingerprint: int
    # None where no query has one
    # of all samples, or None
    graph: SimilarityGraph | None = None

    @property
    def by_query(self) -> list[Bools]:
        """Which samples of each query are relevant."""
        return [self.relevant[part] for part in self.parts]

    @classmethod
    def of(cls, queries: Sequence[Query]) -> TrainingSet:
        """Return the training set of `queries`."""
        # ValueError unless each has both kinds of samples and equal features.
        if not queries:
            raise InputError("queries", "at least one query", "an empty list")
        relevant = np.concatenate([_relevant(number, query) for number, query in enumerate(queries)])
        size = queries[0].features.shape[1]
        for number, query in enumerate(queries):
            if query.features.shape[1] != size:
                raise InputError(
                    f"features of query {number}",
                    f"{size} per sample, as the first query has",
                    query.features.shape[1],
                )
        single = len(queries) == 1
        features = queries[0].features if single else np.concatenate([query.features for query in queries])
        features = np.ascontiguousarray(features)
        ends = np.cumsum([len(query) for query in queries]).tolist()
        parts = tuple(slice(*pair) for pair in zip([0, *ends[:-1]], ends, strict=True))
        shape = f"{features.shape} {features.dtype} {ends}".encode()
        fingerprint = zlib.crc32(shape + relevant.tobytes(), zlib.crc32(_octets(features)))
        graph = _stacked([query.graph for query in queries], [part.start for part in parts])
        if graph is not None:
            fingerprint = zlib.crc32(f"{graph.affinity.shape} {graph.affinity.dtype}".encode(), fingerprint)
            for array in (graph.edges, graph.affinity):
                fingerprint = zlib.crc32(_octets(array), fingerprint)
        return cls(features, relevant, parts, fingerprint, graph)


def _octets(array: np.ndarray) -> memoryview:
    """Return the bytes of an array, which may be empty."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _stacked(graphs: Sequence[SimilarityGraph | None], firsts: Sequence[int]) -> SimilarityGraph | None:
    """Return the graphs of queries as one; ValueError for unequal affinities."""
    # firsts: where the samples of each query begin.
    present = [(graph, first) for graph, first in zip(graphs, firsts, strict=True) if graph is not None]
    if not present:
        return None
    sizes = {graph.affinity.shape[1] for graph, _ in present}
    if len(sizes) > 1:
        raise InputError("graphs of the queries", "affinities of one size", sorted(sizes))
    if len(present) == 1 and present[0][1] == 0:
        return present[0][0]
    return SimilarityGraph(
        np.concatenate([graph.edges + first for graph, first in present]),
        np.concatenate([graph.affinity for graph, _ in present]),
    )


def _relevant(number: int, query: Query) -> Bools:
    """Return (n,) which samples of a query are relevant: those of a grade above 0."""
    if query.relevance is None:
        raise InputError(
            f"query {number}", "the relevance of its samples", remedy="train on Query(features, relevance)"
        )
    relevant: Bools = query.relevance > 0
    if relevant.all() or not relevant.any():
        missing = "irrelevant" if len(relevant) and relevant.all() else "relevant"
        raise InputError(
            f"query {number}", f"at least one {missing} sample", remedy="choose another query or split"
        )
    return relevant
