"""Large matrices of features: mapped files that hold the same numbers as what small ones have in memory."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from ranking.datasets import build_image_set
from ranking.features import cached_features, load_features, matrix_files, rows_of
from ranking.types import all_finite, arrays, blocks_of_rows
from tests.features.test_extract import Noise

PARTS = [("HOG", {"side": 32}), ("Colour", {"bins": 4}), ("Colour of the image", {"bins": 2})]


@pytest.fixture(scope="module")
def noise(tmp_path_factory):
    return build_image_set(Noise(), tmp_path_factory.mktemp("noise") / "set")[0]


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
@pytest.mark.parametrize("parts", [PARTS, PARTS[:1]])
def test_a_large_matrix_is_a_mapped_file_of_the_same_numbers(noise, tmp_path, parts, monkeypatch):
    found = load_features(noise, parts, tmp_path / "large")
    assert isinstance(found, np.memmap)
    assert not found.flags.writeable
    monkeypatch.setattr(matrix_files, "LARGE", 1 << 40)
    assert found.tobytes() == load_features(noise, parts, tmp_path / "small").tobytes()


@pytest.mark.usefixtures("large")
def test_what_is_side_by_side_already_needs_no_parts(noise, tmp_path, in_memory):
    folder = tmp_path / "large"
    load_features(noise, PARTS, folder)
    assert len(files(folder)) == len(PARTS) + 1
    whole = cached_features(noise, PARTS, folder)
    assert isinstance(whole, np.memmap)
    for file in folder.iterdir():
        if file.name != whole.filename.name:
            file.unlink()
    assert cached_features(noise, PARTS, folder).tobytes() == in_memory.tobytes()
    assert cached_features(noise, PARTS[::-1], folder) is None


@pytest.mark.usefixtures("large")
def test_parts_that_are_kept_are_put_side_by_side_without_computing(noise, tmp_path, in_memory):
    folder = tmp_path / "small"
    assert cached_features(noise, PARTS, folder).tobytes() == in_memory.tobytes()


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("rest", [0, 40, 200])
def test_a_damaged_file_is_said_and_written_again(noise, tmp_path, in_memory, caplog, rest):
    folder = tmp_path / "large"
    file = load_features(noise, PARTS, folder).filename
    file.write_bytes(file.read_bytes()[:rest])
    with caplog.at_level(logging.WARNING):
        assert load_features(noise, PARTS, folder).tobytes() == in_memory.tobytes()
    assert "cannot be read" in caplog.text


@pytest.mark.usefixtures("large")
def test_who_ends_it_while_parts_are_put_side_by_side_is_heard_and_leaves_nothing_half(noise, tmp_path):
    told = []

    def end(what, done, total):
        told.append((what, done, total))
        if what == "Features side by side":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load_features(noise, PARTS, tmp_path / "large", end)
    assert told[-1] == ("Features side by side", 2, len(noise))
    assert len(files(tmp_path / "large")) == len(PARTS)


@pytest.mark.usefixtures("large")
def test_rows_that_follow_each_other_are_not_copied_others_are_a_file_without_a_name(noise, tmp_path):
    features = load_features(noise, PARTS, tmp_path / "large")
    before = files(tmp_path / "large")
    for rows in ([0, 1, 2, 5, 8], [3, 4, 5], [0], [8], range(9)):
        chosen = np.isin(np.arange(9), list(rows))
        found = rows_of(features, chosen)
        assert found.tobytes() == np.asarray(features)[chosen].tobytes()
        assert isinstance(found, np.memmap)
        assert np.shares_memory(found, features) == (len(rows) != 5)
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


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (7, 3), (8, 3), (9, 3), (5, 100)])
def test_blocks_hold_every_row_once(monkeypatch, shape):
    monkeypatch.setattr(arrays, "BLOCK", 12)
    rows = [row for block in blocks_of_rows(shape) for row in range(shape[0])[block]]
    assert rows == list(range(shape[0]))
    assert all(block.stop - block.start <= max(1, 12 // max(1, shape[1])) for block in blocks_of_rows(shape))


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_one_number_that_is_not_finite_is_found_wherever_it_is(monkeypatch, wrong):
    monkeypatch.setattr(arrays, "BLOCK", 12)
    matrix = np.zeros((9, 3), np.float32)
    assert all_finite(matrix)
    for place in range(27):
        matrix.flat[place] = wrong
        assert not all_finite(matrix)
        matrix.flat[place] = 0
