"""The form that starts an import: a ZIP file is dropped, a path is typed, or another source is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.parts.app import address, bounded_uploads, forms, frame, home, keys
from pages.parts.app.frame import escaped
from pages.parts.importing import uploads
from pages.parts.runs import jobs_panel
from ranking.core.run_settings import ImportSettings
from ranking.core.settings import Setting, settings_of
from ranking.datasets import source_class, source_names
from ranking.formats.tree_source import tree_sources
from ranking.jobs import jobs
from ranking.workspace.run import Run

FILES, SOURCES = "ZIP file or folder", "Another source"
PATH = keys.widget("path of an import")


def offer(again: Run | None = None, ended: str = "") -> None:
    """The form. It begins with the settings of the import `again`, and says how that one `ended`, and why."""
    with st.expander(
        "Import images of your own", icon=":material/create_new_folder:", expanded=again is not None
    ):
        names = [name for name in source_names() if name not in tree_sources()]
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
    """A place to drop a ZIP file, and one to type a path."""
    where = uploads.where_paths_lead()
    uploads.offer_drop("upload", "Drop a ZIP file here", ["zip"], uploads.preview_upload, keys.IMPORT, None)
    st.caption(
        f"With images and their labels, as annotation tools export them: {', '.join(tree_sources())}. At most "
        f"{bounded_uploads.largest()}{'; for a larger one type its path below' if where else ''}. You "
        "see what is in it before anything of it is imported; unless you import it, nothing of it stays."
    )
    uploads.show_refused("upload")
    path = ""
    if where:
        hold(PATH, "" if again is None else _path_of(again))
        path = st.text_input("Folder or ZIP file", key=PATH)
        st.caption(where)
    with st.container(key="path-buttons", horizontal=True, vertical_alignment="center"):
        pressed = bool(where) and frame.pressed("Look at it", "look at path", type="primary")
        if again is not None:
            close()
    if pressed and not path.strip():
        st.error(
            "**Folder or ZIP file** is empty: type a path, or drop a file above.", icon=":material/error:"
        )
    elif pressed:
        uploads.show(keys.IMPORT, uploads.preview_path(path))
    elif again is not None:
        jobs_panel.explain_end(again, ended)
        if again.settings.get("brought") is not None:
            st.caption(
                f"Nothing is left of {escaped(again.settings['brought'])}: drop it once more to try again."
            )


def _path_of(run: Run) -> str:
    """The path that was typed for an import, or for its preview; "" where a file was uploaded."""
    settings = run.settings
    return str(settings["look"] if run.looks else settings["source_settings"].get("folder", ""))


# ---------------------------------------------------------------------------------------------------------
# Other sources
# ---------------------------------------------------------------------------------------------------------


def _choose_source(names: Sequence[str], again: Run | None, ended: str) -> None:
    """The form of the sources that read no folder of images."""
    before = {} if again is None else again.settings
    hold(keys.widget("source"), before.get("source", names[0]))
    source = st.selectbox("From", names, key=keys.widget("source"))
    if source == before.get("source"):
        fill("source", source, before["source_settings"])
    more = f"More settings of {source}"
    values = forms.settings_form("source", [(source, source_class(source))], more, shared=False)
    empty = [item for item in settings_of(source_class(source)) if _is_missing(item, values[source])]
    with st.container(
        key="import-buttons"
    ):  # on a phone frame.css has the buttons below, to keep both in sight
        buttons, beside = st.columns([1, 4])
    with buttons, st.container(horizontal=True):
        pressed = frame.pressed("Import", "start import", type="primary")
        if again is not None:
            close()
    with beside:
        if pressed and empty:
            item = empty[0]
            st.error(f"**{escaped(item.label)}** is empty. {escaped(item.help)}", icon=":material/error:")
        elif pressed:
            settings = ImportSettings(source, values[source]).to_json()
            uploads.show(keys.IMPORT, jobs.start_once(home.store(), "import", settings))
        elif again is not None:
            jobs_panel.explain_end(again, ended)


def fill(owner: str, source: str, settings: dict[str, Any]) -> None:
    """Have the form of a source begin with `settings`, where it is not there yet."""
    for item in settings_of(source_class(source)):
        if item.name in settings:
            hold(keys.widget(keys.setting(owner, source, item.name)), settings[item.name])


def hold(key: str, beginning: Any) -> None:
    """Have a widget show what it holds, and at first `beginning`.

    The value is set in every run. What one run sets is lost where the next one interrupts it, as the end of an import
    does; a browser without it takes a widget's first option, or no text, and answers with that.
    """
    st.session_state[key] = st.session_state.get(key, beginning)


def _is_missing(item: Setting, values: dict[str, Any]) -> bool:
    """Whether a text that the form asks for at once is empty; those that may be empty are advanced."""
    return item.kind is str and not item.advanced and not values[item.name].strip()


def close() -> None:
    """The button that leaves an import."""
    st.button("Close", on_click=lambda: address.put(**{keys.IMPORT: None}), key="close import")
