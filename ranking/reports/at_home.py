"""An experiment on an image set of a home, which keeps its trials: what the worker and the command line run."""

from __future__ import annotations

import os
from collections.abc import Callable

from ranking.core.run_settings import ExperimentSettings
from ranking.experiments.cross_validation.material import material_of
from ranking.experiments.cross_validation.plan import Plan, plan_of
from ranking.experiments.cross_validation.progress import Progress
from ranking.experiments.cross_validation.results import Results
from ranking.experiments.cross_validation.running import results_of, run_experiment
from ranking.experiments.cross_validation.trial_store import TrialStore
from ranking.experiments.cross_validation.workers import Check, Workers, on_cluster, on_this_computer
from ranking.features.extract import OnFeatures
from ranking.workspace.room_quotas import most_states
from ranking.workspace.store import Store

FOLDER = "experiments"  # of a home
SCHEDULER = "RANKING_SCHEDULER"


def trials_of(store: Store) -> TrialStore:
    """The trials of all experiments of a home, and of those that lend to it."""
    lent = [lender / FOLDER for lender in store.lenders]
    return TrialStore(store.home / FOLDER, lent, most_states(store.home))


def workers_at(scheduler: str | None) -> Workers:
    """Who trains: the workers of the scheduler at that address, else at the one in the environment variable
    RANKING_SCHEDULER, else this computer."""
    address = scheduler or os.environ.get(SCHEDULER)
    return on_cluster(address) if address else on_this_computer


def experiment_at_home(
    store: Store,
    settings: ExperimentSettings,
    on_progress: Callable[[Progress], None],
    on_features: OnFeatures | None = None,
    check: Check = lambda: None,
) -> Results:
    """Run what is not there yet, as `ranking.experiments.cross_validation.running.run_experiment` does.

    on_features hears of features that have to be computed first, and may raise too.
    """
    workers, images = workers_at(settings.scheduler), store.image_set(settings.set)
    edges = store.edges_of(settings.set, settings.graph)
    plan = plan_of(settings, images)
    return run_experiment(
        plan,
        lambda: material_of(plan, images, store.features, on_features, edges),
        trials_of(store),
        on_progress,
        check,
        workers,
    )


def results_at_home(store: Store, settings: ExperimentSettings) -> tuple[Plan, Results]:
    """What is there of an experiment by now, and its plan; nothing is computed."""
    plan = plan_of(settings, store.image_set(settings.set))
    return plan, results_of(plan, trials_of(store))
