"""How long does the whole protocol of the high-order paper take at its own size, and what does a kill -9 cost?

    python benchmarks/experiments.py

10 queries x 5 folds x 4 methods, C in six values and eta in five, then one training on all of train for each query and
method: 3,620 trainings on 3,347 samples of 2,424 images (some 670 held out in each fold), with 2,916 features of a
sample and 2,404 affinities of a pair, float32, to a gap of 0.1%. Synthetic: non-negative and L2-normalised features, a
pattern for each action, and one that the boxes of an image share. As many test samples.

- Seconds of the first run on all cores, seconds of the second, which finds everything there.
- kill -9 at random moments: a smaller experiment (one query, fewer images and settings) is started again after each,
  until it has ended; its cells are compared, to the last bit of their scores, with those of one that nobody killed.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np
from timing import machine, table

from ranking.experiments.cell_store import CellStore
from ranking.experiments.material import Material, Side
from ranking.experiments.pace import Progress
from ranking.experiments.plan import Plan, plan_of
from ranking.experiments.results import Results
from ranking.experiments.running import run_experiment
from ranking.experiments.tables import Table, test_table, validation_table
from ranking.run_settings import PAPER_GRIDS, Grids, Protocol
from ranking.similarity import same_image
from ranking.types import ImageSet

IMAGES, SIZE, COMPARED = 2424, 2916, 2404
FEW = 400  # images of the experiment that is killed, and its settings
FEW_SETTINGS: Grids = {"C": (0.1, 1.0, 10.0, 100.0), "eta": (0.01, 1.0)}
BOXES = (0.795, 0.13, 0.045, 0.015, 0.0075, 0.0075)  # shares of images with 1 to 6 boxes
ACTIONS = ["jump", "phone", "instrument", "read", "bike", "run", "photo", "computer", "walk", "horse"]
SHARED, SIGNAL = 0.5, 0.45


def images(seed: int, half: int) -> tuple[ImageSet, np.ndarray]:
    """`half` train and `half` test images with their labels, and the features of their samples (n, SIZE)."""
    generator = np.random.default_rng(seed)
    counts = generator.choice(np.arange(1, 7), 2 * half, p=BOXES)
    image = np.repeat(np.arange(2 * half), counts)
    n = len(image)
    doing = generator.integers(len(ACTIONS), size=2 * half)[image]
    other = generator.random(n) < 0.1  # of a group, some do something else
    doing[other] = generator.integers(len(ACTIONS), size=np.count_nonzero(other))
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
    found = ImageSet(
        f"synthetic-{half}-{seed}", "Synthetic actions", Path(), tuple(ACTIONS), names, names, sizes, test,
        nothing, image.astype(np.int32), image.astype(np.int32), labels, ids,
    )  # fmt: skip
    return found, features


def planned(image_set: ImageSet, queries: int, grids: Grids) -> Plan:
    """The protocol of the paper. The features have a name, and their numbers come with the material."""
    protocol = Protocol(image_set.key, (("HOG", {}),), queries=tuple(ACTIONS[:queries]), grids=grids)
    return plan_of(protocol, image_set)


def material(plan: Plan, image_set: ImageSet, features: np.ndarray) -> Material:
    def side(rows: np.ndarray) -> Side:
        return Side(rows, same_image(image_set.image_of[rows]))

    sides = {fold: (side(split.learn), side(split.held)) for fold, split in plan.splits.all.items()}
    relevance = {query: image_set.relevance(query) for query in plan.queries}
    return Material(features, relevance, sides, np.arange(COMPARED))


class Run(NamedTuple):
    """Seconds to plan, of the run by the clock and of all its threads by the processor, and what came of it."""

    plan: float
    clock: float
    processor: float
    results: Results


def run_small(folder: Path, seed: int, loud: bool = False) -> Run:
    """The experiment that is killed."""
    return run(folder, seed, 1, FEW, FEW_SETTINGS, loud)


def run(
    folder: Path,
    seed: int,
    queries: int,
    half: int = IMAGES,
    grids: Grids = PAPER_GRIDS,
    loud: bool = False,
) -> Run:
    """The experiment, going on from the cells in `folder`."""
    image_set, features = images(seed, half)
    start = time.perf_counter()
    plan = planned(image_set, queries, grids)
    ready, processor = time.perf_counter(), time.process_time()

    def say(progress: Progress) -> None:
        if loud and (progress.done % 50 == 0 or progress.seconds_left is None):
            left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
            print(f"{progress.done} of {progress.total}: {progress.what}{left}", file=sys.stderr)

    results = run_experiment(plan, lambda: material(plan, image_set, features), CellStore(folder), say)
    clock, processor = time.perf_counter() - ready, time.process_time() - processor
    return Run(ready - start, clock, processor, results)


def cells(folder: Path) -> dict[str, tuple[object, ...]]:
    """What decides every table, by key: measures, certificate without its seconds, and the bits of the scores."""
    with closing(sqlite3.connect(folder / "cells.sqlite")) as database:
        rows = database.execute(
            "select key, measures, json_remove(certificate, '$.seconds'), scores from cell"
        ).fetchall()
    assert len({row[0] for row in rows}) == len(rows)
    return {row[0]: row[1:] for row in rows}


def killed(seed: int, kills: int, folder: Path) -> list[str]:
    """A row: how often it was killed, how often it came to its end, how many cells there are, how many of those that
    were there before a kill were lost or changed after it, and whether all are those of a run left in peace."""
    seconds = run_small(folder / "alone", seed).clock
    expected = cells(folder / "alone")
    generator, done, ends, lost, same = random.Random(seed), 0, 0, 0, True
    while done < kills or not ends:
        kept, code, disturbed = dict[str, tuple[object, ...]](), None, folder / f"disturbed {ends}"
        while code != 0:
            command = [sys.executable, __file__, "--seed", str(seed), "--only", str(disturbed)]
            child = subprocess.Popen(command, stderr=subprocess.PIPE)
            assert child.stderr is not None
            child.stderr.readline()  # it has begun: kills are to fall into its work
            try:
                code = child.wait(generator.uniform(0.0, 4.0 * seconds / kills) if done < kills else None)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
                done += 1
            now = cells(disturbed)
            lost += sum(now.get(key) != value for key, value in kept.items())
            kept = now
            print(f"{done} kills, {len(kept)} of {len(expected)} cells", file=sys.stderr)
        ends, same = ends + 1, same and kept == expected
    return [str(done), str(ends), str(len(expected)), str(lost), "yes" if same else "NO"]


def told(runs: dict[str, Run]) -> str:
    results = next(iter(runs.values())).results
    rows = [
        [name, f"{one.plan:.2f}", f"{one.clock:.2f}", f"{one.processor:.2f}"] for name, one in runs.items()
    ]
    header = [f"{len(results.outcomes)} trainings", "to plan, s", "to run, s", "of processors, s"]
    return f"{table(header, rows)}\n{results.unproven} of them did not converge"


def shown(found: Table) -> str:
    rows = [[row.name, *(f"{value:.3f}" for value in row.values)] for row in found.rows]
    return f"{found.title}\n{table(['', *found.columns], rows)}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--queries", type=int, default=len(ACTIONS))
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--only", type=Path, help="run one query with its cells in this folder, and end")
    options = parser.parse_args()
    if options.only:
        run_small(options.only, options.seed, loud=True)
        return
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        first = run(Path(folder), options.seed, options.queries, loud=True)
        second = run(Path(folder), options.seed, options.queries)
        print(told({"first run": first, "second run": second}))
        print(shown(validation_table(first.results)))
        print(shown(test_table(first.results)))
    if options.kills:
        with tempfile.TemporaryDirectory() as folder:
            header = ["killed", "ended", "cells", "lost or changed", "equal to a run left in peace"]
            print(table(header, [killed(options.seed, options.kills, Path(folder))]))


if __name__ == "__main__":
    main()
