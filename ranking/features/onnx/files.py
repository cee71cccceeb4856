"""Names of models that a person uploads, a hash of the file, and of their settings; and how large a file may be."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from ranking.core.errors import InputError
from ranking.files.limits import Limits, variable

PIECE = 2**20


def is_model_name(text: str) -> bool:
    """Whether `text` could be the name of a model: only such a text may become part of a path."""
    return re.fullmatch(r"onnx-[0-9a-f]{32}", text) is not None


def is_network_name(text: str) -> bool:
    """Whether `text` could be the name of a model with settings."""
    return re.fullmatch(r"net-[0-9a-f]{32}", text) is not None


def checked_size(path: Path) -> None:
    """ValueError where a file is larger than a model may be."""
    most, size = Limits.from_environment().network_bytes, path.stat().st_size
    if size > most:
        remedy = f"set {variable('network_bytes')} to allow more"
        raise InputError("model", f"at most {most:,} bytes", size, remedy)


def model_name(path: Path) -> str:
    """The name of the model in a file: equal files have equal names."""
    told = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            told.update(piece)
    return f"onnx-{told.hexdigest()[:32]}"


def network_name(settings: dict[str, Any]) -> str:
    """The name of a model with settings: equal ones have equal names.

    >>> short_network(network_name({"model": "x"}))
    'net 8392916a'
    """
    written = json.dumps(settings, sort_keys=True)
    return f"net-{hashlib.sha256(written.encode()).hexdigest()[:32]}"


def short_network(name: str) -> str:
    """What people are shown of such a name."""
    return f"net {name.removeprefix('net-')[:8]}"


def model_file(folder: Path, name: str) -> Path:
    """Where in `folder` the model of that name lies."""
    return folder / f"{name}.onnx"
