"""A path walked cell by cell: each is kept as soon as it is there, so that another walk goes on from there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Protocol

from ranking.core import OnProgress
from ranking.experiments.cross_validation.material import Bench
from ranking.experiments.cross_validation.plan import Path
from ranking.experiments.cross_validation.protocol import BEGUN_BY
from ranking.experiments.cross_validation.trial import Cell, Outcome
from ranking.experiments.cross_validation.unit import Trained, train_cell

OnCell = Callable[[Cell, Outcome], None]


class States(Protocol):
    """What keeps the states that cells begin from; `ranking.experiments.cross_validation.state_store.StateStore` is
    one."""

    def get(self, key: str) -> bytes | None: ...
    def keep(self, key: str, state: bytes) -> None: ...
    def passed(self, keys: Iterable[str]) -> None: ...


class Keeper(Protocol):
    """What keeps cells and states; `ranking.experiments.cross_validation.trial_store.CellStore` is one."""

    @property
    def states(self) -> States: ...
    def keep(self, cell: Cell, trained: Trained) -> None: ...


class Walk:
    """How far a path is. left: the cells that are still to be trained, in their order. states: what is known, by key,
    of those that they begin from.

    A cell that is there, but whose state is needed and gone, is trained again: it gives the same state, and what is
    kept of it stays.
    """

    def __init__(self, path: Path, missing: Collection[str], keeper: Keeper, on_cell: OnCell) -> None:
        """missing: the keys of the cells that are not there; on_cell is told of each of them once it is kept."""
        self._missing, self._keeper, self._on_cell = missing, keeper, on_cell
        self.left, self.states = to_train(path, missing, keeper.states)

    def keep(self, cell: Cell, trained: Trained) -> None:
        """Keep one of those that were left: its state before its row."""
        self.left.remove(cell)
        needed = causes(self.left)
        if cell.key in needed:
            self.states[cell.key] = trained.state
        if begins_others(cell):
            self._keeper.states.keep(cell.key, trained.state)
        done = self.states.keys() - needed
        self._keeper.states.passed(done)
        for key in done:
            del self.states[key]
        if cell.key in self._missing:
            self._keeper.keep(cell, trained)
            self._on_cell(cell, trained.outcome)


def walk(
    bench: Bench,
    path: Path,
    missing: Collection[str],
    keeper: Keeper,
    on_cell: OnCell,
    on_progress: OnProgress | None = None,
) -> None:
    """Train what is left of a path here; on_progress hears the iterations of all trainings, may raise StopTraining."""
    going = Walk(path, missing, keeper, on_cell)
    for cell in tuple(going.left):
        going.keep(cell, train_cell(bench, cell, going.states, on_progress))


def to_train(path: Path, missing: Collection[str], states: States) -> tuple[list[Cell], dict[str, bytes]]:
    """Those cells of a path that are missing, or needed to begin from without a state; and the states, by key, of all
    others that these begin from."""
    turn, wanted, known = list[Cell](), set(missing), dict[str, bytes]()
    for cell in reversed(path):
        if cell.key not in wanted:
            continue
        turn.append(cell)
        for key in {cause.key for cause in cell.causes} - wanted - known.keys():
            state = states.get(key)
            if state is None:
                wanted.add(key)
            else:
                known[key] = state
    return turn[::-1], known


def causes(cells: Iterable[Cell]) -> set[str]:
    """The keys of the cells that `cells` begin from."""
    return {cause.key for cell in cells for cause in cell.causes}


def begins_others(cell: Cell) -> bool:
    """Whether cells may begin from it, of this experiment or of another: the next C on its fold, or a HOAP-SVM."""
    return cell.fold is not None or cell.method == BEGUN_BY
