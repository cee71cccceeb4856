"""Grids that go on where the best value lies at an end, and comparisons that the grid does not decide."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tiny_actions import count_training_runs, images, planned, protocol, run_tiny

from ranking.core import Certificate
from ranking.experiments.cross_validation.comparisons import comparisons
from ranking.experiments.cross_validation.plan import plan_of
from ranking.experiments.cross_validation.protocol import compared_methods_of
from ranking.experiments.cross_validation.results import Results
from ranking.experiments.cross_validation.running import run_experiment
from ranking.experiments.cross_validation.tables import chosen_table, validation_table
from ranking.experiments.cross_validation.trial import Outcome
from ranking.experiments.cross_validation.trial_data import SplitSide, TrialData
from ranking.experiments.cross_validation.trial_store import TrialStore
from ranking.storage.run_settings import SMALL_GRIDS, Protocol

IMAGES = images()
PROVEN = Certificate(1.0, 1.0, 0.0, 1, 0.0, True)


def results_of(
    values: dict[float, float], grid: tuple[float, ...] = (1.0, 10.0, 100.0), **changes: Any
) -> Results:
    """Results of SVM on two folds whose mean at each C is the value there."""
    settings = protocol(
        IMAGES, methods=(("SVM", {}),), grids={"C": grid}, folds=2, **{"widen": True, **changes}
    )
    outcomes = {
        ("jump", "SVM", (("C", C),), fold): Outcome({"AP": value}, 0.0, PROVEN)
        for C, value in values.items()
        for fold in range(2)
    }
    return Results(settings, ("jump",), tuple(compared_methods_of(settings)), outcomes, {})


def tried(results: Results) -> list[float]:
    return [dict(point)["C"] for point in results.points("jump", "SVM")]


def test_a_grid_goes_on_beyond_the_end_where_the_best_is_twice_at_most():
    assert tried(results_of({})) == [1.0, 10.0, 100.0], "nothing is known yet"
    assert tried(results_of({1.0: 0.2, 10.0: 0.5, 100.0: 0.4})) == [1.0, 10.0, 100.0], "the best lies inside"
    above = {1.0: 0.2, 10.0: 0.5, 100.0: 0.6}
    assert tried(results_of(above)) == [1.0, 10.0, 100.0, 1e3]
    assert results_of(above).chosen("jump", "SVM") is None, "until the next one is there"
    assert tried(results_of(above | {1e3: 0.5})) == [1.0, 10.0, 100.0, 1e3]
    assert tried(results_of(above | {1e3: 0.7})) == [1.0, 10.0, 100.0, 1e3, 1e4]
    last = results_of(above | {1e3: 0.7, 1e4: 0.8})
    assert tried(last) == [1.0, 10.0, 100.0, 1e3, 1e4]
    assert (last.chosen("jump", "SVM"), last.at_end("jump", "SVM")) == ((("C", 1e4),), ["C"])
    assert tried(results_of({1.0: 0.6, 10.0: 0.5, 100.0: 0.4})) == [0.1, 1.0, 10.0, 100.0]
    assert tried(results_of(above, widen=False)) == [1.0, 10.0, 100.0]
    assert results_of(above, widen=False).at_end("jump", "SVM") == ["C"], "it is marked all the same"


def test_a_grid_goes_on_beyond_a_corner_too():
    grids = {"C": (1.0, 10.0), "eta": (0.1, 1.0)}
    settings = protocol(IMAGES, methods=(("HOB-SVM", {}),), grids=grids, folds=2, widen=True)
    outcomes = {
        ("jump", "HOB-SVM", (("C", C), ("eta", eta)), fold): Outcome({"AP": C * eta / 100}, 0.0, PROVEN)
        for C in grids["C"]
        for eta in grids["eta"]
        for fold in range(2)
    }
    results = Results(settings, ("jump",), tuple(compared_methods_of(settings)), outcomes, {})
    tried = {tuple(value for _, value in point) for point in results.points("jump", "HOB-SVM")}
    assert tried == {(C, eta) for C in (1.0, 10.0, 100.0) for eta in (0.1, 1.0, 10.0)}


def test_equal_values_at_an_end_and_limits_of_a_setting_widen_nothing():
    equal = results_of({1.0: 0.6, 10.0: 0.6, 100.0: 0.4})
    assert (tried(equal), equal.at_end("jump", "SVM")) == ([1.0, 10.0, 100.0], [])
    alone = results_of({10.0: 0.6}, (10.0,))
    assert (tried(alone), alone.at_end("jump", "SVM")) == ([10.0], []), "one value is no grid"
    largest = results_of({1e7: 0.5, 1e8: 0.6}, (1e7, 1e8))
    assert (tried(largest), largest.at_end("jump", "SVM")) == ([1e7, 1e8], ["C"])


def test_the_end_of_a_grid_is_marked_in_the_tables():
    ended = results_of({1.0: 0.2, 10.0: 0.5, 100.0: 0.6, 1e3: 0.7, 1e4: 0.8})
    assert chosen_table(ended).rows[0].values == ("C = 10000 (end of grid)",)
    assert "End of grid" in chosen_table(ended).note
    assert "1 of the chosen settings lies at an end of its grid" in validation_table(ended).note
    inside = results_of({1.0: 0.2, 10.0: 0.5, 100.0: 0.4})
    assert chosen_table(inside).rows[0].values == ("C = 10",)
    assert (chosen_table(inside).note, "end of" in validation_table(inside).note) == ("", False)


def test_wider_cells_change_none_of_the_protocol_and_are_not_trained_again(tmp_path, monkeypatch):
    plan, counts = planned(IMAGES, widen=True), count_training_runs(monkeypatch)
    store = TrialStore(tmp_path)
    results = run_tiny(plan, store)
    assert plan.validation.keys() < results.keys.keys()
    assert all(results.keys[place] == cell.key for place, cell in plan.validation.items())
    assert set(counts.values()) <= {1, 2, 3}, "each wider grid trains its path once more"
    for one in results.compared_methods:
        points = results.points("jump", one.name)
        assert results.chosen("jump", one.name) in points
        for point in set(points) - set(one.points):
            cell = plan.wider(replace(results, keys={}))["jump", one.name, point, 0]
            C = dict(point)["C"]
            assert (cell.previous is None) == (C <= 1.0)
            assert cell.previous is None or cell.previous.settings["C"] == pytest.approx(C / 10)
    trained = dict(counts)
    assert run_tiny(plan, store).outcomes.keys() == results.outcomes.keys()
    assert counts == trained, "what is there is not trained again"


def test_longer_grids_have_the_values_beyond_an_end_that_was_chosen():
    above = {1.0: 0.2, 10.0: 0.5, 100.0: 0.6}
    assert results_of(above, widen=False).longer_grids() == {"C": (1.0, 10.0, 100.0, 1e3)}
    widened = results_of(above | {1e3: 0.7, 1e4: 0.8})
    assert widened.longer_grids() == {"C": (1.0, 10.0, 100.0, 1e3, 1e4, 1e5)}
    for values in ({}, above | {1e3: 0.5}, {1.0: 0.5, 10.0: 0.6, 100.0: 0.2}):
        assert results_of(values).longer_grids() == {"C": (1.0, 10.0, 100.0)}, (
            "nothing is chosen yet, or inside"
        )
    smallest = results_of({0.01: 0.8, 0.1: 0.7, 1.0: 0.6, 10.0: 0.5, 100.0: 0.4})
    assert smallest.at_end("jump", "SVM") == ["C"]
    assert smallest.longer_grids() == {"C": (1.0, 10.0, 100.0)}, "smaller ones would change the starts of all"
    assert results_of({1e7: 0.5, 1e8: 0.6}, (1e7, 1e8)).longer_grids() == {"C": (1e7, 1e8)}, "the largest C"


def test_an_experiment_with_longer_grids_keeps_the_cells_of_the_first(tmp_path):
    store = TrialStore(tmp_path)
    queries = ("jump", "read")
    plan = planned(IMAGES, queries=queries)
    first = run_tiny(plan, store)
    grids = first.longer_grids()
    assert set(grids["C"]) > {1.0, 10.0}
    assert set(grids["eta"]) > {0.1, 1.0}
    longer = run_tiny(planned(IMAGES, queries=queries, grids=grids), store)
    for place in plan.validation:
        assert longer.keys[place] == first.keys[place]
        assert longer.outcomes[place] == first.outcomes[place]
    for query in queries:
        for method in first.compared_methods:
            means = [np.mean(results.validation(query, method.name)) for results in (first, longer)]
            assert means[1] >= means[0] - 1e-12, "there are more to choose from"


def test_the_small_experiment_finds_no_difference_where_there_is_none(tmp_path):
    """The classes are Gaussians of equal shape, for which one direction is best by either loss."""
    # With the paper's unit of C and a grid of 1, 10 and 100, AP-SVM is ahead by .12, on one query
    # significantly (Holm).
    sample_images = images(240)
    generator = np.random.default_rng(8)
    features = generator.standard_normal((len(sample_images), 120)) + 1.2 * sample_images.labels @ np.eye(
        3, 120
    )
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    settings = Protocol(sample_images.key, (("HOG", {}),), (("SVM", {}), ("AP-SVM", {})), grids=SMALL_GRIDS)
    plan = plan_of(settings, sample_images)
    relevance = {query: sample_images.relevance(query) for query in plan.queries}
    none = np.empty((0, 2), int)
    sides = {
        fold: (SplitSide(one.learn, none), SplitSide(one.held, none)) for fold, one in plan.splits.all.items()
    }
    trial_data = TrialData(features.astype(np.float32), relevance, sides, np.arange(0))
    results = run_experiment(plan, lambda: trial_data, TrialStore(tmp_path))
    apart = comparisons(results)
    assert len(apart) == 3
    assert all(row.holm > 0.05 and row.t > 0.05 for row in apart)
    assert abs(np.mean([row.difference.value for row in apart])) < 0.03
