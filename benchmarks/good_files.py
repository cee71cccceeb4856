"""The good files to break: those that the tests write, small and quick to import."""

from __future__ import annotations

import io
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path += [str(ROOT / "tests" / part) for part in ("formats", "features/uploads", "")]

import example_corel5k  # noqa: E402
import example_files  # noqa: E402
import import_folders  # noqa: E402 (what the examples of the tests share)
import numbered_set  # noqa: E402

from ranking.core import ImageSet  # noqa: E402

__all__ = ["example_corel5k", "example_files", "import_folders"]

Files = dict[str, bytes]
WAYS = ("JPEG", "PNG", "WEBP")
PAIRS = b"\n".join(b"%02d#1,%02d#1" % (number, number + 1) for number in range(19))
IDS = tuple(f"{number:02}#1" for number in range(20))
PROTOCOL = {
    "set": "0" * 64,
    "features": [["HOG", {}]],
    "methods": [["SVM", {}], ["AP-SVM", {"tolerance": 0.01}]],
    "queries": ["cat"],
    "grids": {"C": [1.0, 10.0]},
    "folds": 3,
}


def laid(some: Callable[[Path], Any]) -> Files:
    """Return the files that a builder of the tests writes, with images of one colour."""
    # Images of noise take several times as long to encode again.
    with tempfile.TemporaryDirectory() as root:
        some(Path(root))
        paths = sorted(path for path in Path(root).rglob("*") if path.is_file())
        plain = {".jpg": plain_image("JPEG"), ".png": plain_image("PNG")}
        read = {path: plain.get(path.suffix) or path.read_bytes() for path in paths}
        return {path.relative_to(root).as_posix(): data for path, data in read.items()}


def plain_image(kind: str) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (40, 30), "#c08040").save(stream, kind)
    return stream.getvalue()


def numbered_images() -> ImageSet:
    """Return a set of samples for uploaded vectors."""
    with tempfile.TemporaryDirectory() as folder:
        return numbered_set.cards(Path(folder) / "set", [1] * 12)


def some_vectors(images: ImageSet) -> dict[str, list[bytes]]:
    """Return vectors for `images`, by the suffix of their file."""
    rows, ids = numbered_set.vectors_of(images), images.ids.astype(str)
    streams = [io.BytesIO() for _ in range(5)]
    np.save(streams[0], rows.astype(np.float32))
    np.save(streams[1], rows)
    np.save(streams[2], np.asfortranarray(rows))
    np.savez(streams[3], features=rows, ids=ids)
    np.savez_compressed(streams[4], features=rows, ids=ids)
    whole = [stream.getvalue() for stream in streams]
    return {".npy": whole[:3], ".npz": whole[3:]}


def pictures(kind: str) -> list[bytes]:
    """Encode one image in several ways."""
    ways: dict[str, list[dict[str, Any]]] = {
        "JPEG": [{}, {"progressive": True}, {"subsampling": 0, "quality": 30}, {"exif": turned()}],
        "PNG": [{}, {"optimize": True}, {"exif": turned()}],
        "WEBP": [{}, {"lossless": True}, {"quality": 10, "method": 0}, {"exif": turned()}],
    }
    return [import_folders.photograph(kind=kind, seed=seed, **way) for seed, way in enumerate(ways[kind])]


def turned() -> bytes:
    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = 6, "a camera"
    return exif.tobytes()


def zipped(files: Files, how: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", how) as file:
        for name, content in files.items():
            # an empty name is possible only in a ZipInfo
            file.writestr(zipfile.ZipInfo(name), content, how)
    return stream.getvalue()


def unzipped(data: bytes) -> Files:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}
