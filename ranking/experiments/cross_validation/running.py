"""Run an experiment: train the units that are not finished, several at once, and keep their trials."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from functools import cache

from ranking.experiments.cross_validation.material import Material
from ranking.experiments.cross_validation.plan import Plan, paths_of
from ranking.experiments.cross_validation.progress import Pace, Progress
from ranking.experiments.cross_validation.results import Place, Results
from ranking.experiments.cross_validation.trial import Trial
from ranking.experiments.cross_validation.trial_store import TrialStore
from ranking.experiments.cross_validation.unit import unit_of
from ranking.experiments.cross_validation.workers import Check, Train, Workers, on_this_computer


def run_experiment(
    plan: Plan,
    material: Callable[[], Material],
    store: TrialStore,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    check: Check = lambda: None,
    workers: Workers = on_this_computer,
) -> Results:
    """Train what `store` lacks of the folds, then at the chosen points what it lacks of the tests; return all results.

    material: called only if something is to be trained. on_progress hears of every trial. What check or on_progress
    raise ends the work and is raised: trials of finished units are kept, and the same call goes on from them.
    """
    pace = Pace()
    with ExitStack() as stack:

        @cache
        def train() -> Train:
            return stack.enter_context(workers(material(), check))

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
            units = (unit_of(path, missing) for path in unfinished)
            with closing(train()(units)) as finished:
                for results in finished:
                    for trial, outcome, scores, recording in results:
                        if trial.key in missing:
                            store.keep(trial.key, outcome, scores, recording)
                            on_progress(pace.trained(trial, outcome))
    return results_of(plan, store)


def results_of(plan: Plan, store: TrialStore) -> Results:
    """The results of those trials of a plan that are finished."""
    trials: dict[Place, Trial] = {}
    for more, _ in _rounds(plan, store):
        trials |= more
    return plan.results(trials, store.outcomes(trial.key for trial in trials.values()))


def _rounds(plan: Plan, store: TrialStore) -> Iterator[tuple[Mapping[Place, Trial], int]]:
    """The trials of the folds; then, again and again, those of grids that are widened; then the tests. Each round
    follows from the outcomes of those before. With each the number of tests that are still to be planned."""
    trials, more = dict[Place, Trial](), plan.validation
    while more:
        yield more, plan.most_tests
        trials |= more
        results = plan.results(trials, store.outcomes(trial.key for trial in trials.values()))
        more = plan.wider(results)
    yield plan.tests(results), 0
