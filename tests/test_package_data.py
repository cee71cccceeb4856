"""What an installed package reads beside its modules is declared as package data, so that a wheel has it."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["*"]


def test_every_file_beside_the_modules_is_package_data():
    files = [file for file in (ROOT / "ranking").rglob("*") if file.is_file() and file.suffix != ".py"]
    beside = [file for file in files if file.parent.name != "__pycache__"]
    assert beside
    assert [file.name for file in beside if not any(file.match(pattern) for pattern in DECLARED)] == []
