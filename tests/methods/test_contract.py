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
from contract_cases import BAGS, CASES, LABELS, ORDERS, SAMPLES
from label_problems import images
from order_problems import sequences
from problems import Heard
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
from ranking.core import LARGEST
from ranking.core.settings import settings_dict, settings_of
from ranking.methods import score_direction
from ranking.methods.label_features import MAPS
from ranking.metrics import pair_accuracy

EVERY = pytest.mark.parametrize("case", CASES, ids=str)
WITH_ITERATIONS = pytest.mark.parametrize(
    ("case", "settings"),
    [
        *((case, {}) for case in [*SAMPLES, *LABELS, *BAGS]),
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


def test_every_method_ranks_samples_labels_orders_or_bags() -> None:
    names = [
        name for ranks in ("samples", "labels", "sequences", "windows") for name in method_names(ranks=ranks)
    ]
    assert sorted(names) == sorted(method_names())
    with refused("ranks", "'images'"):
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
    certificate, objective = method.certificate, case.objective(method, data)
    if certificate is None:
        assert case in ORDERS
        assert objective is None
        return
    assert certificate.converged
    assert certificate.gap == pytest.approx(certificate.primal - certificate.dual)
    assert -1e-12 <= certificate.relative_gap <= method.tolerance
    assert certificate.iterations >= 1
    assert certificate.seconds > 0
    assert objective is None or certificate.primal == pytest.approx(objective, rel=1e-9)


@pytest.mark.parametrize("case", SAMPLES, ids=str)
def test_weights_and_direction_of_samples(case: Any) -> None:
    method, [query] = trained(case), case.problem()
    unary = method.unary_weights
    assert unary.shape in ((2, 6), (6,))
    assert case.weights(method).size == unary.size + (7 if case.graph else 0)
    assert method.score(query).shape == (40,)
    alone = method.score(Query(query.features))
    assert query.features @ score_direction(method) == pytest.approx(alone, abs=1e-9)
    [query] = case.problem(1)
    scores = case.make(C=1e4).fit([query]).score(query)
    assert scores[query.relevance > 0].mean() > scores[query.relevance == 0].mean()


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


def scaled(case: Any, data: Any, factor: float) -> Any:
    """The same problem with features that many times as large."""
    if isinstance(data, list):
        return [scaled(case, query, factor) for query in data]
    return dataclasses.replace(data, **{case.features: getattr(data, case.features) * factor})


@EVERY
def test_features_as_large_as_they_may_be_are_learned_from_and_larger_ones_refused(case: Any) -> None:
    data = case.problem()
    factor = 0.99 * LARGEST / np.abs(case.arrays(data)[0]).max()
    has = {item.name for item in settings_of(method_class(case.name))}
    few = {"max_iterations": 5, "subsequences": 100, "longest": 4}
    method = case.make(**{name: value for name, value in few.items() if name in has})
    large = scaled(case, data, factor)
    method.fit(large)
    assert np.isfinite(case.scores(method, large)).all()
    if method.certificate is not None:
        assert np.isfinite([method.certificate.primal, method.certificate.dual]).all()
    with refused(case.features):
        scaled(case, data, 1.1 * factor)


@EVERY
def test_equal_runs_are_equal_and_leave_their_data_alone(case: Any) -> None:
    data, before = case.problem(2, np.float32), case.problem(2, np.float32)
    used, fresh = case.make().fit(case.problem(3)), case.make()
    # fitting again forgets the first data
    for method in (used, fresh):
        method.fit(data)
    np.testing.assert_array_equal(case.weights(used), case.weights(fresh))
    np.testing.assert_array_equal(case.scores(used, data), case.scores(fresh, data))
    for array, unchanged in zip(case.arrays(data), case.arrays(before), strict=True):
        np.testing.assert_array_equal(array, unchanged)


def test_what_has_no_rows_of_weights_has_no_direction() -> None:
    def direction_of(weights: np.ndarray | None) -> Any:
        return SimpleNamespace(unary_weights=weights)

    assert score_direction(direction_of(None)) is None
    with refused("weights of a linear method", (3, 4)):
        score_direction(direction_of(np.zeros((3, 4))))


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
        events = Heard(lambda heard: heard[-1].iteration == last)  # noqa: B023
        method = case.make(C=100.0, tolerance=1e-6, **settings).fit(case.problem(7), on_progress=events)
        assert list(dict.fromkeys(event.iteration for event in events)) == list(range(last + 1))
        assert sum(event.iteration == last for event in events) == 1
        assert all(event.dual <= event.primal for event in events if event.round or case.convex)
        assert (np.diff([event.primal for event in events]) <= 0).all()
        assert not method.certificate.converged
        assert method.certificate.primal <= events[-1].primal * (1 + 1e-6)
        if case.convex and not settings:
            assert method.certificate.primal == pytest.approx(events[-1].primal)
        assert np.isfinite(case.scores(method, case.problem(7))).all()


@pytest.mark.parametrize("case", ORDERS, ids=str)
def test_methods_of_orders_report_progress_and_can_be_stopped(case: Any) -> None:
    data, events = case.problem(9), Heard()
    method = case.make().fit(data, on_progress=events)
    for before, after in itertools.pairwise(events):
        assert after.iteration > before.iteration
        assert after.seconds >= before.seconds
    assert all(np.isfinite(event.primal) and event.dual <= event.primal for event in events)
    assert min(event.primal for event in events[1:]) < events[0].primal
    if method.certificate is not None:
        # of lengths from 1, where there are such
        ends = {event.round: event.primal for event in events}
        total = sum(primal for number, primal in ends.items() if number or len(ends) == 1)
        assert method.certificate.primal == pytest.approx(total, rel=1e-3)
    two = Heard(lambda heard: len(heard) == 2)
    stopped = case.make().fit(data, on_progress=two)
    assert len(two) == 2
    assert np.ptp(stopped.score(data.query(0))) > 0
    certificate = stopped.certificate
    assert certificate is None or certificate.converged == (certificate.relative_gap <= stopped.tolerance)


@pytest.mark.parametrize("case", [*SAMPLES, *LABELS, *BAGS], ids=str)
def test_time_in_callbacks_is_not_training_time(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    now, calls = [0.0], list[float]()
    monkeypatch.setattr("ranking.solvers.clock.time.perf_counter", lambda: now[0])

    def slow(event: ProgressEvent) -> None:
        calls.append(event.seconds)
        now[0] += 100
        if len(calls) == 3:
            raise StopTraining

    method = case.make(tolerance=1e-7).fit(case.problem(8), slow)
    assert len(calls) == 3
    assert method.certificate.seconds == max(calls) == 0


# ---------------------------------------------------------------------------------------------------------
# Settings
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [case for case in CASES if not getattr(case, "graph", False)], ids=str)
def test_settings_are_the_fields_that_a_caller_may_set_and_are_checked(case: Any) -> None:
    kind = method_class(case.name)
    settings = {item.name: item for item in settings_of(kind)}
    assert {field.name for field in dataclasses.fields(kind) if field.init} == set(settings) >= case.needs
    for name, item in settings.items():
        for bad in ("nonsense", *([] if item.maximum is None else [2 * item.maximum])):
            with refused(f"{name} of {case.name}", repr(bad) if bad == "nonsense" else bad):
                make_method(case.name, **{name: bad})
    if case in ORDERS:
        grid = kind.grid
        assert len(grid.values) > 2
        assert list(grid.values) == sorted(grid.values)
        assert settings[grid.setting].default in grid.values
        for value in grid.values:
            settings[grid.setting].check(case.name, value)


# ---------------------------------------------------------------------------------------------------------
# What is refused
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [("SVR", "epsilon", -0.1), ("AP-SVM", "tolerance", 0.6), ("MidRank", "shortest", 11)],
)
def test_settings_that_make_no_sense(name: str, setting: str, value: float) -> None:
    with refused(f"{setting} of {name}", value):
        make_method(name, **{setting: value})


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
    starts = [trained(alike) for alike in CASES if type(alike) is type(case) and alike.name != case.name]
    wrong: list[Any] = [*starts, case.make(), "model.npz", *case.refused_starts()]
    for start in wrong:
        with refused("warm_start"):
            case.make().fit(case.problem(), warm_start=start)


@pytest.mark.parametrize("case", LABELS, ids=str)
def test_answers_that_a_label_ranker_refuses(case: Any) -> None:
    label_set = case.problem()
    with refused(f"{case.name}: k", 6):
        case.make(k=6).fit(label_set)
    with refused("labels of the images"):
        trained(case).scores(dataclasses.replace(label_set, names=tuple("abcde")))
    with refused("answers", (5,)) as caught:
        trained(case).prediction(label_set, answers=np.zeros(5))
    assert "(14, 5)" in caught.value.expected


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
        np.testing.assert_array_equal(case.weights(loaded), case.weights(method))
        np.testing.assert_array_equal(case.scores(loaded, data), case.scores(method, data))
        assert loaded.certificate == method.certificate
        assert settings_dict(loaded) == settings_dict(method)
        for kept in ("columns", "names", "usual_k", "fingerprint", "bias", "outcome"):
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
    yield whole({**header, "settings": {"tolerance": -1.0, "rounds": -1}}, arrays)
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
    changes = {
        f"{case.name} (file version 99)": {"version": 99},
        "SVM 2 (file version 1)": {"method": "SVM 2"},
    }
    for came, change in changes.items():
        np.savez(path, **whole({**header, **change}, arrays))
        with refused(str(path), came) as caught:
            load(path)
        assert case.name in caught.value.expected
    for number, content in enumerate(strange_files(case, header, arrays)):
        np.savez(path, **content)
        with refused(str(path)):
            pytest.fail(f"the strange file {number} was read: {load(path)}")


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
def test_answers_are_forced_and_k_rises_by_their_number(case: Any) -> None:
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
    label_set, events = images(7, count=60), Heard()
    first = case.make(C=10.0, tolerance=1e-4).fit(label_set)
    dataclasses.replace(first).fit(label_set, on_progress=events, warm_start=first)
    assert events[0].primal == pytest.approx(first.certificate.primal)
    warm, cold = (
        case.make(C=20.0, tolerance=1e-4).fit(label_set, warm_start=start) for start in (first, None)
    )
    assert warm.certificate.converged
    assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=2e-4)


# ---------------------------------------------------------------------------------------------------------
# Orders of sequences
# ---------------------------------------------------------------------------------------------------------


def accuracy(case: Any, learn: SequenceSet, test: SequenceSet) -> float:
    """Mean share of pairs in the right order, once trained."""
    method, queries = case.make().fit(learn), [test.query(number) for number in range(len(test))]
    return float(np.mean([pair_accuracy(query.relevance, method.score(query)) for query in queries]))


@pytest.mark.parametrize("case", ORDERS, ids=str)
def test_an_order_is_learned_also_where_some_sequences_have_none(case: Any) -> None:
    for levels, noise, least in ((5, 1.0, 0.6), (2, 0.0, 0.85), (5, 0.0, 0.85)):
        made = sequences(6, pool=1000, columns=4, count=150, length=7, levels=levels, noise=noise)
        learn, test = made.part(range(100)), made.part(range(100, 150))
        # equal grades, and one sample alone
        same = np.flatnonzero(learn.grades == learn.grades[0])[:4]
        members = np.concatenate([learn.members, same, [7]])
        starts = np.append(learn.starts, [len(members) - 1, len(members)])
        with_unordered = SequenceSet(learn.features, learn.grades, members, starts)
        assert accuracy(case, with_unordered, test) > least, (levels, noise)


@pytest.mark.parametrize("case", ORDERS, ids=str)
def test_queries_are_learned_as_their_sequences_whatever_else_the_pool_holds(case: Any) -> None:
    alone = sequences(4, pool=120, count=1, length=120)
    members, starts = alone.members, np.arange(0, 121, 6)
    reordered = SequenceSet(alone.features[members], alone.grades[members], np.arange(120), starts)
    more = SequenceSet(
        np.concatenate([reordered.features, 100.0 * reordered.features]),
        np.concatenate([reordered.grades, reordered.grades[::-1]]),
        reordered.members,
        reordered.starts,
    )
    queries = [reordered.query(number) for number in range(len(reordered))]
    expected = case.scores(case.make().fit(reordered), reordered)
    np.testing.assert_array_equal(case.scores(case.make().fit(queries), reordered), expected)
    np.testing.assert_allclose(case.scores(case.make().fit(more), reordered), expected, rtol=1e-6, atol=1e-8)


def test_rank_puts_high_scores_first_and_keeps_the_order_of_equal_ones() -> None:
    assert rank([1.0, 2.0, 1.0, np.inf, -np.inf]).tolist() == [3, 1, 0, 2, 4]
    for bad in ([[1.0]], [np.nan, 1.0]):
        with refused("scores"):
            rank(bad)
