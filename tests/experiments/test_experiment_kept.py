from __future__ import annotations

import os
from typing import Any

from tiny_actions import count_trainings, images, planned, run_tiny

from ranking.experiments.cross_validation.plan import paths_of
from ranking.experiments.cross_validation.state_store import DIGEST, StateStore
from ranking.experiments.cross_validation.trial_store import CellStore

IMAGES = images(30)


def run(store: CellStore, **changes: Any) -> set[str]:
    """The keys of all cells of an experiment with two methods, those included that they begin from."""
    plan = planned(IMAGES, **{"methods": (("AP-SVM", {}), ("HOAP-SVM", {})), "folds": 2, **changes})
    results = run_tiny(plan, store, count=30)
    cells = [*plan.validation.values(), *plan.tests(results).values()]
    return {cell.key for path in paths_of(cells) for cell in path}


def test_no_cell_is_trained_twice_for_a_protocol_that_changes(tmp_path, monkeypatch):
    """Also where the first one is lent by another home, in which nothing is written."""
    trained = count_trainings(monkeypatch)
    for number, (before, after) in enumerate(
        (
            ({"C": (1.0, 10.0)}, {"C": (1.0, 10.0, 100.0)}),  # on to a larger one
            ({"C": (1.0, 10.0)}, {"C": (1.0, 3.0, 10.0)}),  # one between, from which the path is another
            ({"C": (1.0, 10.0, 100.0)}, {"C": (1.0, 10.0)}),
            ({"C": (1.0,), "eta": (1.0,)}, {"C": (1.0, 10.0), "eta": (0.1, 1.0)}),
        )
    ):
        trained.clear()
        home, lends = tmp_path / f"{number}", number == 0
        first = run(CellStore(home), grids=before)
        assert trained.keys() == first
        files = sorted(home.rglob("*"))
        second = run(CellStore(tmp_path / "room", [home]) if lends else CellStore(home), grids=after)
        assert first & second
        assert trained == dict.fromkeys(first | second, 1), (before, after)
        assert not lends or sorted(home.rglob("*")) == files
    trained.clear()
    both = [run(CellStore(tmp_path / "methods"), methods=((name, {}),)) for name in ("HOB-SVM", "HOAP-SVM")]
    assert trained == dict.fromkeys(set.union(*both), 1)


def test_states_that_went_are_made_again_and_nothing_else(tmp_path, monkeypatch):
    trained, methods = count_trainings(monkeypatch), (("AP-SVM", {}),)
    first = run(CellStore(tmp_path, most_states=1), grids={"C": (1.0, 10.0)}, methods=methods)
    second = run(CellStore(tmp_path, most_states=1), grids={"C": (1.0, 10.0, 100.0)}, methods=methods)
    begun = {cell.key for cell in planned(IMAGES, methods=methods, folds=2).validation.values()}
    assert trained == {**dict.fromkeys(first | second, 1), **dict.fromkeys(begun, 2)}


def test_a_state_is_there_whole_or_not_at_all(tmp_path):
    states = StateStore(tmp_path)
    assert states.get("one") is None
    states.keep("one", b"begin here")
    assert states.get("one") == b"begin here"
    states.passed(["one", "of a lender"])
    assert StateStore(tmp_path).get("one") == b"begin here"
    whole = (tmp_path / "passed" / "one").read_bytes()
    for torn in (whole[:-1], whole[:DIGEST], b"", whole[:-1] + b"x"):
        (tmp_path / "passed" / "one").write_bytes(torn)
        assert states.get("one") is None


def test_those_go_first_that_were_passed_the_oldest_before_others(tmp_path):
    size = 1000 - DIGEST
    states = StateStore(tmp_path, most=5000)
    for number, name in enumerate("abcde"):
        states.keep(name, bytes(size))
        os.utime(tmp_path / name, (number, number))
    assert all(states.get(name) for name in "abcde"), "as much as they may take"
    states.passed("db")
    states.keep("f", bytes(size))
    assert [name for name in "abcdef" if states.get(name)] == ["a", "c", "e", "f"]
    states.keep("g", bytes(3 * size))
    assert [name for name in "abcdefg" if states.get(name)] == ["f", "g"]
    assert sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()) <= 5000


def test_what_a_process_that_died_half_wrote_goes_too(tmp_path):
    states = StateStore(tmp_path, most=1000)
    dead, alive = (tmp_path / "passed" / f"{name}.17.3.part" for name in ("dead", "alive"))
    for half in (dead, alive):
        half.write_bytes(bytes(900))
    os.utime(dead, (0, 0))
    states.keep("two", bytes(500))
    assert not dead.exists()
    assert alive.exists(), "another process is writing it"
    assert states.get("two") == bytes(500)
