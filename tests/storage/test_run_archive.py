"""A training run is exported as one ZIP file with its model, scores, settings and recording."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from archives import unpacked
from labelled_pictures import patches_of
from refusals import refused
from training_runs import finished

from ranking.storage.run import COLUMNS
from ranking.storage.run_archive import RUN, export_run
from ranking.storage.store import Store

# of the image set
SAMPLES = 48
VIEWS = {"ranking.csv": b"rank\n", "ranking.png": b"no picture"}


@pytest.fixture
def origin(tmp_path: Path) -> Store:
    """A home with an image set and one training, that has a name and a star."""
    store = Store(tmp_path / "origin")
    key = patches_of(store, SAMPLES).key
    settings: dict[str, Any] = {"set": key, "features": [["Colour", {}]], "query": "day", "method": "AP-SVM"}
    run = finished(store, {**settings, "method_settings": {"C": 10.0}}, "=Größe 🏅")
    store.runs.star(run.id)
    return store


def test_an_archive_holds_the_files_of_the_run_and_what_they_are(origin):
    [run] = origin.runs.all("train")
    files = unpacked(export_run(origin, run.id, VIEWS))
    record = json.loads(files.pop(RUN))
    own = (run.events_file, run.model_file, run.scores_file, run.playback_file)
    assert files == VIEWS | {file.name: file.read_bytes() for file in own}
    assert len(files) == 6
    for name in ("id", *COLUMNS):
        assert record[name] == getattr(run, name), name
    [row] = origin.sets.rows()
    known = {"key": row.key, "title": "Patches", "classes": list(row.classes)}
    assert record["image_set"] == {**known, "images": SAMPLES, "samples": SAMPLES}
    assert record["left_out"] == {}


def test_views_that_could_not_be_made_are_listed_with_the_reason(origin):
    [run] = origin.runs.all("train")
    gone = {"ranking.png": "its pictures are gone"}
    files = unpacked(export_run(origin, run.id, {"ranking.csv": b"rank\n"}, gone))
    assert "ranking.png" not in files
    assert json.loads(files[RUN])["left_out"] == gone


def test_a_failed_training_is_exported_with_its_reason(origin):
    failed = origin.runs.create("train", origin.runs.all("train")[0].settings)
    origin.runs.end(failed.id, "failed", "the oracle is silent")
    files = unpacked(export_run(origin, failed.id))
    record = json.loads(files[RUN])
    assert (record["state"], record["reason"], list(files)) == ("failed", "the oracle is silent", [RUN])


def test_runs_that_cannot_be_exported_are_refused(origin):
    [run] = origin.runs.all("train")
    queued = origin.runs.create("train", {"set": "x" * 8})
    of_labels = origin.runs.create("train", {"set": "x" * 8, "task": "labels"})
    origin.runs.end(of_labels.id, "finished")
    for other, came in ((queued, "a queued training run"), (of_labels, "a finished label-ranking run")):
        with refused(f"run {other.id}", came):
            export_run(origin, other.id)
    run.scores_file.unlink()
    with refused(f"scores.npy of run {run.id}"):
        export_run(origin, run.id)
