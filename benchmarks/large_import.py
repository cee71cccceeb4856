"""How long does a ZIP file of 10,000 photographs take from its path to a page that shows them?

    python benchmarks/large_import.py [--images 10000]

A VOC ZIP file of noise and shapes, 500 x 375 pixels and about 100 kB each, is made first, which is not timed. A server
is started on a temporary data folder. A tab without a browser (`streamlit_tab.py`) enters the path on the page, waits
for the preview, presses Import, and keeps the set; the time ends when the page with the set's first images has
answered. Meanwhile the memory of the server and of the worker, and the reported progress, are read every tenth of a
second. Then the same file is imported again and cancelled half way: how long until the worker has stopped, and until
all its files are removed, by the bytes in the data folder.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw
from streamlit_tab import Tab
from timing import machine, memory_of, options_of, table

from pages import Server, serving
from ranking.storage.events import last_events
from ranking.storage.import_questions import open_question
from ranking.storage.run import ENDED, RECORD, Run
from ranking.storage.store import Store

SIZE = (500, 375)
# which give about 100 kB
QUALITY, NOISE = 90, 21.0
CLASSES = ("car", "dog", "person", "ship", "tree")
MUST = {"minutes": 4.0, "server": 500.0, "left": 0}
POLL_SECONDS = 0.1
# seconds of an import
LONGEST = 1200.0


# ---------------------------------------------------------------------------------------------------------
# The imported file
# ---------------------------------------------------------------------------------------------------------


def make_zip(path: Path, images: int) -> None:
    """Write a VOC ZIP file with that many photographs, a third of them in the test split."""
    names = [f"{number:06}" for number in range(images)]
    with ThreadPoolExecutor(2) as pool, zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
        for part, chosen in (
            ("trainval", lambda number: number % 3),
            ("test", lambda number: not number % 3),
        ):
            listed = "".join(f"{name}\n" for number, name in enumerate(names) if chosen(number))
            file.writestr(f"VOCdevkit/VOC2007/ImageSets/Main/{part}.txt", listed)
        for name, (picture, xml) in zip(names, pool.map(photograph, range(images), names), strict=True):
            file.writestr(f"VOCdevkit/VOC2007/JPEGImages/{name}.jpg", picture)
            file.writestr(f"VOCdevkit/VOC2007/Annotations/{name}.xml", xml, zipfile.ZIP_DEFLATED)


def photograph(seed: int, name: str) -> tuple[bytes, str]:
    """Return an image with one to four objects, and its VOC annotation."""
    random = np.random.default_rng(seed)
    picture = Image.linear_gradient("L").resize(SIZE).convert("RGB")
    draw, objects = ImageDraw.Draw(picture), []
    for _ in range(random.integers(1, 5)):
        left, top = int(random.integers(0, 380)), int(random.integers(0, 270))
        right, bottom = left + int(random.integers(40, 120)), top + int(random.integers(40, 105))
        kind = int(random.integers(len(CLASSES)))
        draw.ellipse((left, top, right, bottom), fill=tuple(random.integers(0, 256, 3).tolist()))
        edges = f"<xmin>{left + 1}</xmin><ymin>{top + 1}</ymin><xmax>{right}</xmax><ymax>{bottom}</ymax>"
        objects.append(f"<object><name>{CLASSES[kind]}</name><bndbox>{edges}</bndbox></object>")
    noise = random.standard_normal((SIZE[1], SIZE[0], 1), np.float32) * NOISE
    stream = io.BytesIO()
    Image.fromarray(np.clip(np.asarray(picture) + noise, 0, 255).astype(np.uint8)).save(
        stream, "JPEG", quality=QUALITY
    )
    size = "<size><width>{}</width><height>{}</height></size>".format(*SIZE)
    return (
        stream.getvalue(),
        f"<annotation><filename>{name}.jpg</filename>{size}{''.join(objects)}</annotation>",
    )


# ---------------------------------------------------------------------------------------------------------
# Measurements
# ---------------------------------------------------------------------------------------------------------


class Watch:
    """Reads memory and progress of server and workers every LOOK_SECONDS."""

    def __init__(self, server: Server, store: Store) -> None:
        self.server, self.store = server, store
        # Megabytes of the server.
        self.at_first = self.most = server.memory()
        # Most megabytes of a worker, and the longest time between two of its progress reports, in seconds.
        self.worker = self.silence = 0.0
        self._heard: dict[str, tuple[int, float]] = {}

    def sample(self) -> None:
        self.most = max(self.most, self.server.memory())
        for run in self.store.runs.all_own("import"):
            if run.state == "running" and run.pid is not None:
                self.worker = max(self.worker, memory_of(run.pid)["VmHWM"] / 2**20)
                self._listen(run)

    def _listen(self, run: Run) -> None:
        now, size = time.monotonic(), run.events_file.stat().st_size if run.events_file.exists() else 0
        before, since = self._heard.get(run.id, (-1, now))
        self.silence = max(self.silence, now - since)
        if size != before:
            self._heard[run.id] = (size, now)


@contextlib.contextmanager
def watching(watch: Watch) -> Iterator[Watch]:
    done = threading.Event()

    def go_on() -> None:
        while not done.wait(POLL_SECONDS):
            watch.sample()

    thread = threading.Thread(target=go_on, daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        done.set()
        thread.join()


def size_of(home: Path) -> dict[str, int]:
    """Return every file of a data folder with its bytes, without records of imports and their locks."""
    return {
        str(path): path.stat().st_size
        for path in home.rglob("*")
        if path.is_file() and path.name not in (RECORD, "lock")
    }


class Person:
    """A user of the page Image sets who imports files."""

    def __init__(self, tab: Tab, store: Store) -> None:
        self.tab, self.store = tab, store

    async def type(self, path: Path) -> None:
        """Enter a path on the open page, and have it read."""
        await self.tab.type("widget path of an import", str(path))
        await self.tab.press("read import")

    async def asks_or_ended(self) -> Run:
        """Return the import in the URL as soon as it asks or has ended, with the page that shows this."""
        run = await self.ended(or_asks=True)
        await self.tab.open("image_sets", **{"import": run.id})
        return run

    async def ended(self, or_asks: bool = False) -> Run:
        run_id, last = self.tab.query["import"], time.monotonic() + LONGEST
        while (run := self.store.runs.get(run_id)).state not in ENDED:
            if or_asks and open_question(run) is not None:
                break
            if time.monotonic() > last:
                raise TimeoutError(f"import {run_id} is {run.state} after {LONGEST:g} s")
            await asyncio.sleep(POLL_SECONDS)
        return run

    async def sample(self, path: Path) -> None:
        await self.tab.open("image_sets")
        await self.type(path)
        await self.asks_or_ended()

    async def bring(self, path: Path) -> list[list[str]]:
        """Import, from the path to the page with the first images."""
        rows, begun = [], time.perf_counter()

        def note(what: str, since: float) -> float:
            now = time.perf_counter()
            rows.append([what, f"{now - since:.1f}"])
            # at once, because the whole takes minutes
            print(": ".join(rows[-1]), "s", flush=True)
            return now

        await self.sample(path)
        looked = note("read", begun)
        await self.tab.press("add set")
        run = await self.ended()
        if run.state != "finished":
            raise RuntimeError(f"the import is {run.state}: {run.reason}")
        imported = note(
            f"imported: {run.result['images']:,} images, {run.result['samples']:,} samples", looked
        )
        await self.tab.open("image_sets", **{"import": run.id})
        note("the page shows the first images", imported)
        rows.append(["all of it", f"{time.perf_counter() - begun:.1f}"])
        return rows

    async def give_up(self, path: Path, share: float) -> tuple[float, float, dict[str, int]]:
        """Import again and cancel after that share; return two times in seconds, and leftover files."""
        # The times until the worker has stopped, and until the data folder is as before.
        before = size_of(self.store.home)
        await self.sample(path)
        await self.tab.press("add set")
        run = self.store.runs.get(self.tab.query["import"])
        while not self._is_done(run, share):
            await asyncio.sleep(POLL_SECONDS)
        begun = time.perf_counter()
        await self.tab.press(f"cancel {run.id}")
        stopped = await self.ended()
        seconds, last = time.perf_counter() - begun, time.perf_counter() + 60
        if stopped.state != "cancelled":
            raise RuntimeError(f"the import is {stopped.state}, not cancelled")
        while (after := size_of(self.store.home)) != before and time.perf_counter() < last:
            await asyncio.sleep(0.02)
        extra = {name: size for name, size in after.items() if before.get(name) != size}
        return seconds, time.perf_counter() - begun, extra

    def _is_done(self, run: Run, share: float) -> bool:
        events = [event for event in last_events(run) if event.get("what") == "Importing images"]
        return bool(events) and events[-1]["done"] >= share * events[-1]["total"]


async def measure(
    server: Server, store: Store, place: Path
) -> tuple[list[list[str]], tuple[float, float, dict[str, int]]]:
    tab = Tab(server.url)
    async with tab:
        person = Person(tab, store)
        rows = await person.bring(place)
        given_up = await person.give_up(place, 0.5)
        if tab.exceptions:
            raise RuntimeError(f"exceptions on pages: {tab.exceptions}")
    return rows, given_up


def main() -> None:
    options = options_of(__doc__, images=(10_000, 60))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path, home = Path(folder) / "photographs.zip", Path(folder) / "home"
        make_zip(path, options.images)
        os.environ["RANKING_HOME"] = str(home)
        with serving(home) as server, watching(Watch(server, Store(home))) as watch:
            rows, (stopped, gone, left) = asyncio.run(measure(server, Store(home), path))
        megabytes = path.stat().st_size / 1e6
    print(f"{machine()}; {megabytes:,.0f} MB\n")
    print(table(["step", "seconds"], rows))
    print(
        f"\nmemory: server {watch.at_first:.0f} MB at first, {watch.most:.0f} at most; "
        f"workers {watch.worker:.0f} at most"
    )
    print(f"longest time without a progress report: {watch.silence:.1f} s")
    print(
        f"cancelled: stopped after {stopped:.2f} s, removed after {gone:.2f} s; bytes left {sum(left.values())}"
    )
    minutes = float(rows[-1][1]) / 60
    slow = minutes > MUST["minutes"] or watch.most > MUST["server"]
    if left or (slow and not options.smoke):
        raise SystemExit(
            f"more than {MUST['minutes']:g} minutes or {MUST['server']:g} MB, or files are left: {left}"
        )


if __name__ == "__main__":
    main()
