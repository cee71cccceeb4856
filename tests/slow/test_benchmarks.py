"""Each benchmark runs to its end on a small problem, so that none is broken when it is needed.

The benchmarks are the programs of the folder that take the options of `timing.options_of`, --smoke among them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
# processes of fuzz_import
PARTS = {"fuzz_worker"}
PROGRAMS = [path for path in sorted(BENCHMARKS.glob("*.py")) if "__main__" in path.read_text("utf-8")]


def test_benchmarks_were_found():
    assert len(PROGRAMS) >= 15


@pytest.mark.parametrize(
    "path", [path for path in PROGRAMS if path.stem not in PARTS], ids=lambda path: path.stem
)
def test_a_benchmark_runs(path, tmp_path):
    finished = subprocess.run(
        [sys.executable, str(path), "--smoke"],
        cwd=tmp_path,
        env={**os.environ, "RANKING_HOME": str(tmp_path / "home"), "PYTHONPATH": str(BENCHMARKS.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # it may wait for a busy machine
        timeout=1200,
    )
    assert finished.returncode == 0, finished.stdout[-3000:]
    assert re.search(r"^\|[-:|]+\|$", finished.stdout, re.M), f"no table in {finished.stdout[-3000:]}"
