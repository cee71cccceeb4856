"""Dask clusters of several processes on this machine, some of which are killed."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np
import pytest
from distributed import Client
from sharded import check_products, check_training, local_cluster, samples
from tiny_actions import images, planned, run_tiny

from ranking import make_method
from ranking.experiments.cross_validation.cluster import on_cluster
from ranking.experiments.cross_validation.trial_store import TrialStore
from ranking.methods.shards import ShardedBlock, ShardedFeatures, fit_on_shards

PLAN = planned(images(), folds=2)


@pytest.fixture(scope="module")
def processes():
    with local_cluster(2) as running:
        yield running


def numbers(store: TrialStore) -> dict[str, Any]:
    """What decides every table, by key, to the last bit."""
    return {key: (cell.measures, store.scores(key).tobytes()) for key, cell in store.outcomes().items()}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    store = TrialStore(tmp_path_factory.mktemp("alone"))
    run_tiny(PLAN, store)
    return numbers(store)


def run_and_kill(processes: Any, store: TrialStore, after: int, workers: int) -> list[float]:
    """Run the experiment and kill some workers after so many trials; return finished trials by report."""
    done = list[float]()

    def kill(progress: Any) -> None:
        done.append(progress.done)
        if len(done) == after:
            for nanny in [*processes.workers.values()][:workers]:
                os.kill(nanny.process.pid, signal.SIGKILL)

    run_tiny(PLAN, store, kill, workers=on_cluster(processes.scheduler_address))
    return done


def test_no_unit_is_lost_when_a_worker_is_killed(processes, alone, tmp_path):
    store = TrialStore(tmp_path)
    done = run_and_kill(processes, store, after=6, workers=1)
    assert numbers(store) == alone
    assert len(done) == len(alone) + 2, "each trial was reported once, and each of two rounds when it began"


def test_an_experiment_that_loses_all_workers_resumes_from_its_finished_units(processes, alone, tmp_path):
    store = TrialStore(tmp_path)
    with pytest.raises(RuntimeError, match="lost"):
        run_and_kill(processes, store, after=4, workers=2)
    kept = numbers(store)
    assert 3 <= len(kept) < len(alone)
    processes.wait_for_workers(2)
    run_tiny(PLAN, store, workers=on_cluster(processes.scheduler_address))
    assert numbers(store) == alone
    assert kept.items() <= alone.items()


def test_processes_train_on_shards_as_this_computer_does(processes):
    check_products(processes)
    for name in ("SVM", "AP-SVM", "NDCG-SVM"):
        check_training(processes, name)


def kill_holder(processes: Any, client: Any, shard: Any) -> None:
    """Kill the one worker that has a shard."""
    ((holder,),) = client.who_has([shard]).values()
    nanny = next(nanny for nanny in processes.workers.values() if nanny.worker_address == holder)
    os.kill(nanny.process.pid, signal.SIGKILL)


def test_shards_that_a_worker_reads_are_read_again_where_it_is_lost(processes):
    features, _ = samples()
    halves = features[:100], features[100:]
    with Client(processes) as client:
        shards = [client.submit(np.array, half, key=f"half-{place}") for place, half in enumerate(halves)]
        there = ShardedBlock(ShardedFeatures(client, shards))
        weights = np.ones(17)
        before = there.exact_scores(weights)
        kill_holder(processes, client, shards[0])
        assert (there.exact_scores(weights) == before).all()


def test_losing_the_worker_that_holds_a_shard_raises_a_connection_error(processes):
    features, relevance = samples()
    with Client(processes) as client:
        sharded = ShardedFeatures.scattered(client, features)
        kill_holder(processes, client, sharded._shards[0])
        with pytest.raises(ConnectionError):
            fit_on_shards(make_method("AP-SVM"), sharded, relevance)
