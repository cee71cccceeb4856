"""What tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

BESIDE_THE_REPOSITORY = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data sets, no part of the product: $RANKING_REAL_DATA or ../shared/data."""
    folder = Path(os.environ.get("RANKING_REAL_DATA") or BESIDE_THE_REPOSITORY)
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set RANKING_REAL_DATA to its folder to run this test")
    return folder
