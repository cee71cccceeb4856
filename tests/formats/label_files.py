"""Small files of labelled images in the forms that strangers keep them in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from archives import in_memory
from brought import lay
from scipy.io import savemat

from ranking.core import Problem, SourceImage

LABELS = ("sea", "sky", "sun", "tree")


def images_and_problems(source: Any) -> tuple[list[SourceImage], list[Problem]]:
    records = list(source.records())
    images = [item for item in records if isinstance(item, SourceImage)]
    return images, [item for item in records if isinstance(item, Problem)]


def drawn_labels(rows: int = 40) -> np.ndarray:
    """(rows, 4) bool: each label is had by many."""
    return np.random.default_rng(5).random((rows, len(LABELS))) < 0.6


def drawn_features(rows: int = 40) -> np.ndarray:
    """(rows, 6) bool."""
    return np.random.default_rng(6).random((rows, 6)) < 0.5


def corel5k(**changes: Any) -> bytes:
    """The bytes of such a file of 40 rows, of which 10 test. changes: of its arrays, or of what each is; None: it is
    not there."""
    parts: dict[str, Any] = {
        "label_names": np.array(LABELS),
        "n_train": np.array(30),
        "n_features": np.array(6),
    }
    for name, matrix in (("X", drawn_features()), ("Y", drawn_labels())):
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


def some_svmlight(folder: Path, queries: int = 8) -> Path:
    random = np.random.default_rng(8)
    lines = []
    for query in range(1, queries + 1):
        for _ in range(int(random.integers(3, 7))):
            pairs = " ".join(f"{place}:{value:.3f}" for place, value in enumerate(random.random(4), 1))
            lines.append(f"{random.integers(0, 4)} qid:{query} {pairs} # a page")
    return lay(folder, {"rank.train": "\n".join(lines)}) / "rank.train"


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
