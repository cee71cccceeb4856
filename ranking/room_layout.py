"""Where the rooms of a server lie, and whose content each is lent.

A room is a home of its own below the server's: ``<home>/rooms/<name>``. It holds a file ``room``, which tells a room
from a home that merely lies in such a place; its time is that of the last visit.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

ROOMS = "rooms"
MARK = "room"
BUNDLED = ".bundled"  # what comes with the program, made once for all rooms; no name of a room has a dot
SHORTEST, LONGEST = 8, 64  # characters of a name
CLASS_ROOM = "RANKING_CLASS_ROOM"


def checked_room(name: str) -> str:
    """The name of a room, as it is; ValueError where no room can have it, since it becomes part of a path.

    >>> checked_room("class-3b-anna")
    'class-3b-anna'
    """
    if not re.fullmatch(rf"[a-z0-9](?:[a-z0-9-]{{{SHORTEST - 2},{LONGEST - 2}}}[a-z0-9])", name):
        raise ValueError(
            f"the name of a room must have {SHORTEST} to {LONGEST} letters a-z, digits and hyphens, a hyphen neither "
            f"first nor last, got {name[:80]!r}; choose another"
        )
    return name


def is_room(home: Path) -> bool:
    """Whether a home is a room of a server."""
    return home.parent.name == ROOMS and (home / MARK).is_file()


def server_of(home: Path) -> Path:
    """The home of the server whose room `home` is; `home` itself where it is no room."""
    return home.parents[1] if is_room(home) else home


def has_quotas(home: Path) -> bool:
    """Whether a home is the room of a visitor, who may have so much."""
    return is_room(home) and home.name != BUNDLED


def lenders_of(home: Path) -> Iterator[Path]:
    """The homes whose content a room is lent: the class room, where the host has named one, and what is bundled."""
    named = os.environ.get(CLASS_ROOM)
    for name in ([checked_room(named)] if named else []) + [BUNDLED]:
        lender = home.parent / name
        if has_quotas(home) and lender != home and is_room(lender):
            yield lender
