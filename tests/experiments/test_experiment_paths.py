from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
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


def nothing(*_: object) -> None:
    pass


def test_paths_hold_every_cell_once_and_each_after_what_it_begins_from() -> None:
    plan = planned(IMAGES)
    paths = paths_of(plan.validation.values())
    keys = [cell.key for path in paths for cell in path]
    assert len(keys) == len(set(keys)) == len(plan.validation) == 3 * (2 + 2 + 4 + 4)
    assert sorted(map(len, paths)) == sorted(3 * [2, 2, 4, 4])  # HOB-SVM and HOAP-SVM share one for each eta
    for path in paths:
        for place, cell in enumerate(path):
            assert {cause.key for cause in cell.causes} <= {before.key for before in path[:place]}
    both = max(paths, key=len)
    assert [(cell.method, cell.settings["C"]) for cell in both] == [
        ("HOB-SVM", 1.0), ("HOAP-SVM", 1.0), ("HOB-SVM", 10.0), ("HOAP-SVM", 10.0)
    ]  # fmt: skip
    assert both[3].causes == (both[1], both[3].beginning)
    assert both[3].beginning is not None
    assert both[3].beginning.key == both[2].key


def test_hoap_alone_brings_its_hob_along() -> None:
    alone = planned(IMAGES, methods=(("HOAP-SVM", {}),))
    both = planned(IMAGES)
    cells = {cell.key for path in paths_of(alone.validation.values()) for cell in path}
    assert len(cells) == 2 * len(alone.validation)
    assert cells < {cell.key for cell in both.validation.values()}, "the same cells as with HOB-SVM beside it"


def test_hoap_whose_first_C_is_fixed_begins_with_one_hob_for_all_its_own() -> None:
    plan = planned(IMAGES, methods=(("HOAP-SVM", {"start_C": 0.01}),))
    for path in paths_of(plan.validation.values()):
        assert [(cell.method, cell.settings["C"]) for cell in path] == [
            ("HOB-SVM", 0.01), ("HOAP-SVM", 1.0), ("HOAP-SVM", 10.0)
        ]  # fmt: skip
        assert path[1].causes == (path[0],)
        assert path[2].causes == (path[1], path[0])


def test_a_key_changes_with_all_that_decides_the_numbers_and_with_nothing_else() -> None:
    place = ("jump", "AP-SVM", (("C", 10.0),), 1)
    ours = planned(IMAGES).validation[place]
    assert planned(IMAGES, queries=("run", "jump"), measure="NDCG").validation[place].key == ours.key
    assert planned(IMAGES, graph="none").validation[place].key == ours.key, "AP-SVM uses no graph"
    others = [
        planned(IMAGES, seed=1).validation[place],
        planned(IMAGES, folds=4).validation[place],
        planned(IMAGES, tolerance=1e-4).validation[place],
        planned(IMAGES, grids={"C": (2.0, 10.0)}).validation[place],  # it begins from another one
        planned(images(seed=1)).validation[place],
        planned(IMAGES).validation["jump", "AP-SVM", (("C", 1.0),), 1],
        planned(IMAGES).validation["jump", "SVM", (("C", 10.0),), 1],
        replace(ours, query="run"),
    ]
    assert len({cell.key for cell in others} | {ours.key}) == len(others) + 1
    leaning = ("jump", "HOB-SVM", (("C", 10.0), ("eta", 1.0)), 1)
    assert planned(IMAGES).validation[leaning].key != planned(IMAGES, graph="none").validation[leaning].key


def test_a_cell_is_a_training_on_its_side_measured_on_the_other() -> None:
    plan = planned(IMAGES)
    made = material(plan, IMAGES)
    cell = plan.validation["jump", "HOB-SVM", (("C", 1.0), ("eta", 1.0)), 2]
    trained = train_cell(Bench(made), cell, {})
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


def test_warm_starts_end_where_cold_ones_do() -> None:
    plan = planned(IMAGES, tolerance=1e-6)
    bench = Bench(material(plan, IMAGES))
    for name in ("SVM", "AP-SVM", "HOB-SVM"):
        points = next(one for one in plan.contenders if one.name == name).points
        cell = plan.validation["jump", name, points[-1], 0]
        states: dict[str, bytes] = {}
        chain = [cell]
        while chain[-1].previous is not None:
            chain.append(chain[-1].previous)
        for one in reversed(chain):
            trained = train_cell(bench, one, states)
            states[one.key] = trained.state
        cold = train_cell(bench, replace(cell, previous=None), {})
        assert trained.outcome.certificate.primal == pytest.approx(cold.outcome.certificate.primal, rel=2e-6)


@pytest.mark.parametrize("C", [1.0, 10.0])
def test_hoap_begins_where_hob_ended(C: float) -> None:
    plan = planned(IMAGES)
    bench = Bench(material(plan, IMAGES))
    cell = plan.validation["jump", "HOAP-SVM", (("C", C), ("eta", 1.0)), 0]
    assert cell.beginning is not None
    states: dict[str, bytes] = {}
    for one in paths_of([cell])[0][:-1]:
        states[one.key] = train_cell(bench, one, states).state
    heard: list[ProgressEvent] = []
    train_cell(bench, cell, states, heard.append)
    samples = bench.training_set("jump", 0, True)
    method = make_method("HOAP-SVM", **cell.settings)
    ranking = by_query(lambda scores, relevant: ranking_cut(scores, relevant, "ap"), samples)
    neighbours = method.neighbours(samples)
    surrogate = Surrogate(method.risk_of(samples, ranking, neighbours), neighbours, ranking)
    weights = surrogate.best_length(unpacked(states[cell.beginning.key]).weights)
    assert heard[0].primal == pytest.approx(surrogate.touching(weights).point.objective)


def test_hoap_goes_on_from_a_cell_without_planes() -> None:
    """Where no plane carries weight, as at weights 0, there is none to go on from."""
    plan = planned(IMAGES)
    bench = Bench(material(plan, IMAGES))
    cell = plan.validation["jump", "HOAP-SVM", (("C", 10.0), ("eta", 1.0)), 0]
    states = {
        cause.key: train_cell(bench, replace(cause, previous=None, beginning=None), {}).state
        for cause in cell.causes
    }
    assert cell.previous is not None
    solution = unpacked(states[cell.previous.key])
    assert solution.working_set is not None
    none = WorkingSet(*(array[:0] for array in vars(solution.working_set).values()))
    states[cell.previous.key] = packed(replace(solution, working_set=none))
    assert train_cell(bench, cell, states).outcome.certificate.converged


def test_a_state_is_the_solution_to_the_last_bit() -> None:
    query = Query(np.random.default_rng(0).standard_normal((20, 4)), np.arange(20) % 3 == 0)
    solution = make_method("AP-SVM").fit([query]).solution
    again = unpacked(packed(solution))
    assert (again.weights == solution.weights).all()
    assert (again.dual.coefficients == solution.dual.coefficients).all()
    assert again.dual.loss == solution.dual.loss
    assert again.working_set is not None
    for name, array in vars(solution.working_set).items():
        assert (getattr(again.working_set, name) == array).all()


def the_path(plan: object) -> tuple[Cell, ...]:
    return max(paths_of(plan.validation.values()), key=len)


def walked(folder: Path, missing: set[str] | None = None, stop_after: int | None = None) -> CellStore:
    """The store of `folder` after a walk of the path of both methods with neighbours, ended by its so-manieth cell."""
    plan = planned(IMAGES)
    path, store, told = the_path(plan), CellStore(folder), []

    def on_cell(cell: Cell, _: object) -> None:
        told.append(cell.key)
        if len(told) == stop_after:
            raise StopTraining

    keys = {cell.key for cell in path} - store.outcomes().keys() if missing is None else missing
    try:
        walk(Bench(material(plan, IMAGES)), path, keys, store, on_cell)
    except StopTraining:
        assert len(told) == stop_after
    return store


def contents(store: CellStore) -> dict[str, tuple[object, ...]]:
    found = store.outcomes()
    return {
        key: (one.measures, one.certificate.primal, store.scores(key).tobytes()) for key, one in found.items()
    }


@pytest.mark.parametrize("stop_after", [1, 2, 3])
def test_a_path_that_was_ended_goes_on_to_the_same_bits(tmp_path: Path, stop_after: int) -> None:
    whole = walked(tmp_path / "whole")
    ended = walked(tmp_path / "ended", stop_after=stop_after)
    assert len(ended.outcomes()) == stop_after
    before = contents(ended)
    again = walked(tmp_path / "ended")
    assert contents(again) == contents(whole)
    assert before.items() <= contents(again).items()
    assert states(tmp_path / "ended") == states(tmp_path / "whole")


def states(folder: Path) -> tuple[set[str], set[str]]:
    """The keys of the states of a store: of where its paths ended, and of where they have gone on from."""
    last, passed = folder / "states", folder / "states" / "passed"
    return tuple({file.name for file in one.iterdir() if file.is_file()} for one in (last, passed))  # type: ignore


def test_a_path_leaves_the_states_of_all_its_cells_its_ends_apart(tmp_path: Path) -> None:
    walked(tmp_path)
    first, second, third, fourth = the_path(planned(IMAGES))
    last, passed = states(tmp_path)
    assert last == {fourth.key}
    assert passed == {first.key, second.key, third.key}
    plan = planned(IMAGES, folds=2)
    results = run_experiment(plan, lambda: material(plan, IMAGES), CellStore(tmp_path / "all"))
    tests = {cell.key: cell.method for cell in plan.tests(results).values()}
    last, passed = states(tmp_path / "all")
    assert {tests[key] for key in (last | passed) & tests.keys()} == {"HOB-SVM"}, (
        "HOAP-SVM alone begins there"
    )


def test_a_path_whose_states_are_gone_or_torn_is_walked_again_to_the_same_bits(tmp_path: Path) -> None:
    whole = walked(tmp_path / "whole")
    ended = walked(tmp_path / "ended", stop_after=2)
    kept = [file for file in (tmp_path / "ended" / "states").rglob("*") if file.is_file()]
    assert len(kept) == 2
    for number, file in enumerate(kept):
        if number:
            file.unlink()
        else:
            file.write_bytes(file.read_bytes()[:-1])
    made = {key: one.seconds for key, one in ended.outcomes().items()}
    again = walked(tmp_path / "ended")
    assert contents(again) == contents(whole)
    assert made.items() <= {key: one.seconds for key, one in again.outcomes().items()}.items(), "rows stay"


def test_only_what_is_missing_or_needed_is_trained(tmp_path: Path) -> None:
    path = the_path(planned(IMAGES))
    hob, hoap = [cell.key for cell in path if cell.method == "HOB-SVM"], [path[1].key, path[3].key]
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


def test_a_training_that_is_stopped_leaves_no_cell(tmp_path: Path) -> None:
    plan, store = planned(IMAGES), CellStore(tmp_path)

    def stop(_: ProgressEvent) -> None:
        raise StopTraining

    path = the_path(plan)
    with pytest.raises(StopTraining):
        walk(Bench(material(plan, IMAGES)), path, {cell.key for cell in path}, store, nothing, stop)
    assert store.outcomes() == {}


def test_cells_that_are_not_there_have_no_scores_and_are_kept_once(tmp_path: Path) -> None:
    plan, store = planned(IMAGES), CellStore(tmp_path)
    cell = plan.validation["jump", "AP-SVM", (("C", 1.0),), 0]
    with pytest.raises(ValueError, match=r"there is no cell .* here; run the experiment that it is of"):
        store.scores(cell.key)
    trained = train_cell(Bench(material(plan, IMAGES)), cell, {})
    store.keep(cell, trained)
    store.keep(cell, trained._replace(scores=trained.scores + 1.0))
    assert (store.scores(cell.key) == trained.scores).all()
    assert list(store.outcomes()) == list(store.outcomes([cell.key])) == [cell.key]
    assert store.outcomes(["other"]) == {}
    outcome = store.outcomes()[cell.key]
    assert outcome.certificate == trained.outcome.certificate
    assert outcome.measures == trained.outcome.measures
