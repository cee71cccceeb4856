"""Files in memory: arrays of numpy and ZIP files, from their content and back."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

Entry = str | zipfile.ZipInfo


def in_memory(write: Callable[[io.BytesIO], object]) -> bytes:
    """What is written into a file."""
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


def npy(array: Any, **options: Any) -> bytes:
    return in_memory(lambda stream: np.save(stream, array, **options))


def npz(**arrays: Any) -> bytes:
    return in_memory(lambda stream: np.savez(stream, **arrays))


PICKLED = npy(np.array([{}], dtype=object), allow_pickle=True)


def packed(
    entries: Mapping[str, bytes] | Iterable[tuple[Entry, bytes]], compression: int = zipfile.ZIP_DEFLATED
) -> bytes:
    """A ZIP file of these names and contents."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, content in entries.items() if isinstance(entries, Mapping) else entries:
            archive.writestr(name, content)
    return stream.getvalue()


def unpacked(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zip_of(folder: Path, path: Path, top: str = "") -> Path:
    """`folder` as the ZIP file `path`, its files below `top`."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for each in sorted(folder.rglob("*")):
            file.write(each, f"{top}/{each.relative_to(folder)}" if top else each.relative_to(folder))
    return path
