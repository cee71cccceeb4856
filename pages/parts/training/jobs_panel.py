"""The progress of a worker: progress bar, live display, cancel button, and the reason of a failure."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.parts.app import address, frame, home, keys, workspaces
from pages.parts.app.frame import escaped
from ranking.core.text import counted
from ranking.storage import jobs, queue
from ranking.storage.import_questions import WAITING, Question, decided_at, open_question
from ranking.storage.run import ENDED, Run
from ranking.storage.run_settings import IMPORT_SETTINGS, AnyStudySettings

# between two polls of a running run
POLL_SECONDS = 0.5
# between two polls of a queued run, because there may be many of them
WAIT_SECONDS = 2.0
# runs whose events a tab keeps
MAX_READ = 4

Event = dict[str, Any]
Live = Callable[[list[Event]], None]


def watch(run: Run, live: Live | None = None) -> None:
    """Show the progress of a run until it ends or asks, then run the page again."""
    # live: shows its events.
    waits = _waits_for(run)
    st.fragment(_watch, run_every=WAIT_SECONDS if waits else POLL_SECONDS)(run.id, waits > 0, live)


def _watch(run_id: str, waited: bool, live: Live | None) -> None:
    with frame.errors_in_place():
        run = jobs.poll(home.store(), run_id)
        if run.state in ENDED or (waited and not _waits_for(run)) or (run.is_import and _question(run)):
            # which polls a running run more often
            st.rerun()
        _show(run, live)


def finished_study(settings: AnyStudySettings, label: str, key: str, again: bool = False) -> Run | None:
    """The newest study with these settings if it is finished; else its progress, or a button that starts it."""
    # again: whether a finished study does not count.
    run = next(iter(home.store().runs.equal("study", settings.to_json())), None)
    if run is not None and run.state == "finished" and not again:
        return run
    if run is not None and run.state not in ENDED:
        watch(run)
        return None
    if run is not None:
        explain_end(run)
    if frame.pressed(label, keys.widget(key), icon=":material/play_arrow:"):
        jobs.start_once(home.store(), "study", settings.to_json())
        st.rerun()
    return None


def list_imports(task: str, name: str, set_key: str | None = None) -> None:
    """A button for each import that has not ended, which writes its id to the URL parameter `name`."""
    waiting = [
        jobs.poll(home.store(), run.id)
        for run in home.store().runs.all_own("import", set_key)
        if run.task == task and run.state not in ENDED and run.cancelled is None
    ]
    waiting = [run for run in waiting if run.state not in ENDED]
    several = f"{counted(len(waiting), 'import')} not finished"
    with st.expander(several, icon=":material/rule:") if len(waiting) > 1 else st.container():
        for run in waiting:
            st.button(
                _stage(escaped(file_name(run)), _question(run)),
                key=keys.widget(f"open {run.id}"),
                icon=":material/rule:",
                type="tertiary",
                on_click=address.put,
                kwargs={name: run.id},
            )
        if len(waiting) > 1 and frame.pressed(f"Cancel all {len(waiting)} imports", f"cancel all {name}"):
            for run in waiting:
                jobs.cancel(home.store(), run.id)
            st.rerun()


def file_name(run: Run) -> str:
    """What the user calls the file of an import."""
    return IMPORT_SETTINGS[run.task].from_json(run.settings).file_name


def _stage(file_name: str, question: Question | None) -> str:
    if question is None:
        return f"Reading {file_name}"
    return (
        f"{file_name} {'could not be read' if question.reading.get('refused') else 'waits for your decision'}"
    )


def _question(run: Run) -> Question | None:
    """The question that an import waits with."""
    try:
        return open_question(run)
    except ValueError as error:
        # a damaged file, which the page of the import explains
        return Question("", {"refused": str(error)})


def _waits_for(run: Run) -> int:
    """The number of runs that a run waits for."""
    return queue.waits_for(home.store().home, run) if run.state == "queued" else 0


def _show(run: Run, live: Live | None) -> None:
    seen = events_of(run)
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container():
            _progress(run, seen)
        if not run.shared:
            st.button(
                "Cancelling …" if run.cancelled else "Cancel",
                key=keys.widget(f"cancel {run.id}"),
                on_click=lambda: jobs.cancel(home.store(), run.id),
                disabled=bool(run.cancelled),
            )
    if live is not None:
        live(seen)


def _progress(run: Run, seen: list[Event]) -> None:
    """A progress bar if the total is known, else the current step and the elapsed time."""
    last = next((event for event in reversed(seen) if event["event"] == "progress"), None)
    # the clock does not count the time in which an import waited for the user
    elapsed = max(0.0, time.time() - max(run.started or run.created, decided_at(run)))
    waits = _waits_for(run)
    if waits:
        st.progress(0.0, f"{waits_for(run, waits)} … {elapsed:.0f} s")
    elif last is None or last["what"] == WAITING:
        st.progress(0.0, f"Starting … {elapsed:.0f} s")
    elif last["total"] > 1:
        share = min(1.0, max(0.0, last["done"] / last["total"]))
        st.progress(
            share, f"{escaped(last['what'])}: {int(last['done']):,} of {last['total']:,} · {elapsed:.0f} s"
        )
    else:
        st.progress(min(1.0, max(0.0, float(last["done"]))), f"{escaped(last['what'])} … {elapsed:.0f} s")


def waits_for(run: Run, waits: int) -> str:
    """A text about the number of runs that a run waits for."""
    return f"Queued behind {counted(waits, 'import' if run.is_import else 'run')}"


def in_minutes(seconds: float) -> str:
    """An approximate time as text.

    >>> in_minutes(3), in_minutes(48), in_minutes(80), in_minutes(600), in_minutes(9000)
    ('5 seconds', '50 seconds', '1.5 minutes', '10 minutes', '2.5 hours')
    """
    if seconds < 57.5:
        return f"{max(5, 5 * round(seconds / 5))} seconds"
    minutes = seconds / 60
    if minutes < 90:
        minutes = round(2 * minutes) / 2 if minutes < 5 else round(minutes)
        return f"{minutes:g} minute{'' if minutes == 1 else 's'}"
    return f"{round(minutes / 30) / 2:g} hours"


def events_of(run: Run) -> list[Event]:
    """All events of a run so far; only events that are new since the last call are read."""
    known: dict[str, tuple[int, list[Event]]] = st.session_state.setdefault(keys.EVENTS, {})
    offset, seen = known.pop(run.id, (0, []))
    new, offset = jobs.events(run, offset)
    seen = seen + [event for event in new if event.get("event") in ("progress", "iteration", "state")]
    # At the end, so that the first entry is the least recently used.
    known[run.id] = (offset, seen)
    if len(known) > MAX_READ:
        del known[next(iter(known))]
    return seen


def iterations_of(seen: list[Event]) -> list[Event]:
    return [event for event in seen if event["event"] == "iteration"]


def explain_end(run: Run, which: str = "") -> None:
    """Show why a run failed or was cancelled; nothing for a finished run."""
    # which: identifies it among similar runs.
    what = run.kind_name
    what += f" ({which})" if which else ""
    reason = escaped(workspaces.without_paths(run.reason))
    if run.state == "failed":
        st.error(f"**This {what} failed:** {reason}", icon=":material/error:")
    elif run.state == "cancelled":
        st.warning(f"This {what} was {reason}", icon=":material/pan_tool:")
