"""Corel5k in one NPZ file: 5,000 photographs as 499 binary features and 374 keywords (Duygulu et al., ECCV 2002)."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from tokenize import TokenError
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ranking.core import Bools, Ints, Problem, Source, SourceBox, SourceImage
from ranking.core.arrays import AnyArray
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.core.text import counted, listed, readable, unique_name
from ranking.datasets.cards import card_image
from ranking.datasets.registry import SOURCES
from ranking.files.typed_path import in_file, read_typed

PARTS = ("X_indices", "X_indptr", "Y_indices", "Y_indptr", "label_names", "n_train", "n_features")
MAX_BYTES = 64 * 2**20
# of the dense features
MAX_CELLS = 200_000_000
# What reading a damaged file raises: NumPy splits the header of an array into tokens of Python.
DAMAGED = (ValueError, OverflowError, TypeError, EOFError, TokenError, zipfile.BadZipFile, zlib.error)
Part = AnyArray


@dataclass(frozen=True, eq=False)
class Keywords:
    """features: (M, d). labels: (M, L) bool. label_names: L different ones. test: (M,)."""

    features: npt.NDArray[np.float32]
    labels: Bools
    label_names: tuple[str, ...]
    test: Bools


@SOURCES.register("Corel5k")
@dataclass
class Corel5k(Source):
    """Sparse features and labels as compressed rows in which every stored value is 1. The first `n_train` rows are the
    training split.

    There are no images, so cards that show the labels replace them. Names are row numbers, in five digits from 1.
    """

    order: ClassVar[int] = 1

    file: str = setting(
        "",
        label="File",
        help="A file corel5k.npz on the computer that runs this app, with the arrays "
        + ", ".join(PARTS)
        + ".",
    )
    least: int = setting(
        20,
        label="Images per label",
        help="Labels with fewer images are dropped, because they can be neither learned nor evaluated.",
        minimum=1,
        advanced=True,
    )

    def title(self) -> str:
        return "Corel5k"

    def __len__(self) -> int:
        return len(self._table.test)

    def records(self) -> Iterator[SourceImage | Problem]:
        table = self._table
        frequent = table.labels.sum(axis=0) >= self.least
        if rare := [name for name, stays in zip(table.label_names, frequent, strict=True) if not stays]:
            expected = f"labels that at least {counted(self.least, 'image')} have"
            yield Problem(counted(len(rare), "label"), expected, f"fewer for {listed(rare)}", "label dropped")
        for row, (features, labels) in enumerate(zip(table.features, table.labels, strict=True)):
            shown = tuple(table.label_names[place] for place in np.flatnonzero(labels & frequent))
            name = f"{row + 1:05d}"
            box, test = SourceBox(None, shown), bool(table.test[row])
            yield card_image(name, box, test, features.tolist(), name, shown)

    @cached_property
    def _table(self) -> Keywords:
        data = read_typed(self.file, MAX_BYTES, "corel5k.npz")
        try:
            return read_corel5k(data)
        except DAMAGED as error:
            raise in_file(readable(self.file, 255), "Corel5k as NPZ", error) from error


def read_corel5k(data: bytes) -> Keywords:
    """Return the table in `data`, the bytes of an NPZ file; ValueError if it is not valid."""
    parts = _parts(data)
    count, n_train = len(parts["X_indptr"]) - 1, _number(parts, "n_train")
    n_features, names = _number(parts, "n_features"), parts["label_names"]
    if names.dtype.kind != "U" or names.ndim != 1 or not len(names):
        raise InputError("label_names", "(L,) text", _described(names))
    label_names = tuple(unique_name(name) for name in names.tolist())
    if len(set(label_names)) < len(label_names) or not all(label_names):
        raise InputError("label_names", "different names, none empty", listed(list(label_names)))
    if not 0 <= n_train <= count:
        raise InputError("n_train", f"0 to {count}, the number of rows", n_train)
    if n_features < 1 or count * max(n_features, len(names)) > MAX_CELLS:
        came = f"{count:,} rows, {n_features:,} features, {len(names):,} labels"
        raise InputError("rows times features, and times labels", f"at most {MAX_CELLS:,}", came)
    if len(parts["Y_indptr"]) != count + 1:
        raise InputError("Y_indptr", f"{count + 1} numbers, as X_indptr has", len(parts["Y_indptr"]))
    features = _dense(parts, "X", count, n_features).astype(np.float32)
    labels = _dense(parts, "Y", count, len(label_names))
    return Keywords(features, labels, label_names, np.arange(count) >= n_train)


def _parts(data: bytes) -> dict[str, Part]:
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        missing = [name for name in PARTS if name not in file]
        if missing:
            raise InputError("arrays", ", ".join(PARTS), f"none called {', '.join(missing)}")
        # what is no array of NumPy is read as bytes
        return {name: np.asarray(file[name]) for name in PARTS}


def _described(part: Part) -> str:
    return f"{part.dtype} of shape {part.shape}"


def _number(parts: dict[str, Part], name: str) -> int:
    if parts[name].shape != () or parts[name].dtype.kind not in "iu":
        raise InputError(name, "one whole number", _described(parts[name]))
    return int(parts[name])


def _dense(parts: dict[str, Part], which: str, rows: int, columns: int) -> npt.NDArray[np.bool_]:
    """Return (rows, columns) True at the stored entries of the compressed rows."""
    indices, starts = (_whole(parts, f"{which}_{end}") for end in ("indices", "indptr"))
    steps = np.diff(starts)
    if starts[0] != 0 or starts[-1] != len(indices) or (steps < 0).any():
        expected = f"numbers that rise from 0 to {len(indices)}, the number of {which}_indices"
        raise InputError(f"{which}_indptr", expected, f"{starts[0]} to {starts[-1]}")
    if len(indices) and not 0 <= indices.min() <= indices.max() < columns:
        came = f"{indices.min()} to {indices.max()}"
        raise InputError(f"{which}_indices", f"0 to {columns - 1}", came)
    dense = np.zeros((rows, columns), np.bool_)
    dense[np.repeat(np.arange(rows), steps), indices] = True
    return dense


def _whole(parts: dict[str, Part], name: str) -> Ints:
    part = parts[name]
    if part.ndim != 1 or part.dtype.kind not in "iu" or (name.endswith("indptr") and len(part) < 2):
        raise InputError(name, "a row of whole numbers", _described(part))
    with np.errstate(over="ignore"):
        return part.astype(np.int64)
