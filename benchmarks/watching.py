"""Notes what a process writes, reads and starts outside its own files, by Python's audit events."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
LISTS = ("os.listdir", "os.scandir", "os.walk")
STARTS = ("os.fork", "os.system", "pty.", "socket.", "subprocess.", "urllib.", "webbrowser.")
# events whose first arguments are paths
PATHS = ("open", "os.", "sqlite3.connect")
READ_BY_SYSTEM = ("/usr", "/lib", "/proc", "/sys", "/dev/null", "/dev/urandom", "/etc/mime.types")


class Watch:
    """Records in `noted` what happens outside `home` until the process ends. Hooks cannot be removed."""

    def __init__(self, home: Path) -> None:
        self.home, self.noted = os.path.realpath(home), list[str]()
        code = str(Path(__file__).parents[1])
        self._readable = (self.home, sys.prefix, sys.base_prefix, code, *READ_BY_SYSTEM)
        sys.addaudithook(self._hear)

    def taken(self) -> list[str]:
        """Return what was recorded since the last call."""
        noted, self.noted = self.noted, []
        return noted

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event.startswith(STARTS):
            self.noted.append(f"{event}: {arguments!r}"[:300])
        elif event.startswith(PATHS):
            paths, reads = arguments[:2], event in LISTS
            if event == "open":
                (*paths, mode, flags) = arguments
                reads = not flags & WRITES and not set(mode or "") & set("wax+")
            outside = [path for path in paths if not self._lies_in(path, reads)]
            self.noted += [f"{event} to {'read' if reads else 'write'}: {path!r}"[:300] for path in outside]

    def _lies_in(self, path: Any, reads: bool) -> bool:
        """Return whether a path leads to where this process may read, or may write."""
        # Only texts are paths: files given by descriptor were opened before. Names relative to an open
        # folder, as in `shutil.rmtree`, are taken as relative to the working folder, which should be an empty
        # folder in the data folder.
        if not isinstance(path, str | bytes | os.PathLike):
            return True
        try:
            real = os.path.realpath(os.fsdecode(path))
        except ValueError:
            # a name with a NUL character: nothing is opened
            return True
        folders = self._readable if reads else (self.home,)
        return any(real == folder or real.startswith(folder.rstrip("/") + "/") for folder in folders)
