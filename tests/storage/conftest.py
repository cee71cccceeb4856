"""What tests of the storage share: a home without the bundled examples."""

from __future__ import annotations

from pathlib import Path

import pytest

from ranking.storage import store as store_module
from ranking.storage.store import Store


@pytest.fixture
def no_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "BUNDLED", ())


@pytest.fixture
def store(tmp_path: Path, no_examples: None) -> Store:
    return Store(tmp_path / "home")
