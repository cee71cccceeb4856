"""The report of an import: a table of problems, and the same as CSV."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts.app import downloads
from ranking.core import Problem
from ranking.core.spreadsheets import rows_csv

COLUMNS = ("file", "expected", "came", "done")  # those of ranking.core.Problem
Row = dict[str, str]


def show(problems: Sequence[Row], caption: str, file_name: str) -> None:
    """The table with its caption, and the button that saves it."""
    st.dataframe(problems, hide_index=True)
    st.caption(caption)
    downloads.offer("Report as CSV", lambda: as_csv(problems), file_name)


def show_first(problems: Sequence[Problem], count: int, caption: str, file_name: str) -> None:
    """The same of the first problems of `count`; the caption begins with a small letter."""
    first = f"The first {len(problems):,} of {count:,} problems: " if count > len(problems) else ""
    rows = [{name: str(text) for name, text in vars(row).items()} for row in problems]
    show(rows, f"{first}{caption}" if first else f"{caption[0].upper()}{caption[1:]}", file_name)


def as_csv(problems: Sequence[Row]) -> str:
    """The rows under their heading; no text is taken for a formula."""
    return rows_csv([{name: row[name] for name in COLUMNS} for row in problems])
