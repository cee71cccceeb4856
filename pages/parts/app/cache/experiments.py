"""What is there of experiments."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import streamlit as st

from pages.parts.app.cache.homes import EACH, or_gone, store
from pages.parts.app.cache.image_sets import _image_set
from ranking.core.run_settings import ExperimentSettings
from ranking.workspace.run import ENDED, Run
from ranking.workspace.store import Store

if TYPE_CHECKING:  # what this imports would load compiled parts before the first picture
    from ranking.experiments.cross_validation.plan import Plan
    from ranking.reports.differences import Difference
    from ranking.reports.findings import Findings

LOOK_SECONDS = 3.0  # between two looks at the trainings of an experiment that goes on


def findings(run: Run) -> Findings:
    """What is there of an experiment, of one that goes on a few seconds ago; Gone where its image set is not here."""
    with or_gone():
        return _findings(*_as_of(run))


def differences(run: Run) -> list[Difference]:
    """By what each two methods of an experiment differ on each query, with the intervals on the test samples."""
    with or_gone():
        return _differences(*_as_of(run))


def _as_of(run: Run) -> tuple[str, str, str]:
    """The home, the settings, and what changes when there is more of an experiment."""
    when = f"{run.state} {run.parts_done}" if run.state in ENDED else f"{time.monotonic() // LOOK_SECONDS}"
    return str(store().home), json.dumps(run.settings, sort_keys=True), when


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _findings(home: str, settings: str, when: str) -> Findings:
    from ranking.experiments.cross_validation.running import results_of
    from ranking.reports.at_home import trials_of
    from ranking.reports.findings import Findings

    plan, kept = _plan(home, settings), trials_of(Store(home))
    return Findings(plan, results_of(plan, kept), _image_set(home, plan.protocol.set), kept)


@st.cache_resource(show_spinner=False, max_entries=EACH)
def _plan(home: str, settings: str) -> Plan:
    from ranking.experiments.cross_validation.plan import plan_of

    asked = ExperimentSettings.from_json(json.loads(settings))
    return plan_of(asked, _image_set(home, asked.set))


@st.cache_resource(show_spinner="Drawing test images again …", max_entries=EACH)
def _differences(home: str, settings: str, when: str) -> list[Difference]:
    from ranking.reports.differences import differences

    return differences(_findings(home, settings, when))
