"""The similarity graph: which pairs of samples are neighbours, and how similar they are.

Edges are (m, 2) int64, each unordered pair once, the lower sample first and in ascending order.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ranking.core import Bools, Features, Floats, Ints, SimilarityGraph, blocks_of_rows, is_real
from ranking.core.errors import InputError

# numbers that are processed at a time
BLOCK = 1 << 21
# samples, at equal intervals, over which a mean precision is computed
MEASURED = 300

Edges = npt.NDArray[np.int64]


def same_image(image_of: npt.ArrayLike) -> Edges:
    """Return all pairs of samples of one image (high-order, section 5).

    >>> same_image([7, 8, 7, 7])
    array([[0, 2],
           [0, 3],
           [2, 3]])
    """
    # image_of: (n,) the image of each sample.
    return same_group(image_of)


def same_group(groups: npt.ArrayLike) -> Edges:
    """Return all pairs of samples of one group."""
    # groups: (n,) numbers or names, without NaN.
    given = np.asarray(groups)
    if given.ndim != 1:
        raise InputError("groups", "(n,), one per sample", f"shape {given.shape}")
    if given.dtype.kind == "f" and np.isnan(given).any():
        raise InputError("groups", "no NaN", f"NaN for sample {np.isnan(given).argmax()}", "give it a group")
    numbers = np.unique(given, return_inverse=True)[1]
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(np.bincount(numbers))[numbers[order]] if len(order) else order
    # samples of the group that come after
    later = ends - np.arange(len(order)) - 1
    first = np.repeat(np.arange(len(order)), later)
    second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(later) - later, later)
    return _ascending(order[np.stack([first, second], axis=1)])


def nearest(features: npt.ArrayLike, k: int) -> Edges:
    """Return the pairs of each sample and its `k` nearest samples by Euclidean distance, each pair once.

    >>> nearest([[0.0], [1.0], [5.0]], 1)
    array([[0, 1],
           [1, 2]])
    """
    # features: (n, d) finite. k: 1 to n - 1. Distances are compared in float64 as |x|^2 + |y|^2 - 2 x.y; of
    # equally near samples the one that comes first is nearer (scikit-learn's NearestNeighbors takes any).
    # Memory: a few blocks of BLOCK numbers beside the features.
    vectors = _checked_features(features)
    n = len(vectors)
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k < n:
        raise InputError("k", f"a whole number from 1 to {n - 1}, the number of other samples", k)
    norms, pairs = np.empty(n), []
    for part in blocks_of_rows(vectors.shape, BLOCK):
        block = np.asarray(vectors[part], np.float64)
        norms[part] = np.einsum("ij,ij->i", block, block)
    for chosen in blocks_of_rows((n, n), BLOCK):
        rows, own = np.arange(n)[chosen], vectors[chosen].astype(np.float64)
        distances = np.empty((len(rows), n))
        for part in blocks_of_rows(vectors.shape, BLOCK):
            distances[:, part] = own @ np.asarray(vectors[part], np.float64).T
        distances *= -2.0
        distances += norms
        distances[np.arange(len(rows)), rows] = np.inf
        near = _smallest(distances, int(k))
        pairs.append(np.stack([np.repeat(rows, k), np.nonzero(near)[1]], axis=1))
    return np.unique(_ascending(np.concatenate(pairs)), axis=0)


def nearest_samples(features: npt.ArrayLike, sample: int, k: int) -> Ints:
    """Return the at most k other samples that are nearest to a sample by Euclidean distance, nearest first.

    >>> nearest_samples([[0.0], [1.0], [5.0], [1.0]], 0, 2)
    array([1, 3])
    """
    # features: (n, d) finite. Distances are sums of squared differences in float64; of equally near samples the one
    # that comes first is nearer. Memory: a few blocks of BLOCK numbers.
    vectors = _checked_features(features)
    own, blocks = vectors[sample].astype(np.float64), blocks_of_rows(vectors.shape, BLOCK)
    distances = np.concatenate([((vectors[part] - own) ** 2).sum(axis=1) for part in blocks])
    distances[sample] = np.inf
    return np.argsort(distances, kind="stable")[:-1][:k]


def mean_precision(vectors: Features, labels: Bools, k: int) -> float:
    """Return the mean precision at k of the samples with a class, of MEASURED of them if there are more.

    The precision at k of a sample for a class is the share of its k nearest samples that have the class. It is averaged
    over the classes of each sample, then over the samples.
    """
    # vectors: (n, d) finite. labels: (n, c), some of them True. k: 1 to n - 1. Distances are computed in the
    # precision of the vectors, so that samples that are nearly equally near may change places.
    rows = np.flatnonzero(labels.any(axis=1))
    rows = rows[np.linspace(0, len(rows) - 1, min(MEASURED, len(rows))).astype(np.int64)]
    distances = np.einsum("ij,ij->i", vectors, vectors) - 2 * vectors[rows] @ vectors.T
    distances[np.arange(len(rows)), rows] = np.inf
    near = np.argpartition(distances, k - 1, axis=1)[:, :k]
    hits = labels[near].mean(axis=1) * labels[rows]
    return float((hits.sum(axis=1) / labels[rows].sum(axis=1)).mean())


def _smallest(distances: Floats, k: int) -> npt.NDArray[np.bool_]:
    """Return a mask of the k smallest entries in each row, of equal entries the first."""
    limit = np.partition(distances, k - 1, axis=1)[:, k - 1 : k]
    below, at = distances < limit, distances == limit
    missing = k - below.sum(axis=1, keepdims=True)
    chosen: npt.NDArray[np.bool_] = below | (at & (np.cumsum(at, axis=1) <= missing))
    return chosen


def affinity(features: npt.ArrayLike, edges: npt.ArrayLike) -> Features:
    """Return Phi(z_i, z_j) = exp(-(z_i - z_j)^2), element by element (high-order, eq. 5, without eta).

    >>> affinity([[0.0, 1.0], [0.0, 1.0]], [[0, 1]])
    array([[1., 1.]])
    """
    # features: (n, d2) finite, float32 or float64 (all else becomes float64). edges: (m, 2). Returns (m, d2)
    # in [0, 1] of the same precision, in which it is computed, with little memory beside it.
    vectors = _checked_features(features)
    pairs = np.asarray(edges)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
        raise InputError("edges", "(m, 2) integers", f"{pairs.dtype} of shape {pairs.shape}")
    if len(pairs) and not 0 <= pairs.min() <= pairs.max() < len(vectors):
        raise InputError("edges", f"samples 0 to {len(vectors) - 1}", f"{pairs.min()} to {pairs.max()}")
    affinities = np.empty((len(pairs), vectors.shape[1]), vectors.dtype)
    # far apart is 0
    with np.errstate(over="ignore", under="ignore"):
        for rows in blocks_of_rows(affinities.shape, BLOCK):
            block = affinities[rows]
            np.subtract(vectors[pairs[rows, 0]], vectors[pairs[rows, 1]], out=block)
            np.multiply(block, block, out=block)
            np.negative(block, out=block)
            np.exp(block, out=block)
    return affinities


def similarity_graph(features: npt.ArrayLike, edges: npt.ArrayLike) -> SimilarityGraph:
    """Return the graph of `edges` with the affinity of `features` (n, d2).

    >>> similarity_graph([[0.0], [0.0], [9.0]], same_image([1, 1, 2])).affinity
    array([[1.]])
    """
    return SimilarityGraph(np.asarray(edges), affinity(features, edges))


def _checked_features(features: npt.ArrayLike) -> Features:
    vectors = np.asarray(features)
    if vectors.ndim != 2:
        raise InputError("features", "(n, d)", f"shape {vectors.shape}")
    if not is_real(vectors):
        raise InputError("features", "real numbers", str(vectors.dtype))
    if vectors.dtype not in (np.float32, np.float64):
        vectors = vectors.astype(np.float64)
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        count, first = np.count_nonzero(~finite), int(np.argmin(finite))
        raise InputError(
            "features", "finite numbers", f"NaN or infinity in {count} rows, the first row {first}"
        )
    return vectors


def _ascending(pairs: Ints) -> Edges:
    """Return the pairs in ascending order, each with the lower sample first."""
    sorted_pairs = np.sort(pairs, axis=1).astype(np.int64)
    return sorted_pairs[np.lexsort((sorted_pairs[:, 1], sorted_pairs[:, 0]))]
