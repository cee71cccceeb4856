"""Vectors in a Parquet file: columns of numbers, or one of lists; read by another program, which may fail alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ranking.core import Problem
from ranking.core.text import readable
from ranking.features.own.array_files import ID_NAMES, MOST_TRIED, Array, ArrayFile, Listed
from ranking.features.vector_files import MOST_COLUMNS
from ranking.files import Limits
from ranking.files.limits import variable
from ranking.files.parquet_tables import LISTS, Most, describe_columns, write_numbers, write_texts

ALL_NUMBERS = "all columns of numbers"
TEXTS = "texts.json"
INDEX = "__index_level_"  # how pandas calls a column that nobody named
# Columns that tell of a sample what features may not: its label, its side of the split, where its box lies.
LABELS = {"label", "labels", "class", "classes", "target", "y", "query", "relevance", "grade"}
SIDES = {"id", "ids", "index", "split", "test", "train", "fold", "group"}
BOXES = {"left", "top", "right", "bottom", "xmin", "ymin", "xmax", "ymax"}
NO_FEATURES = LABELS | SIDES | BOXES


class ParquetFile(ArrayFile):
    """A column is an array; its columns of numbers are one more, together. scratch: a folder for what is read."""

    kind = "Parquet table"

    def __init__(self, path: Path, limits: Limits, scratch: Path) -> None:
        self._path, self._scratch = path, scratch
        size, name = limits.vector_bytes, variable("vector_bytes")
        self._most = Most(size, MOST_COLUMNS + 100, size // 2, name, f"half of {name}")
        described = describe_columns(path, self._most, ID_NAMES, MOST_TRIED, scratch / TEXTS)
        self._texts = self._read_texts()
        self._rows: int = described["rows"]
        self._columns: dict[str, dict[str, Any]] = {column["name"]: column for column in described["columns"]}
        self._shown = {readable(name): name for name in self._columns}
        self.listed = [self._listed(shown, self._columns[name]) for shown, name in self._shown.items()]
        if together := self._together(""):
            self.listed.insert(0, Listed(ALL_NUMBERS, (self._rows, len(together)), "float32"))
            self.problems = tuple(_no_feature(shown) for shown in self._shown if shown.lower() in NO_FEATURES)

    def _listed(self, shown: str, column: dict[str, Any]) -> Listed:
        holds, dtype = column["holds"], str(column["type"])
        why = "" if self._rows else "it is empty"
        if holds == LISTS:
            why = why or ("" if column["width"] else "its first list is empty")
            return Listed(shown, (self._rows, column["width"]), f"{dtype} of lists", why)
        if holds not in ("numbers", "text"):
            return Listed(shown, (), dtype, "it holds neither numbers, lists of numbers nor text")
        float_ = dtype.replace("double", "float64").replace("halffloat", "float16")
        return Listed(shown, (self._rows,), float_, why, "text" if holds == "text" else "numbers")

    def _together(self, without: str) -> list[str]:
        """The columns of numbers but for that of ids."""
        return [
            name
            for name, column in self._columns.items()
            if column["holds"] == "numbers"
            and readable(name) != without
            and readable(name).lower() not in NO_FEATURES
            and not name.startswith(INDEX)
        ]

    def numbers(self, name: str, ids: str) -> Array:
        names = self._together(ids) if name == ALL_NUMBERS else [self._shown[name]]
        target = self._scratch / "numbers.npy"
        write_numbers(self._path, self._most, names, target)
        matrix: Array = np.load(target, mmap_mode="r", allow_pickle=False)
        return matrix

    def texts(self, name: str) -> list[str]:
        column = self._shown[name]
        if column not in self._texts:
            write_texts(self._path, self._most, column, self._scratch / TEXTS)
            self._texts |= self._read_texts()
        return self._texts[column]

    def _read_texts(self) -> dict[str, list[str]]:
        texts = json.loads((self._scratch / TEXTS).read_text("utf-8"))
        return {str(column): [str(cell) for cell in cells] for column, cells in texts.items()}


def _no_feature(shown: str) -> Problem:
    done = f"left out of “{ALL_NUMBERS}”; rename it where it is one"
    return Problem(f"column {shown}", "columns of features", "a name that says it is none", done)
