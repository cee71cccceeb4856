"""The form that starts an import from an archive, a path or another source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.parts.app import forms, frame, home, keys
from pages.parts.app.frame import escaped
from pages.parts.importing import uploads
from ranking.core.settings import Setting, settings_of
from ranking.datasets import source_class, source_names
from ranking.files.opening import ARCHIVES
from ranking.formats.tree_source import tree_sources
from ranking.storage import jobs
from ranking.storage.run import Run
from ranking.storage.run_settings import ImportSettings

FILES, SOURCES = "Archive or folder", "Another source"
PATH = keys.widget("path of an import")


def offer(again: Run | None = None, ended: str = "") -> None:
    """The form of an import."""
    # again: an import that failed, whose settings and error are shown. ended: which attempt it was.
    with st.expander(
        "Import your own images", icon=":material/create_new_folder:", expanded=again is not None
    ):
        by_path = uploads.paths_can_be_typed()
        names = [
            name
            for name in source_names()
            if name not in tree_sources() and (by_path or not source_class(name).path_setting)
        ]
        by_source = again is not None and again.settings.get("source") in names
        files, sources = st.tabs([FILES, SOURCES], default=SOURCES if by_source else FILES)
        with files:
            _offer_files(None if by_source else again, ended)
        with sources:
            _choose_source(names, again if by_source else None, ended)


# ---------------------------------------------------------------------------------------------------------
# Files
# ---------------------------------------------------------------------------------------------------------


def _offer_files(again: Run | None, ended: str) -> None:
    """The uploader of archives, and the field for a path."""
    by_path = uploads.paths_can_be_typed()
    others = "; for a larger file, or for graded samples (SVMlight), enter a path below"
    uploads.offer_drop(
        "upload",
        "Upload a ZIP or tar file",
        ARCHIVES,
        lambda file: uploads.begin(ImportSettings(upload=uploads.name_of(file)), file),
        keys.IMPORT,
        None,
    )
    st.caption(
        f"Images and labels in one of these formats: {', '.join(tree_sources())}. At most "
        f"{uploads.largest()}{others if by_path else ''}. You first see what was read. No image set is added before "
        "you agree."
    )
    uploads.show_refused("upload")
    path = "" if again is None else str(again.settings["source_settings"].get("folder", ""))
    uploads.offer_path("Folder or archive", PATH, keys.IMPORT, _begin_path, again, path, ended)


def _begin_path(path: str) -> Run:
    return uploads.begin(ImportSettings(source_settings={"folder": path.strip()}))


# ---------------------------------------------------------------------------------------------------------
# Other sources
# ---------------------------------------------------------------------------------------------------------


def _choose_source(names: Sequence[str], again: Run | None, ended: str) -> None:
    """The form of the sources that do not read a folder of images."""
    before = {} if again is None else again.settings
    forms.hold(keys.widget("source"), before.get("source", names[0]))
    source = st.selectbox("Source", names, key=keys.widget("source"))
    if source == before.get("source"):
        fill("source", source, before["source_settings"])
    more = f"More settings of {source}"
    values = forms.settings_form("source", [(source, source_class(source))], more, shared=False)
    empty = [item for item in settings_of(source_class(source)) if _is_missing(item, values[source])]
    # On a phone, frame.css moves the buttons below, so that both columns are visible.
    with st.container(key="import-buttons"):
        buttons, beside = st.columns([1, 4])
    with buttons, st.container(horizontal=True):
        pressed = frame.pressed("Add image set", "add source", type="primary")
        if again is not None:
            uploads.close(keys.IMPORT)
    with beside:
        if pressed and empty:
            item = empty[0]
            st.error(f"**{escaped(item.label)}** is empty. {escaped(item.help)}", icon=":material/error:")
        elif pressed:
            settings = ImportSettings(source, values[source]).to_json()
            with frame.errors_in_place():
                uploads.show(keys.IMPORT, jobs.start_once(home.store(), "import", settings))
        elif again is not None:
            uploads.explain_end(again, ended)


def fill(owner: str, source: str, settings: dict[str, Any]) -> None:
    """Initialise the form of a source with `settings`, unless it has values already."""
    for item in settings_of(source_class(source)):
        if item.name in settings:
            forms.hold(keys.widget(keys.setting(owner, source, item.name)), settings[item.name])


def _is_missing(item: Setting, values: dict[str, Any]) -> bool:
    """Whether a required text is empty; texts that may be empty are advanced settings."""
    return item.kind is str and not item.advanced and not values[item.name].strip()
