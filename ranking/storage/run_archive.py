"""One training run that ranks images as one file to export: a ZIP.

It holds ``run.json`` (settings and results), ``events.jsonl`` (the training curve), ``model.npz`` and ``scores.npy``
where training saved them, ``projection.npz`` where the method uses a projection of the features, ``playback.npz`` where
training was recorded, ``edges.npy`` where it uses uploaded pairs, and views such as a contact sheet. Images are not
included; the image set is named by its title and its key, a hash of all its content. Files that could not be included
are listed under "left_out" of ``run.json``, with the reason.
"""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ranking.core import Ints
from ranking.core.errors import InputError
from ranking.core.settings import Json
from ranking.storage.run import ENDED, SAMPLES, Run, record_of
from ranking.storage.store import Store

RUN, EDGES = "run.json", "edges.npy"


def export_run(
    store: Store,
    run_id: str,
    views: Mapping[str, bytes] | None = None,
    left_out: Mapping[str, str] | None = None,
) -> bytes:
    """Return the archive of a run that ranks images; ValueError unless it has ended with all its files."""
    # `left_out`: why other views could not be made. Missing pairs are only listed as omitted, because the
    # user can upload the CSV again.
    run = store.runs.get(run_id)
    if run.task != SAMPLES or run.state not in ENDED:
        raise InputError(
            f"run {run_id}",
            "a training run that ranks images and has ended",
            f"a {run.state} {run.kind_name}",
        )
    needed = _needed(run)
    for file in needed:
        if not file.exists():
            raise InputError(f"{file.name} of run {run_id}", f"a file in {run.folder}", "none", "train again")
    files = [file for file in (run.events_file, run.playback_file) if file.exists()] + needed
    contents = {file.name: file.read_bytes() for file in files} | dict(views or {})
    missing = dict(left_out or {})
    try:
        if (edges := store.features.edges_of(run.settings["set"], run.settings.get("graph"))) is not None:
            contents[EDGES] = _as_file(edges)
    except ValueError as error:
        missing[EDGES] = str(error)
    contents[RUN] = _record(store, run, missing).encode()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return stream.getvalue()


def _needed(run: Run) -> list[Path]:
    """Return the files that every training run with measures must have."""
    if "test" not in run.result:
        return []
    projected = run.settings.get("projection") is not None
    return [run.model_file, run.scores_file, *([run.projection_file] if projected else [])]


def _record(store: Store, run: Run, missing: Mapping[str, str]) -> str:
    """Return everything about a run except its files, and the files that are missing from the archive."""
    record = {
        "id": run.id,
        **record_of(run),
        "exported": time.time(),
        "numpy": np.__version__,
        "image_set": _image_set(store, run.settings["set"]),
        "left_out": dict(missing),
    }
    return json.dumps(record, indent=1, allow_nan=False)


def _image_set(store: Store, key: str) -> Json:
    """Describe the image set of a run, so that it can be identified; only its key if it was deleted."""
    for row in store.sets.rows():
        if row.key == key:
            counts = {"images": row.images, "samples": row.samples}
            return {"key": key, "title": row.title, "classes": list(row.classes), **counts}
    return {"key": key}


def _as_file(array: Ints) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()
