"""What the tests of the pages share."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import browser, server, visit  # noqa: F401 (fixtures)
from homes import (  # noqa: F401 (fixtures)
    described,
    empty_home,
    figures,
    filled,
    fresh_home,
    furnished,
    homes,
    label_home,
    labels_here,
    laboratory,
    neighbourhood,
    object_home,
    objects_here,
    order_home,
    orders_here,
    scenes_home,
)
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ElementTree

from ranking.storage import jobs
from ranking.storage.run import Run
from ranking.storage.run_settings import OwnImageSettings
from ranking.storage.store import Store

ROOT = Path(__file__).parents[2]

Open = Callable[..., AppTest]

# Each AppTest looks through all installed distributions for components when it opens, and always finds the same.
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)


@pytest.fixture(autouse=True)
def no_run_raises(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No run of a page may end with an exception, whatever its test looks at, nor touch the home of who tests."""
    monkeypatch.setenv("RANKING_HOME", str(tmp_path / "no home"))
    run = ElementTree.run

    def run_soundly(tree: ElementTree, *, timeout: float | None = None) -> AppTest:
        app = run(tree, timeout=timeout)
        assert not app.exception
        return app

    monkeypatch.setattr(ElementTree, "run", run_soundly)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Run]]:
    """The runs that pages start, which stay queued in this process."""
    # An uploaded image, for which a page waits, has a real worker.
    start_worker, poll = jobs.start, jobs.poll
    runs: list[Run] = []
    locks: list[int] = []

    def hold(folder: Path) -> None:
        locks.append(jobs.take_lock(folder))

    def start(store: Store, kind: Any, settings: Any, fill: Any = None, **how: Any) -> Run:
        if settings.get("task") == OwnImageSettings.task:
            return start_worker(store, kind, settings, fill)
        run = store.runs.create(kind, json.loads(json.dumps(settings)), hold, **how)
        if fill is not None:
            fill(run)
        if run.id not in [known.id for known in runs]:
            runs.append(run)
        return run

    def polled(store: Store, run_id: str) -> Run:
        run = store.runs.get(run_id)
        return poll(store, run_id) if run.task == OwnImageSettings.task else run

    monkeypatch.setattr(jobs, "start_once", functools.partial(start, once=True))
    monkeypatch.setattr(jobs, "start", start)
    monkeypatch.setattr(jobs, "poll", polled)
    yield runs
    for lock in locks:
        os.close(lock)


@pytest.fixture
def open_page() -> Open:
    """Open a page at an address: open_page("train", run="...")."""

    def open_it(page: str, /, **query: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "laboratory.py"), default_timeout=120)
        app.switch_page(f"pages/{page}.py")
        for name, value in query.items():
            app.query_params[name] = value
        return app.run()

    return open_it
