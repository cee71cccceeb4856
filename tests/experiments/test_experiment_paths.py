from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tiny_actions import images, planned, trial_data

from ranking import Query, SimilarityGraph, make_method
from ranking.core import ProgressEvent
from ranking.experiments.cross_validation.plan import paths_of
from ranking.experiments.cross_validation.trial import Trial
from ranking.experiments.cross_validation.trial_data import TrialData
from ranking.experiments.cross_validation.trial_path import RECORDED, remaining_path, train_path, train_trial
from ranking.methods.hoap_svm import Surrogate
from ranking.methods.linear import Start
from ranking.methods.oracles import by_query, ranking_cut
from ranking.metrics import evaluate
from ranking.solvers import Solution, WorkingSet

IMAGES = images()
PLAN = planned(IMAGES)


@pytest.fixture(scope="module")
def made():
    return trial_data(PLAN, IMAGES)


def test_paths_contain_every_trial_once_after_its_warm_start():
    paths = paths_of(PLAN.validation.values())
    keys = [cell.key for path in paths for cell in path]
    assert len(keys) == len(set(keys)) == len(PLAN.validation) == 3 * (2 + 2 + 4 + 4)
    # HOB-SVM and HOAP-SVM share one for each eta
    assert sorted(map(len, paths)) == sorted(3 * [2, 2, 4, 4])
    both = max(paths, key=len)
    assert [(cell.method, cell.settings["C"]) for cell in both] == [
        ("HOB-SVM", 1.0), ("HOAP-SVM", 1.0), ("HOB-SVM", 10.0), ("HOAP-SVM", 10.0)
    ]  # fmt: skip
    assert both[3].causes == (both[1], both[3].beginning)
    assert both[3].beginning.key == both[2].key


def test_hoap_alone_adds_hob_runs_as_warm_starts_or_a_single_one_for_a_fixed_first_C():
    alone = planned(IMAGES, methods=(("HOAP-SVM", {}),))
    cells = {cell.key for path in paths_of(alone.validation.values()) for cell in path}
    assert len(cells) == 2 * len(alone.validation)
    assert cells < {cell.key for cell in PLAN.validation.values()}, "the same cells as with HOB-SVM beside it"
    fixed = planned(IMAGES, methods=(("HOAP-SVM", {"start_C": 0.01}),))
    for path in paths_of(fixed.validation.values()):
        assert [(cell.method, cell.settings["C"]) for cell in path] == [
            ("HOB-SVM", 0.01), ("HOAP-SVM", 1.0), ("HOAP-SVM", 10.0)
        ]  # fmt: skip
        assert path[1].causes == (path[0],)
        assert path[2].causes == (path[1], path[0])


def test_a_key_changes_with_all_that_decides_the_numbers_and_with_nothing_else():
    place = ("jump", "AP-SVM", (("C", 10.0),), 1)
    ours = PLAN.validation[place]
    assert planned(IMAGES, queries=("run", "jump"), measure="NDCG").validation[place].key == ours.key
    assert planned(IMAGES, graph="none").validation[place].key == ours.key, "AP-SVM uses no graph"
    changed = [
        planned(IMAGES, seed=1).validation[place],
        planned(IMAGES, folds=4).validation[place],
        planned(IMAGES, tolerance=1e-4).validation[place],
        # its path begins elsewhere
        planned(IMAGES, grids={"C": (2.0, 10.0)}).validation[place],
        planned(images(seed=1)).validation[place],
        PLAN.validation["jump", "AP-SVM", (("C", 1.0),), 1],
        PLAN.validation["jump", "SVM", (("C", 10.0),), 1],
        replace(ours, query="run"),
    ]
    assert len({cell.key for cell in changed} | {ours.key}) == len(changed) + 1
    strength_curve = ("jump", "HOB-SVM", (("C", 10.0), ("eta", 1.0)), 1)
    assert PLAN.validation[strength_curve].key != planned(IMAGES, graph="none").validation[strength_curve].key


def walked_to(made: TrialData, cell: Trial) -> dict[str, Solution]:
    """The solutions of all cells on the path to a cell, and of the cell."""
    states: dict[str, Solution] = {}
    for step in paths_of([cell])[0]:
        _, states[step.key] = train_trial(made, step, states)
    return states


def test_a_trial_is_trained_on_its_training_fold_and_measured_on_the_held_out_fold(made):
    trained, _ = train_trial(made, PLAN.validation["jump", "HOB-SVM", (("C", 1.0), ("eta", 1.0)), 2], {})
    queries = []
    for rows, edges in made.sides[2]:
        apart = made.features[rows[edges[:, 0]], :6] - made.features[rows[edges[:, 1]], :6]
        graph = SimilarityGraph(edges, np.exp(-(apart**2)))
        queries.append(Query(made.features[rows], made.relevance["jump"][rows], graph))
    method = make_method("HOB-SVM", C=1.0, eta=1.0, tolerance=1e-3).fit(queries[:1])
    assert trained.scores == pytest.approx(method.score(queries[1]), rel=1e-6, abs=1e-9)
    assert trained.outcome.measures == evaluate(queries[1].relevance, trained.scores)
    assert trained.outcome.certificate.converged
    assert trained.outcome.certificate.primal == pytest.approx(method.certificate.primal, rel=1e-6)


def test_warm_starts_end_where_cold_ones_do():
    plan = planned(images(30), tolerance=1e-6)
    made = trial_data(plan, images(30))
    for name in ("SVM", "AP-SVM", "HOB-SVM"):
        points = next(
            compared_method for compared_method in plan.compared_methods if compared_method.name == name
        ).points
        cell = plan.validation["jump", name, points[-1], 0]
        states = walked_to(made, cell)
        assert len(states) == 2, name
        (warm, _), (cold, _) = (
            train_trial(made, one, states) for one in (cell, replace(cell, previous=None))
        )
        assert warm.outcome.certificate.primal == pytest.approx(cold.outcome.certificate.primal, rel=2e-6)


def test_hoap_starts_from_the_weights_of_hob(made):
    for C in (1.0, 10.0):
        cell = PLAN.validation["jump", "HOAP-SVM", (("C", C), ("eta", 1.0)), 0]
        states, heard = walked_to(made, cell), list[ProgressEvent]()
        train_trial(made, cell, states, heard.append)
        samples = made.training_set("jump", 0, True)
        method = make_method("HOAP-SVM", **cell.settings)
        ranking = by_query(lambda scores, relevant: ranking_cut(scores, relevant, "ap"), samples)
        neighbours = method.neighbours(samples)
        surrogate = Surrogate(method.risk_of(samples, ranking, neighbours), neighbours, ranking)
        weights = surrogate.best_length(states[cell.beginning.key].weights)[0]
        first = next(event for event in heard if event.round)
        assert first.primal == pytest.approx(surrogate.touching(weights).point.objective), C


def test_hoap_from_ap_starts_from_ap_of_its_own_C_not_from_the_previous_trial(made):
    plan = planned(IMAGES, methods=(("HOAP-SVM", {"start": "AP-SVM"}),))
    cell = plan.validation["jump", "HOAP-SVM", (("C", 10.0), ("eta", 1.0)), 0]
    states, firsts = walked_to(made, cell), list[float]()
    for one in (cell, replace(cell, previous=None)):
        heard: list[ProgressEvent] = []
        train_trial(made, one, states, heard.append)
        firsts.append(next(event.primal for event in heard if event.round == 1))
    assert firsts[0] == pytest.approx(firsts[1], rel=1e-12)


def test_hoap_continues_from_a_trial_without_planes(made):
    """Where no plane carries weight, as at weights 0, there is none to go on from."""
    cell = PLAN.validation["jump", "HOAP-SVM", (("C", 10.0), ("eta", 1.0)), 0]
    states = walked_to(made, cell)
    solution = states[cell.previous.key]
    none = WorkingSet(*(array[:0] for array in vars(solution.working_set).values()))
    states[cell.previous.key] = replace(solution, working_set=none)
    trained, _ = train_trial(made, cell, states)
    assert trained.outcome.certificate.converged


PATH = max(paths_of(PLAN.validation.values()), key=len)


def of(trials: Any) -> list[tuple[str, float]]:
    return [(trial.method, trial.settings["C"]) for trial in trials]


def test_long_paths_of_each_query_are_trained_first():
    plan = planned(IMAGES, queries=("run", "jump"))
    lengths = {query: [] for query in plan.queries}
    for path in paths_of(plan.validation.values()):
        lengths[path[0].query].append(len(path))
    assert lengths == dict.fromkeys(("run", "jump"), 6 * [4] + 6 * [2])
    assert list(lengths) == [*dict.fromkeys(path[0].query for path in paths_of(plan.validation.values()))]


def test_an_interrupted_unit_resumes_from_stored_trials_to_the_same_bits(made):
    keys = [trial.key for trial in PATH]
    whole = train_path(made, remaining_path(PATH, keys))
    assert [one.trial for one in whole] == list(PATH)
    for missing in (keys[2:], keys[3:]):
        again = train_path(made, remaining_path(PATH, missing))
        for one, expected in zip(again, whole, strict=True):
            assert one.scores.tobytes() == expected.scores.tobytes()
            assert one.outcome.measures == expected.outcome.measures


def test_only_missing_trials_and_their_warm_starts_are_trained():
    keys = {(trial.method, trial.settings["C"]): trial.key for trial in PATH}
    hob, hoap, hob_10, hoap_10 = keys
    for missing, trained in (
        ([hob], [hob]),
        ([hob_10], [hob, hob_10]),
        # all that it begins from
        ([hoap_10], [hob, hoap, hob_10, hoap_10]),
    ):
        assert of(remaining_path(PATH, [keys[one] for one in missing])) == trained


@pytest.mark.parametrize("method", ["SVM", "AP-SVM", "HOB-SVM", "HOAP-SVM"])
def test_a_test_is_recorded_with_the_scores_of_its_iterations_and_a_fold_is_not(made, method):
    graph = method.startswith("HO")
    trial = Trial("jump", method, {"C": 10.0}, None, "samples")
    events = list[ProgressEvent]()
    [trained] = train_path(made, (trial,), events.append)
    recording, held = trained.recording, made.held_out("jump", None, graph)
    assert 2 <= len(recording) <= RECORDED
    assert recording.iterations[-1] == trained.outcome.certificate.iterations
    assert np.array_equal(recording.scores[-1], trained.scores.astype(np.float32))
    reported = {event.iteration: event for event in events if event.weights is not None}
    for i in range(len(recording) - 1):
        event = reported[recording.iterations[i]]
        assert recording.primal[i] == event.primal
        scores = scores_of(made, method, event.weights, held)
        np.testing.assert_allclose(recording.scores[i], scores, rtol=1e-4, atol=1e-5, err_msg=str(i))
    assert train_path(made, (replace(trial, fold=0),))[0].recording is None


def scores_of(made: TrialData, name: str, weights: np.ndarray, held: Query) -> np.ndarray:
    """The scores of a method that had ended with these weights."""
    method = make_method(name, C=10.0)
    method.fit_samples(made.training_set("jump", None, name.startswith("HO")), None, Start(weights))
    method.solution = replace(method.solution, weights=weights)
    return method.score(held)
