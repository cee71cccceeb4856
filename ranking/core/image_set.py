"""An image set: its images, samples and labels, without pixels in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from ranking.core.arrays import Bools, Features, Ints
from ranking.core.errors import InputError


@dataclass(frozen=True, eq=False)
class ImageSet:
    """Images with their samples; a sample is a bounding box in an image. Stored by column, for 100,000 samples.

    m images: image_names, image_files (relative to `folder`), image_sizes (m, 2) as width, height, image_test.
    image_groups: (m,) number of the group of each image; near copies share a group, which stays on one side of every
    split. Without groups each image has its own.

    n samples: boxes (n, 4), image_of (n,) row of the image, groups (n,), labels (n, c) of the classes, ids (n,).

    image_features: (m, d) finite float32, where features were imported with the set; its images are then placeholders.
    numbers: (n, c) values of the c `criteria`, such as "year", by which sequences are ordered; NaN where unknown;
    float64 where float32 would merge different values; (n, 0) without criteria. A set has classes, criteria or both.
    key: hash of all content; equal keys are equal sets.
    """

    key: str
    title: str
    folder: Path
    classes: tuple[str, ...]
    image_names: npt.NDArray[np.str_]
    image_files: npt.NDArray[np.str_]
    image_sizes: npt.NDArray[np.int32]
    image_test: Bools
    boxes: npt.NDArray[np.int32]
    image_of: npt.NDArray[np.int32]
    groups: npt.NDArray[np.int32]
    labels: Bools
    ids: npt.NDArray[np.str_]
    image_features: npt.NDArray[np.float32] | None = None
    image_groups: Ints = None  # type: ignore[assignment]  # an array from __post_init__ on
    criteria: tuple[str, ...] = ()
    numbers: Features = None  # type: ignore[assignment]  # an array from __post_init__ on
    test: Bools = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "test", self.image_test[self.image_of])
        alone = np.arange(len(self.image_test), dtype=np.int32)
        object.__setattr__(self, "image_groups", alone if self.image_groups is None else self.image_groups)
        none = np.zeros((len(self), 0), np.float32)
        object.__setattr__(self, "numbers", none if self.numbers is None else self.numbers)
        if self.numbers.shape != (len(self), len(self.criteria)):
            expected = f"shape ({len(self)}, {len(self.criteria)}), one number per sample and criterion"
            raise InputError("numbers", expected, self.numbers.shape)

    def __len__(self) -> int:
        return len(self.boxes)

    def relevance(self, query: str, corrected: Sequence[str] = ()) -> npt.NDArray[np.int64]:
        """Return (n,) whether samples have the class `query`, 1 or 0, inverted for the `corrected` ids."""
        if query not in self.classes:
            valid = ", ".join(self.classes) or "none: its samples are ordered by a criterion"
            raise InputError(f"class of {self.title}", f"one of {valid}", repr(query))
        relevance = self.labels[:, self.classes.index(query)].astype(np.int64)
        rows = np.flatnonzero(np.isin(self.ids, list(corrected))) if corrected else np.zeros(0, np.int64)
        if unknown := sorted(set(corrected) - set(self.ids[rows].tolist())):
            raise InputError("corrected label", f"of a sample of {self.title}", f"of {unknown[0]!r:.80}")
        relevance[rows] = 1 - relevance[rows]
        return relevance

    def image_relevance(self, query: str) -> npt.NDArray[np.int64]:
        """Return (m,) 1 where a sample of an image has the class `query`, else 0. InputError for an unknown class."""
        shown = np.zeros(len(self.image_names), np.int64)
        np.maximum.at(shown, self.image_of, self.relevance(query))
        return shown

    def classes_of(self, row: int) -> list[str]:
        """Return the classes of the sample in `row`."""
        return [name for name, shown in zip(self.classes, self.labels[row], strict=True) if shown]

    def numbers_of(self, criterion: str) -> Features:
        """Return (n,) the value of `criterion` for each sample, NaN where it is unknown."""
        if criterion not in self.criteria:
            valid = ", ".join(self.criteria) or "none: it was imported without numbers"
            raise InputError(f"criterion of {self.title}", f"one of {valid}", repr(criterion))
        return self.numbers[:, self.criteria.index(criterion)]

    def open_image(self, image: int) -> Image.Image:
        """Return image number `image` decoded as RGB; InputError where its file is missing or damaged."""
        file = self.folder / str(self.image_files[image])
        try:
            with Image.open(file) as picture:
                return picture.convert("RGB")
        except (OSError, SyntaxError) as error:
            # raised by Pillow for a damaged file
            gone = isinstance(error, FileNotFoundError)
            got = "no file" if gone else f"a file that cannot be read ({error})"
            subject = f"image {self.image_names[image]} of {self.title}"
            raise InputError(subject, f"it in {file}", got, "import the image set again") from error
