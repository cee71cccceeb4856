"""A training on pairs that a person brought: it finds them by name, and exports them."""

from __future__ import annotations

import io
import json
import shutil
from typing import Any

import numpy as np
import pytest
from archives import unpacked
from refusals import refused
from training_runs import finished

from ranking import method_class
from ranking.core import Query
from ranking.features import load_features
from ranking.features.graph.image_graph import image_graph
from ranking.features.graph.uploaded_pairs import edges_name, short_name
from ranking.storage.examples import folder_of
from ranking.storage.run import Run
from ranking.storage.run_archive import EDGES, RUN, export_run
from ranking.storage.run_settings import TrainSettings
from ranking.storage.store import Store
from ranking.storage.uploads import edges_in


def random_vectors(samples: int, seed: int = 0) -> np.ndarray:
    """300 pairs across images and splits, in ascending order."""
    random = np.random.default_rng(seed)
    return np.unique([sorted(random.choice(samples, 2, replace=False).tolist()) for _ in range(300)], axis=0)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A home with the scenes that come with the program, pairs, and a training on them."""
    store, folder = Store(tmp_path_factory.mktemp("origin")), folder_of("Action figures")
    key = store.sets.add(folder, "ready-made")
    few, features = {"max_iterations": 20, "solver": "cutting plane"}, (("Colour", {}),)
    graph = store.features.add_edges(key, random_vectors(len(store.sets.get(key))))
    settings = TrainSettings(key, features, "playing instrument", "HOB-SVM", few, graph=graph)
    finished(store, settings.to_json())
    return store.home


@pytest.fixture
def origin(filled, tmp_path):
    return Store(shutil.copytree(filled, tmp_path / "origin"))


@pytest.fixture
def run(origin):
    [only] = origin.runs.all("train")
    return only


def forget(store: Store, run: Run) -> None:
    edges_in(store.home / "edges", run.settings["set"]).path(run.settings["graph"]).unlink()


def test_scores_use_the_pairs_that_the_settings_name(origin, run):
    images, settings = origin.sets.get(run.settings["set"]), TrainSettings.from_json(run.settings)
    features = load_features(images, settings.features, origin.features.cache)
    edges = random_vectors(len(images))
    assert settings.graph == edges_name(edges)
    method: Any = method_class("HOB-SVM").load(run.model_file)
    graph = image_graph(images, settings.graph, settings.features, features, uploaded=edges)
    assert 0 < len(graph.edges) < len(edges), "some join the splits"
    scores = np.load(run.scores_file)
    np.testing.assert_array_equal(scores, method.score(Query(features, graph=graph)))
    assert np.abs(scores - method.score(Query(features))).max() > 0


def test_missing_pairs_fail_a_training_run_with_the_remedy(origin, run):
    forget(origin, run)
    with refused(f"pairs of {short_name(run.settings['graph'])}", "none") as caught:
        finished(origin, run.settings)
    assert "CSV" in caught.value.remedy


def test_pairs_are_exported_and_an_export_without_them_says_so(origin, run):
    whole, key = unpacked(export_run(origin, run.id)), run.settings["set"]
    assert json.loads(whole[RUN])["left_out"] == {}
    edges = np.load(io.BytesIO(whole[EDGES]))
    np.testing.assert_array_equal(edges, origin.features.edges_of(key, run.settings["graph"]))
    forget(origin, run)
    files = unpacked(export_run(origin, run.id))
    assert set(whole) - set(files) == {EDGES}
    assert list(json.loads(files[RUN])["left_out"]) == [EDGES]
