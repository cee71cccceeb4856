"""What the first lesson is about: its images, its query and its two trainings, which all visitors share."""

from __future__ import annotations

import streamlit as st

from pages.parts import cache, frame, jobs_panel, keys, sets
from ranking import jobs
from ranking.run import ENDED, Run
from ranking.run_settings import TrainSettings

QUERY = "playing instrument"
FEATURES = ("HOG", "Colour")
METHODS = ("SVM", "AP-SVM")


def settings_of(key: str, method: str) -> TrainSettings:
    """What the lesson trains. What it leaves open has its default, which the worker knows: to ask the methods here
    would load their compiled parts before the first picture."""
    return TrainSettings(key, tuple((name, {}) for name in FEATURES), QUERY, method)


def begin() -> dict[str, Run]:
    """The trainings of the lesson by method; those that nobody began are begun."""
    key = sets.ready_made()
    return {method: _training(settings_of(key, method)) for method in METHODS}


def _training(settings: TrainSettings) -> Run:
    """The newest equal training: one that has a ranking, else one under way, else one that failed, else a new one.

    None that was imported: whoever imports a file shall not choose what all others are shown.
    """
    equal = [run for run in cache.store().equal_runs("train", settings.to_json()) if run.imported is None]
    done = [run for run in equal if run.state == "finished" and run.has_scores]
    live = [run for run in equal if run.state not in ENDED and run.cancelled is None]
    failed = [run for run in equal if run.state in ("failed", "cancelled")]
    for run in (*done, *live, *failed):
        return run
    return jobs.start_once(cache.store(), "train", settings.to_json())


def trained() -> dict[str, Run]:
    """The trainings of the lesson, ended; while they go on, or where one failed, the page shows that and ends."""
    found = begin()
    for method, run in found.items():
        if run.state not in ENDED:
            st.markdown(f"#### Training {method} on “{QUERY}” … this happens once")
            jobs_panel.watch(run)
            st.stop()
    broken = [run for run in found.values() if run.state != "finished"]
    for run in broken:
        jobs_panel.explain_end(run)
    if broken:
        if frame.pressed("Train again", keys.widget("train the lesson again"), type="primary"):
            for run in broken:
                jobs.start_once(cache.store(), "train", run.settings)
            st.rerun()
        st.stop()
    return found
