"""One contract for every registered method: fit, score, rank, certificate, files, errors."""

from __future__ import annotations

import dataclasses
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from problems import KINDS, TWO_ROWS, Problem, flat, kinds_of, name_of

from ranking import ProgressEvent, Query, StopTraining, make_method, method_class, method_names, rank
from ranking.settings import settings_dict, settings_of

CASES = [(name, make) for name in method_names(ranks="samples") for make in kinds_of(name)]
EVERY = pytest.mark.parametrize(
    ("name", "problem"), CASES, ids=[name_of(name, {}, make) for name, make in CASES]
)


def same_solution(one: Any, other: Any, query: Query) -> None:
    np.testing.assert_array_equal(flat(one.weights), flat(other.weights))
    np.testing.assert_array_equal(one.score(query), other.score(query))
    assert one.certificate == other.certificate
    assert settings_dict(one) == settings_dict(other)


@EVERY
def test_fit_score_and_rank(name: str, problem: Problem) -> None:
    query = problem(0)
    method = make_method(name)
    assert method.certificate is None
    assert method.fit([query]) is method
    scores = method.score(query)
    assert (scores.shape, scores.dtype) == ((40,), np.float64)
    assert sorted(rank(scores).tolist()) == list(range(40))
    assert (np.diff(scores[rank(scores)]) <= 0).all()
    unary = getattr(method.weights, "unary", method.weights)
    assert unary.shape == ((2, 6) if name in TWO_ROWS else (6,))
    assert flat(method.weights).size == unary.size + (7 if problem is KINDS["similar"] else 0)
    certificate = method.certificate
    assert certificate.converged
    assert certificate.gap == certificate.primal - certificate.dual
    assert 0 <= certificate.relative_gap <= method.tolerance
    assert certificate.iterations >= 1
    assert certificate.seconds > 0


@EVERY
def test_training_orders_what_can_be_ordered(name: str, problem: Problem) -> None:
    query = problem(1)
    scores = make_method(name, C=1e4).fit([query]).score(query)
    assert scores[query.relevance > 0].mean() > scores[query.relevance == 0].mean()


@EVERY
def test_scores_are_of_any_samples_relevance_unasked(name: str, problem: Problem) -> None:
    method = make_method(name).fit([problem(0)])
    unseen = np.random.default_rng(1).normal(size=(5, 6))
    assert method.score(Query(features=unseen)).shape == (5,)
    assert method.score(Query(features=unseen[:0])).shape == (0,)
    single = method.score(Query(features=unseen.astype(np.float32)))
    np.testing.assert_allclose(single, method.score(Query(features=unseen)), rtol=1e-4, atol=1e-6)


@EVERY
def test_the_same_run_twice_is_the_same(name: str, problem: Problem) -> None:
    runs = [make_method(name, C=10.0, max_iterations=40).fit([problem(2)]) for _ in range(2)]
    np.testing.assert_array_equal(flat(runs[0].weights), flat(runs[1].weights))
    assert runs[0].certificate.iterations == runs[1].certificate.iterations


@EVERY
def test_fitting_again_forgets_the_first_samples(name: str, problem: Problem) -> None:
    used = make_method(name).fit([problem(3)]).fit([problem(4)])
    fresh = make_method(name).fit([problem(4)])
    np.testing.assert_array_equal(flat(used.weights), flat(fresh.weights))


@EVERY
def test_training_leaves_the_query_alone(name: str, problem: Problem) -> None:
    query = problem(5)
    features, relevance = query.features.copy(), query.relevance.copy()
    make_method(name).fit([query])
    np.testing.assert_array_equal(query.features, features)
    np.testing.assert_array_equal(query.relevance, relevance)


# ---------------------------------------------------------------------------------------------------------
# Ending early
# ---------------------------------------------------------------------------------------------------------


@EVERY
def test_iterations_that_run_out_are_not_convergence(name: str, problem: Problem) -> None:
    method = make_method(name, C=100.0, max_iterations=2, tolerance=1e-6).fit([problem(6)])
    assert not method.certificate.converged
    assert method.certificate.iterations == 2
    assert method.certificate.relative_gap > 1e-6
    assert flat(method.weights).any()


@EVERY
@pytest.mark.parametrize("iteration", [0, 2])
def test_a_callback_can_stop_training(name: str, problem: Problem, iteration: int) -> None:
    events: list[ProgressEvent] = []

    def stop(event: ProgressEvent) -> None:
        events.append(event)
        if event.iteration == iteration:
            raise StopTraining

    method = make_method(name, C=100.0, tolerance=1e-6).fit([problem(7)], on_progress=stop)
    assert list(dict.fromkeys(event.iteration for event in events)) == list(range(iteration + 1))
    assert sum(event.iteration == iteration for event in events) == 1
    assert not method.certificate.converged
    assert method.certificate.primal <= events[-1].primal * (1 + 1e-6)
    if getattr(type(method), "convex", True):
        assert method.certificate.primal == pytest.approx(events[-1].primal)
    assert method.score(problem(7)).shape == (40,)


@EVERY
def test_time_in_callbacks_is_not_training_time(
    name: str, problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("ranking.optimise.clock.time.perf_counter", lambda: now[0])
    calls: list[float] = []

    def slow(event: ProgressEvent) -> None:
        calls.append(event.seconds)
        now[0] += 100

    method = make_method(name).fit([problem(8)], slow)
    assert calls
    assert method.certificate.seconds == max(calls) == 0


# ---------------------------------------------------------------------------------------------------------
# Errors
# ---------------------------------------------------------------------------------------------------------


@EVERY
def test_unknown_settings_list_the_valid(name: str, problem: Problem) -> None:
    valid = ", ".join(item.name for item in settings_of(method_class(name)))
    with pytest.raises(ValueError, match=f"{name}.*({valid}.*'c'|'c'.*{valid})"):
        make_method(name, c=1.0)


@EVERY
def test_bad_values_say_what_is_allowed(name: str, problem: Problem) -> None:
    for setting in settings_of(method_class(name)):
        bad = "nonsense" if setting.choices or setting.maximum is None else 2 * setting.maximum
        with pytest.raises(ValueError, match=f"{setting.name} of {name}|{name}: {setting.name}"):
            make_method(name, **{setting.name: bad})
    with pytest.raises(ValueError, match=f"(C of {name}|{name}: C).*'1'"):
        make_method(name, C="1")


def test_an_unknown_method_lists_the_known() -> None:
    with pytest.raises(ValueError, match=r"SVM, AP-SVM, NDCG-SVM.*'AP SVM'|'AP SVM'.*SVM, AP-SVM, NDCG-SVM"):
        make_method("AP SVM")


@EVERY
def test_queries_that_cannot_be_trained_on(name: str, problem: Problem) -> None:
    features = np.eye(3)
    good = Query(features=features, relevance=[1, 0, 0])
    for queries, message in [
        ([], "fit needs at least one query, got an empty list"),
        ([good, Query(features=features)], "query 1 has no relevance; training needs Query"),
        (
            [Query(features=features, relevance=[0, 0, 0])],
            "query 0 has no relevant sample; training needs both",
        ),
        ([good, Query(features=features, relevance=[1, 2, 1])], "query 1 has no irrelevant sample"),
        ([Query(features=features[:0], relevance=[])], "query 0 has no relevant sample"),
        (
            [good, Query(features=np.eye(3)[:, :2], relevance=[1, 0, 0])],
            "query 1 has 2 features, the first has 3",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            make_method(name).fit(queries)


@EVERY
def test_what_is_not_trained_says_so(name: str, problem: Problem, tmp_path: Path) -> None:
    method, query = make_method(name), problem(0)
    for use in (
        lambda: method.score(query),
        lambda: method.weights,
        lambda: method.save(tmp_path / "model.npz"),
    ):
        with pytest.raises(ValueError, match=f"{name} is not trained; call fit first"):
            use()
    assert not (tmp_path / "model.npz").exists()


@EVERY
def test_scores_of_other_features_are_refused(name: str, problem: Problem) -> None:
    with pytest.raises(ValueError, match=f"{name} was trained on 6 features, the query has 4"):
        make_method(name).fit([problem(0)]).score(Query(features=np.eye(4)))


# ---------------------------------------------------------------------------------------------------------
# Files
# ---------------------------------------------------------------------------------------------------------


@EVERY
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_file_brings_everything_back(name: str, problem: Problem, dtype: Any, tmp_path: Path) -> None:
    query = problem(9, dtype=dtype)
    method = make_method(name, C=3.0, tolerance=1e-4).fit([query])
    method.save(tmp_path / "model")
    loaded = method_class(name).load(tmp_path / "model")
    assert type(loaded) is method_class(name)
    same_solution(loaded, method, query)
    continued = [make_method(name, C=30.0).fit([query], warm_start=start) for start in (method, loaded)]
    np.testing.assert_array_equal(flat(continued[0].weights), flat(continued[1].weights))


@EVERY
def test_stopped_training_can_be_saved(name: str, problem: Problem, tmp_path: Path) -> None:
    method = make_method(name, C=100.0, tolerance=1e-6, max_iterations=1).fit([problem(10)])
    method.save(tmp_path / "model.npz")
    loaded = method_class(name).load(tmp_path / "model.npz")
    same_solution(loaded, method, problem(10))
    assert not loaded.certificate.converged


class Code:
    """What a pickle may do."""

    def __reduce__(self) -> tuple:
        return exec, ("raise SystemExit('a saved file ran code')",)


def broken_files(good: bytes) -> dict[str, bytes]:
    middle = len(good) // 2
    return {
        "empty": b"",
        "text": b"these are not weights\n" * 20,
        "pickle": pickle.dumps({"weights": [1.0]}),
        "code in a pickle": pickle.dumps(Code()),
        "cut off": good[:middle],
        "cut off at the end": good[:-10],
        "bits flipped": good[:200] + bytes(255 - byte for byte in good[200:260]) + good[260:],
        "start of a zip": good[:4],
    }


@EVERY
@pytest.mark.parametrize("kind", broken_files(b""))
def test_broken_files_are_refused(name: str, problem: Problem, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    make_method(name).fit([problem(0)]).save(path)
    path.write_bytes(broken_files(path.read_bytes())[kind])
    with pytest.raises(ValueError, match=r"model.npz is not a saved method \(.*\); train and save it again"):
        method_class(name).load(path)


@EVERY
def test_files_of_other_content_are_refused(name: str, problem: Problem, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    method = make_method(name).fit([problem(0)])
    method.save(path)
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(str(arrays["header"]))
    strange = {
        "an array": lambda: np.save(path.open("wb"), np.eye(2)),
        "no header": lambda: np.savez(path, direction=np.ones(3)),
        "header no object": lambda: np.savez(path, **{**arrays, "header": np.array("[1, 2]")}),
        "header no JSON": lambda: np.savez(path, **{**arrays, "header": np.array("{")}),
        "no weights": lambda: np.savez(path, **{k: v for k, v in arrays.items() if k != "direction"}),
        "objects": lambda: np.savez(path, **{**arrays, "direction": np.array([{}], dtype=object)}),
        "no certificate": lambda: np.savez(path, **{**arrays, "header": edited(header, certificate={})}),
    }
    for write in strange.values():
        write()
        with pytest.raises(
            ValueError, match=r"model.npz is not a saved method \(.*\); train and save it again"
        ):
            method_class(name).load(path)
    np.savez(path, **{**arrays, "header": edited(header, settings={"C": -1.0})})
    with pytest.raises(ValueError, match=f"C of {name}|{name}: C"):
        method_class(name).load(path)


def edited(header: dict[str, Any], **changes: Any) -> np.ndarray:
    return np.array(json.dumps({**header, **changes}))


@EVERY
def test_files_of_other_methods_and_versions_are_refused(name: str, problem: Problem, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    make_method(name).fit([problem(0)]).save(path)
    for other in set(method_names(ranks="samples")) - {name}:
        with pytest.raises(
            ValueError, match=rf"holds {name} \(file version 1\), expected {other} \(version 1\)"
        ):
            method_class(other).load(path)
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **{**arrays, "header": edited(json.loads(str(arrays["header"])), version=99)})
    with pytest.raises(ValueError, match=rf"holds {name} \(file version 99\), expected {name} \(version 1\)"):
        method_class(name).load(path)


@EVERY
def test_a_file_that_is_not_there_is_named(name: str, problem: Problem, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        method_class(name).load(tmp_path / "nowhere")


@EVERY
def test_settings_are_the_fields_that_a_caller_may_set(name: str, problem: Problem) -> None:
    fields = {field.name for field in dataclasses.fields(method_class(name)) if field.init}
    assert (
        fields
        == {item.name for item in settings_of(method_class(name))}
        >= {"C", "tolerance", "max_iterations"}
    )


def test_rank_puts_high_scores_first_and_keeps_the_order_of_equal_ones() -> None:
    assert rank([1.0, 2.0, 1.0, np.inf, -np.inf]).tolist() == [3, 1, 0, 2, 4]
    for bad in ([[1.0]], [np.nan, 1.0]):
        with pytest.raises(ValueError, match=r"scores.*\(n,\)"):
            rank(bad)
