from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from refusals import refused

from ranking.storage.run_files import read_scores

SCORES = np.linspace(-1.0, 1.0, 7)


def saved(file: Path, scores: object) -> Path:
    np.save(file, scores)
    return file


def test_scores_come_back_as_they_were_saved(tmp_path):
    for dtype in (np.float64, np.float32, ">f8"):
        file = saved(tmp_path / "scores.npy", SCORES.astype(dtype))
        np.testing.assert_array_equal(read_scores(file, "a run", 7), SCORES.astype(dtype))
    infinite = saved(tmp_path / "scores.npy", [np.inf, -np.inf])
    assert read_scores(infinite, "a run", 2).tolist() == [np.inf, -np.inf]


@pytest.mark.parametrize(
    "scores", [np.full(7, np.nan), np.r_[SCORES[1:], np.nan], SCORES[None], "a" * 7, range(7)]
)
def test_invalid_scores_are_refused(tmp_path, scores):
    with refused("scores of a run"):
        read_scores(saved(tmp_path / "scores.npy", scores), "a run", 7)


@pytest.mark.parametrize("content", [None, b"", b"garbage" * 100, b"\x93NUMPY\x09\x00", b"PK\x03\x04" * 50])
def test_missing_and_damaged_scores_files_are_refused(tmp_path, content):
    file = tmp_path / "scores.npy"
    if content is not None:
        file.write_bytes(content)
    with refused("scores of a run") as caught:
        read_scores(file, "a run", 7)
    assert "pickle" not in str(caught.value)
