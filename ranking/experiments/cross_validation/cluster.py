"""Training of the units of an experiment by the workers of a Dask cluster."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import cache
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from threadpoolctl import ThreadpoolController

from ranking.core import ProgressEvent, StopTraining
from ranking.core.errors import InputError
from ranking.experiments.cross_validation.trial import VERSION
from ranking.experiments.cross_validation.trial_data import TrialData
from ranking.experiments.cross_validation.trial_path import Trained, TrialPath, train_path
from ranking.experiments.cross_validation.workers import (
    Check,
    Train,
    TrainingRuns,
    Workers,
    on_this_computer,
)

if TYPE_CHECKING:
    from distributed import Client, Future

SCHEDULER = "RANKING_SCHEDULER"
# time limit for a scheduler to answer, and for its first worker
CONNECT_SECONDS = 10.0
# between two calls of `check` while a cluster trains
CHECK_SECONDS = 0.2

# on a worker: the runs that have ended, whose units are no longer needed
_ended: set[str] = set()


def workers_at(scheduler: str | None) -> Workers:
    """Return the workers of the scheduler at that address, else at the address in RANKING_SCHEDULER, else those of this
    computer."""
    address = scheduler or os.environ.get(SCHEDULER)
    return on_cluster(address) if address else on_this_computer


def on_cluster(address: str) -> Workers:
    """Train on the workers of the Dask scheduler at `address`, which should have one thread each.

    Features are sent once. Dask repeats the unit of a lost worker on another worker. InputError if the extra packages
    are missing, no scheduler answers, there is no worker, or a worker has another version of `ranking`.
    """

    @contextmanager
    def workers(trial_data: TrialData, check: Check) -> Iterator[Train]:
        with _connected(address) as client:
            sent = client.scatter(trial_data, broadcast=True, hash=False)
            yield lambda trial_paths: _train_there(client, address, sent, trial_paths, check)

    return workers


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    try:
        from distributed import Client
    except ImportError as error:
        remedy = "install them with `pip install 'ranking-laboratory[cluster]'`, or omit the scheduler"
        raise InputError("cluster", "the packages dask and distributed", str(error), remedy) from error
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        remedy = "start one with `dask scheduler --host localhost --no-dashboard`, or omit the scheduler"
        raise InputError("scheduler", f"a Dask scheduler at {address!r}", str(error), remedy) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
            versions: set[object] = {*client.run(_version).values()}
        except TimeoutError as error:
            remedy = f"start some with `dask worker {address}`"
            raise InputError("workers", f"at least one at {address!r}", 0, remedy) from error
        except (ImportError, AttributeError) as error:
            versions = {str(error)}
        if versions != {VERSION}:
            remedy = "install this version of `ranking` there"
            raise InputError("workers", f"version {VERSION} at {address!r}", [*versions], remedy)
        yield client


def _version() -> int:
    """Return the version of trials on a worker. Fails there if the package is missing."""
    return VERSION


def _train_there(
    client: Client, address: str, trial_data: Future, trial_paths: Iterable[TrialPath], check: Check
) -> TrainingRuns:
    from distributed import KilledWorker

    run = uuid.uuid4().hex
    arrived: SimpleQueue[Future] = SimpleQueue()
    futures: set[Future] = set()
    try:
        for place, trial_path in enumerate(trial_paths):
            task = client.submit(_train, trial_data, trial_path, run, priority=-place, pure=False)
            futures.add(task)
            task.add_done_callback(arrived.put)
        while futures:
            check()
            if client.status not in ("running", "connecting"):
                raise RuntimeError(
                    f"the scheduler at {address!r} has stopped. Finished trials are kept: "
                    "restart it, and start the experiment again"
                )
            try:
                future = arrived.get(timeout=CHECK_SECONDS)
            except Empty:
                continue
            yield future.result()
            futures.remove(future)
    # the features were lost with the last worker, or memory was short
    except (
        CancelledError,
        KilledWorker,
    ) as error:
        raise RuntimeError(
            f"workers at {address!r} were lost ({error}). Finished trials are kept: give the workers more memory, and "
            "start the experiment again"
        ) from error
    finally:
        if futures and client.status == "running":
            client.run(_end, run, on_error="ignore")
            client.cancel(list(futures))


def _end(run: str) -> None:
    _ended.add(run)


@cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


def _train(trial_data: TrialData, trial_path: TrialPath, run: str) -> list[Trained]:
    """Train a unit on a worker of a cluster, unless its run has ended."""

    def listen(_: ProgressEvent) -> None:
        if run in _ended:
            raise StopTraining

    with _threads().limit(limits=1):
        return train_path(trial_data, trial_path, listen)
