"""The workers that train the units of an experiment: the cores of this computer, unless a cluster does (`cluster`)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from threading import Event

from joblib import Parallel, cpu_count, delayed
from threadpoolctl import threadpool_limits

from ranking.core import ProgressEvent, StopTraining
from ranking.experiments.cross_validation.trial_data import TrialData
from ranking.experiments.cross_validation.trial_path import Trained, TrialPath, train_path

# raises an exception to end the work
Check = Callable[[], None]
# the results of units, as they are finished
TrainingRuns = Generator[list[Trained], None, None]
Train = Callable[[Iterable[TrialPath]], TrainingRuns]
# Trains units on a material while it is open. The check is called often, in any thread; its exceptions are raised.
Workers = Callable[[TrialData, Check], AbstractContextManager[Train]]


@contextmanager
def on_this_computer(trial_data: TrialData, check: Check) -> Iterator[Train]:
    """Train in one thread per core, with single-threaded linear algebra."""

    # The kernels release the interpreter's lock, and the features are in memory once.
    def train(trial_paths: Iterable[TrialPath]) -> TrainingRuns:
        ended = Event()

        def listen(_: ProgressEvent) -> None:
            if ended.is_set():
                raise StopTraining
            check()

        threads = Parallel(cpu_count(), backend="threading", return_as="generator_unordered")
        finished = threads(delayed(train_path)(trial_data, trial_path, listen) for trial_path in trial_paths)
        try:
            for results in finished:  # noqa: UP028  # consumers that end early must not close it
                yield results
        finally:
            ended.set()
            # raised by units that were still training
            with suppress(StopTraining):
                deque(finished, maxlen=0)

    with threadpool_limits(1):
        yield train
