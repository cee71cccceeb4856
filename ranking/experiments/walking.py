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


def walk(
    bench: Bench,
    path: Path,
    missing: Collection[str],
    keeper: Keeper,
    on_cell: OnCell,
    on_progress: OnProgress | None = None,
) -> None:
    """Train the cells of a path whose keys are `missing`, tell `on_cell` of each once it is kept.

    A cell that is there, but whose state is needed and gone, is trained again: it gives the same state, and what is
    kept of it stays. on_progress hears the iterations of all trainings and may raise StopTraining.
    """
    states = {key: state for key in causes(path) if (state := keeper.state(key)) is not None}
    turn = to_train(path, missing, states)
    for place, cell in enumerate(turn):
        trained = train_cell(bench, cell, states, on_progress)
        needed = causes(turn[place + 1 :])
        if cell.key in needed:
            states[cell.key] = trained.state
            keeper.keep_state(cell.key, trained.state)
        if cell.key in missing:
            keeper.keep(cell, trained)
            on_cell(cell, trained.outcome)
        done = states.keys() - needed
        keeper.drop_states(done)
        for key in done:
            del states[key]


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
