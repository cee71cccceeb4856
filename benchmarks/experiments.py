"""How long does the complete protocol of the high-order paper take at its original size, and what does a kill -9 cost?

    python benchmarks/experiments.py

10 queries x 5 folds x 4 methods, C in six values and eta in five, then one run on all training samples for each query
and method: 3,640 runs on 3,347 samples of 2,424 images (some 670 held out in each fold), with 2,916 features per sample
and 2,404 affinities per pair, float32, to a gap of 0.1%. Synthetic: non-negative and L2-normalised features, a pattern
for each action, and one that the boxes of an image share. As many test samples.

- Seconds of the first run on all cores, and of the second run, which finds all trials finished.
- kill -9 at random moments: a smaller experiment (one query, fewer images and settings) is restarted after each kill
  until it finishes; its trials are compared, including all bits of their scores, with those of an undisturbed run.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from timing import machine, options_of, table

from ranking.core import ImageSet
from ranking.experiments.cross_validation.plan import Plan, plan_of
from ranking.experiments.cross_validation.progress import Progress
from ranking.experiments.cross_validation.results import Results
from ranking.experiments.cross_validation.running import run_experiment
from ranking.experiments.cross_validation.tables import Table, test_table
from ranking.experiments.cross_validation.trial_data import SplitSide, TrialData
from ranking.experiments.cross_validation.trial_store import TrialStore
from ranking.features.graph.similarity import same_image
from ranking.storage.run_settings import PAPER_GRIDS, Grids, Protocol

SIZE, COMPARED = 2916, 2404
# of the experiment that is killed
FEW_SETTINGS: Grids = {"C": (0.1, 1.0, 10.0, 100.0), "eta": (0.01, 1.0)}
SMOKE_SETTINGS: Grids = {"C": (1.0,), "eta": (0.1,)}
# shares of images with 1 to 6 boxes
BOXES = (0.795, 0.13, 0.045, 0.015, 0.0075, 0.0075)
ACTIONS = ["jump", "phone", "instrument", "read", "bike", "run", "photo", "computer", "walk", "horse"]
SHARED, SIGNAL = 0.5, 0.45


def images(seed: int, half: int) -> tuple[ImageSet, np.ndarray]:
    """Return `half` training and `half` test images with their labels, and the features of their samples (n, SIZE)."""
    generator = np.random.default_rng(seed)
    counts = generator.choice(np.arange(1, 7), 2 * half, p=BOXES)
    image = np.repeat(np.arange(2 * half), counts)
    n = len(image)
    doing = generator.integers(len(ACTIONS), size=2 * half)[image]
    # some of a group do something else
    elsewhere = generator.random(n) < 0.1
    doing[elsewhere] = generator.integers(len(ACTIONS), size=np.count_nonzero(elsewhere))
    labels = np.eye(len(ACTIONS), dtype=bool)[doing]
    shared = generator.standard_normal((2 * half, SIZE), dtype=np.float32)
    features = generator.standard_normal((n, SIZE), dtype=np.float32) + np.float32(SHARED) * shared[image]
    patterns = np.maximum(generator.standard_normal((len(ACTIONS), SIZE), dtype=np.float32), 0)
    patterns *= generator.random((len(ACTIONS), SIZE)) < 0.1
    features = np.maximum(features - np.float32(0.5), 0)
    features += np.float32(SIGNAL) * patterns[doing] * generator.random((n, 1), dtype=np.float32)
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    nothing = np.zeros((n, 4), np.int32)
    names = np.array([f"{number:06}" for number in range(2 * half)])
    sizes, test = np.ones((2 * half, 2), np.int32), np.arange(2 * half) >= half
    ids = np.array([f"{number:06}" for number in range(n)])
    image_set = ImageSet(
        f"synthetic-{half}-{seed}", "Synthetic actions", Path(), tuple(ACTIONS), names, names, sizes, test,
        nothing, image.astype(np.int32), image.astype(np.int32), labels, ids,
    )  # fmt: skip
    return image_set, features


def planned(image_set: ImageSet, queries: int, grids: Grids) -> Plan:
    """Plan the protocol of the paper. The features only have a name; their values are in the material."""
    protocol = Protocol(
        image_set.key, (("HOG", {}),), queries=tuple(ACTIONS[:queries]), grids=grids, widen=False
    )
    return plan_of(protocol, image_set)


def trial_data(plan: Plan, image_set: ImageSet, features: np.ndarray) -> TrialData:
    def side(rows: np.ndarray) -> SplitSide:
        return SplitSide(rows, same_image(image_set.image_of[rows]))

    sides = {fold: (side(split.learn), side(split.held)) for fold, split in plan.splits.all.items()}
    relevance = {query: image_set.relevance(query) for query in plan.queries}
    return TrialData(features, relevance, sides, np.arange(COMPARED))


class Run(NamedTuple):
    """Seconds of planning, of the run by wall clock and by processor time of all threads, and the results."""

    plan: float
    clock: float
    processor: float
    results: Results


def run(folder: Path, seed: int, queries: int, half: int, grids: Grids, loud: bool = False) -> Run:
    """Run the experiment, continuing from the finished trials in `folder`."""
    image_set, features = images(seed, half)
    start = time.perf_counter()
    plan = planned(image_set, queries, grids)
    ready, processor = time.perf_counter(), time.process_time()

    def report(progress: Progress) -> None:
        if loud and (progress.done % 50 == 0 or progress.seconds_left is None):
            left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
            print(f"{progress.done} of {progress.total}: {progress.what}{left}", file=sys.stderr)

    results = run_experiment(plan, lambda: trial_data(plan, image_set, features), TrialStore(folder), report)
    clock, processor = time.perf_counter() - ready, time.process_time() - processor
    return Run(ready - start, clock, processor, results)


def measures_and_scores(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return the measures of each trial in a folder, and the bits of its scores."""
    store = TrialStore(folder)
    return {key: (outcome.measures, store.scores(key).tobytes()) for key, outcome in store.outcomes().items()}


def killed(seed: int, kills: int, few: Callable[[Path], Run], child: list[str], folder: Path) -> list[str]:
    """Return a row: numbers of kills, of finished experiments and of trials, and two checks of the trials."""
    # The checks: how many trials that finished before a kill were lost or changed after it, and whether all
    # equal those of an undisturbed run. few: runs the experiment with its trials in a folder. child: the
    # options with which this program does the same.
    seconds = few(folder / "alone").clock
    expected = measures_and_scores(folder / "alone")
    generator, done, ends, lost, same = random.Random(seed), 0, 0, 0, True
    while done < kills or not ends:
        kept, code, disturbed = dict[str, tuple[object, ...]](), None, folder / f"disturbed {ends}"
        while code != 0:
            command = [sys.executable, __file__, *child, "--only", str(disturbed)]
            process = subprocess.Popen(command, stderr=subprocess.PIPE)
            assert process.stderr is not None
            # it has begun, because kills should occur during training
            process.stderr.readline()
            try:
                code = process.wait(
                    generator.uniform(0.0, 4.0 * seconds / max(kills, 4)) if done < kills else None
                )
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                done += 1
            now = measures_and_scores(disturbed)
            lost += sum(now.get(key) != value for key, value in kept.items())
            kept = now
            print(f"{done} kills, {len(kept)} of {len(expected)} trials", file=sys.stderr)
        ends, same = ends + 1, same and kept == expected
    return [str(done), str(ends), str(len(expected)), str(lost), "yes" if same else "NO"]


def time_table(runs: dict[str, Run]) -> str:
    results = next(iter(runs.values())).results
    rows = [
        [name, f"{run_of.plan:.2f}", f"{run_of.clock:.2f}", f"{run_of.processor:.2f}"]
        for name, run_of in runs.items()
    ]
    header = [f"{len(results.outcomes)} runs", "to plan, s", "to run, s", "of processors, s"]
    return f"{table(header, rows)}\n{results.unproven} of them did not converge"


def shown(results: Table) -> str:
    rows = [[row.name, *(f"{value:.3f}" for value in row.values)] for row in results.rows]
    return f"{results.title}\n{table(['', *results.columns], rows)}"


def main() -> None:
    options = options_of(
        __doc__,
        seed=(0, 0),
        queries=(len(ACTIONS), 1),
        kills=(20, 1),
        only=("", ""),
        images=(2424, 60),
        few=(400, 60),
    )
    grids, few_grids = (SMOKE_SETTINGS, SMOKE_SETTINGS) if options.smoke else (PAPER_GRIDS, FEW_SETTINGS)

    def few(folder: Path, loud: bool = False) -> Run:
        return run(folder, options.seed, 1, options.few, few_grids, loud)

    if options.only:
        few(Path(options.only), loud=True)
        return
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        first = run(Path(folder), options.seed, options.queries, options.images, grids, loud=True)
        second = run(Path(folder), options.seed, options.queries, options.images, grids)
        print(time_table({"first run": first, "second run": second}))
        print(shown(test_table(first.results)))
    if options.kills:
        with tempfile.TemporaryDirectory() as folder:
            header = ["killed", "ended", "trials", "lost or changed", "equal to an undisturbed run"]
            print(table(header, [killed(options.seed, options.kills, few, sys.argv[1:], Path(folder))]))


if __name__ == "__main__":
    main()
