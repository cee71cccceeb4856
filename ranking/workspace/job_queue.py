"""Whose turn it is to work: one fair queue for all rooms of a machine, and for a home without rooms the same; one of
trainings, one of imports, and one of looks at uploads.

A training takes a ticket when it is asked for; its worker, which waits, looks itself whether it may go on. The lock on
the training's folder is what keeps the ticket: it goes with the worker, however that dies, and the ticket with it.
What works goes on. Of those that wait the room goes first that has the fewest at work, then the one that was not
served for longest, then who asked first; so first trainings of all rooms come before second ones, and who asks for many
delays others by one.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ranking.workspace.home import Database, is_sound, set_aside
from ranking.workspace.room_layout import has_quotas, server_of
from ranking.workspace.run import LOCK, is_held

MIGRATIONS = (
    """
create table ticket (
    number integer primary key autoincrement, room text not null, run text not null unique, works integer not null);
create table served (room text not null unique, turn integer not null);
""",
)


@dataclass(frozen=True)
class Ticket:
    """A training that works or waits. number: the order of asking. room: its home, as a path from the server's.

    works: whether it had its turn; level, once in order: how many of its room work before it.
    """

    number: int
    room: str
    run: str
    works: bool


@dataclass(frozen=True)
class Waiting:
    """A ticket that waits. level: how many of its own room are at work or go before it."""

    ticket: Ticket
    level: int


def in_order(tickets: Sequence[Ticket], served: Mapping[str, int]) -> list[Waiting]:
    """Those that wait in the order in which they would be served if all were and nobody came or ended meanwhile.

    served: the turn that each room had last, by which rooms with equally many at work go one after the other.

    >>> tickets = [Ticket(1, "a", "a1", True), Ticket(2, "a", "a2", False), Ticket(3, "b", "b1", False)]
    >>> [turn.ticket.run for turn in in_order(tickets, {"a": 1})]
    ['b1', 'a2']
    """
    waiting: dict[str, list[Ticket]] = {}
    for ticket in sorted(tickets, key=lambda ticket: ticket.number):
        if not ticket.works:
            waiting.setdefault(ticket.room, []).append(ticket)
    keyed = []
    for room, of_room in waiting.items():
        working = sum(ticket.works and ticket.room == room for ticket in tickets)
        since = (served.get(room, 0), of_room[0].number)
        # Who was served in the meantime, place > 0, was so later than any that was served before.
        keyed += [
            ((working + place, place, *since), Waiting(ticket, working + place))
            for place, ticket in enumerate(of_room)
        ]
    return [waits for _, waits in sorted(keyed, key=lambda pair: pair[0])]


class JobQueue(Database):
    """A queue that runs of `home` stand in: that of its server, where it is a room. file: its database; what stands in
    one does not wait for what stands in another.

    places: how many work at once on the machine; of one room: how many of it may, at most.
    """

    def __init__(self, home: Path, file: str = "queue.sqlite") -> None:
        super().__init__(server_of(home), file)
        self._home = home
        self._room = home.relative_to(self.path).as_posix()
        with self._explained():
            self.lay_out(MIGRATIONS)

    def _prepare(self, migrations: tuple[str, ...]) -> None:
        """A queue that is damaged is begun anew, for workers take the tickets again that they had."""
        if os.path.lexists(self._database) and not is_sound(self._database, migrations):
            set_aside(self._database)

    @property
    def called(self) -> str:
        """Without the path, for a visitor: that is where the server keeps its rooms."""
        return "the queue of this server" if has_quotas(self._home) else super().called

    def _connect(self) -> sqlite3.Connection:
        """Without waiting for the disk at each change: a ticket is worth nothing when the machine has gone down, for
        the worker that holds it is gone too."""
        database = super()._connect()
        database.execute("pragma synchronous = normal")
        return database

    def enter(self, run_id: str) -> None:
        """Take a ticket for a run of this home, whose lock is held. Repeating it is harmless."""
        with self.change() as database:
            self._enter(database, run_id)

    def leave(self, run_id: str) -> None:
        """Give a ticket back before the worker has ended; what has none gives nothing back."""
        with self.change() as database:
            database.execute("delete from ticket where run = ?", (run_id,))

    def waits_for(self, run_id: str, places: int, of_room: int) -> int:
        """How many others must end before it is the turn of a run of this home; 0 where it works, or has no ticket."""
        with self.read() as database:
            return self._ahead(self._live(database), _served(database), run_id, places, of_room)

    def claim(self, run_id: str, places: int, of_room: int) -> int:
        """Have the run work if it is its turn, and return 0; else how many others must end before.

        Looking and claiming are one transaction, so that of two that claim the last place one gets it.
        """
        if ahead := self.waits_for(run_id, places, of_room) if self._has(run_id) else 0:
            return ahead  # without a transaction: nearly always that is the answer, and many ask
        with self.change() as database:
            self._enter(database, run_id)
            live, served = self._live(database), _served(database)
            numbers = [ticket.number for ticket in live]
            marks = ", ".join("?" * len(numbers))
            database.execute(f"delete from ticket where number not in ({marks})", numbers)
            ahead = self._ahead(live, served, run_id, places, of_room)
            if not ahead:
                turn = max(served.values(), default=0) + 1
                database.execute("update ticket set works = 1 where run = ?", (run_id,))
                database.execute("insert or replace into served values (?, ?)", (self._room, turn))
            return ahead

    def _has(self, run_id: str) -> bool:
        with self.read() as database:
            return database.execute("select 1 from ticket where run = ?", (run_id,)).fetchone() is not None

    def _enter(self, database: sqlite3.Connection, run_id: str) -> None:
        database.execute(
            "insert or ignore into ticket (room, run, works) values (?, ?, 0)", (self._room, run_id)
        )

    def _live(self, database: sqlite3.Connection) -> list[Ticket]:
        """The tickets whose workers live."""
        rows = database.execute("select number, room, run, works from ticket order by number")
        tickets = [Ticket(row["number"], row["room"], row["run"], bool(row["works"])) for row in rows]
        return [ticket for ticket in tickets if is_held(self.path / ticket.room / "runs" / ticket.run / LOCK)]

    def _ahead(
        self, live: Iterable[Ticket], served: Mapping[str, int], run_id: str, places: int, of_room: int
    ) -> int:
        tickets = list(live)
        working = sum(ticket.works for ticket in tickets)
        for place, waits in enumerate(in_order(tickets, served)):
            if waits.ticket.run == run_id:
                return max(0, working + place - places + 1, waits.level - of_room + 1)
        return 0


def _served(database: sqlite3.Connection) -> dict[str, int]:
    return {row["room"]: row["turn"] for row in database.execute("select room, turn from served")}
