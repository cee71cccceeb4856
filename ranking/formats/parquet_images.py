"""Parquet tables that contain their images, as Hugging Face publishes data sets: each image becomes a file of the tree,
in a folder with the name of the table. Columns of numbers may state the names of classes."""

from __future__ import annotations

import bisect
import contextlib
import itertools
import json
import threading
from functools import lru_cache
from typing import Any, NamedTuple

from ranking.files import FileTree, Limits, Unusable
from ranking.files.parquet import batches, open_parquet, rows_of_group
from ranking.files.tree import base, suffix
from ranking.formats.file_names import is_image

# the first bytes of files of images: JPEG, PNG, GIF, WebP, BMP and TIFF
IMAGE_BEGINS = (b"\xff\xd8\xff", b"\x89PNG", b"GIF8", b"RIFF", b"BM", b"II*\0", b"MM\0*")
# of whose cells one decides whether a column contains images
ROWS = 20


class ImageColumn(NamedTuple):
    """A column of images. bytes: the column in it with their bytes. names: of the images in the tree, in order."""

    column: str
    bytes: str
    names: list[str]


def image_column(file: Any, table: str) -> ImageColumn | None:
    """Return the first column of an open Parquet file that contains images; None if there is none. table: its name."""
    from pyarrow import types

    for field in file.schema_arrow:
        is_struct = types.is_struct(field.type) and field.type.get_field_index("bytes") >= 0
        if not is_struct and not types.is_binary(field.type) and not types.is_large_binary(field.type):
            continue
        first: Any = next(batches(file, [field.name], ROWS), [[]])
        cells = (
            [cell["bytes"] if is_struct and cell else cell for cell in first[0].to_pylist()] if first else []
        )
        if not any(isinstance(cell, bytes) and cell.startswith(IMAGE_BEGINS) for cell in cells):
            continue
        names: list[str] = []
        if is_struct and field.type.get_field_index("path") >= 0:
            structs = file.iter_batches(columns=[f"{field.name}.path"])
            paths = [
                cell["path"] if cell else "" for batch in structs for cell in batch.column(0).to_pylist()
            ]
            names = [base((path or "").replace("\\", "/")) for path in paths]
        if len(set(names)) < len(names) or not all(map(is_image, names)) or not names:
            names = [f"{row:06d}.jpg" for row in range(1, file.metadata.num_rows + 1)]
        inside = f"{field.name}.bytes" if is_struct else field.name
        return ImageColumn(field.name, inside, [f"{table}/{name}" for name in names])
    return None


def class_names(file: Any) -> dict[str, list[str]]:
    """Return the names of the classes that the numbers in a column stand for, by column or by key in it."""
    found: dict[str, list[str]] = {}

    def search(key: str, feature: Any) -> None:
        if isinstance(feature, dict) and isinstance(names := feature.get("names"), list):
            found[key] = list(map(str, names))
        parts = feature.items() if isinstance(feature, dict) else enumerate(feature)
        for inner, part in parts:
            if isinstance(part, dict | list):
                search(key if inner in (0, "feature") else str(inner), part)

    with contextlib.suppress(ValueError, RecursionError):
        search("", json.loads((file.schema_arrow.metadata or {}).get(b"huggingface", b"{}")))
    return found


class WithTableImages(FileTree):
    """A tree together with the images in its Parquet tables."""

    def __init__(self, tree: FileTree) -> None:
        self._tree, self._limits, self._lock = tree, Limits.from_environment(), threading.Lock()
        self.place, self.parts, self.folders = tree.place, tree.parts, tree.folders
        self.closed, self.problems = tree.closed, tree.problems
        self._columns: dict[str, ImageColumn] = {}
        self._rows: dict[str, tuple[str, int]] = {}
        for table in tree.names:
            with contextlib.suppress(Unusable):
                column = image_column(self._parquet(table), table) if suffix(table) == ".parquet" else None
                if column is not None:
                    self._columns[table] = column
                    self._rows |= {name: (table, row) for row, name in enumerate(column.names)}
        self.names = tuple(sorted([*tree.names, *self._rows]))
        # only what was read last, because images are read in their order
        self._file, self._group = lru_cache(1)(self._parquet), lru_cache(1)(self._group_of)

    def head(self, name: str, size: int) -> bytes:
        if name not in self._rows:
            return self._tree.head(name, size)
        with self._lock:
            cell = self._cell(*self._rows[name])
        while isinstance(cell, dict):
            cell = cell["bytes"]
        if not isinstance(cell, bytes):
            raise Unusable("an image in each row", "none")
        return cell[:size]

    def seekable(self, name: str, limit: int, what: str = "a file", by: str = "") -> Any:
        self.note_opened(name)
        return self._tree.seekable(name, limit, what, by)

    def _parquet(self, table: str) -> Any:
        return open_parquet(
            self._tree.seekable(table, self._limits.vector_bytes, "a table with images", "vector_bytes")
        )

    def _group_of(self, table: str, group: int) -> Any:
        return rows_of_group(self._file(table), group, self._columns[table].bytes, self._limits.vector_bytes)

    def _cell(self, table: str, row: int) -> Any:
        metadata = self._file(table).metadata
        sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
        ends = list(itertools.accumulate(sizes))
        group = bisect.bisect_right(ends, row)
        return self._group(table, group)[row - ends[group] + sizes[group]].as_py()


def with_table_images(tree: FileTree) -> FileTree:
    """Return a tree with the images in its Parquet tables as further files."""
    return WithTableImages(tree) if any(suffix(name) == ".parquet" for name in tree.names) else tree
