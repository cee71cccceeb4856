"""Uploaded files and typed paths: a worker previews a copy, which is then kept or discarded.

This process never parses them.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn, TypeVar

import streamlit as st
from ranking.storage.room_layout import open_folders
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from pages.parts.app import address, dropped, frame, home, keys
from pages.parts.app.frame import escaped
from ranking.core.run_settings import FeaturesSettings, ImportSettings, LookSettings
from ranking.core.text import readable
from ranking.jobs import jobs
from ranking.storage.run import Run

T = TypeVar("T")

# --------------------------------------------------------------------------------------------------- The form


def offer_drop(
    form: str,
    label: str,
    types: Sequence[str],
    begin: Callable[[UploadedFile], Run],
    name: str,
    refused: str | None,
) -> None:
    """An uploader; `begin` starts a preview of each file immediately. The URL parameter `name` is then the id of the
    preview, or `refused` if the file was refused. form: the name of the uploader in the session.

    After each file the widget has a new key, so that the bytes of the file are freed.
    """
    count = keys.uploads_of(form)
    key = keys.widget(f"{form} {st.session_state.get(count, 0)}")
    file = st.file_uploader(label, types, key=key)
    if file is not None:
        run_id, st.session_state[keys.refused_of(form)] = dropped.once(file, lambda file: begin(file).id)
        address.put(**{name: run_id or refused})
        st.session_state[count] = st.session_state.get(count, 0) + 1
        st.rerun()


def show_refused(form: str) -> None:
    """The reason why the last file was refused, if it was."""
    if refused := st.session_state.get(keys.refused_of(form)):
        st.error(escaped(refused), icon=":material/error:")


def where_paths_lead() -> str:
    """A sentence about the paths that can be typed; "" in a workspace where the administrator does not allow paths."""
    folders = open_folders(home.store().home)
    if folders is None:
        return "A path on the computer that runs this app. Files outside this path are not read."
    named = ", ".join(escaped(str(folder)) for folder in folders)
    allowed = "The path must be inside a folder that the server administrator has allowed"
    return f"{allowed}: {named}." if folders else ""


# ------------------------------------------------------------------------------------------- Starting previews


def preview_upload(file: UploadedFile) -> Run:
    """Preview an import of an uploaded file, which is on disk and no longer in memory when this returns."""
    return _begin(file, LookSettings("", brought=_called(file)).to_json())


def preview_features(file: UploadedFile, set_key: str) -> Run:
    """Preview an uploaded file of features for an image set."""
    return _begin(file, FeaturesSettings(set_key, brought=_called(file)).to_json())


def preview_path(path: str) -> Run:
    """Preview an import of a folder or ZIP file on the computer that runs this app."""
    return jobs.start_once(home.store(), "import", LookSettings(path.strip()).to_json())


def preview_features_path(path: str, set_key: str) -> Run:
    """Preview a file of features on the computer that runs this app."""
    return jobs.start_once(home.store(), "import", FeaturesSettings(set_key, path.strip()).to_json())


def preview_again(run: Run, **changes: Any) -> Run:
    """Preview the same file with other settings; this replaces the previous preview."""
    settings = FeaturesSettings if run.task == FeaturesSettings.task else LookSettings
    return _pass_on(run, replace(settings.from_json(run.settings), **changes).to_json())


def import_all(run: Run, source: str, settings: dict[str, Any]) -> Run:
    """Import a previewed file or folder."""
    previewed = LookSettings.from_json(run.settings)
    place = {} if previewed.look == "" else {"folder": previewed.look}
    return _pass_on(run, ImportSettings(source, {**place, **settings}, previewed.brought).to_json())


def _called(file: UploadedFile) -> str:
    return readable(file.name, 120)


def _begin(file: UploadedFile, settings: dict[str, Any]) -> Run:
    def copy(run: Run) -> None:
        file.seek(0)
        with open(run.uploaded_file, "xb") as target:
            shutil.copyfileobj(file, target, 2**20)

    try:
        return jobs.start(home.store(), "import", settings, copy)
    finally:
        _release(file)


def _release(file: UploadedFile) -> None:
    """Free the bytes of an upload, which the server otherwise keeps until the browser tab is closed."""
    context = get_script_run_ctx()
    if context is not None and isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        context.uploaded_file_mgr.remove_file(context.session_id, file.file_id)
    file.close()


def _pass_on(preview: Run, settings: dict[str, Any]) -> Run:
    """Start a run with `settings` that takes over the uploaded file of `preview`, which is discarded.

    A repeated call, as by a page that was interrupted, returns the same run.
    """
    store = home.store()
    preview = store.runs.get(preview.id)
    if "next" in preview.result:
        return store.runs.get(preview.result["next"])
    if preview.settings["brought"] is None:
        run = jobs.start_once(store, "import", settings)
    else:
        run = jobs.start(
            store, "import", settings, lambda run: os.rename(preview.uploaded_file, run.uploaded_file)
        )
    store.runs.update(preview.id, result={**preview.result, "next": run.id})
    store.discard(preview.id)
    return run


# --------------------------------------------------------------------------------------------- A finished preview


def read_preview(run: Run, from_json: Callable[[Mapping[str, Any]], T]) -> T | None:
    """The stored preview of a run; an error message and None if it cannot be read, as from an earlier version."""
    try:
        return from_json(json.loads(run.look_file.read_text()))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        st.error(
            "This preview cannot be read: discard it, and import the file again.",
            icon=":material/error:",
        )
        return None


def offer_discard(run: Run, key: str) -> None:
    """The button that discards a preview or an import and removes it from the URL."""
    if frame.pressed("Discard", key, icon=":material/delete:"):
        home.store().discard(run.id)
        show(keys.OWN if run.task == FeaturesSettings.task else keys.IMPORT, None)


def show(name: str, run: Run | None) -> NoReturn:
    """Set the URL parameter `name` to a preview or an import."""
    address.put(**{name: None if run is None else run.id})
    st.rerun()
