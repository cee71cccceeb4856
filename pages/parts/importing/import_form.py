"""How an import begins: a ZIP file is dropped, a path is typed, or another source is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile

from pages.parts.app import address, bounded_uploads, cache, dropped, forms, frame, keys
from pages.parts.app.frame import escaped
from pages.parts.importing import bringing
from pages.parts.runs import jobs_panel
from ranking.core.run_settings import ImportSettings
from ranking.core.settings import Setting, settings_of
from ranking.datasets import source_class, source_names
from ranking.formats.tree_source import tree_sources
from ranking.jobs import jobs
from ranking.workspace.run import Run

FILES, OTHERS = "ZIP file or folder", "Another source"
PATH = keys.widget("brought path")


def offer(again: Run | None = None, ended: str = "") -> None:
    """The form; it holds what the import `again` was asked for, and says how that one `ended`, and why."""
    with st.expander(
        "Import images of your own", icon=":material/create_new_folder:", expanded=again is not None
    ):
        names = [name for name in source_names() if name not in tree_sources()]
        other = again is not None and again.settings.get("source") in names
        files, others = st.tabs([FILES, OTHERS], default=OTHERS if other else FILES)
        with files:
            _bring(None if other else again, ended)
        with others:
            _choose_source(names, again if other else None, ended)


# ---------------------------------------------------------------------------------------------------------
# Files
# ---------------------------------------------------------------------------------------------------------


def _bring(again: Run | None, ended: str) -> None:
    """A place to drop a ZIP file, and one to type a path."""
    key, where = keys.widget(f"upload {st.session_state.get(keys.UPLOADS, 0)}"), bringing.where_paths_lead()
    st.file_uploader("Drop a ZIP file here", "zip", key=key)
    st.caption(
        f"With images and their labels, as annotation tools export them: {', '.join(tree_sources())}. At most "
        f"{bounded_uploads.largest()}{'; for a larger one type its path below' if where else ''}. You "
        "see what is in it before anything of it is imported; unless you import it, nothing of it stays."
    )
    _upload(st.session_state[key])
    refused = st.session_state.get(keys.NOT_BROUGHT)
    if refused is not None:
        st.error(escaped(refused), icon=":material/error:")
    path = _type_path(again, where) if where else ""
    with st.container(key="path-buttons", horizontal=True, vertical_alignment="center"):
        pressed = bool(where) and frame.pressed("Look at it", "look at path", type="primary")
        if again is not None:
            close()
    if pressed and not path.strip():
        st.error(
            "**Folder or ZIP file** is empty: type a path, or drop a file above.", icon=":material/error:"
        )
    elif pressed:
        _go_to(bringing.look_at_path(path))
    elif again is not None:
        jobs_panel.explain_end(again, ended)
        if again.settings.get("brought") is not None:
            st.caption(
                f"Nothing is left of {escaped(again.settings['brought'])}: drop it once more to try again."
            )


def _type_path(again: Run | None, where: str) -> str:
    hold(PATH, "" if again is None else _path_of(again))
    path = st.text_input("Folder or ZIP file", key=PATH)
    st.caption(where)
    return path


def _upload(file: UploadedFile | DeletedFile | None) -> None:
    """Have a worker look at what was dropped. The widget's next key is another: this one's bytes are forgotten."""
    if file is None:
        return
    look, st.session_state[keys.NOT_BROUGHT] = dropped.once(
        file, lambda file: bringing.look_at_upload(file).id
    )
    address.put(**{keys.IMPORT: look})
    st.session_state[keys.UPLOADS] = st.session_state.get(keys.UPLOADS, 0) + 1
    st.rerun()


def _path_of(run: Run) -> str:
    """The path that was typed for an import, or the look before it; "" where a file was uploaded."""
    told = run.settings["look"] if run.looks else run.settings["source_settings"].get("folder", "")
    return str(told)


# ---------------------------------------------------------------------------------------------------------
# What is no files with images
# ---------------------------------------------------------------------------------------------------------


def _choose_source(names: Sequence[str], again: Run | None, ended: str) -> None:
    """The form for any other source that the laboratory knows."""
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
            _go_to(jobs.start_once(cache.store(), "import", settings))
        elif again is not None:
            jobs_panel.explain_end(again, ended)


def fill(owner: str, source: str, settings: dict[str, Any]) -> None:
    """Have the form of a source begin with `settings`, where it is not there yet."""
    for item in settings_of(source_class(source)):
        if item.name in settings:
            hold(keys.widget(keys.setting(owner, source, item.name)), settings[item.name])


def hold(key: str, beginning: Any) -> None:
    """Have a widget show what it holds, and at first `beginning`.

    It is told in every run. What a run tells is lost where the next one interrupts it, as the end of an import
    does; a browser that was never told takes a widget's first option, or no text, and answers with that.
    """
    st.session_state[key] = st.session_state.get(key, beginning)


def _is_missing(item: Setting, values: dict[str, Any]) -> bool:
    """Whether a text that the form asks for at once is empty; those that may be empty are advanced."""
    return item.kind is str and not item.advanced and not values[item.name].strip()


def _go_to(run: Run) -> None:
    address.put(**{keys.IMPORT: run.id})
    st.rerun()


def close() -> None:
    """The button that leaves an import."""
    st.button("Close", on_click=lambda: address.put(**{keys.IMPORT: None}), key="close import")
