"""The contract tests run over the examples of docs/extending.md, in a copy of the checkout that has them. No file of
the tests has to change for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from test_extending import FILES, extended

CONTRACTS = (
    *("tests/losses", "tests/inference", "tests/methods", "tests/features/test_features.py", "tests/formats"),
    *("tests/estimators", "tests/core", "tests/commands/test_worker.py", "tests/pages/test_every_page.py"),
    *(
        "tests/pages/test_train.py",
        "tests/pages/test_parts.py",
        "tests/test_imports.py",
        "tests/test_words.py",
    ),
)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return extended(tmp_path_factory.mktemp("extended") / "copy")


def check(copy: Path, *command: str) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2000:]


def test_they_keep_all_contracts(copy: Path) -> None:
    check(copy, "pytest", "-n", "2", "-p", "no:cacheprovider", *CONTRACTS)


def test_their_style_and_types_are_checked(copy: Path) -> None:
    check(copy, "ruff", "check", *FILES)
    check(copy, "ruff", "format", "--check", *FILES)
    check(copy, "mypy", *(name for name in FILES if not name.startswith("tests/")))
