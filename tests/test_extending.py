"""The examples of docs/extending.md, added as a newcomer does: new files in a copy of the checkout, and tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "extending.md").read_text("utf-8")
FILES = {name: code for name, code in re.findall(r"```python\n# (\S+)\n(.*?)```", TEXT, re.DOTALL)}
MENU = "pages/parts/app/menu.py"
# of the menu: the lines of the examples, and the line below which they are added
MENU_LINES = "".join(re.findall(r"```text\n(.*?\n)```", TEXT))
BESIDE = re.compile(r'( +"speed_lab": .*\n)')
TESTS = [name for name in FILES if Path(name).name.startswith("test_")]


def extended(copy: Path) -> Path:
    """A checkout with all examples: copies of the files of this one, and new files, none of which replaces one."""
    for folder in ("ranking", "pages", "tests"):
        # With their times, so that compiled code stays valid, but for what other processes are writing.
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("*.pyc.*", "*.tmp.*"))
    for path in ROOT.iterdir():
        if not (copy / path.name).exists() and (path.name == ".streamlit" or path.name[0] != "."):
            (shutil.copy2 if path.is_file() else os.symlink)(path, copy / path.name)
    for name, code in FILES.items():
        assert not (copy / name).exists(), name
        (copy / name).write_text(code, "utf-8")
    (copy / MENU).write_text(BESIDE.sub(rf"\1{MENU_LINES}", (ROOT / MENU).read_text("utf-8")), "utf-8")
    return copy


def test_examples_were_found() -> None:
    assert len(TESTS) == 6
    assert MENU_LINES.count("\n") == 2
    assert MENU_LINES in BESIDE.sub(rf"\1{MENU_LINES}", (ROOT / MENU).read_text("utf-8"))


def test_the_tests_of_all_examples_pass(tmp_path: Path) -> None:
    copy = extended(tmp_path / "copy")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *TESTS]
    # It is a session of its own, also where this test runs in one of several processes, which share their homes.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
