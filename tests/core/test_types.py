"""The nouns check their content once, when it enters."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from image_sets import image_set
from PIL import Image
from refusals import refused

from ranking.core import (
    BagSet,
    Certificate,
    LabelSet,
    ProgressEvent,
    Query,
    SequenceSet,
    SimilarityGraph,
    check_relevance,
    relative_gap,
)

FEATURES = np.eye(3)
LABELS = [[1, 0], [0, 0], [1, 1]]


def test_a_label_set_is_completed_and_a_part_of_it_keeps_what_belongs_to_its_images():
    plain = LabelSet(FEATURES.astype(np.float32), LABELS, ["sea", "sand"])
    assert (plain.features.dtype, plain.labels.dtype) == (np.float32, np.bool_)
    assert (plain.test.tolist(), plain.ids.tolist()) == ([False] * 3, [0, 1, 2])
    whole = LabelSet(FEATURES, LABELS, ("sea", "sand"), [0, 1, 0], np.array(["x", "y", "z"]))
    for rows in ([2, 1], np.array([2, 1])):
        part = whole.part(rows)
        np.testing.assert_array_equal(part.features, FEATURES[[2, 1]])
        assert part.labels.tolist() == [[True, True], [False, False]]
        assert (part.names, part.test.tolist(), part.ids.tolist()) == (whole.names, [False, True], ["z", "y"])
    assert whole.part(~whole.test).ids.tolist() == ["x", "z"]
    assert len(whole.part([])) == 0


def test_invalid_label_sets_are_refused():
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


def test_a_query_keeps_float32_and_makes_all_else_float64_with_row_numbers_as_ids():
    assert Query(FEATURES.astype(np.float32)).features.dtype == np.float32
    assert Query(FEATURES).features is FEATURES
    for features in (FEATURES.astype(bool), FEATURES.astype(np.float16), FEATURES.tolist()):
        query = Query(features)
        assert (query.features.dtype, query.relevance, query.ids.tolist()) == (np.float64, None, [0, 1, 2])
        np.testing.assert_array_equal(query.features, FEATURES)
    assert Query(FEATURES, ids=np.array(["x", "y", "z"])).ids.tolist() == ["x", "y", "z"]


def test_relevance_is_whole_grades():
    for relevance in ([0, 1, 4], [0.0, 1.0, 4.0], np.array([0, 1, 4], np.uint8)):
        grades = Query(FEATURES, relevance).relevance
        assert (grades.dtype, grades.tolist()) == (np.int64, [0, 1, 4])
    assert check_relevance([True, False], 2).tolist() == [1, 0]
    for grade in (-1, 0.5, math.inf, 1e30, 2**64 - 1):
        with refused("relevance", grade):
            check_relevance(np.array([0, grade], np.uint64 if grade == 2**64 - 1 else None), 2)
    for relevance in ([0, math.nan], ["0", "1"], [0, 1j], [0, None], np.array([0, 1], "timedelta64[s]")):
        with refused("relevance"):
            check_relevance(relevance, 2)


def test_invalid_queries_are_refused():
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
            Query(**{"features": FEATURES, **details})
    with refused("features") as caught:
        Query([[1.0], [np.nan], [np.inf]])
    assert re.findall("[0-9]+", str(caught.value.came)) == ["2", "1"], "in two rows, from row 1"


def test_a_graph_holds_arrays_in_the_precision_of_its_affinity():
    graph = SimilarityGraph([[0, 1], [2, 1]], [[1], [0]])
    assert graph.edges.shape == (2, 2)
    assert graph.affinity.dtype == np.float64
    empty = SimilarityGraph(np.empty((0, 2), int), np.empty((0, 1)))
    for original in (graph, empty):
        assert Query(FEATURES, graph=original).graph is original
    for precision in (np.float32, np.float64):
        affinity = np.ones((1, 2), precision)
        assert SimilarityGraph(np.array([[0, 1]]), affinity).affinity is affinity


def test_invalid_graphs_are_refused():
    for edges in ([[0.0, 1.0]], [0, 1], [[0, 1, 2]], [[1, 1]], [[-1, 1]], [[0, 5], [2, 3], [5, 0]]):
        with refused("edges"):
            SimilarityGraph(np.array(edges), np.ones((len(edges), 1)))
    for affinity in ([1], [[1], [1]], [[-1]], [[math.inf]], [[1, math.nan]], [["1"]]):
        with refused("affinity"):
            SimilarityGraph(np.array([[0, 1]]), np.array(affinity))


def test_sequences_are_rows_of_one_pool_and_a_part_keeps_it():
    members, starts = np.array([2, 0, 3, 1, 0]), [0, 3, 4, 5]
    sequences = SequenceSet(np.arange(8.0).reshape(4, 2), np.array([3, 0, 1, 1]), members, starts)
    query = sequences.query(0)
    assert query.relevance.tolist() == [1, 3, 1]
    assert query.features.tolist() == sequences.features[[2, 0, 3]].tolist()
    part = sequences.part([2, 0])
    assert [part.sequence(number).tolist() for number in range(len(part))] == [[0], [2, 0, 3]]
    assert part.features.shape == (4, 2)
    assert len(sequences.part([])) == 0


def test_queries_become_one_pool():
    queries = [Query(np.eye(2), np.array([0, 1])), Query(np.ones((3, 2)), np.array([2, 0, 1]))]
    made = SequenceSet.of(queries)
    assert SequenceSet.of(made) is made
    for number, query in enumerate(queries):
        again = made.query(number)
        assert (again.features == query.features).all()
        assert (again.relevance == query.relevance).all()


def test_invalid_sequence_sets_are_refused():
    sound: dict[str, Any] = {"features": np.eye(4), "grades": [0, 1, 2, 3], "members": [0, 1, 2]}
    sound["starts"] = [0, 3]
    assert len(SequenceSet(**sound)) == 1
    for name, wrong in (
        ("members", [0, 4, 1]),
        ("members", [0, -1, 1]),
        ("members", [0.0, 1.0, 1.5]),
        ("starts", [0, 2]),
        ("starts", [0, 2, 2, 3]),
        ("starts", [1, 3]),
        ("starts", np.array([], int)),
        ("grades", [1, 0]),
        ("features", [[np.nan], [0], [0], [0]]),
    ):
        with refused("relevance" if name == "grades" else name):
            SequenceSet(**{**sound, name: np.array(wrong)})


def test_queries_that_make_no_pool_are_refused():
    two, three = Query(np.eye(2), np.array([0, 1])), Query(np.eye(3), np.array([0, 1, 2]))
    for queries, came in (
        ([], "an empty list"),
        ([two, three], [2, 3]),
        ([two, Query(np.eye(2))], "1 of 2 without"),
    ):
        with refused("queries", came):
            SequenceSet.of(queries)


def test_the_relative_gap_is_never_undefined():
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


def test_a_sample_is_for_test_where_its_image_is_and_relevant_to_its_classes():
    labels = np.array([[True, False], [False, True], [True, True]])
    images = image_set([0, 1, 1], [False, True], classes=("cat", "dog"), labels=labels)
    assert images.test.tolist() == [False, True, True]
    assert images.relevance("cat").tolist() == [1, 0, 1]
    assert images.relevance("dog").dtype == np.int64
    with refused("class of Set", "'cow'") as caught:
        images.relevance("cow")
    assert "cat, dog" in caught.value.expected
    with refused("criterion of Set", "'year'"):
        images.numbers_of("year")


def test_an_image_opens_as_rgb_and_a_missing_or_damaged_image_is_refused(tmp_path):
    two_images = image_set([0, 1], [False, True], folder=tmp_path)
    file = tmp_path / "0.png"
    Image.new("L", (6, 4), 128).save(file)
    Image.new("P", (5, 5)).save(tmp_path / "1.png")
    picture = two_images.open_image(0)
    assert (picture.mode, picture.size, picture.getpixel((0, 0))) == ("RGB", (6, 4), (128, 128, 128))
    assert two_images.open_image(1).mode == "RGB"
    file.write_bytes(file.read_bytes()[:30])
    with refused("image i000 of Set") as damaged:
        two_images.open_image(0)
    file.unlink()
    with refused("image i000 of Set") as gone:
        two_images.open_image(0)
    assert str(file) in damaged.value.expected
    assert damaged.value.came != gone.value.came


BAGS: dict[str, Any] = {
    "windows": np.eye(4, 3),
    "starts": [0, 1, 4],
    "boxes": [[0, 0, 9, 9], [2, 2, 8, 6], [2, 2, 4, 6], [3, 2, 4, 3]],
}


def test_a_bag_set_keeps_floats_and_numbers_its_images():
    for dtype in (np.float16, np.float32, np.float64):
        assert BagSet(**{**BAGS, "windows": np.eye(4, 3, dtype=dtype)}).windows.dtype == dtype
    bags = BagSet(**BAGS, relevance=[True, False])
    assert (len(bags), bags.ids.tolist(), bags.relevance.tolist()) == (2, [0, 1], [1, 0])
    assert bags.boxes.dtype == np.float64
    assert bags.shares.tolist() == [1, 1, 1 / 3, 1 / 24]
    assert BagSet(**BAGS, ids=["a", "b"]).ids.tolist() == ["a", "b"]
    assert len(BagSet(np.empty((0, 3)), [0], np.empty((0, 4)))) == 0


def test_invalid_bag_sets_are_refused():
    def boxes(row: int, box: list[float]) -> list[list[float]]:
        return [*BAGS["boxes"][:row], box, *BAGS["boxes"][row + 1 :]]

    for name, wrong in (
        ("windows", np.eye(4)[0]),
        ("windows", np.empty((4, 0))),
        ("windows", np.full((4, 3), "a")),
        *(
            ("windows", np.full((4, 3), bad, dtype))
            for bad in (np.nan, np.inf)
            for dtype in (np.float16, float)
        ),
        ("starts", [0, 1, 3]),
        # an image without windows
        ("starts", [0, 1, 1, 4]),
        ("starts", [1, 4]),
        ("starts", []),
        ("starts", [0.0, 1.0, 4.0]),
        ("starts", [[0, 4]]),
        ("boxes", BAGS["boxes"][:3]),
        ("boxes", boxes(1, [np.nan, 2, 8, 6])),
        ("boxes", boxes(1, [2, 2, 2, 6])),
        ("boxes", boxes(1, [2, 6, 8, 2])),
        # outside the image
        ("boxes", boxes(3, [1, 2, 4, 3])),
        ("boxes", boxes(3, [3, 2, 4, 7])),
        ("relevance", [1]),
        ("relevance", [1, 0.5]),
        ("ids", [1]),
    ):
        with refused(name):
            BagSet(**{**BAGS, name: wrong})
