"""Thumbnails of all boxes and of all images, packed into one file for each and read one by one.

They are JPEG, which is encoded ten times as fast as WebP and is a fifth larger; enlarged pixels are lossless WebP.
"""

from __future__ import annotations

import io
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from PIL import Image

from ranking.core.errors import InputError

CROP_SIDE = 160
IMAGE_SIDE = 320
# pixels up to which tiny crops and images are enlarged
ENLARGED_SIDE = 160

AGAIN = "import the image set again"


def thumbnail(picture: Image.Image, side: int) -> bytes:
    """Return an image whose longest side is at most `side`; the aspect ratio does not change.

    An image of at most half of ENLARGED_SIDE is enlarged by a whole factor without smoothing, so that the pixels that
    the method uses stay visible; such blocks are stored without loss (smaller and sharper than lossy).
    """
    width, height = picture.size
    factor = ENLARGED_SIDE // max(width, height)
    if factor > 1:
        small = picture.resize((width * factor, height * factor), Image.Resampling.NEAREST)
        return _encoded(small, "WEBP", lossless=True, quality=0, method=0)
    scale = min(1.0, side / max(width, height))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    # reducing_gap: a fast whole-number reduction first; the difference is invisible at this size.
    small = picture.resize(size, Image.Resampling.HAMMING, reducing_gap=3.0) if scale < 1 else picture
    return _encoded(small, "JPEG", quality=85, subsampling=0)


def _encoded(picture: Image.Image, kind: str, **options: int) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, kind, **options)
    return stream.getvalue()


class PackWriter:
    """Appends byte strings to `<stem>.bin` and, on leaving, their offsets to `<stem>.npy`."""

    def __init__(self, stem: Path) -> None:
        self.stem = stem
        self.offsets = [0]

    def __enter__(self) -> Self:
        self._file = self.stem.with_suffix(".bin").open("wb")
        return self

    def append(self, item: bytes) -> None:
        self._file.write(item)
        self.offsets.append(self.offsets[-1] + len(item))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        np.save(self.stem.with_suffix(".npy"), np.array(self.offsets, np.int64))


class Pack:
    """The byte strings that a PackWriter wrote, by number, without reading the whole file."""

    # ValueError if the files are damaged or missing. They are read, not mapped into memory, because a mapped
    # file that another process shortens would kill this process.

    def __init__(self, stem: Path) -> None:
        self.stem = stem
        self._blob = stem.with_suffix(".bin")
        try:
            self._offsets = np.load(stem.with_suffix(".npy"), allow_pickle=False)
            size = self._blob.stat().st_size
        except (OSError, EOFError, ValueError) as error:
            came = f"files in {stem.parent} that cannot be read"
            raise InputError(stem.name, "thumbnails", came, AGAIN) from error
        if self._offsets[-1] != size:
            raise InputError(self._blob.name, f"{self._offsets[-1]:,} bytes", size, AGAIN)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, number: int) -> bytes:
        if not 0 <= number < len(self):
            raise IndexError(f"{self.stem.name} holds numbers 0 to {len(self) - 1}, got {number}")
        start, end = int(self._offsets[number]), int(self._offsets[number + 1])
        try:
            with self._blob.open("rb") as file:
                file.seek(start)
                item = file.read(end - start)
        except OSError as error:
            came = f"a file in {self.stem.parent} that cannot be read"
            raise InputError(self._blob.name, "thumbnails", came, AGAIN) from error
        if len(item) != end - start:
            came = f"a file that ends within number {number}"
            raise InputError(self._blob.name, f"{self._offsets[-1]:,} bytes", came, AGAIN)
        return item


class Thumbnails:
    """The thumbnails of a stored image set; `folder` is the set's."""

    def __init__(self, folder: Path) -> None:
        self._crops = Pack(folder / "crops")
        self._images = Pack(folder / "thumbs")

    def crop(self, i: int) -> bytes:
        """Return the thumbnail of sample i's box, at most 160 px long; IndexError if there is no such sample."""
        return self._crops[i]

    def image(self, j: int) -> bytes:
        """Return the thumbnail of image j, at most 320 px long; IndexError if there is no such image."""
        return self._images[j]
