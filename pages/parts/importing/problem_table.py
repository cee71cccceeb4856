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

# rows on the page; a downloaded report has all
MOST = 100
# headings that differ from the fields of ranking.core.Problem
SHOWN = {"came": "found", "done": "action"}


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
    caption = "found in the files, and how each was handled. Everything else was imported."
    show(reading.problems, len(reading.problems), caption, f"import-{folder.name[:12]}.csv")


def show(problems: Sequence[Problem], count: int, caption: str, file_name: str) -> None:
    """The table of the first problems of `count`, with its caption and download button."""
    # caption: follows the word "problems".
    rows = [vars(row) for row in problems]
    shown = [{SHOWN.get(name, name): escaped(text) for name, text in row.items()} for row in rows[:MOST]]
    # which wraps its texts, as st.dataframe does not
    st.table(shown, hide_index=True)
    first = f"The first {len(shown):,} of {count:,} problems" if count > len(shown) else "Problems"
    st.caption(f"{first} {caption}")
    # spreadsheets do not interpret any text in it as a formula
    downloads.offer("Report as CSV", lambda: rows_csv(rows), file_name)
