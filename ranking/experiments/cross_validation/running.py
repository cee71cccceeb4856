"""An experiment run: what is not there yet is trained, by several workers at once, and kept cell by cell.

Two experiments at once may have cells in common. Those lie on paths that begin alike, so whoever trains a path claims
its first cell; the other one trains its own paths before, then waits, and takes what it finds.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

from joblib import Parallel, cpu_count, delayed
from threadpoolctl import threadpool_limits

from ranking.experiments.cross_validation.material import Bench, Material
from ranking.experiments.cross_validation.pace import Pace, Progress
from ranking.experiments.cross_validation.plan import Path, Plan, paths_of
from ranking.experiments.cross_validation.results import Place, Results
from ranking.experiments.cross_validation.trial import Cell, Outcome
from ranking.experiments.cross_validation.trial_store import CellStore
from ranking.experiments.cross_validation.walking import OnCell, walk

Check = Callable[[], None]  # raises what ends the work
WAIT_SECONDS = 0.2  # between two looks whether another experiment is done with what this one needs
WAITING = "Waiting for another experiment that is training the same"


@dataclass(frozen=True, eq=False)
class Work:
    """Paths to be walked. bench: the same for all parts of an experiment. missing: the keys of the cells to train, each
    of which `store` is to keep. on_cell hears of each as soon as it is kept, in any thread; on_wait before it is waited
    for another experiment. check is to be called often, in any thread; what it raises ends the work and is raised."""

    bench: Bench
    paths: Sequence[Path]
    missing: Collection[str]
    store: CellStore
    on_cell: OnCell
    on_wait: Callable[[], None]
    check: Check

    @contextmanager
    def claimed(self, path: Path) -> Iterator[Collection[str] | None]:
        """The keys of the cells of a path that are missing still, which nobody else trains until this ends; None where
        another one is training them. on_cell hears of those that another one has kept since it was asked."""
        with self.store.claimed(path[0].key) as ours:
            if not ours:
                yield None
                return
            missing = {cell.key for cell in path if cell.key in self.missing}
            found = self.store.outcomes(missing)
            for cell in path:
                if cell.key in found:
                    self.on_cell(cell, found[cell.key])
            yield missing - found.keys()

    def wait(self) -> None:
        """A while, where another one is training all that is left."""
        self.on_wait()
        self.check()
        time.sleep(WAIT_SECONDS)


# Who trains: one part of an experiment after the other, each asked for when all of the one before is kept.
Workers = Callable[[Iterable[Work]], None]


def on_this_computer(parts: Iterable[Work]) -> None:
    """As many threads as there are cores, one of linear algebra in each: what they compute in leaves the interpreter
    to the others, and the features lie in memory once."""
    for work in parts:
        _by_threads(work)


def _by_threads(work: Work) -> None:
    errors: list[BaseException] = []
    put_off: list[Path] = []

    def listen(_: object) -> None:
        if errors:
            raise errors[0]
        work.check()

    def along(path: Path) -> None:
        try:
            if errors:
                return
            with work.claimed(path) as missing:
                if missing is None:
                    put_off.append(path)
                else:
                    walk(work.bench, path, missing, work.store, work.on_cell, listen)
        except BaseException as error:
            errors.append(error)

    left = list(work.paths)
    with threadpool_limits(1), Parallel(n_jobs=cpu_count(), backend="threading") as threads:
        while left:
            threads(delayed(along)(path) for path in left)
            if errors:
                raise errors[0]
            if len(put_off) == len(left):
                work.wait()
            left, put_off = put_off, []


def run_experiment(
    plan: Plan,
    material: Callable[[], Material],
    store: CellStore,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    check: Check = lambda: None,
    workers: Workers = on_this_computer,
) -> Results:
    """Train what `store` lacks of the folds, then at the chosen points what it lacks of the test; all results.

    material: asked for only where something is to be trained. on_progress hears after every cell. What check or
    on_progress raise ends the work and is raised: all cells that were kept stay, and the same call goes on from them.
    """
    bench, pace, lock = cache(lambda: Bench(material())), Pace(later=plan.most_tests), threading.Lock()

    def tell(cell: Cell, outcome: Outcome) -> None:
        with lock:
            on_progress(pace.trained(cell, outcome))

    def tell_waiting() -> None:
        with lock:
            on_progress(pace.now(WAITING))

    def part(cells: Mapping[Place, Cell]) -> Iterator[Work]:
        paths, known = paths_of(cells.values()), store.outcomes()
        missing = {cell.key for path in paths for cell in path if cell.key not in known}
        pace.plan((cell for path in paths for cell in path), known)
        on_progress(pace.now("Reading what is there"))
        unfinished = [path for path in paths if any(cell.key in missing for cell in path)]
        if unfinished:
            yield Work(bench(), unfinished, missing, store, tell, tell_waiting, check)

    def parts() -> Iterator[Work]:
        cells: Mapping[Place, Cell] = plan.validation
        while cells:
            yield from part(cells)
            known = store.outcomes()
            found = cells_of_folds(plan, known)
            cells = {place: cell for place, cell in found.items() if cell.key not in known}
        pace.later = 0
        yield from part(plan.tests(results_of(plan, store)))

    workers(parts())
    return results_of(plan, store)


def results_of(plan: Plan, store: CellStore) -> Results:
    """What `store` has of a plan."""
    known = store.outcomes()
    folds = cells_of_folds(plan, known)
    chosen = Results.of(plan.protocol, plan.queries, plan.contenders, folds, known)
    return Results.of(plan.protocol, plan.queries, plan.contenders, {**folds, **plan.tests(chosen)}, known)


def cells_of_folds(plan: Plan, known: Mapping[str, Outcome]) -> dict[Place, Cell]:
    """The cells of the folds: those of the protocol, and where grids are widened by what is `known`, theirs too."""
    cells = dict(plan.validation)
    while more := plan.wider(Results.of(plan.protocol, plan.queries, plan.contenders, cells, known)):
        cells |= more
    return cells
