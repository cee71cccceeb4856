"""Limits per workspace (disk space, concurrent jobs) and on the number of workspaces."""

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
LIVE_FOR_EACH = 5  # live runs per run that may be running, because queued ones are processes too


class QuotaError(HomeError):
    """A workspace has reached a limit. `why` names the limit."""

    def __str__(self) -> str:
        return f"{self.subject} {self.why}; {self.remedy}"


class FullError(QuotaError):
    """A workspace is full: some of its content has to be removed first."""


class NoRoomError(QuotaError):
    """A server has reached its limit of workspaces."""


def check_disk(home: Path, more: int = 0) -> None:
    """Raise FullError if `home` is a workspace that is full, or would be with `more` bytes."""
    if not has_quotas(home):
        return
    used, most = bytes_of(home), most_disk()
    if used + max(more, 1) > most:
        too_much = f", and {format_bytes(more)} more would exceed the limit" if used < most else ""
        raise FullError(
            "this workspace",
            f"is full: it uses {format_bytes(used)} of {format_bytes(most)}{too_much}",
            "delete runs or image sets and empty the trash, cancel imports, clear the feature cache, or "
            "create another workspace on the start page",
        )


class DiskWatch:
    """`check_disk` for many writes to a data folder: the disk space is measured when the space left may not be enough,
    and every SECONDS, because other processes write too.

    more: bytes that will be written at the end.
    """

    SECONDS = 5.0

    def __init__(self, home: Path, more: int = 0) -> None:
        self._home, self._more, self._left, self._next = home, more, 0, 0.0

    def __call__(self, size: int = 0) -> None:
        """Raise FullError if a workspace has no space for `size` bytes that are written now; otherwise count them."""
        if not has_quotas(self._home):
            return
        if self._left < size or time.monotonic() >= self._next:
            check_disk(self._home, self._more + size)
            self._left = most_disk() - bytes_of(self._home) - self._more
            self._next = time.monotonic() + self.SECONDS
        self._left -= size


def check_jobs(home: Path, importing: bool, live: int) -> None:
    """Raise QuotaError if `home` is a workspace with the maximum of `live` imports, or of other runs."""
    if not has_quotas(home):
        return
    most = most_jobs() if importing else LIVE_FOR_EACH * most_jobs()
    if live >= most:
        what = "running imports" if importing else "running or queued jobs"
        raise QuotaError(
            "this workspace",
            f"already has {live} {what}, the maximum",
            "wait for one to finish, or cancel one",
        )


def check_count(rooms: int) -> None:
    """Raise NoRoomError if a server with that many workspaces has reached its limit."""
    most = most_rooms()
    if rooms >= most:
        raise NoRoomError(
            "this server",
            f"has reached its limit of {counted(rooms, 'workspace')}",
            "open an existing workspace by its URL, or ask the administrator to remove unused ones "
            f"(`python -m ranking rooms remove --unused-for DAYS`), or to restart the server with a higher {COUNT}",
        )


def most_disk() -> int:
    """Return the storage limit of a workspace in bytes: $RANKING_ROOM_DISK."""
    return _number(DISK, DEFAULT_DISK, "bytes")


def most_jobs() -> int:
    """Return how many training runs of a workspace may run at the same time: $RANKING_ROOM_JOBS."""
    return _number(JOBS, DEFAULT_JOBS, "concurrent runs")


def most_rooms() -> int:
    """Return the limit on the number of workspaces of a server: $RANKING_ROOM_COUNT."""
    return _number(COUNT, DEFAULT_COUNT, "rooms")


def bytes_of(folder: Path) -> int:
    """Return the disk space of the files below a folder in bytes, each file once; files that are also linked from
    elsewhere do not count."""
    total, seen = 0, Counter[tuple[int, int]]()
    for place, _, files in os.walk(folder):
        for file in files:
            try:
                status = os.lstat(os.path.join(place, file))
            except FileNotFoundError:
                continue  # it was removed meanwhile
            seen[status.st_dev, status.st_ino] += 1
            total += status.st_size if seen[status.st_dev, status.st_ino] == status.st_nlink else 0
    return total


def format_bytes(count: int) -> str:
    """Format a number of bytes.

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
            "restart the server with such a number",
        )
    return int(text)
