"""The similarity graph of an image set: which samples are neighbours.

The settings of a run store its name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ranking.core import Bools, Features, ImageSet, Ints, SimilarityGraph
from ranking.core.errors import InputError
from ranking.core.settings import GivenSettings
from ranking.features import feature_columns
from ranking.features.graph.similarity import nearest, same_group, same_image, similarity_graph
from ranking.features.graph.uploaded_pairs import is_edges_name, short_name

NEAREST = 5
# of affinities, which are all in memory
MAX_BYTES = 2_000_000_000


def _nearest(_: ImageSet, vectors: Features, rows: Ints) -> Ints:
    few = min(NEAREST, len(rows) - 1)
    return nearest(vectors[rows], few) if few > 0 else _no_pairs()


def _no_pairs() -> Ints:
    return np.empty((0, 2), np.int64)


class Graph(NamedTuple):
    """A way to make the edges of a similarity graph."""

    # a description
    words: str
    # maps an image set, vectors (n, d) of its samples and `rows` (r,) to the edges (m, 2), numbered within
    # the rows
    pairs: Callable[[ImageSet, Features, Ints], Ints]


GRAPHS = {
    "same image": Graph("samples of one image", lambda images, _, rows: same_image(images.image_of[rows])),
    "same group": Graph("samples of one group", lambda images, _, rows: same_group(images.groups[rows])),
    "nearest": Graph(f"each sample and the {NEAREST} most similar", _nearest),
    "none": Graph("none", lambda *_: _no_pairs()),
}
# of settings that were stored without the name of a graph
UNNAMED_GRAPH = "same image"


def default_graph(image_set: ImageSet) -> str:
    """Return the graph that is used unless another is chosen.

    It joins samples of the same image if at least half of the samples share their image with another sample, else each
    sample and the NEAREST most similar.
    """
    together = np.bincount(image_set.image_of)[image_set.image_of] > 1
    return "same image" if 2 * np.count_nonzero(together) >= len(image_set) else "nearest"


def has_edges(image_set: ImageSet, by: str, uploaded: Ints | None = None) -> bool:
    """Return whether a graph joins any training samples; needs no features. Arguments as for `image_graph`."""
    rows = np.flatnonzero(~image_set.test)
    if uploaded is not None:
        return len(within(uploaded, rows, len(image_set))) > 0
    check_graph_name(by)
    # training samples with equal values are joined
    values: dict[str, npt.NDArray[Any]] = {"same image": image_set.image_of, "same group": image_set.groups}
    joined = values.get(by, image_set.ids if by == "none" else image_set.test)[rows]
    return len(np.unique(joined)) < len(rows)


def no_edges(methods: Sequence[str]) -> str:
    """Say that a graph joins no training samples, what follows for methods that use it, and what to do."""
    what = f"The similarity graph joins no training samples: {' and '.join(methods)} cannot use neighbours."
    return f"{what} Choose the graph “nearest”: {GRAPHS['nearest'].words}."


def shares_of_same_label(image_set: ImageSet) -> tuple[float, float]:
    """Return the share of pairs of training samples with the same classes: among pairs of one image, among all pairs.

    Some training samples must share an image.
    """
    image_of, labels = image_set.image_of[~image_set.test, None], image_set.labels[~image_set.test]

    def pairs(rows: npt.NDArray[Any]) -> float:
        sizes = np.unique(rows, axis=0, return_counts=True)[1]
        return float(sizes @ (sizes - 1))

    return pairs(np.hstack([image_of, labels])) / pairs(image_of), pairs(labels) / pairs(0 * image_of)


def is_graph_name(by: str) -> bool:
    """Return whether settings may contain this name: one of GRAPHS or of `uploaded_pairs`."""
    return by in GRAPHS or is_edges_name(by)


def check_graph_name(by: str) -> None:
    """Raise ValueError unless settings may contain this name."""
    if not is_graph_name(by):
        remedy = "choose one of these, or upload a CSV of pairs"
        raise InputError("similarity graph", f"one of {', '.join(GRAPHS)}", f"{by!r:.80}", remedy)


def graph_words(by: str) -> str:
    """Return the name of a graph as shown on pages.

    >>> graph_words("same image"), graph_words("csv-0123456789abcdef0123456789abcdef")
    ('same image', 'CSV 01234567')
    """
    return short_name(by) if is_edges_name(by) else by


def image_graph(
    image_set: ImageSet,
    by: str,
    parts: Sequence[tuple[str, GivenSettings]],
    features: Features,
    rows: Bools | None = None,
    uploaded: Ints | None = None,
) -> SimilarityGraph:
    """Return the graph of the samples in `rows` (n,), None for all, numbered within the rows."""
    # by: one of GRAPHS, or the name of the pairs `uploaded` (m, 2) of samples of the set. Pairs of a training
    # sample and a test sample are dropped. parts: of `features` (n, d). The affinity compares features of the
    # box, because features of the whole image are equal within an image (high-order, section 5); it compares
    # all features if there are no others. ValueError if affinities would take more than MAX_BYTES.
    vectors = features[:, compared_columns(image_set, parts)]
    taken = np.arange(len(image_set)) if rows is None else np.flatnonzero(rows)
    edges = graph_edges(image_set, by, vectors, taken, uploaded)
    return similarity_graph(vectors[taken], edges)


def compared_columns(image_set: ImageSet, parts: Sequence[tuple[str, GivenSettings]]) -> Ints:
    """Return the columns of the features that the affinity compares; see `image_graph`."""
    columns = feature_columns(parts, image_set)
    of_box = [place for part, place in columns if not part.whole_image] or [place for _, place in columns]
    return np.concatenate([np.arange(place.start, place.stop) for place in of_box])


def graph_edges(
    image_set: ImageSet, by: str, vectors: Features, rows: Ints, uploaded: Ints | None = None
) -> Ints:
    """Return (m, 2) the ascending edges among `rows` (r,) of an image set, numbered within the rows."""
    # vectors: (n, d2) of all samples, the columns that the affinity compares. Other arguments as for
    # `image_graph`.
    check_graph_name(by)
    if is_edges_name(by) != (uploaded is not None):
        raise InputError("pairs", "pairs with the name of a CSV, and with no other name", f"the name {by!r}")
    edges = np.concatenate(
        [
            part[GRAPHS[by].pairs(image_set, vectors, part)]
            if uploaded is None
            else within(uploaded, part, len(image_set))
            for part in _by_split(image_set, rows)
        ]
    )
    _check_size(len(edges), vectors)
    number = np.full(len(image_set), -1)
    number[rows] = np.arange(len(rows))
    numbered: Ints = number[edges]
    return numbered


def within(edges: Ints, rows: Ints, n: int) -> Ints:
    """Return the pairs among (m, 2) pairs of n samples whose samples are both in `rows`.

    >>> within(np.array([[0, 1], [1, 2]]), np.array([1, 2]), 3)
    array([[1, 2]])
    """
    if len(edges) and edges.max() >= n:
        expected = f"samples 0 to {n - 1:,} of the image set"
        raise InputError("pairs", expected, f"sample number {edges.max():,}")
    among = np.zeros(n, bool)
    among[rows] = True
    inside: Ints = edges[among[edges].all(axis=1)]
    return inside


def _check_size(edges: int, vectors: Features) -> None:
    needed = edges * vectors.shape[1] * vectors.itemsize
    if needed > MAX_BYTES:
        raise InputError(
            "similarity graph",
            f"at most {MAX_BYTES / 1e9:g} GB",
            f"{edges:,} pairs with {vectors.shape[1]:,} affinities each, {needed / 1e9:.1f} GB",
            "choose features with fewer columns, or a graph with fewer pairs",
        )


def _by_split(image_set: ImageSet, rows: Ints) -> list[Ints]:
    return [rows[~image_set.test[rows]], rows[image_set.test[rows]]]
