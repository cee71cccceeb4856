"""Broken files on a real server: uploaded on its page or by path, read, then added or cancelled."""

from __future__ import annotations

import asyncio
import itertools
import os
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from fuzz_kinds import KINDS
from fuzz_worker import file_of
from streamlit_tab import Tab
from timing import table

from pages import Server, serving
from ranking.jobs.import_questions import open_question
from ranking.storage.run import ENDED, Run
from ranking.storage.store import Store

LONGEST = 120.0  # seconds of a worker
ADDED = 10  # one of this many image sets is added, the other imports are cancelled
MUST_MEGABYTES = 500


def broken_files(count: int, seed: str) -> Iterator[tuple[str, bytes]]:
    """Yield the first broken ZIP files of each kind, in turn, with names as users could give them."""
    kinds = [kind for kind in (make() for make in KINDS) if kind.pack is not None]
    for number in range(count):
        kind = kinds[number % len(kinds)]
        assert kind.pack is not None
        yield (
            f"{kind.name} <img src=x onerror=ran=1> {number}.zip",
            kind.pack(*file_of(kind, seed, number // len(kinds))),
        )


class Bringer:
    """A user who imports one broken file after the other on the page Image sets."""

    def __init__(self, server: Server, home: Path) -> None:
        self.server, self.store, self.tab = server, Store(home), Tab(server.url)
        self.came, self.memory, self.slowest, self.uploads = Counter[str](), 0.0, 0.0, 0
        self.kept: list[str] = []

    async def bring_all(self, files: Iterator[tuple[str, bytes]], beside: Path) -> None:
        async with self.tab:
            for number, (name, data) in enumerate(files):
                await self.page()
                if number % 2:
                    await self.tab.drop(f"widget upload {self.uploads}", name, data)
                    self.uploads += 1
                else:
                    place = beside / f"{number}.zip"
                    place.write_bytes(data)
                    await self.tab.type("widget path of an import", str(place))
                    await self.tab.press("read import")
                self.came["read"] += 1
                await self.go_on()
                self.memory = max(self.memory, self.server.memory())

    async def page(self, **query: str) -> None:
        self.slowest = max(self.slowest, await self.tab.open("image_sets", **query))

    async def go_on(self) -> None:
        """Decide about what was read."""
        run = await self.asks_or_ended()
        if run.state in ENDED:
            self.came["refused at the reading"] += 1
        elif self.came["read"] % ADDED or not await self.press("add set"):
            await self.press(f"cancel import {run.id}")
            self.came["cancelled"] += 1
        else:
            await self.added(run)

    async def added(self, run: Run) -> None:
        """Agree to all further questions; note how the import ends."""
        while (run := await self.asks_or_ended()).state not in ENDED:
            await self.press("add set")
        if run.state != "finished":
            self.came["refused at the import"] += 1
        else:
            self.kept.append(run.result["key"])
            self.came["known already" if run.result["known"] else "added"] += 1

    async def asks_or_ended(self) -> Run:
        """Return the import in the URL as soon as it asks or has ended, with the page that shows this."""
        run_id, last = self.tab.query["import"], time.monotonic() + LONGEST
        while (run := self.store.runs.get(run_id)).state not in ENDED and open_question(run) is None:
            if time.monotonic() > last:
                raise TimeoutError(f"import {run_id} is {run.state} after {LONGEST:g} s")
            await asyncio.sleep(0.05)
        await self.page(**{"import": run_id})
        return run

    async def press(self, key: str) -> bool:
        """Press a button; return whether it exists."""
        try:
            await self.tab.press(key)
        except LookupError:
            return False
        return True


def left(store: Store) -> list[Path]:
    """Return the folders of imports that still exist although they did not finish."""
    kept = {run.folder for run in store.runs.all_own("import") if run.state == "finished"}
    return [folder for folder in store.home.glob("runs/*") if folder not in kept]


def bring_to_server(count: int, seed: str) -> bool:
    """Print the outcomes for `count` files; return whether the server survives with no leftover folders."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home, beside = Path(folder) / "home", Path(folder) / "beside"
        beside.mkdir()
        os.environ.setdefault("RANKING_WORKER_MEMORY", str(2 * 10**9))
        with serving(home) as server:
            bringer = Bringer(server, home)
            begun = time.monotonic()
            asyncio.run(bringer.bring_all(itertools.islice(broken_files(count, seed), count), beside))
            seconds = time.monotonic() - begun
            with urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=5) as answer:
                answers = answer.status == 200 and server.process.poll() is None
            deadline = time.monotonic() + 10
            while (there := left(bringer.store)) and time.monotonic() < deadline:
                time.sleep(0.1)  # the folder of the last import is removed shortly after its row has ended
        extra = [path.name for path in Path(folder).iterdir() if path.name not in ("home", "beside")]
    print(f"\n{count} of them to a server, every second one uploaded on its page, in {seconds:.0f} s\n")
    print(table(["outcome", "files"], [[what, str(times)] for what, times in bringer.came.items()]))
    print(
        f"\nthe server answers at the end: {answers}; its memory at most {bringer.memory:.0f} MB; the slowest page "
        f"{bringer.slowest:.2f} s; exceptions on pages: {len(bringer.tab.exceptions)}; folders left: {len(there)}"
    )
    print(*bringer.tab.exceptions[:10], *there[:10], *extra, sep="\n")
    return (
        answers
        and not there
        and not extra
        and not bringer.tab.exceptions
        and bringer.memory <= MUST_MEGABYTES
    )
