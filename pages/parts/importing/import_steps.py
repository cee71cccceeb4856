"""An import, from the form to the image set: the worker reads files and asks, the user decides here."""

from __future__ import annotations

from datetime import datetime

import streamlit as st

from pages.parts.app import address, home, keys
from pages.parts.app.frame import escaped
from pages.parts.importing import import_form, near_copies, preview_panel, problem_table, trash, uploads
from pages.parts.training import jobs_panel
from ranking.storage import jobs
from ranking.storage.import_questions import Question
from ranking.storage.run import ENDED, Run
from ranking.storage.run_settings import ImportSettings


def show() -> None:
    """The import in the URL and its progress; without one, the form that starts an import."""
    # also if it stays empty, so that the elements below do not move
    place = st.container()
    run = address.read(keys.IMPORT, _import, None)
    with place:
        if run is None:
            trash.show_last_change()
            jobs_panel.list_imports(ImportSettings.task, keys.IMPORT)
            import_form.offer()
            trash.show()
        elif run.state in ("failed", "cancelled"):
            import_form.offer(run, _which_try(run))
        elif run.state in ENDED:
            with st.container(border=True):
                _show_added(run)
        else:
            uploads.show_live(run, st.bottom, lambda question: _ask(run, question))


def _import(run_id: str) -> Run:
    run = jobs.poll(home.store(), run_id)
    if run.task != ImportSettings.task:
        raise ValueError(f"expected an import of an image set, got: {run.kind_name}")
    return run


def _which_try(run: Run) -> str:
    """The number and the end of this attempt among the imports with the same settings."""
    # They distinguish repeated failures; "" for the only attempt.
    tries = [equal.id for equal in home.store().runs.equal("import", run.settings)]
    if len(tries) == 1:
        return ""
    ended = datetime.fromtimestamp(run.created if run.ended is None else run.ended)
    return f"try {len(tries) - tries.index(run.id)}, {ended.strftime('%d %b at %H:%M:%S')}"


def _ask(run: Run, question: Question) -> None:
    if question.about == "files":
        preview_panel.show(run, question)
    else:
        near_copies.show(run, question)


def _show_added(run: Run) -> None:
    """What an import has added, its problems, and the button that undoes it."""
    # The tab that waited for it shows the image set.
    key, title = run.result["key"], escaped(run.result["title"])
    if key not in {row.key for row in home.store().sets.rows()}:
        st.markdown(f"The image set **{title}** of this import was deleted.")
        uploads.close(keys.IMPORT)
        return
    if st.session_state.pop(keys.WATCHED_IMPORT, None) == run.id:
        address.put(**{keys.SET: key})
        st.rerun()
    known = bool(run.result.get("known"))
    st.markdown(f"#### {'Already there' if known else 'Added'}: {title}")
    if known:
        st.info("This image set already exists. Identical images and labels are stored once.", icon="🖼️")
    problem_table.show_counts(run.result)
    with st.container(horizontal=True):
        uploads.close(keys.IMPORT)
        if not known:
            trash.offer_undo(key)
    problem_table.show_report(home.store().sets.folder(key))
