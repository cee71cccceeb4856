"""Pairs of samples and their affinity, against the definitions written out."""

from __future__ import annotations

import io
import itertools
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ranking import similarity
from ranking.similarity import (
    affinity,
    edges_from_csv,
    nearest,
    same_group,
    same_image,
    similarity_graph,
)
from ranking.spreadsheets import guarded


def test_samples_of_one_group_are_all_connected() -> None:
    for seed in range(20):
        generator = np.random.default_rng(seed)
        groups = generator.integers(0, generator.integers(1, 9), generator.integers(0, 30))
        expected = [
            (i, j) for i, j in itertools.combinations(range(len(groups)), 2) if groups[i] == groups[j]
        ]
        for edges in (same_group(groups), same_image(groups), same_group([f"group {g}" for g in groups])):
            assert edges.shape == (len(expected), 2)
            assert list(map(tuple, edges.tolist())) == expected


def test_a_group_must_equal_itself() -> None:
    with pytest.raises(ValueError, match="groups must not be NaN, sample 1 is; give it a group"):
        same_group([1.0, np.nan])
    with pytest.raises(ValueError, match=r"groups must be \(n,\), one a sample, got shape \(1, 2\)"):
        same_group([[1, 2]])


def nearest_of(features: np.ndarray, k: int) -> list[tuple[int, int]]:
    pairs = set()
    for i in range(len(features)):
        others = [j for j in range(len(features)) if j != i]
        others.sort(key=lambda j: (float(((features[i] - features[j]) ** 2).sum()), j))
        pairs |= {(min(i, j), max(i, j)) for j in others[:k]}
    return sorted(pairs)


@pytest.mark.parametrize("block", [7, 64, 1 << 21])
@pytest.mark.parametrize("precision", [np.float32, np.float64, np.int64])
def test_the_nearest_are_those_of_least_distance(
    block: int, precision: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(similarity, "BLOCK", block)
    for seed in range(10):
        generator = np.random.default_rng(seed)
        n, d = generator.integers(2, 25), generator.integers(1, 4)
        features = generator.integers(-3, 4, (n, d)).astype(precision)  # many distances tie
        k = int(generator.integers(1, n))
        assert list(map(tuple, nearest(features, k).tolist())) == nearest_of(features, k)
    features = np.random.default_rng(0).standard_normal((30, 5))
    assert list(map(tuple, nearest(features, 4).tolist())) == nearest_of(features, 4)


@pytest.mark.parametrize("k", [0, 3, 1.0, True])
def test_there_are_only_so_many_neighbours(k: Any) -> None:
    with pytest.raises(ValueError, match=f"k must be a whole number from 1 to 2, .*, got {k}"):
        nearest(np.eye(3), k)


@pytest.mark.parametrize(
    ("features", "text"),
    [
        ([1.0, 2.0], r"^features.*\(2,\)"),
        ([["a"], ["b"]], "^features.*<U1"),
        ([[1.0], [np.nan]], "^features.*in 1 rows.* 1$"),
    ],
)
def test_bad_features_say_what_came(features: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        nearest(features, 1)
    with pytest.raises(ValueError, match=text):
        affinity(features, [[0, 1]])


IDS = ["cat#1", "cat#2", "dog, old#1", "7"]


def test_a_csv_names_pairs_by_ids(tmp_path: Path) -> None:
    text = 'note,j,i\nx,cat#2,7\ny,"dog, old#1",cat#1\n'
    expected = [[0, 2], [1, 3]]
    assert edges_from_csv(text, IDS).tolist() == expected
    (tmp_path / "pairs.csv").write_text("\ufeff" + text, "utf-8")
    assert edges_from_csv(tmp_path / "pairs.csv", np.array(IDS)).tolist() == expected
    assert edges_from_csv("\ufeff" + text, IDS).tolist() == expected
    assert edges_from_csv("i,j\n2,0\n", np.arange(3)).tolist() == [[0, 2]]
    assert edges_from_csv("i,j\n", IDS).shape == (0, 2)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "line 1: expected the column names i and j, got nothing; put the line i,j before the pairs"),
        (
            "i;j\n7;cat#1\n",
            "line 1: expected the column names i and j, got i;j; .*, with a comma between the two",
        ),
        ("i,j,i\n7,cat#1,7\n", "line 1: expected the column names i and j, got i, j, i"),
        ("a,j\n", "line 1: expected the column names i and j, got a, j"),
        ("i\x7fj,\u202e\n", "line 1: expected the column names i and j, got i\ufffdj, \ufffd"),
        (
            "i,j\n7,cat#1\n7,cow\n",
            r"line 3: expected the id .* column j \(such as cat#1, cat#2, .*got 'cow'; correct",
        ),
        ("i,j\n7\n", "line 2: expected the id of a sample in column j .*, got nothing"),
        ("i,j\n7,\n", "line 2: expected the id of a sample in column j .*, got nothing"),
        ("i,j\n7,7\n", "line 2: expected two different samples, got 7 twice; remove the line"),
        ("i,j\n7,cat#1\ncat#1,7\n", "line 3: expected each pair once, cat#1 and 7 came in line 2; remove"),
        (
            "i,j\n7,cat#1\n7,cat#2\ncat#2,7\n\ncat#1,7\n",
            "line 4: expected each pair once, cat#2 and 7|7 and cat#2 came in line 3",
        ),
        ('i,j\n"7"x,cat#1\n', "line 2: expected comma-separated values, got .*; save the table as CSV again"),
    ],
)
def test_a_bad_csv_names_the_line(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        edges_from_csv(text, IDS)


def test_a_csv_in_another_encoding_says_so(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_bytes(b"i,j\n\xff,7\n")
    with pytest.raises(ValueError, match=r"line 2: expected UTF-8, got .*; save the table as CSV in UTF-8"):
        edges_from_csv(tmp_path / "pairs.csv", IDS)
    utf_16 = io.BytesIO("i,j\n7,cat#1\n".encode("utf-16"))
    with pytest.raises(ValueError, match="line 1: expected UTF-8"):
        edges_from_csv(utf_16, IDS)


def test_pairs_beyond_the_most_are_not_read() -> None:
    with pytest.raises(ValueError, match="line 3: expected at most 1 pairs, got more; leave some out"):
        edges_from_csv("i,j\n7,cat#1\n7,cat#2\n", IDS, most=1)
    assert len(edges_from_csv("i,j\n7,cat#1\n7,cat#2\n", IDS, most=2)) == 2


@pytest.mark.parametrize("more", ["\n", '\n"7",cat#2,"\n\n"'])
def test_lines_without_a_pair_are_not_read_on_for_ever(monkeypatch: pytest.MonkeyPatch, more: str) -> None:
    """Empty ones, and those within a cell; a file of millions of them is read no further."""
    monkeypatch.setattr(similarity, "MOST_OTHER_LINES", 3)
    start = "i,j,note\n7,cat#1,"
    assert len(edges_from_csv(start + 2 * "\n", IDS, most=2)) == 1
    with pytest.raises(
        ValueError, match="line 6: expected at most 2 pairs and 3 other lines, got more; remove empty"
    ):
        edges_from_csv(start + 5 * more, IDS, most=2)
    assert len(edges_from_csv(start + 9 * "\n", IDS)) == 1


def test_a_line_of_any_length_is_not_taken_apart() -> None:
    wide = "i,j," + "," * 200_000
    with pytest.raises(
        ValueError, match="line 1: expected at most 100,000 bytes, got 200,005; leave other columns"
    ):
        edges_from_csv(wide + "\n7,cat#1\n", IDS)
    assert len(edges_from_csv("i,j,note\n7,cat#1," + "x" * 90_000 + "\n", IDS)) == 1


def test_ids_may_be_written_as_a_spreadsheet_is_given_them() -> None:
    ids = ["=a#0", "'b#0", "c#0"]
    for spelled in (ids, [guarded(name) for name in ids]):
        text = f"i,j\n{spelled[0]},{spelled[1]}\n{spelled[1]},c#0\n"
        assert edges_from_csv(io.BytesIO(text.encode()), ids).tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize("seed", range(10))
def test_pairs_of_a_csv_are_those_that_were_drawn(seed: int) -> None:
    random = np.random.default_rng(seed)
    ids = [f"{number}#x" for number in random.permutation(30)]
    drawn = {tuple(sorted(random.choice(30, 2, replace=False).tolist())) for _ in range(60)}
    listed = [random.permutation(pair) for pair in drawn]
    text = "i,note,j\r\n" + "".join(f"{ids[i]},,{ids[j]}\r\n" for i, j in listed)
    found = edges_from_csv(io.BytesIO(text.encode()), ids)
    assert [tuple(pair) for pair in found.tolist()] == sorted(drawn)
    assert found.dtype == np.int64


def test_a_csv_with_different_ids_only() -> None:
    with pytest.raises(ValueError, match="ids must be different, got 2 with 1 different ones"):
        edges_from_csv("i,j\n", ["a", "a"])


@pytest.mark.parametrize("block", [1, 10, 1 << 21])
def test_affinity_is_that_of_the_paper(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "BLOCK", block)
    generator = np.random.default_rng(0)
    features, edges = generator.standard_normal((9, 4)), same_group([0, 0, 1, 1, 1, 1, 0, 2, 2])
    expected = np.array(
        [[np.exp(-((features[i, f] - features[j, f]) ** 2)) for f in range(4)] for i, j in edges]
    )
    for precision, tolerance in ((np.float64, 1e-15), (np.float32, 1e-6)):
        found = affinity(features.astype(precision), edges)
        assert found.dtype == precision
        np.testing.assert_allclose(found, expected, rtol=tolerance)
    graph = similarity_graph(features, edges)
    np.testing.assert_array_equal(graph.affinity, affinity(features, edges))
    np.testing.assert_array_equal(graph.edges, edges)


def test_affinity_of_what_is_far_apart_is_zero_and_whole_numbers_do_not_wrap() -> None:
    far = np.array([[-3e38], [3e38]], np.float32)
    assert affinity(far, [[0, 1]]).tolist() == [[0.0]]
    assert affinity(np.array([[0], [1]], np.uint8), [[0, 1], [1, 0]]).tolist() == [[np.exp(-1)], [np.exp(-1)]]
    assert affinity(np.eye(3), np.empty((0, 2), int)).shape == (0, 3)


@pytest.mark.parametrize(
    ("edges", "text"),
    [
        ([[0, 3]], "edges must name samples 0 to 2, got 0 to 3"),
        ([[-1, 1]], "edges must name samples 0 to 2, got -1 to 1"),
        ([[0.0, 1.0]], r"edges must be \(m, 2\) integers, got float64 of shape \(1, 2\)"),
        ([0, 1], r"edges must be \(m, 2\) integers, got int64 of shape \(2,\)"),
    ],
)
def test_affinity_needs_edges_of_the_samples(edges: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        affinity(np.eye(3), edges)


def test_memory_beside_the_affinity_is_bounded() -> None:
    generator = np.random.default_rng(0)
    features = generator.standard_normal((2000, 200)).astype(np.float32)
    edges = np.stack([np.arange(200_000) % 2000, (np.arange(200_000) * 7 + 1) % 2000], axis=1)
    tracemalloc.start()
    found = affinity(features, edges)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.nbytes == 160_000_000
    assert peak < found.nbytes + 4 * 4 * similarity.BLOCK


def test_memory_beside_a_csv_is_bounded() -> None:
    ids = [f"scene {number}#0" for number in range(1000)]
    pairs = itertools.islice(itertools.combinations(ids, 2), 50_000)
    stream = io.BytesIO(("i,j\n" + "".join(f"{i},{j}\n" for i, j in pairs)).encode())
    tracemalloc.start()
    found = edges_from_csv(stream, ids)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found) == 50_000
    assert peak < 100 * 50_000, "bytes a pair"
