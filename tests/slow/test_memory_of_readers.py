"""Memory that readers and affinities take beside what they return."""

from __future__ import annotations

import io
import itertools
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from ranking.features.graph import similarity
from ranking.features.graph.similarity import affinity
from ranking.features.graph.uploaded_pairs import edges_from_csv
from ranking.formats.svmlight import read_graded


def peak_of(work: Callable[[], Any]) -> tuple[Any, int]:
    tracemalloc.start()
    result = work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return result, peak


def test_millions_of_features_take_little_memory():
    line = " ".join(f"{place}:{place}e-3" for place in range(1000, 3000))
    data = "\n".join(f"1 qid:{row} {line}" for row in range(100)).encode()
    graded, peak = peak_of(lambda: read_graded(io.BytesIO(data), "x"))
    assert graded.features.shape == (100, 3000)
    # the rows, and the matrix that is made of them
    assert peak - len(data) < 2 * graded.features.nbytes + 2**20


def test_memory_beside_the_affinity_is_bounded():
    features = np.random.default_rng(0).standard_normal((2000, 200)).astype(np.float32)
    edges = np.stack([np.arange(200_000) % 2000, (np.arange(200_000) * 7 + 1) % 2000], axis=1)
    result, peak = peak_of(lambda: affinity(features, edges))
    assert result.nbytes == 160_000_000
    assert peak < result.nbytes + 4 * 4 * similarity.BLOCK


def test_memory_beside_a_csv_is_bounded():
    ids = [f"scene {number}#0" for number in range(1000)]
    pairs = itertools.islice(itertools.combinations(ids, 2), 50_000)
    stream = io.BytesIO(("i,j\n" + "".join(f"{i},{j}\n" for i, j in pairs)).encode())
    result, peak = peak_of(lambda: edges_from_csv(stream, ids))
    assert len(result) == 50_000
    assert peak < 100 * 50_000, "bytes per pair"
