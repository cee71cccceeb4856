"""scikit-learn's scanned handwritten digits: small, bundled with the package, ready to train."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from PIL import Image

from ranking.core import Bools, Problem, Source, SourceBox, SourceImage
from ranking.core.arrays import AnyArray
from ranking.datasets.registry import SOURCES
from ranking.datasets.source_settings import seed_of_test, share_of_test

COUNT = 1797
# the scans have 17 grey levels
BRIGHTEST = 16


@SOURCES.register("Digits")
@dataclass
class Digits(Source):
    """1,797 handwritten digits of 8 x 8 pixels (Alpaydin and Kaynak, 1998, UCI), one box each, 10 classes.

    Image names are the row numbers of `sklearn.datasets.load_digits`, in four digits.
    """

    order: ClassVar[int] = 1
    path_setting: ClassVar[str] = ""

    test_share: float = share_of_test(
        0.5, "The share of each digit that is held out as test images. All others are training images."
    )
    seed: int = seed_of_test()

    def title(self) -> str:
        return "Digits"

    def __len__(self) -> int:
        return COUNT

    def records(self) -> Iterator[SourceImage | Problem]:
        # Imported here because it takes most of a second, which a list of the sources should not cost.
        from sklearn.datasets import load_digits

        digits = load_digits()
        test = stratified_test(digits.target, self.test_share, self.seed)
        for row, (scan, digit) in enumerate(zip(digits.images, digits.target, strict=True)):
            box = SourceBox((0, 0, *scan.shape[::-1]), (str(digit),))
            yield SourceImage(f"{row:04d}", _png(scan), (box,), test=bool(test[row]))


def stratified_test(target: AnyArray, share: float, seed: int) -> Bools:
    """Return (n,) True for `share` of each class of `target`, rounded, sampled with `seed`."""
    random = np.random.default_rng(seed)
    test = np.zeros(len(target), bool)
    for label in np.unique(target):
        rows = random.permutation(np.flatnonzero(target == label))
        test[rows[: round(share * len(rows))]] = True
    return test


def _png(scan: npt.NDArray[np.float64]) -> bytes:
    grey = np.rint(scan * (255 / BRIGHTEST)).astype(np.uint8)
    stream = io.BytesIO()
    Image.fromarray(grey).save(stream, "PNG")
    return stream.getvalue()
