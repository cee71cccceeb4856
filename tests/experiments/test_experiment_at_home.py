from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np
import pytest
from labelled_pictures import patches_of
from working import events_of, here, wait

from ranking import Query, make_method
from ranking.core import ImageSet
from ranking.features import load_features
from ranking.metrics import average_precision
from ranking.reports.at_home import results_at_home, trials_of
from ranking.storage.events import Report, cancel_reason
from ranking.storage.run_settings import ExperimentSettings
from ranking.storage.store import Store


@pytest.fixture(autouse=True)
def _impatient(monkeypatch, worker_here):
    monkeypatch.setattr("ranking.experiments.cross_validation.cluster.CONNECT_SECONDS", 0.2)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("experiments") / "home")


@pytest.fixture(scope="module")
def images(store):
    return patches_of(store)


def settings_of(images: ImageSet, **changes: Any) -> dict[str, Any]:
    settings = {"set": images.key, "features": [["Colour", {}]], "methods": [["SVM", {}], ["AP-SVM", {}]]}
    grids = {"C": [1.0, 10.0, 100.0]}
    return {
        **settings,
        "task": "experiment",
        "queries": ["day", "calm"],
        "grids": grids,
        "folds": 3,
        "widen": False,
        **changes,
    }


def seconds(store: Store) -> dict[str, float]:
    """Of each cell by key: they change where it is trained again."""
    return {key: outcome.seconds for key, outcome in trials_of(store).outcomes().items()}


def test_an_equal_experiment_resumes_the_trials_of_a_stopped_one(store, images, monkeypatch):
    report_progress = Report.progress

    def stop_and_report(self: Report, what: str, done: float, total: int) -> None:
        if done >= 5 and what.startswith("day"):
            os.kill(os.getpid(), signal.SIGTERM)
            # the main thread hears it
            wait(lambda: self.stopped)
        report_progress(self, what, done, total)

    with monkeypatch.context() as patched:
        patched.setattr(Report, "progress", stop_and_report)
        run = here(store, settings_of(images), "study")
    assert (run.state, run.reason) == ("cancelled", cancel_reason(run))
    kept = seconds(store)
    assert 5 <= len(kept) < 40
    assert run.parts_done == len(kept)
    run = here(store, run.settings, "study")
    assert (run.state, run.reason) == ("finished", "")
    assert run.result == {"done": 40, "total": 40, "unproven": 0}
    assert kept.items() <= seconds(store).items()
    _, results = results_at_home(store, ExperimentSettings.from_json(run.settings))
    assert len(results.outcomes) == len(seconds(store)) == 40
    assert not any(np.isnan(trials_of(store).scores(key)).any() for key in seconds(store))
    progress = events_of(run, "progress")
    assert progress[-1]["done"] == progress[-1]["total"] == 40
    assert any(event["what"].startswith("calm, AP-SVM, all training samples; about ") for event in progress)
    features = load_features(images, (("Colour", {}),), store.features.cache)
    learn, day, point = ~images.test, images.relevance("day"), dict(results.chosen("day", "AP-SVM"))
    method = make_method("AP-SVM", **point).fit([Query(features[learn], day[learn])])
    expected = average_precision(day[~learn], method.score(Query(features[~learn])))
    assert results.test("day", "AP-SVM") == pytest.approx(expected)

    # Another measure may choose other points for the test, but trains nothing else.
    before = seconds(store)
    run = here(store, settings_of(images, measure="NDCG"), "study")
    assert run.result["done"] == run.result["total"]
    assert before.items() <= seconds(store).items()
    assert len(seconds(store)) - len(before) <= 4


def test_settings_that_make_no_experiment_are_the_reason_of_a_failed_run(store, images):
    for changes, named in (
        ({"queries": ["weather"]}, "weather"),
        ({"queries": ["rare"]}, "query rare: "),
        ({"features": [["Smell", {}]]}, "Smell"),
        ({"scheduler": "tcp://127.0.0.1:1"}, "tcp://127.0.0.1:1"),
        ({"wind": 3}, "wind"),
    ):
        run = here(store, settings_of(images, **{"seed": 1, **changes}), "study")
        assert run.state == "failed"
        assert named in run.reason, changes
