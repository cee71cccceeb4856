"""An experiment run: what is not there yet is trained, by several workers at once, and kept cell by cell."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from joblib import Parallel, cpu_count, delayed
from threadpoolctl import threadpool_limits

from ranking.experiments.cell import Cell, Outcome
from ranking.experiments.cell_store import CellStore
from ranking.experiments.material import Bench, Material
from ranking.experiments.pace import Pace, Progress
from ranking.experiments.plan import Path, Plan, paths_of
from ranking.experiments.results import Place, Results
from ranking.experiments.walking import OnCell, walk

Check = Callable[[], None]  # raises what ends the work


@dataclass(frozen=True, eq=False)
class Work:
    """Paths to be walked. missing: the keys of the cells to train, each of which `store` is to keep. on_cell hears of
    each as soon as it is kept, in any thread, one call at a time. check is to be called often, in any thread; what it
    raises ends the work and is raised."""

    material: Material
    paths: Sequence[Path]
    missing: Collection[str]
    store: CellStore
    on_cell: OnCell
    check: Check


Workers = Callable[[Work], None]  # who trains


def on_this_computer(work: Work) -> None:
    """As many threads as there are cores, one of linear algebra in each: what they compute in leaves the interpreter
    to the others, and the features lie in memory once."""
    bench, lock = Bench(work.material), threading.Lock()
    errors: list[BaseException] = []

    def listen(_: object) -> None:
        if errors:
            raise errors[0]
        work.check()

    def tell(cell: Cell, outcome: Outcome) -> None:
        with lock:
            work.on_cell(cell, outcome)

    def along(path: Path) -> None:
        try:
            if not errors:
                walk(bench, path, work.missing, work.store, tell, listen)
        except BaseException as error:
            errors.append(error)

    with threadpool_limits(1):
        Parallel(n_jobs=cpu_count(), backend="threading")(delayed(along)(path) for path in work.paths)
    if errors:
        raise errors[0]


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
    store.sweep_states()
    shared, pace = cache(material), Pace(later=plan.most_tests)

    def tell(cell: Cell, outcome: Outcome) -> None:
        on_progress(pace.trained(cell, outcome))

    def train(cells: Mapping[Place, Cell]) -> None:
        paths, known = paths_of(cells.values()), store.outcomes()
        missing = {cell.key for path in paths for cell in path if cell.key not in known}
        pace.plan((cell for path in paths for cell in path), known)
        on_progress(pace.now("Reading what is there"))
        unfinished = [path for path in paths if any(cell.key in missing for cell in path)]
        if unfinished:
            workers(Work(shared(), unfinished, missing, store, tell, check))

    train(plan.validation)
    pace.later = 0
    train(plan.tests(results_of(plan, store)))
    return results_of(plan, store)


def results_of(plan: Plan, store: CellStore) -> Results:
    """What `store` has of a plan."""
    known = store.outcomes()
    folds = Results.of(plan.protocol, plan.queries, plan.contenders, plan.validation, known)
    cells = {**plan.validation, **plan.tests(folds)}
    return Results.of(plan.protocol, plan.queries, plan.contenders, cells, known)
