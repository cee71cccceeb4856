"""The report of an import: a table of problems, also as CSV."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts.app import downloads
from ranking.core import Problem
from ranking.core.spreadsheets import rows_csv

COLUMNS = ("file", "expected", "came", "done")  # the fields of ranking.core.Problem
SHOWN = {"came": "found", "done": "action"}  # headings that differ from the field
Row = dict[str, str]


def show(problems: Sequence[Row], caption: str, file_name: str) -> None:
    """The table with its caption and download button."""
    st.dataframe(problems, hide_index=True, column_config=SHOWN)
    st.caption(caption)
    downloads.offer("Report as CSV", lambda: as_csv(problems), file_name)


def show_first(problems: Sequence[Problem], count: int, caption: str, file_name: str) -> None:
    """The table of the first problems of `count`. caption: follows the word "problems"."""
    first = f"The first {len(problems):,} of {count:,} problems" if count > len(problems) else "Problems"
    rows = [{name: str(text) for name, text in vars(row).items()} for row in problems]
    show(rows, f"{first} {caption}", file_name)


def as_csv(problems: Sequence[Row]) -> str:
    """The rows with a header; spreadsheets do not interpret any text as a formula."""
    return rows_csv([{name: row[name] for name in COLUMNS} for row in problems])
