"""Uploads for the image sets of a data folder (`ranking.workspace.uploads`), and the feature cache."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from ranking.core import Ints
from ranking.core.errors import InputError
from ranking.features import cached_vectors_file
from ranking.features.graph.uploaded_pairs import is_edges_name
from ranking.features.onnx_model import is_model_name, model_file
from ranking.workspace import uploads
from ranking.workspace.blobs import link
from ranking.workspace.image_set_store import ImageSetStore
from ranking.workspace.room_quotas import check_disk
from ranking.workspace.run import ENDED
from ranking.workspace.uploads import KeptNetwork, KeptVectors

Kept = TypeVar("Kept", KeptVectors, KeptNetwork)


class UploadStore(ImageSetStore):
    """The features and uploads of a data folder, next to its image sets and runs: see
    `ranking.workspace.store.Store`."""

    @property
    def features(self) -> Path:
        """The feature cache, with links to features in shared data folders, and to all uploaded vectors and models,
        here and there."""
        cache, homes = self._home.features, self.homes
        for file in (file for home in homes if home.shared for file in home.features.glob("*.npy")):
            link(file, cache / file.name)
        for file in (file for home in homes for file in home.models.glob("onnx-*.onnx")):
            link(file, cache / file.name)
        for file in (file for home in homes for file in home.vectors.glob("*/own-*.npy")):
            link(file, cached_vectors_file(cache, file.parent.name, file.stem))
        return cache

    def place_model(self, name: str, folder: Path) -> None:
        """Link a model that was uploaded here or to a shared data folder into a folder; does nothing without one."""
        for home in self.homes if is_model_name(name) else ():
            if (file := model_file(home.models, name)).is_file():
                link(file, model_file(folder, name))

    def drop_features(self) -> None:
        """Remove all computed features; they are recomputed when they are needed."""
        for file in self._home.features.iterdir():
            file.unlink(missing_ok=True)

    @property
    def edges(self) -> Path:
        """The uploaded pairs of samples: see `ranking.workspace.uploads`."""
        return self._home.edges

    def keep_edges(self, set_key: str, edges: Ints) -> str:
        """Store pairs (m, 2) of an image set, and return the name by which settings refer to them."""
        with self._home.change():  # this keeps `sweep` of other processes away from unfinished files
            check_disk(self.home)
            return uploads.keep_edges(self.edges, set_key, edges)

    def edges_of(self, set_key: str, graph: str | None) -> Ints | None:
        """Return the pairs (m, 2) that settings name, None if they name none; ValueError if they do not exist here."""
        if graph is None or not is_edges_name(graph):
            return None
        folders = [home.edges for home in self.homes]
        there = [folder for folder in folders if uploads.edges_in(folder, set_key).path(graph).exists()]
        return uploads.load_edges((there or folders)[0], set_key, graph)

    def edge_names(self, set_key: str) -> list[str]:
        """Return the names of the pairs that this data folder has for an image set, latest first."""
        return uploads.edges_in(self.edges, set_key).list()

    def vectors_of(self, set_key: str) -> list[KeptVectors]:
        """Return the uploaded vectors of an image set, latest first, then shared ones."""
        return _own_first(
            row for home in self.homes for row in uploads.kept_vectors(home.vectors, set_key, home.shared)
        )

    def networks(self) -> list[KeptNetwork]:
        """Return the uploaded models, each with its settings, latest first, then shared ones."""
        return _own_first(
            row for home in self.homes for row in uploads.kept_networks(home.models, home.shared)
        )

    def bytes_of_model(self, name: str) -> int:
        """Return the size of a model that was uploaded to this data folder, in bytes."""
        return uploads.models_in(self._home.models).path(name).stat().st_size

    def add_vectors(self, set_key: str, file: Path, vectors: KeptVectors) -> None:
        """Move the matrix in `file` to the vectors of an image set. ValueError if the set no longer exists."""
        with self._home.change():
            self._set_folder(set_key)
            uploads.keep_vectors(self._home.vectors, set_key, file, vectors)

    def add_network(self, file: Path, settings: dict[str, Any], title: str) -> str:
        """Move an ONNX model into this data folder, and return the name of the model with these settings."""
        with self._home.change():
            return uploads.keep_network(self._home.models, file, settings, title)

    def delete_network(self, name: str) -> None:
        """Permanently remove a model that was uploaded to this data folder, as `delete_vectors` does."""
        with self._home.change():
            models = [
                row.settings["model"] for row in uploads.kept_networks(self._home.models) if row.name == name
            ]
            live = [run for run in self.own_runs() if run.state not in ENDED and run.alive]
            if any(model in json.dumps(run.settings) for model in models for run in live):
                raise _in_use("model")
            uploads.remove_network(self._home.models, name)
            for model in models:
                if not uploads.models_in(self._home.models).path(model).exists():
                    model_file(self._home.features, model).unlink(missing_ok=True)

    def delete_vectors(self, set_key: str, name: str) -> None:
        """Permanently remove vectors that were uploaded to this data folder; the user can upload the file again.
        Training runs keep their scores. Repeating it is harmless. ValueError while a run of this data folder is
        training on them."""
        with self._home.change():
            live = [run for run in self.own_runs(set_key=set_key) if run.state not in ENDED and run.alive]
            if any(name in json.dumps(run.settings) for run in live):
                raise _in_use("vectors")
            uploads.remove_vectors(self._home.vectors, set_key, name)
            cached_vectors_file(self._home.features, set_key, name).unlink(missing_ok=True)


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
