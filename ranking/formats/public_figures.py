"""The release of Relative Attributes: public figures, or outdoor scenes, as features (Parikh and Grauman, ICCV
2011)."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ranking.core import Bools, Floats, Ints, Problem, Source, SourceBox, SourceImage
from ranking.core.arrays import AnyArray
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.core.text import listed, readable
from ranking.datasets.cards import card_image
from ranking.datasets.registry import SOURCES
from ranking.files.typed_path import in_file, read_typed, typed_path

ARRAYS = ("feat", "class_labels", "used_for_training", "relative_ordering")
NAMES = ("im_names", "class_names", "attribute_names")
MAX_BYTES = 128 * 2**20
TITLES = {"pubfig_data": "Public figures", "osr_data": "Outdoor scenes"}
EXPECTED = "pubfig_data.mat"
# characters of one text that are kept
LONGEST_TEXT = 255
Variables = Mapping[str, AnyArray]


@dataclass(frozen=True, eq=False)
class RelativeAttributes:
    """features: (n, d). person: (n,) number of a class, from 0. order: (a, c) the position of each class in the order
    of each attribute; higher means more of it. test: (n,)."""

    features: npt.NDArray[np.float32]
    person: Ints
    order: Floats
    test: Bools
    image_names: tuple[str, ...]
    class_names: tuple[str, ...]
    attribute_names: tuple[str, ...]


@SOURCES.register("Public figures")
@dataclass
class PublicFigures(Source):
    """The layout of `pubfig_data.mat`; the release of outdoor scenes has the same layout.

    The criteria are the attributes: the value of an image is the position of its person (or scene) in the file's order,
    higher for more of the attribute. The person is its class and its group. There are no images, so cards replace them.
    """

    order: ClassVar[int] = 1

    file: str = setting(
        "",
        label="File",
        help="A file pubfig_data.mat of the Relative Attributes release on the computer that runs this app, with the "
        f"variables {', '.join(ARRAYS + NAMES)}.",
    )
    least: int = setting(
        2,
        label="Images per person",
        help="People (or scenes) with fewer images are dropped.",
        minimum=1,
        advanced=True,
    )

    def title(self) -> str:
        stem = typed_path(self.file, EXPECTED).stem
        return TITLES.get(stem.lower(), readable(stem)) or "Public figures"

    def __len__(self) -> int:
        return len(self._table.image_names)

    def records(self) -> Iterator[SourceImage | Problem]:
        table = self._table
        counts = np.bincount(table.person, minlength=len(table.class_names))
        for row, name in enumerate(table.image_names):
            person = int(table.person[row])
            if counts[person] < self.least:
                came = f"{counts[person]} of {table.class_names[person]}"
                yield Problem(readable(name), f"at least {self.least} images of each", came, "image ignored")
                continue
            numbers = dict(zip(table.attribute_names, table.order[:, person].tolist(), strict=True))
            shown = table.class_names[person]
            lines = (shown, *(f"{attribute} {number:g}" for attribute, number in numbers.items()))
            box = SourceBox(None, (shown,), group=shown, numbers=numbers)
            yield card_image(name, box, bool(table.test[row]), table.features[row].tolist(), name, lines)

    @cached_property
    def _table(self) -> RelativeAttributes:
        from scipy.io import loadmat

        data = read_typed(self.file, MAX_BYTES, EXPECTED)
        try:
            return read_relative_attributes(loadmat(io.BytesIO(data), variable_names=ARRAYS + NAMES))
        except MemoryError:
            raise
        except NotImplementedError as error:
            came, remedy = "MATLAB 7.3, which is not read here", "save it again with -v7"
            raise InputError(readable(self.file, 255), "MATLAB level 5", came, remedy) from error
        except Exception as error:
            # scipy may raise any error for a damaged file
            raise in_file(readable(self.file, 255), "Relative Attributes", error) from error


def read_relative_attributes(variables: Variables) -> RelativeAttributes:
    """Return the table in the variables of such a file; ValueError names missing or unsuitable variables."""
    missing = [name for name in ARRAYS + NAMES if name not in variables]
    if missing:
        raise InputError("variables", ", ".join(ARRAYS + NAMES), f"none called {', '.join(missing)}")
    names = {name: _texts(variables, name) for name in NAMES}
    count, classes, attributes = (len(names[name]) for name in NAMES)
    features = _numbers(variables, "feat", (count, None))
    labels = _numbers(variables, "class_labels", (count, 1))[:, 0]
    used = _numbers(variables, "used_for_training", (count, 1))[:, 0]
    order = _numbers(variables, "relative_ordering", (attributes, classes))
    if not np.isin(labels, np.arange(1, classes + 1)).all():
        raise InputError("class_labels", f"whole numbers from 1 to {classes}", "other numbers")
    if not np.isin(used, (0, 1)).all():
        raise InputError("used_for_training", "0 or 1", "other numbers")
    # numbers too large for float32 become report rows
    with np.errstate(over="ignore"):
        vectors = features.astype(np.float32)
    class_names, attribute_names = (_separate(names[name], name) for name in NAMES[1:])
    return RelativeAttributes(
        vectors,
        labels.astype(np.int64) - 1,
        order,
        used == 0,
        names["im_names"],
        class_names,
        attribute_names,
    )


def _texts(variables: Variables, name: str) -> tuple[str, ...]:
    """Return the texts of a cell of any shape, column by column."""
    cells = variables[name].ravel("F").tolist() if variables[name].dtype == object else []
    if not cells or not all(isinstance(cell, np.ndarray) and cell.dtype.kind == "U" for cell in cells):
        raise InputError(name, "a cell of texts", "something else")
    return tuple(readable("".join(cell.ravel()), LONGEST_TEXT) for cell in cells)


def _numbers(variables: Variables, name: str, shape: tuple[int, int | None]) -> Floats:
    if variables[name].dtype.kind not in "biuf" or variables[name].ndim != 2:
        raise InputError(name, "rows and columns of numbers", "something else")
    values = variables[name].astype(np.float64)
    if len(values) != shape[0] or (shape[1] is not None and values.shape[1] != shape[1]) or not values.size:
        wanted = f"{shape[0]} x {'any number' if shape[1] is None else shape[1]}"
        raise InputError(name, wanted, " x ".join(map(str, values.shape)))
    if not np.isfinite(values).all():
        raise InputError(name, "finite numbers", "NaN or infinity")
    return values


def _separate(names: tuple[str, ...], what: str) -> tuple[str, ...]:
    """Return names with spaces between their words; ValueError unless all are different and not empty."""
    separated = tuple(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name) for name in names)
    if not all(separated) or len(set(separated)) < len(separated):
        raise InputError(what, "different names, none empty", listed(list(separated)))
    return separated
