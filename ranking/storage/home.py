"""The data folder: its layout, and how files in it are written.

``sets/<key>`` has an image set and what was added to it; ``runs/<id>`` a run; ``edges``, ``vectors`` and ``models``
hold uploads (`ranking.storage.uploads`); ``experiments`` holds finished trials; ``trash`` holds folders that are being
removed. While no run works, ``trash``, ``features`` and ``queue`` may be removed. There is no list of sets or runs: it
is made by looking (`ranking.storage.records`). Any number of processes may use a data folder: a file is written whole
and renamed into place, or appended to by whole lines, under the lock of the folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ranking.core.errors import HomeError, InputError, explained

FOLDERS = ("sets", "runs", "edges", "vectors", "models", "features", "trash")
# On a server: visitors' data folders, and the one that all may read.
WORKSPACES, SHARED = "workspaces", "shared"
# suffix of a folder, and prefix of a file, while it is written
PARTIAL, UNFINISHED = ".part", "unfinished-"
# a file that is being written changes more often
ABANDONED_SECONDS = 3600
# how long what was deleted can be restored
DELETED_DAYS = 30
# what only data folders of earlier versions contain
EARLIER = "ranking.sqlite"


class Home:
    """A data folder: $RANKING_HOME, else ~/.local/share/ranking-laboratory, if None; or a HomeError."""

    # `shared`: whether other workspaces share the data folder, so that it is read-only here. It cannot be
    # used if it cannot be written, or belongs to an earlier version.
    def __init__(self, path: Path | str | None = None, shared: bool = False) -> None:
        self.path = home_folder(path)
        self.shared = shared
        self.sets, self.runs, self.edges, self.vectors, self.models, self.features, self.trash = (
            self.path / name for name in FOLDERS
        )
        if shared:
            return
        with explained(self.display_name):
            if (self.path / EARLIER).exists():
                raise HomeError(
                    self.display_name, "an earlier version wrote it", "set RANKING_HOME to a new folder"
                )
            for name in FOLDERS:
                (self.path / name).mkdir(parents=True, exist_ok=True)

    @property
    def display_name(self) -> str:
        """The name in messages: a visitor of a server sees no path, because the name of the folder is a key."""
        if self.shared:
            return "the shared data folder"
        return home_in_words(self.path) if is_workspace(self.path) else f"the data folder {self.path}"

    def check(self) -> None:
        """Raise HomeError if the data folder is gone: empty lists would not say so."""
        if not self.shared:
            with explained(self.display_name):
                os.stat(self.runs)

    @contextmanager
    def change(self) -> Iterator[None]:
        """Hold the lock under which all processes and threads change records. It must not be nested."""
        if self.shared:
            raise HomeError(self.display_name, "it is read-only", "work in your own workspace")
        with explained(self.display_name), open(self.path / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def throw_away(self, folder: Path) -> None:
        """Move a folder to the trash in one step; `empty_trash` removes it."""
        self.trash.mkdir(exist_ok=True)
        try:
            os.rename(folder, self.trash / secrets.token_hex(8))
        except FileNotFoundError:
            # it does not exist, as intended
            return

    def empty_trash(self) -> None:
        """Remove the folders in the trash; those that cannot be removed now wait for the next call."""
        for rubbish in self.trash.glob("*"):
            shutil.rmtree(rubbish, ignore_errors=True)


def home_folder(path: Path | str | None = None) -> Path:
    """Return the folder of `path`: $RANKING_HOME, else ~/.local/share/ranking-laboratory, if None; creates nothing."""
    typed = str(path or os.environ.get("RANKING_HOME") or "~/.local/share/ranking-laboratory")
    if "\0" in typed:
        raise HomeError(
            f"the data folder {typed!r}",
            "it contains a NUL character",
            "set RANKING_HOME to a path without one",
        )
    try:
        return Path(typed).expanduser().absolute()
    except RuntimeError as error:
        # ~ of an unknown user
        raise HomeError(
            f"the data folder {typed}", "there is no such user", "set RANKING_HOME to a full path"
        ) from error


# ---------------------------------------------------------------------------------------------------------
# Workspaces of a server: see `ranking.storage.workspaces`
# ---------------------------------------------------------------------------------------------------------


def is_workspace(home: Path) -> bool:
    """Return whether a data folder belongs to one visitor of a server."""
    return home.parent.name == WORKSPACES


def server_of(home: Path) -> Path:
    """Return the data folder of the server to which workspace `home` belongs; `home` itself if it is no workspace."""
    return home.parents[1] if is_workspace(home) else home


def home_in_words(home: Path) -> str:
    """Name a data folder in messages: its path for its owner, no path for a visitor.

    >>> home_in_words(Path("home")), home_in_words(Path("home/workspaces/x"))
    ('home', 'this workspace')
    """
    return "this workspace" if is_workspace(home) else str(home)


def check_source(home: Path, named: str) -> None:
    """Raise InputError for a visitor of a workspace, whose imports never read the server's file that is `named`."""
    if is_workspace(home):
        raise InputError("import", "an uploaded file", f"{named[:200]!r}", "upload the file instead")


# ---------------------------------------------------------------------------------------------------------
# Writing
# ---------------------------------------------------------------------------------------------------------


def write_whole(file: Path, write: Callable[[Path], object]) -> None:
    """Write `file` completely or not at all: `write` fills a file beside it, which is flushed and renamed."""
    partial = file.with_name(f"{UNFINISHED}{secrets.token_hex(4)}-{file.name}")
    try:
        write(partial)
        with open(partial, "rb+") as stream:
            os.fsync(stream.fileno())
        os.replace(partial, file)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def move_durably(folder: Path, target: Path) -> None:
    """Rename, and flush the rename to disk."""
    os.rename(folder, target)
    descriptor = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_expired(deleted: float | None) -> bool:
    """Return whether something was deleted so long ago that it is removed permanently."""
    return deleted is not None and deleted < time.time() - DELETED_DAYS * 86400


def remove_partial_files(folders: Iterable[Path]) -> None:
    """Remove the files that crashed processes left half written: those that nobody has written to for an hour."""
    for folder in folders:
        for file in (*folder.rglob(f"*{PARTIAL}"), *folder.rglob(f"{UNFINISHED}*")):
            # it was completed meanwhile
            with contextlib.suppress(FileNotFoundError):
                status = file.stat()
                if stat.S_ISREG(status.st_mode) and status.st_mtime < time.time() - ABANDONED_SECONDS:
                    file.unlink()
