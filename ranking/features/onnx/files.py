"""Models that a person brought, on disk, named by a hash of what is in them; and how each is used, as settings."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ranking.core.errors import InputError
from ranking.files.limits import Limits, variable

PIECE = 2**20


@dataclass(frozen=True)
class KeptNetwork:
    """A model with the settings that it is used with (`ranking.features.onnx_model`). name: of both together."""

    name: str
    title: str
    settings: dict[str, Any]
    kept: float
    lent: bool = False

    @property
    def size(self) -> int:
        """How many columns it gives."""
        return int(self.settings["columns"])


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


def keep_network(folder: Path, brought: Path | None, settings: dict[str, Any], title: str) -> str:
    """Move a model among those that are kept, unless it is there (None: it is), and tell how it is used; the name of
    both. A reader finds all of it or nothing."""
    target, name = model_file(folder, settings["model"]), network_name(settings)
    if brought is not None and not target.is_file():
        os.replace(brought, target)
    if not target.is_file():
        raise InputError("model", "a file in this workspace", "none", "upload the file again")
    half_written = folder / f"{name}.part"
    half_written.write_text(json.dumps({"title": title, "settings": settings, "kept": time.time()}))
    os.replace(half_written, folder / f"{name}.json")
    return name


def kept_networks(folder: Path, lent: bool = False) -> list[KeptNetwork]:
    """The models that were kept, with their settings, those kept last first. What was damaged by another hand is passed
    over."""
    found = []
    for file in folder.glob("net-*.json"):
        try:
            told = json.loads(file.read_text())
            one = KeptNetwork(
                file.stem, str(told["title"]), dict(told["settings"]), float(told["kept"]), lent
            )
            sound = network_name(one.settings) == file.stem and one.size > 0
            if sound and model_file(folder, one.settings["model"]).is_file():
                found.append(one)
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            continue
    return sorted(found, key=lambda one: (-one.kept, one.name))


def remove_network(folder: Path, name: str) -> None:
    """Remove a model with its settings, for good; its file too, where no others use it. Repeating it is harmless."""
    if not is_network_name(name):
        raise InputError("name", "the name of a model", f"{name!r:.80}", "choose one of the list")
    models = {one.name: one.settings["model"] for one in kept_networks(folder)}
    (folder / f"{name}.json").unlink(missing_ok=True)
    model = models.pop(name, None)
    if model is not None and model not in models.values():
        model_file(folder, model).unlink(missing_ok=True)
