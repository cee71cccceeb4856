"""Files of a folder that a person named: how they are called, and which of them lie in it."""

from __future__ import annotations

import hashlib
import stat
import unicodedata
from pathlib import Path

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png", ".webp")  # of what can be decoded, the likeliest first
MAX_NAME = 255
NOTHING = "no such file"
LEADS_OUT = "a link to nothing or out of it"
INSIDE = "a regular file inside the chosen folder"


def refusal(path: Path, boundary: Path) -> str:
    """Why `path`, all links followed, is no regular file inside `boundary`, which has no links, or ""."""
    try:
        regular = stat.S_ISREG(path.stat().st_mode)
        inside = path.resolve().is_relative_to(boundary)
    except FileNotFoundError:
        return LEADS_OUT if path.is_symlink() else NOTHING
    except (OSError, RuntimeError) as error:  # RuntimeError: how pathlib tells of links in a circle
        return plain(error)
    if regular and inside:
        return ""
    return "something else" if inside else LEADS_OUT


def image_name(text: str) -> str:
    """The form in which names of files, lists and samples are compared: composed Unicode, printable.

    Letters that cannot be printed keep their codes and long names a hash, so that no two names become one.

    >>> image_name("a\\udcff") == image_name("a\\udcfe")
    False
    """
    one_line = " ".join(unicodedata.normalize("NFC", text).split())
    name = "".join(
        letter if _is_plain(letter) else f"\N{REPLACEMENT CHARACTER}{ord(letter):06x}" for letter in one_line
    )
    if len(name) <= MAX_NAME:
        return name
    return f"{name[: MAX_NAME - 9]}…{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _is_plain(letter: str) -> bool:
    return letter.isprintable() and letter != "\N{REPLACEMENT CHARACTER}"


def plain(error: Exception) -> str:
    """What the system says of a file, without numbers and paths."""
    return (error.strerror if isinstance(error, OSError) else None) or "cannot be followed"
