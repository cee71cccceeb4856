"""Sequences over one pool: what they hold, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from ranking.types import Query, SequenceSet


def three() -> SequenceSet:
    return SequenceSet(
        np.arange(8.0).reshape(4, 2), np.array([3, 0, 1, 1]), np.array([2, 0, 3, 1, 0]), [0, 3, 4, 5]
    )


def test_sequences_are_rows_of_one_pool() -> None:
    sequences = three()
    assert len(sequences) == 3
    assert sequences.sequence(0).tolist() == [2, 0, 3]
    query = sequences.query(0)
    assert query.relevance is not None
    assert query.relevance.tolist() == [1, 3, 1]
    assert query.features.tolist() == sequences.features[[2, 0, 3]].tolist()


def test_a_part_keeps_the_pool() -> None:
    part = three().part([2, 0])
    assert [part.sequence(number).tolist() for number in range(len(part))] == [[0], [2, 0, 3]]
    assert part.features.shape == (4, 2)
    assert len(three().part([])) == 0


def test_queries_become_one_pool() -> None:
    queries = [Query(np.eye(2), np.array([0, 1])), Query(np.ones((3, 2)), np.array([2, 0, 1]))]
    made = SequenceSet.of(queries)
    assert SequenceSet.of(made) is made
    for number, query in enumerate(queries):
        again = made.query(number)
        assert (again.features == query.features).all()
        assert (again.relevance == query.relevance).all()


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("members", np.array([0, 4, 1])),
        ("members", np.array([0, -1, 1])),
        ("members", np.array([0.0, 1.0, 1.5])),
        ("starts", np.array([0, 2])),
        ("starts", np.array([0, 2, 2, 3])),
        ("starts", np.array([1, 3])),
        ("starts", np.array([], int)),
        ("relevance", np.array([1, 0])),
        ("features", np.array([[np.nan], [0], [0], [0]])),
    ],
)
def test_what_is_no_sequence_set_is_refused(name: str, wrong: np.ndarray) -> None:
    sound = {
        "features": np.eye(4),
        "grades": np.array([0, 1, 2, 3]),
        "members": np.array([0, 1, 2]),
        "starts": np.array([0, 3]),
    }
    assert len(SequenceSet(**sound)) == 1
    with refused(name):
        SequenceSet(**{**sound, "grades" if name == "relevance" else name: wrong})


def test_queries_that_make_no_pool_are_refused() -> None:
    two, three = Query(np.eye(2), np.array([0, 1])), Query(np.eye(3), np.array([0, 1, 2]))
    with refused("queries", "an empty list"):
        SequenceSet.of([])
    with refused("queries", [2, 3]):
        SequenceSet.of([two, three])
    with refused("queries", "1 of 2 without"):
        SequenceSet.of([two, Query(np.eye(2))])
