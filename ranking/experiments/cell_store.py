"""The cells of all experiments of a home: SQLite in WAL mode, each cell whole or not there, under the key of its cause.

Beside them lie the states of cells that paths are still to go on from. A state is written before the row of its cell
and taken away after the row of the next, so that a path that was killed goes on from where it was. Whoever trains a
path claims it: a lock that goes with its process, however that dies.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ranking.events import json_numbers
from ranking.experiments.cell import Cell, Outcome
from ranking.experiments.cell_training import Trained
from ranking.home import explained
from ranking.types import Certificate, Floats

BUSY_SECONDS = 20.0  # how long a write waits for those of other processes
STATE_DAYS = 30  # how long the state of a path that nobody goes on with is kept
DIGEST = 32  # bytes
TABLE = """
create table if not exists cell (
    key text primary key, measures text not null, seconds real not null, certificate text not null,
    scores blob not null, made real not null)
"""


class CellStore:
    """The cells below a folder, which any number of processes and threads may use at once.

    Raises ranking.home.HomeError, an OSError, where the folder or its database cannot be used.

    lent: folders of other homes, whose cells count as there are some in this one; nothing is written to them.
    """

    def __init__(self, folder: Path, lent: Iterable[Path] = ()) -> None:
        self._database, self._states = folder / "cells.sqlite", folder / "states"
        self._claims = folder / "claims"
        self._lent = [one / "cells.sqlite" for one in lent]
        with explained(f"the home folder {folder}"):
            self._states.mkdir(parents=True, exist_ok=True)
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
            raise ValueError(f"there is no cell {key[:12]} here; run the experiment that it is of")
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

    # ----------------------------------------------------------------------------------------- states

    def state(self, key: str) -> bytes | None:
        """The state of a cell; None where there is none, or the disk lost a part of it."""
        try:
            content = self._state_file(key).read_bytes()
        except FileNotFoundError:
            return None
        digest, state = content[:DIGEST], content[DIGEST:]
        return state if hashlib.blake2b(state, digest_size=DIGEST).digest() == digest else None

    def keep_state(self, key: str, state: bytes) -> None:
        """Keep the state of a cell, whole or not at all, before the row of the cell is."""
        partial = self._states / f"{key}.{os.getpid()}.{threading.get_ident()}.part"
        with open(partial, "wb") as file:
            file.write(hashlib.blake2b(state, digest_size=DIGEST).digest())
            file.write(state)
        os.replace(partial, self._state_file(key))

    def drop_states(self, keys: Iterable[str]) -> None:
        """Take away the states that no cell is to begin from any more."""
        for key in keys:
            self._state_file(key).unlink(missing_ok=True)

    def sweep_states(self) -> None:
        """Take away the states that nobody has gone on from for STATE_DAYS days."""
        for file in self._states.iterdir():
            if file.stat().st_mtime < time.time() - STATE_DAYS * 86400:
                file.unlink(missing_ok=True)

    def _state_file(self, key: str) -> Path:
        return self._states / key

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
