"""The rooms of a server: one home for each visitor, so that nothing of one can reach another.

The name of a room is the key to it: who knows it may enter. `new_name` draws one that nobody guesses; a person may
choose one instead, and then whoever guesses it may enter.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import string
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ranking.errors import InputError
from ranking.home import Home, home_folder
from ranking.room_layout import BUNDLED, CLASS_ROOM, MARK, ROOMS, checked_room, has_quotas, is_room
from ranking.room_quotas import bytes_of, check_count, most_rooms
from ranking.run import INTAKES, LOCK, Run, is_held
from ranking.store import Store

LETTERS = string.ascii_lowercase + string.digits
ONCE_SECONDS = 86400.0  # since the last visit to a room that was opened once, after which it may be removed
DRAWN = 26  # characters of a name that is drawn: 134 bits


@dataclass(frozen=True)
class RoomRow:
    """What a list of rooms tells of one. visited: when somebody was there last, in seconds since the epoch."""

    name: str
    visited: float
    bytes: int
    sets: int
    runs: int


def new_name() -> str:
    """A name that nobody guesses.

    >>> len(new_name()), new_name() == new_name()
    (26, False)
    """
    return "".join(secrets.choice(LETTERS) for _ in range(DRAWN))


class Rooms:
    """The rooms of the server whose own home is `home`: see `ranking.home.Home`.

    The room that the host has named in $RANKING_CLASS_ROOM, whose content is lent to all others, is made with them.
    ValueError where no room can have its name.
    """

    def __init__(self, home: Path | str | None = None) -> None:
        self.home = home_folder(home)
        self._folder = self.home / ROOMS
        named = os.environ.get(CLASS_ROOM)
        if named:
            self.make(named)

    @cached_property
    def bundled(self) -> Path:
        """The home of what comes with the program, which is made there once and lent to all rooms."""
        return self._made(BUNDLED)

    def make(self, name: str) -> Path:
        """The home of the room of that name, which is there from now on. NoRoomError where the server has as many as
        it may have and this is not one of them. The one that the host has named always has its place; one in which
        there is nothing gives its own up, and so does one that nobody opened a second time, a day later."""
        if self.find(name) is None and name != os.environ.get(CLASS_ROOM):
            self._make_place()
            check_count(sum(1 for _ in self._homes()))
        return self._made(checked_room(name))

    def find(self, name: str) -> Path | None:
        """The home of the room of that name; None where there is none."""
        home = self._folder / checked_room(name)
        return home if is_room(home) else None

    def visit(self, name: str, opens: bool = False) -> None:
        """Note that somebody is in a room; opens: for the first time in this browser tab. ValueError where there is
        none of that name."""
        mark = self._there(name) / MARK
        if opens:
            mark.write_text(str(_opened(mark) + 1))
        os.utime(mark)

    def all(self) -> list[RoomRow]:
        """All rooms of visitors, that visited last first."""
        return sorted((self._row(home.name) for home in self._homes()), key=lambda row: -row.visited)

    def unused_for(self, days: float) -> list[RoomRow]:
        """The rooms that nobody was in for so many days."""
        return [row for row in self.all() if row.visited < time.time() - days * 86400]

    def remove(self, name: str) -> None:
        """Remove a room with all that is in it, for good. ValueError where there is none of that name, or work goes on
        in it."""
        room = self._there(name)
        live = sum(is_held(lock) for lock in room.glob(f"runs/*/{LOCK}"))
        if live:
            raise InputError(
                f"room {name}",
                "no running imports or training runs",
                live,
                "wait until they have ended, or cancel them there",
            )
        server = Home(self.home)
        server.throw_away(room)
        server.empty_trash()

    def _make_place(self) -> None:
        """Where there are as many rooms as there may be, remove the one that nobody was in for longest of those that
        give their place up: each visit without a name in the address begins one."""
        homes = [home for home in self._homes() if home.name != os.environ.get(CLASS_ROOM)]
        if sum(1 for _ in self._homes()) < most_rooms():
            return
        homes.sort(key=lambda home: (home / MARK).stat().st_mtime)
        for gives_up in (_holds_nothing, _was_opened_once):
            for home in homes:
                with contextlib.suppress(InputError):  # work goes on in it
                    if gives_up(home):
                        self.remove(home.name)
                        return

    def _homes(self) -> Iterator[Path]:
        """The homes of all rooms of visitors."""
        return (
            (home for home in self._folder.iterdir() if has_quotas(home))
            if self._folder.is_dir()
            else iter(())
        )

    def _row(self, name: str) -> RoomRow:
        home = self._folder / name
        store, visited = Store(home), (home / MARK).stat().st_mtime
        own = [row for row in store.image_sets() if not row.lent]
        return RoomRow(name, visited, bytes_of(home), len(own), len(store.own_runs()))

    def _there(self, name: str) -> Path:
        home = self.find(name)
        if home is None:
            raise InputError(
                "room", "the name of one on this server", name, "`python -m ranking rooms list` lists them"
            )
        return home

    def _made(self, name: str) -> Path:
        home = self._folder / name
        Home(home)  # also where it is there: it may be of an older version, and is about to be lent
        if not is_room(home):
            (home / MARK).write_text("0")
        return home


def _holds_nothing(home: Path) -> bool:
    """Whether nothing was imported, trained, answered or brought there, but for imports that left nothing."""
    opened = Home(home)
    with opened.read() as database:
        rows = any(
            database.execute(f"select 1 from {table} limit 1").fetchone() for table in ("image_set", "answer")
        )
    folders = (opened.edges, opened.vectors, opened.models, opened.sets)
    if rows or any(any(folder.iterdir()) for folder in folders):
        return False
    store = Store(home)
    return not store.own_runs(deleted=True) and all(_left_nothing(run) for run in store.own_runs())


def _left_nothing(run: Run) -> bool:
    """Whether a run is an import, or a look, that failed, was cancelled or discarded."""
    ended_badly = run.state in ("failed", "cancelled") or run.result.get("decision") == "discarded"
    return run.kind in INTAKES and ended_badly


def _was_opened_once(home: Path) -> bool:
    """Whether nobody came back to a room, for a day."""
    mark = home / MARK
    return _opened(mark) <= 1 and time.time() - mark.stat().st_mtime > ONCE_SECONDS


def _opened(mark: Path) -> int:
    """How many browser tabs have opened a room; of one from before that was counted, more than can be known."""
    told = mark.read_text()
    return int(told) if told.isdecimal() and len(told) < 10 else 2
