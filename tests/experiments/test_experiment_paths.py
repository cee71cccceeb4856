from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from refusals import refused
from tiny_actions import images, material, planned

from ranking import Query, SimilarityGraph, make_method
from ranking.experiments.cell import Cell
from ranking.experiments.cell_store import CellStore
from ranking.experiments.cell_training import packed, train_cell, unpacked
from ranking.experiments.material import Bench
from ranking.experiments.plan import paths_of
from ranking.experiments.running import run_experiment
from ranking.experiments.state_store import StateStore
from ranking.experiments.walking import causes, to_train, walk
from ranking.methods.hoap_svm import Surrogate
from ranking.methods.oracles import by_query, ranking_cut
from ranking.metrics import evaluate
from ranking.optimise import WorkingSet
from ranking.types import ProgressEvent, StopTraining

IMAGES = images()
PLAN = planned(IMAGES)


@pytest.fixture(scope="module")
def bench():
    return Bench(material(PLAN, IMAGES))


def test_paths_hold_every_cell_once_and_each_after_what_it_begins_from():
    paths = paths_of(PLAN.validation.values())
    keys = [cell.key for path in paths for cell in path]
    assert len(keys) == len(set(keys)) == len(PLAN.validation) == 3 * (2 + 2 + 4 + 4)
    assert sorted(map(len, paths)) == sorted(3 * [2, 2, 4, 4])  # HOB-SVM and HOAP-SVM share one for each eta
    for path in paths:
        for place, cell in enumerate(path):
            assert {cause.key for cause in cell.causes} <= {before.key for before in path[:place]}
    both = max(paths, key=len)
    assert [(cell.method, cell.settings["C"]) for cell in both] == [
        ("HOB-SVM", 1.0), ("HOAP-SVM", 1.0), ("HOB-SVM", 10.0), ("HOAP-SVM", 10.0)
    ]  # fmt: skip
    assert both[3].causes == (both[1], both[3].beginning)
    assert both[3].beginning.key == both[2].key


def test_hoap_alone_brings_its_hob_along_or_one_for_all_where_its_first_C_is_fixed():
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
        planned(IMAGES, grids={"C": (2.0, 10.0)}).validation[place],  # its path begins elsewhere
        planned(images(seed=1)).validation[place],
        PLAN.validation["jump", "AP-SVM", (("C", 1.0),), 1],
        PLAN.validation["jump", "SVM", (("C", 10.0),), 1],
        replace(ours, query="run"),
    ]
    assert len({cell.key for cell in changed} | {ours.key}) == len(changed) + 1
    leaning = ("jump", "HOB-SVM", (("C", 10.0), ("eta", 1.0)), 1)
    assert PLAN.validation[leaning].key != planned(IMAGES, graph="none").validation[leaning].key


def test_a_cell_is_a_training_on_its_side_measured_on_the_held_out_one(bench):
    made = material(PLAN, IMAGES)
    trained = train_cell(bench, PLAN.validation["jump", "HOB-SVM", (("C", 1.0), ("eta", 1.0)), 2], {})
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
    bench = Bench(material(plan, images(30)))
    for name in ("SVM", "AP-SVM", "HOB-SVM"):
        points = next(contender for contender in plan.contenders if contender.name == name).points
        cell = plan.validation["jump", name, points[-1], 0]
        states: dict[str, bytes] = {}
        for step in paths_of([cell])[0]:
            warm = train_cell(bench, step, states)
            states[step.key] = warm.state
        assert len(states) == 2, name
        cold = train_cell(bench, replace(cell, previous=None), {})
        assert warm.outcome.certificate.primal == pytest.approx(cold.outcome.certificate.primal, rel=2e-6)


def test_hoap_begins_where_hob_ended(bench):
    for C in (1.0, 10.0):
        cell = PLAN.validation["jump", "HOAP-SVM", (("C", C), ("eta", 1.0)), 0]
        states: dict[str, bytes] = {}
        for step in paths_of([cell])[0][:-1]:
            states[step.key] = train_cell(bench, step, states).state
        heard: list[ProgressEvent] = []
        train_cell(bench, cell, states, heard.append)
        samples = bench.training_set("jump", 0, True)
        method = make_method("HOAP-SVM", **cell.settings)
        ranking = by_query(lambda scores, relevant: ranking_cut(scores, relevant, "ap"), samples)
        neighbours = method.neighbours(samples)
        surrogate = Surrogate(method.risk_of(samples, ranking, neighbours), neighbours, ranking)
        weights = surrogate.best_length(unpacked(states[cell.beginning.key]).weights)
        assert heard[0].primal == pytest.approx(surrogate.touching(weights).point.objective), C


def test_hoap_goes_on_from_a_cell_without_planes(bench):
    """Where no plane carries weight, as at weights 0, there is none to go on from."""
    cell = PLAN.validation["jump", "HOAP-SVM", (("C", 10.0), ("eta", 1.0)), 0]
    states = {
        cause.key: train_cell(bench, replace(cause, previous=None, beginning=None), {}).state
        for cause in cell.causes
    }
    solution = unpacked(states[cell.previous.key])
    none = WorkingSet(*(array[:0] for array in vars(solution.working_set).values()))
    states[cell.previous.key] = packed(replace(solution, working_set=none))
    assert train_cell(bench, cell, states).outcome.certificate.converged


def test_a_state_is_the_solution_to_the_last_bit():
    query = Query(np.random.default_rng(0).standard_normal((20, 4)), np.arange(20) % 3 == 0)
    solution = make_method("AP-SVM").fit([query]).solution
    again = unpacked(packed(solution))
    assert (again.weights == solution.weights).all()
    assert (again.dual.coefficients == solution.dual.coefficients).all()
    assert again.dual.loss == solution.dual.loss
    for name, array in vars(solution.working_set).items():
        assert (getattr(again.working_set, name) == array).all()


PATH = max(paths_of(PLAN.validation.values()), key=len)


def walked(bench: Bench, folder: Path, stop_after: int | None = None) -> CellStore:
    """The store of `folder` after a walk of the path of both methods with neighbours, ended after so many cells."""
    store, keys = CellStore(folder), list[str]()

    def on_cell(cell: Cell, _: object) -> None:
        keys.append(cell.key)
        if len(keys) == stop_after:
            raise StopTraining

    with nullcontext() if stop_after is None else pytest.raises(StopTraining):
        walk(bench, PATH, {cell.key for cell in PATH} - store.outcomes().keys(), store, on_cell)
    return store


@pytest.fixture(scope="module")
def whole(bench, tmp_path_factory):
    """The folder of a walk that was not ended."""
    folder = tmp_path_factory.mktemp("whole")
    walked(bench, folder)
    return folder


def contents(folder: Path) -> dict[str, tuple[object, ...]]:
    store = CellStore(folder)
    return {
        key: (outcome.measures, outcome.certificate.primal, store.scores(key).tobytes())
        for key, outcome in store.outcomes().items()
    }


def states(folder: Path) -> tuple[set[str], set[str]]:
    """The keys of the states of a store: of where its paths ended, and of where they have gone on from."""
    last, passed = folder / "states", folder / "states" / "passed"
    return tuple({file.name for file in kind.iterdir() if file.is_file()} for kind in (last, passed))  # type: ignore


def test_a_path_that_was_ended_goes_on_to_the_same_bits(bench, whole, tmp_path):
    for stop_after in (1, 2, 3):
        folder = tmp_path / str(stop_after)
        ended = walked(bench, folder, stop_after)
        assert len(ended.outcomes()) == stop_after
        seconds = {key: outcome.seconds for key, outcome in ended.outcomes().items()}
        again = walked(bench, folder).outcomes()
        assert contents(folder) == contents(whole)
        assert seconds.items() <= {key: outcome.seconds for key, outcome in again.items()}.items()
        assert states(folder) == states(whole)


def test_a_path_leaves_the_states_of_all_its_cells_its_ends_apart(whole, tmp_path):
    first, second, third, fourth = PATH
    assert states(whole) == ({fourth.key}, {first.key, second.key, third.key})
    methods = tuple((name, {}) for name in ("SVM", "HOB-SVM", "HOAP-SVM"))
    plan = planned(IMAGES, folds=2, methods=methods, grids={"C": (1.0,)})
    results = run_experiment(plan, lambda: material(plan, IMAGES), CellStore(tmp_path))
    tests = {cell.key: cell.method for cell in plan.tests(results).values()}
    last, passed = states(tmp_path)
    assert {tests[key] for key in (last | passed) & tests.keys()} == {"HOB-SVM"}, (
        "HOAP-SVM alone begins there"
    )


def test_only_what_is_missing_or_needed_is_trained(tmp_path):
    path = PATH
    hob, hoap = [path[0].key, path[2].key], [path[1].key, path[3].key]
    assert causes(path[2:]) == {hob[0], hoap[0], hob[1]}

    def turn(missing: set[str], *kept: str) -> tuple[list[Cell], set[str]]:
        states = StateStore(tmp_path / "-".join(("states", *(key[:6] for key in kept))))
        for key in kept:
            states.keep(key, key.encode())
        cells, known = to_train(path, missing, states)
        assert all(state == key.encode() for key, state in known.items())
        return cells, set(known)

    assert turn(set()) == ([], set())
    assert turn({path[0].key}) == ([path[0]], set())
    assert turn({hoap[1]}) == (list(path), set()), "without states all that it begins from is trained again"
    assert turn({hoap[1]}, hoap[0], hob[1]) == ([path[3]], {hoap[0], hob[1]})
    assert turn({hoap[1]}, hoap[0]) == ([path[0], path[2], path[3]], {hoap[0]})
    assert turn({hoap[1]}, hoap[0], hob[1], hob[0]) == ([path[3]], {hoap[0], hob[1]}), "others are not read"


def test_a_training_that_is_stopped_leaves_no_cell(bench, tmp_path):
    def stop(_: ProgressEvent) -> None:
        raise StopTraining

    store = CellStore(tmp_path)
    with pytest.raises(StopTraining):
        walk(bench, PATH, {cell.key for cell in PATH}, store, lambda *_: None, stop)
    assert store.outcomes() == {}


def test_cells_that_are_not_there_have_no_scores_and_are_kept_once(bench, tmp_path):
    store = CellStore(tmp_path)
    cell = PLAN.validation["jump", "AP-SVM", (("C", 1.0),), 0]
    with refused("trial", cell.key[:12]):
        store.scores(cell.key)
    trained = train_cell(bench, cell, {})
    store.keep(cell, trained)
    store.keep(cell, trained._replace(scores=trained.scores + 1.0))
    assert (store.scores(cell.key) == trained.scores).all()
    assert list(store.outcomes()) == list(store.outcomes([cell.key])) == [cell.key]
    assert store.outcomes(["another"]) == {}
    outcome = store.outcomes()[cell.key]
    assert outcome.certificate == trained.outcome.certificate
    assert outcome.measures == trained.outcome.measures
