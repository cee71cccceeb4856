"""Small files of labelled images in the forms that strangers keep them in."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from scipy.io import savemat

from ranking.types import Problem, SourceImage

LABELS = ("sea", "sky", "sun", "tree")


def images_and_problems(source: Any) -> tuple[list[SourceImage], list[Problem]]:
    records = list(source.records())
    images = [item for item in records if isinstance(item, SourceImage)]
    return images, [item for item in records if isinstance(item, Problem)]


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


def some_numbers_csv(folder: Path, rows: int = 12) -> Path:
    lines = ["image,year,price"]
    for number in range(rows):
        draw(folder / f"{number}.png", number)
        lines.append(f"{number}.png,{1920 + number},{'?' if number % 3 else number / 4}")
    file = folder / "numbers.csv"
    file.write_text("\n".join(lines))
    return file


def some_svmlight(folder: Path, queries: int = 8) -> Path:
    random = np.random.default_rng(8)
    lines = []
    for query in range(1, queries + 1):
        for _ in range(int(random.integers(3, 7))):
            pairs = " ".join(f"{place}:{value:.3f}" for place, value in enumerate(random.random(4), 1))
            lines.append(f"{random.integers(0, 4)} qid:{query} {pairs} # a page")
    file = folder / "rank.train"
    file.write_text("\n".join(lines))
    return file


def pubfig_parts(images: int = 21) -> dict[str, object]:
    """What such a file holds: two people with 11 and 10 images, three attributes, five features."""
    random = np.random.default_rng(9)
    people = np.arange(images) % 2 + 1
    return {
        "feat": random.random((images, 5)),
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


def as_mat(parts: dict[str, object], compress: bool = True) -> bytes:
    stream = io.BytesIO()
    savemat(stream, parts, do_compression=compress)
    return stream.getvalue()


def some_pubfig(folder: Path) -> Path:
    file = folder / "pubfig_data.mat"
    file.write_bytes(as_mat(pubfig_parts()))
    return file
