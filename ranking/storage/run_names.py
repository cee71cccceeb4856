"""What a run may be called."""

from __future__ import annotations

import unicodedata

from ranking.core.errors import InputError

LONGEST_NAME = 80
# Control characters, halves of characters, and ends of lines; then what turns the direction of the text around it.
NOT_IN_NAMES = ("Cc", "Cs", "Zl", "Zp")
TURNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
# What shows nothing by itself: formatting, spaces, marks on other characters, and letters that are blank.
UNSEEN = ("Cf", "Zs", "Mn")
BLANK = "\u115f\u1160\u2800\u3164\uffa0"


def checked_name(name: str) -> str:
    """A run's name without outer spaces; ValueError where it is too long, or cannot be shown as it is."""
    name = name.strip()
    if len(name) > LONGEST_NAME:
        raise InputError("length of a name", f"at most {LONGEST_NAME} characters", len(name), "shorten it")
    bad = next((c for c in name if unicodedata.category(c) in NOT_IN_NAMES or c in TURNS), None)
    if bad is not None:
        raise InputError("name", "plain text on one line without control characters", f"{bad!a}", "remove it")
    if name and all(unicodedata.category(c) in UNSEEN or c in BLANK for c in name):
        raise InputError(
            "name", "a visible character", f"only {name[:4]!a}", "type one, or leave the name empty"
        )
    return name
