"""The store of the home that a visitor works in, and what is said of what it has not."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import BadZipFile

import streamlit as st

from pages.parts.app import rooms
from ranking.core.text import counted
from ranking.jobs import jobs
from ranking.workspace.database_copies import is_due, keep_copy
from ranking.workspace.room_layout import unnamed
from ranking.workspace.room_quotas import FullError
from ranking.workspace.store import Store, TakenIn

log = logging.getLogger(__name__)
EACH = 32  # entries of a cache: a class of thirty looks at one each, in thirty rooms
SOME = 8  # where an entry takes much memory


class Gone(Exception):
    """Something that the address or a run names is not there (any more). The message says what to do."""


class NoFeatures(Gone):
    """The features of a run are not in the store's cache: it was trained elsewhere, or somebody tidied up."""


def store() -> Store:
    """The store of the home that the visitor works in; what dead workers left is settled when it is first opened.

    Beside the page, where files are made that a person takes along, what needs it is wrapped in `rooms.kept`.
    """
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
    found = jobs.recover(opened)
    for told in (*(f"image set {title}: listed again" for title in found.sets), *found.refused):
        log.warning("%s: %s", opened.home, told)
    if found.runs:
        log.warning("%s: %s listed again", opened.home, counted(len(found.runs), "run"))
    return opened, found


@contextmanager
def or_gone() -> Iterator[None]:
    """What the store lacks, or cannot read, comes as Gone, which pages show; any other error is a defect of ours.

    Of a room that is full pages hear as they do elsewhere, for they offer to make space then."""
    try:
        yield
    except FullError:
        raise
    except (ValueError, OSError, EOFError, BadZipFile) as error:
        raise Gone(_unnamed(str(error))) from error


def _unnamed(told: str) -> str:
    """What is told without the name of the class room, where a file that it lends is damaged."""
    home = rooms.here()
    return told if home is None else unnamed(Path(home), told)


@st.cache_resource(show_spinner=False)
def _opened(home: str) -> Store:
    return Store(home)
