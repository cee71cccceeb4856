"""Files as people have them, each with what is right, beside the repository: all are read right, asked about or refused
as their owners expect."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECK = ROOT.parent / "shared" / "cases" / "check.py"


@pytest.mark.skipif(not CHECK.exists(), reason=f"no import cases at {CHECK.parent}")
def test_all_import_cases_are_read_as_their_owners_expect():
    # A busy machine may need longer than the limit of the program.
    command = [sys.executable, str(CHECK), "--seconds", "600"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
