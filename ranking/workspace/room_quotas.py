"""What a room may take of the machine, disk space and work at once, and how many rooms there may be."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from pathlib import Path

from ranking.core.errors import HomeError
from ranking.core.text import counted
from ranking.workspace.room_layout import has_quotas

DISK, JOBS, COUNT = "RANKING_ROOM_DISK", "RANKING_ROOM_JOBS", "RANKING_ROOM_COUNT"
DEFAULT_DISK, DEFAULT_JOBS, DEFAULT_COUNT = 2_000_000_000, 2, 200
LIVE_FOR_EACH = 5  # trainings that work or wait, for each that may work at once: every one is a process


class QuotaError(HomeError):
    """A room has as much as it may have. `why` says of what."""

    def __str__(self) -> str:
        return f"{self.subject} {self.why}; {self.remedy}"


class FullError(QuotaError):
    """A room takes the disk space that it may take: something in it has to be removed first."""


class NoRoomError(QuotaError):
    """A server has as many rooms as it may have."""


def check_disk(home: Path, more: int = 0) -> None:
    """FullError where `home` is a room that takes the disk space that it may take, or would with so many bytes more."""
    if not has_quotas(home):
        return
    used, most = bytes_of(home), most_disk()
    if used + max(more, 1) > most:
        too_much = f", and {format_bytes(more)} more would be too much" if used < most else ""
        raise FullError(
            "this room",
            f"is full: it takes {format_bytes(used)} of {format_bytes(most)}{too_much}",
            "delete trainings that you no longer need and empty the list of deleted ones, take image sets away, "
            "discard imports that wait for a decision, remove computed features, or begin another room (start page)",
        )


class DiskWatch:
    """`check_disk` for many writes to a home: it is measured when the space left may not be enough, and every SECONDS,
    because others write to it too.

    more: bytes that will be written at the end.
    """

    SECONDS = 5.0

    def __init__(self, home: Path, more: int = 0) -> None:
        self._home, self._more, self._left, self._next = home, more, 0, 0.0

    def __call__(self, size: int = 0) -> None:
        """FullError where a room has no space for `size` bytes that are written now; else they count as taken."""
        if not has_quotas(self._home):
            return
        if self._left < size or time.monotonic() >= self._next:
            check_disk(self._home, self._more + size)
            self._left = most_disk() - bytes_of(self._home) - self._more
            self._next = time.monotonic() + self.SECONDS
        self._left -= size


def check_jobs(home: Path, importing: bool, live: int) -> None:
    """QuotaError where `home` is a room that has as many `live` imports, or trainings, as it may have."""
    if not has_quotas(home):
        return
    most = most_jobs() if importing else LIVE_FOR_EACH * most_jobs()
    if live >= most:
        what = "running imports" if importing else "running or waiting trainings and simulations"
        raise QuotaError(
            "this room",
            f"has {live} {what}, the most that it may have",
            "wait until one has ended, or cancel one",
        )


def check_count(rooms: int) -> None:
    """NoRoomError where a server with so many rooms of visitors may have no more."""
    most = most_rooms()
    if rooms >= most:
        raise NoRoomError(
            "this server",
            f"has {counted(rooms, 'room')}, the most that it may have",
            "enter an existing room by its address, or ask the host to remove some that are no longer used "
            f"(`python -m ranking rooms remove --unused-for DAYS`), or to start the server with a higher {COUNT}",
        )


def most_disk() -> int:
    """How many bytes a room may take: $RANKING_ROOM_DISK."""
    return _number(DISK, DEFAULT_DISK, "bytes")


def most_jobs() -> int:
    """How many trainings of a room may work at once: $RANKING_ROOM_JOBS."""
    return _number(JOBS, DEFAULT_JOBS, "trainings at once")


def most_rooms() -> int:
    """How many rooms of visitors a server may have: $RANKING_ROOM_COUNT."""
    return _number(COUNT, DEFAULT_COUNT, "rooms")


def bytes_of(folder: Path) -> int:
    """What the files below a folder take of the disk, each once; those that are linked from elsewhere too take nothing
    here."""
    total, seen = 0, Counter[tuple[int, int]]()
    for place, _, files in os.walk(folder):
        for file in files:
            try:
                status = os.lstat(os.path.join(place, file))
            except FileNotFoundError:
                continue  # it went meanwhile
            seen[status.st_dev, status.st_ino] += 1
            total += status.st_size if seen[status.st_dev, status.st_ino] == status.st_nlink else 0
    return total


def format_bytes(count: int) -> str:
    """A number of bytes in words.

    >>> format_bytes(2_000_000_000), format_bytes(1_234_000), format_bytes(10)
    ('2 GB', '1.23 MB', '0.01 kB')
    """
    for unit, size in (("GB", 10**9), ("MB", 10**6)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count / 1000:.3g} kB"


def _number(variable: str, default: int, unit: str) -> int:
    text = os.environ.get(variable) or str(default)
    if not re.fullmatch(r"0*[1-9][0-9]{0,17}", text):
        raise HomeError(
            variable,
            f"it must be a whole number of {unit}, 1 or more, got {text[:40]!r}",
            "start the server with such a number",
        )
    return int(text)
