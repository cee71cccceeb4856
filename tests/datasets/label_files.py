"""Small files of labelled images in the forms that strangers keep them in."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image

LABELS = ("sea", "sky", "sun", "tree")


def drawn_labels(rows: int = 40) -> np.ndarray:
    """(rows, 4) bool: each label is had by many."""
    return np.random.default_rng(5).random((rows, len(LABELS))) < 0.6


def corel5k_parts(rows: int = 40, features: int = 6) -> dict[str, np.ndarray]:
    """The arrays of such a file; the last quarter tests."""
    X = np.random.default_rng(6).random((rows, features)) < 0.5
    parts = {
        "label_names": np.array(LABELS),
        "n_train": np.array(rows * 3 // 4),
        "n_features": np.array(features),
    }
    for name, matrix in (("X", X), ("Y", drawn_labels(rows))):
        parts[f"{name}_indices"] = np.nonzero(matrix)[1].astype(np.int32)
        parts[f"{name}_indptr"] = np.concatenate([[0], np.cumsum(matrix.sum(axis=1))]).astype(np.int32)
    return parts


def as_npz(parts: dict[str, np.ndarray]) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **parts)  # type: ignore[arg-type]
    return stream.getvalue()


def some_corel5k(folder: Path) -> Path:
    file = folder / "corel5k.npz"
    file.write_bytes(as_npz(corel5k_parts()))
    return file


HEADER = """% a comment
@relation 'some scenes'
@attribute red numeric
@attribute 'how blue' real
@attribute wet {0,1}
@attribute sea {0,1}
@attribute sky {0,1}
@attribute sun {0,1}
@attribute tree {0,1}
@data
"""
XML = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="sea"></label><label name="sky"><label name="sun"></label></label><label name="tree"></label>
</labels>
"""


def some_arff(folder: Path) -> Path:
    random = np.random.default_rng(7)
    rows = []
    for number, labels in enumerate(drawn_labels().astype(int)):
        cells = [*random.random(2).round(3), number % 2, *labels]
        if number % 3 == 0:
            rows.append("{" + ", ".join(f"{place} {cell}" for place, cell in enumerate(cells) if cell) + "}")
        else:
            rows.append(",".join(map(str, cells)))
    file = folder / "scenes.arff"
    file.write_text(HEADER + "\n".join(rows) + "\n")
    file.with_suffix(".xml").write_text(XML)
    return file


def draw(file: Path, number: int) -> None:
    file.parent.mkdir(exist_ok=True)
    pixels = np.random.default_rng(number).integers(0, 256, (20, 30, 3), np.uint8)
    Image.fromarray(pixels).save(file)


def some_csv(folder: Path, rows: int = 12) -> Path:
    lines = ["image,labels"]
    for number, labels in enumerate(drawn_labels(rows)):
        draw(folder / f"{number}.png", number)
        lines.append(f"{number}.png,{'; '.join(np.array(LABELS)[labels])}")
    file = folder / "labels.csv"
    file.write_text("\n".join(lines))
    return file
