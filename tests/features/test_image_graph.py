"""The similarity graph of an image set: which samples, numbered how, and compared by what."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from image_sets import image_set
from labelled_pictures import patches
from refusals import refusal, refused

from ranking.core import ImageSet
from ranking.features import feature_class, feature_names
from ranking.features.graph import image_graph as module
from ranking.features.graph.image_graph import (
    GRAPHS,
    NEAREST,
    default_graph,
    graph_edges,
    has_edges,
    image_graph,
    no_edges,
    shares_of_same_label,
)
from ranking.features.graph.uploaded_pairs import edges_name
from ranking.features.opened import OpenImageSet

# 8 columns
BOX = [("Colour", {"bins": 2})]
WHOLE = [
    (
        next(name for name in feature_names() if feature_class(name).whole_image and "olour" in name),
        {"bins": 2},
    )
]


def forty() -> ImageSet:
    """Six images, the last two for testing, 40 samples in no order, groups across images and the split."""
    rng = np.random.default_rng(0)
    return image_set(rng.integers(0, 6, 40), [False] * 4 + [True] * 2, groups=rng.integers(0, 5, 40))


def features(columns: int = 8, dtype: Any = np.float32) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(40, columns)).astype(dtype)


def pairs(edges: np.ndarray) -> set[tuple[int, int]]:
    return {(min(i, j), max(i, j)) for i, j in edges.tolist()}


def expected_pairs(images: ImageSet, by: str, vectors: np.ndarray, rows: list[int]) -> set[tuple[int, int]]:
    """From the definitions, pair by pair; rows of the set."""
    together = [(i, j) for i, j in itertools.combinations(rows, 2) if images.test[i] == images.test[j]]
    if by == "nearest":
        apart = {(i, j): np.linalg.norm(vectors[i].astype(float) - vectors[j]) for i, j in together}
        of = {i: sorted((pair for pair in together if i in pair), key=apart.__getitem__) for i in rows}
        return {pair for near in of.values() for pair in near[:NEAREST]}
    uploaded = set(map(tuple, UPLOADED.tolist()))
    columns = {"same image": images.image_of, "same group": images.groups, "none": np.arange(len(images))}
    joined = {pair for pair in together if by in columns and len(set(columns[by][list(pair)])) == 1}
    return joined if by in columns else uploaded & set(together)


UPLOADED = np.array([pair for pair in itertools.combinations(range(40), 2) if sum(pair) % 3 == 0])
SOME = np.random.default_rng(2).uniform(size=40) < 0.6


def test_edges_join_similar_samples_of_one_split_numbered_among_those_taken():
    """Also pairs that a person uploaded."""
    images, vectors = forty(), features()
    few = [np.isin(np.arange(40), rows) for rows in ([], [3], [3, 5])]
    for by, rows in itertools.product((*GRAPHS, edges_name(UPLOADED)), (None, ~images.test, SOME, *few)):
        uploaded = None if by in GRAPHS else UPLOADED
        graph = image_graph(images, by, BOX, vectors, rows, uploaded)
        taken = np.arange(40) if rows is None else np.flatnonzero(rows)
        expected = expected_pairs(images, by, vectors, taken.tolist())
        assert pairs(taken[graph.edges].reshape(-1, 2)) == expected, by
        assert len(graph.edges) == len(expected), by
        assert bool(expected) == (by != "none") or len(taken) <= 2
        assert graph.affinity.shape == (len(expected), 8)
        assert graph.affinity.dtype == np.float32
        ends = vectors[taken][graph.edges]
        np.testing.assert_allclose(graph.affinity, np.exp(-((ends[:, 0] - ends[:, 1]) ** 2)), rtol=1e-5)


def test_default_graph_joins_samples_of_one_image_where_at_least_half_share_theirs():
    for image_of, expected in (
        ([0, 0, 1, 1], "same image"),
        ([0, 0, 1, 2], "same image"),
        ([0, 0, 1, 2, 3], "nearest"),
        ([0, 1, 2], "nearest"),
        ([0], "nearest"),
    ):
        assert default_graph(image_set(image_of, [False] * (max(image_of) + 1))) == expected, image_of


def test_a_query_in_python_has_the_default_graph_unless_another_is_named(tmp_path):
    images = patches(tmp_path / "set", 18)
    opened = OpenImageSet(images, tmp_path)
    edges = {graph: opened.query("day", features=("Colour",), graph=graph).graph.edges for graph in GRAPHS}
    default = opened.query("day", features=("Colour",)).graph.edges
    np.testing.assert_array_equal(default, edges[default_graph(images)])
    assert [graph for graph in GRAPHS if len(edges[graph])] == ["nearest"]


def test_a_graph_has_edges_if_training_has_them():
    sets = [forty()]
    sets += [
        image_set(range(4), test, groups=np.array(groups))
        for test in ([False] * 4, [False] * 3 + [True], [False] + [True] * 3)
        for groups in ([0, 1, 2, 3], [0, 1, 2, 2])
    ]
    counted = set()
    for images in sets:
        rows, vectors = np.flatnonzero(~images.test), np.random.default_rng(0).normal(size=(len(images), 3))
        for by in (*GRAPHS, edges_name(UPLOADED)):
            uploaded = None if by in GRAPHS else UPLOADED[(len(images) > UPLOADED).all(axis=1)]
            expected = len(graph_edges(images, by, vectors, rows, uploaded)) > 0
            assert has_edges(images, by, uploaded) == expected, (by, images.image_test)
            counted.add((by, expected))
    assert len(counted) == 2 * len(GRAPHS) + 1, (
        "each graph, and uploaded pairs, with and without, but for none"
    )


def test_the_message_about_a_graph_without_edges_names_the_methods_and_a_graph_that_has_some():
    text = no_edges(["HOB-SVM", "HOAP-SVM"])
    assert "HOB-SVM and HOAP-SVM" in text
    assert [name for name in GRAPHS if f"“{name}”" in text] == ["nearest"]


def test_shares_of_pairs_with_the_same_label_are_those_of_training_pairs():
    rng = np.random.default_rng(0)
    images = forty()
    labels = rng.random((40, 2)) < 0.4
    images = image_set(images.image_of, images.image_test, labels=labels, classes=("a", "b"))
    training = list(itertools.combinations(np.flatnonzero(~images.test), 2))
    alike = [bool((labels[i] == labels[j]).all()) for i, j in training]
    inside = [images.image_of[i] == images.image_of[j] for i, j in training]
    expected = np.mean([same for same, near in zip(alike, inside, strict=True) if near]), np.mean(alike)
    np.testing.assert_allclose(shares_of_same_label(images), expected)
    assert 0 < expected[0] != expected[1] > 0


def test_whole_image_features_are_compared_only_without_crop_features():
    for parts, columns in (
        (BOX, range(8)),
        (WHOLE, range(8)),
        (BOX + WHOLE, range(8)),
        (WHOLE + BOX, range(8, 16)),
        (WHOLE + BOX + WHOLE + BOX, [*range(8, 16), *range(24, 32)]),
    ):
        images, vectors = forty(), features(8 * len(parts), np.float64)
        chosen = vectors[:, list(columns)]
        for by in ("same image", "nearest"):
            graph = image_graph(images, by, parts, vectors)
            ends = chosen[graph.edges]
            np.testing.assert_allclose(graph.affinity, np.exp(-((ends[:, 0] - ends[:, 1]) ** 2)), rtol=1e-12)
            assert pairs(graph.edges) == expected_pairs(images, by, chosen, list(range(40))), (by, parts)


def test_unknown_names_and_pairs_that_do_not_fit_are_refused():
    images, name = forty(), edges_name(UPLOADED)
    for by, uploaded, expected in (
        ("friends", None, ("similarity graph", "'friends'")),
        (name, None, ("pairs", f"the name {name!r}")),
        ("same image", UPLOADED, ("pairs", "the name 'same image'")),
        (name, np.array([[0, 40]]), ("pairs", "sample number 40")),
    ):
        assert refusal(image_graph, images, by, BOX, features(), uploaded=uploaded) == expected


def test_affinities_beyond_the_memory_are_refused_before_they_are_made(
    monkeypatch,
):
    images, vectors = forty(), features()
    edges = len(image_graph(images, "same image", BOX, vectors).edges)
    monkeypatch.setattr(module, "MAX_BYTES", edges * 8 * 4)
    assert len(image_graph(images, "same image", BOX, vectors).edges) == edges
    monkeypatch.setattr(module, "MAX_BYTES", edges * 8 * 4 - 1)
    with refused("similarity graph") as caught:
        image_graph(images, "same image", BOX, vectors)
    assert f"{edges} pairs" in caught.value.came
