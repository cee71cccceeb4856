"""Label corrections: mark selected samples, undo it, and choose whether a new training run uses the corrections.

They are stored in the visitor's workspace (`ranking.storage.corrections`); image sets do not change.
"""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.parts.app import controls, downloads, frame, home, keys
from pages.parts.app.file_names import file_name
from pages.parts.app.frame import escaped
from pages.parts.components import tiles
from ranking.core import ImageSet, Ints
from ranking.core.text import counted
from ranking.reports.comparison_words import by_split
from ranking.storage.corrections import csv_text
from ranking.storage.run import Run


def choose(images: ImageSet, query: str) -> tuple[str, ...]:
    """The ids of the samples whose corrections a new training run uses; nothing is shown without corrections."""
    corrected = tuple(home.store().corrections.standing(images.key, query))
    if not corrected:
        return ()
    use = controls.toggle(
        f"Use my {counted(len(corrected), 'correction')} of “{escaped(query)}”",
        keys.CORRECTIONS,
        help="The run is trained and evaluated with the current corrections.",
    )
    return corrected if use else ()


def of_run(images: ImageSet, run: Run) -> dict[str, bool]:
    """The corrected relevance of samples to a run's query, by id."""
    # The corrections of the run, overridden by the current ones.
    query, used = run.settings["query"], run.corrections
    relevance, rows = images.relevance(query), np.flatnonzero(np.isin(images.ids, list(used)))
    in_run = {str(images.ids[row]): not relevance[row] for row in rows}
    standing = home.store().corrections.standing(images.key, query)
    return in_run | {sample: each.corrected for sample, each in standing.items()}


def say_labels(images: ImageSet, run: Run) -> None:
    """State which labels the metrics use; nothing without corrections."""
    query, used = run.settings["query"], run.corrections
    if used:
        st.caption(
            "All metrics use the labels that this run was trained with, including "
            f"{counted(len(used), 'corrected label')}: {by_split(images, used)}."
        )
    elif corrected := home.store().corrections.standing(images.key, query):
        st.caption(
            f"{counted(len(corrected), 'correction')} of “{escaped(query)}” (✎). All metrics use the original labels: "
            "train again to see the effect."
        )


def offer(images: ImageSet, query: str, rows: Ints) -> None:
    """Buttons that mark the samples in these rows as relevant or irrelevant, and one that undoes."""
    # Undo applies to the last correction of any tab.
    store, relevance = home.store().corrections, images.relevance(query) > 0
    undone = st.session_state.pop(keys.UNDO, None)
    if undone is not None and store.undo(images.key, undone):
        st.rerun()
    if undone is not None:
        st.warning(
            "That correction has already been undone, here or in another tab. Nothing was changed.",
            icon=":material/undo:",
        )
    original = {str(images.ids[row]): bool(relevance[row]) for row in rows}
    standing = store.standing(images.key, query)
    labels = [standing[sample].corrected if sample in standing else was for sample, was in original.items()]
    which = "" if len(labels) == 1 else f" all {len(labels):,}"
    help = f"Corrections for “{escaped(query)}” are stored separately; the image set does not change."
    with st.container(horizontal=True, vertical_alignment="center"):
        for corrected in (True, False):
            label = f"{tiles.glyph(corrected)} Mark{which} as {tiles.judged(corrected)}"
            key = keys.widget(f"mark as {tiles.judged(corrected)}")
            if frame.pressed(label, key, help=help, disabled=all(now == corrected for now in labels)):
                store.mark(images.key, query, original, corrected)
                st.rerun()
        if press := store.last_press(images.key, query):
            st.button(
                f"Undo: {counted(press.samples, 'sample')} marked as {tiles.judged(press.corrected)}",
                key=keys.widget("undo correction"),
                icon=":material/undo:",
                type="tertiary",
                on_click=_undo,
                args=(press.id,),
            )
    if standing:
        st.caption(
            f"**{counted(len(standing), 'correction')} of “{escaped(query)}”**. On *Train*, a new run can use "
            f"{'it' if len(standing) == 1 else 'them'}."
        )


def _undo(press: str) -> None:
    """Undo the correction that the button names, because there may be a newer one by the time the page runs."""
    st.session_state[keys.UNDO] = press


def offer_file(images: ImageSet) -> None:
    """The download of all corrections of an image set, for all classes; nothing without corrections."""
    store, key = home.store().corrections, images.key
    if store.all(key):
        name = file_name("corrections", images.title, key, "csv")
        downloads.offer("Corrections as CSV", lambda: csv_text(store.all(key)), name)
