"""No cell of a table becomes a formula, and every text comes back."""

from __future__ import annotations

import pytest

from ranking.spreadsheets import guarded


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+x", "'+x"),
        ("-x", "'-x"),
        ("@x", "'@x"),
        ("\tx", "'\tx"),
        ("'x", "''x"),
        ("＝1+1", "'＝1+1"),
        ("＠x", "'＠x"),
        ("x=1", "x=1"),
        ("", ""),
    ],
)
def test_no_cell_begins_a_formula(text: str, cell: str) -> None:
    assert guarded(text) == cell
