"""Notes what a process writes, reads and starts outside its own files, by Python's audit events."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Events whose first argument, or first two, are paths that are created, moved or removed.
ONE_PATH = (
    "os.mkdir",
    "os.remove",
    "os.rmdir",
    "os.truncate",
    "os.chmod",
    "os.chown",
    "os.utime",
    "os.mkfifo",
    "sqlite3.connect",
)
TWO_PATHS = ("os.rename", "os.link", "os.symlink")
STARTS = (
    "os.system",
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "pty.spawn",
)
REACHES = (
    "socket.connect",
    "socket.bind",
    "socket.sendto",
    "socket.getaddrinfo",
    "webbrowser.open",
    "urllib.Request",
)
READ_BY_PYTHON = (
    sys.prefix,
    sys.base_prefix,
    "/usr",
    "/lib",
    "/proc",
    "/sys",
    "/dev/null",
    "/dev/urandom",
    "/etc/mime",
)


class Watch:
    """Records in `noted` what happens outside `home` until the process ends. Hooks cannot be removed."""

    def __init__(self, home: Path) -> None:
        self.home, self.noted = os.path.realpath(home), list[str]()
        self._readable = (self.home, *READ_BY_PYTHON, str(Path(__file__).parents[1]))
        sys.addaudithook(self._hear)

    def taken(self) -> list[str]:
        """Return what was recorded since the last call."""
        noted, self.noted = self.noted, []
        return noted

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" or event in KNOWN:
            self.noted += [f"{event}: {event_text}"[:300] for event_text in self._outside(event, arguments)]

    def _outside(self, event: str, arguments: tuple[Any, ...]) -> Iterator[str]:
        if event == "open":
            path, mode, flags = arguments
            writes = bool(flags & WRITES) or any(letter in (mode or "") for letter in "wax+")
            if not self._lies_in(path, (self.home,) if writes else self._readable):
                yield f"{'written' if writes else 'read'} {path!r}"
        elif event in (*ONE_PATH, *TWO_PATHS):
            for path in arguments[: 2 if event in TWO_PATHS else 1]:
                if not self._lies_in(path, (self.home,)):
                    yield repr(path)
        else:
            yield repr(arguments)

    def _lies_in(self, path: Any, folders: tuple[str, ...]) -> bool:
        """Return whether a path leads into one of the folders. Files given by descriptor were opened before.

        Names relative to an open folder, as in `shutil.rmtree`, are taken as relative to the working folder, which
        should be an empty folder in the data folder.
        """
        if isinstance(path, int):
            return True
        try:
            real = os.path.realpath(os.fsdecode(path))
        except ValueError:  # a name with a NUL character: nothing is opened
            return True
        return any(real == folder or real.startswith(folder.rstrip("/") + "/") for folder in folders)


KNOWN = frozenset((*ONE_PATH, *TWO_PATHS, *STARTS, *REACHES, "subprocess.Popen"))


def listing(folder: Path, without: Path) -> dict[str, tuple[int, int]]:
    """Return every file below `folder` but not below `without`, with values that change when it is written."""
    files = {}
    for path in folder.rglob("*"):
        if not path.is_relative_to(without):
            status = path.lstat()
            files[str(path)] = (status.st_size if path.is_file() else 0, status.st_mtime_ns)
    return files
