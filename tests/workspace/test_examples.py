"""What every home begins with: it is copied once, is whole, and is what the program makes."""

from __future__ import annotations

import shutil

import examples as program
import numpy as np
import pytest
from training_runs import finished

from ranking.core.errors import InputError
from ranking.core.run_settings import TASK_SETTINGS, train_settings
from ranking.datasets import load_image_set
from ranking.experiments.training import query_of
from ranking.features import load_features
from ranking.methods import method_class
from ranking.reports.at_home import results_at_home, trials_of
from ranking.reports.findings import Findings
from ranking.storage import examples
from ranking.storage.store import Store

SETS = {source.name: load_image_set(examples.folder_of(source.name)) for source in program.SETS}


@pytest.fixture
def here(tmp_path):
    return Store(tmp_path / "home")


@pytest.fixture
def fresh(tmp_path):
    """A home with the examples."""
    store = Store(tmp_path / "fresh")
    store.adopt_examples()
    return store


def test_a_new_home_holds_all_that_the_program_lists(fresh):
    assert {row.source: row.key for row in fresh.image_sets()} == {name: s.key for name, s in SETS.items()}
    listed = [*program.runs_of(*(images.key for images in SETS.values()))]
    runs = {run.id: run for run in fresh.runs()}
    assert {program.id_of(settings) for settings in listed} == runs.keys(), "run python data/examples.py"
    for settings in listed:
        assert [run.id for run in fresh.equal_runs(program.kind_of(settings), settings.to_json())] == [
            program.id_of(settings)
        ]
    assert {run.state for run in runs.values()} == {"finished"}
    assert all(run.usable for run in runs.values() if run.learns)
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
    findings = Findings(plan, results, fresh.image_set(experiment.set), trials_of(fresh))
    assert findings.done == findings.planned > 0


def test_runs_of_a_person_are_listed_before_the_examples_in_their_order(here):
    mine = here.create_run("train", {"set": "abc"})
    here.adopt_examples()
    newer = here.create_run("train", {"set": "abc"})
    first, second, *examples_after = here.runs()
    assert (first.id, second.id) == (newer.id, mine.id)
    made = [run.created for run in examples_after]
    assert len(made) == len(examples.run_folders())
    assert made == sorted(made, reverse=True)


def test_what_was_deleted_does_not_come_back_and_what_is_new_comes(fresh, monkeypatch):
    deleted, removed, *_ = [run for run in fresh.runs() if run.learns]
    fresh.delete_run(removed.id)
    fresh.empty_deleted()
    fresh.delete_run(deleted.id)
    before = {run.id for run in fresh.runs()}
    Store(fresh.home).adopt_examples()
    assert {run.id for run in fresh.runs()} == before
    assert not removed.folder.exists()
    had = fresh.home / examples.HAD
    had.write_text("\n".join(line for line in had.read_text().split() if line != removed.id))
    Store(fresh.home).adopt_examples()
    assert {run.id for run in fresh.runs()} == before | {removed.id}, "one that it never had"


def test_an_adoption_that_broke_off_is_made_again(here, monkeypatch):
    taken = []

    def break_off(*arguments):
        taken.append(arguments)
        if len(taken) == 5:
            raise KeyboardInterrupt
        return replace(*arguments)

    replace = Store._replace
    with monkeypatch.context() as patch:
        patch.setattr(Store, "_replace", break_off)
        with pytest.raises(KeyboardInterrupt):
            here.adopt_examples()
    assert here.runs() == []
    again = Store(here.home)
    again.adopt_examples()
    assert len(again.runs()) == len(examples.run_folders())


def test_without_the_folder_of_examples_a_home_stays_as_it_is(here, monkeypatch, tmp_path):
    monkeypatch.setattr(examples, "FOLDER", tmp_path / "nowhere")
    here.adopt_examples()
    assert here.image_sets() == here.runs() == []


def test_the_error_about_missing_example_files_names_the_folder_to_copy(fresh):
    key, folder = next(iter(examples.set_folders().items()))
    shutil.rmtree(fresh.home / "sets" / key)
    with pytest.raises(InputError) as caught:
        fresh.image_set(key)
    assert caught.value.remedy == f"copy data/examples/sets/{folder.name} there as sets/{key}"
    shutil.copytree(folder, fresh.home / "sets" / key)
    assert fresh.image_set(key).key == key


def test_the_examples_can_be_taken_in_again_where_the_database_was_lost(fresh, elsewhere):
    for name in ("sets", "runs"):
        (elsewhere.home / name).rmdir()
        (fresh.home / name).rename(elsewhere.home / name)
    taken = elsewhere.take_in()
    assert len(taken.sets) == len(SETS)
    assert {run.id for run in taken.runs} == set(examples.run_folders())
    assert not taken.refused


def test_the_stored_models_give_the_stored_scores(fresh):
    """On features that are computed here."""
    for run in fresh.runs(task="samples"):
        settings, images = train_settings(run.settings), fresh.image_set(run.settings["set"])
        query = query_of(images, settings, load_features(images, settings.features, fresh.features))
        method, scores = method_class(settings.method).load(run.model_file), np.load(run.scores_file)
        assert method.score(query) == pytest.approx(scores, rel=1e-6, abs=1e-9), settings


def test_one_that_is_trained_again_is_what_ships(fresh):
    [run] = fresh.equal_runs("train", next(cheap()).to_json())
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
