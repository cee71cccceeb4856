"""Names of downloads: what the file is, the title of its image set, and an id."""

from __future__ import annotations

import re

# characters of a title
LONGEST = 40


def file_name(what: str, title: str, id: str, ending: str) -> str:
    """Join the parts with hyphens, without characters of `title` that a system cannot store.

    >>> file_name("answers", "Côte d'Azur: ../2024", "0123456789abcdef", "csv")
    'answers-Côte-d-Azur-2024-01234567.csv'
    >>> file_name("simulation", "*", "abc", "html")
    'simulation-abc.html'
    """
    # Of `title`, which may be any text, only letters, digits and hyphens are kept.
    safe = re.sub(r"[\W_]+", "-", title)[:LONGEST].strip("-")
    return "-".join(part for part in (what, safe, id[:8]) if part) + f".{ending}"
