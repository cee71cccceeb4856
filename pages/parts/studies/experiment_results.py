"""The results of experiments, also while they run."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from pages.parts.app import cache, home
from pages.parts.app.home import SOME, of_home
from ranking.metrics.intervals import Interval
from ranking.storage.run import ENDED, Run
from ranking.storage.run_settings import ExperimentSettings

# these imports would load compiled modules before the first page is shown
if TYPE_CHECKING:
    from ranking.experiments.cross_validation.plan import Plan
    from ranking.reports.differences import Difference
    from ranking.reports.findings import Findings

# between two readings of the trials of a running experiment
POLL_SECONDS = 3.0


def findings(run: Run) -> Findings:
    """The results of an experiment so far; if it is running, they are at most POLL_SECONDS old."""
    return _findings(*_as_of(run))


def differences(run: Run) -> list[Difference]:
    """The differences between each two methods of an experiment per query, on the test samples."""
    # With intervals.
    return _differences(*_as_of(run))


def difference_on_test(run: Run, query: str, left: str, right: str) -> Interval | None:
    """The difference of two methods of an experiment on the test samples, as `differences` has it."""
    return _difference_on_test(*_as_of(run), query, left, right)


def _as_of(run: Run) -> tuple[str, str]:
    """The settings of an experiment, and a key that changes when there are more results."""
    ended = run.state in ENDED
    when = f"{run.state} {run.parts_done}" if ended else f"{time.monotonic() // POLL_SECONDS}"
    return json.dumps(run.settings, sort_keys=True), when


@of_home()
def _findings(settings: str, when: str) -> Findings:
    from ranking.experiments.cross_validation.running import results_of
    from ranking.reports.at_home import trials_of
    from ranking.reports.findings import Findings

    plan, kept = _plan(settings), trials_of(home.store())
    return Findings(plan, results_of(plan, kept), cache.image_set(plan.protocol.set), kept)


@of_home()
def _plan(settings: str) -> Plan:
    from ranking.experiments.cross_validation.plan import plan_of

    protocol = ExperimentSettings.from_json(json.loads(settings))
    return plan_of(protocol, cache.image_set(protocol.set))


@of_home(entries=SOME)
def _difference_on_test(settings: str, when: str, query: str, left: str, right: str) -> Interval | None:
    from ranking.reports.differences import difference_on_test

    return difference_on_test(_findings(settings, when), query, left, right)


@of_home(spinner="Resampling test images …")
def _differences(settings: str, when: str) -> list[Difference]:
    from ranking.reports.differences import differences

    return differences(_findings(settings, when))
