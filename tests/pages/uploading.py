"""Your own features as tests bring them: dropped on a page or laid into a run, looked at in this process, chosen."""

from __future__ import annotations

from typing import Any

from archives import npy
from training_runs import worked

from ranking.core.run_settings import FeaturesSettings
from ranking.jobs import worker
from ranking.storage.run import Run
from ranking.storage.store import Store


def uploader(app):
    [uploader] = [box for box in app.file_uploader if box.label == "Upload features"]
    return uploader


def drop(app, data, name="resnet.npy"):
    return uploader(app).set_value((name, data, "application/octet-stream")).run()


def previewed(laboratory, started, app, data, name):
    drop(app, data, name)
    preview_features_here(laboratory.store, started[-1])
    return app.run()


def pills(app):
    [pills] = [group for group in app.button_group if group.label == "Features"]
    return pills


def preview_features_here(store: Store, run: Run) -> Run:
    """A look that a page began, done as its worker does it."""
    try:
        return worked(store, run, worker.preview_uploaded_features)
    except ValueError as error:
        store.runs.end(run.id, "failed", str(error))
        store.clear(run)
        return store.runs.get(run.id)


def waiting_here(store: Store, key: str, array: Any, name: str = "resnet.npy") -> str:
    """A look at vectors that were uploaded, which waits for a decision."""
    run = store.runs.create("import", FeaturesSettings(key, brought=name).to_json())
    run.uploaded_file.write_bytes(npy(array))
    return preview_features_here(store, run).id


def kept_here(store: Store, key: str, array: Any, title: str = "") -> str:
    return store.features.keep_vectors(waiting_here(store, key, array), title)
