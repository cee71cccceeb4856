"""Trainings as the pages show them: which one is chosen, the list of earlier ones, their certificate."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import streamlit as st

from pages.parts import address, cache, forms, keys
from ranking import method_class
from ranking.features import feature_class
from ranking.store import ENDED, Run

STATES = {
    "queued": "… under way",
    "running": "… under way",
    "finished": "✓ finished",
    "cancelled": "– cancelled",
    "failed": "✗ failed",
}


def chosen() -> Run | None:
    """The training that the address names, None where it names none that is known."""
    return address.read(keys.RUN, _training, None)


def _training(run_id: str) -> Run | None:
    run = cache.store().run(run_id)
    if run.kind != "train":
        raise ValueError(f"that is an {run.kind}, expected a training")
    return run


def adopt(run: Run) -> None:
    """Have the address say all that `run` was trained with: whoever opens its link sees its settings."""
    same = address.get(keys.RUN) in (None, run.id) and address.get(keys.SET) in (None, run.settings["set"])
    settings = run.settings
    told: dict[str, str | None] = {
        keys.SET: settings["set"],
        keys.FEATURES: ",".join(name for name, _ in settings["features"]),
        keys.QUERY: settings["query"],
        keys.METHOD: settings["method"],
        keys.RUN: run.id,
    }
    method = settings["method"]
    told |= forms.address_of("method", method, method_class(method), settings["method_settings"])
    for name, values in settings["features"]:
        told |= forms.address_of("feature", name, feature_class(name), values)
    (address.amend if same else address.put)(**told)


def with_scores() -> list[Run]:
    """The trainings that have something to rank by: first those on the image set of the address, then the newest."""
    scored = [
        run for run in cache.store().runs("train") if run.state in ENDED and run.result.get("certificate")
    ]
    return sorted(scored, key=lambda run: run.settings["set"] != address.get(keys.SET))


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
        adopt(of[rows[0]])
