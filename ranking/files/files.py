"""Files of a folder that a person named: how they are called, and which of them lie in it."""

from __future__ import annotations

import hashlib
import stat
import unicodedata
from pathlib import Path

from ranking.core.errors import InputError
from ranking.core.text import on_one_line

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png", ".webp")  # of what can be decoded, the likeliest first
MAX_NAME = 255
LONGEST_PATH = 4096  # of Linux
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

    Letters that cannot be printed keep their codes and long names a hash, so that no two names become one. What is
    longer than any path is no name of a file: it is composed no further than it is shown.

    >>> image_name("a\\udcff") == image_name("a\\udcfe")
    False
    """
    line = on_one_line(text, LONGEST_PATH + 1)
    whole = len(line) <= LONGEST_PATH
    name = "".join(
        letter if _is_plain(letter) else f"\N{REPLACEMENT CHARACTER}{ord(letter):06x}"
        for letter in unicodedata.normalize("NFC", line[:LONGEST_PATH])
    )
    if whole and len(name) <= MAX_NAME:
        return name
    hashed = name.encode() if whole else text.encode(errors="surrogatepass")
    return f"{name[: MAX_NAME - 9]}…{hashlib.sha256(hashed).hexdigest()[:8]}"


def _is_plain(letter: str) -> bool:
    return letter.isprintable() and letter != "\N{REPLACEMENT CHARACTER}"


def unread(shown: str, error: Exception) -> InputError:
    """The error about a file or folder that the system does not let be read."""
    return InputError(shown, "a file or folder that can be read", plain(error), "check its permissions")


def plain(error: Exception) -> str:
    """What the system says of a file, without numbers and paths."""
    return (error.strerror if isinstance(error, OSError) else None) or "cannot be followed"
