"""Experiments and trainings on Dask clusters of this machine alone, with workers as threads."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from distributed import Client
from refusals import ANYTHING, refused
from sharded import check_products, check_training, local_cluster, samples
from tiny_actions import Enough, images, planned, run_tiny, trial_data
from working import raising

from ranking import Query, make_method
from ranking.core import StopTraining
from ranking.experiments.cross_validation import cluster
from ranking.experiments.cross_validation import trial_path as unit
from ranking.experiments.cross_validation.cluster import on_cluster, workers_at
from ranking.experiments.cross_validation.trial_data import TrialData
from ranking.experiments.cross_validation.trial_store import TrialStore
from ranking.experiments.cross_validation.workers import on_this_computer
from ranking.methods.shards import ShardedBlock, ShardedFeatures, fit_on_shards, score_on_shards
from ranking.solvers import Cut, LinearRisk, coordinate_descent

IMAGES = images(30)
METHODS = (("AP-SVM", {}), ("HOAP-SVM", {"eta": 1.0}))
PLAN = planned(IMAGES, folds=2, methods=METHODS, grids={"C": (1.0, 10.0)})


@pytest.fixture(scope="module")
def threads():
    with local_cluster(2, processes=False) as running:
        yield running


def test_a_cluster_gives_the_numbers_of_local_training_also_after_an_interruption(
    threads, tmp_path, monkeypatch
):
    def numbers(name: str) -> dict[str, Any]:
        """What decides every table, by key, to the last bit."""
        store = TrialStore(tmp_path / name)
        return {key: (trial.measures, store.scores(key).tobytes()) for key, trial in store.outcomes().items()}

    def check() -> None:
        if len(ended.outcomes()) >= 3:
            raise Enough

    run_tiny(PLAN, TrialStore(tmp_path / "alone"), count=30)
    sent, pack = [], TrialData.__getstate__
    monkeypatch.setattr(TrialData, "__getstate__", lambda made: sent.append(made) or pack(made))
    there = on_cluster(threads.scheduler_address)
    run_tiny(PLAN, TrialStore(tmp_path / "there"), count=30, workers=there)
    assert numbers("there") == numbers("alone")
    assert len(sent) <= 4, (
        "at most to each of two workers by the client and by the other worker, for all units"
    )

    ended = TrialStore(tmp_path / "ended")
    with pytest.raises(Enough):
        run_tiny(PLAN, ended, check=check, count=30, workers=there)
    first = numbers("ended")
    assert 3 <= len(first) < len(numbers("alone"))
    run_tiny(PLAN, ended, count=30, workers=on_this_computer)
    assert numbers("ended") == numbers("alone")
    assert first.items() <= numbers("ended").items()


def test_a_unit_that_is_being_trained_hears_of_the_end():
    trial = next(iter(PLAN.validation.values()))
    cluster._end("a run")
    with pytest.raises(StopTraining):
        cluster._train(trial_data(PLAN, IMAGES), (trial,), "a run")


def test_an_error_of_a_training_run_is_raised_unchanged(threads, tmp_path, monkeypatch):
    monkeypatch.setattr(unit, "train_trial", raising(ArithmeticError(17)))
    with pytest.raises(ArithmeticError) as caught:
        run_tiny(PLAN, TrialStore(tmp_path), count=30, workers=on_cluster(threads.scheduler_address))
    assert caught.value.args == (17,)


def test_a_scheduler_is_named_by_the_run_or_by_the_environment(threads, tmp_path, monkeypatch):
    monkeypatch.delenv("RANKING_SCHEDULER", raising=False)
    assert workers_at(None) is on_this_computer
    monkeypatch.setenv("RANKING_SCHEDULER", "tcp://localhost:1")
    with monkeypatch.context() as short:
        short.setattr(cluster, "CONNECT_SECONDS", 0.2)
        with refused("scheduler") as caught:
            run_tiny(PLAN, TrialStore(tmp_path), count=30, workers=workers_at(None))
    assert "tcp://localhost:1" in caught.value.expected
    store, plan = TrialStore(tmp_path), planned(IMAGES, folds=2, methods=(("SVM", {}),))
    run_tiny(plan, store, count=30, workers=workers_at(threads.scheduler_address))
    assert len(store.outcomes()) == 2 * 2 + 1


def test_a_cluster_that_cannot_be_used_is_refused(threads, monkeypatch):
    def connect(address: str) -> None:
        with on_cluster(address)(trial_data(PLAN, IMAGES), lambda: None):
            pass

    with monkeypatch.context() as without:
        without.setitem(sys.modules, "distributed", None)
        with refused("cluster") as caught:
            connect("tcp://localhost:1")
    assert "ranking-laboratory[cluster]" in caught.value.remedy
    with refused("scheduler") as caught:
        connect("nowhere")
    assert "nowhere" in caught.value.expected
    with local_cluster(0, processes=False) as empty, monkeypatch.context() as short:
        short.setattr(cluster, "CONNECT_SECONDS", 0.2)
        with refused("workers", 0) as caught:
            connect(empty.scheduler_address)
        assert f"dask worker {empty.scheduler_address}" in caught.value.remedy
    monkeypatch.setattr(cluster, "_version", lambda: 1)
    with refused("workers", [1]) as caught:
        connect(threads.scheduler_address)
    assert str(cluster.VERSION) in caught.value.expected


def test_products_of_shards_are_those_of_the_features(threads):
    check_products(threads)


def test_training_on_shards_equals_training_here_within_the_gap(threads):
    for name in ("SVM", "AP-SVM", "NDCG-SVM"):
        check_training(threads, name)


def test_whole_numbers_and_no_features_train_on_shards_as_they_do_here(threads):
    features, relevance = samples()
    for given, relevant in (
        (np.rint(8 * features).astype(np.int8), relevance),
        (np.empty((4, 0)), np.array([1, 0, 0, 1])),
    ):
        method: Any = make_method("AP-SVM", C=10.0, tolerance=1e-3)
        here: Any = make_method("AP-SVM", C=10.0, tolerance=1e-3).fit([Query(given, relevant)])
        with Client(threads) as client:
            fit_on_shards(method, ShardedFeatures.scattered(client, given), relevant)
        assert method.certificate.converged
        assert here.certificate.converged
        assert method.certificate.primal == pytest.approx(here.certificate.primal, rel=2e-3)


def test_wrong_shards_are_refused(threads):
    with Client(threads) as client:

        def sharded(*parts: np.ndarray) -> ShardedFeatures:
            return ShardedFeatures(client, [client.scatter(part, hash=False) for part in parts])

        two, relevance = sharded(np.zeros((4, 2)), np.ones((2, 2))), [1, 0, 0, 0, 0, 1]
        fitted = fit_on_shards(make_method("AP-SVM"), two, relevance)
        risk = LinearRisk(ShardedBlock(two), 1.0, lambda scores: Cut(np.zeros(6), 0.0))
        descent = make_method("SVM", solver="coordinate descent")
        for refuse, subject, came in (
            (lambda: sharded(), "shards", 0),
            (lambda: sharded(np.zeros((4, 2)), np.zeros((4, 3))), "shards", [2, 3]),
            (lambda: sharded(np.full((1, 2), np.nan)), "features", ANYTHING),
            (lambda: fit_on_shards(descent, two, relevance), "method", "SVM"),
            (lambda: fit_on_shards(make_method("HOB-SVM"), two, relevance), "method", "HOB-SVM"),
            (lambda: fit_on_shards(make_method("AP-SVM"), two, [0] * 6), "relevance", "0 of 6 relevant"),
            (lambda: fit_on_shards(make_method("AP-SVM"), two, [0, 1]), "relevance", (2,)),
            (lambda: score_on_shards(fitted, sharded(np.zeros((4, 3)))), "features of the matrix", 3),
            (lambda: coordinate_descent(risk, np.ones(6), np.ones(6)), "features", "shards"),
        ):
            with refused(subject, came):
                refuse()
