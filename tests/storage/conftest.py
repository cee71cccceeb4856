"""What tests of the storage share: a home without the bundled examples."""

from __future__ import annotations

from pathlib import Path

import pytest

from ranking.storage import examples
from ranking.storage.store import Store


@pytest.fixture
def no_examples(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(examples, "FOLDER", tmp_path / "no examples")


@pytest.fixture
def store(tmp_path: Path, no_examples: None) -> Store:
    return Store(tmp_path / "home")
