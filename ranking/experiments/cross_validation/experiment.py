"""Cross-validated comparison of methods, as a study."""

from __future__ import annotations

import time

from ranking.experiments.cross_validation.cluster import workers_at
from ranking.experiments.cross_validation.plan import plan_of
from ranking.experiments.cross_validation.progress import Progress, time_in_words
from ranking.experiments.cross_validation.running import run_experiment
from ranking.experiments.cross_validation.trial_data import trial_data_of
from ranking.experiments.cross_validation.trial_store import TrialStore
from ranking.experiments.study import Context, Result, Study
from ranking.storage.run_settings import ExperimentSettings

# least interval between two results
TELL_SECONDS = 1.0


class Experiment(Study[ExperimentSettings]):
    """See `ranking.experiments.cross_validation`; the result counts finished and not converged trials."""

    settings = ExperimentSettings

    def run(self, settings: ExperimentSettings, context: Context) -> Result:
        images = context.images
        assert images is not None
        plan, trials = plan_of(settings, images), TrialStore(context.trials[0], context.trials[1:])
        result, reported = {"done": 0, "total": 0}, -TELL_SECONDS

        def report(progress: Progress) -> None:
            nonlocal reported
            result.update(done=progress.done, total=progress.total)
            if time.monotonic() - reported >= TELL_SECONDS:
                reported = time.monotonic()
                context.on_result(dict(result))
            left = "" if progress.seconds_left is None else f"; {time_in_words(progress.seconds_left)} left"
            context.on_step(progress.what + left, progress.done, progress.total)

        try:
            results = run_experiment(
                plan,
                lambda: trial_data_of(plan, images, context.features, context.on_step, context.edges),
                trials,
                report,
                context.check,
                workers_at(settings.scheduler),
            )
        finally:
            context.on_result(dict(result))
        return {**result, "unproven": results.unproven}
