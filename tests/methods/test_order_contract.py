"""One contract for every method that puts sequences in order: fit, scores, progress, files, errors."""

from __future__ import annotations

import dataclasses
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from order_problems import sequences

from ranking import ProgressEvent, Query, SequenceSet, StopTraining, make_method, method_class, method_names
from ranking.metrics import pair_accuracy
from ranking.settings import settings_dict, settings_of

NAMES = method_names(ranks="orders")
EVERY = pytest.mark.parametrize("name", NAMES)
QUICK = {"rounds": 30, "steps": 20_000}


def made(name: str, **settings: Any) -> Any:
    """A method that trains in a moment."""
    known = {item.name for item in settings_of(method_class(name))}
    return make_method(name, **{key: value for key, value in QUICK.items() if key in known}, **settings)


def split(seed: int = 0, noise: float = 0.0, levels: int = 5) -> tuple[SequenceSet, list[Query]]:
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


def scores_of(method: Any, given: SequenceSet) -> np.ndarray:
    return np.concatenate([method.score(given.query(number)) for number in range(min(10, len(given)))])


@EVERY
def test_an_easy_order_is_learnt(name: str) -> None:
    learn, queries = split()
    method = made(name)
    assert method.fit(learn) is method
    assert accuracy(method, queries) > 0.85


@EVERY
def test_a_noisy_order_is_learnt_better_than_by_chance(name: str) -> None:
    learn, queries = split(1, noise=1.0)
    assert accuracy(made(name).fit(learn), queries) > 0.6


@EVERY
def test_the_same_run_twice_is_the_same_and_leaves_the_sequences_alone(name: str) -> None:
    given = sequences(2, dtype=np.float32)
    features, members = given.features.copy(), given.members.copy()
    first, second = made(name).fit(given), made(name).fit(given)
    np.testing.assert_array_equal(scores_of(first, given), scores_of(second, given))
    np.testing.assert_array_equal(given.features, features)
    np.testing.assert_array_equal(given.members, members)
    first.fit(sequences(3))
    np.testing.assert_array_equal(scores_of(first, given), scores_of(made(name).fit(sequences(3)), given))


@EVERY
def test_queries_and_sequences_are_learnt_alike(name: str) -> None:
    alone = sequences(4, pool=120, count=1, length=120)
    members, starts = alone.members, np.arange(0, 121, 6)
    given = SequenceSet(alone.features[members], alone.grades[members], np.arange(120), starts)
    queries = [given.query(number) for number in range(len(given))]
    np.testing.assert_array_equal(
        scores_of(made(name).fit(queries), given), scores_of(made(name).fit(given), given)
    )


@EVERY
def test_samples_of_the_pool_that_no_sequence_holds_teach_nothing(name: str) -> None:
    given = sequences(5)
    more = SequenceSet(
        np.concatenate([given.features, 100.0 * given.features]),
        np.concatenate([given.grades, given.grades[::-1]]),
        given.members,
        given.starts,
    )
    expected = scores_of(made(name).fit(given), given)
    np.testing.assert_allclose(scores_of(made(name).fit(more), given), expected, rtol=1e-6, atol=1e-8)


@EVERY
@pytest.mark.parametrize("levels", [2, 5])
def test_equal_grades_lone_samples_and_sequences_without_order_are_no_hindrance(
    name: str, levels: int
) -> None:
    learn, queries = split(6, levels=levels)
    same = np.flatnonzero(learn.grades == learn.grades[0])[:4]
    members = np.concatenate([learn.members, same, [7]])
    given = SequenceSet(
        learn.features, learn.grades, members, np.append(learn.starts, [len(members) - 1, len(members)])
    )
    assert accuracy(made(name).fit(given), queries) > 0.85


@EVERY
def test_scores_are_finite_for_a_sample_alone_and_for_equal_ones(name: str) -> None:
    given = sequences(7, dtype=np.float32)
    method = made(name).fit(given)
    alone = method.score(Query(given.features[:1]))
    assert (alone.shape, alone.dtype) == ((1,), np.float64)
    assert np.isfinite(alone).all()
    equal = method.score(Query(given.features[[3, 3, 3]]))
    assert np.isfinite(equal).all()
    assert method.score(Query(given.features[:0])).shape == (0,)


@EVERY
def test_grades_are_looked_at_in_training_alone(name: str) -> None:
    given = sequences(8)
    method, query = made(name).fit(given), given.query(0)
    blind = Query(query.features, np.zeros(len(query), int))
    np.testing.assert_array_equal(method.score(blind), method.score(query))


@EVERY
def test_a_callback_hears_of_progress(name: str) -> None:
    events: list[ProgressEvent] = []
    method = made(name).fit(sequences(9), on_progress=events.append)
    assert len(events) > 1
    assert all(after.iteration > before.iteration for before, after in itertools.pairwise(events))
    assert all(after.seconds >= before.seconds for before, after in itertools.pairwise(events))
    assert all(np.isfinite(event.primal) and event.dual <= event.primal for event in events)
    assert min(event.primal for event in events[1:]) < events[0].primal
    if method.certificate is not None:
        assert method.certificate.converged
        assert method.certificate.gap == pytest.approx(method.certificate.primal - method.certificate.dual)
        assert -1e-12 <= method.certificate.relative_gap <= method.tolerance
        ends = {event.round: event.primal for event in events}  # of lengths from 1, where there are such
        total = sum(primal for number, primal in ends.items() if number or len(ends) == 1)
        assert method.certificate.primal == pytest.approx(total, rel=1e-3)


@EVERY
def test_a_callback_can_stop_and_what_was_learnt_stays(name: str) -> None:
    events: list[ProgressEvent] = []

    def stop(event: ProgressEvent) -> None:
        events.append(event)
        if len(events) == 2:
            raise StopTraining

    given = sequences(10)
    method = made(name).fit(given, on_progress=stop)
    assert len(events) == 2
    assert np.ptp(method.score(given.query(0))) > 0
    if method.certificate is not None:
        assert method.certificate.converged == (method.certificate.relative_gap <= method.tolerance)


@EVERY
def test_files_hold_all_of_it(name: str, tmp_path: Path) -> None:
    given, path = sequences(11), tmp_path / "model.npz"
    method = made(name).fit(given)
    method.save(path)
    again = method_class(name).load(path)
    assert settings_dict(again) == settings_dict(method)
    assert again.certificate == method.certificate
    assert again.columns == method.columns
    np.testing.assert_array_equal(scores_of(again, given), scores_of(method, given))


@EVERY
def test_files_that_are_none_say_so(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    made(name).fit(sequences(12)).save(path)
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    header = json.loads(str(arrays["header"]))
    changes: list[dict[str, Any]] = [{"header": np.array(json.dumps({**header, "settings": {"no": 1}}))}]
    changes += [{"header": np.array(json.dumps({k: header[k] for k in header if k != "columns"}))}]
    names = [key for key in arrays if key != "header"]
    for change in changes:
        np.savez(path, **{**arrays, **change})
        with pytest.raises(ValueError, match=r"model\.npz is not a saved method"):
            method_class(name).load(path)
    for missing in names:
        np.savez(path, **{key: value for key, value in arrays.items() if key != missing})
        with pytest.raises(ValueError, match=r"model\.npz is not a saved method"):
            method_class(name).load(path)


@EVERY
def test_what_cannot_be_trained_or_scored(name: str) -> None:
    given = sequences(13)
    flat = SequenceSet(given.features, np.ones(len(given.features), int), given.members, given.starts)
    with pytest.raises(ValueError, match="no sequence holds two samples of different grades"):
        made(name).fit(flat)
    with pytest.raises(ValueError, match="no sequence holds two samples of different grades"):
        made(name).fit(SequenceSet(given.features, given.grades, given.members[:3], np.arange(4)))
    with pytest.raises(ValueError, match="at least one query"):
        made(name).fit([])
    with pytest.raises(ValueError, match="relevance"):
        made(name).fit([Query(given.features)])
    with pytest.raises(ValueError, match="is not trained; call fit first"):
        made(name).score(given.query(0))
    with pytest.raises(ValueError, match="is not trained; call fit first"):
        made(name).save("nowhere.npz")
    method = made(name).fit(given)
    with pytest.raises(ValueError, match="was trained on 5 features, the query has 4"):
        method.score(Query(given.features[:, :4]))
    with pytest.raises(ValueError, match="cannot start from another run"):
        made(name).fit(given, warm_start=method)


@EVERY
def test_settings_and_the_grid_of_the_one_that_is_chosen(name: str) -> None:
    kind = method_class(name)
    fields = {field.name for field in dataclasses.fields(kind) if field.init}
    settings = {item.name: item for item in settings_of(kind)}
    assert fields == set(settings)
    assert len(kind.grid.values) > 2
    assert list(kind.grid.values) == sorted(kind.grid.values)
    for value in kind.grid.values:
        settings[kind.grid.setting].check(name, value)
    assert settings[kind.grid.setting].default in kind.grid.values
    assert kind.summary
    assert kind.objective
