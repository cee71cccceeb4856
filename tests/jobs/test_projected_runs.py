"""Runs whose method sees features through a projection: it is kept beside the method, ranks elsewhere, and travels."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from archives import PICKLED, npy, packed, unpacked
from refusals import refused
from training_runs import finished
from working import refuses

from ranking import Query, method_class
from ranking.datasets import build_image_set, make_source
from ranking.features import load_features
from ranking.features.projection import PCA
from ranking.jobs.run_archive import MODEL, PROJECTION, RUN, SCORES, export_run, import_run
from ranking.storage.run_files import projection_of
from ranking.storage.store import Store

SEVEN: dict[str, Any] = {"kind": "PCA", "components": 7, "whiten": True}
PARTS = [["HOG", {"side": 32}]]


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    """A home with the digits and one training."""
    store = Store(tmp_path_factory.mktemp("origin"))
    build_image_set(make_source("Digits"), store.home / "built")
    settings = {"set": store.sets.add(store.home / "built", "Digits"), "features": PARTS, "query": "3"}
    settings |= {"method": "AP-SVM", "method_settings": {"C": 10.0}, "projection": SEVEN}
    finished(store, settings)
    return store


@pytest.fixture(scope="module")
def run(origin):
    return origin.runs.all("train")[-1]


@pytest.fixture(scope="module")
def exported(origin, run):
    return export_run(origin, run.id)


def test_the_projection_lies_beside_the_method_and_gives_its_scores(origin, run):
    images, projection = origin.sets.get(run.settings["set"]), projection_of(run)
    features = load_features(images, PARTS, origin.features)
    np.testing.assert_array_equal(projection.axes, PCA(7, True).fitted(features, ~images.test).axes)
    method = method_class("AP-SVM").load(run.model_file)
    np.testing.assert_array_equal(np.load(run.scores_file), method.score(Query(projection(features))))


def test_the_command_line_ranks_through_it(origin, run, command):
    output, _ = command("rank", run.id, "--part", "all", home=origin.home)
    rows = list(csv.DictReader(io.StringIO(output)))
    scores = dict(zip(origin.sets.get(run.settings["set"]).ids, np.load(run.scores_file), strict=True))
    assert {row["sample"]: float(row["score"]) for row in rows} == scores


def test_without_its_projection_a_method_says_so(origin, run, tmp_path):
    aside = run.projection_file.rename(tmp_path / "aside.npz")
    try:
        with refused(PROJECTION) as caught:
            projection_of(run)
        assert run.id in caught.value.expected
        with refused(f"{PROJECTION} of run {run.id}"):
            export_run(origin, run.id)
    finally:
        aside.rename(run.projection_file)


def test_it_travels_with_its_training(origin, run, exported, elsewhere):
    back = import_run(elsewhere, exported)
    assert back.settings["projection"] == SEVEN
    assert back.projection_file.read_bytes() == run.projection_file.read_bytes()
    assert unpacked(export_run(elsewhere, back.id))[PROJECTION] == unpacked(exported)[PROJECTION]


def with_arrays(exported: bytes, **changes: Callable[[Any], Any]) -> bytes:
    """The archive with other arrays in its projection, and everything else kept."""
    files = unpacked(exported)
    arrays = unpacked(files[PROJECTION])
    for name, change in changes.items():
        arrays[f"{name}.npy"] = npy(np.asarray(change(np.load(io.BytesIO(arrays[f"{name}.npy"])))))
    return packed({**files, PROJECTION: packed(arrays)})


def test_a_projection_is_one_that_the_settings_ask_for(exported, elsewhere):
    def narrow(rows: np.ndarray) -> np.ndarray:
        return rows[:, :-1] / np.linalg.norm(rows[:, :-1], axis=1)[:, None]

    for changes, came, inner in (
        ({"mean": lambda mean: mean[:-1]}, "other shapes or types", "saved projection"),
        ({"mean": lambda mean: mean * np.nan}, "other numbers", "saved projection"),
        ({"directions": lambda rows: 2 * rows}, "other lengths", "saved projection"),
        ({"variances": np.negative}, "other variances", "saved projection"),
        ({"whiten": np.logical_not}, "7 directions", "projection"),
        ({"directions": narrow, "mean": lambda mean: mean[:-1]}, 323, "projection"),
    ):
        refuses(elsewhere, with_arrays(exported, **changes), PROJECTION, came, inner)
    six = with_arrays(exported, directions=lambda rows: rows[:6], variances=lambda values: values[:6])
    refuses(elsewhere, six, MODEL, 6, "features of the query")
    files = unpacked(exported)
    all_files = f"{MODEL}, {SCORES} and {PROJECTION}"
    refuses(elsewhere, packed({name: files[name] for name in files if name != PROJECTION}), all_files)
    for settings, subject, came, inner in (
        (None, all_files, None, ""),
        ({"kind": "LDA"}, "kind of a projection", "'LDA'", ""),
        ({**SEVEN, "components": 6}, PROJECTION, "7 directions, whitened", "projection"),
        ([SEVEN], "projection", str([SEVEN]), ""),
    ):
        record = json.loads(files[RUN])
        record["settings"]["projection"] = settings
        refuses(elsewhere, packed({**files, RUN: json.dumps(record).encode()}), subject, came, inner)


def test_a_projection_holds_numbers_and_nothing_else(exported, elsewhere):
    files = unpacked(exported)
    arrays = unpacked(files[PROJECTION])
    for content, inner in (
        (b"no zip", "archive"),
        (packed({**arrays, "mean.npy": PICKLED}), "mean.npy"),
        (packed({"mean.npy": arrays["mean.npy"]}), "saved projection"),
    ):
        refuses(elsewhere, packed({**files, PROJECTION: content}), PROJECTION, inner=inner)
