"""What tests share."""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from dated_pictures import dated
from labelled_pictures import patches

from ranking.__main__ import main
from ranking.storage import store
from ranking.storage.store import BUNDLED, Store

BESIDE_THE_REPOSITORY = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data sets, no part of the product: $RANKING_REAL_DATA or ../shared/data."""
    folder = Path(os.environ.get("RANKING_REAL_DATA") or BESIDE_THE_REPOSITORY)
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set RANKING_REAL_DATA to its folder to run this test")
    return folder


@pytest.fixture(scope="session")
def labelled(tmp_path_factory):
    """48 images of many labels."""
    return patches(tmp_path_factory.mktemp("patches") / "set")


@pytest.fixture(scope="session")
def painted(tmp_path_factory):
    """60 images of some years."""
    return dated(tmp_path_factory.mktemp("dated") / "set")


@pytest.fixture(autouse=True, scope="session")
def no_examples() -> Iterator[None]:
    """Homes hold what their test puts there, and show no bundled image sets and runs; for these see `with_examples`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "BUNDLED", ())
        yield


@pytest.fixture
def with_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Homes show the bundled image sets and runs, as to users."""
    monkeypatch.setattr(store, "BUNDLED", BUNDLED)


@pytest.fixture
def elsewhere(tmp_path):
    """Another home, in which there is nothing yet."""
    return Store(tmp_path / "elsewhere")


MEMORY = resource.getrlimit(resource.RLIMIT_AS)


@pytest.fixture(autouse=True)
def memory_for_the_next_test():
    """Reset the memory limit that a worker sets for an import, in the process of a test."""
    # A browser that a later test starts would inherit it, and crash.
    yield
    resource.setrlimit(resource.RLIMIT_AS, MEMORY)


@pytest.fixture
def worker_here(monkeypatch):
    """What the worker's main does to its process (see working.here) is undone or left out."""
    monkeypatch.setattr(faulthandler, "enable", lambda: None)
    handler = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, handler)


@pytest.fixture
def command(capsys):
    """What a command says on stdout and on stderr, which ends with that code."""

    def run(name: str, *arguments: str, home: Path, code: int = 0) -> tuple[str, str]:
        capsys.readouterr()
        try:
            ended = main([name, "--home", str(home), *map(str, arguments)])
        except SystemExit as error:
            # of argparse
            ended = error.code
        assert ended == code
        return capsys.readouterr()

    return run
