"""Image sets in memory, for tests that open no image."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ranking.types import ImageSet


def image_set(image_of: npt.ArrayLike, test: npt.ArrayLike, **columns: Any) -> ImageSet:
    """Samples in the images `image_of` (n,); `test` (m,): which images are for testing. `columns` replace others."""
    images, n, m = np.array(image_of, np.int32), np.size(image_of), np.size(test)
    usual = {
        "key": "key",
        "title": "Set",
        "folder": Path("nowhere"),
        "classes": (),
        "image_names": np.array([f"i{row:03}" for row in range(m)]),
        "image_files": np.array([f"{row}.png" for row in range(m)]),
        "image_sizes": np.full((m, 2), 9, np.int32),
        "image_test": np.array(test, bool),
        "boxes": np.tile(np.int32([0, 0, 9, 9]), (n, 1)),
        "image_of": images,
        "groups": images,
        "labels": np.zeros((n, 0), bool),
        "ids": np.array([f"s{row}" for row in range(n)]),
    }
    return ImageSet(**{**usual, **columns})
