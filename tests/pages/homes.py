"""Homes that are filled once in a session of pytest, by whichever of its processes comes first."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import label_home as labels
import numpy as np
import object_home as objects
import order_home as orders
import pytest
from filelock import FileLock
from filled_home import Laboratory, content_of_sets, copy_home, fill

from pages.parts.app import cache
from pages.parts.labelling.label_models import BASELINE, OWN
from pages.parts.lessons.lesson_settings import LABELS_SET, labels_run
from pages.parts.neighbours import graph_models
from ranking.core import ImageSet
from ranking.datasets import build_image_set, load_image_set, make_source
from ranking.experiments.sample_task import query_of
from ranking.explain.neighbourhood import Neighbourhood
from ranking.features import load_features
from ranking.methods.hob_svm import HOBSVM
from ranking.storage.examples import folder_of
from ranking.storage.run import Run
from ranking.storage.run_settings import TrainSettings
from ranking.storage.store import Store

Made = Any


class Homes:
    """The homes that are made so far, by name; the processes of a session share them."""

    def __init__(self, factory: pytest.TempPathFactory) -> None:
        self._factory = factory
        base = factory.getbasetemp()
        self._shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def __call__(self, name: str, make: Callable[[Path], Made]) -> Made:
        """What `make` returned for the empty folder it was given, here or in another process."""
        record = self._shared / f"{name}.pickle"
        with FileLock(f"{record}.lock"):
            if not record.exists():
                made = make(self._factory.mktemp(name))
                record.write_bytes(pickle.dumps(made))
            return pickle.loads(record.read_bytes())


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Homes:
    return Homes(tmp_path_factory)


@pytest.fixture(scope="session")
def filled(homes: Homes) -> Iterator[Laboratory]:
    """Tests work on copies, and in the end its image sets are what they were."""

    def make(folder: Path) -> tuple[Laboratory, dict[Path, tuple[int, int]]]:
        made = fill(folder / "home", folder / "photographs")
        return made, content_of_sets(made.home)

    made, content = homes("laboratory", make)
    yield made
    assert content_of_sets(made.home) == content, (
        "a test has written in a file of an image set, which others share"
    )


def filled_once(name: str, fill: Callable[[Path, Path], Made]) -> Any:
    """A fixture of what `fill` makes once in a session; tests work on copies."""

    @pytest.fixture(scope="session")
    def once(homes: Homes) -> Made:
        return homes(name, lambda folder: fill(folder / "home", folder))

    return once


def copy_of(name: str) -> Any:
    """A fixture of a copy of a filled home that this test may change, as the home of the app."""

    @pytest.fixture
    def copy(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
        made = request.getfixturevalue(name)
        return replace(made, home=_copied(made.home, tmp_path, monkeypatch))

    return copy


label_home = filled_once("labels", labels.fill)
order_home = filled_once("sequences", orders.fill)
object_home = filled_once("objects", objects.fill)
laboratory, labels_here, orders_here, objects_here = map(
    copy_of, ("filled", "label_home", "order_home", "object_home")
)


@pytest.fixture
def figures(laboratory: Laboratory) -> ImageSet:
    return laboratory.store.sets.get(laboratory.figures)


@pytest.fixture
def neighbourhood(laboratory: Laboratory) -> Neighbourhood:
    """Of the training on the figures that uses a similarity graph."""
    return graph_models.neighbourhood(laboratory.store.runs.get(laboratory.neighbours))


def use_graph(laboratory: Laboratory, graph: str) -> Neighbourhood:
    """Replace the graph of the HOB-SVM run and its scores; return the new effect of neighbours."""
    store, run_id = laboratory.store, laboratory.neighbours
    store.runs.update(run_id, settings={**store.runs.get(run_id).settings, "graph": graph})
    run, images = store.runs.get(run_id), store.sets.get(laboratory.figures)
    settings = TrainSettings.from_json(run.settings)
    query = query_of(images, settings, load_features(images, settings.features, store.features.cache))
    np.save(run.scores_file, HOBSVM.load(run.model_file).score(query))
    cache.ranking.clear()
    graph_models.neighbourhood.clear()
    return graph_models.neighbourhood(run)


@pytest.fixture
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A home without anything, as the home of the app."""
    monkeypatch.setenv("RANKING_HOME", str(tmp_path / "empty"))
    return Store(tmp_path / "empty")


@pytest.fixture(scope="session")
def furnished(homes: Homes) -> Path:
    """A home with scanned digits; tests work on copies."""

    def make(folder: Path) -> Path:
        (folder / "home").mkdir()
        build_image_set(make_source("Digits"), folder / "digits", lambda *_: None)
        Store(folder / "home").sets.add(folder / "digits", "Digits")
        return folder / "home"

    return homes("furnished", make)


@pytest.fixture
def fresh_home(with_examples: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The home that a new user begins with, as the home of the app."""
    monkeypatch.setenv("RANKING_HOME", str(tmp_path / "fresh"))
    return Store(tmp_path / "fresh")


@pytest.fixture(scope="session")
def described(homes: Homes) -> Path:
    """A home with the features of the label scenes; tests work on copies."""

    def make(folder: Path) -> Path:
        images, store = load_image_set(folder_of(LABELS_SET)), Store(folder / "home")
        load_features(images, labels_run(images.key, OWN).features, store.features.cache)
        return folder / "home"

    return homes("described", make)


@pytest.fixture
def scenes_home(
    described: Path, with_examples: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Store:
    """The home that a new user begins with and the features of the label scenes, as the home of the app."""
    return Store(_copied(described, tmp_path, monkeypatch))


def runs_of_labels_lesson(store: Store) -> list[Run]:
    """The runs of C-star and of the independent model."""
    key = load_image_set(folder_of(LABELS_SET)).key
    settings = [labels_run(key, method) for method in (OWN, BASELINE)]
    return [store.runs.equal("train", each.to_json())[0] for each in settings]


def trained_besides(
    name: str,
    train: Callable[[Laboratory], Made],
    laboratory: Laboratory,
    homes: Homes,
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[Laboratory, Made]:
    """A copy of the laboratory with more runs, as the data folder of the app, and the result of `train`."""
    # `laboratory` is the copy that the test has already. It trains once in a session, for all tests that give
    # it `name`.

    def make(folder: Path) -> tuple[Path, Made]:
        copy_home(laboratory.home, folder / "home")
        return folder / "home", train(replace(laboratory, home=folder / "home"))

    home, made = homes(name, make)
    return replace(laboratory, home=_copied(home, laboratory.home / name, monkeypatch)), made


def _copied(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy_home(home, tmp_path / "home")
    monkeypatch.setenv("RANKING_HOME", str(tmp_path / "home"))
    return tmp_path / "home"
