"""What uses the storage of a workspace, and buttons that free it up when the workspace is full."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from pages.parts.app import address, home, keys
from ranking.core.text import counted
from ranking.reports.prose import escaped
from ranking.workspace.room_quotas import bytes_of, format_bytes, most_disk

LOOK_SECONDS = 10.0  # between two measurements of the size of a workspace


class StorageItem(NamedTuple):
    """Something that uses `bytes`, with the label and help of the button that deletes it."""

    bytes: int
    label: str
    help: str
    remove: Callable[[], object]


def taken() -> int:
    """The bytes that the workspace uses, measured at most LOOK_SECONDS ago."""
    return _bytes_of(str(home.store().home))


@st.cache_data(show_spinner=False, max_entries=64, ttl=LOOK_SECONDS)
def _bytes_of(home: str) -> int:
    return bytes_of(Path(home))


def offer_until_enough() -> None:
    """`offer`, while the workspace is full."""
    if taken() < most_disk():
        st.session_state[keys.ROOM_FULL] = False
    else:
        offer()


def offer() -> None:
    """A button per thing that can be deleted, the largest first, and what has to be deleted elsewhere."""
    takers = sorted((taker for taker in _takers() if taker.bytes), key=lambda taker: -taker.bytes)
    with st.expander("Free up storage", expanded=True, icon=":material/delete_sweep:"):
        for number, taker in enumerate(takers):
            st.button(
                escaped(f"{taker.label}: {format_bytes(taker.bytes)}"),
                key=keys.widget(f"make space {number} {taker.label}"),
                help=taker.help,
                icon=":material/delete:",
                on_click=_remove,
                args=(taker,),
            )
        if not takers:
            st.caption("Nothing can be deleted directly.")
        for text in _in_use():
            st.caption(text)


def _remove(taker: StorageItem) -> None:
    try:
        taker.remove()
    except ValueError as error:  # another tab has deleted it, or uses it
        address.complain(str(error))
    _bytes_of.clear(str(home.store().home))


def _takers() -> Iterator[StorageItem]:
    store = home.store()
    yield StorageItem(
        bytes_of(store.features),
        "Delete computed features",
        "Features are recomputed when they are needed.",
        store.drop_features,
    )
    gone = "This cannot be undone."
    deleted = store.runs(deleted=True)
    yield StorageItem(
        sum(bytes_of(run.folder) for run in deleted),
        f"Empty the run trash ({len(deleted)})",
        gone,
        store.empty_deleted,
    )
    deleted_sets = store.deleted_image_sets()
    yield StorageItem(
        sum(store.bytes_of_set(row.key) for row in deleted_sets),
        f"Empty the image-set trash ({len(deleted_sets)})",
        gone,
        store.empty_deleted_sets,
    )
    answers = home.answers()
    yield StorageItem(
        answers.bytes_of(deleted=True),
        "Empty the answer trash",
        gone,
        answers.empty_deleted,
    )
    for row in store.image_sets():
        if not row.shared and not store.users_of_set(row.key):
            yield StorageItem(
                store.bytes_of_set(row.key),
                f"Delete the image set “{row.title}”",
                "Moves the image set to the trash. Empty the trash to free the storage.",
                lambda key=row.key: store.delete_set(key),
            )
        for vectors in store.vectors_of(row.key):
            if not vectors.shared:
                yield StorageItem(
                    4 * vectors.size * row.samples,
                    f"Delete the features “{vectors.title}” of “{row.title}”",
                    gone,
                    lambda key=row.key, name=vectors.name: store.delete_vectors(key, name),
                )
    for model in store.networks():
        if not model.shared:
            yield StorageItem(
                store.bytes_of_model(model.settings["model"]),
                f"Delete the model “{model.title}”",
                gone,
                lambda name=model.name: store.delete_network(name),
            )


def _in_use() -> Iterator[str]:
    """What uses storage and has to be deleted elsewhere."""
    store = home.store()
    kept = [run for run in store.own_runs() if not run.intake]
    if kept:
        taken = format_bytes(sum(bytes_of(run.folder) for run in kept))
        yield (
            f"{counted(len(kept), 'run')}: {taken}. Delete the runs that you no longer need on their pages, then empty "
            "the run trash."
        )
    answered = home.answers().bytes_of(deleted=False)
    if answered > most_disk() // 100:
        yield f"Answers: {format_bytes(answered)}. Delete the answers of an image set on *Interactive labelling*."
    for row in store.image_sets():
        users = [] if row.shared else store.users_of_set(row.key)
        if users:
            yield (
                f"Image set “{escaped(row.title)}”: {format_bytes(store.bytes_of_set(row.key))}, used by "
                f"{counted(len(users), 'run')}. Delete these runs and empty the run trash first."
            )
