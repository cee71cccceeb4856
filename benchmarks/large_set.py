"""A set of 100,000 samples: how fast are its pages, and how much memory does training need in addition to features?

    python benchmarks/large_set.py [--samples 100000] [--rounds 7]

A set of boxes with ten classes is generated in a temporary data folder, with a ranking and the features of its samples:
unit vectors with a small component towards their class, written directly to the cache of HOG and Colour, because
computing features is not measured here. Two things are measured.

Pages: the first complete run of Image sets and of Ranked images, each as the very first request to a newly started
server; then the same in new tabs, and reruns after a click on an image, the next page, or a filter. These are tabs
without a browser (`streamlit_tab.py`), which measure the server only.

Memory of a run: AP-SVM, in a worker, with memory-mapped features. Two figures of the worker's process: its own memory,
RssAnon + RssShmem of /proc/PID/status, the largest value of readings every few milliseconds; and VmHWM, the peak
resident memory by the kernel, which includes pages of mapped files. "Above the features" is VmHWM minus the size of the
(n, d) float32 matrix of features, counted once. The first run concatenates the parts of the features, the second finds
this done.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from streamlit_tab import Tab
from timing import machine, memory_of, options_of, table

from pages import FEATURES, fill, requests, serving
from ranking.core import ImageSet
from ranking.features import make_feature
from ranking.features.extract import cache_name
from ranking.storage import jobs
from ranking.storage.run import ENDED, Run
from ranking.storage.store import Store

# seconds, seconds, megabytes above the features
MUST_OPEN, MUST_RERUN, MUST_MEMORY = 2.0, 0.2, 1000.0
MB = 1e6
POLL_SECONDS = 0.003
# of a sample's features, the component towards its class: some 50 planes are needed
LEAN = 0.06
# rows that are generated at a time
ROWS = 2000
# position of the image that is clicked first
CLICKED = 7
SHEET, RANKED = "widget contact sheet", "widget sample"


# ---------------------------------------------------------------------------------------------------------
# Features in place of those of the images
# ---------------------------------------------------------------------------------------------------------


def write_features(store: Store, images: ImageSet) -> int:
    """Write the parts of FEATURES to the cache of a data folder; return the number of columns."""
    generator, columns = np.random.default_rng(0), 0
    for name, settings in FEATURES:
        feature = make_feature(name, **settings)
        columns += feature.size
        means = generator.standard_normal((len(images.classes), feature.size), np.float32)
        shape = (len(images), feature.size)
        file = np.lib.format.open_memmap(
            store.features.cache / cache_name(images.key, feature), "w+", np.float32, shape
        )
        for start in range(0, len(images), ROWS):
            rows = generator.standard_normal((min(ROWS, len(images) - start), feature.size), np.float32)
            rows += LEAN * images.labels[start : start + ROWS].astype(np.float32) @ means
            file[start : start + ROWS] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        file.flush()
    return columns


# ---------------------------------------------------------------------------------------------------------
# Memory of a run
# ---------------------------------------------------------------------------------------------------------


class Peak(NamedTuple):
    """The peaks of own and of resident memory, in megabytes, and the seconds of a worker."""

    own: float
    resident: float
    seconds: float


def peak_of(store: Store, settings: dict[str, Any]) -> tuple[Peak, Run]:
    """Train in a worker; return its peak memory, and the run."""
    begun = time.perf_counter()
    run = jobs.start(store, "train", settings)
    own = resident = 0.0
    while jobs.poll(store, run.id).state not in ENDED:
        memory = memory_of(run.pid)
        own = max(own, (memory["RssAnon"] + memory["RssShmem"]) / MB)
        resident = max(resident, memory["VmHWM"] / MB)
        time.sleep(POLL_SECONDS)
    run = store.runs.get(run.id)
    if run.state != "finished":
        raise RuntimeError(f"the run is {run.state}: {run.reason}")
    return Peak(own, resident, time.perf_counter() - begun), run


def training_runs(store: Store, key: str, columns: int, samples: int) -> tuple[list[list[str]], bool]:
    """Return a row per run, and whether all keep within the limit."""
    features, rows, within = samples * columns * 4 / MB, [], True
    for what, penalty in (("parts to be concatenated", 1000.0), ("concatenated already", 100.0)):
        peak, run = peak_of(store, requests(key, C=penalty))
        above = peak.resident - features
        within &= above <= MUST_MEMORY
        certificate = run.result["certificate"]
        megabytes = [f"{size:.0f}" for size in (features, peak.own, peak.resident, above)]
        test = f"{run.result['test']['AP']:.3f}"
        rows.append([what, *megabytes, f"{peak.seconds:.1f}", str(certificate["iterations"]), test])
    return rows, within


# ---------------------------------------------------------------------------------------------------------
# Pages
# ---------------------------------------------------------------------------------------------------------

Figures = dict[str, list[float]]


async def first_of(url: str, page: str, query: dict[str, str]) -> float:
    """Return the seconds of the first complete run of a page, in a new tab."""
    async with Tab(url) as tab:
        seconds = await tab.open(page, **query)
        _sound(tab)
        return seconds


async def rerun(
    url: str, page: str, query: dict[str, str], grid: str, changes_of: dict[str, dict[str, str]]
) -> Figures:
    """Time reruns of a page: clicks on images of its grid, changes of its URL to `changes_of` and back."""
    figures: Figures = {}
    async with Tab(url) as tab:
        await tab.open(page, **query)
        for place in (CLICKED, CLICKED + 1):
            one = tab.shown(grid)["items"][place]["id"]
            clicked = {"selected": {"id": one, "ids": [one], "click": place}}
            figures.setdefault("a click on an image", []).append(await tab.send(grid, clicked))
        for what, changes in changes_of.items():
            figures[what] = [await tab.rerun(**changes)]
            for name in changes:
                del tab.query[name]
            await tab.rerun()
        _sound(tab)
    return figures


def _sound(tab: Tab) -> None:
    if tab.exceptions:
        raise RuntimeError(f"the page failed: {tab.exceptions[0]}")


def page_figures(home: Path, key: str, run: str, rounds: int) -> tuple[list[list[str]], bool, float]:
    """Return a row per page and action, whether all keep within the limits, and the server's memory in megabytes."""
    rows, within, memory = [], True, 0.0
    for title, page, query, grid, changes_of in (
        (
            "Image sets",
            "image_sets",
            {"set": key},
            SHEET,
            {"the next page": {"sheet": "2"}, "a filter": {"sheet.class": "class 3"}},
        ),
        (
            "Ranked images",
            "ranked_images",
            {"run": run},
            RANKED,
            {"the next page": {"page": "2"}, "a filter": {"split": "train"}, "another k": {"k": "50"}},
        ),
    ):
        with serving(home) as server:
            first = asyncio.run(first_of(server.url, page, query))
            again = [asyncio.run(first_of(server.url, page, query)) for _ in range(rounds)]
            figures: Figures = {}
            for _ in range(rounds):
                for what, seconds in asyncio.run(rerun(server.url, page, query, grid, changes_of)).items():
                    figures.setdefault(what, []).extend(seconds)
            memory = max(memory, server.memory())
        shown = [(f"{title}: opened, first of all", MUST_OPEN, [first])]
        shown += [(f"{title}: opened in a new tab", MUST_OPEN, again)]
        shown += [(f"{title}: {what}", MUST_RERUN, seconds) for what, seconds in figures.items()]
        rows += [row(*cells) for cells in shown]
        within &= all(statistics.median(seconds) <= must for _, must, seconds in shown)
    return rows, within, memory


def row(what: str, must: float, seconds: list[float]) -> list[str]:
    return [
        what,
        f"<= {must:g}",
        f"{statistics.median(seconds):.3f}",
        f"{max(seconds):.3f}",
        str(len(seconds)),
    ]


def main() -> None:
    options = options_of(__doc__, samples=(100_000, 1_000), rounds=(7, 1))
    samples, rounds = options.samples, options.rounds
    print(f"{machine()}; {samples:,} samples\n")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder) / "home"
        store = Store(home)
        run = fill(store, samples)
        key = store.runs.get(run).settings["set"]
        pages, quick, memory = page_figures(home, key, run, rounds)
        print(table(["page", "must be, s", "median, s", "slowest, s", "times"], pages))
        print(f"\nmemory of the server: at most {memory:.0f} MB\n", flush=True)
        columns = write_features(store, store.sets.get(key))
        rows, within = training_runs(store, key, columns, samples)
    header = ["AP-SVM, features", "features, MB", "own memory, MB", "resident, MB", "above the features, MB"]
    print(table([*header, "seconds", "iterations", "test AP"], rows))
    if not (quick and within) and not options.smoke:
        raise SystemExit(
            f"pages must open in {MUST_OPEN} s and run again in {MUST_RERUN} s; a run may take "
            f"{MUST_MEMORY:.0f} MB above its features"
        )


if __name__ == "__main__":
    main()
