"""Broken files of each kind, imported in this process: each is imported, or refused by an error of ours."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import fuzz_bringing
import fuzz_worker
from fuzz_kinds import KINDS, Kind

FEW = {"Parquet, a box a row": 2, "exported trainings": 6}  # which take a tenth of a second each


class Nobody:
    """Watches nothing: hooks would stay in this process."""

    def taken(self) -> list[str]:
        return []


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.filterwarnings("ignore")
def test_broken_files_are_imported_or_refused_by_errors_of_ours(make: Any, tmp_path: Path) -> None:
    kind = make()
    fuzz_worker.check_good(kind, tmp_path)
    for number in range(FEW.get(kind.name, 25)):
        file = fuzz_worker.file_of(kind, "a test", number)
        findings = fuzz_worker.fed(kind, file, tmp_path, Nobody())["findings"]  # type: ignore[arg-type]
        assert findings == [], (kind.name, number)


@pytest.mark.parametrize(
    ("number", "finding"), [(0, "KeyError"), (1, "ValueError"), (2, "cannot be printed"), (3, "")]
)
def test_what_must_not_happen_is_a_finding(number: int, finding: str, tmp_path: Path) -> None:
    def bring(number: int, data: bytes, home: Path) -> Any:
        match number:
            case 0:
                raise KeyError("x")
            case 1:
                int("x")
        return fuzz_bringing.Came("imported", ["a\nb"] if number == 2 else [])

    kind = Kind("bad", 1, [], bring)
    findings = fuzz_worker.fed(kind, (number, b""), tmp_path, Nobody())["findings"]  # type: ignore[arg-type]
    assert len(findings) == bool(finding)
    assert finding in "".join(findings)
