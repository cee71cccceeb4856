"""The examples that every home shows: they are whole, and are what the program makes."""

from __future__ import annotations

import examples as program
import numpy as np
import pytest
from refusals import refused
from training_runs import finished

from ranking.datasets import load_image_set
from ranking.experiments.sample_task import query_of
from ranking.features import load_features
from ranking.methods import method_class
from ranking.reports.at_home import results_at_home, trials_of
from ranking.reports.findings import Findings
from ranking.storage import examples
from ranking.storage.run_settings import TASK_SETTINGS, train_settings
from ranking.storage.store import Store

SETS = {source.name: load_image_set(examples.folder_of(source.name)) for source in program.SETS}


@pytest.fixture
def fresh(tmp_path, with_examples):
    return Store(tmp_path / "fresh")


def test_every_data_folder_shows_all_listed_examples(fresh):
    assert {row.source: row.key for row in fresh.sets.rows()} == {name: s.key for name, s in SETS.items()}
    listed = [*program.runs_of(*(images.key for images in SETS.values()))]
    runs = {run.id: run for run in fresh.runs.all()}
    assert {program.id_of(settings) for settings in listed} == runs.keys(), "run python data/examples.py"
    for settings in listed:
        assert [run.id for run in fresh.runs.equal(program.kind_of(settings), settings.to_json())] == [
            program.id_of(settings)
        ]
    assert {run.state for run in runs.values()} == {"finished"}
    assert all(run.usable for run in runs.values() if run.is_training)
    assert not any(run.alive for run in runs.values())
    assert {run.task for run in runs.values()} == {
        *TASK_SETTINGS,
        "experiment",
        "asking",
        "midrank",
        "timing",
    }
    [experiment] = [settings for settings in listed if settings.task == "experiment"]
    plan, results = results_at_home(fresh, experiment)
    findings = Findings(plan, results, fresh.sets.get(experiment.set), trials_of(fresh))
    assert findings.done == findings.planned > 0


def test_examples_are_read_where_they_lie_and_cannot_be_changed(fresh):
    own = fresh.runs.create("train", {"set": "abc"})
    assert [run.id for run in fresh.runs.all() if not run.shared] == [fresh.runs.all()[0].id] == [own.id]
    made = [run.created for run in fresh.runs.all()[1:]]
    assert made == sorted(made, reverse=True)
    example = fresh.runs.all()[1]
    with refused(f"{example.kind_name} {example.id}", "a shared one, which is read-only"):
        fresh.runs.delete(example.id)
    for row in fresh.sets.rows():
        assert fresh.sets.add(row.folder, row.source) == row.key
    assert list((fresh.home / "sets").iterdir()) == []
    assert fresh.damage() == []


def test_without_the_folder_of_examples_a_data_folder_is_empty(tmp_path):
    assert Store(tmp_path).sets.rows() == Store(tmp_path).runs.all() == []


def test_the_stored_models_give_the_stored_scores(fresh):
    """On features that are computed here."""
    for run in fresh.runs.all(task="samples"):
        settings, images = train_settings(run.settings), fresh.sets.get(run.settings["set"])
        query = query_of(images, settings, load_features(images, settings.features, fresh.features.cache))
        method, scores = method_class(settings.method).load(run.model_file), np.load(run.scores_file)
        assert method.score(query) == pytest.approx(scores, rel=1e-6, abs=1e-9), settings


def test_training_a_bundled_run_again_gives_its_scores_and_measures(fresh):
    [run] = fresh.runs.equal("train", next(cheap()).to_json())
    again = finished(fresh, run.settings)
    assert again.result["test"] == pytest.approx(run.result["test"], abs=1e-3)
    assert again.result["certificate"]["iterations"] == run.result["certificate"]["iterations"]
    apart = np.load(again.scores_file) - np.load(run.scores_file)
    assert np.abs(apart).max() < 1e-3 * np.abs(np.load(run.scores_file)).max()


def cheap():
    """The trainings of an SVM."""
    for settings in program.runs_of(*(images.key for images in SETS.values())):
        if getattr(settings, "method", "") == "SVM":
            yield settings
