"""The cells of an experiment trained by the workers of a Dask cluster, and kept here as they come.

Features are sent once, with all else that cells are made of. Each cell is a task that waits for those that it begins
from, a function of the material and of their states alone: where a worker is lost, Dask has what it was at trained
again by the others, to the same numbers.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack
from functools import cache
from itertools import chain
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from threadpoolctl import ThreadpoolController

from ranking.core import ProgressEvent, StopTraining
from ranking.experiments.cluster import connected
from ranking.experiments.cross_validation.material import Bench
from ranking.experiments.cross_validation.running import Check, Work, Workers
from ranking.experiments.cross_validation.trial import Cell
from ranking.experiments.cross_validation.unit import Trained, train_cell
from ranking.experiments.cross_validation.walking import Walk

if TYPE_CHECKING:
    from distributed import Client, Future

CHECK_SECONDS = 0.2  # how often it is asked whether to go on
LOST_SECONDS = 60.0  # how long a cluster may be without any worker, while one is started again

_ended: set[str] = set()  # on a worker: the runs whose cells nobody waits for any more


def on_cluster(address: str) -> Workers:
    """The workers of the Dask scheduler at `address`, best of one thread each; errors as
    `ranking.experiments.cluster.connected`.
    """

    def train(parts: Iterable[Work]) -> None:
        coming = iter(parts)
        for first in coming:
            with connected(address) as client:
                sent = _Sent(client, first.bench)
                for work in chain([first], coming):
                    _train_part(client, address, sent, work)

    return train


class _Sent:
    """A bench on all workers; it is sent again where they were lost with it."""

    def __init__(self, client: Client, bench: Bench) -> None:
        self._client, self._bench = client, bench
        self._future: Future | None = None

    def future(self) -> Future:
        if self._future is None or self._future.status != "finished":
            self._future = self._client.scatter(self._bench, broadcast=True, hash=False)
        return self._future

    def lose(self) -> None:
        self._future = None


def _train_part(client: Client, address: str, sent: _Sent, work: Work) -> None:
    left = list(work.paths)
    while left:
        with ExitStack() as claims:
            claimed = [(path, claims.enter_context(work.claimed(path))) for path in left]
            walks = [
                Walk(path, missing, work.store, work.on_cell)
                for path, missing in claimed
                if missing is not None
            ]
            _train_all(client, address, sent, work, walks)
        if not walks:
            work.wait()
        left = [path for path, missing in claimed if missing is None]


def _train_all(client: Client, address: str, sent: _Sent, work: Work, walks: Sequence[Walk]) -> None:
    left = sum(len(one.left) for one in walks)
    while left:
        _await_worker(client, address, work.check)
        _Round(client, sent.future(), walks).gather(work.check)
        before, left = left, sum(len(one.left) for one in walks)
        if left:
            sent.lose()
        if left == before:
            raise RuntimeError(
                f"all workers at {address!r} were lost before one cell was trained; give them more memory"
            )


def _await_worker(client: Client, address: str, check: Check) -> None:
    start = time.monotonic()
    while client.status == "connecting" or (client.status == "running" and not client.nthreads()):
        check()
        if time.monotonic() - start > LOST_SECONDS:
            raise RuntimeError(
                f"the cluster at {address!r} has lost all its workers; start some, and the experiment again"
            )
        time.sleep(CHECK_SECONDS)
    if client.status != "running":
        raise RuntimeError(
            f"the scheduler at {address!r} is gone; what was trained is kept: start it, and the experiment again"
        )


class _Round:
    """What is left of some walks, asked of the workers at once. It may end early, where all workers were lost."""

    def __init__(self, client: Client, bench: Future, walks: Sequence[Walk]) -> None:
        self._client, self._bench, self._run = client, bench, uuid.uuid4().hex
        self._places = sorted(client.nthreads())
        self._arrived: SimpleQueue[Future] = SimpleQueue()
        self._cells: dict[
            str, tuple[Walk, Cell, Future]
        ] = {}  # by key of the task: those that are waited for
        for place, one in enumerate(walks):
            for cell in one.left:
                self._ask(one, cell, -place)  # paths in their order, so that tables fill in column by column
        for _, _, future in tuple(self._cells.values()):
            future.add_done_callback(self._arrived.put)

    def _ask(self, going: Walk, cell: Cell, priority: int) -> None:
        begun = [self._state(going, cause) for cause in cell.causes]
        task = self._task(cell)
        future = self._client.submit(
            _train, self._bench, cell, begun, self._run,
            key=task, priority=priority, pure=False, workers=self._best(cell), allow_other_workers=True,
        )  # fmt: skip
        self._cells[task] = going, cell, future

    def _best(self, cell: Cell) -> list[str]:
        """The worker that has the sides of the cell's fold at hand, once it has cut them and compared neighbours: each
        fold has one, which others help where they have nothing else to do. All of train is left to any."""
        return self._places if cell.fold is None else [self._places[cell.fold % len(self._places)]]

    def _state(self, going: Walk, cause: Cell) -> Any:
        asked = self._cells.get(self._task(cause))
        return going.states[cause.key] if asked is None else asked[2]

    def _task(self, cell: Cell) -> str:
        return f"train-{self._run}-{cell.key}"

    def gather(self, check: Check) -> None:
        """Keep cells as they come; what `check` or a training raises ends all of them, and is raised."""
        from distributed import KilledWorker

        try:
            while self._cells:
                check()
                future = self._next()
                if future is None:
                    continue
                going, cell, _ = self._cells[future.key]
                try:
                    trained = future.result()
                except (
                    CancelledError
                ):  # the material went with the last worker, maybe on this cell's way here
                    return
                going.keep(cell, trained)
                del self._cells[future.key]  # workers forget it as soon as no cell has to begin from it
        except KilledWorker as error:
            raise RuntimeError(
                f"several workers were lost while they trained the same cell ({error}); give them more memory"
            ) from error
        finally:
            self._end()

    def _next(self) -> Future | None:
        try:
            return self._arrived.get(timeout=CHECK_SECONDS)
        except Empty:
            return None

    def _end(self) -> None:
        """Whatever is still asked for is asked for no more, also in the midst of a training."""
        if self._cells and self._client.status == "running":
            self._client.run(_end, self._run, on_error="ignore")
            self._client.cancel([future for _, _, future in self._cells.values()])


def _end(run: str) -> None:
    _ended.add(run)


@cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


def _train(bench: Bench, cell: Cell, begun: list[Trained | bytes], run: str) -> Trained:
    """On a worker: the cell from what the cells came to that it begins from, each in full or as its state."""
    states = [one if isinstance(one, bytes) else one.state for one in begun]

    def listen(_: ProgressEvent) -> None:
        if run in _ended:
            raise StopTraining

    with _threads().limit(limits=1):
        return train_cell(
            bench, cell, {cause.key: state for cause, state in zip(cell.causes, states, strict=True)}, listen
        )
