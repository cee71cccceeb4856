"""Corel5k in one NPZ file: 5,000 photographs as 499 binary features and 374 keywords (Duygulu et al., ECCV 2002)."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ranking.core import Bools, Problem, Source, SourceBox, SourceImage
from ranking.core.arrays import AnyArray
from ranking.core.settings import setting
from ranking.core.text import counted, listed, unique_name
from ranking.datasets.cards import card_image
from ranking.datasets.registry import SOURCES
from ranking.files.typed_path import check_names, of_file, read_typed

PARTS = ("X_indices", "X_indptr", "Y_indices", "Y_indptr", "label_names", "n_train", "n_features")
MAX_BYTES = 64 * 2**20


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
        with of_file(self.file, "Corel5k as NPZ"):
            return read_corel5k(data)


def read_corel5k(data: bytes) -> Keywords:
    """Return the table in `data`, the bytes of an NPZ file."""
    with np.load(io.BytesIO(data)) as file:
        check_names("arrays", PARTS, file)
        parts = {name: file[name] for name in PARTS}
    names = tuple(unique_name(name) for name in parts["label_names"].tolist())
    features = _dense(parts, "X", int(parts["n_features"])).astype(np.float32)
    labels = _dense(parts, "Y", len(names))
    return Keywords(features, labels, names, np.arange(len(labels)) >= int(parts["n_train"]))


def _dense(parts: dict[str, AnyArray], which: str, columns: int) -> Bools:
    """Return (rows, columns) True at the stored entries of the compressed rows."""
    from scipy.sparse import csr_array

    indices, starts = parts[f"{which}_indices"], parts[f"{which}_indptr"]
    stored = np.ones(len(indices), np.bool_)
    rows = csr_array((stored, indices, starts), (len(starts) - 1, columns))
    rows.check_format()
    return np.asarray(rows.toarray())
