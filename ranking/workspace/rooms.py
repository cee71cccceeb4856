"""The workspaces of a server: one data folder for each visitor, so that no visitor can access the data of another.

The name of a workspace is the key to it: anyone who knows the name can open it. `new_name` samples a name that cannot
be guessed; users can choose a name instead, and then anyone who guesses it can open the workspace.
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
RANDOM_LETTERS = 26  # characters of a random name: 134 bits
# Next to the workspaces: a lock for creating and removing, workspaces that are being created, and removed ones.
LOCKED, MAKING, GONE = ".lock", ".making", ".gone"


@dataclass(frozen=True)
class RoomRow:
    """The row of a workspace in lists. visited: the last visit, in seconds since the epoch; damaged: whether it cannot
    be read, so that its numbers of sets and runs are unknown."""

    name: str
    visited: float
    bytes: int
    sets: int
    runs: int
    damaged: bool = False


def new_name() -> str:
    """Return a random name that cannot be guessed.

    >>> len(new_name()), new_name() == new_name()
    (26, False)
    """
    return "".join(secrets.choice(LETTERS) for _ in range(RANDOM_LETTERS))


class Rooms:
    """The workspaces of the server whose data folder is `home`: see `ranking.workspace.home.Home`.

    The workspace named in $RANKING_CLASS_ROOM, which is shared with all others, is created with them. ValueError if
    this is not a valid name.

    Workspaces are created and removed by one process or thread at a time, and appear and disappear atomically.
    """

    def __init__(self, home: Path | str | None = None) -> None:
        self.home = home_folder(home)
        self._folder = self.home / ROOMS
        named = os.environ.get(CLASS_ROOM)
        if named:
            # Visitors see that it cannot be used, and work without it.
            with contextlib.suppress(HomeError):
                Home(self.make(named))

    @cached_property
    def bundled(self) -> Path:
        """The data folder of the bundled content, which is created there once and shared with all workspaces."""
        home = self._there_from_now(BUNDLED)
        Home(home)  # migrates a data folder of an older version before it is shared
        return home

    def make(self, name: str) -> Path:
        """Return the data folder of the workspace with that name, and create it if needed. NoRoomError if it is a new
        one, the server has reached its limit, and no other can be removed (see `ranking.workspace.room_places`); the
        shared workspace is exempt. HomeError if it cannot be created."""
        return self._there_from_now(checked_room(name))

    def find(self, name: str) -> Path | None:
        """Return the data folder of the workspace with that name; None if there is none."""
        home = self._folder / checked_room(name)
        return home if is_room(home) else None

    def visit(self, name: str, opens: bool = False) -> None:
        """Record a visit of a workspace; opens: whether it is the first in this browser tab. ValueError for an unknown
        name. HomeError if the visit cannot be recorded."""
        room = self._there(name)
        with explained("this workspace"):
            try:
                if opens:
                    (room / MARK).write_text(str(times_opened(room) + 1))
                os.utime(room / MARK)
            except FileNotFoundError:
                self._there(name)  # it was removed meanwhile

    def all(self) -> list[RoomRow]:
        """Return all workspaces, most recently used first."""
        rows = []
        for room in self._homes():
            with contextlib.suppress(FileNotFoundError):  # it was removed meanwhile
                rows.append(_row(room))
        return sorted(rows, key=lambda row: -row.visited)

    def unused_for(self, days: float) -> list[RoomRow]:
        """Return the workspaces that were not visited for `days` days, without unreadable ones."""
        return [row for row in self.all() if not row.damaged and row.visited < time.time() - days * 86400]

    def remove(self, name: str) -> None:
        """Permanently remove a workspace and its content. ValueError for an unknown name, or if jobs are running in
        it."""
        self._there(name)
        with self._alone():
            self._take_away(self._there(name))
        self._empty_gone()

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the lock for creating and removing workspaces. Failures are HomeErrors without a path of the server."""
        with explained("the workspaces of this server"):
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
        """Remove the rest of workspaces whose creation did not finish, or that disappeared during a visit."""
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
        """If the limit of workspaces is reached, remove some until there is place for workspace `name`. NoRoomError if
        none can be removed."""
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
        """Remove a workspace and return True; False if jobs are running in it, or the disk refuses."""
        try:
            self._take_away(room)
        except (InputError, OSError):
            return False
        return True

    def _take_away(self, room: Path) -> None:
        """Remove a workspace from sight in one step; `_empty_gone` removes its files."""
        live = sum(is_held(lock) for lock in room.glob(f"runs/*/{LOCK}"))
        if live:
            raise InputError(
                f"workspace {room.name}",
                "no running imports or training runs",
                live,
                "wait until they have ended, or cancel them there",
            )
        (self._folder / GONE).mkdir(exist_ok=True)
        os.rename(room, self._folder / GONE / secrets.token_hex(8))

    def _empty_gone(self) -> None:
        """Remove the files of removed workspaces; those that cannot be removed now wait for the next call."""
        for rubbish in (self._folder / GONE).glob("*"):
            shutil.rmtree(rubbish, ignore_errors=True)

    def _lay_out(self, room: Path) -> None:
        """Create a workspace elsewhere and move it into place atomically. An existing folder becomes a workspace: it
        was restored by hand, because `_sweep` has left it."""
        made = room if room.exists() else self._folder / MAKING / secrets.token_hex(8)
        try:
            Home(made)
        except HomeError as error:
            raise HomeError("this workspace", error.why, error.remedy) from error
        (made / MARK).write_text("0")
        if made != room:
            os.rename(made, room)

    def _homes(self) -> Iterator[Path]:
        """Yield the data folders of all workspaces."""
        return (
            (home for home in self._folder.iterdir() if has_quotas(home))
            if self._folder.is_dir()
            else iter(())
        )

    def _there(self, name: str) -> Path:
        home = self.find(name)
        if home is None:
            raise InputError(
                "workspace",
                "the name of one on this server",
                name,
                "`python -m ranking rooms list` lists them",
            )
        return home


def _row(room: Path) -> RoomRow:
    counts = of_room(room, _counts, None)
    return RoomRow(room.name, visited_at(room), bytes_of(room), *(counts or (0, 0)), damaged=counts is None)


def _counts(room: Path) -> tuple[int, int]:
    """Return the number of image sets and runs of a workspace, without shared ones."""
    with Home(room).read() as database:
        (sets,) = database.execute("select count(*) from image_set where deleted is null").fetchone()
    return sets, len(Store(room).own_runs())
