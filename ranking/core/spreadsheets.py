"""Text for tables that spreadsheets open, which treat some of it as formulas."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Sequence
from typing import Any

from ranking.core.settings import GivenJson

SIGNS = "=+-@−'"
# Spreadsheets ignore or strip invisible characters: control characters, formatting characters (a byte order mark, a
# zero-width space), and spaces of any kind.
UNSEEN = ("Cc", "Cf", "Zs", "Zl", "Zp")


def guarded(text: str) -> str:
    """Return `text` for a table cell, with an apostrophe before what a spreadsheet would take for a formula.

    A formula is text whose first visible character is a sign of a formula; small, superscript and full-width signs
    count as their plain forms. Text that begins with an apostrophe gets another one, so that removing one restores the
    text.

    >>> guarded("=1+1"), guarded("photo"), guarded("'s"), guarded(" ＝1"), guarded("a = b")
    ("'=1+1", 'photo', "''s", "' ＝1", 'a = b')
    """
    first = next((letter for letter in text if unicodedata.category(letter) not in UNSEEN), "")
    sign = unicodedata.normalize("NFKC", first)[:1]
    return f"'{text}" if text[:1] in ("\t", "\r", "\n") or (sign and sign in SIGNS) else text


def rows_csv(rows: Sequence[GivenJson]) -> str:
    """Return rows with equal columns as CSV; "" without rows.

    Texts are `guarded`, so that no spreadsheet reads one as a formula. Numbers are exact. A list becomes its guarded
    texts, joined by semicolons.

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
