"""Results of an experiment so far, from the trials in a data folder."""

from __future__ import annotations

from ranking.experiments.cross_validation.plan import Plan, plan_of
from ranking.experiments.cross_validation.results import Results
from ranking.experiments.cross_validation.running import results_of
from ranking.experiments.cross_validation.trial_store import FOLDER, TrialStore
from ranking.storage.run_settings import ExperimentSettings
from ranking.storage.store import Store


def trials_of(store: Store) -> TrialStore:
    """Return the trials of all experiments in a data folder, and of the data folders shared with it."""
    return TrialStore(store.home / FOLDER, [shared_home / FOLDER for shared_home in store.shared])


def results_at_home(store: Store, settings: ExperimentSettings) -> tuple[Plan, Results]:
    """Return the plan of an experiment and its results so far; computes nothing."""
    plan = plan_of(settings, store.sets.get(settings.set))
    return plan, results_of(plan, trials_of(store))
