"""Text for tables that spreadsheets open, which treat some of it as formulas."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

SIGNS = "=+-@−'"
# Spreadsheets skip, or strip as they read, what is not seen: control characters, formatting characters (a byte order
# mark, a space of no width), and spaces of any kind.
UNSEEN = ("Cc", "Cf", "Zs", "Zl", "Zp")


def guarded(text: str) -> str:
    """Return `text` for a table cell, with an apostrophe before what a spreadsheet would take for a formula.

    That is text whose first visible character is a sign of a formula; small, raised and full-width signs count as the
    signs that they stand for. Text that begins with an apostrophe gets one more, so that removing one restores the
    text.

    >>> guarded("=1+1"), guarded("photo"), guarded("'s"), guarded(" ＝1"), guarded("a = b")
    ("'=1+1", 'photo', "''s", "' ＝1", 'a = b')
    """
    first = next((letter for letter in text if unicodedata.category(letter) not in UNSEEN), "")
    sign = unicodedata.normalize("NFKC", first)[:1]
    return f"'{text}" if text[:1] in ("\t", "\r", "\n") or (sign and sign in SIGNS) else text


def rows_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows with equal columns as CSV; texts are `guarded`, so that no spreadsheet takes one for a formula, and numbers
    are exact; a list is its texts, each guarded, with semicolons between them. "" of no rows.

    >>> rows_csv([{"id": "=a", "score": 0.1, "classes": ["sea", "-1"]}])
    "id,score,classes\\r\\n'=a,0.1,sea;'-1\\r\\n"
    """
    stream = io.StringIO()
    table = csv.writer(stream)
    for line in [list(rows[0]), *(row.values() for row in rows)] if rows else []:
        table.writerow(_cell(value) for value in line)
    return stream.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return ";".join(map(guarded, value))
    return guarded(value) if isinstance(value, str) else value
