"""The similarity graph of an image set: which samples lean on which, under a name that a run's settings can keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ranking.edge_files import is_edges_name, short_name
from ranking.features import feature_columns
from ranking.similarity import nearest, same_group, same_image, similarity_graph
from ranking.types import Bools, Features, ImageSet, Ints, SimilarityGraph

NEAREST = 5
GRAPHS = {
    "same image": "samples of one image",
    "same group": "samples of one group",
    "nearest": f"each sample and the {NEAREST} most alike",
    "none": "none",
}
MOST_BYTES = 2_000_000_000  # of affinities, which lie in memory as a whole


def is_graph_name(by: str) -> bool:
    """Whether settings may name a graph so: one of GRAPHS, or pairs of a CSV (`ranking.edge_files`)."""
    return by in GRAPHS or is_edges_name(by)


def graph_words(by: str) -> str:
    """What people are shown of a graph's name.

    >>> graph_words("same image"), graph_words("csv-0123456789abcdef0123456789abcdef")
    ('same image', 'CSV 01234567')
    """
    return short_name(by) if is_edges_name(by) else by


def image_graph(
    image_set: ImageSet,
    by: str,
    parts: Sequence[tuple[str, Mapping[str, Any]]],
    features: Features,
    rows: Bools | None = None,
    brought: Ints | None = None,
) -> SimilarityGraph:
    """The graph of the samples of `rows` (n,), all where it is None, numbered among themselves.

    by: one of GRAPHS, or the name of the pairs `brought` (m, 2) of samples of the set. No edge joins a training
    sample to a test sample: pairs that do are left out. parts: what `features` (n, d) are made of; the affinity
    compares those of the box, for what describes the whole image tells nothing within one (high-order, section 5),
    or all features where there are no others. ValueError where affinities would take more than MOST_BYTES.
    """
    if not is_graph_name(by):
        raise ValueError(
            f"no similarity graph is called {by!r}; choose one of: {', '.join(GRAPHS)}, or bring a CSV of pairs"
        )
    if is_edges_name(by) != (brought is not None):
        raise ValueError(f"pairs must be given with the name of a CSV and with no other, the name is {by!r}")
    of_box = [columns for part, columns in feature_columns(parts, image_set) if not part.whole_image]
    chosen = np.concatenate(
        [np.arange(part.start, part.stop) for part in of_box] or [np.arange(features.shape[1])]
    )
    vectors = features[:, chosen]
    taken = np.arange(len(image_set)) if rows is None else np.flatnonzero(rows)
    edges = np.concatenate(
        [
            _edges(image_set, by, vectors, part) if brought is None else within(brought, part, len(image_set))
            for part in _by_split(image_set, taken)
        ]
    )
    _check_size(len(edges), vectors)
    number = np.full(len(image_set), -1)
    number[taken] = np.arange(len(taken))
    return similarity_graph(vectors[taken], number[edges])


def within(edges: Ints, rows: Ints, n: int) -> Ints:
    """Those of the pairs (m, 2) of n samples whose two samples are among `rows`.

    >>> within(np.array([[0, 1], [1, 2]]), np.array([1, 2]), 3)
    array([[1, 2]])
    """
    if len(edges) and edges.max() >= n:
        raise ValueError(
            f"pairs must be of the {n:,} samples of the image set, got sample number {edges.max():,}"
        )
    among = np.zeros(n, bool)
    among[rows] = True
    found: Ints = edges[among[edges].all(axis=1)]
    return found


def _check_size(edges: int, vectors: Features) -> None:
    needed = edges * vectors.shape[1] * vectors.itemsize
    if needed > MOST_BYTES:
        raise ValueError(
            f"{edges:,} pairs with {vectors.shape[1]:,} affinities each would take {needed / 1e9:.1f} GB, expected at "
            f"most {MOST_BYTES / 1e9:g} GB; choose features of fewer columns, or neighbours of fewer pairs"
        )


def _by_split(image_set: ImageSet, rows: Ints) -> list[Ints]:
    return [rows[~image_set.test[rows]], rows[image_set.test[rows]]]


def _edges(image_set: ImageSet, by: str, vectors: Features, rows: Ints) -> Ints:
    """(m, 2) pairs of `rows` that are similar."""
    if by == "same image":
        pairs = same_image(image_set.image_of[rows])
    elif by == "same group":
        pairs = same_group(image_set.groups[rows])
    elif by == "nearest" and len(rows) > 1:
        pairs = nearest(vectors[rows], min(NEAREST, len(rows) - 1))
    else:
        return np.empty((0, 2), np.int64)
    found: Ints = rows[pairs]
    return found
