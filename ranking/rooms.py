"""The rooms of a server: one home for each visitor, so that nothing of one can reach another.

The name of a room is the key to it: who knows it may enter. `new_name` draws one that nobody guesses; a person may
choose one instead, and then whoever guesses it may enter.
"""

from __future__ import annotations

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
from ranking.run import LOCK, is_held
from ranking.store import Store

LETTERS = string.ascii_lowercase + string.digits
EMPTY_SECONDS = (
    3600  # since the last visit to a room in which there is nothing, after which it may be removed
)
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
        it may have and this is not one of them; the one that the host has named always has its place, and one that was
        left empty gives its own up."""
        if self.find(name) is None and name != os.environ.get(CLASS_ROOM):
            self._make_place()
            check_count(sum(1 for _ in self._homes()))
        return self._made(checked_room(name))

    def find(self, name: str) -> Path | None:
        """The home of the room of that name; None where there is none."""
        home = self._folder / checked_room(name)
        return home if is_room(home) else None

    def visit(self, name: str) -> None:
        """Note that somebody is in a room. ValueError where there is none of that name."""
        os.utime(self._there(name) / MARK)

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
        """Where there are as many rooms as there may be, remove those that were only looked into: each visit without a
        name in the address begins one."""
        homes = list(self._homes())
        if len(homes) >= most_rooms():
            for home in homes:
                if time.time() - (home / MARK).stat().st_mtime > EMPTY_SECONDS and _is_empty(home):
                    self.remove(home.name)

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
            (home / MARK).touch()
        return home


def _is_empty(home: Path) -> bool:
    """Whether nothing was ever imported, trained, answered or brought there."""
    opened = Home(home)
    with opened.read() as database:
        tables = ("run", "image_set", "answer")
        rows = any(database.execute(f"select 1 from {table} limit 1").fetchone() for table in tables)
    folders = (opened.edges, opened.vectors, opened.models, opened.sets, opened.runs)
    return not rows and not any(any(folder.iterdir()) for folder in folders)
