"""The similarity graph of an image set: which samples, numbered how, and compared by what."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import refusal, refused

from ranking import image_graph as module
from ranking.edge_files import edges_name
from ranking.features import feature_class, feature_names
from ranking.image_graph import GRAPHS, NEAREST, image_graph
from ranking.types import ImageSet

BOX = [("Colour", {"bins": 2})]  # 8 columns
WHOLE = [
    (
        next(name for name in feature_names() if feature_class(name).whole_image and "olour" in name),
        {"bins": 2},
    )
]


def image_set() -> ImageSet:
    """Six images of which the last two are for testing, 40 samples in no order, groups across images and the split."""
    rng = np.random.default_rng(0)
    image_of = rng.integers(0, 6, 40).astype(np.int32)
    return ImageSet(
        key="set",
        title="set",
        folder=Path(),
        classes=("a",),
        image_names=np.array([f"image {i}" for i in range(6)]),
        image_files=np.array([f"{i}.webp" for i in range(6)]),
        image_sizes=np.full((6, 2), 9, np.int32),
        image_test=np.array([False] * 4 + [True] * 2),
        boxes=np.zeros((40, 4), np.int32),
        image_of=image_of,
        groups=rng.integers(0, 5, 40).astype(np.int32),
        labels=np.ones((40, 1), bool),
        ids=np.array([str(i) for i in range(40)]),
    )


def features(columns: int = 8, dtype: Any = np.float32) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(40, columns)).astype(dtype)


def pairs(edges: np.ndarray) -> set[tuple[int, int]]:
    return {(min(i, j), max(i, j)) for i, j in edges.tolist()}


def expected_pairs(found: ImageSet, by: str, vectors: np.ndarray, rows: list[int]) -> set[tuple[int, int]]:
    """From the definitions, pair by pair; rows of the set."""
    together = [(i, j) for i, j in itertools.combinations(rows, 2) if found.test[i] == found.test[j]]
    if by == "same image":
        return {(i, j) for i, j in together if found.image_of[i] == found.image_of[j]}
    if by == "same group":
        return {(i, j) for i, j in together if found.groups[i] == found.groups[j]}
    if by == "none":
        return set()
    if by not in GRAPHS:
        return set(together) & set(map(tuple, UPLOADED.tolist()))
    near = set()
    for i in rows:
        others = [j for j in rows if j != i and found.test[i] == found.test[j]]
        others.sort(key=lambda j: float(((vectors[i].astype(float) - vectors[j]) ** 2).sum()))
        near |= {(min(i, j), max(i, j)) for j in others[:NEAREST]}
    return near


UPLOADED = np.array([pair for pair in itertools.combinations(range(40), 2) if sum(pair) % 3 == 0])
SOME = np.random.default_rng(2).uniform(size=40) < 0.6


def test_edges_join_similar_samples_of_one_split_numbered_among_those_taken() -> None:
    """Also pairs that a person uploaded."""
    found, vectors = image_set(), features()
    for by, rows in itertools.product((*GRAPHS, edges_name(UPLOADED)), (None, ~found.test, SOME)):
        uploaded = None if by in GRAPHS else UPLOADED
        graph = image_graph(found, by, BOX, vectors, rows, uploaded)
        taken = np.arange(40) if rows is None else np.flatnonzero(rows)
        expected = expected_pairs(found, by, vectors, taken.tolist())
        assert pairs(taken[graph.edges].reshape(-1, 2)) == expected, by
        assert len(graph.edges) == len(expected), by
        assert bool(expected) == (by != "none")
        assert uploaded is None or len(expected) < len(UPLOADED), "some join the splits"
        assert graph.affinity.shape == (len(expected), 8)
        assert graph.affinity.dtype == np.float32
        ends = vectors[taken][graph.edges]
        np.testing.assert_allclose(graph.affinity, np.exp(-((ends[:, 0] - ends[:, 1]) ** 2)), rtol=1e-5)


def test_what_describes_the_whole_image_is_compared_only_where_there_is_nothing_else() -> None:
    for parts, columns in (
        (BOX, range(8)),
        (WHOLE, range(8)),
        (BOX + WHOLE, range(8)),
        (WHOLE + BOX, range(8, 16)),
        (
            WHOLE + BOX + WHOLE + [("Colour", {"bins": 2, "space": "RGB"})],
            [*range(8, 16), *range(24, 32)],
        ),
    ):
        found, vectors = image_set(), features(8 * len(parts), np.float64)
        chosen = vectors[:, list(columns)]
        for by in ("same image", "nearest"):
            graph = image_graph(found, by, parts, vectors)
            ends = chosen[graph.edges]
            np.testing.assert_allclose(graph.affinity, np.exp(-((ends[:, 0] - ends[:, 1]) ** 2)), rtol=1e-12)
            assert pairs(graph.edges) == expected_pairs(found, by, chosen, list(range(40))), (by, parts)


def test_few_samples_have_few_neighbours() -> None:
    found = image_set()
    for by, rows in itertools.product(GRAPHS, ([], [3], [3, 5])):
        chosen = np.isin(np.arange(40), rows)
        graph = image_graph(found, by, BOX, features(), chosen)
        edges = expected_pairs(found, by, features(), rows)
        assert len(graph.edges) == len(edges), (by, rows)
        assert graph.affinity.shape[1] == 8


def test_unknown_names_and_pairs_that_do_not_fit_are_refused() -> None:
    found, name = image_set(), edges_name(UPLOADED)
    with refused("similarity graph", "'friends'") as caught:
        image_graph(found, "friends", BOX, features())
    assert all(known in caught.value.expected for known in GRAPHS)
    for by, uploaded in ((name, None), ("same image", UPLOADED)):
        assert refusal(image_graph, found, by, BOX, features(), brought=uploaded) == (
            "pairs",
            f"the name {by!r}",
        )
    with refused("pairs", "sample number 40"):
        image_graph(found, name, BOX, features(), brought=np.array([[0, 40]]))


def test_affinities_beyond_the_memory_are_refused_before_they_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found, vectors = image_set(), features()
    edges = len(image_graph(found, "same image", BOX, vectors).edges)
    monkeypatch.setattr(module, "MOST_BYTES", edges * 8 * 4)
    assert len(image_graph(found, "same image", BOX, vectors).edges) == edges
    monkeypatch.setattr(module, "MOST_BYTES", edges * 8 * 4 - 1)
    with refused("similarity graph") as caught:
        image_graph(found, "same image", BOX, vectors)
    assert f"{edges} pairs" in caught.value.came
