"""Methods compared by cross-validation, as a study."""

from __future__ import annotations

import time
from collections.abc import Callable

from ranking.core import ImageSet
from ranking.core.run_settings import ExperimentSettings
from ranking.experiments.cross_validation.material import material_of
from ranking.experiments.cross_validation.plan import plan_of
from ranking.experiments.cross_validation.progress import Progress, time_in_words
from ranking.experiments.cross_validation.running import run_experiment
from ranking.experiments.cross_validation.trial_store import TrialStore
from ranking.experiments.cross_validation.workers import workers_at
from ranking.experiments.study import Kept, OnShare, Result, Study

TELL_SECONDS = 1.0  # between two results at least


class Experiment(Study[ExperimentSettings]):
    """See `ranking.experiments.cross_validation`. Its trials are kept path by path, for all experiments of a home.

    The result has how many trials are there, and at the end how many were not proven to have ended.
    """

    settings = ExperimentSettings

    def run(
        self,
        images: ImageSet | None,
        settings: ExperimentSettings,
        kept: Kept,
        on_step: OnShare | None = None,
        on_result: Callable[[Result], None] = lambda result: None,
        check: Callable[[], None] = lambda: None,
    ) -> Result:
        assert images is not None
        plan, trials = plan_of(settings, images), TrialStore(kept.trials[0], kept.trials[1:])
        result, told = {"done": 0, "total": 0}, -TELL_SECONDS

        def tell(progress: Progress) -> None:
            nonlocal told
            result.update(done=progress.done, total=progress.total)
            if time.monotonic() - told >= TELL_SECONDS:
                told = time.monotonic()
                on_result(dict(result))
            if on_step is not None:
                left = (
                    "" if progress.seconds_left is None else f"; {time_in_words(progress.seconds_left)} left"
                )
                on_step(progress.what + left, progress.done, progress.total)

        try:
            results = run_experiment(
                plan,
                lambda: material_of(plan, images, kept.features, on_step, kept.edges),
                trials,
                tell,
                check,
                workers_at(settings.scheduler),
            )
        finally:
            on_result(dict(result))
        return {**result, "unproven": results.unproven}
