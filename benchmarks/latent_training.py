"""How much of latent training is inference, by each algorithm, and how many passes over all windows does it make?

    python benchmarks/latent_training.py [--part inference|passes|mapped]

Images have random windows; those that show the object have all of it in one window, half of it in the whole image, and
some of it in the others. The first table trains latent AP-SVM with each algorithm for the most violated ranking, and
adds up the time that they take over the whole training run (quicksort, section 6.2: greedy takes 14.6 times as long).
The second compares the working set of windows with cutting planes that know all windows; both stop at a gap of 1e-6. A
pass is a product with all windows. Seconds are those of the processor, of one thread; linear algebra has one thread
too, because others would empty the caches in between.

The third part trains on windows in a mapped file of float16: wall-clock seconds per round, and the memory of the
process beyond the file, sampled every 10 ms (RssAnon of Linux).
"""

from __future__ import annotations

import itertools
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits
from timing import machine, memory_of, options_of, table

from ranking import BagSet, make_method, method_names
from ranking.inference import ALGORITHMS
from ranking.methods import oracles
from ranking.methods.bag_starts import STARTS
from ranking.solvers import bag_cccp
from ranking.solvers.clock import Clock


def bag_set(seed: int, positives: int, negatives: int, windows: int, columns: int) -> BagSet:
    """Return images of about `windows` windows each, with L2-normalised float32 features."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(windows // 2, windows * 3 // 2 + 1, positives + negatives)
    starts = np.append(0, np.cumsum(sizes))
    features = generator.standard_normal((starts[-1], columns), dtype=np.float32)
    features[: starts[positives], 0] += 4.0 * generator.random(starts[positives], dtype=np.float32)
    features[starts[:positives], 0] += 4.0
    features[starts[:positives] + generator.integers(1, sizes[:positives]), 0] += 8.0
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    corners = generator.uniform(0, 50, (starts[-1], 2))
    boxes = np.hstack([corners, corners + generator.uniform(1, 50, (starts[-1], 2))])
    boxes[starts[:-1]] = [0, 0, 100, 100]
    return BagSet(features, starts, boxes, np.arange(positives + negatives) < positives)


def inference_rows(bag_sets: list[BagSet]) -> Iterator[list[str]]:
    """Yield for each algorithm the calls and seconds of inference in a whole training run, medians over the sets."""
    exact, seconds, calls = oracles.most_violated_ranking, [0.0], [0]

    def timed(*arguments: Any) -> Any:
        start = time.thread_time()
        violated = exact(*arguments)
        seconds[0] += time.thread_time() - start
        calls[0] += 1
        return violated

    oracles.most_violated_ranking = timed
    values = dict[str, list[tuple[float, ...]]]()
    for algorithm, bags in itertools.product(ALGORITHMS, bag_sets):
        first = make_method("Latent AP-SVM", start="whole image", algorithm=algorithm, max_iterations=1)
        # loads the algorithm
        first.fit([bags])
        seconds[0], calls[0] = 0.0, 0
        start = time.thread_time()
        method = make_method("Latent AP-SVM", start="whole image", algorithm=algorithm).fit([bags])
        whole = time.thread_time() - start
        assert method.certificate.converged, method.certificate
        measured = calls[0], seconds[0], 1000 * seconds[0] / calls[0], whole, method.certificate.primal
        values.setdefault(algorithm, []).append(measured)
    oracles.most_violated_ranking = exact
    for algorithm, rows in values.items():
        count, inference, of_call, whole, objective = np.median(rows, axis=0)
        yield [
            algorithm,
            f"{count:,.0f}",
            f"{inference:.4f}",
            f"{of_call:.3f}",
            f"{whole:.2f}",
            f"{objective:.4f}",
        ]
    ratios = np.array(values["greedy"])[:, 1] / np.array(values["auto"])[:, 1]
    yield [
        "greedy / auto",
        "",
        f"{np.median(ratios):.1f} ({ratios.min():.1f} to {ratios.max():.1f})",
        "",
        "",
        "",
    ]


def pass_rows(name: str, bag_sets: list[BagSet]) -> Iterator[list[str]]:
    """Yield passes, seconds and the difference of the objective, with a working set and without."""
    for start in ("whole image", "LDA"):
        ends: list[list[tuple[float, ...]]] = []
        usual = bag_cccp.KEPT
        for kept in (usual, 10**9):
            bag_cccp.KEPT = kept
            ends.append([descent(name, start, bags) for bags in bag_sets])
        bag_cccp.KEPT = usual
        working, whole = np.array(ends)
        few, many = np.median(working, axis=0), np.median(whole, axis=0)
        least, difference = (whole[:, 0] / working[:, 0]).min(), np.abs(working[:, 2] / whole[:, 2] - 1).max()
        cells = [
            f"{few[3]:.0f}",
            f"{few[0]:.0f}",
            f"{many[0]:.0f}",
            f"{least:.1f}x",
            f"{few[1]:.2f}",
            f"{many[1]:.2f}",
        ]
        yield [name, start, *cells, f"{difference:.0e}"]


def descent(name: str, start: str, bags: BagSet) -> tuple[float, ...]:
    """Return passes over all windows, seconds, the objective at the end, and rounds."""
    problem, events = make_method(name).problem([bags]), list[Any]()
    first = STARTS[start](bags, problem, lambda *_: None)
    before = time.thread_time()
    solution = bag_cccp.bag_cccp(problem, first, 1e-6, clock=Clock(events.append))
    seconds = time.thread_time() - before
    assert solution.certificate.converged, solution.certificate
    return float(solution.passes), seconds, solution.place.objective, float(events[-1].round)


def mapped_bags(folder: Path, positives: int, negatives: int, windows: int, columns: int) -> BagSet:
    """Return images like those of `bag_set`, whose windows are in a mapped file of float16."""
    generator = np.random.default_rng(0)
    sizes = generator.integers(windows // 2, windows * 3 // 2 + 1, positives + negatives)
    starts = np.append(0, np.cumsum(sizes))
    path = folder / "windows.npy"
    written = np.lib.format.open_memmap(path, "w+", np.float16, (int(starts[-1]), columns))
    for image, (first, end) in enumerate(itertools.pairwise(starts)):
        features = generator.standard_normal((end - first, columns), dtype=np.float32)
        if image < positives:
            features[:, 0] += 10.0 * generator.random(end - first, dtype=np.float32)
            features[[0, generator.integers(1, end - first)], 0] += 20.0, 40.0
        written[first:end] = features / np.linalg.norm(features, axis=1, keepdims=True)
    written.flush()
    del written
    boxes = np.tile([0.0, 0.0, 50.0, 50.0], (starts[-1], 1))
    boxes[starts[:-1]] = [0, 0, 100, 100]
    relevance = np.arange(positives + negatives) < positives
    return BagSet(np.load(path, mmap_mode="r"), starts, boxes, relevance)


@contextmanager
def peak_memory() -> Iterator[list[float]]:
    """Measure the memory of this process, in GB, without mapped files; the last value is the most."""
    peaks, ended = [0.0], threading.Event()

    def watch() -> None:
        while not ended.wait(0.01):
            peaks.append(max(peaks[-1], memory_of()["RssAnon"] / 1e9))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peaks
    finally:
        ended.set()
        thread.join()


def mapped_row(bags: BagSet) -> list[str]:
    """Return what training on a mapped file takes."""
    method, events = make_method("Latent AP-SVM", start="whole image"), list[Any]()
    with peak_memory() as peaks:
        start = time.perf_counter()
        method.fit([bags], events.append)
        seconds = time.perf_counter() - start
    rounds, passes = events[-1].round, events[-1].passes
    cells = [f"{rounds}", f"{passes}", f"{seconds:.1f}", f"{seconds / rounds:.1f}", f"{peaks[-1]:.2f}"]
    return [*cells, f"{method.certificate.primal:.6f}", method.outcome]


def main() -> None:
    parts = ("inference", "passes", "mapped")
    options = options_of(
        __doc__, part=(parts, parts, parts), positives=(250, 10), negatives=(4750, 40), windows=(20, 6),
        mapped_windows=(200, 6), columns=(964, 8), seeds=(5, 1),
    )  # fmt: skip
    print(machine())
    if "inference" in options.part:
        counts = options.positives, options.negatives, options.windows
        bag_sets = [bag_set(seed, *counts, 30) for seed in range(options.seeds)]
        header = ["algorithm", "calls", "inference, s", "a call, ms", "training, s", "objective"]
        with threadpool_limits(1):
            print(table(header, inference_rows(bag_sets)))
    if "passes" in options.part:
        few, windows = (20, 20) if options.smoke else (160, 60)
        bag_sets = [bag_set(seed, few // 4, few, windows, 40) for seed in range(options.seeds)]
        header = [
            "method",
            "start",
            "rounds",
            "passes",
            "all windows: passes",
            "least ratio",
            "seconds",
            "all windows: seconds",
            "difference",
        ]
        with threadpool_limits(1):
            print(
                table(header, [row for name in method_names("windows") for row in pass_rows(name, bag_sets)])
            )
    if "mapped" in options.part:
        header = ["rounds", "passes", "seconds", "a round, s", "memory, GB", "objective", "outcome"]
        with tempfile.TemporaryDirectory() as folder:
            size = options.mapped_windows, options.columns
            bags = mapped_bags(Path(folder), options.positives, options.negatives, *size)
            print(f"windows {bags.windows.shape}, float16, {bags.windows.nbytes / 1e9:.2f} GB")
            print(table(header, [mapped_row(bags)]))


if __name__ == "__main__":
    main()
