"""Packs folders as ZIP files, with the folder's own name at the top or without."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path


def zipped(files: dict[str, bytes]) -> bytes:
    """A ZIP file of these names and contents."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        for name, content in files.items():
            file.writestr(name, content)
    return stream.getvalue()


def zip_of(folder: Path, path: Path, top: str = "") -> Path:
    """`folder` as the ZIP file `path`, its files below `top`."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for each in sorted(folder.rglob("*")):
            file.write(each, f"{top}/{each.relative_to(folder)}" if top else each.relative_to(folder))
    return path
