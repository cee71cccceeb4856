"""The report of an import: its counts, and a table of problems, also as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from pages.parts.app import downloads
from pages.parts.app.frame import escaped
from ranking.core import Problem
from ranking.core.spreadsheets import rows_csv
from ranking.datasets import load_reading

# the fields of ranking.core.Problem
COLUMNS = ("file", "expected", "came", "done")
# headings that differ from the field
SHOWN = {"came": "found", "done": "action"}
Row = dict[str, str]


def show_counts(result: Mapping[str, Any]) -> None:
    """The numbers of images, samples, classes, criteria and problems of an image set that was built."""
    with st.container(horizontal=True, gap="large"):
        st.metric("Images", f"{result['images']:,}", width="content")
        st.metric("Samples", f"{result['samples']:,}", width="content")
        st.metric("Classes", f"{len(result['classes']):,}", width="content")
        if result.get("criteria"):
            st.metric("Criteria", f"{len(result['criteria']):,}", width="content")
        st.metric("Problems", f"{result['problems']:,}", width="content")


def show_report(folder: Path) -> None:
    """How the import of the image set in `folder` read the files, and all problems."""
    try:
        reading = load_reading(folder)
    except ValueError as error:
        st.warning(escaped(str(error)), icon=":material/warning:")
        return
    with st.expander(f"How the files were read ({reading.source})"):
        for row in reading.decisions:
            st.markdown(f"**{escaped(row.about.capitalize())}**: {escaped(f'{row.chosen}: {row.evidence}')}")
    if not reading.problems:
        st.success("No problems found.", icon=":material/check_circle:")
        return
    caption = "Problems and how each was handled. Everything else was imported."
    show([vars(row) for row in reading.problems], caption, f"import-{folder.name[:12]}.csv")


def show(problems: Sequence[Row], caption: str, file_name: str) -> None:
    """The table with its caption and download button."""
    st.dataframe(problems, hide_index=True, column_config=SHOWN)
    st.caption(caption)
    downloads.offer("Report as CSV", lambda: as_csv(problems), file_name)


def show_first(problems: Sequence[Problem], count: int, caption: str, file_name: str) -> None:
    """The table of the first problems of `count`."""
    # caption: follows the word "problems".
    first = f"The first {len(problems):,} of {count:,} problems" if count > len(problems) else "Problems"
    rows = [{name: str(text) for name, text in vars(row).items()} for row in problems]
    show(rows, f"{first} {caption}", file_name)


def as_csv(problems: Sequence[Row]) -> str:
    """The rows with a header; spreadsheets do not interpret any text as a formula."""
    return rows_csv([{name: row[name] for name in COLUMNS} for row in problems])
