"""The similarity graph of an image set: which samples, numbered how, and compared by what."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

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
    near = set()
    for i in rows:
        others = [j for j in rows if j != i and found.test[i] == found.test[j]]
        others.sort(key=lambda j: float(((vectors[i].astype(float) - vectors[j]) ** 2).sum()))
        near |= {(min(i, j), max(i, j)) for j in others[:NEAREST]}
    return near


@pytest.mark.parametrize("by", GRAPHS)
@pytest.mark.parametrize("which", ["all", "train", "some"])
def test_edges_join_similar_samples_of_one_side_numbered_among_those_taken(by: str, which: str) -> None:
    found, vectors = image_set(), features()
    rows = {"all": None, "train": ~found.test, "some": np.random.default_rng(2).uniform(size=40) < 0.6}[which]
    graph = image_graph(found, by, BOX, vectors, rows)
    taken = np.arange(40) if rows is None else np.flatnonzero(rows)
    expected = expected_pairs(found, by, vectors, taken.tolist())
    assert pairs(taken[graph.edges].reshape(-1, 2)) == expected
    assert len(graph.edges) == len(expected)
    assert bool(expected) == (by != "none")
    assert (found.test[taken[graph.edges[:, 0]]] == found.test[taken[graph.edges[:, 1]]]).all()
    assert graph.affinity.shape == (len(expected), 8)
    assert graph.affinity.dtype == np.float32
    ends = vectors[taken][graph.edges]
    np.testing.assert_allclose(graph.affinity, np.exp(-((ends[:, 0] - ends[:, 1]) ** 2)), rtol=1e-5)


@pytest.mark.parametrize(
    ("parts", "columns"),
    [
        (BOX, range(8)),
        (WHOLE, range(8)),
        (BOX + WHOLE, range(8)),
        (WHOLE + BOX, range(8, 16)),
        (WHOLE + BOX + WHOLE + [("Colour", {"bins": 2, "space": "RGB"})], [*range(8, 16), *range(24, 32)]),
    ],
)
@pytest.mark.parametrize("by", ["same image", "nearest"])
def test_what_describes_the_whole_image_is_compared_only_where_there_is_nothing_else(
    by: str, parts: list, columns: list[int]
) -> None:
    found, vectors = image_set(), features(8 * len(parts), np.float64)
    graph = image_graph(found, by, parts, vectors)
    chosen = vectors[:, list(columns)]
    ends = chosen[graph.edges]
    np.testing.assert_allclose(graph.affinity, np.exp(-((ends[:, 0] - ends[:, 1]) ** 2)), rtol=1e-12)
    assert pairs(graph.edges) == expected_pairs(found, by, chosen, list(range(40)))


@pytest.mark.parametrize("by", GRAPHS)
@pytest.mark.parametrize("rows", [[], [3], [3, 5]])
def test_few_samples_have_few_neighbours(by: str, rows: list[int]) -> None:
    found, chosen = image_set(), np.zeros(40, bool)
    chosen[rows] = True
    graph = image_graph(found, by, BOX, features(), chosen)
    near = by == "nearest" and len(rows) == 2 and found.test[3] == found.test[5]
    expected = near or pairs(graph.edges) == {(0, 1)}
    assert len(graph.edges) == int(expected)
    assert graph.affinity.shape[1] == 8


def test_an_unknown_name_lists_the_known() -> None:
    with pytest.raises(
        ValueError,
        match=r"same image, same group, nearest.*'friends'|'friends'.*same image, same group, nearest",
    ):
        image_graph(image_set(), "friends", BOX, features())


# ---------------------------------------------------------------------------------------------------------
# Pairs that a person brought
# ---------------------------------------------------------------------------------------------------------

BROUGHT = np.array([pair for pair in itertools.combinations(range(40), 2) if sum(pair) % 3 == 0])


@pytest.mark.parametrize("which", ["all", "train", "some"])
def test_pairs_that_were_brought_stay_within_a_split(which: str) -> None:
    found, vectors = image_set(), features()
    rows = {"all": None, "train": ~found.test, "some": np.random.default_rng(2).uniform(size=40) < 0.6}[which]
    graph = image_graph(found, edges_name(BROUGHT), BOX, vectors, rows, BROUGHT)
    taken = np.arange(40) if rows is None else np.flatnonzero(rows)
    expected = {
        (i, j)
        for i, j in BROUGHT.tolist()
        if {i, j} <= set(taken.tolist()) and found.test[i] == found.test[j]
    }
    assert 0 < len(expected) < len(BROUGHT)
    assert pairs(taken[graph.edges]) == expected
    assert len(graph.edges) == len(expected)
    ends = vectors[taken][graph.edges]
    np.testing.assert_allclose(graph.affinity, np.exp(-((ends[:, 0] - ends[:, 1]) ** 2)), rtol=1e-5)


def test_a_name_without_its_pairs_and_pairs_of_another_set_are_refused() -> None:
    found, name = image_set(), edges_name(BROUGHT)
    for by, brought in ((name, None), ("same image", BROUGHT)):
        with pytest.raises(ValueError, match=f"with the name of a CSV and with no other, the name is '{by}'"):
            image_graph(found, by, BOX, features(), brought=brought)
    with pytest.raises(ValueError, match="of the 40 samples of the image set, got sample number 40"):
        image_graph(found, name, BOX, features(), brought=np.array([[0, 40]]))


def test_affinities_beyond_the_memory_are_refused_before_they_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found, vectors = image_set(), features()
    edges = len(image_graph(found, "same image", BOX, vectors).edges)
    monkeypatch.setattr(module, "MOST_BYTES", edges * 8 * 4)
    assert len(image_graph(found, "same image", BOX, vectors).edges) == edges
    monkeypatch.setattr(module, "MOST_BYTES", edges * 8 * 4 - 1)
    with pytest.raises(
        ValueError, match=rf"{edges} pairs with 8 affinities each would take .*; choose features"
    ):
        image_graph(found, "same image", BOX, vectors)
