"""Experiments and trainings on Dask clusters of this machine alone: workers as threads, and as processes."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parent / "experiments"))
from refusals import refused
from tiny_actions import images, material, planned

from ranking import Query, make_method
from ranking import cluster as ours
from ranking.cluster import connected, local_cluster
from ranking.experiments import on_cluster as on_cluster_module
from ranking.experiments.at_home import workers_at
from ranking.experiments.cell_store import CellStore
from ranking.experiments.material import Bench
from ranking.experiments.on_cluster import on_cluster
from ranking.experiments.running import on_this_computer, run_experiment
from ranking.methods.on_shards import fit_on_shards, score_on_shards
from ranking.optimise import Cut, LinearRisk, coordinate_descent
from ranking.optimise.block import Block
from ranking.optimise.shards import ShardedBlock, ShardedFeatures
from ranking.types import StopTraining

IMAGES = images()
PLAN = planned(IMAGES, folds=2)


@pytest.fixture(scope="module")
def threads() -> Iterator[Any]:
    with local_cluster(2, processes=False) as running:
        yield running


@pytest.fixture(scope="module")
def processes() -> Iterator[Any]:
    with local_cluster(2) as running:
        yield running


@pytest.fixture(params=["threads", "processes"])
def any_cluster(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)


def numbers(store: CellStore) -> dict[str, Any]:
    """What decides every table, by key, to the last bit."""
    return {key: (one.measures, store.scores(key).tobytes()) for key, one in store.outcomes().items()}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    store = CellStore(tmp_path_factory.mktemp("alone"))
    run_experiment(PLAN, lambda: material(PLAN, IMAGES), store)
    return numbers(store)


def run_there(store: CellStore, address: str, on_progress: Callable[[Any], None] = lambda one: None) -> None:
    run_experiment(PLAN, lambda: material(PLAN, IMAGES), store, on_progress, workers=on_cluster(address))


# ------------------------------------------------------------------------------------------ experiments


def test_a_cluster_gives_the_numbers_of_this_computer_and_features_travel_once(
    threads: Any, alone: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, pack = [], Bench.__reduce__
    monkeypatch.setattr(Bench, "__reduce__", lambda bench: sent.append(bench) or pack(bench))
    run_there(CellStore(tmp_path), threads.scheduler_address)
    assert numbers(CellStore(tmp_path)) == alone
    assert len(sent) <= 2, "once to each worker, for the folds and the test"


def test_a_killed_worker_costs_its_own_cells_alone(
    processes: Any, alone: dict[str, Any], tmp_path: Path
) -> None:
    store, told = CellStore(tmp_path), []

    def kill(progress: Any) -> None:
        told.append(progress.done)
        if len(told) == 6:
            nanny = next(iter(processes.workers.values()))
            os.kill(nanny.process.pid, signal.SIGKILL)

    run_there(store, processes.scheduler_address, kill)
    assert numbers(store) == alone
    assert len(told) == len(alone) + 2, "each cell was told once, and each of two rounds when it began"


def test_all_workers_killed_cost_no_cell_that_was_kept(
    processes: Any, alone: dict[str, Any], tmp_path: Path
) -> None:
    store, told = CellStore(tmp_path), []

    def kill(progress: Any) -> None:
        told.append(progress.done)
        if len(told) == 4:
            for nanny in processes.workers.values():
                os.kill(nanny.process.pid, signal.SIGKILL)

    run_there(store, processes.scheduler_address, kill)
    assert numbers(store) == alone
    assert len(told) == len(alone) + 2, "each cell was told once, and each of two rounds when it began"


def test_what_ends_a_run_ends_its_trainings_and_it_goes_on_elsewhere(
    threads: Any, alone: dict[str, Any], tmp_path: Path
) -> None:
    class Enough(Exception):
        pass

    store = CellStore(tmp_path)

    def check() -> None:
        if len(store.outcomes()) >= 3:
            raise Enough

    with pytest.raises(Enough):
        run_experiment(
            PLAN,
            lambda: material(PLAN, IMAGES),
            store,
            check=check,
            workers=on_cluster(threads.scheduler_address),
        )
    first = numbers(store)
    assert 3 <= len(first) < len(alone)
    run_experiment(PLAN, lambda: material(PLAN, IMAGES), store, workers=on_this_computer)
    assert numbers(store) == alone
    assert first.items() <= alone.items()


def test_a_cell_that_is_being_trained_hears_of_the_end(threads: Any) -> None:
    plan = planned(IMAGES, folds=2)
    cell = next(iter(plan.validation.values()))
    on_cluster_module._end("a run")
    with pytest.raises(StopTraining):
        on_cluster_module._train(Bench(material(plan, IMAGES)), cell, [], "a run")


def test_an_error_of_a_training_is_raised_as_it_is(
    threads: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise ArithmeticError("the lower bound lies above")

    monkeypatch.setattr(on_cluster_module, "train_cell", broken)
    with pytest.raises(ArithmeticError, match="the lower bound lies above"):
        run_there(CellStore(tmp_path), threads.scheduler_address)


def test_a_scheduler_is_named_by_the_run_or_by_the_environment(
    threads: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RANKING_SCHEDULER", raising=False)
    assert workers_at(None) is on_this_computer
    monkeypatch.setenv("RANKING_SCHEDULER", "tcp://localhost:1")
    monkeypatch.setattr(ours, "CONNECT_SECONDS", 0.2)
    with pytest.raises(ValueError, match="expected a Dask scheduler at 'tcp://localhost:1', got "):
        run_experiment(PLAN, lambda: material(PLAN, IMAGES), CellStore(tmp_path), workers=workers_at(None))
    store = CellStore(tmp_path)
    monkeypatch.setattr(ours, "CONNECT_SECONDS", 10.0)
    plan = planned(IMAGES, folds=2, methods=(("SVM", {}),))
    there = workers_at(threads.scheduler_address)
    run_experiment(plan, lambda: material(plan, IMAGES), store, workers=there)
    assert len(store.outcomes()) == 2 * 2 + 1


def test_what_is_missing_is_told_with_its_remedy(threads: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "distributed", None)
        with pytest.raises(
            ValueError, match=r"install them by `pip install 'ranking-laboratory\[cluster\]'`"
        ):
            connected("tcp://localhost:1").__enter__()
    with pytest.raises(ValueError, match="expected a Dask scheduler at 'nowhere', got "):
        connected("nowhere").__enter__()
    with pytest.raises(
        ValueError, match="expected a Dask scheduler at 'inproc://x', got an address that is none of"
    ):
        connected("inproc://x").__enter__()
    monkeypatch.setattr(ours, "CONNECT_SECONDS", 0.2)
    with (
        local_cluster(0, processes=False) as empty,
        pytest.raises(ValueError, match=r"has no workers; start some by `dask worker tcp://127\.0\.0\.1:"),
    ):
        connected(empty.scheduler_address).__enter__()
    monkeypatch.setattr(ours, "CONTENT", 2)
    monkeypatch.setattr(ours, "content_here", lambda: 1)
    with pytest.raises(ValueError, match=r"expected workers of version 2 at .*, got \[1\]; install this"):
        connected(threads.scheduler_address).__enter__()


# --------------------------------------------------------------------------------------------- shards


def samples(n: int = 301, d: int = 17) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(3)
    relevance = (generator.random(n) < 0.2).astype(int)
    features = generator.standard_normal((n, d)) + 0.5 * relevance[:, None]
    return (features / np.linalg.norm(features, axis=1, keepdims=True)).astype(np.float32), relevance


def test_products_of_shards_are_those_of_the_features(any_cluster: Any) -> None:
    features, _ = samples()
    generator = np.random.default_rng(0)
    with connected(any_cluster.scheduler_address) as client:
        sharded = ShardedFeatures.dealt(client, features)
        block, there = Block(features, 1.5), ShardedBlock(sharded, 1.5)
        assert there.shape == features.shape == (len(sharded), 17)
        weights, coefficients = generator.standard_normal(17), generator.standard_normal(301)
        several = np.stack([coefficients, -coefficients])
        np.testing.assert_allclose(there.normal(several), block.normal(several), rtol=1e-4, atol=1e-5)
        for product, values in (("scores", weights), ("normal", coefficients)):
            found, expected = getattr(there, product)(values), getattr(block, product)(values)
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
            exactly = getattr(there, f"exact_{product}")(values), getattr(block, f"exact_{product}")(values)
            np.testing.assert_allclose(*exactly, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(there.lengths(), block.lengths(), rtol=1e-12)
        holders = list(client.who_has(sharded._shards).values())
        assert [len(one) for one in holders] == [1, 1]
        assert len({one for (one,) in holders}) == 2, "each worker has its own rows, and no others"


@pytest.mark.parametrize("name", ["SVM", "AP-SVM", "NDCG-SVM"])
def test_training_on_shards_equals_training_here_within_the_gap(any_cluster: Any, name: str) -> None:
    features, relevance = samples()
    settings = {"C": 0.1 if name == "SVM" else 50.0, "tolerance": 1e-3}
    here: Any = make_method(name, **settings).fit([Query(features, relevance)])
    method: Any = make_method(name, **settings)
    with connected(any_cluster.scheduler_address) as client:
        sharded = ShardedFeatures.dealt(client, features)
        assert fit_on_shards(method, sharded, relevance) is method
        scores = score_on_shards(method, sharded)
    proven, known = method.certificate, here.certificate
    assert proven.converged
    assert known.converged
    assert proven.dual <= known.primal
    assert known.dual <= proven.primal
    assert max(proven.primal, known.primal) - max(proven.dual, known.dual) <= 1e-3 * known.primal
    np.testing.assert_allclose(scores, method.score(Query(features)), rtol=1e-12, atol=1e-14)
    # The gap bounds how far strongly convex objectives let weights lie apart: 1/2 ||w - w*||^2 <= gap.
    apart = np.linalg.norm(method.solution.weights - here.solution.weights)
    assert apart <= np.sqrt(2 * proven.gap) + np.sqrt(2 * known.gap)


def test_whole_numbers_train_on_shards_as_they_do_here(threads: Any) -> None:
    features, relevance = samples()
    counted = np.rint(8 * features).astype(np.int8)
    method: Any = make_method("AP-SVM", C=10.0, tolerance=1e-3)
    here: Any = make_method("AP-SVM", C=10.0, tolerance=1e-3).fit([Query(counted, relevance)])
    with connected(threads.scheduler_address) as client:
        fit_on_shards(method, ShardedFeatures.dealt(client, counted), relevance)
    assert method.certificate.converged
    assert method.certificate.primal == pytest.approx(here.certificate.primal, rel=2e-3)


def test_rows_of_no_feature_have_one_outcome_here_and_on_shards(threads: Any) -> None:
    method: Any = make_method("AP-SVM", C=10.0)
    here: Any = make_method("AP-SVM", C=10.0).fit([Query(np.empty((4, 0)), np.array([1, 0, 0, 1]))])
    with connected(threads.scheduler_address) as client:
        fit_on_shards(method, ShardedFeatures.dealt(client, np.empty((4, 0))), [1, 0, 0, 1])
    assert method.certificate.primal == here.certificate.primal
    assert here.certificate.converged


def test_shards_that_a_worker_reads_are_read_again_where_it_is_lost(processes: Any) -> None:
    features, _ = samples()
    halves = features[:100], features[100:]
    with connected(processes.scheduler_address) as client:
        shards = [client.submit(np.array, half, key=f"half-{place}") for place, half in enumerate(halves)]
        there = ShardedBlock(ShardedFeatures(client, shards))
        weights = np.ones(17)
        before = there.exact_scores(weights)
        ((holder,),) = (client.who_has(shards[:1])[shards[0].key],)
        nanny = next(one for one in processes.workers.values() if one.worker_address == holder)
        os.kill(nanny.process.pid, signal.SIGKILL)
        assert (there.exact_scores(weights) == before).all()


def test_rows_that_are_gone_with_their_worker_are_told_with_the_remedy(processes: Any) -> None:
    features, relevance = samples()
    with connected(processes.scheduler_address) as client:
        sharded = ShardedFeatures.dealt(client, features)
        ((holder,),) = (client.who_has(sharded._shards[:1])[sharded._shards[0].key],)
        nanny = next(one for one in processes.workers.values() if one.worker_address == holder)
        os.kill(nanny.process.pid, signal.SIGKILL)
        with pytest.raises(
            ConnectionError, match=r"rows of the features that lay nowhere else .*; deal them"
        ):
            fit_on_shards(make_method("AP-SVM"), sharded, relevance)


def test_wrong_shards_are_told_apart(threads: Any) -> None:
    with connected(threads.scheduler_address) as client:

        def sharded(*parts: np.ndarray) -> ShardedFeatures:
            return ShardedFeatures(client, [client.scatter(part, hash=False) for part in parts])

        with pytest.raises(ValueError, match="need at least one shard, got none"):
            sharded()
        with pytest.raises(ValueError, match=r"all shards need as many features, got \[2, 3\]"):
            sharded(np.zeros((4, 2)), np.zeros((4, 3)))
        with pytest.raises(ValueError, match="features must be finite; NaN or infinity in 1 rows, first 0"):
            sharded(np.full((1, 2), np.nan))
        two = sharded(np.zeros((4, 2)), np.ones((2, 2)))
        relevance = [1, 0, 0, 0, 0, 1]
        svm = make_method("SVM", solver="coordinate descent")
        with refused("solver", "coordinate descent"):
            fit_on_shards(svm, two, relevance)
        with refused("method", "HOB-SVM"):
            fit_on_shards(make_method("HOB-SVM"), two, relevance)  # type: ignore[type-var]
        with refused("relevance", "0 of 6 relevant"):
            fit_on_shards(make_method("AP-SVM"), two, [0] * 6)
        with pytest.raises(ValueError, match=r"relevance must be \(6,\)"):
            fit_on_shards(make_method("AP-SVM"), two, [0, 1])
        fitted = fit_on_shards(make_method("AP-SVM"), two, relevance)
        with refused("features of the shards", 3):
            score_on_shards(fitted, sharded(np.zeros((4, 3))))
        risk = LinearRisk(two, 1.0, lambda scores: Cut(np.zeros(6), 0.0))
        with pytest.raises(ValueError, match="reads features row by row, got sharded ones"):
            coordinate_descent(risk, np.ones(6), np.ones(6))
