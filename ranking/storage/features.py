"""The features of image sets in a data folder: a cache of computed ones, and uploads (`uploads.py`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from ranking.core import Ints
from ranking.core.errors import InputError
from ranking.core.settings import Settings
from ranking.features import cached_vectors_file
from ranking.features.graph.uploaded_pairs import is_edges_name
from ranking.features.onnx_model import is_model_name, model_file
from ranking.storage import uploads
from ranking.storage.blobs import link
from ranking.storage.home import Home, is_workspace, server_of
from ranking.storage.run import ENDED
from ranking.storage.runs import Runs
from ranking.storage.sets import Sets
from ranking.storage.space import check_space
from ranking.storage.uploads import KeptNetwork, KeptVectors

Kept = TypeVar("Kept", KeptVectors, KeptNetwork)


class FeatureStore:
    """The features of a data folder, and uploads for its image sets: pairs, vectors and models."""

    # Uploads in the data folders that are `shared` with it can be used too.
    def __init__(self, home: Home, shared: Sequence[Home], sets: Sets, runs: Runs) -> None:
        self._home, self._homes, self._sets, self._runs = home, (home, *shared), sets, runs

    @property
    def cache(self) -> Path:
        """The folder of computed features, with links to those of the server, and to all uploads."""
        # The server has computed features for all workspaces; uploads are vectors and models.
        cache = self._home.features
        cache.mkdir(exist_ok=True)
        computed = [home.features for home in self._homes[1:]]
        if is_workspace(self._home.path):
            computed.append(server_of(self._home.path) / self._home.features.name)
        for file in (file for folder in computed for file in folder.glob("*.npy")):
            link(file, cache / file.name)
        for file in (file for home in self._homes for file in home.models.glob("onnx-*.onnx")):
            link(file, cache / file.name)
        for file in (file for home in self._homes for file in home.vectors.glob("*/own-*.npy")):
            link(file, cached_vectors_file(cache, file.parent.name, file.stem))
        return cache

    def cache_of(self, set_key: str, *settings: Settings) -> Path:
        """The folder in which a run computes features or windows of an image set with these settings."""
        # It is the server's for a set that all workspaces share, so that no other workspace computes them
        # again, but only at default settings: others have no end, and uploads are settings too.
        if is_workspace(self._home.path) and self._sets.is_shared(set_key) and not any(settings):
            return Home(server_of(self._home.path)).features
        return self.cache

    def drop(self) -> None:
        """Remove all computed features; they are recomputed when they are needed."""
        for file in self._home.features.glob("*"):
            file.unlink(missing_ok=True)

    # ------------------------------------------------------------------------------------------------ pairs

    def add_edges(self, set_key: str, edges: Ints) -> str:
        """Store pairs (m, 2) of an image set, and return the name by which settings refer to them."""
        check_space(self._home.path)
        return uploads.add_edges(self._home.edges, set_key, edges)

    def edges_of(self, set_key: str, graph: str | None) -> Ints | None:
        """Return the pairs (m, 2) that settings name, None if they name none; ValueError if they do not exist here."""
        if graph is None or not is_edges_name(graph):
            return None
        folders = [home.edges for home in self._homes]
        there = [folder for folder in folders if uploads.edges_in(folder, set_key).path(graph).exists()]
        return uploads.load_edges((there or folders)[0], set_key, graph)

    def edge_names(self, set_key: str) -> list[str]:
        """Return the names of the pairs that this data folder has for an image set, latest first."""
        return uploads.edges_in(self._home.edges, set_key).list()

    # ---------------------------------------------------------------------------------------------- vectors

    def add_vectors(self, set_key: str, file: Path, vectors: KeptVectors) -> None:
        """Move a matrix with a row per sample of an image set into the data folder."""
        self._sets.folder(set_key)
        uploads.add_vectors(self._home.vectors, set_key, file, vectors)

    def vectors_of(self, set_key: str) -> list[KeptVectors]:
        """Return the uploaded vectors of an image set, latest first, then shared ones."""
        return _own_first(
            row for home in self._homes for row in uploads.kept_vectors(home.vectors, set_key, home.shared)
        )

    def delete_vectors(self, set_key: str, name: str) -> None:
        """Permanently remove uploaded vectors; ValueError while a run of this data folder trains on them."""
        # The user can upload the file again, and training runs keep their scores. Repeating it is harmless.
        with self._home.change():
            live = [
                run for run in self._runs.all_own(set_key=set_key) if run.state not in ENDED and run.alive
            ]
            if any(name in json.dumps(run.settings) for run in live):
                raise _in_use("vectors")
            uploads.remove_vectors(self._home.vectors, set_key, name)
            cached_vectors_file(self._home.features, set_key, name).unlink(missing_ok=True)

    # ----------------------------------------------------------------------------------------------- models

    def add_network(self, file: Path | None, settings: Settings, title: str) -> str:
        """Move an ONNX model into the data folder (None: it is there) with its settings; return its name."""
        return uploads.add_network(self._home.models, file, settings, title)

    def networks(self) -> list[KeptNetwork]:
        """Return the uploaded models, each with its settings, latest first, then shared ones."""
        return _own_first(
            row for home in self._homes for row in uploads.kept_networks(home.models, home.shared)
        )

    def place_model(self, name: str, folder: Path) -> None:
        """Link a model that was uploaded here or to a shared data folder into a folder; does nothing without one."""
        for home in self._homes if is_model_name(name) else ():
            if (file := model_file(home.models, name)).is_file():
                link(file, model_file(folder, name))

    def delete_network(self, name: str) -> None:
        """Permanently remove a model that was uploaded to this data folder, as `delete_vectors` does."""
        with self._home.change():
            models = [
                row.settings["model"] for row in uploads.kept_networks(self._home.models) if row.name == name
            ]
            live = [run for run in self._runs.all_own() if run.state not in ENDED and run.alive]
            if any(model in json.dumps(run.settings) for model in models for run in live):
                raise _in_use("model")
            uploads.remove_network(self._home.models, name)
            for model in models:
                if not uploads.models_in(self._home.models).path(model).exists():
                    model_file(self._home.features, model).unlink(missing_ok=True)


def _own_first(rows: Iterable[Kept]) -> list[Kept]:
    """Return those of this data folder, then shared ones, each name once."""
    kept: dict[str, Kept] = {}
    for row in sorted(rows, key=lambda row: row.shared):
        kept.setdefault(row.name, row)
    return list(kept.values())


def _in_use(subject: str) -> InputError:
    return InputError(
        subject,
        "no running training run that uses it",
        remedy="wait until the run has ended, or cancel it",
    )
