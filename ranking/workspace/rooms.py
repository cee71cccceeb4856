"""The rooms of a server: one home for each visitor, so that nothing of one can reach another.

The name of a room is the key to it: who knows it may enter. `new_name` draws one that nobody guesses; a person may
choose one instead, and then whoever guesses it may enter.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import string
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ranking.core.errors import HomeError, InputError, explained
from ranking.workspace.home import Home, home_folder
from ranking.workspace.room_layout import (
    BUNDLED,
    CLASS_ROOM,
    MARK,
    ROOMS,
    checked_room,
    has_quotas,
    is_name,
    is_room,
)
from ranking.workspace.room_places import EMPTY, giving_up, kept_days, of_room, times_opened, visited_at
from ranking.workspace.room_quotas import bytes_of, check_count, most_rooms
from ranking.workspace.run import LOCK, is_held
from ranking.workspace.store import Store

LETTERS = string.ascii_lowercase + string.digits
DRAWN = 26  # characters of a name that is drawn: 134 bits
# Beside the rooms: what is locked while one is made or removed, rooms that are being made, and removed ones.
LOCKED, MAKING, GONE = ".lock", ".making", ".gone"


@dataclass(frozen=True)
class RoomRow:
    """What a list of rooms tells of one. visited: when somebody was there last, in seconds since the epoch; damaged:
    whether it cannot be read, so that nobody knows how many sets and runs it holds."""

    name: str
    visited: float
    bytes: int
    sets: int
    runs: int
    damaged: bool = False


def new_name() -> str:
    """A name that nobody guesses.

    >>> len(new_name()), new_name() == new_name()
    (26, False)
    """
    return "".join(secrets.choice(LETTERS) for _ in range(DRAWN))


class Rooms:
    """The rooms of the server whose own home is `home`: see `ranking.workspace.home.Home`.

    The room that the host has named in $RANKING_CLASS_ROOM, whose content is lent to all others, is made with them.
    ValueError where no room can have its name.

    Rooms are made and removed by one process or thread at a time, and a room appears and disappears whole.
    """

    def __init__(self, home: Path | str | None = None) -> None:
        self.home = home_folder(home)
        self._folder = self.home / ROOMS
        named = os.environ.get(CLASS_ROOM)
        if named:
            # Visitors read that it cannot be used, and work without it.
            with contextlib.suppress(HomeError):
                Home(self.make(named))

    @cached_property
    def bundled(self) -> Path:
        """The home of what comes with the program, which is made there once and lent to all rooms."""
        home = self._there_from_now(BUNDLED)
        Home(home)  # it may be of an older version, and is about to be lent
        return home

    def make(self, name: str) -> Path:
        """The home of the room of that name, which is there from now on. NoRoomError where the server has as many as
        it may have, this is not one of them, and none gives its place up (`ranking.workspace.room_places` has the
        rule). The room that the host has named always has its place. HomeError where it cannot be made."""
        return self._there_from_now(checked_room(name))

    def find(self, name: str) -> Path | None:
        """The home of the room of that name; None where there is none."""
        home = self._folder / checked_room(name)
        return home if is_room(home) else None

    def visit(self, name: str, opens: bool = False) -> None:
        """Note that somebody is in a room; opens: for the first time in this browser tab. ValueError where there is
        none of that name. HomeError where that cannot be written."""
        room = self._there(name)
        with explained("this room"):
            try:
                if opens:
                    (room / MARK).write_text(str(times_opened(room) + 1))
                os.utime(room / MARK)
            except FileNotFoundError:
                self._there(name)  # it was removed meanwhile

    def all(self) -> list[RoomRow]:
        """All rooms of visitors, that visited last first."""
        rows = []
        for room in self._homes():
            with contextlib.suppress(FileNotFoundError):  # it was removed meanwhile
                rows.append(_row(room))
        return sorted(rows, key=lambda row: -row.visited)

    def unused_for(self, days: float) -> list[RoomRow]:
        """The rooms that nobody was in for so many days, without those that cannot be read."""
        return [row for row in self.all() if not row.damaged and row.visited < time.time() - days * 86400]

    def remove(self, name: str) -> None:
        """Remove a room with all that is in it, for good. ValueError where there is none of that name, or work goes on
        in it."""
        self._there(name)
        with self._alone():
            self._take_away(self._there(name))
        self._empty_gone()

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """While nobody else makes or removes rooms. What fails is a HomeError without a path of the host."""
        with explained("the rooms of this server"):
            self._folder.mkdir(parents=True, exist_ok=True)
            with open(self._folder / LOCKED, "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield

    def _there_from_now(self, name: str) -> Path:
        room = self._folder / name
        if not is_room(room):
            with self._alone():
                if not is_room(room):
                    self._sweep()
                    self._make_place(name)
                    self._lay_out(room)
            self._empty_gone()
        return room

    def _sweep(self) -> None:
        """Remove what is left of rooms that were not made to the end, or went while somebody was in them."""
        shutil.rmtree(self._folder / MAKING, ignore_errors=True)
        for folder in list(self._folder.iterdir()):
            if (
                is_name(folder.name)
                and not is_room(folder)
                and folder.is_dir()
                and kept_days(folder) == EMPTY
            ):
                self._gives_way(folder)

    def _make_place(self, name: str) -> None:
        """Where there are as many rooms as there may be, remove those that give their place up until there is one for
        room `name`. NoRoomError where there is none."""
        always = (BUNDLED, os.environ.get(CLASS_ROOM))
        rooms = list(self._homes())
        if name in always or len(rooms) < most_rooms():
            return
        left = len(rooms)
        for room in giving_up(room for room in rooms if room.name not in always):
            left -= self._gives_way(room)
            if left < most_rooms():
                return
        check_count(left)

    def _gives_way(self, room: Path) -> bool:
        """Whether a room was removed; where work is running in it, or the disk refuses, it was not."""
        try:
            self._take_away(room)
        except (InputError, OSError):
            return False
        return True

    def _take_away(self, room: Path) -> None:
        """Take a room out of sight in one step; `_empty_gone` removes it."""
        live = sum(is_held(lock) for lock in room.glob(f"runs/*/{LOCK}"))
        if live:
            raise InputError(
                f"room {room.name}",
                "no running imports or training runs",
                live,
                "wait until they have ended, or cancel them there",
            )
        (self._folder / GONE).mkdir(exist_ok=True)
        os.rename(room, self._folder / GONE / secrets.token_hex(8))

    def _empty_gone(self) -> None:
        """Remove what was taken away; what cannot be, or another process removes, waits for next time."""
        for rubbish in (self._folder / GONE).glob("*"):
            shutil.rmtree(rubbish, ignore_errors=True)

    def _lay_out(self, room: Path) -> None:
        """Make a room elsewhere and have it appear whole. A folder that is there already becomes one: it was brought
        back by hand, since `_sweep` has left it."""
        made = room if room.exists() else self._folder / MAKING / secrets.token_hex(8)
        try:
            Home(made)
        except HomeError as error:
            raise HomeError("this room", error.why, error.remedy) from error
        (made / MARK).write_text("0")
        if made != room:
            os.rename(made, room)

    def _homes(self) -> Iterator[Path]:
        """The homes of all rooms of visitors."""
        return (
            (home for home in self._folder.iterdir() if has_quotas(home))
            if self._folder.is_dir()
            else iter(())
        )

    def _there(self, name: str) -> Path:
        home = self.find(name)
        if home is None:
            raise InputError(
                "room", "the name of one on this server", name, "`python -m ranking rooms list` lists them"
            )
        return home


def _row(room: Path) -> RoomRow:
    counts = of_room(room, _counts, None)
    return RoomRow(room.name, visited_at(room), bytes_of(room), *(counts or (0, 0)), damaged=counts is None)


def _counts(room: Path) -> tuple[int, int]:
    """How many image sets and runs of its own a room holds."""
    with Home(room).read() as database:
        (sets,) = database.execute("select count(*) from image_set where deleted is null").fetchone()
    return sets, len(Store(room).own_runs())
