"""What takes space in a room, and how to have some of it back: wherever the room is said to be full."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from pages.parts.app import address, home, keys
from ranking.core.run_settings import FeaturesSettings
from ranking.core.text import counted
from ranking.reports.prose import escaped
from ranking.workspace.room_quotas import bytes_of, format_bytes, most_disk
from ranking.workspace.run import Run

LOOK_SECONDS = 10.0  # for which the size of a room is not measured again


class Taker(NamedTuple):
    """Something that takes `bytes`: what a button says that removes it, what that means, and what does it."""

    bytes: int
    label: str
    help: str
    remove: Callable[[], object]


def taken() -> int:
    """How many bytes the room takes, or took some seconds ago."""
    return _bytes_of(str(home.store().home))


@st.cache_data(show_spinner=False, max_entries=64, ttl=LOOK_SECONDS)
def _bytes_of(home: str) -> int:
    return bytes_of(Path(home))


def offer_until_enough() -> None:
    """`offer`, while the room takes as much as it may, or more."""
    if taken() < most_disk():
        st.session_state[keys.ROOM_FULL] = False
    else:
        offer()


def offer() -> None:
    """A button for each that can be removed, the largest first; and what has to be deleted elsewhere before."""
    takers = sorted((taker for taker in _takers() if taker.bytes), key=lambda taker: -taker.bytes)
    with st.expander("Make space in this room", expanded=True, icon=":material/delete_sweep:"):
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
            st.caption("Nothing can be removed at once.")
        for text in _in_use():
            st.caption(text)


def _remove(taker: Taker) -> None:
    try:
        taker.remove()
    except ValueError as error:  # it is gone, or in use, by what another tab did
        address.complain(str(error))
    _bytes_of.clear(str(home.store().home))


def _takers() -> Iterator[Taker]:
    store = home.store()
    yield Taker(
        bytes_of(store.features),
        "Remove computed features",
        "They are computed again when needed.",
        store.drop_features,
    )
    gone = "They will be gone for good."
    deleted = store.runs(deleted=True)
    yield Taker(
        sum(bytes_of(run.folder) for run in deleted),
        f"Empty the list of deleted runs, {len(deleted)}",
        gone,
        store.empty_deleted,
    )
    taken_away = store.deleted_image_sets()
    yield Taker(
        sum(store.bytes_of_set(row.key) for row in taken_away),
        f"Empty the list of image sets that were taken away, {len(taken_away)}",
        gone,
        store.empty_deleted_sets,
    )
    answers = home.answers()
    yield Taker(
        answers.bytes_of(deleted=True),
        "Empty the list of deleted answers",
        gone,
        answers.empty_deleted,
    )
    for row in store.image_sets():
        if not row.shared and not store.users_of_set(row.key):
            yield Taker(
                store.bytes_of_set(row.key),
                f"Take away the image set “{row.title}”",
                "The space is there when the list of image sets that were taken away is emptied, too.",
                lambda key=row.key: store.delete_set(key),
            )
        for vectors in store.vectors_of(row.key):
            if not vectors.shared:
                yield Taker(
                    4 * vectors.size * row.samples,
                    f"Delete the features “{vectors.title}” of “{row.title}”",
                    gone,
                    lambda key=row.key, name=vectors.name: store.delete_vectors(key, name),
                )
    for model in store.networks():
        if not model.shared:
            yield Taker(
                store.bytes_of_model(model.settings["model"]),
                f"Delete the model “{model.title}”",
                gone,
                lambda name=model.name: store.delete_network(name),
            )
    for run in store.own_runs():
        if run.intake and run.state == "finished" and "decision" not in run.result:
            yield Taker(
                bytes_of(run.folder),
                _discard(run),
                "It waits for your decision.",
                lambda run_id=run.id: store.discard(run_id),
            )


def _discard(run: Run) -> str:
    """What a button says that discards what was imported, or looked at."""
    if run.task == "features":
        return f"Discard the features in “{FeaturesSettings.from_json(run.settings).file_name}”"
    return f"Discard the import of “{run.result.get('title', 'what you have looked at')}”"


def _in_use() -> Iterator[str]:
    """What takes space and cannot be removed at once."""
    store = home.store()
    kept = [run for run in store.own_runs() if not run.intake]
    if kept:
        taken = format_bytes(sum(bytes_of(run.folder) for run in kept))
        yield (
            f"Trainings and other runs, {len(kept)}, take {taken}: delete those that you no longer need where they are "
            "listed, then empty the list of deleted ones."
        )
    answered = home.answers().bytes_of(deleted=False)
    if answered > most_disk() // 100:
        yield f"Answers take {format_bytes(answered)}: delete those of an image set on *Interactive labelling*."
    for row in store.image_sets():
        users = [] if row.shared else store.users_of_set(row.key)
        if users:
            yield (
                f"The image set “{escaped(row.title)}” takes {format_bytes(store.bytes_of_set(row.key))} and is used "
                f"by {counted(len(users), 'run')}: delete these and empty the list of deleted runs first."
            )
