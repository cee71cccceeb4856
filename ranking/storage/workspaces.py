"""The workspaces of a server: a data folder for each visitor, under a name that cannot be guessed.

They are the folders ``workspaces/<name>`` in the data folder of the server. The time of their file VISITED is that of
the last visit. What is in the folder ``shared`` beside them, a data folder too, all visitors may read.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import string
from dataclasses import dataclass
from pathlib import Path

from ranking.core.errors import InputError, explained
from ranking.storage.home import WORKSPACES
from ranking.storage.records import folders_in
from ranking.storage.run import LOCK, is_held
from ranking.storage.space import bytes_of, check_space

LETTERS = string.ascii_lowercase + string.digits
# characters of a name: 134 bits
LENGTH = 26
VISITED = "visited"


@dataclass(frozen=True)
class WorkspaceRow:
    """A workspace in lists. visited: the last visit, in seconds since the epoch."""

    name: str
    visited: float
    bytes: int
    sets: int
    runs: int


def create(server: Path) -> str:
    """Create a workspace and return its name. FullError if the server is full."""
    name = "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
    folder = server / WORKSPACES / name
    check_space(folder)
    with explained("the workspaces of this server"):
        folder.mkdir(parents=True)
        (folder / VISITED).touch()
    return name


def find(server: Path, name: str) -> Path | None:
    """Return the data folder of the workspace with that name; None if there is none."""
    folder = server / WORKSPACES / name
    return folder if re.fullmatch(f"[{LETTERS}]{{{LENGTH}}}", name) and folder.is_dir() else None


def visit(workspace: Path) -> None:
    """Record a visit."""
    # it is being removed
    with explained("this workspace"), contextlib.suppress(FileNotFoundError):
        (workspace / VISITED).touch()


def all_workspaces(server: Path) -> list[WorkspaceRow]:
    """Return all workspaces, most recently used first."""
    return sorted(map(_row, map(Path, folders_in(server / WORKSPACES))), key=lambda row: -row.visited)


def remove(server: Path, name: str) -> None:
    """Permanently remove a workspace and its content. ValueError for an unknown name, or if runs are live in it."""
    folder = find(server, name)
    if folder is None:
        raise InputError(
            "workspace", "the name of one on this server", name, "`python -m ranking workspaces` lists them"
        )
    if live := sum(is_held(lock) for lock in folder.glob(f"runs/*/{LOCK}")):
        raise InputError(
            f"workspace {name}", "no live runs", live, "wait until they have ended, or cancel them there"
        )
    # out of sight in one step; what is left is removed with the next
    gone = folder.with_name(f"{name}.removed")
    os.rename(folder, gone)
    for rubbish in gone.parent.glob("*.removed"):
        shutil.rmtree(rubbish, ignore_errors=True)


def _row(folder: Path) -> WorkspaceRow:
    mark = folder / VISITED
    visited = (mark if mark.exists() else folder).stat().st_mtime
    sets, runs = (len(folders_in(folder / kind)) for kind in ("sets", "runs"))
    return WorkspaceRow(folder.name, visited, bytes_of(folder), sets, runs)
