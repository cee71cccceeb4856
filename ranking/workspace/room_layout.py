"""Where the rooms of a server lie, and whose content each is lent.

A room is a home of its own below the server's: ``<home>/rooms/<name>``. It holds a file ``room``, which tells a room
from a home that merely lies in such a place; its time is that of the last visit.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ranking.core.errors import InputError

ROOMS = "rooms"
MARK = "room"
BUNDLED = ".bundled"  # what comes with the program, made once for all rooms; no name of a room has a dot
SHORTEST, LONGEST = 8, 64  # characters of a name
CLASS_ROOM, FOLDERS = "RANKING_CLASS_ROOM", "RANKING_ROOM_FOLDERS"


def checked_room(name: str) -> str:
    """The name of a room, as it is; ValueError where no room can have it, since it becomes part of a path.

    >>> checked_room("class-3b-anna")
    'class-3b-anna'
    """
    if not is_name(name):
        raise InputError(
            "name of a room",
            f"{SHORTEST} to {LONGEST} letters a-z, digits and hyphens, a hyphen neither first nor last",
            f"{name[:80]!r}",
            "choose another name",
        )
    return name


def is_name(text: str) -> bool:
    """Whether a room can have that name."""
    return bool(re.fullmatch(rf"[a-z0-9](?:[a-z0-9-]{{{SHORTEST - 2},{LONGEST - 2}}}[a-z0-9])", text))


def is_room(home: Path) -> bool:
    """Whether a home is a room of a server; a folder among them that may not be read counts as one."""
    try:
        return home.parent.name == ROOMS and (home / MARK).is_file()
    except PermissionError:
        return True


def server_of(home: Path) -> Path:
    """The home of the server whose room `home` is; `home` itself where it is no room."""
    return home.parents[1] if is_room(home) else home


def has_quotas(home: Path) -> bool:
    """Whether a home is the room of a visitor, who may have so much."""
    return is_room(home) and home.name != BUNDLED


def home_in_words(home: Path) -> str:
    """What messages call a home: its path to its owner; a visitor of a room learns no path of the host.

    >>> home_in_words(Path("home")).endswith("home")
    True
    """
    return "this room" if has_quotas(home) else str(home)


def open_folders(home: Path) -> list[Path] | None:
    """The folders of this machine whose files may be named by path in `home`: None for any, of a person's own home; in
    a room those that the host has named in $RANKING_ROOM_FOLDERS, with a colon between two."""
    if not has_quotas(home):
        return None
    return [
        Path(text).expanduser().resolve() for text in os.environ.get(FOLDERS, "").split(os.pathsep) if text
    ]


def check_source(home: Path, paths: Iterable[str]) -> None:
    """ValueError where one of the paths that a visitor typed in the room `home` lies in no folder that the host has
    named, or in, or around, the home of its server: there are the images of others. The message does not say whether
    it exists.
    """
    folders, server = open_folders(home), server_of(home).resolve()
    if folders is None:
        return
    for text in filter(
        str.strip, paths
    ):  # nothing is no path, and not the folder that the server was started in
        path = _resolved(text)
        if path is None or not any(path.is_relative_to(folder) for folder in folders):
            raise InputError(
                "path",
                f"one in a folder that the host has named in {FOLDERS} ({', '.join(map(str, folders)) or 'none'})",
                f"{text[:200]!r}",
                "drop a file on the page instead",
            )
        if path.is_relative_to(server) or server.is_relative_to(path):
            raise InputError(
                "path",
                "one outside the folder in which this server keeps the work of its visitors",
                f"{text[:200]!r}",
                "type the path of a folder or file elsewhere",
            )


def _resolved(text: str) -> Path | None:
    """Where a text leads as a path, links followed; None where it can be none."""
    try:
        return Path(text.strip()).expanduser().resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def borrowers_of(home: Path) -> Iterator[Path]:
    """The rooms that are lent the content of `home`."""
    rooms = home.parent.iterdir() if is_room(home) else ()
    return (room for room in rooms if home in lenders_of(room))


def lenders_of(home: Path) -> Iterator[Path]:
    """The homes whose content a room is lent: the class room, where the host has named one, and what is bundled."""
    named = os.environ.get(CLASS_ROOM)
    for name in ([checked_room(named)] if named else []) + [BUNDLED]:
        lender = home.parent / name
        if has_quotas(home) and lender != home and is_room(lender):
            yield lender


def unnamed(home: Path, text: str) -> str:
    """`text`, which a visitor of the room `home` reads, without the names of rooms that lend to it: they are keys."""
    for lender in lenders_of(home):
        text = text.replace(str(lender), "the class room")
    return text
