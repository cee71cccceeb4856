"""The folder of an image set: written once, and checked when it is read.

It contains columns.npz, images/, crops.bin and crops.npy, thumbs.bin and thumbs.npy (see thumbnails.py), and
manifest.json, which is written last and so confirms that the set is complete. The key hashes the title, the classes and
every column; one column holds the hashes of the image files. Thumbnails are not part of the key, so that a new release
of an encoder does not change it. A set without features or criteria has no column for them, so that sets from
before these existed keep their keys.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from ranking.core import Bools, ImageSet, Ints, SourceBox, SourceImage
from ranking.core.arrays import AnyArray
from ranking.core.errors import InputError
from ranking.datasets.decoding import Decoded
from ranking.datasets.thumbnails import PackWriter

FORMAT = 1
MAX_CLASSES = 1_000
MAX_CRITERIA = 100
# of the features that an image set contains: 400 MB
MAX_NUMBERS = 100_000_000
# samples times classes: a byte each, read by every page that shows the set
MAX_LABELS = 200_000_000
# samples times the length of the longest sample name: four bytes each
MAX_LETTERS = 50_000_000
Columns = dict[str, AnyArray]
Pixels = tuple[int, int, int, int]


@dataclass(frozen=True)
class CheckedImage:
    """An image that was decoded, and whose boxes (half open, in whole pixels) lie inside it."""

    record: SourceImage
    stored: Decoded
    size: tuple[int, int]
    boxes: list[tuple[SourceBox, Pixels]]
    crops: list[bytes]
    thumbnail: bytes


class ImageSetWriter:
    """Writes checked images into a new folder; `finish` adds columns and manifest."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise InputError(str(folder), "a new or empty folder", "a folder with files")
        self.folder = folder
        # written for images, crops and thumbnails
        self.bytes = 0
        self.classes: set[str] = set()
        # name to column, in order of appearance
        self.criteria: dict[str, int] = {}
        self._groups: dict[tuple[str, str], int] = {}
        self._rows: list[tuple[int, int, SourceBox, Pixels]] = []
        self._files: list[str] = []
        # the file of each card, by its hash
        self._cards: dict[str, str] = {}
        self._hashes: list[str] = []
        self._records: list[tuple[str, bool, tuple[int, int]]] = []
        self._features: list[npt.NDArray[np.float32]] = []
        # letters of the id of a sample
        self._longest = 0

    def __enter__(self) -> Self:
        (self.folder / "images").mkdir()
        with contextlib.ExitStack() as stack:
            self._crops = stack.enter_context(PackWriter(self.folder / "crops"))
            self._thumbs = stack.enter_context(PackWriter(self.folder / "thumbs"))
            self._close = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close.close()

    @property
    def samples(self) -> int:
        return len(self._rows)

    def add(self, image: CheckedImage) -> None:
        """Write one image and its boxes."""
        # File names are numbers, so that no imported name reaches the disk.
        row = len(self._records)
        file = f"images/{row + 1:06d}{image.stored.extension}"
        # many rows of a table of features may have one card
        card = None if image.record.features is None else self._cards.setdefault(image.stored.hash, file)
        if card in (None, file):
            (self.folder / file).write_bytes(image.stored.data)
        file = card or file
        self._files.append(file)
        self._hashes.append(image.stored.hash)
        self._records.append((image.record.name, image.record.test, image.size))
        self._thumbs.append(image.thumbnail)
        self.bytes += sum(map(len, (image.stored.data, image.thumbnail, *image.crops)))
        self._add_features(image.record)
        for (box, pixels), crop in zip(image.boxes, image.crops, strict=True):
            key = ("image", image.record.name) if box.group is None else ("group", box.group)
            self._rows.append((row, self._groups.setdefault(key, len(self._groups)), box, pixels))
            self.classes.update(box.classes)
            for criterion in box.numbers:
                self.criteria.setdefault(criterion, len(self.criteria))
            self._crops.append(crop)
        if len(self.classes) > MAX_CLASSES:
            raise InputError(
                "image set",
                f"at most {MAX_CLASSES:,} classes",
                f"more by image {image.record.name!r}",
                "check that the annotations name classes, not single objects",
            )
        ids = (len(f"{image.record.name}#{box.number}") for box, _ in image.boxes)
        self._longest = max(self._longest, max(ids, default=0))
        for what, number, most in (
            ("classes", len(self.classes), MAX_LABELS),
            ("characters of the longest sample name", self._longest, MAX_LETTERS),
        ):
            if len(self._rows) * number > most:
                came = f"{len(self._rows):,} times {number:,}"
                raise InputError(f"samples times {what}", f"at most {most:,}", came, "import fewer images")
        if len(self.criteria) > MAX_CRITERIA:
            raise InputError(
                "image set",
                f"at most {MAX_CRITERIA:,} criteria",
                f"more by image {image.record.name!r}",
                "drop columns that do not order images",
            )

    def _add_features(self, record: SourceImage) -> None:
        """Add the features of one image."""
        # Either all images of a set have features of equal length, or none has any.
        features = np.array(record.features or (), np.float32)
        if self._features and len(features) != len(self._features[0]):
            expected = f"{len(self._features[0]):,} numbers, as of the first image"
            raise InputError(f"features of {record.name!r}", expected, len(features))
        self._features.append(features)
        if len(self._features) * len(features) > MAX_NUMBERS:
            raise InputError("features of an image set", f"at most {MAX_NUMBERS:,} numbers", "more")

    def finish(self, title: str) -> ImageSet:
        """Write the columns and the manifest; return the image set, as `load_image_set` does."""
        classes = sorted(self.classes)
        _write(self.folder, title, classes, self._columns(classes))
        return load_image_set(self.folder)

    def _columns(self, classes: list[str]) -> Columns:
        number = {name: column for column, name in enumerate(classes)}
        labels = np.zeros((len(self._rows), len(classes)), bool)
        ids = []
        for sample, (image, _, box, _) in enumerate(self._rows):
            labels[sample, [number[name] for name in box.classes]] = True
            ids.append(f"{self._records[image][0]}#{box.number}")
        names, test, sizes = zip(*self._records, strict=True)
        columns = {
            "image_names": np.array(names, np.str_),
            "image_files": np.array(self._files, np.str_),
            "image_hashes": np.array(self._hashes, np.str_),
            "image_sizes": np.array(sizes, np.int32),
            "image_test": np.array(test, np.bool_),
            "boxes": np.array([pixels for *_, pixels in self._rows], np.int32),
            "image_of": np.array([row[0] for row in self._rows], np.int32),
            "groups": np.array([row[1] for row in self._rows], np.int32),
            "labels": labels,
            "ids": np.array(ids, np.str_),
        }
        features = np.stack(self._features)
        if features.size:
            columns["image_features"] = features
        if self.criteria:
            columns["criteria"] = np.array(list(self.criteria), np.str_)
            columns["numbers"] = self._numbers()
        return columns

    def _numbers(self) -> npt.NDArray[np.floating]:
        """Return (n, criteria) the values of the samples; unknown values are NaN, always with the same bits.

        float32, or float64 if float32 would make two different values equal, such as days written as 20261122.
        """
        numbers = np.full((len(self._rows), len(self.criteria)), np.nan)
        for sample, (_, _, box, _) in enumerate(self._rows):
            for criterion, number in box.numbers.items():
                if not math.isnan(number):
                    numbers[sample, self.criteria[criterion]] = number
        # -0 is 0
        numbers += 0.0
        coarse = numbers.astype(np.float32)
        merged = any(
            len(np.unique(rounded)) < len(np.unique(exact))
            for rounded, exact in zip(coarse.T, numbers.T, strict=True)
        )
        return numbers if merged else coarse


def _write(folder: Path, title: str, classes: list[str], columns: Columns) -> None:
    np.savez(folder / "columns.npz", allow_pickle=False, **columns)
    manifest = {
        "format": FORMAT,
        "key": content_key(title, classes, columns),
        "title": title,
        "classes": classes,
        "images": len(columns["image_names"]),
        "samples": len(columns["boxes"]),
    }
    text = json.dumps(manifest, indent=1, ensure_ascii=False)
    (folder / "manifest.json").write_text(text, encoding="utf-8")


def set_split(folder: Path, test: Bools, groups: Ints | None) -> ImageSet:
    """Give the set in `folder` another split and other groups; return the set, which has a new key."""
    # The set must not be in use yet. test: (m,) images. groups: of images (m,), None for none.
    title, classes, _, columns = _read(folder)
    columns["image_test"] = test
    columns.pop("image_groups", None)
    if groups is not None:
        columns["image_groups"] = groups.astype(np.int32)
    _write(folder, title, classes, columns)
    return load_image_set(folder)


def content_key(title: str, classes: list[str], columns: Columns) -> str:
    """Return the sha256 (hex) of title, classes and columns; the same on every machine."""
    digest = hashlib.sha256(json.dumps([FORMAT, title, classes]).encode())
    for name in sorted(columns):
        column = columns[name]
        little_endian = column.astype(column.dtype.newbyteorder("<"), copy=False)
        digest.update(f"{name} {little_endian.dtype.str} {column.shape}".encode())
        digest.update(np.ascontiguousarray(little_endian).tobytes())
    return digest.hexdigest()


def load_image_set(folder: Path) -> ImageSet:
    """Return the image set that `build_image_set` wrote into `folder`.

    ValueError if there is none, or if its format or content differ from its manifest.
    """
    title, classes, key, columns = _read(folder)
    del columns["image_hashes"]
    criteria = tuple(columns.pop("criteria").tolist()) if "criteria" in columns else ()
    return ImageSet(key=key, title=title, folder=folder, classes=tuple(classes), criteria=criteria, **columns)


def _read(folder: Path) -> tuple[str, list[str], str, Columns]:
    """Return title, classes, key and columns of the set in `folder`."""
    # Raises ValueError as `load_image_set` does.
    again = "import the image set again"
    where = str(folder)
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        with np.load(folder / "columns.npz", allow_pickle=False) as stored:
            columns = {name: stored[name] for name in stored.files}
        number, title, classes, expected = (manifest[name] for name in ("format", "title", "classes", "key"))
    except FileNotFoundError as error:
        raise InputError(where, "an image set", f"a folder without {error.filename}", again) from error
    except PermissionError as error:
        came = "files that cannot be read"
        raise InputError(where, "an image set", came, "check their permissions") from error
    except (OSError, EOFError, ValueError, AttributeError, KeyError, TypeError, BadZipFile) as error:
        # numpy's message advises unpickling the file
        raise InputError(where, "an image set", "damaged files", again) from error
    if number != FORMAT:
        raise InputError(where, f"image-set format {FORMAT}", f"{number!r:.80}", again)
    key = content_key(title, classes, columns)
    if key != expected:
        raise InputError(where, f"image set {expected[:12]}", f"image set {key[:12]}", again)
    return title, classes, key, columns
