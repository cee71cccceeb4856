"""A CSV of pairs: read within limits, by a process of its own, which keeps what is none from being kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ranking import own_edges
from ranking.datasets import ready_made_folder
from ranking.own_edges import keep_pairs_apart, read_pairs
from ranking.room_quotas import DISK, FullError
from ranking.rooms import Rooms
from ranking.store import Store

IDS = ["a", "b", "c", "d"]


@pytest.fixture
def here(tmp_path: Path) -> tuple[Store, str]:
    """A home, and the key of the image set in it."""
    store, folder = Store(tmp_path), ready_made_folder()
    assert folder is not None
    return store, store.adopt(folder, "ready-made")


def test_pairs_are_on_the_disk_when_it_answers_in_any_order(here: tuple[Store, str]) -> None:
    store, key = here
    ids = store.image_set(key).ids
    name = keep_pairs_apart(store, key, "pairs.csv", f"i,j\n{ids[3]},{ids[1]}\n{ids[0]},{ids[2]}\n".encode())
    np.testing.assert_array_equal(store.edges_of(key, name), [[0, 2], [1, 3]])


def test_a_refusal_names_the_file_and_keeps_its_words_to_the_last(here: tuple[Store, str]) -> None:
    store, key = here
    ids, long = store.image_set(key).ids, "x" * 600
    data = f"i,j\n{ids[0]},{ids[1]}\n{ids[1]},{ids[0]}\n".encode()
    with pytest.raises(
        ValueError, match=r"^p  1\.csv, line 3: expected each pair once, .*; remove one of the two lines$"
    ):
        keep_pairs_apart(store, key, "p  1.csv", data)
    with pytest.raises(
        ValueError, match=rf"^{long}, line 1: expected the column names i and j, got nothing; put"
    ):
        keep_pairs_apart(store, key, long, b"")
    assert not list(store.edges.rglob("*.npy"))


def test_a_set_that_is_not_here_is_no_fault_of_the_csv(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^image set: .*'gone'"):
        keep_pairs_apart(Store(tmp_path), "gone", "pairs.csv", b"i,j\n")


def test_a_full_room_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages offer to make space where this error comes, and not for its words alone."""
    folder, room = ready_made_folder(), Store(Rooms(tmp_path).make("room-of-anna"))
    assert folder is not None
    key = room.adopt(folder, "ready-made")
    ids = room.image_set(key).ids
    monkeypatch.setenv(DISK, "1")
    with pytest.raises(FullError, match="this room is full"):
        keep_pairs_apart(room, key, "pairs.csv", f"i,j\n{ids[0]},{ids[1]}\n".encode())
    monkeypatch.delenv(DISK)
    assert keep_pairs_apart(room, key, "pairs.csv", f"i,j\n{ids[0]},{ids[1]}\n".encode())


def test_too_many_pairs_are_refused_at_the_first_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_edges, "MOST_PAIRS", 2)
    np.testing.assert_array_equal(read_pairs(b"i,j\na,b\na,c\n", IDS), [[0, 1], [0, 2]])
    with pytest.raises(ValueError, match=r"^line 4: expected at most 2 pairs, got more; leave some out$"):
        read_pairs(b"i,j\na,b\na,c\na,d\n", IDS)


def test_no_pair_at_all_is_refused_with_the_remedy() -> None:
    with pytest.raises(
        ValueError, match=r"^line 2: expected a pair of samples, got nothing; write one below"
    ):
        read_pairs(b"i,j\n", IDS)
