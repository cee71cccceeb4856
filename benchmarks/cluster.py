"""What do Dask workers on this machine cost, compared with processes and threads of joblib, and what do shards save?

    python benchmarks/cluster.py

- An experiment (one query of the synthetic set of benchmarks/experiments.py, two folds, four methods) on two Dask
  workers, by joblib on two processes and on two threads, in turn: median seconds. Workers and processes are started and
  warm before. Trials are compared bit by bit; then one Dask worker is killed (-9) during the experiment.
- AP-SVM, NDCG-SVM and SVM, to a gap of 1%, on features that two workers generate themselves, half of the rows each: the
  memory of each worker, as a share of the features, after training and at its peak; objective and seconds compared with
  training in this process. On shards SVM is trained by cutting planes, which takes hundreds of rounds and a quarter of
  an hour at this size: --methods AP-SVM NDCG-SVM omits it.
"""

from __future__ import annotations

import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import dask
import numpy as np
from distributed import Client, LocalCluster
from experiments import SMOKE_SETTINGS, images, measures_and_scores, trial_data
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits
from timing import machine, memory_of, options_of, table

from ranking import Query, make_method
from ranking.core import ImageSet
from ranking.experiments.cross_validation.cluster import on_cluster
from ranking.experiments.cross_validation.plan import Plan, plan_of
from ranking.experiments.cross_validation.running import run_experiment
from ranking.experiments.cross_validation.trial_data import TrialData
from ranking.experiments.cross_validation.trial_path import Trained, TrialPath, train_path
from ranking.experiments.cross_validation.trial_store import TrialStore
from ranking.experiments.cross_validation.workers import (
    Check,
    Train,
    TrainingRuns,
    Workers,
    on_this_computer,
)
from ranking.methods.shards import ShardedFeatures, fit_on_shards
from ranking.storage.run_settings import Grids, Protocol

# of the runs on shards
TOLERANCE = 1e-2
GRIDS: Grids = {"C": (1.0, 10.0, 100.0, 1000.0), "eta": (0.01, 1.0)}
TRAINED = {"AP-SVM": 1000.0, "NDCG-SVM": 1000.0, "SVM": 1000.0}


def local_cluster() -> LocalCluster:
    """Start two workers of one thread each. Dask's profiler is off: it takes a fifth of the time of training."""
    dask.config.set({"distributed.worker.profile.enabled": False})
    return LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0")


def walked(made: TrialData, trial_path: TrialPath) -> list[Trained]:
    with threadpool_limits(1):
        return train_path(made, trial_path)


@contextmanager
def by_processes(made: TrialData, check: Check) -> Iterator[Train]:
    """Train with joblib on two processes, which share the features as memory-mapped files."""

    def train(trial_paths: Iterable[TrialPath]) -> TrainingRuns:
        tasks = (delayed(walked)(made, trial_path) for trial_path in trial_paths)
        yield from Parallel(n_jobs=2, return_as="generator_unordered")(tasks)

    yield train


def timed(
    plan: Plan,
    data: TrialData,
    workers: Workers,
    on_cell: Callable[[int], None] = lambda done: None,
) -> tuple[float, dict[str, tuple[object, ...]]]:
    """Return the seconds of an experiment with a new store, and its results."""
    with tempfile.TemporaryDirectory() as folder:
        store = TrialStore(Path(folder))
        start = time.perf_counter()
        run_experiment(plan, lambda: data, store, lambda progress: on_cell(progress.done), workers=workers)
        return time.perf_counter() - start, measures_and_scores(Path(folder))


def planned(image_set: ImageSet, grids: Grids) -> Plan:
    return plan_of(
        Protocol(image_set.key, (("HOG", {}),), queries=("jump",), grids=grids, folds=2), image_set
    )


def experiment(rounds: int, half: int, grids: Grids) -> str:
    image_set, features = images(0, half)
    plan = planned(image_set, grids)
    data = trial_data(plan, image_set, features)
    with local_cluster() as cluster:
        compared_methods: dict[str, Workers] = {
            "two processes of joblib": by_processes,
            "two threads of joblib": on_this_computer,
            "two Dask workers": on_cluster(cluster.scheduler_address),
        }
        seconds: dict[str, list[float]] = {name: [] for name in compared_methods}
        seconds_of = {}
        for turn in range(rounds + 1):
            for name, workers in compared_methods.items():
                took, seconds_of[name] = timed(plan, data, workers)
                # the first round is for warming up
                if turn:
                    seconds[name].append(took)

        def kill(done: int) -> None:
            if done == len(plan.validation) // 2:
                os.kill(next(iter(cluster.workers.values())).process.pid, signal.SIGKILL)

        took, disturbed = timed(plan, data, compared_methods["two Dask workers"], kill)
    first = statistics.median(seconds["two processes of joblib"])
    alone = seconds_of["two threads of joblib"]
    rows = [
        [
            name,
            f"{statistics.median(times):.1f}",
            f"{first / statistics.median(times):.2f}",
            same(seconds_of[name], alone),
        ]
        for name, times in seconds.items()
    ]
    rows.append(
        ["two Dask workers, one killed", f"{took:.1f}", f"{first / took:.2f}", same(disturbed, alone)]
    )
    return table([f"{len(alone)} runs by", "seconds", "speed", "same numbers"], rows)


def same(left: object, right: object) -> str:
    return "yes" if left == right else "NO"


def made(seed: int, n: int, d: int) -> np.ndarray:
    """Return (n, d) float32 of length one; the first tenth of the rows has a pattern."""
    # Computed in place to save memory.
    rows = np.random.default_rng(seed).standard_normal((n, d), dtype=np.float32)
    rows[: n // 10, : d // 10] += np.float32(0.25)
    for row in rows:
        row /= np.linalg.norm(row)
    return rows


def shards(n: int, d: int, methods: Sequence[str]) -> str:
    half, whole = n // 2, n * d * 4 / 2**20
    relevance = np.tile(np.arange(half) < half // 10, 2).astype(int)
    rows, taken = [], []
    here = np.concatenate([made(seed, half, d) for seed in range(2)])
    local = {}
    for name in methods:
        start = time.perf_counter()
        trained_here = make_method(name, C=TRAINED[name], tolerance=TOLERANCE).fit([Query(here, relevance)])
        local[name] = time.perf_counter() - start, trained_here.certificate
        print(f"{name} was trained here in {local[name][0]:.0f} s", file=sys.stderr)
    del here
    with local_cluster() as cluster, Client(cluster) as client:
        warm = ShardedFeatures.scattered(client, made(0, 200, 5))
        fit_on_shards(make_method("AP-SVM"), warm, np.arange(200) < 20)
        before = client.run(memory_of)
        holders = sorted(before)
        parts = [
            client.submit(made, seed, half, d, workers=[holder], pure=False)
            for seed, holder in enumerate(holders)
        ]
        sharded = ShardedFeatures(client, parts)
        for name in methods:
            start = time.perf_counter()
            proof = fit_on_shards(
                make_method(name, C=TRAINED[name], tolerance=TOLERANCE), sharded, relevance
            ).certificate
            took, known = time.perf_counter() - start, local[name][1]
            print(f"{name} was trained on shards in {took:.0f} s", file=sys.stderr)
            meet = proof.dual <= known.primal and known.dual <= proof.primal
            rows.append(
                [
                    name, f"{local[name][0]:.1f}", f"{took:.1f}", f"{proof.relative_gap:.2%}",
                    f"{abs(proof.primal / known.primal - 1):.2%}", "yes" if meet and proof.converged else "NO",
                ]
            )  # fmt: skip
        after = client.run(memory_of)
        for holder in holders:
            now, most = (
                (after[holder][name] - before[holder]["VmRSS"]) / 2**20 for name in ("VmRSS", "VmHWM")
            )
            taken.append([holder, f"{now:.0f}", f"{now / whole:.0%}", f"{most:.0f}", f"{most / whole:.0%}"])
    header = ["method", "here, s", "on shards, s", "gap", "objectives differ by", "optimum within the gap"]
    used = ["worker", "MB more after", "of the features", "MB more at the peak", "of the features"]
    title = f"{n} x {d} features, {whole:.0f} MB"
    return f"{title}\n{table(header, rows)}\n{table(used, taken)}"


def main() -> None:
    parts = ("experiment", "shards")
    options = options_of(
        __doc__, part=(parts, ["experiment"], parts), rounds=(3, 1), images=(800, 30), samples=(60_000, 600),
        features=(2_000, 50), methods=(list(TRAINED), ["AP-SVM"], TRAINED),
    )  # fmt: skip
    print(machine())
    if "experiment" in options.part:
        grids = SMOKE_SETTINGS if options.smoke else GRIDS
        print(experiment(options.rounds, options.images, grids))
    if "shards" in options.part:
        print(shards(options.samples, options.features, options.methods))


if __name__ == "__main__":
    main()
