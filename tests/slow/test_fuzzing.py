"""Broken files of each kind, imported in this process: each is imported, or refused by an error of ours."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import fuzz_worker
from fuzz_kinds import KINDS

# Arrays of numbers are quick, and most of their bytes are as good as others.
COUNTS = {"vectors as .npy": 200, "vectors as .npz": 200}


class Nobody:
    """Watches nothing: hooks would stay in this process."""

    def taken(self) -> list[str]:
        return []


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.filterwarnings("ignore")
def test_corrupted_files_are_imported_or_refused_without_a_crash(make, tmp_path):
    kind = make()
    fuzz_worker.check_good(kind, tmp_path)
    for number in range(COUNTS.get(kind.name, 25)):
        file = fuzz_worker.file_of(kind, "a test", number)
        findings = fuzz_worker.fed(kind, file, tmp_path, Nobody())["findings"]  # type: ignore[arg-type]
        assert findings == [], (kind.name, number)
