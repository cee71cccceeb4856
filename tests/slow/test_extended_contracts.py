"""The contract tests run over the examples of docs/extending.md, in a copy of the checkout that has them. No file of
the tests has to change for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from test_extending import FILES, extended

# Of the contract tests: those whose names have a name of an example, and those that go through all names at once.
PER_NAME = ("losses", "inference", "methods", "features/test_features.py", "formats", "estimators")
EXAMPLES = "(rbp or Pair or Brightness or lines) and not pairs and not pairwise"
OF_ALL = ("formats/test_sources.py", "core", "pages/test_every_page.py", "test_imports.py", "test_words.py")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return extended(tmp_path_factory.mktemp("extended") / "copy")


def check(copy: Path, *command: str) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2000:]


def test_they_keep_all_contracts(copy: Path) -> None:
    pytest = ("pytest", "-n", "2", "-p", "no:cacheprovider")
    check(copy, *pytest, *(f"tests/{name}" for name in PER_NAME), "-k", EXAMPLES)
    check(copy, *pytest, *(f"tests/{name}" for name in OF_ALL))


def test_their_style_and_types_are_checked(copy: Path) -> None:
    check(copy, "ruff", "check", *FILES)
    check(copy, "ruff", "format", "--check", *FILES)
    check(copy, "mypy", *(name for name in FILES if not name.startswith("tests/")))
