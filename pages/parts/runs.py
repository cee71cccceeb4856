"""Trainings as the pages show them: which one is chosen, the list of earlier ones, their certificate."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import streamlit as st

from pages.parts import address, cache, keys
from ranking.store import ENDED, Run

STATES = {
    "queued": "… under way",
    "running": "… under way",
    "finished": "✓ finished",
    "cancelled": "– cancelled",
    "failed": "✗ failed",
}


def chosen() -> Run | None:
    """The training that the address names, None where it names none that is known.

    The address then need not say what the training was given: it implies that.
    """
    run = address.read(keys.RUN, _training, None)
    address.imply({} if run is None else _given(run))
    return run


def _given(run: Run) -> dict[str, str]:
    """What `run` was trained with, as the address would say it."""
    settings = run.settings
    told = {
        keys.SET: settings["set"],
        keys.FEATURES: ",".join(name for name, _ in settings["features"]),
        keys.QUERY: settings["query"],
        keys.METHOD: settings["method"],
    }
    given = [("method", settings["method"], settings["method_settings"])]
    given += [("feature", name, values) for name, values in settings["features"]]
    for owner, plugin, values in given:
        told |= {keys.setting(owner, plugin, name): str(value) for name, value in values.items()}
    return told


def _training(run_id: str) -> Run | None:
    run = cache.store().run(run_id)
    if run.kind != "train":
        raise ValueError(f"that is an {run.kind}, expected a training")
    return run


def with_scores() -> list[Run]:
    """The trainings that have something to rank by: first those on the image set of the address, then the newest."""
    scored = [run for run in cache.store().runs("train") if has_scores(run)]
    return sorted(scored, key=lambda run: run.settings["set"] != address.get(keys.SET))


def has_scores(run: Run) -> bool:
    """Whether a training has ended with something to rank by; a result has the metrics of its scores."""
    return run.state in ENDED and "test" in run.result


def short_name(run: Run) -> str:
    return f"{run.settings['method']} on “{run.settings['query']}”"


def name_of(run: Run) -> str:
    """One line that tells a training from its neighbours."""
    features = " + ".join(name for name, _ in run.settings["features"])
    return f"{short_name(run)} · {features} · {average_precision(run)} · {when(run)}"


def average_precision(run: Run) -> str:
    measured = (run.result.get("test") or {}).get("AP")
    return run.state if measured is None else f"test AP {measured:.3f}"


def when(run: Run) -> str:
    return datetime.fromtimestamp(run.created).strftime("%d %b %H:%M")


def table(of: list[Run], key: str) -> None:
    """Earlier trainings, newest first; choosing a row opens it."""
    rows = [_row(run) for run in of]
    st.dataframe(
        rows,
        key=key,
        hide_index=True,
        placeholder="",
        on_select=lambda: _open_selected(of, key),
        selection_mode="single-row",
        column_config={
            "Test AP": st.column_config.ProgressColumn(format="%.3f", min_value=0, max_value=1),
            "Seconds": st.column_config.NumberColumn(format="%.1f"),
        },
        alt="Earlier trainings on this image set, newest first",
    )


def _row(run: Run) -> dict[str, Any]:
    settings = run.settings
    certificate = run.result.get("certificate") or {}
    return {
        "State": STATES[run.state],
        "Query": settings["query"],
        "Method": settings["method"],
        "Test AP": (run.result.get("test") or {}).get("AP"),
        "Seconds": certificate.get("seconds"),
        "Features": " + ".join(name for name, _ in settings["features"]),
        "Settings": ", ".join(_spoken(name, value) for name, value in settings["method_settings"].items()),
        "Started": when(run),
    }


def _spoken(name: str, value: Any) -> str:
    return f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}"


def _open_selected(of: list[Run], key: str) -> None:
    rows = st.session_state[key]["selection"]["rows"]
    if rows:
        address.put(**{keys.RUN: of[rows[0]].id})
