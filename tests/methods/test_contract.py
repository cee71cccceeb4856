"""One contract for every registered method: fit, scores, certificate, progress, settings, errors, files."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from contract_cases import CASES, LABELS, ORDERS, SAMPLES
from label_problems import images
from order_problems import sequences
from problems import TWO_ROWS
from refusals import refused

from ranking import (
    ProgressEvent,
    Query,
    SequenceSet,
    StopTraining,
    make_method,
    method_class,
    method_names,
    rank,
)
from ranking.methods import score_direction
from ranking.methods.label_features import MAPS
from ranking.metrics import pair_accuracy
from ranking.settings import settings_dict, settings_of

EVERY = pytest.mark.parametrize("case", CASES, ids=str)
WITH_ITERATIONS = pytest.mark.parametrize(
    ("case", "settings"),
    [
        *((case, {}) for case in [*SAMPLES, *LABELS]),
        *((case, settings) for case in LABELS for settings in ({"k": 2}, {"solver": "subgradient"})),
    ],
    ids=str,
)


@functools.cache
def trained(case: Any) -> Any:
    """The method of a case after training on its first problem; no test changes it."""
    return case.make().fit(case.problem())


def saved(method: Any, path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of the file of a method, which is at `path` then."""
    method.save(path)
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    return json.loads(str(arrays.pop("header"))), arrays


def whole(header: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    """What a file holds."""
    return {"header": np.array(json.dumps(header)), **arrays}


def without(kept: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in kept.items() if name != key}


def same_solution(case: Any, left: Any, right: Any, data: Any) -> None:
    assert type(left) is type(right)
    np.testing.assert_array_equal(case.weights(left), case.weights(right))
    np.testing.assert_array_equal(case.scores(left, data), case.scores(right, data))
    assert left.certificate == right.certificate
    assert settings_dict(left) == settings_dict(right)


def test_every_method_ranks_samples_labels_or_orders() -> None:
    kinds = {"samples": SAMPLES, "labels": LABELS, "orders": ORDERS}
    for ranks, cases in kinds.items():
        assert method_names(ranks=ranks) == list(dict.fromkeys(case.name for case in cases))
    assert method_names(ranks="labels") == ["Independent p@k", "C-star p@k"]
    names = [name for ranks in kinds for name in method_names(ranks=ranks)]
    assert sorted(names) == sorted(method_names())
    with pytest.raises(ValueError, match="'images'"):
        method_names(ranks="images")


# ---------------------------------------------------------------------------------------------------------
# Training and scores
# ---------------------------------------------------------------------------------------------------------


@EVERY
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fit_scores_and_the_certificate(case: Any, dtype: Any) -> None:
    data = case.problem(0, dtype)
    method = case.make()
    assert method.certificate is None
    assert method.fit(data) is method
    scores = case.scores(method, data)
    assert scores.dtype == np.float64
    assert np.isfinite(scores).all()
    certificate = method.certificate
    if certificate is None:
        assert case in ORDERS
        assert case.objective(method, data) is None
        return
    assert certificate.converged
    assert certificate.gap == pytest.approx(certificate.primal - certificate.dual)
    assert -1e-12 <= certificate.relative_gap <= method.tolerance
    assert certificate.iterations >= 1
    assert certificate.seconds > 0
    objective = case.objective(method, data)
    assert objective is None or certificate.primal == pytest.approx(objective, rel=1e-9)


@pytest.mark.parametrize("case", SAMPLES, ids=str)
def test_weights_and_ranking_of_samples(case: Any) -> None:
    method, [query] = trained(case), case.problem()
    scores = method.score(query)
    assert scores.shape == (40,)
    assert sorted(rank(scores).tolist()) == list(range(40))
    assert (np.diff(scores[rank(scores)]) <= 0).all()
    unary = getattr(method.weights, "unary", method.weights)
    assert unary.shape == ((2, 6) if case.name in TWO_ROWS else (6,))
    assert case.weights(method).size == unary.size + (7 if case.graph else 0)
    direction = score_direction(method)
    assert direction is not None
    assert query.features @ direction == pytest.approx(method.score(Query(query.features)), abs=1e-9)
    exact = case.make(C=1e4).fit(case.problem(1))
    scores, relevant = exact.score(case.problem(1)[0]), case.problem(1)[0].relevance > 0
    assert scores[relevant].mean() > scores[~relevant].mean()


@EVERY
def test_scores_are_of_features_alone(case: Any) -> None:
    method, data = trained(case), case.problem()
    np.testing.assert_array_equal(case.scores(method, case.blind(data)), case.scores(method, data))
    features = case.arrays(data)[0]
    unseen = np.random.default_rng(1).normal(size=(6, features.shape[1]))
    unseen[3:] = unseen[3]
    expected = case.scores_of_features(method, unseen)
    assert np.isfinite(expected).all()
    for count in (0, 1, 6):
        scores = case.scores_of_features(method, unseen[:count])
        assert (scores.shape, scores.dtype) == ((count, *expected.shape[1:]), np.float64)
    single = case.scores_of_features(method, unseen.astype(np.float32))
    np.testing.assert_allclose(single, expected, rtol=1e-4, atol=1e-5)


@EVERY
def test_equal_runs_are_equal_and_leave_their_data_alone(case: Any) -> None:
    data, before = case.problem(2, np.float32), case.problem(2, np.float32)
    first, second = case.make().fit(data), case.make().fit(data)
    np.testing.assert_array_equal(case.weights(first), case.weights(second))
    np.testing.assert_array_equal(case.scores(first, data), case.scores(second, data))
    for array, unchanged in zip(case.arrays(data), case.arrays(before), strict=True):
        np.testing.assert_array_equal(array, unchanged)
    # Fitting again forgets the first data.
    again, fresh = first.fit(case.problem(3)), case.make().fit(case.problem(3))
    np.testing.assert_array_equal(case.weights(again), case.weights(fresh))


def test_directions_are_of_one_row_or_of_the_difference_of_two() -> None:
    rows = np.array([[1.0, 2.0], [0.5, -1.0]])
    assert score_direction(SimpleNamespace(weights=rows)).tolist() == [0.5, 3.0]
    both = SimpleNamespace(weights=SimpleNamespace(unary=rows, pairwise=np.zeros(3)))
    assert score_direction(both).tolist() == [0.5, 3.0]
    assert score_direction(object()) is None
    with refused("weights of a linear method", (3, 4)):
        score_direction(SimpleNamespace(weights=np.zeros((3, 4))))


# ---------------------------------------------------------------------------------------------------------
# Progress and ending early
# ---------------------------------------------------------------------------------------------------------


@WITH_ITERATIONS
def test_iterations_that_run_out_are_not_convergence(case: Any, settings: dict[str, Any]) -> None:
    method = case.make(C=100.0, max_iterations=2, tolerance=1e-6, **settings).fit(case.problem(6))
    assert not method.certificate.converged
    assert method.certificate.iterations == 2
    assert method.certificate.relative_gap > 1e-6
    # The first steps of the subgradient method may be worse than none.
    assert case.weights(method).any() or settings.get("solver") == "subgradient"


@WITH_ITERATIONS
def test_a_callback_can_stop_training(case: Any, settings: dict[str, Any]) -> None:
    for last in (0, 2):
        events: list[ProgressEvent] = []

        def stop(event: ProgressEvent, last: int = last, events: list[ProgressEvent] = events) -> None:
            events.append(event)
            if event.iteration == last:
                raise StopTraining

        method = case.make(C=100.0, tolerance=1e-6, **settings).fit(case.problem(7), on_progress=stop)
        assert list(dict.fromkeys(event.iteration for event in events)) == list(range(last + 1))
        assert sum(event.iteration == last for event in events) == 1
        assert all(event.dual <= event.primal for event in events if event.round or case.convex)
        assert all(after.primal <= before.primal for before, after in itertools.pairwise(events))
        assert not method.certificate.converged
        assert method.certificate.primal <= events[-1].primal * (1 + 1e-6)
        if case.convex and not settings:
            assert method.certificate.primal == pytest.approx(events[-1].primal)
        assert np.isfinite(case.scores(method, case.problem(7))).all()


@pytest.mark.parametrize("case", ORDERS, ids=str)
def test_methods_of_orders_report_progress_and_can_be_stopped(case: Any) -> None:
    given, events = case.problem(9), list[ProgressEvent]()
    method = case.make().fit(given, on_progress=events.append)
    assert len(events) > 1
    for before, after in itertools.pairwise(events):
        assert after.iteration > before.iteration
        assert after.seconds >= before.seconds
    assert all(np.isfinite(event.primal) and event.dual <= event.primal for event in events)
    assert min(event.primal for event in events[1:]) < events[0].primal
    if method.certificate is not None:
        ends = {event.round: event.primal for event in events}  # of lengths from 1, where there are such
        total = sum(primal for number, primal in ends.items() if number or len(ends) == 1)
        assert method.certificate.primal == pytest.approx(total, rel=1e-3)
    heard: list[ProgressEvent] = []

    def stop(event: ProgressEvent) -> None:
        heard.append(event)
        if len(heard) == 2:
            raise StopTraining

    stopped = case.make().fit(given, on_progress=stop)
    assert len(heard) == 2
    assert np.ptp(stopped.score(given.query(0))) > 0
    certificate = stopped.certificate
    assert certificate is None or certificate.converged == (certificate.relative_gap <= stopped.tolerance)


@pytest.mark.parametrize("case", [*SAMPLES, *LABELS], ids=str)
def test_time_in_callbacks_is_not_training_time(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    now, calls = [0.0], list[float]()
    monkeypatch.setattr("ranking.optimise.clock.time.perf_counter", lambda: now[0])

    def slow(event: ProgressEvent) -> None:
        calls.append(event.seconds)
        now[0] += 100

    method = case.make().fit(case.problem(8), slow)
    assert calls
    assert method.certificate.seconds == max(calls) == 0


# ---------------------------------------------------------------------------------------------------------
# Settings
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [case for case in CASES if not getattr(case, "graph", False)], ids=str)
def test_settings_are_the_fields_that_a_caller_may_set_and_are_checked(case: Any) -> None:
    kind = method_class(case.name)
    settings = {item.name: item for item in settings_of(kind)}
    assert {field.name for field in dataclasses.fields(kind) if field.init} == set(settings) >= case.needs
    with pytest.raises(ValueError, match=", ".join(settings)):
        make_method(case.name, no_setting=1.0)
    for name, item in settings.items():
        for bad in ("nonsense", *([] if item.maximum is None else [2 * item.maximum])):
            with pytest.raises(ValueError, match=name):
                make_method(case.name, **{name: bad})
    if case in ORDERS:
        grid = kind.grid
        assert len(grid.values) > 2
        assert list(grid.values) == sorted(grid.values)
        for value in grid.values:
            settings[grid.setting].check(case.name, value)
        assert settings[grid.setting].default in grid.values
        assert kind.summary
        assert kind.objective


def test_an_unknown_method_lists_the_known() -> None:
    with pytest.raises(ValueError, match=", ".join(method_names())):
        make_method("AP SVM")


# ---------------------------------------------------------------------------------------------------------
# What is refused
# ---------------------------------------------------------------------------------------------------------


@EVERY
def test_data_that_cannot_be_trained_on_or_scored(case: Any, tmp_path: Path) -> None:
    for data, subject in case.refused():
        with refused(subject):
            case.make().fit(data)
    for use in (
        lambda method: case.scores(method, case.problem()),
        lambda method: method.save(tmp_path / "model.npz"),
    ):
        with refused(case.name):
            use(case.make())
    assert not (tmp_path / "model.npz").exists()
    features = case.arrays(case.problem())[0]
    with refused(case.wrong_features, features.shape[1] - 1) as caught:
        case.scores_of_features(trained(case), features[:, :-1])
    assert str(features.shape[1]) in caught.value.expected


@EVERY
def test_what_is_no_warm_start_is_refused(case: Any) -> None:
    others = [trained(other) for other in CASES if type(other) is type(case) and other.name != case.name]
    wrong: list[Any] = [*others, case.make(), "model.npz", *case.refused_starts()]
    for start in wrong:
        with refused("warm_start"):
            case.make().fit(case.problem(), warm_start=start)


@pytest.mark.parametrize("case", LABELS, ids=str)
def test_what_cannot_be_asked_of_a_label_ranker(case: Any) -> None:
    label_set = case.problem()
    with refused(f"{case.name}: k", 6):
        case.make(k=6).fit(label_set)
    with refused("labels of the images"):
        trained(case).scores(dataclasses.replace(label_set, names=tuple("abcde")))
    with refused("answers", (5,)) as caught:
        trained(case).prediction(label_set, answers=np.zeros(5))
    assert "(14, 5)" in caught.value.expected


@pytest.mark.parametrize("case", ORDERS, ids=str)
def test_queries_without_an_order_are_refused(case: Any) -> None:
    for queries in ([], [Query(np.eye(3))]):
        with pytest.raises(ValueError, match=r"query|relevance"):
            case.make().fit(queries)


# ---------------------------------------------------------------------------------------------------------
# Files
# ---------------------------------------------------------------------------------------------------------


@EVERY
def test_a_file_brings_everything_back(case: Any, tmp_path: Path) -> None:
    variants: list[dict[str, Any]] = [{}]
    if case in LABELS:
        variants = [{"C": 3.0, "unary": unary} for unary in MAPS]
    if case in SAMPLES:
        variants = [{"C": 3.0, "tolerance": 1e-4}, {"C": 100.0, "tolerance": 1e-6, "max_iterations": 1}]
    for settings, dtype in itertools.product(variants, (np.float32, np.float64)):
        data = case.problem(9, dtype)
        method = case.make(**settings).fit(data)
        method.save(tmp_path / "model")
        loaded = method_class(case.name).load(tmp_path / "model")
        same_solution(case, loaded, method, data)
        for kept in ("columns", "names", "usual_k", "fingerprint"):
            assert getattr(loaded, kept, None) == getattr(method, kept, None)
        if case.starts and dtype == np.float32:
            later = [dataclasses.replace(method).fit(data, warm_start=start) for start in (method, loaded)]
            np.testing.assert_array_equal(case.weights(later[0]), case.weights(later[1]))


class Code:
    """What a pickle may do."""

    def __reduce__(self) -> tuple:
        return exec, ("raise SystemExit('a saved file ran code')",)


def broken_files(good: bytes) -> list[bytes]:
    return [
        b"",
        b"these are not weights\n" * 20,
        pickle.dumps({"weights": [1.0]}),
        pickle.dumps(Code()),
        good[: len(good) // 2],
        good[:-10],
        good[:200] + bytes(255 - byte for byte in good[200:260]) + good[260:],
        good[:4],
    ]


def strange_files(case: Any, header: dict[str, Any], arrays: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Arrays and header of files that hold something else than a method's."""
    yield arrays
    yield {"header": np.array("[1, 2]"), **arrays}
    yield {"header": np.array("{"), **arrays}
    largest = max(arrays, key=lambda name: arrays[name].size)
    yield whole(header, {**arrays, largest: np.array([{}], dtype=object)})
    yield whole({**header, "certificate": {}}, arrays)
    yield whole({**header, "settings": {"no": 1}}, arrays)
    for key in {*arrays, *header} - case.optional:
        yield whole(without(header, key), without(arrays, key))
    for header_changes, array_changes in case.torn(arrays):
        yield whole({**header, **header_changes}, {**arrays, **array_changes})


@EVERY
def test_files_that_are_broken_or_of_other_content_are_refused(case: Any, tmp_path: Path) -> None:
    path, load = tmp_path / "model.npz", method_class(case.name).load
    header, arrays = saved(trained(case), path)
    for content in broken_files(path.read_bytes()):
        path.write_bytes(content)
        with refused(str(path)):
            load(path)
    np.save(path.open("wb"), np.eye(2))
    with refused(str(path)):
        load(path)
    for number, content in enumerate(strange_files(case, header, arrays)):
        np.savez(path, **content)
        with refused(str(path)):
            pytest.fail(f"the strange file {number} was read: {load(path)}")
    if "C" in header["settings"]:
        np.savez(path, **whole({**header, "settings": {"C": -1.0}}, arrays))
        with pytest.raises(ValueError, match="C"):
            load(path)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load(tmp_path / "nowhere")


@EVERY
def test_files_of_other_methods_and_versions_are_refused(case: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    header, arrays = saved(trained(case), path)
    for name in {*method_names()} - {case.name}:
        with refused(str(path), f"{case.name} (file version 1)") as caught:
            method_class(name).load(path)
        assert name in caught.value.expected
    np.savez(path, **whole({**header, "version": 99}, arrays))
    with refused(str(path), f"{case.name} (file version 99)"):
        method_class(case.name).load(path)


# ---------------------------------------------------------------------------------------------------------
# Rankings of labels
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", LABELS, ids=str)
@pytest.mark.parametrize("unary", MAPS)
def test_the_best_labels_have_the_highest_scores(case: Any, unary: str) -> None:
    label_set = case.problem(0, np.float32)
    method = case.make(unary=unary).fit(label_set)
    assert method.certificate.converged
    prediction, scores = method.prediction(label_set), method.scores(label_set)
    assert scores.shape == (14, 5)
    np.testing.assert_array_equal(scores, prediction.scores)
    assert prediction.k.tolist() == [round(label_set.labels.sum(axis=1).mean())] * 14
    members = prediction.best.members
    assert (members.sum(axis=1) == prediction.k).all()
    assert (scores[members] >= 0).all()
    assert (scores[~members] <= 0).all()


@pytest.mark.parametrize("case", LABELS, ids=str)
def test_answers_are_forced_and_k_makes_room_for_them(case: Any) -> None:
    label_set = case.problem()
    answers = np.zeros((14, 5), int)
    answers[0], answers[1], answers[2, :2] = 1, -1, (1, -1)
    prediction = trained(case).prediction(label_set, 2, answers)
    assert prediction.k.tolist() == [5, 0] + [2] * 12
    members = prediction.best.members
    assert members[0].all()
    assert not members[1].any()
    assert members[2, :2].tolist() == [True, False]
    assert prediction.scores[2, :2].tolist() == [np.inf, -np.inf]
    each = trained(case).prediction(label_set, np.arange(14) % 6)
    assert each.best.members.sum(axis=1).tolist() == (np.arange(14) % 6).tolist()


@pytest.mark.parametrize("case", LABELS, ids=str)
def test_a_warm_start_of_a_label_ranker_begins_where_the_other_run_ended(case: Any) -> None:
    label_set = images(7, count=60)
    first = case.make(C=10.0, tolerance=1e-4).fit(label_set)
    events: list[ProgressEvent] = []
    case.make(C=10.0, tolerance=1e-4).fit(label_set, on_progress=events.append, warm_start=first)
    assert events[0].primal == pytest.approx(first.certificate.primal)
    larger = case.make(C=20.0, tolerance=1e-4).fit(label_set, warm_start=first)
    cold = case.make(C=20.0, tolerance=1e-4).fit(label_set)
    assert larger.certificate.converged
    assert larger.certificate.primal == pytest.approx(cold.certificate.primal, rel=2e-4)


# ---------------------------------------------------------------------------------------------------------
# Orders of sequences
# ---------------------------------------------------------------------------------------------------------


def split(seed: int, noise: float = 0.0, levels: int = 5) -> tuple[SequenceSet, list[Query]]:
    """Sequences to learn from, and queries over other samples of the same kind."""
    whole = sequences(seed, pool=300, columns=4, count=1, noise=noise, levels=levels)
    rng = np.random.default_rng([seed, 2])
    train = np.concatenate([rng.permutation(200)[:7] for _ in range(120)])
    tests = [200 + rng.permutation(100)[:10] for _ in range(30)]
    learn = SequenceSet(whole.features, whole.grades, train, np.arange(0, len(train) + 1, 7))
    return learn, [Query(whole.features[rows], whole.grades[rows]) for rows in tests]


def accuracy(method: Any, queries: list[Query]) -> float:
    """Mean share of pairs in the right order."""
    return float(np.mean([pair_accuracy(query.relevance, method.score(query)) for query in queries]))


@pytest.mark.parametrize("case", ORDERS, ids=str)
def test_an_order_is_learned_also_where_some_sequences_have_none(case: Any) -> None:
    learn, queries = split(1, noise=1.0)
    assert accuracy(case.make().fit(learn), queries) > 0.6
    for levels in (2, 5):
        learn, queries = split(6, levels=levels)
        same = np.flatnonzero(learn.grades == learn.grades[0])[:4]  # equal grades, and one sample alone
        members = np.concatenate([learn.members, same, [7]])
        starts = np.append(learn.starts, [len(members) - 1, len(members)])
        given = SequenceSet(learn.features, learn.grades, members, starts)
        assert accuracy(case.make().fit(given), queries) > 0.85, levels


@pytest.mark.parametrize("case", ORDERS, ids=str)
def test_queries_and_sequences_are_learned_alike(case: Any) -> None:
    alone = sequences(4, pool=120, count=1, length=120)
    members, starts = alone.members, np.arange(0, 121, 6)
    given = SequenceSet(alone.features[members], alone.grades[members], np.arange(120), starts)
    queries = [given.query(number) for number in range(len(given))]
    expected = case.scores(case.make().fit(given), given)
    np.testing.assert_array_equal(case.scores(case.make().fit(queries), given), expected)


@pytest.mark.parametrize("case", ORDERS, ids=str)
def test_samples_of_the_pool_that_no_sequence_holds_teach_nothing(case: Any) -> None:
    given = sequences(5)
    more = SequenceSet(
        np.concatenate([given.features, 100.0 * given.features]),
        np.concatenate([given.grades, given.grades[::-1]]),
        given.members,
        given.starts,
    )
    expected = case.scores(case.make().fit(given), given)
    np.testing.assert_allclose(case.scores(case.make().fit(more), given), expected, rtol=1e-6, atol=1e-8)


def test_rank_puts_high_scores_first_and_keeps_the_order_of_equal_ones() -> None:
    assert rank([1.0, 2.0, 1.0, np.inf, -np.inf]).tolist() == [3, 1, 0, 2, 4]
    for bad in ([[1.0]], [np.nan, 1.0]):
        with pytest.raises(ValueError, match="scores"):
            rank(bad)
