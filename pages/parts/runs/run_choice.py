"""Which experiment, study, simulation or timing a page is about: that of the address, else the newest that has
something to show."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import streamlit as st

from pages.parts.app import address, frame
from pages.parts.runs import runs
from ranking.workspace.run import Run


def of_task(run_id: str, task: str) -> Run:
    """The run of that id; ValueError where it is of another task, or was deleted."""
    run = runs.of_task(run_id, task)
    if run.deleted is not None:
        raise ValueError(f"that {run.called} was deleted")
    return run


def asked(name: str, read: Callable[[str], Run], given: Callable[[Run], dict[str, str]]) -> Run | None:
    """The run that the part `name` of the address names, which `read` finds; the address then implies what it was
    `given`. None where it names none; a way on where its image set is not here."""
    run = address.read(name, read, None)
    if run is None:
        return None
    if not runs.set_is_here(run):
        frame.way_on(runs.missing_set(run), "Import images", "image_sets")
    address.imply(given(run))
    return run


def choose(
    label: str,
    name: str,
    listed: Iterable[Run],
    asked: Run | None,
    name_of: Callable[[Run], str],
    **along: str,
) -> Run | None:
    """One of the runs that are listed and go on or have something to show, or the one that was `asked` for, at first
    the foremost, None where there is none. The address then names it, and what goes `along`, in one step."""
    known = {
        run.id: run
        for run in listed
        if run.state not in ("failed", "cancelled")
        or run.folds_done
        or run.trainings_done
        or (asked is not None and run.id == asked.id)
    }
    if not known:
        return None
    bound = address.bound(name, address.one_of(list(known)), next(iter(known)))
    chosen = known[st.selectbox(label, list(known), format_func=lambda key: name_of(known[key]), **bound)]
    address.amend(**{name: chosen.id, **along})  # the link shall show it tomorrow
    return chosen
