"""Uploads for image sets: pairs of samples, vectors, and ONNX models that compute vectors.

Each is a file named by its content (`ranking.storage.blobs`). Pairs and vectors belong to one image set, whose key
names their folder: pairs are row numbers of its samples, vectors have one row per sample. A model is stored once,
however many settings it is used with; each of these is a JSON file, named by the settings.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from ranking.core import Ints
from ranking.core.errors import InputError
from ranking.core.settings import Json, Settings
from ranking.features.graph.uploaded_pairs import checked_edges, edges_name, is_edges_name, short_name
from ranking.features.onnx_model import is_model_name
from ranking.features.uploaded_vectors import columns_of, is_vectors_name
from ranking.features.uploaded_vectors import short_name as short_vectors
from ranking.storage.blobs import Blobs

# ---------------------------------------------------------------------------------------- pairs of samples


def edges_in(folder: Path, set_key: str) -> Blobs:
    """Return the stored pairs of samples of an image set, (m, 2) int64 each."""
    return Blobs(folder / set_key, ".npy", is_edges_name)


def add_edges(folder: Path, set_key: str, edges: Ints) -> str:
    """Store pairs of samples of an image set, and return their name; InputError as in `checked_edges`."""
    name = edges_name(checked_edges(edges))
    edges_in(folder, set_key).put(name, lambda file: np.save(file, np.asarray(edges, np.int64)))
    return name


def load_edges(folder: Path, set_key: str, name: str) -> Ints:
    """Return the pairs with that name. InputError, with the remedy, if they do not exist or are damaged."""
    again = "upload the CSV again on the page Train: equal pairs have the same name"
    subject = f"pairs of {short_name(name)}"
    file = edges_in(folder, set_key).path(name)
    try:
        edges = np.load(file, allow_pickle=False)
    except FileNotFoundError as error:
        raise InputError(subject, f"a file in {folder.parent}", "none", again) from error
    except (OSError, ValueError, EOFError) as error:
        raise InputError(subject, f"an array of NumPy in {file}", "a damaged file", again) from error
    if edges.dtype != np.int64 or edges_name(edges) != name:
        expected = f"the pairs whose hash is the name of {file}"
        raise InputError(subject, expected, f"others, {edges.dtype} of shape {edges.shape}", again)
    return checked_edges(edges)


# ------------------------------------------------------------------------------------------------ vectors


@dataclass(frozen=True)
class KeptVectors:
    """The record of uploaded vectors in lists."""

    name: str
    # the user's name for the file
    title: str
    # how many it had; constant columns are dropped
    columns: int
    # how its rows were matched to samples, in words
    matched: str
    # when, in seconds since the epoch
    kept: float
    # whether they belong to a shared data folder
    shared: bool = False

    @property
    def size(self) -> int:
        """Number of columns that are kept."""
        return columns_of(self.name)


def vectors_in(folder: Path, set_key: str) -> Blobs:
    """Return the stored vectors of an image set, one row per sample, not scaled."""
    return Blobs(folder / set_key, ".npy", is_vectors_name)


def add_vectors(folder: Path, set_key: str, draft: Path, vectors: KeptVectors) -> None:
    """Move the matrix in the file `draft` to the vectors of an image set. If they exist, only their record changes."""
    blobs = vectors_in(folder, set_key)
    record = {name: value for name, value in asdict(vectors).items() if name not in ("name", "shared")}
    _put_json(blobs.records(), vectors.name, record)
    # last, because a record without vectors is not listed
    blobs.put(vectors.name, draft)


def kept_vectors(folder: Path, set_key: str, shared: bool = False) -> list[KeptVectors]:
    """Return the records of the vectors of an image set, latest first."""
    blobs = vectors_in(folder, set_key)
    rows = [_vectors(blobs, name, shared) for name in blobs.list()]
    return sorted(rows, key=lambda vectors: (-vectors.kept, vectors.name))


def _vectors(blobs: Blobs, name: str, shared: bool) -> KeptVectors:
    """Return the record of vectors; if it is damaged, a record made from their name."""
    known = {item.name for item in fields(KeptVectors)} - {"name", "shared"}
    try:
        record = json.loads(blobs.records().path(name).read_text())
        return KeptVectors(name, shared=shared, **{key: record[key] for key in known})
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return KeptVectors(name, short_vectors(name), columns_of(name), "", time.time(), shared)


def remove_vectors(folder: Path, set_key: str, name: str) -> None:
    """Remove vectors and their record permanently. Repeating it is harmless."""
    blobs = vectors_in(folder, set_key)
    blobs.delete(name)
    blobs.records().delete(name)


# ------------------------------------------------------------------------------------------------- models


def is_network_name(text: str) -> bool:
    """Return whether `text` is a valid name of a model with settings: only valid names may become part of a path."""
    return re.fullmatch(r"net-[0-9a-f]{32}", text) is not None


def network_name(settings: Settings) -> str:
    """Return the name of a model with settings: equal ones have equal names.

    >>> short_network(network_name({"model": "x"}))
    'net 8392916a'
    """
    written = json.dumps(settings, sort_keys=True)
    return f"net-{hashlib.sha256(written.encode()).hexdigest()[:32]}"


def short_network(name: str) -> str:
    """Return the short form of such a name for users."""
    return f"net {name.removeprefix('net-')[:8]}"


@dataclass(frozen=True)
class KeptNetwork:
    """A model with the settings that it is used with (`ranking.features.onnx_model`). name: of both together."""

    name: str
    title: str
    settings: Settings
    kept: float
    shared: bool = False

    @property
    def size(self) -> int:
        """Number of columns of its output."""
        return int(self.settings["columns"])


def models_in(folder: Path) -> Blobs:
    """Return the stored ONNX models."""
    return Blobs(folder, ".onnx", is_model_name)


def _networks_in(folder: Path) -> Blobs:
    return Blobs(folder, ".json", is_network_name)


def add_network(folder: Path, uploaded: Path | None, settings: Settings, title: str) -> str:
    """Move a model into the data folder (None: it is there), store its settings, and return their name."""
    models, name = models_in(folder), network_name(settings)
    if uploaded is not None and not models.path(settings["model"]).is_file():
        models.put(settings["model"], uploaded)
    if not models.path(settings["model"]).is_file():
        raise InputError("model", "a file in this workspace", "none", "upload the file again")
    _put_json(_networks_in(folder), name, {"title": title, "settings": settings, "kept": time.time()})
    return name


def kept_networks(folder: Path, shared: bool = False) -> list[KeptNetwork]:
    """Return the stored models with their settings, latest first, without damaged ones."""
    rows, models = [], models_in(folder)
    for name in _networks_in(folder).list():
        try:
            record = json.loads(_networks_in(folder).path(name).read_text())
            row = KeptNetwork(
                name, str(record["title"]), dict(record["settings"]), float(record["kept"]), shared
            )
            sound = network_name(row.settings) == name and row.size > 0
            if sound and models.path(row.settings["model"]).is_file():
                rows.append(row)
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            continue
    return sorted(rows, key=lambda row: (-row.kept, row.name))


def remove_network(folder: Path, name: str) -> None:
    """Remove a model with its settings permanently; its file too, where no others use it. Repeating it is harmless."""
    models = {network.name: network.settings["model"] for network in kept_networks(folder)}
    _networks_in(folder).delete(name)
    model = models.pop(name, None)
    if model is not None and model not in models.values():
        models_in(folder).delete(model)


def _put_json(blobs: Blobs, name: str, record: Json) -> None:
    blobs.put(name, lambda file: file.write(json.dumps(record).encode()))
