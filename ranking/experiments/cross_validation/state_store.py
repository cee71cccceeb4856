"""The states of cells, from which others begin, as files of one folder: each whole or not there.

They stay when their path is done. A grid that goes on to a larger C, one with a value between, or a HOAP-SVM that is
asked for later begins from them, and no cell is trained a second time for it. Where they come to take too much, those
go first that their path has gone on from, the oldest before the others; whatever begins from one that went trains it
again, to the same bits.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from ranking.core.errors import explained
from ranking.core.limits import DEFAULT_STATES

DIGEST = 32  # bytes
PARTIAL = ".part"  # how a file ends that is being written
WRITTEN_SECONDS = 3600.0  # how long a state may take to be written; after that its writer died
# Of what states may take, where some had to go: not every state is followed by a look at all.
ROOM_LEFT = 0.9


class StateStore:
    """The states below a folder, which any number of processes and threads may use at once.

    lent: folders of states in other homes, which are read alone. most: bytes that those in this one may take.
    Raises ranking.core.errors.HomeError, an OSError, where the folder cannot be used.
    """

    def __init__(self, folder: Path, lent: Iterable[Path] = (), most: int = DEFAULT_STATES) -> None:
        self._last, self._passed, self._most = folder, folder / "passed", most
        self._lent = [place for one in lent for place in (one, one / "passed")]
        self._lock, self._room = threading.Lock(), 0  # bytes that may be written before the next look at all
        with explained(f"the home folder {folder.parent}"):
            self._passed.mkdir(parents=True, exist_ok=True)

    def get(self, key: str) -> bytes | None:
        """The state of a cell; None where there is none, or the disk lost a part of it."""
        for place in (self._last, self._passed, *self._lent):
            state = _whole(place / key)
            if state is not None:
                return state
        return None

    def keep(self, key: str, state: bytes) -> None:
        """Keep the state of a cell, whole or not at all."""
        partial = self._passed / f"{key}.{os.getpid()}.{threading.get_ident()}{PARTIAL}"
        with open(partial, "wb") as file:
            file.write(hashlib.blake2b(state, digest_size=DIGEST).digest())
            file.write(state)
        os.replace(partial, self._last / key)
        with self._lock:
            self._room -= DIGEST + len(state)
            if self._room < 0:
                self._room = self._make_room()

    def passed(self, keys: Iterable[str]) -> None:
        """Their path has gone on from these: they are the first to go."""
        for key in keys:
            try:
                os.replace(self._last / key, self._passed / key)
            except FileNotFoundError:
                continue  # it is lent, has been passed before, or went

    def _make_room(self) -> int:
        """Take away what is too much; how many bytes may be written now."""
        files = [*_by_age(self._passed), *_by_age(self._last)]
        taken = sum(size for _, size in files)
        if taken > self._most:
            for file, size in files:
                if taken <= ROOM_LEFT * self._most:
                    break
                file.unlink(missing_ok=True)
                taken -= size
        return max(self._most - taken, 0)


def _whole(file: Path) -> bytes | None:
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return None
    digest, state = content[:DIGEST], content[DIGEST:]
    return state if hashlib.blake2b(state, digest_size=DIGEST).digest() == digest else None


def _by_age(folder: Path) -> Sequence[tuple[Path, int]]:
    """The files of a folder and their bytes, the oldest first, but for those that are being written."""
    found, being_written = [], time.time_ns() - WRITTEN_SECONDS * 1e9
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                told = entry.stat()
            except FileNotFoundError:
                continue  # it went meanwhile
            partial = entry.name.endswith(PARTIAL) and told.st_mtime_ns > being_written
            if entry.is_file() and not partial:
                found.append((told.st_mtime_ns, Path(entry.path), told.st_size))
    return [(file, size) for _, file, size in sorted(found)]
