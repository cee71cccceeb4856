"""How much of latent training is inference, by each algorithm, and how many passes over all windows does it make?

    python benchmarks/latent_training.py

Images have random windows; in those that show the object, one window is shifted, and the whole image a little. The
first table trains latent AP-SVM with each algorithm for the most violated ranking, and adds up the time that they take
over the whole training run (quicksort, section 6.2: 14.6 times less than greedy). The second compares the working set
of windows with cutting planes that know all windows; both stop at a gap of 1e-7. A pass is a product with all windows.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from timing import machine, options_of, parser, table

from ranking import BagSet, make_method, method_names
from ranking.inference import ALGORITHMS
from ranking.methods import oracles
from ranking.solvers import bag_cccp


def bag_set(seed: int, positives: int, negatives: int, windows: int, columns: int) -> BagSet:
    """Return images of about `windows` windows each, with L2-normalised float32 features."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(windows // 2, windows * 3 // 2 + 1, positives + negatives)
    starts = np.append(0, np.cumsum(sizes))
    features = generator.standard_normal((starts[-1], columns), dtype=np.float32)
    features[starts[:positives], 0] += 1.0
    features[starts[:positives] + generator.integers(1, sizes[:positives]), 0] += 8.0
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    corners = generator.uniform(0, 50, (starts[-1], 2))
    boxes = np.hstack([corners, corners + generator.uniform(1, 50, (starts[-1], 2))])
    boxes[starts[:-1]] = [0, 0, 100, 100]
    return BagSet(features, starts, boxes, np.arange(positives + negatives) < positives)


def inference_rows(bags: BagSet) -> Iterator[list[str]]:
    """Yield for each algorithm the calls and seconds of inference in a whole training run."""
    exact, seconds, calls = oracles.most_violated_ranking, [0.0], [0]

    def timed(*arguments: Any) -> Any:
        start = time.perf_counter()
        violated = exact(*arguments)
        seconds[0] += time.perf_counter() - start
        calls[0] += 1
        return violated

    oracles.most_violated_ranking = timed
    totals = {}
    for algorithm in ALGORITHMS:
        seconds[0], calls[0] = 0.0, 0
        start = time.perf_counter()
        method = make_method("Latent AP-SVM", start="whole image", algorithm=algorithm).fit([bags])
        whole, totals[algorithm] = time.perf_counter() - start, seconds[0]
        cells = [f"{calls[0]:,}", f"{seconds[0]:.3f}", f"{1000 * seconds[0] / calls[0]:.3f}", f"{whole:.2f}"]
        yield [algorithm, *cells, f"{method.certificate.primal:.4f}", method.outcome]
    oracles.most_violated_ranking = exact
    ratio = f"{totals['greedy'] / totals['auto']:.1f}x"
    yield ["greedy / auto", "", ratio, "", "", "", ""]


def pass_rows(name: str, bag_sets: list[BagSet]) -> Iterator[list[str]]:
    """Yield passes, seconds and the difference of the objective, with a working set and without."""
    for start in ("whole image", "LDA"):
        ends: dict[int, list[Any]] = {}
        for kept in (bag_cccp.KEPT, 10**9):
            usual, bag_cccp.KEPT = bag_cccp.KEPT, kept
            events: list[Any] = []
            for bags in bag_sets:
                own: list[Any] = []
                before = time.perf_counter()
                method = make_method(name, start=start, tolerance=1e-7).fit([bags], own.append)
                events.append((own[-1].passes, time.perf_counter() - before, method.certificate.primal))
            bag_cccp.KEPT = usual
            ends[kept] = events
        working, whole = (np.array(events) for events in ends.values())
        difference = np.abs(working[:, 2] / whole[:, 2] - 1).max()
        passes = [statistics.median(events[:, 0]) for events in (working, whole)]
        seconds = [statistics.median(events[:, 1]) for events in (working, whole)]
        least = (whole[:, 0] / working[:, 0]).min()
        cells = [
            f"{passes[0]:.0f}",
            f"{passes[1]:.0f}",
            f"{least:.1f}x",
            f"{seconds[0]:.2f}",
            f"{seconds[1]:.2f}",
        ]
        yield [name, start, *cells, f"{difference:.0e}"]


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--positives", type=int, default=250)
    arguments.add_argument("--negatives", type=int, default=4750)
    arguments.add_argument("--windows", type=int, default=20, help="per image, in the first table")
    arguments.add_argument("--seeds", type=int, default=5, help="of the second table")
    options = options_of(arguments, positives=10, negatives=40, windows=6, seeds=1)
    print(machine())
    bags = bag_set(0, options.positives, options.negatives, options.windows, 30)
    header = ["algorithm", "calls", "inference, s", "a call, ms", "training, s", "objective", "outcome"]
    print(table(header, inference_rows(bags)))
    few = 300 if not options.smoke else 20
    bag_sets = [
        bag_set(seed, few // 5, few, 120 if not options.smoke else 20, 60) for seed in range(options.seeds)
    ]
    header = [
        "method",
        "start",
        "passes",
        "without",
        "least ratio",
        "seconds",
        "without",
        "largest difference",
    ]
    print(table(header, [row for name in method_names("bags") for row in pass_rows(name, bag_sets)]))


if __name__ == "__main__":
    main()
