"""A small file of Corel5k."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from archives import in_memory
from import_folders import lay

LABELS = ("sea", "sky", "sun", "tree")


def random_labels(rows: int = 40) -> np.ndarray:
    """(rows, 4) bool: each label is had by many."""
    return np.random.default_rng(5).random((rows, len(LABELS))) < 0.6


def random_features(rows: int = 40) -> np.ndarray:
    """(rows, 6) bool."""
    return np.random.default_rng(6).random((rows, 6)) < 0.5


def corel5k(**changes: Any) -> bytes:
    """The bytes of a Corel5k file of 40 rows, of which 10 are for testing."""
    # changes: of its arrays, or of what each is; None: the array is missing.
    parts: dict[str, Any] = {
        "label_names": np.array(LABELS),
        "n_train": np.array(30),
        "n_features": np.array(6),
    }
    for name, matrix in (("X", random_features()), ("Y", random_labels())):
        parts[f"{name}_indices"] = np.nonzero(matrix)[1].astype(np.int32)
        parts[f"{name}_indptr"] = np.concatenate([[0], np.cumsum(matrix.sum(axis=1))]).astype(np.int32)
    for name, change in changes.items():
        parts[name] = change(parts[name]) if callable(change) else change
    return in_memory(
        lambda stream: np.savez_compressed(
            stream, **{name: part for name, part in parts.items() if part is not None}
        )
    )


def some_corel5k(folder: Path) -> Path:
    return lay(folder, {"corel5k.npz": corel5k()}) / "corel5k.npz"


FILES = {"Corel5k": some_corel5k}
