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
from large_import import Person
from streamlit_tab import Tab
from timing import table

from pages import Server, serving
from ranking.storage.run import ENDED, Run
from ranking.storage.store import Store

# one of this many image sets is added, the other imports are cancelled
ADDED = 10
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


class Bringer(Person):
    """A user who imports one broken file after the other on the page Image sets."""

    def __init__(self, server: Server, home: Path) -> None:
        super().__init__(Tab(server.url), Store(home))
        self.server = server
        self.came, self.memory, self.slowest, self.uploads = Counter[str](), 0.0, 0.0, 0

    async def bring_all(self, files: Iterator[tuple[str, bytes]], beside: Path) -> None:
        async with self.tab:
            for number, (name, data) in enumerate(files):
                self.slowest = max(self.slowest, await self.tab.open("image_sets"))
                if number % 2:
                    await self.tab.drop(f"widget upload {self.uploads}", name, data)
                    self.uploads += 1
                else:
                    place = beside / f"{number}.zip"
                    place.write_bytes(data)
                    await self.type(place)
                self.came["read"] += 1
                await self.go_on()
                self.memory = max(self.memory, self.server.memory())

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
            self.came["known already" if run.result["known"] else "added"] += 1

    async def press(self, key: str) -> bool:
        """Press a button; return whether it exists."""
        try:
            await self.tab.press(key)
        except LookupError:
            return False
        return True


def left(store: Store) -> list[Path]:
    """Return the uploads and drafts that still exist although their import did not finish."""
    unfinished = [run for run in store.runs.all_own("import") if run.state != "finished"]
    return [path for run in unfinished for path in (run.uploaded_file, run.draft) if path.exists()]


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
                # the files of the last import are removed shortly after it has ended
                time.sleep(0.1)
        extra = [path.name for path in Path(folder).iterdir() if path.name not in ("home", "beside")]
    print(f"\n{count} of them to a server, every second one uploaded on its page, in {seconds:.0f} s\n")
    print(table(["outcome", "files"], [[what, str(times)] for what, times in bringer.came.items()]))
    print(
        f"\nthe server answers at the end: {answers}; its memory at most {bringer.memory:.0f} MB; the slowest page "
        f"{bringer.slowest:.2f} s; exceptions on pages: {len(bringer.tab.exceptions)}; files left: {len(there)}"
    )
    print(*bringer.tab.exceptions[:10], *there[:10], *extra, sep="\n")
    return (
        answers
        and not there
        and not extra
        and not bringer.tab.exceptions
        and bringer.memory <= MUST_MEGABYTES
    )
