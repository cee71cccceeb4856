"""How long does a page take to appear, and how much memory does the server need?

    python benchmarks/pages.py [--rounds 9] [--samples 5000 100000]

Sets of 5,000 and of 100,000 samples, with a run each, are generated in a temporary data folder. A server is started,
and a headless Chromium measures inside the page: from the click on a link until every thumbnail in view is decoded, and
from a click on a thumbnail until the server's answer is on the page, also where four rankings are compared. A new
browser tab has to load Streamlit's own scripts first, which is listed separately. Figures are medians, with the least
next to them, because a busy machine makes all of them longer.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright
from timing import generated_set, machine, memory_of, options_of, table

from ranking import Query, make_method
from ranking.commands import worker
from ranking.core import SourceBox, SourceImage
from ranking.datasets.decoding import Decoded
from ranking.datasets.folder import CheckedImage, ImageSetWriter
from ranking.datasets.thumbnails import CROP_SIDE, IMAGE_SIDE, thumbnail
from ranking.features import make_feature
from ranking.metrics import evaluate
from ranking.solvers.risk import UNKNOWN
from ranking.storage import jobs
from ranking.storage.events import Report, last_events
from ranking.storage.run import ENDED
from ranking.storage.store import Store

ROOT = Path(__file__).parents[1]
# boxes per image, and classes of the set
BOXES, CLASSES = 10, 10
# of a box in pixels
SIDE = 200
# compared rankings
COMPARED = 4
# number of different images; a set repeats them under other names
POOL = 40
FEATURES: list[Any] = [["HOG", {}], ["Colour", {}]]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]

# Resolves, at the end of the frame, to the milliseconds since `from` when `holds` first held.
WATCH = """(() => {
    const grid = () => [...document.querySelectorAll('[class*="st-key-widget"] *')]
        .find((one) => one.shadowRoot?.querySelector(".grid"))?.shadowRoot.querySelector(".grid");
    const painted = (label) => {
        const found = grid();
        if (!found?.children.length || !found.getAttribute("aria-label").startsWith(label)) return false;
        const { top, bottom } = found.getBoundingClientRect();
        const seen = [...found.children].filter((tile) => {
            const box = tile.getBoundingClientRect();
            return box.bottom > Math.max(top, 0) && box.top < Math.min(bottom, innerHeight);
        });
        return seen.length > 0 && seen.every((tile) => tile.querySelector("img").naturalWidth > 0);
    };
    const says = (text) => [...document.querySelectorAll("h4")].some((one) => one.innerText.startsWith(text));
    const ranks = () => [...document.querySelectorAll("p")]
        .find((one) => one.innerText.startsWith("Ranks:"))?.innerText;
    const rows = () => [...document.querySelectorAll('[class*="st-key-widget"] *')]
        .find((one) => one.shadowRoot?.querySelector(".rows .tile"))?.shadowRoot;
    const until = (holds, from) => new Promise((resolve, reject) => {
        const begun = performance.now();
        const look = () => {
            if (holds()) setTimeout(() => resolve(performance.now() - from));
            else if (performance.now() - begun > 60000) reject(new Error("nothing happened for 60 s"));
            else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
    });
    const strip = () => {  // the thumbnails of the start page
        const tiles = [...document.querySelectorAll('[class*="st-key-widget"] *')]
            .flatMap((one) => [...(one.shadowRoot?.querySelectorAll(".strip img") ?? [])]);
        return tiles.length > 0 && tiles.every((one) => one.naturalWidth > 0);
    };
    window.bench = {
        opened: (label) => until(() => painted(label), 0),
        started: () => until(strip, 0),
        go: async (name, label) => {
            const link = () => [...document.querySelectorAll("a")].find((one) => one.innerText.trim() === name);
            await until(link, 0);
            const from = performance.now();
            link().click();
            return until(() => painted(label), from);
        },
        compared: () => until(() => rows() && ranks(), 0),
        follow: (number) => {
            const [from, before] = [performance.now(), ranks()];
            rows().querySelectorAll(".tile")[number].click();
            return until(() => ranks() && ranks() !== before, from);
        },
        choose: (number) => {
            const from = performance.now();
            grid().children[number].click();
            return until(() => says(`Rank ${number + 1} `), from);
        },
    };
})()"""


# ---------------------------------------------------------------------------------------------------------
# Image sets and runs
# ---------------------------------------------------------------------------------------------------------


def fill(store: Store, samples: int) -> str:
    """Add a set of `samples` boxes and a run on it; return the id of the run."""
    with tempfile.TemporaryDirectory() as folder:
        write_set(Path(folder) / "set", samples, f"{samples:,} boxes")
        return trained(store, store.sets.add(Path(folder) / "set", "benchmark"))


def trained(store: Store, key: str, seed: int = 0) -> str:
    """Add a run on a set with scores that are better than chance; return its id."""
    settings = requests(key)
    run = store.runs.create("train", settings)
    images = store.sets.get(key)
    relevance = images.relevance(settings["query"])
    scores = np.random.default_rng(seed).standard_normal(len(images)) + 2.0 * relevance
    np.save(run.scores_file, scores)
    some_method(settings).save(run.model_file)
    parts = {"train": ~images.test, "test": images.test}
    store.runs.end(
        run.id,
        "finished",
        result={"certificate": None}
        | {name: evaluate(relevance[part], scores[part]) for name, part in parts.items()},
    )
    return run.id


def add_generated(store: Store, name: str, images: int) -> str:
    """Generate a set and add it to the store; return its key."""
    with tempfile.TemporaryDirectory() as scratch:
        generated_set(name, Path(scratch) / "set", images=images)
        return store.sets.add(Path(scratch) / "set", name)


def train_here(store: Store, settings: dict[str, Any]) -> str:
    """Execute a training run in this process; return its id."""
    run = store.runs.create("train", settings)
    report = Report(run.events_file)
    store.runs.end(run.id, "finished", result=worker.train(store, run, report))
    report.flush()
    return run.id


def requests(key: str, **settings: Any) -> dict[str, Any]:
    return {
        "set": key,
        "features": FEATURES,
        "query": "class 0",
        "method": "AP-SVM",
        "method_settings": settings,
        "warm_start": None,
    }


def some_method(settings: dict[str, Any]) -> Any:
    """Return a method with weights of the right length, from a few random samples."""
    size = sum(make_feature(name, **options).size for name, options in settings["features"])
    features = np.random.default_rng(0).standard_normal((60, size))
    method = make_method(settings["method"]).fit([Query(features, np.arange(60) % 3 == 0)])
    # its training samples are not those of the set
    method.solution = replace(method.solution, coefficients=UNKNOWN)
    return method


def write_set(folder: Path, samples: int, title: str) -> None:
    """Write images of noise and shapes, of which POOL differ."""
    # Pages then read as many bytes as for photographs.
    generator = np.random.default_rng(0)
    pool = [photograph(generator) for _ in range(min(POOL, samples // BOXES))]
    boxes = [(SIDE * n // 2, 0, SIDE * n // 2 + SIDE, SIDE) for n in range(BOXES)]
    crops = [[thumbnail(picture.crop(box), CROP_SIDE) for box in boxes] for picture, _ in pool]
    small = [thumbnail(picture, IMAGE_SIDE) for picture, _ in pool]
    with ImageSetWriter(folder) as writer:
        for number in range(samples // BOXES):
            picture, data = pool[number % POOL]
            # Equal boxes of different classes, so that no training run on them ends soon.
            shown = [f"class {(n + number // POOL) % CLASSES}" for n in range(BOXES)]
            boxes_of_image = [(SourceBox(box, (shown[n],), number=n), box) for n, box in enumerate(boxes)]
            record = SourceImage(
                f"{number:06d}", data, tuple(box for box, _ in boxes_of_image), test=number % 2 == 0
            )
            stored = Decoded(picture, data, ".jpg", hashlib.sha256(data).hexdigest())
            writer.add(
                CheckedImage(
                    record, stored, picture.size, boxes_of_image, crops[number % POOL], small[number % POOL]
                )
            )
    writer.finish(title)


def photograph(generator: np.random.Generator) -> tuple[Image.Image, bytes]:
    width, height = SIDE * (BOXES + 1) // 2, SIDE
    coarse = Image.fromarray(generator.integers(0, 256, (12, 66, 3), np.uint8)).resize((width, height))
    noise = Image.fromarray(generator.integers(0, 256, (height, width, 3), np.uint8))
    picture = Image.blend(coarse, noise, 0.15)
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=85)
    return picture, stream.getvalue()


# ---------------------------------------------------------------------------------------------------------
# The server
# ---------------------------------------------------------------------------------------------------------


class Server:
    """`streamlit run app.py` on a free port."""

    def __init__(self, home: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        options = ["--server.port", str(port), "--server.address", "127.0.0.1", "--server.headless", "true"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "app.py", *options],
            cwd=ROOT,
            env={**os.environ, "RANKING_HOME": str(home), "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        # two minutes: the machine may be busy with something else
        for _ in range(6000):
            try:
                urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise TimeoutError("the server did not answer")

    def memory(self) -> float:
        """Return the resident memory in megabytes."""
        return memory_of(self.process.pid)["VmRSS"] / 2**20

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(10)


@contextmanager
def serving(home: Path) -> Iterator[Server]:
    server = Server(home)
    try:
        yield server
    finally:
        server.stop()


# ---------------------------------------------------------------------------------------------------------
# Measurements, in seconds
# ---------------------------------------------------------------------------------------------------------


def opened(page: Page, url: str, label: str) -> float:
    """Time a new document: Streamlit's scripts, the connection, the page, every thumbnail in view."""
    page.goto(url, wait_until="commit")
    return float(page.evaluate("label => bench.opened(label)", label)) / 1000


def grid_figures(page: Page, url: str, run: str, rounds: int) -> dict[str, list[float]]:
    """Time for one set: opening its ranking, coming to it from another page, choosing a sample."""
    address = f"{url}/ranked_images?run={run}"
    opened(page, address, "Ranked")
    new = [opened(page, address, "Ranked") for _ in range(rounds)]
    come = []
    for _ in range(rounds):
        page.get_by_role("link", name="Training", exact=True).click()
        page.get_by_role("heading", level=1, name="Train", exact=True).wait_for()
        page.wait_for_timeout(700)
        come.append(page.evaluate("bench.go('Ranking', 'Ranked')") / 1000)
        page.wait_for_timeout(700)
    return {"new": new, "come": come, "click": clicks(page, rounds)}


def clicks(page: Page, rounds: int) -> list[float]:
    times = []
    for number in range(1, rounds + 1):
        times.append(page.evaluate("number => bench.choose(number)", number) / 1000)
        page.wait_for_timeout(500)
    return times


def clicks_while_training(page: Page, url: str, store: Store, run: str, rounds: int) -> list[float]:
    """Time clicks during a training run, which is cancelled after them."""
    opened(page, f"{url}/ranked_images?run={run}", "Ranked")
    never = requests(store.runs.get(run).settings["set"], C=1e7, tolerance=1e-7, max_iterations=1_000_000)
    training = jobs.start_once(store, "train", never)
    try:
        while training.state == "queued" or not any(
            event["event"] == "iteration" for event in last_events(training)
        ):
            time.sleep(0.2)
            training = jobs.poll(store, training.id)
            if training.state in ENDED:
                raise RuntimeError(f"the run is {training.state} too soon: {training.reason}")
        times = clicks(page, rounds)
        if jobs.poll(store, training.id).state != "running":
            raise RuntimeError("the run ended before the clicks did")
        return times
    finally:
        jobs.cancel(store, training.id)


def compared(page: Page, url: str, runs: Sequence[str], rounds: int) -> list[float]:
    """Time a click on an image on the page Compare until the page shows the ranks of that sample."""
    page.goto(f"{url}/compare?compared={','.join(runs)}", wait_until="commit")
    page.evaluate("bench.compared()")
    page.wait_for_timeout(1000)
    times = []
    for number in range(2, rounds + 2):
        times.append(page.evaluate("number => bench.follow(number)", number) / 1000)
        page.wait_for_timeout(500)
    return times


def starts(page: Page, home: Path, rounds: int) -> list[float]:
    """Time the command until the page is painted; the first start in a data folder copies the examples."""
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        with serving(home) as server:
            page.goto(server.url, wait_until="commit")
            page.evaluate("bench.started()")
            times.append(time.perf_counter() - begun)
    return times


@contextmanager
def browsing() -> Iterator[Page]:
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(120_000)
        page.add_init_script(WATCH)
        yield page
        browser.close()


def row(what: str, must: str, times: Sequence[float], unit: str = "s") -> list[str]:
    shown = f"{statistics.median(times):.3g} {unit}"
    return [what, must, shown, f"{min(times):.3g} {unit}"]


def measured(page: Page, home: Path, store: Store, rounds: int, sizes: Sequence[int]) -> list[list[str]]:
    rows = []
    with serving(home) as server:
        for size in sizes:
            run = fill(store, size)
            figures = grid_figures(page, server.url, run, rounds)
            first = size == sizes[0]
            rerun = "<= 0.15 s" if first else "<= 0.25 s"
            rows.append(
                row(f"{size:,}: 200 thumbnails, in view", "<= 0.6 s" if first else "", figures["come"])
            )
            rows.append(row(f"{size:,}: the same in a new tab", "", figures["new"]))
            rows.append(row(f"{size:,}: click on a thumbnail, answered", rerun, figures["click"]))
            if first:
                answered = clicks_while_training(page, server.url, store, run, rounds)
                rows.append(row(f"{size:,}: the same during a training run", "<= 0.25 s", answered))
                key = store.runs.get(run).settings["set"]
                baselines = [run, *(trained(store, key, seed) for seed in range(1, COMPARED))]
                clicked = compared(page, server.url, baselines, rounds)
                rows.append(row(f"{size:,}: click on Compare, {COMPARED} rankings", "<= 0.3 s", clicked))
                rows.append(row(f"{size:,}: memory of the server", "<= 500 MB", [server.memory()], "MB"))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as new:
        rows.append(row("first start to a usable page", "", starts(page, Path(new) / "home", 1)))
    rows.append(row("later start to a usable page", "<= 4 s", starts(page, home, min(rounds, 5))))
    return rows


def main() -> None:
    options = options_of(__doc__, rounds=(9, 1), samples=([5_000, 100_000], [800]))
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, browsing() as page:
        home = Path(folder) / "home"
        rows = measured(page, home, Store(home), options.rounds, options.samples)
    print(f"{machine()}; load {before:.1f} before, {os.getloadavg()[0]:.1f} after\n")
    print(table(["what", "must reach", "median", "least"], rows))


if __name__ == "__main__":
    main()
