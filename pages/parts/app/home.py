"""The visitor's data folder (the server's own, or a workspace): its stores, and the caches of its content."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from math import inf
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import streamlit as st

from pages.parts.app import rooms
from ranking.core.errors import HomeError
from ranking.core.text import counted
from ranking.jobs import jobs
from ranking.workspace.answers import AnswerStore
from ranking.workspace.corrections import CorrectionStore
from ranking.workspace.database_copies import is_due, keep_copy
from ranking.workspace.room_layout import has_quotas, unnamed
from ranking.workspace.room_quotas import FullError
from ranking.workspace.run import Run
from ranking.workspace.store import Store, TakenIn

log = logging.getLogger(__name__)
EACH = 32  # entries of a cache: enough for a class of thirty with a workspace each
CHECK_SECONDS = 60  # between two checks whether a copy of the database is due
SOME = 8  # entries of a cache whose entries take much memory

# The message if the folder of the examples is incomplete.
NO_EXAMPLES = (
    "the example images are missing in data/examples. Restore that folder (git checkout data/examples, or "
    "python data/examples.py, which takes up to twenty minutes) and start the app again, or import images on the page "
    "Image sets"
)


class Gone(Exception):
    """Something that the URL or a run refers to does not exist (any more). The message explains what to do."""


def store() -> Store:
    """The store of the visitor's data folder; when it is first opened, runs of crashed workers are marked as failed.

    Outside of a page run, such as in a download, the function that calls this must be wrapped in `rooms.kept`.
    """
    if rooms.used():
        common()  # its content is shared with the visitor's workspace
    opened, _ = _recovered(rooms.here())
    now = time.monotonic()
    if now - _checked.get(opened.home, -inf) > CHECK_SECONDS:
        _checked[opened.home] = now
        if is_due(opened.home):
            keep_copy(opened.home)
    return opened


def taken_in() -> TakenIn:
    """What was missing in the visitor's database when it was first opened."""
    return _recovered(rooms.here())[1]


def look_again() -> None:
    """Reopen the visitor's store, so that repairs take effect."""
    _opened.pop(rooms.here(), None)


def common() -> Store:
    """The store of the bundled data, which all workspaces share; without workspaces, the visitor's store."""
    return _recovered(str(rooms.all_rooms().bundled))[0] if rooms.used() else store()


# Not a cache of Streamlit's: a page needs its store thirty times, and each look into such a cache takes 0.1 ms.
_opened: dict[str | None, tuple[Store, TakenIn]] = {}
_checked: dict[Path, float] = {}  # when it was last checked whether a copy of the database is due


def _recovered(home: str | None) -> tuple[Store, TakenIn]:
    if home not in _opened:
        _opened.setdefault(home, _open(home))  # of two that open it at the same time, the first
    return _opened[home]


def _open(home: str | None) -> tuple[Store, TakenIn]:
    opened = Store(home)
    taken = jobs.recover(opened)
    for message in (*(f"image set {title}: listed again" for title in taken.sets), *taken.refused):
        log.warning("%s: %s", opened.home, message)
    if taken.runs:
        log.warning("%s: %s listed again", opened.home, counted(len(taken.runs), "run"))
    adopt_examples(opened)
    return opened, taken


def adopt_examples(opened: Store) -> None:
    """Copy the bundled examples to a store, except to a workspace, which shares them. If that fails, as on a full disk,
    the content of the store can still be used."""
    if has_quotas(opened.home):
        return
    try:
        opened.adopt_examples()
    except HomeError as error:
        log.error("%s", error)


@contextmanager
def missing_as_error() -> Iterator[None]:
    """Turn errors about data that is missing or cannot be read into Gone, which pages show; other errors are bugs.

    FullError is not changed, because pages then offer to free up storage."""
    try:
        yield
    except FullError:
        raise
    except (ValueError, OSError, EOFError, BadZipFile) as error:
        home = rooms.here()  # an error about a shared file must not reveal the name of the shared workspace
        raise Gone(str(error) if home is None else unnamed(Path(home), str(error))) from error


def of_home(entries: int = EACH, spinner: str | bool = False, needs: str = "") -> Callable[[Any], Any]:
    """Cache the results of a function of the visitor's data folder, separately per folder.

    Errors are turned into Gone. needs: "scores" or "model", which the run in the first argument must have.
    """

    def decorate(make: Callable[..., Any]) -> Any:
        def made(home: str, *arguments: Any) -> Any:
            return make(*arguments)

        # Streamlit distinguishes caches by these.
        made.__module__, made.__qualname__ = make.__module__, make.__qualname__
        kept = st.cache_resource(
            made, show_spinner=spinner, max_entries=entries, hash_funcs={Run: lambda run: run.id}
        )

        @wraps(make)
        def get(*arguments: Any) -> Any:
            if needs and not getattr(arguments[0], f"has_{needs}"):
                run = arguments[0]
                raise Gone(f"run {run.id} is {run.state} and has no {needs}; train again")
            with missing_as_error():
                return kept(str(store().home), *arguments)

        get.clear = kept.clear  # type: ignore[attr-defined]
        return get

    return decorate


@of_home()
def answers() -> AnswerStore:
    """The answers about images in the visitor's data folder."""
    return AnswerStore(store().home)


@of_home()
def corrections() -> CorrectionStore:
    """The label corrections in the visitor's data folder."""
    return CorrectionStore(store().home)
