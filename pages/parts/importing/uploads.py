"""Uploaded files and typed paths, and the decisions about what their worker has read.

This process never parses them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from pages.parts.app import address, dropped, forms, frame, home, keys, workspaces
from pages.parts.app.frame import escaped
from pages.parts.training import jobs_panel
from pages.parts.training.jobs_panel import file_name
from ranking.core.text import readable
from ranking.storage import jobs
from ranking.storage.import_questions import Answer, Question, is_answered, last_question, reply
from ranking.storage.run import Run
from ranking.storage.run_settings import FeaturesSettings
from ranking.storage.stored_settings import StoredSettings

CANCEL = "Cancel import"

# --------------------------------------------------------------------------------------------------- The form


def offer_drop(
    form: str,
    label: str,
    types: Sequence[str],
    begin: Callable[[UploadedFile], Run],
    name: str,
    refused: str | None,
) -> None:
    """An uploader; `begin` starts an import of each file immediately."""
    # The URL parameter `name` is then its id, or `refused` if the file was refused. form: the name of the
    # uploader in the session. After each file the widget has a new key, so that the bytes of the file are
    # freed.
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


def offer_path(
    label: str,
    key: str,
    name: str,
    begin: Callable[[str], Run],
    again: Run | None,
    path: str,
    ended: str = "",
) -> None:
    """The field for a path, where one can be typed, and the button that begins an import of it."""
    # again: an import that has failed, whose path was `path`; why is shown.
    typed, pressed = "", False
    if paths_can_be_typed():
        forms.hold(key, path)
        # a form, because Enter then presses its button
        with st.form(f"path of {name}", border=False, enter_to_submit=True):
            typed = st.text_input(label, key=key)
            st.caption("A path on the computer that runs this app. Files outside this path are not read.")
            pressed = frame.pressed("Read", f"read {name}", st.form_submit_button, type="primary")
    if again is not None:
        close(name)
    if pressed and not typed.strip():
        st.error(f"**{label}** is empty: type a path, or upload a file above.", icon=":material/error:")
    elif pressed:
        with frame.errors_in_place():
            show(name, begin(typed))
    elif again is not None:
        explain_end(again, ended)


def largest() -> str:
    """The maximum size of an uploaded file, as text."""
    return f"{st.get_option('server.maxUploadSize'):,} MB"


def paths_can_be_typed() -> bool:
    """Whether files can be named by path: not by visitors of a server."""
    return not workspaces.used()


def begin(settings: StoredSettings, file: UploadedFile | None = None) -> Run:
    """Start an import, of an uploaded file or else of what `settings` name."""
    # The file is on disk and no longer in memory when this returns.
    if file is None:
        return jobs.start_once(home.store(), "import", settings.to_json())

    def copy(run: Run) -> None:
        file.seek(0)
        with open(run.uploaded_file, "xb") as target:
            shutil.copyfileobj(file, target, 2**20)

    try:
        return jobs.start(home.store(), "import", settings.to_json(), copy)
    finally:
        _release(file)


def name_of(file: UploadedFile) -> str:
    return readable(file.name, 120)


def _release(file: UploadedFile) -> None:
    """Free the bytes of an upload, which the server otherwise keeps until the browser tab is closed."""
    context = get_script_run_ctx()
    if context is not None and isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        context.uploaded_file_mgr.remove_file(context.session_id, file.file_id)
    file.close()


# ------------------------------------------------------------------------------------------- Answering questions


def answer(run: Run, question: Question, add: bool = True, **changes: Any) -> None:
    """Finish an import with the settings `changes`; unless `add`, have it read again with them."""
    if is_answered(run, question):
        # it is shown until the worker has read the files again
        return
    reply(run, Answer(question.number, add, changes))
    st.session_state[keys.WATCHED_IMPORT] = run.id
    st.rerun()


def offer_end(
    run: Run,
    question: Question,
    label: str,
    key: str,
    to_add: dict[str, Any] | None,
    to_read: dict[str, Any] | None = None,
    cancel: str = CANCEL,
) -> None:
    """The buttons: read again with the settings `to_read`, if there are any, or finish with those `to_add`; cancel."""
    # Progress replaces them once the question is answered.
    if is_answered(run, question):
        jobs_panel.watch(run)
        return
    with st.container(horizontal=True):
        if to_read:
            if frame.pressed("Update preview", "read again", type="primary", icon=":material/search:"):
                answer(run, question, add=False, **to_read)
        elif to_add is not None and frame.pressed(label, key, type="primary", icon=":material/check_circle:"):
            answer(run, question, **to_add)
        offer_cancel(run, cancel)


def show_live(run: Run, place: DeltaGenerator, ask: Callable[[Question], None]) -> None:
    """The last question of an import, also while the answer is processed; before the first, progress in `place`."""
    try:
        question = last_question(run)
    except ValueError as error:
        st.error(escaped(str(error)), icon=":material/error:")
        offer_cancel(run)
        return
    if question is not None:
        # greyed by frame.css while there is progress in it
        with st.container(border=True, key="question"):
            ask(question)
        return
    st.session_state[keys.WATCHED_IMPORT] = run.id
    with place:
        st.markdown(f"**{escaped(file_name(run))}**")
        jobs_panel.watch(run)


def explain_end(run: Run, which: str = "") -> None:
    """Why an import failed or was cancelled, and that its upload is gone."""
    jobs_panel.explain_end(run, which)
    if (file_name := run.settings.get("upload")) is not None:
        st.caption(f"{escaped(file_name)} was not stored. Upload it again to retry.")


def offer_cancel(run: Run, label: str = CANCEL) -> None:
    """The button that cancels an import, and removes it from the URL; nothing is left of it."""
    if frame.pressed(label, f"cancel import {run.id}", icon=":material/delete:"):
        jobs.cancel(home.store(), run.id)
        show(keys.OWN if run.task == FeaturesSettings.task else keys.IMPORT, None)


def close(name: str) -> None:
    """The button that closes the import of the URL parameter `name`."""
    st.button("Close", on_click=lambda: address.put(**{name: None}), key=f"close {name}")


def show(name: str, run: Run | None) -> NoReturn:
    """Set the URL parameter `name` to an import."""
    address.put(**{name: None if run is None else run.id})
    st.rerun()
