"""A path walked cell by cell: each is kept as soon as it is there, so that another walk goes on from there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Protocol

from ranking.experiments.cell import Cell, Outcome
from ranking.experiments.cell_training import Trained, train_cell
from ranking.experiments.material import Bench
from ranking.experiments.plan import Path
from ranking.types import OnProgress

OnCell = Callable[[Cell, Outcome], None]


class Keeper(Protocol):
    """What keeps cells and the states that others begin from; `ranking.experiments.cell_store.CellStore` is one."""

    def state(self, key: str) -> bytes | None: ...
    def keep_state(self, key: str, state: bytes) -> None: ...
    def drop_states(self, keys: Iterable[str]) -> None: ...
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
        self.states = {key: state for key in causes(path) if (state := keeper.state(key)) is not None}
        self.left = to_train(path, missing, self.states)

    def keep(self, cell: Cell, trained: Trained) -> None:
        """Keep one of those that were left: its state before its row, and away with states that nobody needs."""
        self.left.remove(cell)
        needed = causes(self.left)
        if cell.key in needed:
            self.states[cell.key] = trained.state
            self._keeper.keep_state(cell.key, trained.state)
        if cell.key in self._missing:
            self._keeper.keep(cell, trained)
            self._on_cell(cell, trained.outcome)
        done = self.states.keys() - needed
        self._keeper.drop_states(done)
        for key in done:
            del self.states[key]


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


def to_train(path: Path, missing: Collection[str], states: Collection[str]) -> list[Cell]:
    """Those cells of a path that are missing, or needed to begin from without a state."""
    turn: list[Cell] = []
    wanted = set(missing)
    for cell in reversed(path):
        if cell.key in wanted:
            turn.append(cell)
            wanted |= {cause.key for cause in cell.causes if cause.key not in states}
    return turn[::-1]


def causes(cells: Iterable[Cell]) -> set[str]:
    """The keys of the cells that `cells` begin from."""
    return {cause.key for cell in cells for cause in cell.causes}
