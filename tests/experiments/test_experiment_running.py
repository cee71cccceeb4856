from __future__ import annotations

import math
import statistics
import threading
import time
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from tiny_actions import Enough, images, planned, run_tiny, trial_data

from ranking.experiments.cross_validation.comparisons import comparisons, difference_table
from ranking.experiments.cross_validation.progress import Progress, TimeEstimate
from ranking.experiments.cross_validation.results import Results
from ranking.experiments.cross_validation.running import results_of, run_experiment
from ranking.experiments.cross_validation.tables import chosen_table, seconds_table, validation_table
from ranking.experiments.cross_validation.tables import test_table as on_test_table
from ranking.experiments.cross_validation.trial import Outcome
from ranking.experiments.cross_validation.trial_store import TrialStore
from ranking.metrics.statistics import difference_interval, holm, paired_t_test

IMAGES = images()
PLAN = planned(IMAGES, queries=("jump", "run"))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return TrialStore(tmp_path_factory.mktemp("cells"))


@pytest.fixture(scope="module")
def heard(store):
    """What an experiment says that was ended in the midst of its cells before."""
    inside, heard = threading.Lock(), list[Progress]()

    def hear(progress: Progress) -> None:
        assert inside.acquire(blocking=False), "progress comes from one thread at a time"
        heard.append(progress)
        # others may try to come in
        time.sleep(0.001)
        inside.release()

    def check() -> None:
        if len(store.outcomes()) >= 5:
            raise Enough

    with pytest.raises(Enough):
        run_tiny(PLAN, store, check=check)
    kept = store.outcomes().keys()
    assert 5 <= len(kept) < len(PLAN.validation)
    run_tiny(PLAN, store, hear)
    assert len(heard) - 2 == len(store.outcomes()) - len(kept), "each cell once, and two parts that begin"
    return heard


@pytest.fixture(scope="module")
def results(store, heard):
    return results_of(PLAN, store)


def with_measures(results: Results, measures: Any) -> Results:
    """Other values of the measures: a function of the place of a cell and of its measures."""
    changed = {
        place: replace(outcome, measures=measures(place, outcome.measures))
        for place, outcome in results.outcomes.items()
    }
    return replace(results, outcomes=changed)


def test_all_trials_are_trained_once_and_reported_with_the_remaining_time(store, results, heard):
    tests = [place for place in results.outcomes if place[3] is None]
    assert (len(results.outcomes) - len(tests), len(tests)) == (2 * 3 * 12, 2 * 4)
    assert all(outcome.certificate.converged for outcome in results.outcomes.values())
    assert heard[-1].done == heard[-1].total
    assert heard[-1].seconds_left == 0.0
    done = [progress.done for progress in heard]
    assert done == sorted(done)
    again = run_experiment(PLAN, lambda: pytest.fail("nothing is to be trained"), store)
    assert again.outcomes.keys() == results.outcomes.keys()


def test_the_best_mean_over_folds_is_chosen_and_of_equal_ones_the_smallest_c(results):
    points = results.compared_method("HOB-SVM").points
    means = [statistics.fmean(results.folds_of("jump", "HOB-SVM", point)) for point in points]
    assert results.chosen("jump", "HOB-SVM") == points[means.index(max(means))]
    tied = with_measures(results, lambda place, _: {"AP": 0.5 + 0.1 * (place[3] or 0)})
    assert tied.chosen("jump", "HOB-SVM") == (("C", 1.0), ("eta", 0.1))
    best = ((("C", 1.0), ("eta", 1.0)), (("C", 10.0), ("eta", 0.1)))
    two = with_measures(results, lambda place, _: {"AP": 0.9 if place[2] in best else 0.5})
    assert two.chosen("jump", "HOB-SVM") == best[0]


def test_settings_are_chosen_and_reported_by_the_measure_of_the_protocol(results):
    best = (("C", 10.0),)

    def measures(place: Any, _: object) -> dict[str, float]:
        apart = 0.0001 * (place[2] == best)
        return {"AP": 0.5 - apart, "P@10": 0.1 + apart}

    mixed = with_measures(results, measures)
    assert mixed.chosen("jump", "SVM") == (("C", 1.0),)
    by_places = replace(mixed, protocol=replace(results.protocol, measure="P@10"))
    assert by_places.chosen("jump", "SVM") == best, "a ten-thousandth is more than rounding"
    assert by_places.validation("jump", "SVM") == pytest.approx((0.1001,) * 3)


def test_means_that_differ_by_rounding_only_are_equal(results):
    small, large = ((("C", 1.0), ("eta", 0.1)), (("C", 10.0), ("eta", 0.1)))
    of_folds = {small: (0.1, 0.2, 0.3), large: (0.2, 0.2, 0.2)}
    assert statistics.fmean(of_folds[large]) > statistics.fmean(of_folds[small]), "by rounding"

    def measures(place: Any, _: object) -> dict[str, float]:
        _, method, point, fold = place
        if method == "HOAP-SVM":
            return {"AP": 0.2 if point == small else 0.0}
        return {"AP": of_folds[point][fold] if point in of_folds and fold is not None else 0.0}

    tied = with_measures(results, measures)
    assert tied.chosen("jump", "HOB-SVM") == small
    assert [row.best[0] for row in validation_table(tied).rows] == [False, False, True, True]


def test_the_test_samples_choose_nothing(results):
    changed = with_measures(results, lambda place, given: {"AP": 0.0} if place[3] is None else given)
    for query, compared_method in product(results.queries, results.compared_methods):
        assert changed.chosen(query, compared_method.name) == results.chosen(query, compared_method.name)
        assert changed.test(query, compared_method.name) == 0.0


def test_missing_trials_and_undefined_measures_are_not_numbers(results):
    bare = with_measures(results, lambda place, given: {"samples": 7.0} if place[3] is None else given)
    assert math.isnan(bare.test("jump", "SVM")), "no test sample is relevant"
    assert replace(results, outcomes={}).seconds("jump", "SVM") is None
    gone = ("jump", "SVM", (("C", 10.0),), 2)
    rest = {place: outcome for place, outcome in results.outcomes.items() if place != gone}
    part = replace(results, outcomes=rest)
    assert part.chosen("jump", "SVM") is part.validation("jump", "SVM") is part.test("jump", "SVM") is None
    table = validation_table(part)
    assert table.rows[0].values[0] is None
    assert table.rows[0].values[-1] is None, "no average of a part"
    assert not any(row.best[0] for row in table.rows), "no best of a column that is not whole"
    assert any(row.best[1] for row in table.rows)


def test_tables_are_those_of_the_paper(results):
    table = validation_table(results)
    assert table.columns == ("jump", "run", "Average")
    for row in table.rows:
        folds = [results.validation(query, row.name) for query in results.queries]
        means = [statistics.fmean(values) for values in folds]
        assert row.values == pytest.approx([*means, statistics.fmean(means)])
    for column in range(3):
        values = [row.values[column] for row in table.rows]
        assert [row.best[column] for row in table.rows] == [value == max(values) for value in values]
    assert on_test_table(results).rows[1].values[0] == results.test("jump", "AP-SVM")
    assert chosen_table(results).rows[0].values[0] == "C = 10 (end of grid)"
    seconds = [outcome.seconds for place, outcome in results.outcomes.items() if place[:2] == ("run", "SVM")]
    assert seconds_table(results).rows[0].values[1] == pytest.approx(sum(seconds))
    alone = replace(results, compared_methods=results.compared_methods[:3])
    assert (bool(seconds_table(results).note), seconds_table(alone).note) == (True, ""), "of HOAP-SVM"


def test_trials_that_did_not_converge_are_counted(results):
    place, outcome = next(iter(results.outcomes.items()))
    failed = replace(outcome, certificate=replace(outcome.certificate, converged=False))
    part = replace(results, outcomes={**results.outcomes, place: failed})
    assert part.unproven == 1
    note = validation_table(part).note.removeprefix(validation_table(results).note)
    assert [word for word in note.split() if word.isdecimal()] == ["1", "80"]


def test_comparisons_are_paired_by_fold_and_corrected_for_all(results):
    pairs = comparisons(results)
    assert len(pairs) == 2 * 6
    first = pairs[0]
    assert (first.query, first.left, first.right) == ("jump", "AP-SVM", "SVM")
    ours, theirs = (results.validation("jump", name) for name in ("AP-SVM", "SVM"))
    assert first.difference == pytest.approx(difference_interval(ours, theirs), nan_ok=True)
    assert first.t == pytest.approx(paired_t_test(ours, theirs), nan_ok=True)
    assert [pair.holm for pair in pairs] == pytest.approx(holm([pair.t for pair in pairs]), nan_ok=True)
    table = difference_table(results)
    assert (table.rows[0].name, table.rows[0].values[0]) == ("AP-SVM − SVM", first.difference.value)
    assert " 12 " in table.note


def test_an_error_of_a_worker_is_raised_unchanged(tmp_path, monkeypatch):
    def broken(*_: Any) -> None:
        raise ArithmeticError("the disk is full")

    monkeypatch.setattr(TrialStore, "save", broken)
    with pytest.raises(ArithmeticError, match="the disk is full"):
        run_tiny(planned(IMAGES), TrialStore(tmp_path))


def test_a_set_without_test_samples_ends_with_its_folds(tmp_path):
    image_set = replace(images(30), image_test=images(30).image_test & False)
    plan = planned(image_set, methods=(("SVM", {}),), folds=2)
    results = run_experiment(plan, lambda: trial_data(plan, image_set), TrialStore(tmp_path))
    assert len(results.outcomes) == 2 * 2
    assert plan.most_tests == 0
    assert on_test_table(results).rows[0].values == (None,)


def test_the_remaining_time_is_estimated_from_trials_of_the_same_method(monkeypatch):
    clock = iter([0.0, 10.0])
    monkeypatch.setattr("ranking.experiments.cross_validation.progress.time.monotonic", lambda: next(clock))
    cells = [cell for place, cell in PLAN.validation.items() if place[:3] == ("jump", "SVM", (("C", 1.0),))]
    outcome = Outcome({}, 4.0, None)
    pace = TimeEstimate()
    pace.later = 2
    pace.plan(cells, {cells[0].key: replace(outcome, seconds=8.0)})
    progress = pace.trained(cells[1], outcome)
    assert (progress.done, progress.total, progress.what) == (2, 5, "jump, SVM, fold 2")
    # One of their method is left, at 0.4 s of training a second.
    assert progress.seconds_left == pytest.approx(6.0 * 10.0 / 4.0)
