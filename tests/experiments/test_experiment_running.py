from __future__ import annotations

import math
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tiny_actions import images, material, planned

from ranking.experiments import walking
from ranking.experiments.cell import Cell, Outcome
from ranking.experiments.cell_store import CellStore
from ranking.experiments.comparisons import comparisons, difference_table
from ranking.experiments.exports import shown
from ranking.experiments.material import Material
from ranking.experiments.pace import Pace, Progress
from ranking.experiments.plan import paths_of
from ranking.experiments.results import Results
from ranking.experiments.running import WAITING, results_of, run_experiment
from ranking.experiments.statistics import holm, paired_t_test
from ranking.experiments.tables import chosen_table, seconds_table, validation_table
from ranking.experiments.tables import test_table as on_test_table
from ranking.home import HomeError

IMAGES = images()
PLAN = planned(IMAGES, queries=("jump", "run"))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> CellStore:
    return CellStore(tmp_path_factory.mktemp("cells"))


@pytest.fixture(scope="module")
def heard(store: CellStore) -> list[Progress]:
    told: list[Progress] = []
    run_experiment(PLAN, lambda: material(PLAN, IMAGES), store, told.append)
    return told


@pytest.fixture(scope="module")
def results(store: CellStore, heard: list[Progress]) -> Results:
    return results_of(PLAN, store)


def test_all_cells_are_trained_and_told_with_the_time_left(results: Results, heard: list[Progress]) -> None:
    folds = [place for place in results.outcomes if place[3] is not None]
    tests = [place for place in results.outcomes if place[3] is None]
    assert len(folds) == len(PLAN.validation) == 2 * 3 * 12
    assert len(tests) == 2 * 4
    assert all(outcome.certificate.converged for outcome in results.outcomes.values())
    assert heard[0].done == 0
    assert heard[0].seconds_left is None
    assert heard[-1].done == heard[-1].total
    assert heard[-1].seconds_left == 0.0
    done = [progress.done for progress in heard]
    assert done == sorted(done)


def test_a_second_run_trains_nothing_and_asks_for_no_features(store: CellStore, results: Results) -> None:
    def none() -> Material:
        raise AssertionError("nothing is to be trained")

    told: list[Progress] = []
    start = time.perf_counter()
    again = run_experiment(PLAN, none, store, told.append)
    assert time.perf_counter() - start < 5.0
    assert told[-1].done == told[-1].total
    assert again.outcomes.keys() == results.outcomes.keys()


def test_the_best_mean_over_folds_is_chosen_and_of_equal_ones_the_smallest_c(results: Results) -> None:
    points = results.contender("HOB-SVM").points
    means = [statistics.fmean(results.folds_of("jump", "HOB-SVM", point) or ()) for point in points]
    assert results.chosen("jump", "HOB-SVM") == points[means.index(max(means))]
    same = {
        place: replace(outcome, measures={**outcome.measures, "AP": 0.5 + 0.1 * (place[3] or 0)})
        for place, outcome in results.outcomes.items()
    }
    tied = replace(results, outcomes=same)
    assert tied.chosen("jump", "HOB-SVM") == (("C", 1.0), ("eta", 0.1))
    best = same | {
        ("jump", "HOB-SVM", point, fold): replace(same["jump", "HOB-SVM", point, fold], measures={"AP": 0.9})
        for point in ((("C", 1.0), ("eta", 1.0)), (("C", 10.0), ("eta", 0.1)))
        for fold in range(3)
    }
    assert replace(results, outcomes=best).chosen("jump", "HOB-SVM") == (("C", 1.0), ("eta", 1.0))


def test_it_is_chosen_and_told_by_the_measure_of_the_protocol(results: Results) -> None:
    best = (("C", 10.0),)
    turned = {
        place: replace(outcome, measures={"AP": 0.5 - 0.0001 * (place[2] == best), "NDCG": 0.5, "P@10": 0.1})
        for place, outcome in results.outcomes.items()
    }
    by_ap = replace(results, outcomes=turned)
    assert by_ap.chosen("jump", "SVM") == (("C", 1.0),)
    for place, outcome in turned.items():
        turned[place] = replace(
            outcome, measures={**outcome.measures, "P@10": 0.1 + 0.0001 * (place[2] == best)}
        )
    by_places = replace(by_ap, protocol=replace(results.protocol, measure="P@10"))
    assert by_places.chosen("jump", "SVM") == best, "a ten-thousandth is more than rounding"
    assert by_places.validation("jump", "SVM") == pytest.approx((0.1001,) * 3)


def test_means_that_only_rounding_tells_apart_are_equal(results: Results) -> None:
    small, large = ((("C", 1.0), ("eta", 0.1)), (("C", 10.0), ("eta", 0.1)))
    of_folds = {small: (0.1, 0.2, 0.3), large: (0.2, 0.2, 0.2)}
    assert statistics.fmean(of_folds[large]) > statistics.fmean(of_folds[small]), "by rounding"
    tied = {
        place: replace(
            outcome, measures={"AP": of_folds[place[2]][place[3]] if place[2] in of_folds else 0.0}
        )
        for place, outcome in results.outcomes.items()
        if place[3] is not None
    }
    assert replace(results, outcomes=tied).chosen("jump", "HOB-SVM") == small
    whole = tied | {
        ("jump", "HOAP-SVM", point, fold): replace(
            tied["jump", "HOAP-SVM", point, fold], measures={"AP": value}
        )
        for point, values in ((small, (0.2, 0.2, 0.2)), (large, (0.0, 0.0, 0.0)))
        for fold, value in enumerate(values)
    }
    table = validation_table(replace(results, outcomes=whole))
    assert [row.best[0] for row in table.rows] == [False, False, True, True]


def test_the_test_samples_choose_nothing(results: Results) -> None:
    changed = {
        place: replace(outcome, measures={"AP": 0.0}) if place[3] is None else outcome
        for place, outcome in results.outcomes.items()
    }
    other = replace(results, outcomes=changed)
    for query in results.queries:
        for contender in results.contenders:
            assert other.chosen(query, contender.name) == results.chosen(query, contender.name)
            assert other.test(query, contender.name) == 0.0


def test_a_measure_that_the_test_samples_have_not_is_nan_and_no_training_takes_no_time(
    results: Results,
) -> None:
    bare = {
        place: replace(outcome, measures={"samples": 7.0}) if place[3] is None else outcome
        for place, outcome in results.outcomes.items()
    }
    assert math.isnan(replace(results, outcomes=bare).test("jump", "SVM") or 0.0), "none of them is relevant"
    assert replace(results, outcomes={}).seconds("jump", "SVM") is None
    assert shown(replace(results, outcomes={}).seconds("jump", "SVM")) == "–"


def test_what_is_not_whole_is_not_chosen(results: Results) -> None:
    gone = ("jump", "SVM", (("C", 10.0),), 2)
    rest = {place: outcome for place, outcome in results.outcomes.items() if place != gone}
    part = replace(results, outcomes=rest)
    assert part.chosen("jump", "SVM") is None
    assert part.validation("jump", "SVM") is None
    assert part.test("jump", "SVM") is None
    table = validation_table(part)
    assert table.rows[0].values[0] is None
    assert table.rows[0].values[-1] is None, "no average of a part"
    assert not any(row.best[0] for row in table.rows), "no best of a column that is not whole"
    assert any(row.best[1] for row in table.rows)


def test_tables_are_those_of_the_paper(results: Results) -> None:
    table = validation_table(results)
    assert table.columns == ("jump", "run", "Average")
    assert [row.name for row in table.rows] == ["SVM", "AP-SVM", "HOB-SVM", "HOAP-SVM"]
    for row in table.rows:
        folds = [results.validation(query, row.name) or () for query in results.queries]
        means = [statistics.fmean(values) for values in folds]
        assert row.values == pytest.approx([*means, statistics.fmean(means)])
    for column in range(3):
        values = [row.values[column] for row in table.rows]
        assert [row.best[column] for row in table.rows] == [value == max(values) for value in values]
    on_test = on_test_table(results)
    assert on_test.rows[1].values[0] == results.test("jump", "AP-SVM")
    assert chosen_table(results).rows[0].values[0] in ("C = 1", "C = 10")
    total = sum(one.seconds for place, one in results.outcomes.items() if place[:2] == ("run", "SVM"))
    assert seconds_table(results).rows[0].values[1] == pytest.approx(total)
    assert (
        seconds_table(results).note
        == "Each training of HOAP-SVM without that of HOB-SVM that it begins with."
    )
    alone = replace(results, contenders=results.contenders[:3])
    assert seconds_table(alone).note == ""


def test_trainings_that_did_not_converge_are_said(results: Results) -> None:
    assert results.unproven == 0
    assert "converge" not in validation_table(results).note
    place, outcome = next(iter(results.outcomes.items()))
    failed = replace(outcome, certificate=replace(outcome.certificate, converged=False))
    part = replace(results, outcomes={**results.outcomes, place: failed})
    assert validation_table(part).note.endswith(" 1 of 80 trainings did not converge.")


def test_comparisons_are_paired_by_fold_and_corrected_for_all(results: Results) -> None:
    found = comparisons(results)
    assert len(found) == 2 * 6
    first = found[0]
    assert (first.query, first.one, first.other) == ("jump", "AP-SVM", "SVM")
    ours, theirs = results.validation("jump", "AP-SVM"), results.validation("jump", "SVM")
    assert ours is not None
    assert theirs is not None
    assert first.difference.value == pytest.approx(statistics.fmean(ours) - statistics.fmean(theirs))
    assert first.t == pytest.approx(paired_t_test(ours, theirs), nan_ok=True)
    assert [one.holm_t for one in found] == pytest.approx(holm([one.t for one in found]), nan_ok=True)
    table = difference_table(results)
    assert table.rows[0].name == "AP-SVM − SVM"
    assert table.rows[0].values[0] == first.difference.value
    assert "all 12 comparisons" in table.note


@pytest.mark.parametrize("wait", [0, 5])
def test_a_run_that_is_ended_goes_on_without_training_a_cell_twice(
    tmp_path: Path, wait: int, results: Results
) -> None:
    plan, kept = planned(IMAGES), CellStore(tmp_path)
    done: list[str] = []

    class Enough(Exception):
        pass

    def check() -> None:
        if len(kept.outcomes()) >= wait:
            raise Enough

    with pytest.raises(Enough):
        run_experiment(plan, lambda: material(plan, IMAGES), kept, check=check)
    first = {key: one.seconds for key, one in kept.outcomes().items()}
    assert wait <= len(first) < len(plan.validation)
    found = run_experiment(
        plan, lambda: material(plan, IMAGES), kept, lambda progress: done.append(progress.what)
    )
    assert first.items() <= {key: one.seconds for key, one in kept.outcomes().items()}.items()
    assert len(done) - 2 == len(kept.outcomes()) - len(first)
    assert len(found.outcomes) == len(plan.validation) + 4
    for place, key in found.keys.items():  # the same as in another run, which was left in peace
        if place in results.outcomes:
            assert results.keys[place] == key or place[3] is None
            assert found.outcomes[place].measures == results.outcomes[place].measures


def test_an_error_of_a_worker_is_raised_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned(IMAGES)

    def broken(*_: Any) -> None:
        raise ArithmeticError("the disk is full")

    monkeypatch.setattr(CellStore, "keep", broken)
    with pytest.raises(ArithmeticError, match="the disk is full"):
        run_experiment(plan, lambda: material(plan, IMAGES), CellStore(tmp_path))


def test_cells_that_cannot_be_read_are_told_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "cells.sqlite").write_bytes(b"no database " * 100)
    with pytest.raises(HomeError, match=r"cannot use the home folder .*: file is not a database; "):
        CellStore(tmp_path)


def test_a_set_without_test_samples_ends_with_its_folds(tmp_path: Path) -> None:
    image_set = replace(images(30), image_test=images(30).image_test & False)
    plan = planned(image_set, methods=(("SVM", {}),), folds=2)
    found = run_experiment(plan, lambda: material(plan, image_set), CellStore(tmp_path))
    assert len(found.outcomes) == 2 * 2
    assert plan.most_tests == 0
    assert on_test_table(found).rows[0].values == (None, None)


def test_what_is_left_is_told_from_cells_of_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 10.0])
    monkeypatch.setattr("ranking.experiments.pace.time.monotonic", lambda: next(clock))
    cells = [cell for place, cell in PLAN.validation.items() if place[:3] == ("jump", "SVM", (("C", 1.0),))]
    outcome = next(iter([Outcome({}, 4.0, None)]))  # type: ignore[arg-type]
    pace = Pace(later=2)
    pace.plan(cells, {cells[0].key: replace(outcome, seconds=8.0)})
    told = pace.trained(cells[1], outcome)
    assert (told.done, told.total, told.what) == (2, 5, "jump, SVM, fold 2")
    assert told.seconds_left == pytest.approx(
        6.0 * 10.0 / 4.0
    )  # one like those two, at 0.4 s of training a second


def test_cells_are_told_one_at_a_time(tmp_path: Path) -> None:
    plan, inside = planned(IMAGES), threading.Lock()

    def alone(_: Progress) -> None:
        assert inside.acquire(blocking=False)
        time.sleep(0.001)
        inside.release()

    run_experiment(plan, lambda: material(plan, IMAGES), CellStore(tmp_path), alone)


def test_overlapping_experiments_at_once_train_no_cell_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: Counter[str] = Counter()
    both, plain, lock = threading.Barrier(2), walking.train_cell, threading.Lock()

    def counted(bench: Any, cell: Cell, *rest: Any) -> Any:
        with lock:
            trained[cell.key] += 1
        time.sleep(0.002)
        return plain(bench, cell, *rest)

    monkeypatch.setattr(walking, "train_cell", counted)
    methods = (("AP-SVM", {}), ("HOB-SVM", {}))
    plans = [planned(IMAGES, queries=names, methods=methods) for names in (("jump", "run"), ("run", "read"))]

    def begin(plan: Any) -> tuple[Results, list[Progress]]:
        told: list[Progress] = []
        both.wait()
        run = run_experiment(plan, lambda: material(plan, IMAGES), CellStore(tmp_path), told.append)
        return run, told

    with ThreadPoolExecutor(2) as pool:
        (one, of_one), (other, of_other) = pool.map(begin, plans)
    assert set(trained.values()) == {1}
    assert len(trained) == 3 * (3 * 6 + 2)
    for found, told in ((one, of_one), (other, of_other)):
        assert len(found.outcomes) == 2 * (3 * 6 + 2)
        assert told[-1].done == told[-1].total == len(found.outcomes), "those of the other one count as well"
    assert list((tmp_path / "claims").iterdir()) == []


CLAIM = """
import sys, time
from pathlib import Path
from ranking.experiments.cell_store import CellStore
with CellStore(Path(sys.argv[1])).claimed(sys.argv[2]) as ours:
    print(ours, flush=True)
    time.sleep(60)
"""


def test_a_claim_is_waited_for_and_ends_with_a_claimer_that_is_killed(tmp_path: Path) -> None:
    plan, store = planned(IMAGES, methods=(("AP-SVM", {}),), folds=2), CellStore(tmp_path)
    begins = paths_of(plan.validation.values())[0][0].key
    claimer = subprocess.Popen(
        [sys.executable, "-c", CLAIM, str(tmp_path), begins], stdout=subprocess.PIPE, text=True
    )
    assert claimer.stdout is not None
    assert claimer.stdout.readline() == "True\n"
    with store.claimed(begins) as ours:
        assert not ours
    with store.claimed("another") as ours:
        assert ours
    told: list[Progress] = []

    def hear(progress: Progress) -> None:
        told.append(progress)
        if progress.what == WAITING:  # all but the path that is claimed is there
            assert progress.done == 2
            os.kill(claimer.pid, signal.SIGKILL)
            claimer.wait()

    found = run_experiment(plan, lambda: material(plan, IMAGES), store, hear)
    assert WAITING in [progress.what for progress in told]
    assert len(found.outcomes) == 2 * 2 + 1
    assert list((tmp_path / "claims").iterdir()) == []


def test_who_waits_for_another_experiment_can_be_ended(tmp_path: Path) -> None:
    plan, store = planned(IMAGES, methods=(("AP-SVM", {}),), folds=2), CellStore(tmp_path)
    waiting = threading.Event()

    class Enough(Exception):
        pass

    def check() -> None:
        if waiting.is_set():
            raise Enough

    def hear(progress: Progress) -> None:
        if progress.what == WAITING:
            waiting.set()

    with store.claimed(paths_of(plan.validation.values())[0][0].key), pytest.raises(Enough):
        run_experiment(plan, lambda: material(plan, IMAGES), CellStore(tmp_path), hear, check)
    assert len(store.outcomes()) == 2, "the other path"
