"""Files of trained methods: one .npz of plain arrays and a JSON header, no pickle, no code."""

from __future__ import annotations

import json
import zipfile
import zlib
from pathlib import Path
from typing import IO

import numpy as np

from ranking.core.errors import InputError
from ranking.core.settings import Json

VERSION = 1
# raised for a damaged file
UNREADABLE = (
    ValueError,
    EOFError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
)


def write(path: Path | str, header: Json, arrays: Json) -> None:
    """Write `header`, which names the method, and `arrays`."""
    named = {"header": np.array(json.dumps({"version": VERSION, **header})), **arrays}
    with open(path, "wb") as file:
        np.savez_compressed(file, **named)


def read(path: Path | str | IO[bytes], method: str) -> tuple[Json, Json]:
    """Return the header and arrays that `write` wrote for `method`; ValueError for any other file."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
        header = json.loads(str(arrays.pop("header")))
        saved_by = header["method"], header["version"]
    except (*UNREADABLE, KeyError, TypeError, AttributeError) as error:
        raise unreadable(path, error) from error
    if saved_by != (method, VERSION):
        got = f"{saved_by[0]} (file version {saved_by[1]})"
        raise InputError(str(path), f"{method} (file version {VERSION})", got)
    return header, arrays


def unreadable(path: Path | str | IO[bytes], error: Exception) -> InputError:
    """Return the error for a file that is no saved method, or not a complete one."""
    return InputError(
        str(path), "a saved method", f"a file that cannot be read ({error})", "train and save it again"
    )
