"""A small file of Relative Attributes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from archives import in_memory
from import_folders import lay
from scipy.io import savemat


def pubfig_parts(images: int = 21) -> dict[str, Any]:
    """What such a file holds: two people with 11 and 10 images, three attributes, five features."""
    people = np.arange(images) % 2 + 1
    return {
        "feat": np.random.default_rng(9).random((images, 5)),
        "class_labels": people[:, None].astype(float),
        "used_for_training": (np.arange(images) % 4 < 2)[:, None].astype(float),
        "relative_ordering": np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]]),
        "im_names": cell([f"face_{number}.jpg" for number in range(images)]),
        "class_names": cell(["CliveOwen", "Zac"]),
        "attribute_names": cell(["Smiling", "BigLips", "Young"]),
        "spare": {"a": "struct"},
    }


def cell(texts: list[str]) -> np.ndarray:
    made = np.empty((1, len(texts)), object)
    made[0, :] = texts
    return made


def as_mat(parts: dict[str, Any], compress: bool = True) -> bytes:
    return in_memory(lambda stream: savemat(stream, parts, do_compression=compress))


def some_pubfig(folder: Path) -> Path:
    return lay(folder, {"pubfig_data.mat": as_mat(pubfig_parts())}) / "pubfig_data.mat"


FILES = {"Public figures": some_pubfig}
