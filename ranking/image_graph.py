"""The similarity graph of an image set: which samples lean on which, under a name that a run's settings can keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

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


def image_graph(
    image_set: ImageSet,
    by: str,
    parts: Sequence[tuple[str, Mapping[str, Any]]],
    features: Features,
    rows: Bools | None = None,
) -> SimilarityGraph:
    """The graph of the samples of `rows` (n,), all where it is None, numbered among themselves.

    by: one of GRAPHS; no edge joins a training sample to a test sample. parts: what `features` (n, d) are made of;
    the affinity compares those of the box, for what describes the whole image tells nothing within one (high-order,
    section 5), or all features where there are no others.
    """
    if by not in GRAPHS:
        raise ValueError(f"no similarity graph is called {by!r}; choose one of: {', '.join(GRAPHS)}")
    of_box = [columns for part, columns in feature_columns(parts, image_set) if not part.whole_image]
    chosen = np.concatenate(
        [np.arange(part.start, part.stop) for part in of_box] or [np.arange(features.shape[1])]
    )
    vectors = features[:, chosen]
    taken = np.arange(len(image_set)) if rows is None else np.flatnonzero(rows)
    edges = [_edges(image_set, by, vectors, part) for part in _by_split(image_set, taken)]
    number = np.full(len(image_set), -1)
    number[taken] = np.arange(len(taken))
    return similarity_graph(vectors[taken], number[np.concatenate(edges)])


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
