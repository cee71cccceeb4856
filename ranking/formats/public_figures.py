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
from ranking.core.text import readable
from ranking.datasets.cards import card_image
from ranking.datasets.registry import SOURCES
from ranking.files.typed_path import check_names, of_file, read_typed, typed_path

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
        with of_file(self.file, "Relative Attributes, not in MATLAB 7.3 but saved with -v7"):
            return read_relative_attributes(loadmat(io.BytesIO(data), variable_names=ARRAYS + NAMES))


def read_relative_attributes(variables: Variables) -> RelativeAttributes:
    """Return the table in the variables of such a file; ValueError names missing or unsuitable variables."""
    check_names("variables", ARRAYS + NAMES, variables)
    images, classes, attributes = (_texts(variables[name]) for name in NAMES)
    shapes = ((len(images), None), (len(images), 1), (len(images), 1), (len(attributes), len(classes)))
    features, people, used, order = map(_numbers, ARRAYS, [variables[name] for name in ARRAYS], shapes)
    if not np.isin(people, np.arange(1, len(classes) + 1)).all():
        raise InputError("class_labels", f"whole numbers from 1 to {len(classes)}", "other numbers")
    # numbers too large for float32 become report rows
    with np.errstate(over="ignore"):
        vectors = features.astype(np.float32)
    person = people[:, 0].astype(np.int64) - 1
    return RelativeAttributes(
        vectors, person, order, used[:, 0] == 0, images, _separate(classes), _separate(attributes)
    )


def _texts(cell: AnyArray) -> tuple[str, ...]:
    """Return the texts of a cell of any shape, column by column."""
    return tuple(readable("".join(text.ravel()), LONGEST_TEXT) for text in cell.ravel("F").tolist())


def _numbers(name: str, values: AnyArray, shape: tuple[int, int | None]) -> Floats:
    """Return numbers of that shape, in which None is any number of columns."""
    if values.ndim != 2 or any(
        wanted not in (None, size) for wanted, size in zip(shape, values.shape, strict=True)
    ):
        wanted = " x ".join("any number" if size is None else str(size) for size in shape)
        raise InputError(name, wanted, " x ".join(map(str, values.shape)))
    return values.astype(np.float64)


def _separate(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names with spaces between their words."""
    return tuple(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name) for name in names)
