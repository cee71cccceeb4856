"""A home with the bundled sets, a small folder of shapes with hostile names, and trainings that ended in every way."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browsing import browser, server, visit  # noqa: F401 (fixtures)
from filled_home import Laboratory, content_of_sets, copy_home, import_here, train_here, train_settings
from label_home import LabelHome
from label_home import fill as fill_with_labels
from order_home import OrderHome
from order_home import fill as fill_with_orders
from shapes import write_shapes
from streamlit.testing.v1 import AppTest

from ranking import jobs
from ranking.datasets import ready_made_folder
from ranking.run import Run
from ranking.store import Store

ROOT = Path(__file__).parents[2]

Open = Callable[..., AppTest]


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    """Built once; tests work on copies, and in the end its image sets are what they were."""
    home = tmp_path_factory.mktemp("laboratory")
    store = Store(home)
    folder = ready_made_folder()
    assert folder is not None
    figures = store.adopt(folder, "Action figures")  # as if the larger set had been made
    digits = store.keep(import_here(store, "Digits").id)
    folder = write_shapes(tmp_path_factory.mktemp("photographs") / "shapes")
    shapes = store.keep(import_here(store, "PASCAL VOC", folder=str(folder)).id)
    ended = {}
    for state, reason in (
        ("failed", "ran out of *memory* <b>"),
        ("cancelled", "cancelled before any weights"),
    ):
        run = store.create_run("train", train_settings(digits))
        store.end_run(run.id, state, f"{reason}; last heard of: iteration 7, gap 0.5")
        ended[state] = run.id
    made = Laboratory(
        home,
        digits,
        shapes,
        figures,
        neighbours=train_here(
            store, figures, "playing instrument", "HOB-SVM", C=1.0, max_iterations=20, solver="cutting plane"
        ).id,
        not_converged=train_here(store, digits, "4", C=1e6, tolerance=1e-7, max_iterations=2).id,
        on_shapes=train_here(store, shapes, "disc").id,
        finished=train_here(store, digits, "3", C=100.0, tolerance=1e-2).id,
        **ended,
    )
    content = content_of_sets(home)
    yield made
    assert content_of_sets(home) == content, (
        "a test has written in a file of an image set, which others share"
    )


@pytest.fixture
def laboratory(filled: Laboratory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    """A copy of the filled home that this test may change, as the home of the app."""
    home = tmp_path / "home"
    copy_home(filled.home, home)
    monkeypatch.setenv("RANKING_HOME", str(home))
    return Laboratory(**{**vars(filled), "home": home})


@pytest.fixture(scope="session")
def label_home(tmp_path_factory: pytest.TempPathFactory) -> LabelHome:
    """Built once; tests work on copies."""
    return fill_with_labels(tmp_path_factory.mktemp("labels"), tmp_path_factory.mktemp("boards"))


@pytest.fixture
def labels_here(label_home: LabelHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LabelHome:
    """A copy of the home of labels that this test may change, as the home of the app."""
    home = tmp_path / "home"
    copy_home(label_home.home, home)
    monkeypatch.setenv("RANKING_HOME", str(home))
    return replace(label_home, home=home)


@pytest.fixture(scope="session")
def order_home(tmp_path_factory: pytest.TempPathFactory) -> OrderHome:
    """Built once; tests work on copies."""
    return fill_with_orders(tmp_path_factory.mktemp("orders"), tmp_path_factory.mktemp("dated"))


@pytest.fixture
def orders_here(order_home: OrderHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OrderHome:
    """A copy of the home of orders that this test may change, as the home of the app."""
    home = tmp_path / "home"
    copy_home(order_home.home, home)
    monkeypatch.setenv("RANKING_HOME", str(home))
    return replace(order_home, home=home)


@pytest.fixture
def taught(taught_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: list[Run]) -> Store:
    """A copy of the home with a lesson's trainings, `taught_once` of the tests' own module, as the home of the app."""
    copy_home(taught_once, tmp_path / "home")
    monkeypatch.setenv("RANKING_HOME", str(tmp_path / "home"))
    return Store(tmp_path / "home")


@pytest.fixture
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A home without anything, as the home of the app."""
    monkeypatch.setenv("RANKING_HOME", str(tmp_path / "empty"))
    return Store(tmp_path / "empty")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Run]]:
    """The runs that pages start; this process holds them as a worker would, and leaves them queued."""
    runs: list[Run] = []
    locks: list[int] = []

    def hold(folder: Path) -> None:
        locks.append(jobs.take_lock(folder))

    def start(store: Store, kind: Any, settings: dict[str, Any]) -> Run:
        run = store.create_run(kind, json.loads(json.dumps(settings)), hold, once=True)
        if run.id not in [known.id for known in runs]:
            runs.append(run)
        return run

    def start_filled(store: Store, kind: Any, settings: dict[str, Any], fill: Any = None) -> Run:
        run = store.create_run(kind, json.loads(json.dumps(settings)), hold)
        fill(run)
        runs.append(run)
        return run

    monkeypatch.setattr(jobs, "start_once", start)
    monkeypatch.setattr(jobs, "start", start_filled)
    monkeypatch.setattr(jobs, "poll", lambda store, run_id: store.run(run_id))
    yield runs
    for lock in locks:
        os.close(lock)


@pytest.fixture
def open_page() -> Open:
    """Open a page at an address: open_page("train", run="...")."""

    def open_it(page: str, /, **query: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
        app.switch_page(f"pages/{page}.py")
        for name, value in query.items():
            app.query_params[name] = value
        return app.run()

    return open_it
