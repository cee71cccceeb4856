"""Uploaded pairs on disk, named by their content, complete or absent; and the CSV that lists them."""

from __future__ import annotations

import os

import numpy as np
from refusals import refusal, refused

from ranking.features.graph import uploaded_pairs
from ranking.features.graph.image_graph import GRAPHS, is_graph_name
from ranking.features.graph.uploaded_pairs import (
    checked_edges,
    edges_name,
    is_edges_name,
    read_pairs,
    short_name,
)
from ranking.storage.store import Store
from ranking.storage.uploads import edges_in

EDGES = np.array([[0, 2], [1, 2], [1, 7]])
KEY = "a" * 64


def test_pairs_come_back_under_a_name_of_their_content(tmp_path):
    store = Store(tmp_path)
    # a home of before there were any
    (tmp_path / "edges").rmdir()
    name = store.features.add_edges(KEY, EDGES)
    assert is_edges_name(name)
    assert name == edges_name(EDGES.astype(np.int32)) != edges_name(EDGES[:2])
    edges = Store(tmp_path).features.edges_of(KEY, name)
    np.testing.assert_array_equal(edges, EDGES)
    assert edges.dtype == np.int64
    assert store.features.add_edges(KEY, EDGES) == name, "harmless"
    empty = store.features.add_edges(KEY, EDGES[:0])
    assert store.features.edges_of(KEY, empty).shape == (0, 2)
    assert [file.suffix for file in (tmp_path / "edges" / KEY).iterdir()] == [".npy", ".npy"]
    for graph in (None, *GRAPHS):
        assert store.features.edges_of(KEY, graph) is None


def test_pairs_of_a_set_are_listed_newest_first(tmp_path):
    store = Store(tmp_path)
    names = [store.features.add_edges(KEY, EDGES[:count]) for count in (1, 2, 3)]
    for age, name in enumerate(names):
        os.utime(edges_in(store.home / "edges", KEY).path(name), (1000 - age, 1000 - age))
    (store.home / "edges" / KEY / "csv-x.npy").touch()
    store.features.add_edges("b" * 64, EDGES)
    assert store.features.edge_names(KEY) == names
    assert store.features.edge_names("c" * 64) == []


def test_missing_and_damaged_pairs_are_reported_and_restored_by_another_upload(tmp_path):
    store = Store(tmp_path)
    name = store.features.add_edges(KEY, EDGES)
    for key, unknown in (("b" * 64, name), (KEY, edges_name(EDGES[:1]))):
        with refused(f"pairs of {short_name(unknown)}") as caught:
            store.features.edges_of(key, unknown)
        assert str(tmp_path) in caught.value.expected
        assert caught.value.remedy
    file = edges_in(store.home / "edges", KEY).path(name)
    whole = file.read_bytes()
    np.save(file, EDGES + 1)
    with refused(f"pairs of {short_name(name)}", "others, int64 of shape (3, 2)"):
        store.features.edges_of(KEY, name)
    file.write_bytes(whole[:-3])
    with refused(f"pairs of {short_name(name)}"):
        store.features.edges_of(KEY, name)
    store.features.add_edges(KEY, EDGES)
    assert file.read_bytes() == whole


def test_invalid_pairs_are_refused(tmp_path, monkeypatch):
    for edges, subject, came in (
        ([[1, 1]], "row 0", "[1, 1]"),
        ([[-1, 1]], "row 0", "[-1, 1]"),
        ([[0, 1], [0, 1]], "row 1", "[0, 1] after [0, 1]"),
        ([[0, 2], [0, 1]], "row 1", "[0, 1] after [0, 2]"),
        ([[0, 2], [1, 2], [0, 3], [0, 1]], "row 2", "[0, 3] after [1, 2]"),
        ([0, 1], "pairs", "int64 of shape (2,)"),
        ([[0.0, 1.0]], "pairs", "float64 of shape (1, 2)"),
    ):
        assert refusal(Store(tmp_path).features.add_edges, KEY, np.array(edges)) == (subject, came)
    assert not list((tmp_path / "edges").iterdir())
    monkeypatch.setattr(uploaded_pairs, "MAX_PAIRS", 2)
    assert len(checked_edges(EDGES[:2])) == 2
    with refused("pairs", 3):
        checked_edges(EDGES)


def test_no_other_text_becomes_a_path():
    texts = ["csv-", "csv-" + "g" * 32, "csv-" + "a" * 31, "csv-" + "A" * 32, "../" + "a" * 32]
    for text in (*texts, f"csv-{'a' * 32}\n"):
        assert not is_edges_name(text), text
        assert not is_graph_name(text), text
    assert is_graph_name(f"csv-{'a' * 32}")


def test_a_refusal_of_a_csv_names_the_file(tmp_path, monkeypatch):
    ids = ["a", "b", "c", "d"]
    long = "x" * 600
    assert refusal(read_pairs, long, b"", ids) == (f"{long}, line 1", "nothing")
    with refused("p  1.csv, line 3", "a and b again, as in line 2"):
        read_pairs("p  1.csv", b"i,j\na,b\nb,a\n", ids)
    with refused("p.csv, line 2", "nothing") as caught:
        read_pairs("p.csv", b"i,j\n", ids)
    assert caught.value.remedy
    np.testing.assert_array_equal(read_pairs("p.csv", b"i,j\nd,b\na,c\n", ids), [[0, 2], [1, 3]])
    monkeypatch.setattr(uploaded_pairs, "MAX_PAIRS", 2)
    np.testing.assert_array_equal(read_pairs("p.csv", b"i,j\na,b\na,c\n", ids), [[0, 1], [0, 2]])
    assert refusal(read_pairs, "p.csv", b"i,j\na,b\na,c\na,d\n", ids) == ("p.csv, line 4", "more")
