"""The nouns check what they hold, once, where it enters."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from ranking.types import (
    Certificate,
    ImageSet,
    LabelSet,
    ProgressEvent,
    Query,
    SimilarityGraph,
    check_relevance,
    relative_gap,
)

FEATURES = np.eye(3)


# ---------------------------------------------------------------------------------------------------------
# Sets of labels
# ---------------------------------------------------------------------------------------------------------

LABELS = [[1, 0], [0, 0], [1, 1]]


def test_a_label_set_is_checked_and_completed() -> None:
    plain = LabelSet(FEATURES.astype(np.float32), LABELS, ["sea", "sand"])  # type: ignore[arg-type]
    assert plain.features.dtype == np.float32
    assert plain.labels.dtype == np.bool_
    assert plain.names == ("sea", "sand")
    assert plain.test.tolist() == [False] * 3
    assert plain.ids.tolist() == [0, 1, 2]
    assert len(plain) == 3


def test_part_of_a_label_set_keeps_what_belongs_to_its_images() -> None:
    whole = LabelSet(FEATURES, LABELS, ("sea", "sand"), [0, 1, 0], np.array(["x", "y", "z"]))  # type: ignore[arg-type]
    for rows in ([2, 1], np.array([2, 1])):
        part = whole.part(rows)
        np.testing.assert_array_equal(part.features, FEATURES[[2, 1]])
        assert part.labels.tolist() == [[True, True], [False, False]]
        assert (part.names, part.test.tolist(), part.ids.tolist()) == (whole.names, [False, True], ["z", "y"])
    assert whole.part(~whole.test).ids.tolist() == ["x", "z"]
    assert len(whole.part([])) == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"features": np.eye(3)[0]}, r"features must be \(n, d\)"),
        ({"features": np.full((3, 2), np.nan)}, "NaN or infinity in 3 rows, first 0"),
        (
            {"labels": np.ones((2, 3))},
            r"labels must be \(3, 2\), one mark for each image and name, got shape \(2, 3\)",
        ),
        ({"labels": np.full((3, 2), 2)}, "labels must be true or false"),
        ({"labels": np.full((3, 2), "yes")}, "labels must be true or false"),
        ({"names": ("sea", "sea")}, "'sea' comes twice"),
        ({"names": (1, 2)}, "names must be the labels as text"),
        ({"test": np.zeros(2)}, r"test must be \(3,\), one mark for each image"),
        ({"ids": np.arange(2)}, r"ids must be \(3,\), one for each image"),
    ],
)
def test_label_sets_that_are_none(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LabelSet(**{"features": FEATURES, "labels": LABELS, "names": ("sea", "sand"), **wrong})


# ---------------------------------------------------------------------------------------------------------
# Query and graph
# ---------------------------------------------------------------------------------------------------------


def test_a_query_keeps_float32_and_makes_all_else_float64() -> None:
    assert Query(FEATURES.astype(np.float32)).features.dtype == np.float32
    assert Query(FEATURES).features is FEATURES
    for features in (
        FEATURES.astype(int),
        FEATURES.astype(bool),
        FEATURES.astype(np.float16),
        FEATURES.tolist(),
    ):
        query = Query(features)
        assert query.features.dtype == np.float64
        np.testing.assert_array_equal(query.features, FEATURES)


def test_samples_are_numbered_where_no_ids_are_given() -> None:
    query = Query(FEATURES)
    assert query.ids is not None
    assert query.ids.tolist() == [0, 1, 2]
    assert Query(FEATURES, ids=np.array(["x", "y", "z"])).ids.tolist() == ["x", "y", "z"]  # type: ignore[union-attr]
    assert len(query) == 3
    assert query.relevance is None


def test_relevance_becomes_whole_grades() -> None:
    for relevance in ([0, 1, 4], [0.0, 1.0, 4.0], np.array([0, 1, 4], np.uint8)):
        grades = Query(FEATURES, relevance).relevance  # type: ignore[arg-type]
        assert grades is not None
        assert grades.dtype == np.int64
        assert grades.tolist() == [0, 1, 4]
    assert check_relevance([True, False], 2).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("details", "text"),
    [
        ({"features": [1.0, 2.0]}, r"features must be \(n, d\), got shape \(2,\)"),
        ({"features": [["a"]]}, "features must be real numbers, got <U1"),
        ({"features": [[1j]]}, "features must be real numbers, got complex128"),
        ({"features": [[1.0], [np.nan], [np.inf]]}, "NaN or infinity in 2 rows, first 1"),
        ({"relevance": [1, 0]}, r"relevance must be \(3,\), one grade a sample, got shape \(2,\)"),
        ({"ids": [1, 0]}, r"ids must be \(3,\), one for each sample, got shape \(2,\)"),
        (
            {"graph": SimilarityGraph(np.array([[0, 3]]), np.ones((1, 1)))},
            "edges name sample 3, there are 3 samples",
        ),
    ],
)
def test_a_bad_query_says_what_came(details: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Query(**{"features": FEATURES, **details})


@pytest.mark.parametrize(
    ("relevance", "text"),
    [
        ([0, -1], "whole grades >= 0"),
        ([0, 0.5], "whole grades >= 0"),
        ([0, math.nan], "whole grades >= 0"),
        ([0, math.inf], "whole grades >= 0"),
        ([0, 1e30], "whole grades >= 0"),
        (np.array([0, 2**64 - 1], np.uint64), "whole grades >= 0"),
        (["0", "1"], "relevance must be real numbers, got <U1"),
        ([0, 1j], "relevance must be real numbers, got complex128"),
        ([0, None], "relevance must be real numbers, got object"),
        (np.array([0, 1], "timedelta64[s]"), "relevance must be real numbers, got timedelta64"),
    ],
)
def test_bad_relevance_says_what_is_wrong(relevance: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        check_relevance(relevance, 2)


def test_a_graph_of_lists_becomes_arrays() -> None:
    graph = SimilarityGraph([[0, 1], [2, 1]], [[1], [0]])  # type: ignore[arg-type]
    assert graph.edges.shape == (2, 2)
    assert graph.affinity.dtype == np.float64
    assert Query(FEATURES, graph=graph).graph is graph


def test_a_graph_keeps_the_precision_of_its_affinity() -> None:
    for precision in (np.float32, np.float64):
        affinity = np.ones((1, 2), precision)
        assert SimilarityGraph(np.array([[0, 1]]), affinity).affinity is affinity


def test_a_graph_may_be_empty() -> None:
    graph = SimilarityGraph(np.empty((0, 2), int), np.empty((0, 1)))
    assert Query(FEATURES, graph=graph).graph is graph


@pytest.mark.parametrize(
    ("edges", "affinity", "text"),
    [
        ([[0.0, 1.0]], [[1]], r"edges must be \(m, 2\) integers, got float64 of shape \(1, 2\)"),
        ([0, 1], [[1]], r"edges must be \(m, 2\) integers, got int64 of shape \(2,\)"),
        ([[0, 1, 2]], [[1]], r"edges must be \(m, 2\) integers, got int64 of shape \(1, 3\)"),
        ([[0, 1]], [1], r"affinity must be \(1, d2\), one row an edge, got \(1,\)"),
        ([[0, 1]], [[1], [1]], r"affinity must be \(1, d2\), one row an edge, got \(2, 1\)"),
        ([[1, 1]], [[1]], "edges must join two different samples, numbered from 0"),
        ([[-1, 1]], [[1]], "edges must join two different samples, numbered from 0"),
        ([[0, 1], [1, 0]], [[1], [1]], "each unordered pair once; remove the duplicates"),
        ([[0, 1]], [[-1]], "affinity must be finite and not negative"),
        ([[0, 1]], [[math.nan]], "affinity must be finite and not negative"),
        ([[0, 1]], [[math.inf]], "affinity must be finite and not negative"),
        ([[0, 1], [1, 2]], [[1, math.nan], [1, 2]], "affinity must be finite and not negative"),
        ([[0, 1]], [["1"]], "affinity must be real numbers, got <U1"),
        ([[0, 5], [2, 3], [5, 0]], [[1], [1], [1]], "each unordered pair once; remove the duplicates"),
    ],
)
def test_a_bad_graph_says_what_came(edges: Any, affinity: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        SimilarityGraph(np.array(edges), np.array(affinity))


# ---------------------------------------------------------------------------------------------------------
# What training says of itself
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("primal", "dual", "gap"),
    [
        (2.0, 1.5, 0.25),
        (-2.0, -2.5, 0.25),
        (0.0, 0.0, 0.0),
        (3.0, 3.0, 0.0),
        (0.0, -1.0, math.inf),
        (2.0, -math.inf, math.inf),
        (math.inf, 1.0, math.inf),
    ],
)
def test_the_relative_gap_is_never_undefined(primal: float, dual: float, gap: float) -> None:
    assert relative_gap(primal, dual) == gap
    event = ProgressEvent(iteration=1, primal=primal, dual=dual, seconds=0.1, passes=2)
    assert event.relative_gap == gap
    assert event.gap == primal - dual
    assert Certificate(primal, dual, primal - dual, 1, 0.1, True).relative_gap == gap


# ---------------------------------------------------------------------------------------------------------
# Image sets
# ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def image_set(tmp_path: Path) -> ImageSet:
    """Two images, the second one for test, with one and two boxes."""
    Image.new("L", (6, 4), 128).save(tmp_path / "one.png")
    Image.new("P", (5, 5)).save(tmp_path / "two.png")
    return ImageSet(
        key="key",
        title="Two pictures",
        folder=tmp_path,
        classes=("cat", "dog"),
        image_names=np.array(["one", "two"]),
        image_files=np.array(["one.png", "two.png"]),
        image_sizes=np.array([[6, 4], [5, 5]], np.int32),
        image_test=np.array([False, True]),
        boxes=np.array([[0, 0, 2, 2], [0, 0, 3, 3], [1, 1, 5, 5]], np.int32),
        image_of=np.array([0, 1, 1], np.int32),
        groups=np.array([0, 1, 1], np.int32),
        labels=np.array([[True, False], [False, True], [True, True]]),
        ids=np.array(["one#1", "two#1", "two#2"]),
    )


def test_a_sample_is_for_test_where_its_image_is(image_set: ImageSet) -> None:
    assert image_set.test.tolist() == [False, True, True]
    assert len(image_set) == 3


def test_relevance_is_the_column_of_the_class(image_set: ImageSet) -> None:
    assert image_set.relevance("cat").tolist() == [1, 0, 1]
    assert image_set.relevance("dog").tolist() == [0, 1, 1]
    assert image_set.relevance("dog").dtype == np.int64
    with pytest.raises(ValueError, match="no class 'cow' in Two pictures; its classes are cat, dog"):
        image_set.relevance("cow")


def test_an_image_opens_as_rgb(image_set: ImageSet) -> None:
    picture = image_set.open_image(0)
    assert (picture.mode, picture.size, picture.getpixel((0, 0))) == ("RGB", (6, 4), (128, 128, 128))
    assert image_set.open_image(1).mode == "RGB"
