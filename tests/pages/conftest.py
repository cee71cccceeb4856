"""What the tests of the pages share."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import browser, furnished, server, visit  # noqa: F401 (fixtures)
from homes import (  # noqa: F401 (fixtures)
    empty_home,
    filled,
    homes,
    label_home,
    labels_here,
    laboratory,
    order_home,
    orders_here,
    taught,
)
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from ranking import jobs
from ranking.run import Run
from ranking.store import Store

ROOT = Path(__file__).parents[2]

Open = Callable[..., AppTest]

# Each AppTest looks through all installed distributions for components when it opens, and always finds the same.
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)


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
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
        app.switch_page(f"pages/{page}.py")
        for name, value in query.items():
            app.query_params[name] = value
        return app.run()

    return open_it
