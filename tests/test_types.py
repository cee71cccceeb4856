"""The nouns check their content once, when it enters."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from image_sets import image_set
from PIL import Image
from refusals import refused

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
    assert (plain.features.dtype, plain.labels.dtype) == (np.float32, np.bool_)
    assert (len(plain), plain.names) == (3, ("sea", "sand"))
    assert (plain.test.tolist(), plain.ids.tolist()) == ([False] * 3, [0, 1, 2])


def test_part_of_a_label_set_keeps_what_belongs_to_its_images() -> None:
    whole = LabelSet(FEATURES, LABELS, ("sea", "sand"), [0, 1, 0], np.array(["x", "y", "z"]))  # type: ignore[arg-type]
    for rows in ([2, 1], np.array([2, 1])):
        part = whole.part(rows)
        np.testing.assert_array_equal(part.features, FEATURES[[2, 1]])
        assert part.labels.tolist() == [[True, True], [False, False]]
        assert (part.names, part.test.tolist(), part.ids.tolist()) == (whole.names, [False, True], ["z", "y"])
    assert whole.part(~whole.test).ids.tolist() == ["x", "z"]
    assert len(whole.part([])) == 0


def test_what_is_no_label_set_is_refused() -> None:
    for name, wrong in (
        ("features", np.eye(3)[0]),
        ("features", np.full((3, 2), np.nan)),
        ("labels", np.ones((2, 3))),
        ("labels", np.full((3, 2), 2)),
        ("labels", np.full((3, 2), "yes")),
        ("names", ("sea", "sea")),
        ("names", (1, 2)),
        ("test", np.zeros(2)),
        ("ids", np.arange(2)),
    ):
        sound: dict[str, Any] = {"features": FEATURES, "labels": LABELS, "names": ("sea", "sand")}
        with refused(name):
            LabelSet(**{**sound, name: wrong})


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


def test_ids_are_row_numbers_unless_given_and_relevance_is_whole_grades() -> None:
    query: Any = Query(FEATURES)
    assert (len(query), query.relevance, query.ids.tolist()) == (3, None, [0, 1, 2])
    for relevance in ([0, 1, 4], [0.0, 1.0, 4.0], np.array([0, 1, 4], np.uint8)):
        query = Query(FEATURES, relevance, ids=np.array(["x", "y", "z"]))  # type: ignore[arg-type]
        assert query.ids.tolist() == ["x", "y", "z"]
        assert (query.relevance.dtype, query.relevance.tolist()) == (np.int64, [0, 1, 4])
    assert check_relevance([True, False], 2).tolist() == [1, 0]


def test_what_is_no_query_is_refused() -> None:
    beyond = SimilarityGraph(np.array([[0, 3]]), np.ones((1, 1)))
    for details, subject, came in (
        ({"features": [1.0, 2.0]}, "features", (2,)),
        ({"features": [["a"]]}, "features", np.dtype("<U1")),
        ({"features": [[1j]]}, "features", np.dtype(complex)),
        ({"relevance": [1, 0]}, "relevance", (2,)),
        ({"ids": [1, 0]}, "ids", (2,)),
        ({"graph": beyond}, "edges", 3),
    ):
        with refused(subject, came):
            Query(**{"features": FEATURES, **details})  # type: ignore[arg-type]
    with refused("features") as caught:
        Query([[1.0], [np.nan], [np.inf]])  # type: ignore[arg-type]
    assert re.findall("[0-9]+", str(caught.value.came)) == ["2", "1"], "in two rows, from row 1"


def test_what_are_no_grades_is_refused() -> None:
    for grade in (-1, 0.5, math.inf, 1e30, 2**64 - 1):
        with refused("relevance", grade):
            check_relevance(np.array([0, grade], np.uint64 if grade == 2**64 - 1 else None), 2)
    numbers_that_are_none = (["0", "1"], [0, 1j], [0, None], np.array([0, 1], "timedelta64[s]"))
    for relevance in ([0, math.nan], *numbers_that_are_none):
        with refused("relevance"):
            check_relevance(relevance, 2)  # type: ignore[arg-type]


def test_a_graph_holds_arrays_in_the_precision_of_its_affinity() -> None:
    graph = SimilarityGraph([[0, 1], [2, 1]], [[1], [0]])  # type: ignore[arg-type]
    assert graph.edges.shape == (2, 2)
    assert graph.affinity.dtype == np.float64
    empty = SimilarityGraph(np.empty((0, 2), int), np.empty((0, 1)))
    for given in (graph, empty):
        assert Query(FEATURES, graph=given).graph is given
    for precision in (np.float32, np.float64):
        affinity = np.ones((1, 2), precision)
        assert SimilarityGraph(np.array([[0, 1]]), affinity).affinity is affinity


@pytest.mark.parametrize(
    ("subject", "edges", "affinity"),
    [
        ("edges", [[0.0, 1.0]], [[1]]),
        ("edges", [0, 1], [[1]]),
        ("edges", [[0, 1, 2]], [[1]]),
        ("affinity", [[0, 1]], [1]),
        ("affinity", [[0, 1]], [[1], [1]]),
        ("edges", [[1, 1]], [[1]]),
        ("edges", [[-1, 1]], [[1]]),
        ("edges", [[0, 1], [1, 0]], [[1], [1]]),
        ("edges", [[0, 5], [2, 3], [5, 0]], [[1], [1], [1]]),
        ("affinity", [[0, 1]], [[-1]]),
        ("affinity", [[0, 1]], [[math.nan]]),
        ("affinity", [[0, 1]], [[math.inf]]),
        ("affinity", [[0, 1], [1, 2]], [[1, math.nan], [1, 2]]),
        ("affinity", [[0, 1]], [["1"]]),
    ],
)
def test_what_is_no_graph_is_refused(subject: str, edges: Any, affinity: Any) -> None:
    with refused(subject):
        SimilarityGraph(np.array(edges), np.array(affinity))


# ---------------------------------------------------------------------------------------------------------
# Progress and certificates
# ---------------------------------------------------------------------------------------------------------


def test_the_relative_gap_is_never_undefined() -> None:
    for primal, dual, gap in (
        (2.0, 1.5, 0.25),
        (-2.0, -2.5, 0.25),
        (0.0, 0.0, 0.0),
        (3.0, 3.0, 0.0),
        (0.0, -1.0, math.inf),
        (2.0, -math.inf, math.inf),
        (math.inf, 1.0, math.inf),
    ):
        assert relative_gap(primal, dual) == gap, (primal, dual)
        event = ProgressEvent(iteration=1, primal=primal, dual=dual, seconds=0.1, passes=2)
        assert (event.relative_gap, event.gap) == (gap, primal - dual)
        assert Certificate(primal, dual, primal - dual, 1, 0.1, True).relative_gap == gap


# ---------------------------------------------------------------------------------------------------------
# Image sets
# ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def two_images(tmp_path: Path) -> ImageSet:
    """Two images, the second one for test, with one and two boxes."""
    Image.new("L", (6, 4), 128).save(tmp_path / "0.png")
    Image.new("P", (5, 5)).save(tmp_path / "1.png")
    labels = np.array([[True, False], [False, True], [True, True]])
    return image_set([0, 1, 1], [False, True], folder=tmp_path, classes=("cat", "dog"), labels=labels)


def test_a_sample_is_for_test_where_its_image_is(two_images: ImageSet) -> None:
    assert two_images.test.tolist() == [False, True, True]
    assert len(two_images) == 3


def test_relevance_is_the_column_of_the_class(two_images: ImageSet) -> None:
    assert two_images.relevance("cat").tolist() == [1, 0, 1]
    assert two_images.relevance("dog").tolist() == [0, 1, 1]
    assert two_images.relevance("dog").dtype == np.int64
    with refused("class of Set", "'cow'") as caught:
        two_images.relevance("cow")
    assert "cat, dog" in caught.value.expected
    with refused("criterion of Set", "'year'"):
        two_images.numbers_of("year")


def test_an_image_opens_as_rgb(two_images: ImageSet) -> None:
    picture = two_images.open_image(0)
    assert (picture.mode, picture.size, picture.getpixel((0, 0))) == ("RGB", (6, 4), (128, 128, 128))
    assert two_images.open_image(1).mode == "RGB"


def test_an_image_that_is_gone_or_damaged_is_refused(two_images: ImageSet) -> None:
    file = two_images.folder / "0.png"
    file.write_bytes(file.read_bytes()[:30])
    with refused("image i000 of Set") as damaged:
        two_images.open_image(0)
    file.unlink()
    with refused("image i000 of Set") as gone:
        two_images.open_image(0)
    assert str(file) in damaged.value.expected
    assert damaged.value.came != gone.value.came
