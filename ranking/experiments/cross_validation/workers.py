"""The workers that train the units of an experiment: the cores of this computer, or a Dask cluster."""

from __future__ import annotations

import os
import uuid
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from queue import Empty, SimpleQueue
from threading import Event
from typing import TYPE_CHECKING

from joblib import Parallel, cpu_count, delayed
from threadpoolctl import ThreadpoolController, threadpool_limits

from ranking.core import ProgressEvent, StopTraining
from ranking.experiments.cluster import connected
from ranking.experiments.cross_validation.material import Material
from ranking.experiments.cross_validation.unit import Trained, Unit, train_unit

if TYPE_CHECKING:
    from distributed import Client, Future

Check = Callable[[], None]  # raises an exception to end the work
TrainingRuns = Generator[list[Trained], None, None]  # the results of units, as they are finished
Train = Callable[[Iterable[Unit]], TrainingRuns]
# Trains units on a material while it is open. The check is called often, in any thread; its exceptions are raised.
Workers = Callable[[Material, Check], AbstractContextManager[Train]]

SCHEDULER = "RANKING_SCHEDULER"
CHECK_SECONDS = 0.2  # between two calls of `check` while a cluster trains

_ended: set[str] = (
    set()
)  # on a worker of a cluster: the runs that have ended, whose units are no longer needed


@contextmanager
def on_this_computer(material: Material, check: Check) -> Iterator[Train]:
    """Train in one thread per core, with single-threaded linear algebra: the kernels release the interpreter's lock,
    and the features are in memory once."""

    def train(units: Iterable[Unit]) -> TrainingRuns:
        ended = Event()

        def listen(_: ProgressEvent) -> None:
            if ended.is_set():
                raise StopTraining
            check()

        threads = Parallel(cpu_count(), backend="threading", return_as="generator_unordered")
        finished = threads(delayed(train_unit)(material, unit, listen) for unit in units)
        try:
            for results in finished:  # noqa: UP028  # consumers that end early must not close it
                yield results
        finally:
            ended.set()
            with suppress(StopTraining):  # raised by units that were still training
                deque(finished, maxlen=0)

    with threadpool_limits(1):
        yield train


def workers_at(scheduler: str | None) -> Workers:
    """Return the workers of the scheduler at that address, else at the address in RANKING_SCHEDULER, else those of this
    computer."""
    address = scheduler or os.environ.get(SCHEDULER)
    return on_cluster(address) if address else on_this_computer


def on_cluster(address: str) -> Workers:
    """Train on the workers of the Dask scheduler at `address`, which should have one thread each.

    Features are sent once. Dask repeats the unit of a lost worker on another worker. Errors as of
    `ranking.experiments.cluster.connected`.
    """

    @contextmanager
    def workers(material: Material, check: Check) -> Iterator[Train]:
        with connected(address) as client:
            sent = client.scatter(material, broadcast=True, hash=False)
            yield lambda units: _train_there(client, address, sent, units, check)

    return workers


def _train_there(
    client: Client, address: str, material: Future, units: Iterable[Unit], check: Check
) -> TrainingRuns:
    from distributed import KilledWorker

    run = uuid.uuid4().hex
    arrived: SimpleQueue[Future] = SimpleQueue()
    futures: set[Future] = set()
    try:
        for place, unit in enumerate(units):
            task = client.submit(_train, material, unit, run, priority=-place, pure=False)
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
    except (
        CancelledError,
        KilledWorker,
    ) as error:  # the features were lost with the last worker, or memory was short
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


def _train(material: Material, unit: Unit, run: str) -> list[Trained]:
    """Train a unit on a worker of a cluster, unless its run has ended."""

    def listen(_: ProgressEvent) -> None:
        if run in _ended:
            raise StopTraining

    with _threads().limit(limits=1):
        return train_unit(material, unit, listen)
