"""All training runs so far in one table, and what you can do with those chosen in it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import streamlit as st

from pages.parts.app import address, controls, frame, home, keys
from pages.parts.runs import run_actions, runs
from ranking.jobs import jobs
from ranking.workspace.run import ENDED, SAMPLES, Run
from ranking.workspace.store import ImageSetRow

REFRESH_SECONDS = 1.0  # between two checks whether a run in the table is still running
NOTICE = "**Notice** where a higher train AP comes with a lower test AP."  # where there are several


def show(row: ImageSetRow) -> None:
    """The training runs on one image set, or on all; then what can be imported or restored."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader("Training runs", anchor=False, width="content")
        everywhere = controls.toggle("Of all image sets", keys.EVERYWHERE)
        listed = home.store().runs(set_key=None if everywhere else row.key, task=SAMPLES)
        others = 0 if listed else len(home.store().runs(task=SAMPLES))
        if others:
            counted = run_actions.counted(others, SAMPLES)
            st.markdown(f"{counted} on other image sets", width="content")
    run_actions.show_deleted(task=SAMPLES)
    if listed:
        chosen = _table(listed, everywhere)
        compared = f"{NOTICE} Click a heading to sort. " if len(listed) > 1 else ""
        st.caption(
            f"{compared}Choose rows by the box at their left, or with the arrow keys and Shift + Space; the one chosen "
            "last is shown above."
        )
        run_actions.act_on(chosen)
    else:
        st.caption("None yet: what you train is listed here, with its settings and results.")
    run_actions.bring_in()
    run_actions.bring_back(task=SAMPLES)
    live = {run.id: run.state for run in listed if run.state not in ENDED}
    if live:
        _await_change(live)


@st.fragment(run_every=REFRESH_SECONDS)
def _await_change(states: dict[str, str]) -> None:
    """Run the page again as soon as one of the trainings has another state."""
    with frame.in_place():
        if any(jobs.poll(home.store(), run_id).state != state for run_id, state in states.items()):
            st.rerun()


def _table(listed: Sequence[Run], everywhere: bool) -> list[Run]:
    """The table, newest first; the trainings chosen in it."""
    ids = [run.id for run in listed]
    # Rows are chosen by their numbers: another list is another table, so that no number means another training.
    key = keys.widget(f"trainings {hashlib.sha256(' '.join(ids).encode()).hexdigest()[:16]}")
    chosen = [run_id for run_id in _chosen() if run_id in ids]
    rows = sorted(ids.index(run_id) for run_id in chosen)
    if key not in st.session_state or sorted(st.session_state[key]["selection"]["rows"]) != rows:
        st.session_state[key] = {"selection": {"rows": rows, "columns": [], "cells": []}}
    titles = {row.key: row.title for row in home.store().image_sets()}
    st.dataframe(
        [_row(run) | ({"Image set": _set_title(run, titles)} if everywhere else {}) for run in listed],
        key=key,
        hide_index=True,
        placeholder="",
        on_select=lambda: _choose(ids, key),
        selection_mode="multi-row",
        column_config=COLUMNS,
        alt=f"{len(listed)} trainings, newest first, with their settings and results",
    )
    return [run for run in listed if run.id in chosen]


def _chosen() -> list[str]:
    """The ids of the trainings that a person has chosen: at first, and after a change of address, that of the
    address."""
    shown = address.get(keys.RUN)
    known, ids = st.session_state.get(keys.SELECTED_RUNS, (None, []))
    return ids if known == shown else [shown] if shown else []


def _choose(ids: list[str], key: str) -> None:
    """Remember the chosen rows; one that is new among them is shown."""
    before = _chosen()
    after = chosen_by(st.session_state[key]["selection"]["rows"], ids, address.get(keys.RUN))
    new = [run_id for run_id in after if run_id not in before]
    if new:
        address.put(**{keys.RUN: new[-1]})
    st.session_state[keys.SELECTED_RUNS] = (address.get(keys.RUN), after)


def chosen_by(rows: Sequence[int], ids: Sequence[str], shown: str | None) -> list[str]:
    """The ids in those rows; where there are none, that of the training that is `shown`, which a browser that
    forgets its rows when the table's values change does not take away."""
    return [ids[row] for row in rows] or ([shown] if shown else [])


def _row(run: Run) -> dict[str, Any]:
    settings, result = run.settings, run.result
    proof = result.get("certificate") or {}
    gap = runs.finite(proof.get("relative_gap"))
    return {
        "★": "★" if run.star else "",
        "Name": run.name,
        "Query": settings["query"],
        "Method": settings["method"],
        "Settings": runs.telling(run),
        "State": state_of(run),
        "Test AP": runs.finite((result.get("test") or {}).get("AP")),
        "Train AP": runs.finite((result.get("train") or {}).get("AP")),
        "Gap, %": None if gap is None else 100 * gap,
        "Seconds": runs.finite(proof.get("seconds")),
        "When": datetime.fromtimestamp(run.created),
        "Features": runs.features_of(run),
    }


def state_of(run: Run) -> str:
    """The state of a run in words, and where it comes from."""
    return (
        runs.STATES[run.state] + (", imported" if run.imported else "") + (", shared" if run.shared else "")
    )


def _set_title(run: Run, titles: dict[str, str]) -> str:
    key = run.settings["set"]
    return titles.get(key) or f"{(run.imported or {}).get('set_title') or key[:8]} (not here)"


COLUMNS = {
    "★": st.column_config.TextColumn(width=30, help="Has a star"),
    "Name": st.column_config.TextColumn(width=150),
    "Settings": st.column_config.TextColumn(
        width=150, help="The main ones, and those that differ from their defaults"
    ),
    "Test AP": st.column_config.ProgressColumn(format="%.3f", min_value=0, max_value=1, width="small"),
    "Train AP": st.column_config.ProgressColumn(format="%.3f", min_value=0, max_value=1, width="small"),
    "Gap, %": st.column_config.NumberColumn(
        format="%.3g",
        help="(primal − dual) / primal; of an objective that is not convex, that of its last round",
    ),
    "Seconds": st.column_config.NumberColumn(format="%.2f", help="In training, without features"),
    "When": st.column_config.DatetimeColumn(format="D MMM HH:mm"),
}
