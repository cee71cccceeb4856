"""How much of latent training is inference, by each algorithm, and how many passes over all windows does it make?

    python benchmarks/latent_training.py

Images have random windows; those that show the object have all of it in one window, half of it in the whole image, and
some of it in the others. The first table trains latent AP-SVM with each algorithm for the most violated ranking, and
adds up the time that they take over the whole training run (quicksort, section 6.2: greedy takes 14.6 times as long).
The second compares the working set of windows with cutting planes that know all windows; both stop at a gap of 1e-6. A
pass is a product with all windows. Seconds are those of the processor, of one thread.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from timing import machine, options_of, parser, table

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


def inference_rows(bags: BagSet) -> Iterator[list[str]]:
    """Yield for each algorithm the calls and seconds of inference in a whole training run."""
    exact, seconds, calls = oracles.most_violated_ranking, [0.0], [0]

    def timed(*arguments: Any) -> Any:
        start = time.thread_time()
        violated = exact(*arguments)
        seconds[0] += time.thread_time() - start
        calls[0] += 1
        return violated

    oracles.most_violated_ranking = timed
    totals = {}
    for algorithm in ALGORITHMS:
        make_method("Latent AP-SVM", start="whole image", algorithm=algorithm, max_iterations=1).fit(
            [bags]
        )  # loads it
        seconds[0], calls[0] = 0.0, 0
        start = time.thread_time()
        method = make_method("Latent AP-SVM", start="whole image", algorithm=algorithm).fit([bags])
        whole, totals[algorithm] = time.thread_time() - start, seconds[0]
        cells = [f"{calls[0]:,}", f"{seconds[0]:.3f}", f"{1000 * seconds[0] / calls[0]:.3f}", f"{whole:.2f}"]
        yield [algorithm, *cells, f"{method.certificate.primal:.4f}", method.outcome]
    oracles.most_violated_ranking = exact
    ratio = f"{totals['greedy'] / totals['auto']:.1f}x"
    yield ["greedy / auto", "", ratio, "", "", "", ""]


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
    print(table(header, [row for name in method_names("bags") for row in pass_rows(name, bag_sets)]))


if __name__ == "__main__":
    main()
