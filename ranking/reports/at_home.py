"""What is there of an experiment on an image set of a home, which keeps its trials."""

from __future__ import annotations

from ranking.core.run_settings import ExperimentSettings
from ranking.experiments.cross_validation.plan import Plan, plan_of
from ranking.experiments.cross_validation.results import Results
from ranking.experiments.cross_validation.running import results_of
from ranking.experiments.cross_validation.trial_store import FOLDER, TrialStore
from ranking.workspace.store import Store


def trials_of(store: Store) -> TrialStore:
    """The trials of all experiments of a home, and of those that lend to it."""
    return TrialStore(store.home / FOLDER, [lender / FOLDER for lender in store.lenders])


def results_at_home(store: Store, settings: ExperimentSettings) -> tuple[Plan, Results]:
    """What is there of an experiment by now, and its plan; nothing is computed."""
    plan = plan_of(settings, store.image_set(settings.set))
    return plan, results_of(plan, trials_of(store))
