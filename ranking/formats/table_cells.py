"""What stands in one cell of a table that a person brought: labels, marks, numbers, a part of the set."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ranking.core.text import readable, told_apart
from ranking.files import Unusable

UNKNOWN = ("", "?", "na", "n/a", "nan", "none", "null")


def listed_labels(cell: str) -> tuple[str, ...]:
    """The labels of a cell, each once.

    >>> listed_labels("sea; sun|sea")
    ('sea', 'sun')
    """
    told = [label for label in map(told_apart, cell.replace("|", ";").split(";")) if label]
    return tuple(dict.fromkeys(told))


def marked_labels(marks: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Those of (label, cell) whose cell is 1; Unusable where one is neither 0 nor 1.

    >>> marked_labels([("sea", "1"), ("sun", " 0")])
    ('sea',)
    """
    told = [(label, mark.strip()) for label, mark in marks]
    wrong = next((f"{label}: {mark!r:.20}" for label, mark in told if mark not in ("0", "1")), None)
    if wrong is not None:
        raise Unusable("labels marked 0 or 1", readable(wrong))
    return tuple(label for label, mark in told if mark == "1")


def number(criterion: str, cell: str) -> float:
    """The number in a cell, NaN where it is unknown; Unusable where there is something else.

    >>> number("year", " 1957 "), number("year", "NA")
    (1957.0, nan)
    """
    text = cell.strip()
    if text.lower() in UNKNOWN:
        return math.nan
    told = plain_number(text)
    if told is None or not math.isfinite(told):
        raise Unusable("finite numbers, or ? where unknown", readable(f"{criterion}: {text!r:.20}"))
    return told


def plain_number(text: str) -> float | None:
    """The number that `text` is, which may be infinite or NaN; None where it is none, such as 0012_3, which Python
    reads as one.

    >>> plain_number("1e3"), plain_number("12 km"), plain_number("0012_3")
    (1000.0, None, None)
    """
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None
