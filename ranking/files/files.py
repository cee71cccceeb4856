"""Files of a folder chosen by the user: the form of their names, and whether they lie inside the folder."""

from __future__ import annotations

import hashlib
import stat
import unicodedata
from pathlib import Path

from ranking.core.errors import InputError
from ranking.core.text import on_one_line

# of the formats that can be decoded, the most common first; those of HEIC need a package that may be missing
IMAGE_SUFFIXES = (
    ".jpg", ".jpeg", ".png", ".webp", ".jpe", ".jfif", ".mpo", ".gif", ".bmp", ".tif", ".tiff", ".avif", ".apng",
    ".jp2", ".j2k", ".jpf", ".jpx", ".ppm", ".pgm", ".pbm", ".pnm", ".heic", ".heif",
)  # fmt: skip
MAX_NAME = 255
# the limit of Linux
LONGEST_PATH = 4096
NOTHING = "no such file"
LEADS_OUT = "a link to nothing or out of it"
INSIDE = "a regular file inside the chosen folder"


def refusal(path: Path, boundary: Path) -> str:
    """Return why `path`, after all links are followed, is not a regular file inside `boundary`; "" if it is.

    `boundary` is a path without links.
    """
    try:
        regular = stat.S_ISREG(path.stat().st_mode)
        inside = path.resolve().is_relative_to(boundary)
    except FileNotFoundError:
        return LEADS_OUT if path.is_symlink() else NOTHING
    except (OSError, RuntimeError) as error:
        # pathlib raises RuntimeError for circular links
        return plain(error)
    if regular and inside:
        return ""
    return "something else" if inside else LEADS_OUT


def image_name(text: str) -> str:
    """Return the form in which names of files, lists and samples are compared: composed Unicode, printable.

    Different names stay different: an unprintable character becomes its code, and the end of a long name becomes a
    hash. Text that is longer than any path cannot be the name of a file, so only the part that is shown is composed.

    >>> image_name("a\\udcff") == image_name("a\\udcfe")
    False
    """
    if text.isascii() and text.isprintable() and " " not in text and len(text) <= MAX_NAME:
        # as nearly all names are
        return text
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
    """Return the error for a file or folder that the system refuses to read."""
    return InputError(shown, "a file or folder that can be read", plain(error), "check its permissions")


def plain(error: Exception) -> str:
    """Return the system's message about a file, without its error number and path."""
    return (error.strerror if isinstance(error, OSError) else None) or "cannot be followed"
