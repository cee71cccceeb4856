"""PASCAL VOC folders for the tests of sources."""

from __future__ import annotations

import pytest
from voc_tree import VocTree, two_images


@pytest.fixture
def empty_voc(tmp_path):
    return VocTree(tmp_path / "voc")


@pytest.fixture
def voc(tmp_path):
    return two_images(tmp_path / "voc")
