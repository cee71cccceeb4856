"""Custom features in tests: uploaded on a page or placed in a run, read in this process, chosen."""

from __future__ import annotations

from typing import Any

from archives import npy
from imports_here import agree, begin, go_on

from ranking.storage.run import Run
from ranking.storage.run_settings import FeaturesSettings
from ranking.storage.store import Store


def uploader(app):
    [uploader] = [box for box in app.file_uploader if box.label == "Upload features"]
    return uploader


def drop(app, data, name="resnet.npy"):
    return uploader(app).set_value((name, data, "application/octet-stream")).run()


def previewed(laboratory, started, app, data, name):
    drop(app, data, name)
    go_on(laboratory.store, started[-1])
    return app.run()


def pills(app):
    [pills] = [group for group in app.button_group if group.label == "Features"]
    return pills


def waiting_here(store: Store, key: str, array: Any, name: str = "resnet.npy") -> Run:
    """An import of uploaded vectors, which waits for a decision."""
    return begin(store, FeaturesSettings(key, upload=name), npy(array))


def kept_here(store: Store, key: str, array: Any, title: str = "resnet.npy") -> str:
    """The name of vectors that were uploaded and added."""
    return agree(store, waiting_here(store, key, array), title=title).result["name"]
