"""What a person brings to be imported, on its way to a worker: this process copies it, and never opens it."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from typing import Any

from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from pages.parts.app import cache
from pages.parts.app.frame import escaped
from ranking.core.run_settings import FeaturesSettings, ImportSettings, LookSettings
from ranking.core.text import readable
from ranking.jobs import jobs
from ranking.workspace.room_layout import open_folders
from ranking.workspace.run import Run


def look_at_upload(file: UploadedFile) -> Run:
    """A look at what was dropped, which is on disk and no longer in memory when this returns."""
    return _begin(file, LookSettings("", brought=_called(file)).to_json())


def look_at_features(file: UploadedFile, set_key: str) -> Run:
    """The same at features for an image set."""
    return _begin(file, FeaturesSettings(set_key, brought=_called(file)).to_json())


def _called(file: UploadedFile) -> str:
    return readable(file.name, 120)


def _begin(file: UploadedFile, settings: dict[str, Any]) -> Run:
    def copy(run: Run) -> None:
        file.seek(0)
        with open(run.brought_file, "xb") as target:
            shutil.copyfileobj(file, target, 2**20)

    try:
        return jobs.start(cache.store(), "import", settings, copy)
    finally:
        _release(file)


def _release(file: UploadedFile) -> None:
    """Have the server forget the bytes. It keeps them as long as the browser tab is open otherwise."""
    context = get_script_run_ctx()
    if context is not None and isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        context.uploaded_file_mgr.remove_file(context.session_id, file.file_id)
    file.close()


def where_paths_lead() -> str:
    """What is said of a path that a person types; "" in a room where the host lets nobody type one."""
    folders = open_folders(cache.store().home)
    if folders is None:
        return "On the computer that runs this app. Nothing outside of it is read."
    named = ", ".join(escaped(str(folder)) for folder in folders)
    return f"In a folder that the host of this server has named: {named}." if folders else ""


def look_at_path(path: str) -> Run:
    """A look at a folder or ZIP file on the computer that runs this app."""
    return jobs.start_once(cache.store(), "import", LookSettings(path.strip()).to_json())


def look_at_features_path(path: str, set_key: str) -> Run:
    """A look at a file of features on the computer that runs this app."""
    return jobs.start_once(cache.store(), "import", FeaturesSettings(set_key, path.strip()).to_json())


def look_at_arrays(look: Run, vectors: str, ids: str) -> Run:
    """A look at other arrays of the same file of features. It takes the place of the first one."""
    asked = FeaturesSettings.from_json(look.settings)
    return _pass_on(look, replace(asked, vectors=vectors, ids=ids).to_json())


def look_at_network_again(look: Run, network: dict[str, Any]) -> Run:
    """A look at the same model, used in another way. It takes the place of the first one."""
    asked = FeaturesSettings.from_json(look.settings)
    return _pass_on(look, replace(asked, network=network).to_json())


def look_again(look: Run, source: str, settings: dict[str, Any]) -> Run:
    """A look at the same, read by another source or with other settings of it. It takes the place of the first one."""
    asked = LookSettings.from_json(look.settings)
    return _pass_on(look, replace(asked, source=source, source_settings=settings).to_json())


def import_all(look: Run, source: str, settings: dict[str, Any]) -> Run:
    """The import of what was looked at."""
    asked = LookSettings.from_json(look.settings)
    place = {} if asked.look == "" else {"folder": asked.look}
    return _pass_on(look, ImportSettings(source, {**place, **settings}, asked.brought).to_json())


def _pass_on(look: Run, settings: dict[str, Any]) -> Run:
    """A run with `settings` that has what was uploaded for `look`, of which nothing is left.

    Asked once more, as by a page that was interrupted after it had asked, it is the same run.
    """
    store = cache.store()
    look = store.run(look.id)
    if "next" in look.result:
        return store.run(look.result["next"])
    if look.settings["brought"] is None:
        run = jobs.start_once(store, "import", settings)
    else:
        run = jobs.start(
            store, "import", settings, lambda run: os.rename(look.brought_file, run.brought_file)
        )
    store.update_run(look.id, result={**look.result, "next": run.id})
    store.discard(look.id)
    return run
