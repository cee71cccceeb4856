"""How much visitors of a server may store: one limit for the folder of each visitor, one for the whole server."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from pathlib import Path

from ranking.core.errors import HomeError
from ranking.storage.home import is_workspace, server_of

# Bytes: of the uploads and runs of one visitor, and of everything on a server.
WORKSPACE_LIMIT, SERVER_LIMIT = "RANKING_WORKSPACE_LIMIT", "RANKING_SERVER_LIMIT"
DEFAULTS = {WORKSPACE_LIMIT: 2_000_000_000, SERVER_LIMIT: 100_000_000_000}


class FullError(HomeError):
    """A workspace, or the server, is full."""

    def __str__(self) -> str:
        return f"{self.subject} {self.why}; {self.remedy}"


def check_space(home: Path) -> None:
    """Raise FullError if `home` is a workspace that is full, or is on a server that is full."""
    if not is_workspace(home):
        return
    for folder, variable, subject, remedy in (
        (home, WORKSPACE_LIMIT, "this workspace", "delete runs or image sets and empty the trash"),
        (server_of(home), SERVER_LIMIT, "this server", "ask its administrator to remove unused workspaces"),
    ):
        used, limit = bytes_of(folder), limit_of(variable)
        if used >= limit:
            raise FullError(
                subject, f"is full: it uses {format_bytes(used)} of {format_bytes(limit)}", remedy
            )


class SpaceWatch:
    """`check_space` for the steps of a long run, at most every SECONDS."""

    SECONDS = 2.0

    def __init__(self, home: Path) -> None:
        self._home, self._next = home, 0.0

    def __call__(self) -> None:
        if time.monotonic() >= self._next:
            check_space(self._home)
            self._next = time.monotonic() + self.SECONDS


def limit_of(variable: str) -> int:
    """Return a limit in bytes; HomeError if the variable is no positive whole number."""
    text = os.environ.get(variable) or str(DEFAULTS[variable])
    if not re.fullmatch(r"0*[1-9][0-9]{0,17}", text):
        raise HomeError(
            variable,
            f"it must be a whole number of bytes, 1 or more, got {text[:40]!r}",
            "restart the server with such a number",
        )
    return int(text)


def bytes_of(folder: Path) -> int:
    """Return the bytes on disk of the files below a folder, each once, without any linked from elsewhere."""
    total, seen = 0, Counter[tuple[int, int]]()
    for place, _, files in os.walk(folder):
        for file in files:
            try:
                status = os.lstat(os.path.join(place, file))
            except FileNotFoundError:
                # it was removed meanwhile
                continue
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
