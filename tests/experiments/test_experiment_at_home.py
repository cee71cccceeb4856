from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from labelled_pictures import patches

from ranking import Query, jobs, make_method, worker
from ranking.events import Report
from ranking.experiments.at_home import cells_of, results_at_home
from ranking.features import load_features
from ranking.metrics import average_precision
from ranking.run import ENDED, Run
from ranking.run_settings import ExperimentSettings
from ranking.store import Store
from ranking.types import ImageSet


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What the worker's main does to its process is undone or left out."""
    monkeypatch.setattr(worker.faulthandler, "enable", lambda: None)
    monkeypatch.setattr("ranking.cluster.CONNECT_SECONDS", 0.2)
    handler = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, handler)


@pytest.fixture
def store(tmp_path: Any) -> Store:
    return Store(tmp_path / "home")


@pytest.fixture
def images(store: Store, tmp_path: Any) -> ImageSet:
    patches(tmp_path / "set")
    return store.image_set(store.adopt(tmp_path / "set", "Patches"))


def asked(images: ImageSet, **changes: Any) -> dict[str, Any]:
    settings = {"set": images.key, "features": [["Colour", {}]], "methods": [["SVM", {}], ["AP-SVM", {}]]}
    grids = {"C": [1.0, 10.0, 100.0]}
    return {**settings, "queries": ["day", "calm"], "grids": grids, "folds": 3, **changes}


def here(store: Store, settings: dict[str, Any]) -> Run:
    """The run after the worker's main worked on it in this process."""
    run = store.create_run("experiment", settings)
    assert worker.main([str(store.home), run.id]) == 0
    return store.run(run.id)


def test_an_experiment_ends_with_its_cells_in_the_home(store: Store, images: ImageSet) -> None:
    run = here(store, asked(images))
    assert (run.state, run.reason) == ("finished", "")
    assert run.result == {"done": 40, "total": 40, "unproven": 0}
    _, results = results_at_home(store, ExperimentSettings.from_json(run.settings))
    assert len(results.outcomes) == 2 * 2 * (3 * 3 + 1)
    assert all(results.test(query, "AP-SVM") is not None for query in ("day", "calm"))
    told = [event for event in jobs.events(run)[0] if event["event"] == "progress"]
    assert told[-1]["done"] == told[-1]["total"] == 40
    assert any(event["what"].startswith("calm, AP-SVM, all of train; about ") for event in told)
    features = load_features(images, (("Colour", {}),), store.features)
    learn, day = ~images.test, images.relevance("day")
    point = dict(results.chosen("day", "AP-SVM") or ())
    method = make_method("AP-SVM", **point).fit([Query(features[learn], day[learn])])
    scores = method.score(Query(features[~learn]))
    assert results.test("day", "AP-SVM") == pytest.approx(average_precision(day[~learn], scores))


def test_another_run_of_the_same_protocol_trains_nothing(store: Store, images: ImageSet) -> None:
    here(store, asked(images))
    before = {key: one.seconds for key, one in cells_of(store).outcomes().items()}
    start = time.perf_counter()
    run = here(store, asked(images, measure="NDCG"))
    assert time.perf_counter() - start < 5.0
    assert run.result["done"] == run.result["total"]
    after = {key: one.seconds for key, one in cells_of(store).outcomes().items()}
    assert before.items() <= after.items()
    assert len(after) - len(before) <= 4, "another measure may choose other points for the test, no more"


def test_a_stopped_experiment_keeps_its_cells_and_its_equal_goes_on(
    store: Store, images: ImageSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell = Report.progress

    def tell_and_stop(self: Report, what: str, done: float, total: int) -> None:
        if done >= 5 and what.startswith("day"):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.01)  # for the main thread, which hears it
        tell(self, what, done, total)

    with monkeypatch.context() as patched:
        patched.setattr(Report, "progress", tell_and_stop)
        run = here(store, asked(images))
    assert run.state == "cancelled"
    assert run.reason == "cancelled; the finished trainings were kept"
    kept = {key: one.seconds for key, one in cells_of(store).outcomes().items()}
    assert 5 <= len(kept) < 40
    again = here(store, run.settings)
    assert again.state == "finished"
    after = {key: one.seconds for key, one in cells_of(store).outcomes().items()}
    assert kept.items() <= after.items()
    assert len(after) == 40


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"queries": ["weather"]}, "no class 'weather' in Patches; its classes are "),
        (
            {"queries": ["rare"]},
            "'rare' has 0 relevant training samples, too few or in too few images for 3 folds",
        ),
        ({"folds": 1}, "folds must be at least 2, got 1"),
        (
            {"graph": "weather", "methods": [["HOB-SVM", {}]]},
            "no similarity graph is called 'weather'; choose one",
        ),
        ({"features": [["Smell", {}]]}, "no feature is called 'Smell'"),
        (
            {"scheduler": "tcp://127.0.0.1:1"},
            "expected a Dask scheduler at 'tcp://127.0.0.1:1', got ",
        ),
        (
            {"wind": 3},
            "settings of an experiment: ",
        ),
    ],
)
def test_settings_that_make_no_experiment_are_a_plain_reason(
    store: Store, images: ImageSet, changes: dict[str, Any], reason: str
) -> None:
    run = here(store, asked(images, **changes))
    assert run.state == "failed"
    assert run.reason.startswith(reason), run.reason


def test_a_killed_experiment_lost_nothing_and_goes_on(store: Store, images: ImageSet) -> None:
    settings = asked(
        images, methods=[["HOB-SVM", {}], ["HOAP-SVM", {}]], grids={"C": [1.0, 10.0], "eta": [0.1, 1.0]}
    )
    run = jobs.start(store, "experiment", settings)
    until = time.monotonic() + 60
    while len(cells_of(store).outcomes()) < 3:
        assert time.monotonic() < until
        assert jobs.poll(store, run.id).state not in ENDED
        time.sleep(0.005)
    os.kill(run.pid or 0, signal.SIGKILL)
    while jobs.poll(store, run.id).state not in ENDED:
        time.sleep(0.01)
    kept = {key: cells_of(store).scores(key).tobytes() for key in cells_of(store).outcomes()}
    assert len(kept) < 2 * 3 * 8, "it was killed in the midst of it"
    again = here(store, settings)
    assert (again.state, again.reason) == ("finished", "")
    after = {key: cells_of(store).scores(key).tobytes() for key in cells_of(store).outcomes()}
    assert kept.items() <= after.items()
    other = Store(store.home.parent / "other")
    other.adopt(images.folder, "Patches")
    assert here(other, settings).state == "finished"
    alone = {key: cells_of(other).scores(key).tobytes() for key in cells_of(other).outcomes()}
    assert after == alone
    assert not np.isnan(np.frombuffer(next(iter(alone.values())))).any()
