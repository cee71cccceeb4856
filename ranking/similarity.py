"""The similarity graph: which pairs of samples tend to share their label, and how alike they are.

Edges are (m, 2) int64, each unordered pair once, the lower sample first and in ascending order.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ranking.types import Features, Floats, Ints, SimilarityGraph, is_real

BLOCK = 1 << 21  # numbers that are worked on at once

Edges = npt.NDArray[np.int64]


def same_image(image_of: npt.ArrayLike) -> Edges:
    """All pairs of samples of one image (high-order, section 5). image_of: (n,) the image of each sample.

    >>> same_image([7, 8, 7, 7])
    array([[0, 2],
           [0, 3],
           [2, 3]])
    """
    return same_group(image_of)


def same_group(groups: npt.ArrayLike) -> Edges:
    """All pairs of samples of one group. groups: (n,) numbers or names; none is NaN, which equals nothing."""
    given = np.asarray(groups)
    if given.ndim != 1:
        raise ValueError(f"groups must be (n,), one a sample, got shape {given.shape}")
    if given.dtype.kind == "f" and np.isnan(given).any():
        raise ValueError(f"groups must not be NaN, sample {np.isnan(given).argmax()} is; give it a group")
    numbers = np.unique(given, return_inverse=True)[1]
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(np.bincount(numbers))[numbers[order]] if len(order) else order
    later = ends - np.arange(len(order)) - 1  # samples of the group that come after
    first = np.repeat(np.arange(len(order)), later)
    second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(later) - later, later)
    return _ascending(order[np.stack([first, second], axis=1)])


def nearest(features: npt.ArrayLike, k: int) -> Edges:
    """Each sample and its `k` nearest others by Euclidean distance; a pair that is near either way counts once.

    features: (n, d) finite. k: 1 to n - 1. Distances are compared in float64 as |x|^2 + |y|^2 - 2 x.y; of equally
    near samples the one that comes first is nearer. Memory: a few blocks of BLOCK numbers beside the features.

    >>> nearest([[0.0], [1.0], [5.0]], 1)
    array([[0, 1],
           [1, 2]])
    """
    vectors = _checked_features(features)
    n = len(vectors)
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k < n:
        raise ValueError(f"k must be a whole number from 1 to {n - 1}, the number of other samples, got {k}")
    norms = np.concatenate([np.einsum("ij,ij->i", block, block) for _, block in _blocks(vectors)])
    at_once, found = max(1, BLOCK // n), []
    for start in range(0, n, at_once):
        rows = np.arange(start, min(start + at_once, n))
        own, distances = vectors[rows].astype(np.float64), np.empty((len(rows), n))
        for others, block in _blocks(vectors):
            distances[:, others] = own @ block.T
        distances *= -2.0
        distances += norms
        distances[np.arange(len(rows)), rows] = np.inf
        near = _smallest(distances, int(k))
        found.append(np.stack([np.repeat(rows, k), np.nonzero(near)[1]], axis=1))
    return np.unique(_ascending(np.concatenate(found)), axis=0)


def _blocks(vectors: Features) -> Iterator[tuple[slice, Floats]]:
    """The rows in float64, some at a time."""
    size = max(1, BLOCK // max(1, vectors.shape[1]))
    for start in range(0, len(vectors), size):
        rows = slice(start, min(start + size, len(vectors)))
        yield rows, vectors[rows].astype(np.float64, copy=False)


def _smallest(distances: Floats, k: int) -> npt.NDArray[np.bool_]:
    """Where the k smallest of each row stand, of equal ones the first."""
    limit = np.partition(distances, k - 1, axis=1)[:, k - 1 : k]
    below, at = distances < limit, distances == limit
    missing = k - below.sum(axis=1, keepdims=True)
    chosen: npt.NDArray[np.bool_] = below | (at & (np.cumsum(at, axis=1) <= missing))
    return chosen


def edges_from_csv(source: str | Path, ids: Sequence[object] | npt.NDArray[np.generic]) -> Edges:
    """The pairs that a CSV lists in its columns i and j, by the ids of the samples; other columns are left alone.

    source: the text, or the Path of a UTF-8 file. ids: (n,) different names of the samples. ValueError, with the
    number of the line, where a line is not a pair of two different samples or the pair came before.

    >>> edges_from_csv("i,j\\nb,a\\n", ids=["a", "b", "c"])
    array([[0, 1]])
    """
    number_of = {str(name): number for number, name in enumerate(ids)}
    if len(number_of) != len(ids):
        raise ValueError(f"ids must be different, got {len(ids)} with {len(number_of)} different ones")
    lines = csv.DictReader(io.StringIO(_text_of(source)), skipinitialspace=True, strict=True)
    pairs: dict[tuple[int, int], int] = {}  # and the line that each came from
    try:
        if not {"i", "j"} <= set(lines.fieldnames or ()):
            names = ", ".join(lines.fieldnames or ()) or "nothing"
            raise ValueError(f"line 1: expected the column names i and j, got {names}; add the line i,j")
        for line in lines:
            pair = _pair_of(line, lines.line_num, number_of)
            if pair in pairs:
                raise ValueError(
                    f"line {lines.line_num}: expected each pair once, {line['i']} and {line['j']} came in line "
                    f"{pairs[pair]}; remove one of the two lines"
                )
            pairs[pair] = lines.line_num
    except csv.Error as error:
        raise ValueError(
            f"line {lines.reader.line_num}: expected comma-separated values, got {error}; save the table as CSV again"
        ) from error
    return _ascending(np.array(list(pairs), np.int64).reshape(-1, 2))


def _text_of(source: str | Path) -> str:
    if isinstance(source, str):
        return source.removeprefix("\ufeff")
    try:
        return source.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{source.name}: expected UTF-8, got {error}; save the table as UTF-8") from error


def _pair_of(line: dict[str, str], number: int, number_of: dict[str, int]) -> tuple[int, int]:
    """The two samples that a line names, the lower first."""
    for column in ("i", "j"):
        if line[column] not in number_of:
            came = "nothing" if not line[column] else repr(line[column])
            some = ", ".join(list(number_of)[:3])
            raise ValueError(
                f"line {number}: expected the id of a sample in column {column} (such as {some}), got {came}; "
                "correct the id or remove the line"
            )
    i, j = number_of[line["i"]], number_of[line["j"]]
    if i == j:
        raise ValueError(
            f"line {number}: expected two different samples, got {line['i']} twice; remove the line"
        )
    return min(i, j), max(i, j)


def affinity(features: npt.ArrayLike, edges: npt.ArrayLike) -> Features:
    """Phi(z_i, z_j) = exp(-(z_i - z_j)^2), element by element (high-order, eq. 5, without eta).

    features: (n, d2) finite, float32 or float64 (all else becomes float64). edges: (m, 2). Returns (m, d2) in [0, 1]
    of the same precision, in which it is computed, with little memory beside it.

    >>> affinity([[0.0, 1.0], [0.0, 1.0]], [[0, 1]])
    array([[1., 1.]])
    """
    vectors = _checked_features(features)
    pairs = np.asarray(edges)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
        raise ValueError(f"edges must be (m, 2) integers, got {pairs.dtype} of shape {pairs.shape}")
    if len(pairs) and not 0 <= pairs.min() <= pairs.max() < len(vectors):
        raise ValueError(
            f"edges must name samples 0 to {len(vectors) - 1}, got {pairs.min()} to {pairs.max()}"
        )
    found = np.empty((len(pairs), vectors.shape[1]), vectors.dtype)
    size = max(1, BLOCK // max(1, vectors.shape[1]))
    with np.errstate(over="ignore", under="ignore"):  # far apart is 0
        for start in range(0, len(pairs), size):
            block, rows = found[start : start + size], pairs[start : start + size]
            np.subtract(vectors[rows[:, 0]], vectors[rows[:, 1]], out=block)
            np.multiply(block, block, out=block)
            np.negative(block, out=block)
            np.exp(block, out=block)
    return found


def similarity_graph(features: npt.ArrayLike, edges: npt.ArrayLike) -> SimilarityGraph:
    """The graph of `edges` with the affinity of `features` (n, d2).

    >>> similarity_graph([[0.0], [0.0], [9.0]], same_image([1, 1, 2])).affinity
    array([[1.]])
    """
    return SimilarityGraph(np.asarray(edges), affinity(features, edges))


def _checked_features(features: npt.ArrayLike) -> Features:
    vectors = np.asarray(features)
    if vectors.ndim != 2:
        raise ValueError(f"features must be (n, d), got shape {vectors.shape}")
    if not is_real(vectors):
        raise ValueError(f"features must be real numbers, got {vectors.dtype}")
    if vectors.dtype not in (np.float32, np.float64):
        vectors = vectors.astype(np.float64)
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        raise ValueError(
            f"features must be finite; NaN or infinity in {np.count_nonzero(~finite)} rows, "
            f"first {int(np.argmin(finite))}"
        )
    return vectors


def _ascending(pairs: Ints) -> Edges:
    """Each pair with the lower sample first, and the pairs in ascending order."""
    sorted_pairs = np.sort(pairs, axis=1).astype(np.int64)
    return sorted_pairs[np.lexsort((sorted_pairs[:, 1], sorted_pairs[:, 0]))]
