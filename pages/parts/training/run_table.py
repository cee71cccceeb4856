"""The table of all training runs, and the actions on the selected runs."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import streamlit as st

from pages.parts.app import address, controls, frame, home, keys
from pages.parts.training import run_actions, runs
from ranking.storage import jobs
from ranking.storage.run import ENDED, SAMPLES, Run
from ranking.storage.sets import ImageSetRow

# between two checks whether a run in the table is still running
REFRESH_SECONDS = 1.0
# if there are several runs
NOTICE = "**Notice** where a higher train AP comes with a lower test AP."


def show(row: ImageSetRow) -> None:
    """The training runs on one image set or on all, and the forms to import and restore runs."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader("Training runs", anchor=False, width="content")
        everywhere = controls.toggle("Show all image sets", keys.EVERYWHERE)
        listed = home.store().runs.all(set_key=None if everywhere else row.key, task=SAMPLES)
        others = 0 if listed else len(home.store().runs.all(task=SAMPLES))
        if others:
            counted = run_actions.counted(others, SAMPLES)
            st.markdown(f"{counted} on other image sets", width="content")
    run_actions.show_deleted(task=SAMPLES)
    if listed:
        chosen = _table(listed, everywhere)
        compared = f"{NOTICE} Click a heading to sort. " if len(listed) > 1 else ""
        st.caption(
            f"{compared}Select rows with the checkbox, or with the arrow keys and Shift + Space. The last selected run "
            "is shown above."
        )
        run_actions.act_on(chosen)
    else:
        st.caption("No training runs yet. They will be listed here with their settings and results.")
    run_actions.show_trash(task=SAMPLES)
    live = {run.id: run.state for run in listed if run.state not in ENDED}
    if live:
        _await_change(live)


@st.fragment(run_every=REFRESH_SECONDS)
def _await_change(states: dict[str, str]) -> None:
    """Run the page again as soon as the state of a run changes."""
    with frame.errors_in_place():
        if any(jobs.poll(home.store(), run_id).state != state for run_id, state in states.items()):
            st.rerun()


def _table(listed: Sequence[Run], everywhere: bool) -> list[Run]:
    """Show the table, newest run first; returns the selected runs."""
    ids = [run.id for run in listed]
    # Rows are selected by their indices, so another list gets another key: an index never refers to another run.
    key = keys.widget(f"training runs {hashlib.sha256(' '.join(ids).encode()).hexdigest()[:16]}")
    chosen = [run_id for run_id in _chosen() if run_id in ids]
    rows = sorted(ids.index(run_id) for run_id in chosen)
    if key not in st.session_state or sorted(st.session_state[key]["selection"]["rows"]) != rows:
        st.session_state[key] = {"selection": {"rows": rows, "columns": [], "cells": []}}
    titles = {row.key: row.title for row in home.store().sets.rows()}
    st.dataframe(
        [_row(run) | ({"Image set": _set_title(run, titles)} if everywhere else {}) for run in listed],
        key=key,
        hide_index=True,
        placeholder="",
        on_select=lambda: _choose(ids, key),
        selection_mode="multi-row",
        column_config=COLUMNS,
        alt=f"{len(listed)} training runs, newest first, with their settings and results",
    )
    return [run for run in listed if run.id in chosen]


def _chosen() -> list[str]:
    """The ids of the selected runs: by default, and after a change of the URL, the run in the URL."""
    shown = address.get(keys.RUN)
    known, ids = st.session_state.get(keys.SELECTED_RUNS, (None, []))
    return ids if known == shown else [shown] if shown else []


def _choose(ids: list[str], key: str) -> None:
    """Store the selected rows, and show the run that was selected last."""
    before = _chosen()
    after = chosen_by(st.session_state[key]["selection"]["rows"], ids, address.get(keys.RUN))
    new = [run_id for run_id in after if run_id not in before]
    if new:
        address.put(**{keys.RUN: new[-1]})
    st.session_state[keys.SELECTED_RUNS] = (address.get(keys.RUN), after)


def chosen_by(rows: Sequence[int], ids: Sequence[str], shown: str | None) -> list[str]:
    """The ids in those rows; without rows, that of the run that is `shown`."""
    # A browser clears its selection when the values of the table change.
    return [ids[row] for row in rows] or ([shown] if shown else [])


def _row(run: Run) -> dict[str, Any]:
    settings, result = run.settings, run.result
    proof = result.get("certificate") or {}
    gap = proof.get("relative_gap")
    return {
        "★": "★" if run.star else "",
        "Name": run.name,
        "Query": settings["query"],
        "Method": settings["method"],
        "Settings": runs.telling(run),
        "State": state_of(run),
        "Test AP": result.get("test", {}).get("AP"),
        "Train AP": result.get("train", {}).get("AP"),
        "Duality gap, %": None if gap is None else 100 * gap,
        "Seconds": proof.get("seconds"),
        "When": datetime.fromtimestamp(run.created),
        "Features": runs.features_shown(run),
    }


def state_of(run: Run) -> str:
    """The state and the origin of a run as text."""
    return runs.STATES[run.state] + runs.origin_of(run, ", ")


def _set_title(run: Run, titles: dict[str, str]) -> str:
    key = run.settings["set"]
    return titles.get(key) or f"{key[:8]} (missing)"


COLUMNS = {
    "★": st.column_config.TextColumn(width=30, help="Starred"),
    "Name": st.column_config.TextColumn(width=150),
    "Settings": st.column_config.TextColumn(
        width=150, help="Main settings, and settings that differ from their defaults"
    ),
    "Test AP": st.column_config.ProgressColumn(format="%.3f", min_value=0, max_value=1, width="small"),
    "Train AP": st.column_config.ProgressColumn(format="%.3f", min_value=0, max_value=1, width="small"),
    "Duality gap, %": st.column_config.NumberColumn(
        format="%.3g",
        help="(primal − dual) / primal; for an objective that is not convex, of the last round",
    ),
    "Seconds": st.column_config.NumberColumn(format="%.2f", help="Training time, without features"),
    "When": st.column_config.DatetimeColumn(format="D MMM HH:mm"),
}
