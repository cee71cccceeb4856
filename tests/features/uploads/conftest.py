"""What tests of vectors share: a small image set of cards."""

from __future__ import annotations

import pytest
from numbered_set import cards


@pytest.fixture(scope="session")
def images(tmp_path_factory):
    """Nine samples in nine images."""
    return cards(tmp_path_factory.mktemp("cards") / "set", [1] * 9)
