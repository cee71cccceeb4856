"""Texts in tables that people open with a spreadsheet, which takes some of them for formulas."""

from __future__ import annotations

# The last four are as wide as ideographs: spreadsheets of those who write these take them for the same signs.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "'", "＝", "＋", "－", "＠")


def guarded(text: str) -> str:
    """`text` for a cell of a table: an apostrophe goes before what a spreadsheet would take for a formula.

    Texts that begin with an apostrophe get one more, so that taking one away always gives the text back.

    >>> guarded("=1+1"), guarded("photo"), guarded("'s")
    ("'=1+1", 'photo', "''s")
    """
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
