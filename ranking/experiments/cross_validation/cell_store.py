"""The cells of all experiments of a home: SQLite in WAL mode, each cell whole or not there, under the key of its cause.

Beside them lie the states that cells begin from (`ranking.experiments.cross_validation.state_store`). A state is
written before the row of its cell, so that a path that was killed goes on from where it was. Whoever trains a path
claims it: a lock that goes with its process, however that dies.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ranking.core import Certificate, Floats
from ranking.core.errors import InputError, explained
from ranking.core.json_numbers import json_numbers
from ranking.core.limits import DEFAULT_STATES
from ranking.experiments.cross_validation.cell import Cell, Outcome
from ranking.experiments.cross_validation.cell_training import Trained
from ranking.experiments.cross_validation.state_store import StateStore

BUSY_SECONDS = 20.0  # how long a write waits for those of other processes
TABLE = """
create table if not exists cell (
    key text primary key, measures text not null, seconds real not null, certificate text not null,
    scores blob not null, made real not null)
"""


class CellStore:
    """The cells below a folder, which any number of processes and threads may use at once.

    Raises ranking.core.errors.HomeError, an OSError, where the folder or its database cannot be used.

    lent: folders of other homes, whose cells count as if they were in this one; nothing is written to them.
    most_states: bytes that the states in this one may take.
    """

    def __init__(self, folder: Path, lent: Sequence[Path] = (), most_states: int = DEFAULT_STATES) -> None:
        self._database, self._claims = folder / "cells.sqlite", folder / "claims"
        self._lent = [one / "cells.sqlite" for one in lent]
        self.states = StateStore(folder / "states", [one / "states" for one in lent], most_states)
        with explained(f"the home folder {folder}"):
            self._claims.mkdir(exist_ok=True)
            # One connection stays open: where the last one closes, SQLite writes all of its log to the file at once.
            self._stays = sqlite3.connect(self._database, timeout=BUSY_SECONDS, check_same_thread=False)
            self._stays.execute("pragma journal_mode = wal")
            with self._stays:
                self._stays.execute(TABLE)

    # ------------------------------------------------------------------------------------------ cells

    def outcomes(self, keys: Iterable[str] | None = None) -> dict[str, Outcome]:
        """What came of those cells that are there, of `keys` or of all, by key."""
        question = "select key, measures, seconds, certificate from cell"
        if keys is None:
            rows = self._all(question)
        else:
            rows = self._all(
                f"{question} where key in (select value from json_each(?))", json.dumps(list(keys))
            )
        return {row[0]: _outcome(*row[1:]) for row in rows}

    def scores(self, key: str) -> Floats:
        """(h,) of the held-out samples of a cell, in the order of its split; ValueError where it is not there."""
        rows = self._all("select scores from cell where key = ?", key)
        if not rows:
            raise InputError("trial", "a finished trial", key[:12], "run its experiment first")
        return np.frombuffer(rows[-1][0], "<f8").astype(np.float64)

    def keep(self, cell: Cell, trained: Trained) -> None:
        """Keep a cell, but for its state; one that is there already stays as it is."""
        outcome = trained.outcome
        certificate = json.dumps(json_numbers(asdict(outcome.certificate)))
        row = (
            cell.key,
            json.dumps(dict(outcome.measures)),
            outcome.seconds,
            certificate,
            trained.scores.astype("<f8").tobytes(),
            time.time(),
        )
        with self._open() as database:
            database.execute("insert or ignore into cell values (?, ?, ?, ?, ?, ?)", row)

    # ----------------------------------------------------------------------------------------- claims

    @contextmanager
    def claimed(self, key: str) -> Iterator[bool]:
        """Whether what is called `key` is one's own to train now: then nobody else's, in any process or thread, until
        this ends."""
        with explained(f"the home folder {self._database.parent}"):
            lock = self._claim(key)
        try:
            yield lock is not None
        finally:
            if lock is not None:
                (self._claims / key).unlink(missing_ok=True)
                os.close(lock)

    def _claim(self, key: str) -> int | None:
        """The locked file of a claim; None where another one holds it."""
        file = self._claims / key
        while True:
            lock = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(lock)
                return None
            if _lies_at(lock, file):
                return lock
            os.close(lock)  # it was taken away after it was opened, by one who is done

    def _all(self, question: str, *values: str) -> list[tuple[Any, ...]]:
        """The rows that are lent, then those that are here."""
        rows: list[tuple[Any, ...]] = []
        for file in self._lent:
            if file.exists():
                with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", BUSY_SECONDS, uri=True)) as database:
                    rows += database.execute(question, values).fetchall()
        with self._open() as database:
            return rows + database.execute(question, values).fetchall()

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection for one question or one change, which is committed at the end."""
        with (
            explained(f"the home folder {self._database.parent}"),
            closing(sqlite3.connect(self._database, timeout=BUSY_SECONDS)) as database,
            database,
        ):
            database.execute("pragma synchronous = normal")  # a death of the process loses nothing
            yield database


def _lies_at(opened: int, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(opened), file.stat())
    except FileNotFoundError:
        return False


def _outcome(measures: str, seconds: float, certificate: str) -> Outcome:
    told: Mapping[str, float | None] = json.loads(certificate)
    bounds = {"primal": np.inf, "dual": -np.inf, "gap": np.inf}
    read = {name: bounds.get(name) if value is None else value for name, value in told.items()}
    return Outcome(json.loads(measures), seconds, Certificate(**read))  # type: ignore[arg-type]
