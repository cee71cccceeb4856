from __future__ import annotations

import random
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from reference import serve_one_by_one
from working import LONGEST, Held

from ranking.jobs import jobs
from ranking.workspace.job_queue import JobQueue, Ticket, in_order
from ranking.workspace.room_quotas import JOBS
from ranking.workspace.rooms import Rooms
from ranking.workspace.run import Kind, Run
from ranking.workspace.store import Store


def order(tickets: list[Ticket], served: dict[str, int]) -> list[str]:
    return [waiting.ticket.run for waiting in in_order(tickets, served)]


def test_the_order_is_that_of_serving_one_by_one():
    for seed in range(300):
        draw = random.Random(seed)
        rooms = "abcde"[: draw.randint(1, 5)]
        tickets = [
            Ticket(number, draw.choice(rooms), f"run {number}", draw.random() < 0.3)
            for number in range(draw.randint(0, 14))
        ]
        turns = draw.sample(range(1, 9), len(rooms))
        served = {room: turn for room, turn in zip(rooms, turns, strict=True) if draw.random() < 0.6}
        mixed = draw.sample(tickets, len(tickets))
        assert order(mixed, served) == serve_one_by_one(tickets, served), seed


def test_first_runs_of_all_workspaces_start_before_second_ones_least_recently_served_first():
    tickets = [Ticket(number, room, f"{room}{number}", False) for number, room in enumerate("aaabbc")]
    assert order(tickets, {}) == ["a0", "b3", "c5", "a1", "b4", "a2"]
    tickets = [Ticket(1, "a", "a1", False), Ticket(2, "b", "b2", False)]
    assert order(tickets, {"a": 2, "b": 1}) == order(tickets, {"a": 2}) == ["b2", "a1"]


class Hall:
    """Rooms of a server whose trainings this process holds as workers would."""

    def __init__(self, folder: Path) -> None:
        self.rooms, self.held = Rooms(folder), Held()

    def store(self, name: str) -> Store:
        return Store(self.rooms.make(f"room-{name}-of-the-hall"))

    def ask(self, name: str, kind: Kind = "train", **settings: Any) -> Run:
        return self.held(self.store(name), kind, settings)

    def waits(self, name: str, run: Run) -> int:
        return jobs.waits_for(self.store(name), run)

    def claim(self, name: str, run: Run) -> int:
        return jobs.claim_turn(self.store(name), run)


@pytest.fixture
def hall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hall]:
    monkeypatch.setattr(jobs, "MOST_AT_ONCE", 2)
    made = Hall(tmp_path / "server")
    yield made
    made.held.let_die()


def test_workspaces_share_one_queue_and_the_slot_of_a_dead_worker_is_free_immediately(hall):
    first, second, third = (hall.ask("a") for _ in range(3))
    assert [hall.claim("a", run) for run in (first, second, third)] == [0, 0, 1]
    fourth = hall.ask("b")
    assert (hall.waits("b", fourth), hall.waits("a", third)) == (1, 2), "the first of b before the third of a"
    hall.held.let_die(second)
    assert hall.claim("a", third) == 1, "b goes before"
    assert hall.claim("b", fourth) == 0
    assert hall.waits("b", fourth) == 0, "what works goes on"
    hall.store("a").end_run(first.id, "finished")
    assert first.alive, "its worker may live on"
    assert hall.claim("a", third) == 0


def test_training_runs_and_imports_wait_only_for_their_own_kind(hall, monkeypatch):
    """An import may take an hour, and a few rooms all places."""
    monkeypatch.setattr(jobs, "MOST_IMPORTS_AT_ONCE", 2)
    imports = [
        hall.ask("c", "import"),
        hall.ask("d", "import", task="features"),
        hall.ask("e", "import"),
    ]
    for waiting in ([hall.ask(name) for name in "cde"], imports):
        assert [hall.claim(name, run) for name, run in zip("cde", waiting, strict=True)] == [0, 0, 1]
    assert hall.waits("e", imports[2]) == 1, "no place of an import was taken"
    hall.store("c").end_run(imports[0].id, "cancelled")
    assert hall.claim("e", imports[2]) == 0


def test_running_jobs_of_a_workspace_are_limited_even_if_slots_are_free(hall, monkeypatch):
    monkeypatch.setattr(jobs, "MOST_AT_ONCE", 8)
    monkeypatch.setenv(JOBS, "1")
    first, second = hall.ask("a"), hall.ask("a")
    assert [hall.claim("a", run) for run in (first, second)] == [0, 1]
    assert hall.claim("b", hall.ask("b")) == 0
    hall.held.let_die(first)
    assert hall.claim("a", second) == 0


def test_the_home_of_the_server_stands_in_the_queue_of_its_rooms(hall, tmp_path):
    for name in ("a", "b"):
        assert hall.claim(name, hall.ask(name)) == 0
    server = Store(tmp_path / "server")
    assert jobs.claim_turn(server, hall.held(server)) == 1


def test_of_many_that_claim_at_once_as_many_work_as_there_are_places(hall):
    runs = [(name, hall.ask(name)) for name in "abcdefgh"]
    together = threading.Barrier(len(runs), timeout=LONGEST)

    def claim(name: str, run: Run) -> int:
        together.wait()
        return hall.claim(name, run)

    with ThreadPoolExecutor(len(runs)) as pool:
        ahead = list(pool.map(claim, *zip(*runs, strict=True)))
    assert all(ahead[2:]), "in the order of asking"
    for name, run in runs:
        hall.claim(name, run)
    assert sum(hall.claim(name, run) == 0 for name, run in runs) == 2


def garbage(file: Path) -> None:
    file.write_bytes(b"no queue" * 1000)


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def of_another_program(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as database:
        database.executescript("create table other (x); pragma user_version = 1;")


def newer(file: Path) -> None:
    with closing(sqlite3.connect(file)) as database:
        database.execute("pragma user_version = 9")


@pytest.mark.parametrize("damage", [garbage, a_folder, of_another_program, newer, Path.unlink])
def test_a_queue_that_is_damaged_begins_anew_also_under_a_running_app(tmp_path, damage):
    store, held = Store(tmp_path), Held()
    first = held(store)
    assert jobs.claim_turn(store, first) == 0
    damage(tmp_path / "queue.sqlite")
    second = held(store)
    assert [jobs.claim_turn(store, run) for run in (first, second)] == [0, 0]
    with JobQueue(tmp_path).read() as database:
        assert {row["run"] for row in database.execute("select run from ticket")} == {first.id, second.id}
    held.let_die()
    assert jobs.poll(store, first.id).state == "failed"


def test_a_run_without_ticket_takes_one_when_it_claims(tmp_path):
    store, held = Store(tmp_path), Held()
    run = held(store)
    tickets = JobQueue(tmp_path)
    with tickets.change() as database:
        database.execute("delete from ticket")
    assert jobs.waits_for(store, run) == 0
    assert jobs.claim_turn(store, run) == 0
    with tickets.read() as database:
        [row] = database.execute("select room, run, works from ticket")
        assert tuple(row) == (".", run.id, 1)
    held.let_die()
