"""The home that a visitor works in: its stores, what it lacks, and how caches of what it holds are told apart."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
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
EACH = 32  # entries of a cache: a class of thirty looks at one each, in thirty rooms
SOME = 8  # where an entry takes much memory

# Where the folder of the examples is not whole.
NO_EXAMPLES = (
    "the example images are missing in data/examples. Restore that folder (git checkout data/examples, or "
    "python data/examples.py, which takes up to twenty minutes) and start the app again, or import images on the page "
    "Image sets"
)


class Gone(Exception):
    """Something that the address or a run names is not there (any more). The message says what to do."""


def store() -> Store:
    """The store of the home that the visitor works in; what dead workers left is settled when it is first opened.

    Beside the page, where files are made for a download, what needs it is wrapped in `rooms.kept`.
    """
    if rooms.used():
        common()  # what it holds is lent to the visitor's room
    opened, _ = _recovered(rooms.here())
    if is_due(opened.home):
        keep_copy(opened.home)
    return opened


def taken_in() -> TakenIn:
    """What the database of the visitor's home did not know when it was first opened."""
    return _recovered(rooms.here())[1]


def look_again() -> None:
    """Have the visitor's home be opened anew, with what was mended in it."""
    _recovered.clear(rooms.here())


def common() -> Store:
    """The store of what comes with the program, which all rooms are lent; without rooms the one and only."""
    return _recovered(str(rooms.all_rooms().bundled))[0] if rooms.used() else store()


@st.cache_resource(show_spinner=False)
def _recovered(home: str | None) -> tuple[Store, TakenIn]:
    opened = Store(home)
    taken = jobs.recover(opened)
    for message in (*(f"image set {title}: listed again" for title in taken.sets), *taken.refused):
        log.warning("%s: %s", opened.home, message)
    if taken.runs:
        log.warning("%s: %s listed again", opened.home, counted(len(taken.runs), "run"))
    adopt_examples(opened)
    return opened, taken


def adopt_examples(opened: Store) -> None:
    """Have a home hold what comes with the program; a room is lent it. Where that fails, as on a full disk, all that
    the home holds can still be used."""
    if has_quotas(opened.home):
        return
    try:
        opened.adopt_examples()
    except HomeError as error:
        log.error("%s", error)


@contextmanager
def or_gone() -> Iterator[None]:
    """What the store lacks, or cannot read, comes as Gone, which pages show; any other error is a defect of ours.

    Of a room that is full pages hear as they do elsewhere, for they offer to make space then."""
    try:
        yield
    except FullError:
        raise
    except (ValueError, OSError, EOFError, BadZipFile) as error:
        home = rooms.here()  # a file that the class room lends must not tell its name
        raise Gone(str(error) if home is None else unnamed(Path(home), str(error))) from error


def of_home(entries: int = EACH, spinner: str | bool = False, needs: str = "") -> Callable[[Any], Any]:
    """Caches what a function makes of the visitor's home, for each home apart.

    Errors come as Gone. needs: "scores" or "model", which the run that is the first argument must have.
    """

    def decorate(make: Callable[..., Any]) -> Any:
        def made(home: str, *arguments: Any) -> Any:
            return make(*arguments)

        # Streamlit tells caches apart by these.
        made.__module__, made.__qualname__ = make.__module__, make.__qualname__
        kept = st.cache_resource(
            made, show_spinner=spinner, max_entries=entries, hash_funcs={Run: lambda run: run.id}
        )

        @wraps(make)
        def get(*arguments: Any) -> Any:
            if needs and not getattr(arguments[0], f"has_{needs}"):
                run = arguments[0]
                raise Gone(f"training {run.id} is {run.state} and has no {needs}; train again")
            with or_gone():
                return kept(str(store().home), *arguments)

        get.clear = kept.clear  # type: ignore[attr-defined]
        return get

    return decorate


@of_home()
def answers() -> AnswerStore:
    """The answers about images of this home."""
    return AnswerStore(store().home)


@of_home()
def corrections() -> CorrectionStore:
    """The corrections of labels of this home."""
    return CorrectionStore(store().home)
