"""Large matrices of features: mapped files that hold the same numbers as small ones have in memory."""

from __future__ import annotations

import logging
from itertools import product

import numpy as np
import pytest

from ranking.core import LARGEST, all_within, arrays, blocks_of_rows
from ranking.features import cached_features, load_features, matrix_files, rows_of

PARTS = [("HOG", {"side": 32}), ("Colour", {"bins": 4}), ("Colour of the image", {"bins": 2})]


@pytest.fixture
def in_memory(noise, tmp_path):
    return load_features(noise, PARTS, tmp_path / "small")


@pytest.fixture
def large(monkeypatch, in_memory):
    """Every matrix is large, and blocks have few rows."""
    monkeypatch.setattr(matrix_files, "LARGE", 0)
    monkeypatch.setattr(arrays, "BLOCK", 1000)


def files(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.usefixtures("large")
def test_a_large_matrix_is_a_mapped_file_and_needs_no_parts(noise, tmp_path, in_memory):
    folder = tmp_path / "large"
    whole = load_features(noise, PARTS, folder)
    assert len(files(folder)) == len(PARTS) + 1
    assert whole.tobytes() == in_memory.tobytes()
    first = load_features(noise, PARTS[:1], folder)
    part = whole[:, : first.shape[1]]
    assert first * np.linalg.norm(part, axis=1, keepdims=True) == pytest.approx(part, abs=1e-6)
    for mapped in (whole, first):
        assert isinstance(mapped, np.memmap)
        assert not mapped.flags.writeable
    for file in folder.iterdir():
        if file.name != whole.filename.name:
            file.unlink()
    assert cached_features(noise, PARTS, folder).tobytes() == in_memory.tobytes()
    assert cached_features(noise, PARTS[::-1], folder) is None
    parts_alone = tmp_path / "small"
    assert cached_features(noise, PARTS, parts_alone).tobytes() == in_memory.tobytes(), "nothing is computed"


@pytest.mark.usefixtures("large")
def test_a_damaged_file_is_logged_and_written_again(noise, tmp_path, in_memory, caplog):
    file = load_features(noise, PARTS, tmp_path / "large").filename
    for rest in (0, 40, 200):
        file.write_bytes(file.read_bytes()[:rest])
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            assert load_features(noise, PARTS, tmp_path / "large").tobytes() == in_memory.tobytes()
        assert file.name in caplog.text, rest


@pytest.mark.usefixtures("large")
def test_an_error_while_parts_are_put_side_by_side_leaves_no_partial_file(noise, tmp_path):
    steps = []

    def end(what, done, total):
        steps.append((what, done, total))
        # rows and no longer images
        if total == len(noise):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load_features(noise, PARTS, tmp_path / "large", end)
    assert steps[-1][1:] == (2, len(noise))
    assert len(files(tmp_path / "large")) == len(PARTS)


@pytest.mark.usefixtures("large")
def test_rows_that_follow_each_other_are_not_copied_others_are_a_file_without_a_name(noise, tmp_path):
    features = load_features(noise, PARTS, tmp_path / "large")
    before = files(tmp_path / "large")
    plain = np.asarray(features)
    for rows, given in product(([0, 1, 2, 5, 8], [3, 4, 5], [0], [8], range(9)), (features, plain)):
        chosen = np.isin(np.arange(9), list(rows))
        part = rows_of(given, chosen)
        assert part.tobytes() == np.asarray(features)[chosen].tobytes()
        assert isinstance(part, np.memmap)
        assert np.shares_memory(part, features) == (len(rows) != 5)
    assert files(tmp_path / "large") == before


def test_few_rows_and_those_of_a_matrix_in_memory_are_copied(noise, tmp_path, in_memory, monkeypatch):
    odd = np.arange(9) % 2 == 1
    assert type(rows_of(in_memory, odd)) is np.ndarray
    assert rows_of(in_memory, odd).tobytes() == in_memory[odd].tobytes()
    monkeypatch.setattr(matrix_files, "LARGE", in_memory.nbytes)
    mapped = load_features(noise, PARTS, tmp_path / "small")
    assert isinstance(mapped, np.memmap)
    assert type(rows_of(mapped, odd)) is np.ndarray
    assert rows_of(mapped, odd).tobytes() == in_memory[odd].tobytes()
    assert rows_of(mapped, np.zeros(9, bool)).shape == (0, in_memory.shape[1])


def test_blocks_hold_every_row_once(monkeypatch):
    monkeypatch.setattr(arrays, "BLOCK", 12)
    for n, d in [(0, 3), (3, 0), (1, 1), (7, 3), (8, 3), (9, 3), (5, 100)]:
        blocks = list(blocks_of_rows((n, d)))
        assert [row for block in blocks for row in range(n)[block]] == list(range(n))
        assert all(block.stop - block.start <= max(1, 12 // max(1, d)) for block in blocks)


def test_one_number_that_is_not_finite_is_seen_at_every_position(monkeypatch):
    monkeypatch.setattr(arrays, "BLOCK", 12)
    for wrong in (np.nan, np.inf, -np.inf):
        for position in range(27):
            matrix = np.zeros((9, 3), np.float32)
            assert all_within(matrix, LARGEST)
            matrix.flat[position] = wrong
            assert not all_within(matrix, LARGEST)
