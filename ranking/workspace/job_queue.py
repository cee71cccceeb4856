"""Fair job queues for all workspaces of a server: one for training, one for imports, one for previews.

A run enters the queue when it is started; its queued worker checks by itself whether it may run. The entry is valid
while the worker holds the lock on the run's folder: the operating system releases the lock when the worker exits for
any reason, and this frees the queue entry. Running jobs are never interrupted. The next job is from the workspace with
the fewest running jobs, then from the one served longest ago, then the one that entered first. So the first jobs of all
workspaces come before second ones, and a workspace with many jobs delays the others by one. A data folder without
workspaces uses the same queues.
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
    """A run that is running or queued. number: the order of entering. room: its data folder, relative to the server's.

    works: whether it is running.
    """

    number: int
    room: str
    run: str
    works: bool


@dataclass(frozen=True)
class Waiting:
    """A queued run. level: how many runs of its workspace are running or come before it."""

    ticket: Ticket
    level: int


def in_order(tickets: Sequence[Ticket], served: Mapping[str, int]) -> list[Waiting]:
    """Return the queued runs in the order in which they would run if none entered or ended meanwhile.

    served: the last turn of each workspace, by which workspaces with equally many running jobs alternate.

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
        # A workspace that was served in this loop (place > 0) was served later than all that were served before.
        keyed += [
            ((working + place, place, *since), Waiting(ticket, working + place))
            for place, ticket in enumerate(of_room)
        ]
    return [waits for _, waits in sorted(keyed, key=lambda pair: pair[0])]


class JobQueue(Database):
    """The queue for the runs of `home`: that of its server, if it is a workspace. file: the database; queues in
    different files are independent.

    places: how many may run at the same time on the machine; of_room: how many of one workspace.
    """

    def __init__(self, home: Path, file: str = "queue.sqlite") -> None:
        super().__init__(server_of(home), file)
        self._home = home
        self._room = home.relative_to(self.path).as_posix()
        with self._explained():
            self.lay_out(MIGRATIONS)

    def _prepare(self, migrations: tuple[str, ...]) -> None:
        """Recreate a damaged queue; workers then enter it again."""
        if os.path.lexists(self._database) and not is_sound(self._database, migrations):
            set_aside(self._database)

    @property
    def called(self) -> str:
        """The name in messages, without the path for visitors, because it contains the paths of workspaces."""
        return "the queue of this server" if has_quotas(self._home) else super().called

    def _connect(self) -> sqlite3.Connection:
        """Connect without flushing each change to disk: after a crash of the machine the entries are worthless, because
        the workers are gone too."""
        database = super()._connect()
        database.execute("pragma synchronous = normal")
        return database

    def enter(self, run_id: str) -> None:
        """Enter a run of this data folder whose lock is held. Repeating it is harmless."""
        with self.change() as database:
            self._enter(database, run_id)

    def leave(self, run_id: str) -> None:
        """Remove the entry of a run before its worker has exited; does nothing without an entry."""
        with self.change() as database:
            database.execute("delete from ticket where run = ?", (run_id,))

    def waits_for(self, run_id: str, places: int, of_room: int) -> int:
        """Return how many others must end before a run of this data folder may run; 0 if it runs, or has no entry."""
        with self.read() as database:
            return self._ahead(self._live(database), _served(database), run_id, places, of_room)

    def claim(self, run_id: str, places: int, of_room: int) -> int:
        """Let the run start if it may, and return 0; otherwise return how many others must end first.

        Checking and starting are one transaction, so that only one of two runs gets the last place.
        """
        if ahead := self.waits_for(run_id, places, of_room) if self._has(run_id) else 0:
            return ahead  # without a transaction, because this is nearly always the answer, and there are many queries
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
        """Return the entries whose workers are alive."""
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
