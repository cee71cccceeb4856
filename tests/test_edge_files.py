"""Pairs that people brought, on disk: named by what is in them, whole or not there, and never another's."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from ranking import edge_files
from ranking.edge_files import checked_edges, edges_file, edges_name, is_edges_name, kept_edges
from ranking.image_graph import GRAPHS, is_graph_name
from ranking.store import Store

EDGES = np.array([[0, 2], [1, 2], [1, 7]])
KEY = "a" * 64


def test_pairs_come_back_under_a_name_of_their_content(tmp_path: Path) -> None:
    store = Store(tmp_path)
    name = store.keep_edges(KEY, EDGES)
    assert is_edges_name(name)
    assert name == edges_name(EDGES.astype(np.int32)) != edges_name(EDGES[:2])
    found = Store(tmp_path).edges_of(KEY, name)
    assert found is not None
    np.testing.assert_array_equal(found, EDGES)
    assert found.dtype == np.int64
    assert store.keep_edges(KEY, EDGES) == name, "harmless"
    empty = store.keep_edges(KEY, EDGES[:0])
    assert store.edges_of(KEY, empty).shape == (0, 2)
    assert [file.suffix for file in (tmp_path / "edges" / KEY).iterdir()] == [".npy", ".npy"]


def test_those_written_last_come_first_and_only_those_of_the_set(tmp_path: Path) -> None:
    store = Store(tmp_path)
    names = [store.keep_edges(KEY, EDGES[:count]) for count in (1, 2, 3)]
    for age, name in enumerate(names):
        os.utime(edges_file(store.edges, KEY, name), (1000 - age, 1000 - age))
    (store.edges / KEY / "csv-x.npy").touch()
    store.keep_edges("b" * 64, EDGES)
    assert kept_edges(store.edges, KEY) == names
    assert kept_edges(store.edges, "c" * 64) == []


@pytest.mark.parametrize("graph", [None, *GRAPHS])
def test_other_graphs_name_no_pairs(tmp_path: Path, graph: str | None) -> None:
    assert Store(tmp_path).edges_of(KEY, graph) is None


def test_what_is_not_here_says_where_and_what_to_do(tmp_path: Path) -> None:
    store = Store(tmp_path)
    name = store.keep_edges(KEY, EDGES)
    for key, other in (("b" * 64, name), (KEY, edges_name(EDGES[:1]))):
        with pytest.raises(
            ValueError, match=rf"the pairs of CSV .{{8}} are not in {tmp_path}; bring the CSV once more"
        ):
            store.edges_of(key, other)


def test_damage_is_noticed_and_bringing_them_again_mends_it(tmp_path: Path) -> None:
    store = Store(tmp_path)
    name = store.keep_edges(KEY, EDGES)
    file = edges_file(store.edges, KEY, name)
    whole = file.read_bytes()
    np.save(file, EDGES + 1)
    with pytest.raises(
        ValueError,
        match=r"were changed by another hand: expected .*csv-.*\.npy, got others, .*; bring the CSV once",
    ):
        store.edges_of(KEY, name)
    file.write_bytes(whole[:-3])
    with pytest.raises(
        ValueError, match=r"cannot be read: expected an array .*csv-.*\.npy, got .*; bring the CSV once more"
    ):
        store.edges_of(KEY, name)
    store.keep_edges(KEY, EDGES)
    assert file.read_bytes() == whole


@pytest.mark.parametrize(
    ("edges", "why"),
    [
        ([[1, 0]], r"row 0: expected .* its lower sample first, .* got \[1, 0\]; read them from a CSV"),
        ([[1, 1]], r"row 0: .* got \[1, 1\];"),
        ([[-1, 1]], r"row 0: .* got \[-1, 1\];"),
        ([[0, 1], [0, 1]], r"row 1: expected each pair once, .* got \[0, 1\] after \[0, 1\];"),
        ([[0, 2], [0, 1]], r"row 1: .* in ascending order, got \[0, 1\] after \[0, 2\];"),
        ([[0, 2], [1, 2], [0, 3], [0, 1]], r"row 2: .* got \[0, 3\] after \[1, 2\];"),
        ([0, 1], r"expected pairs as \(m, 2\) integers, got int64 of shape \(2,\); read them from a CSV"),
        ([[0.0, 1.0]], "got float64"),
    ],
)
def test_what_are_no_pairs_is_refused(tmp_path: Path, edges: list, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Store(tmp_path).keep_edges(KEY, np.array(edges))
    assert not list((tmp_path / "edges").iterdir())


def test_there_is_a_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_files, "MOST_PAIRS", 2)
    assert len(checked_edges(EDGES[:2])) == 2
    with pytest.raises(ValueError, match="expected at most 2 pairs, got 3; leave some out"):
        checked_edges(EDGES)


def test_a_full_disk_leaves_nothing_and_a_crash_is_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(np, "save", full)
        with pytest.raises(OSError, match="No space left"):
            store.keep_edges(KEY, EDGES)
    assert not list((store.edges / KEY).iterdir())
    name = store.keep_edges(KEY, EDGES)
    (store.edges / KEY / "x.part").touch()
    store.sweep()
    assert [file.stem for file in (store.edges / KEY).iterdir()] == [name]


@pytest.mark.parametrize(
    "text", ["csv-", "csv-" + "g" * 32, "csv-" + "a" * 31, "../" + "a" * 32, "csv-" + "A" * 32]
)
def test_no_other_text_becomes_a_path(text: str) -> None:
    assert not is_edges_name(text)
    assert not is_graph_name(text)
    assert not is_edges_name(f"csv-{'a' * 32}\n")
    assert is_graph_name(f"csv-{'a' * 32}")


def test_the_folder_of_pairs_is_made_where_a_home_lacks_it(tmp_path: Path) -> None:
    Store(tmp_path)
    (tmp_path / "edges").rmdir()  # a home of before there were any
    assert Store(tmp_path).keep_edges(KEY, EDGES)
