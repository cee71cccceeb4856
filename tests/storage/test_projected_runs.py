"""Runs whose method sees features through a projection: it is kept beside the method, and is exported."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import pytest
from archives import unpacked
from refusals import refused
from training_runs import finished

from ranking import Query, method_class
from ranking.datasets import build_image_set, make_source
from ranking.features import load_features
from ranking.features.projection import PCA
from ranking.storage.run_archive import export_run
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


def test_the_projection_lies_beside_the_method_and_gives_its_scores(origin, run):
    images, projection = origin.sets.get(run.settings["set"]), projection_of(run)
    features = load_features(images, PARTS, origin.features.cache)
    np.testing.assert_array_equal(projection.axes, PCA(7, True).fitted(features, ~images.test).axes)
    method = method_class("AP-SVM").load(run.model_file)
    np.testing.assert_array_equal(np.load(run.scores_file), method.score(Query(projection(features))))


def test_the_command_line_ranks_with_the_projection(origin, run, command):
    output, _ = command("rank", run.id, "--part", "all", home=origin.home)
    rows = list(csv.DictReader(io.StringIO(output)))
    scores = dict(zip(origin.sets.get(run.settings["set"]).ids, np.load(run.scores_file), strict=True))
    assert {row["sample"]: float(row["score"]) for row in rows} == scores


def test_a_missing_projection_is_reported(origin, run, tmp_path):
    aside = run.projection_file.rename(tmp_path / "aside.npz")
    try:
        with refused(run.projection_file.name) as caught:
            projection_of(run)
        assert run.id in caught.value.expected
        with refused(f"{run.projection_file.name} of run {run.id}"):
            export_run(origin, run.id)
    finally:
        aside.rename(run.projection_file)


def test_a_projection_is_exported_with_its_training_run(origin, run):
    assert unpacked(export_run(origin, run.id))[run.projection_file.name] == run.projection_file.read_bytes()
