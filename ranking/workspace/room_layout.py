"""Where the workspaces of a server are stored, and which data folders are shared with each.

A workspace is a data folder below the server's: ``<home>/rooms/<name>``. Its file ``room`` distinguishes it from an
unrelated data folder in such a place; the time of that file is that of the last visit.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ranking.core.errors import InputError

ROOMS = "rooms"
MARK = "room"
BUNDLED = ".bundled"  # the bundled content, created once for all workspaces; no name of a workspace has a dot
SHORTEST, LONGEST = 8, 64  # characters of a name
CLASS_ROOM, FOLDERS = "RANKING_CLASS_ROOM", "RANKING_ROOM_FOLDERS"


def checked_room(name: str) -> str:
    """Return the name of a workspace unchanged; ValueError for invalid names, which must not become part of a path.

    >>> checked_room("class-3b-anna")
    'class-3b-anna'
    """
    if not is_name(name):
        raise InputError(
            "name of a workspace",
            f"{SHORTEST} to {LONGEST} letters a-z, digits and hyphens, a hyphen neither first nor last",
            f"{name[:80]!r}",
            "choose another name",
        )
    return name


def is_name(text: str) -> bool:
    """Return whether a workspace can have that name."""
    return bool(re.fullmatch(rf"[a-z0-9](?:[a-z0-9-]{{{SHORTEST - 2},{LONGEST - 2}}}[a-z0-9])", text))


def is_room(home: Path) -> bool:
    """Return whether a data folder is a workspace of a server; an unreadable folder among them counts as one."""
    try:
        return home.parent.name == ROOMS and (home / MARK).is_file()
    except PermissionError:
        return True


def server_of(home: Path) -> Path:
    """Return the data folder of the server to which workspace `home` belongs; `home` itself if it is no workspace."""
    return home.parents[1] if is_room(home) else home


def has_quotas(home: Path) -> bool:
    """Return whether a data folder is the workspace of a visitor, which has limits."""
    return is_room(home) and home.name != BUNDLED


def home_in_words(home: Path) -> str:
    """Name a data folder in messages: its path for its owner, no path for a visitor of a workspace.

    >>> home_in_words(Path("home")).endswith("home")
    True
    """
    return "this workspace" if has_quotas(home) else str(home)


def open_folders(home: Path) -> list[Path] | None:
    """Return the folders of this machine whose files may be named by path in `home`: None for any, in a data folder of
    your own; in a workspace the folders in $RANKING_ROOM_FOLDERS, separated by colons."""
    if not has_quotas(home):
        return None
    return [
        Path(text).expanduser().resolve() for text in os.environ.get(FOLDERS, "").split(os.pathsep) if text
    ]


def check_source(home: Path, paths: Iterable[str]) -> None:
    """Raise ValueError if a path that a visitor entered in workspace `home` is not in an allowed folder, or is in or
    around the data folder of the server, which has the images of others. The message does not reveal whether the path
    exists.
    """
    folders, server = open_folders(home), server_of(home).resolve()
    if folders is None:
        return
    for text in filter(str.strip, paths):  # an empty text must not mean the current folder of the server
        path = _resolved(text)
        if path is None or not any(path.is_relative_to(folder) for folder in folders):
            raise InputError(
                "path",
                f"one in a folder that {FOLDERS} allows ({', '.join(map(str, folders)) or 'none'})",
                f"{text[:200]!r}",
                "upload the file instead",
            )
        if path.is_relative_to(server) or server.is_relative_to(path):
            raise InputError(
                "path",
                "one outside the data folder of this server",
                f"{text[:200]!r}",
                "enter the path of a folder or file elsewhere",
            )


def _resolved(text: str) -> Path | None:
    """Return the absolute path that a text means, with links resolved; None if it cannot be a path."""
    try:
        return Path(text.strip()).expanduser().resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def rooms_sharing(home: Path) -> Iterator[Path]:
    """Yield the workspaces with which the content of `home` is shared."""
    rooms = home.parent.iterdir() if is_room(home) else ()
    return (room for room in rooms if home in shared_with(room))


def shared_with(home: Path) -> Iterator[Path]:
    """Yield the data folders that are shared with a workspace: the shared workspace, if the administrator has named
    one, and the bundled content."""
    named = os.environ.get(CLASS_ROOM)
    for name in ([checked_room(named)] if named else []) + [BUNDLED]:
        shared_home = home.parent / name
        if has_quotas(home) and shared_home != home and is_room(shared_home):
            yield shared_home


def unnamed(home: Path, text: str) -> str:
    """Return `text` without the names of shared workspaces, because these names are keys, for a visitor of `home`."""
    for shared_home in shared_with(home):
        text = text.replace(str(shared_home), "the shared workspace")
    return text
