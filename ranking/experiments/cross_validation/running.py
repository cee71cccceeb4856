"""Run an experiment: train unfinished units concurrently, and store their trials."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from functools import cache

from ranking.experiments.cross_validation.plan import Plan, paths_of
from ranking.experiments.cross_validation.progress import Progress, TimeEstimate
from ranking.experiments.cross_validation.results import Results, TrialId
from ranking.experiments.cross_validation.trial import Trial
from ranking.experiments.cross_validation.trial_data import TrialData
from ranking.experiments.cross_validation.trial_path import remaining_path
from ranking.experiments.cross_validation.trial_store import TrialStore
from ranking.experiments.cross_validation.workers import Check, Train, Workers, on_this_computer


def run_experiment(
    plan: Plan,
    trial_data: Callable[[], TrialData],
    store: TrialStore,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    check: Check = lambda: None,
    workers: Workers = on_this_computer,
) -> Results:
    """Train the missing trials of the folds, then the tests at the chosen points; return all results."""
    # `trial_data` is called only if something has to be trained. An exception from `check` or `on_progress`
    # ends the work and is raised again; trials of finished units are stored, and the same call resumes.
    pace = TimeEstimate()
    with ExitStack() as stack:

        @cache
        def train() -> Train:
            return stack.enter_context(workers(trial_data(), check))

        for trials, pace.later in _rounds(plan, store):
            paths = paths_of(trials.values())
            needed = [trial for path in paths for trial in path]
            known = store.outcomes(trial.key for trial in needed)
            missing = {trial.key for trial in needed} - known.keys()
            pace.plan(needed, known)
            on_progress(pace.now("Reading finished trials"))
            if not missing:
                continue
            unfinished = [path for path in paths if any(trial.key in missing for trial in path)]
            trial_paths = (remaining_path(path, missing) for path in unfinished)
            with closing(train()(trial_paths)) as finished:
                for results in finished:
                    for trial, outcome, scores, recording in results:
                        if trial.key in missing:
                            store.save(trial.key, outcome, scores, recording)
                            on_progress(pace.trained(trial, outcome))
    return results_of(plan, store)


def results_of(plan: Plan, store: TrialStore) -> Results:
    """Return the results of the finished trials of a plan."""
    trials: dict[TrialId, Trial] = {}
    for more, _ in _rounds(plan, store):
        trials |= more
    return plan.results(trials, store.outcomes(trial.key for trial in trials.values()))


def _rounds(plan: Plan, store: TrialStore) -> Iterator[tuple[Mapping[TrialId, Trial], int]]:
    """Yield trials, each round depending on the last, and how many tests cannot be planned yet."""
    # First the trials of the folds, then those of extended grids, again and again, then the tests.
    trials, more = dict[TrialId, Trial](), plan.validation
    while more:
        yield more, plan.most_tests
        trials |= more
        results = plan.results(trials, store.outcomes(trial.key for trial in trials.values()))
        more = plan.wider(results)
    yield plan.tests(results), 0
