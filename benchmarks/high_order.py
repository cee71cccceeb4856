"""How fast is training with neighbours at about the size in the papers, 2,424 images with one to six samples?

    python benchmarks/high_order.py

HOB-SVM on synthetic data of that shape: 2,916 features per sample, non-negative and L2-normalised, a signal of the
class and one that the boxes of an image share; an affinity for each of the first 2,404 features; float32.

- Seconds to a gap of 1%: block-coordinate Frank-Wolfe against one-slack cutting planes, in the plain form of the
  paper (the cut is taken at the optimum of the model) and with our optimised step; ">" if it had not ended after
  `--patience` seconds, with the remaining gap.
- Seconds of Frank-Wolfe to 0.1% over all C and eta; and the peak of its memory over the size of the features.
- Processor seconds of HOB-SVM's three solvers to 0.1%, at C of the paper, on those data and on photographs: helmets
  ("head", "helmet") and blood cells ("WBC"), in the folder `--photographs`. The ratio of auto to the better of the
  other two, which are stopped when they have taken as long as auto: then it is below 1.
- Seconds of HOAP-SVM until CCCP has converged (gap 0.1%), from the weights of HOB-SVM including its time, and from
  those of AP-SVM; compared with AP-SVM at the same C and gap.
"""

from __future__ import annotations

import itertools
import math
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from timing import machine, options_of, table

from ranking import ProgressEvent, Query, SimilarityGraph, StopTraining, make_method
from ranking.core import relative_gap
from ranking.features.opened import open_image_set
from ranking.inference import Components, best_labelling
from ranking.losses.weighted_zero_one import misclassification_costs
from ranking.solvers import Cut, LinearRisk, block_frank_wolfe, cutting_plane
from ranking.solvers.block import Block
from ranking.solvers.simplex_qp import solve_bound_simplex_qp

# shares of images with 1 to 6 boxes
BOXES = (0.795, 0.13, 0.045, 0.015, 0.0075, 0.0075)


class Data(NamedTuple):
    features: np.ndarray
    relevant: np.ndarray
    components: Components
    affinity: np.ndarray

    def risk(self, C: float, eta: float) -> LinearRisk:
        """Return the risk of HOB-SVM."""
        n, edges, costs = len(self.features), self.components.edges, misclassification_costs(self.relevant)
        cost = np.where(self.relevant, -costs, costs)
        truth = self.relevant[edges[:, 0]] != self.relevant[edges[:, 1]]

        def oracle(scores: np.ndarray) -> Cut:
            penalty = np.minimum(scores[n:], 0.0)
            labels, _ = best_labelling(scores[:n] + cost, edges, penalty, self.components)
            differ = labels[edges[:, 0]] != labels[edges[:, 1]]
            coefficients = np.concatenate([1.0 * labels - self.relevant, 1.0 * differ - truth])
            return Cut(coefficients, float(costs[labels != self.relevant].sum()))

        return LinearRisk(Block(self.features, math.sqrt(2.0)), C, oracle, Block(self.affinity, eta))


def data(seed: int, images: int, size: int, compared: int) -> Data:
    """size: features per sample; compared: how many of the first features the affinity of a pair compares."""
    generator = np.random.default_rng(seed)
    counts = generator.choice(np.arange(1, 7), images, p=BOXES)
    image, ends = np.repeat(np.arange(images), counts), np.cumsum(counts)
    pairs = [
        itertools.combinations(range(end - count, end), 2) for end, count in zip(ends, counts, strict=True)
    ]
    edges = np.array([pair for of_image in pairs for pair in of_image])
    n = len(image)
    relevant = (generator.random(images) < 0.07)[image] ^ (generator.random(n) < 0.02)
    shared = generator.standard_normal((images, size), dtype=np.float32)
    features = generator.standard_normal((n, size), dtype=np.float32) + 0.5 * shared[image]
    features = np.maximum(features - 0.5, 0)
    pattern = np.maximum(generator.standard_normal(size) * (generator.random(size) < 0.1), 0)
    features[relevant] += 0.5 * pattern * generator.random((np.count_nonzero(relevant), 1))
    features = (features / np.linalg.norm(features, axis=1, keepdims=True)).astype(np.float32)
    first, second = features[edges[:, 0], :compared], features[edges[:, 1], :compared]
    return Data(features, relevant, Components.of(n, edges), np.exp(-((first - second) ** 2)))


def plain(risk: LinearRisk, tolerance: float, patience: float) -> tuple[float, float]:
    """Return seconds and gap of one-slack cutting planes as in the paper: each cut at the optimum."""
    start, weights, best, bound = time.perf_counter(), np.zeros(risk.shape[1]), np.inf, 0.0
    normals, losses, gram = np.empty((0, risk.shape[1])), np.empty(0), np.empty((0, 0))
    multipliers = np.empty(0)
    while True:
        scores = risk.scores(weights)
        cut = risk.oracle(scores)
        best = min(best, risk.objective(weights, scores, cut))
        seconds, gap = time.perf_counter() - start, relative_gap(best, bound)
        if gap <= tolerance or seconds > patience:
            return seconds, gap
        normals = np.vstack([normals, risk.normal(cut.coefficients)])
        losses, multipliers = np.append(losses, cut.loss), np.append(multipliers, 0.0)
        column = normals[:, : risk.free] @ normals[-1, : risk.free]
        gram = np.block([[gram, column[:-1, None]], [column[None]]])
        rows = math.sqrt(risk.C) * normals[:, risk.free :]
        multipliers = solve_bound_simplex_qp(risk.C * gram, losses, rows, multipliers)
        weights = risk.least(risk.C * multipliers @ normals)
        bound = max(bound, risk.C * float(multipliers @ losses) - 0.5 * float(weights @ weights))


def patient(seconds: float) -> Callable[[ProgressEvent], None]:
    def on_progress(event: ProgressEvent) -> None:
        if event.seconds > seconds:
            raise StopTraining

    return on_progress


def frank_wolfe(
    dataset: Data, C: float, eta: float, tolerance: float, patience: float
) -> tuple[float, float]:
    costs, on_progress = misclassification_costs(dataset.relevant), patient(patience)
    solution = block_frank_wolfe(
        dataset.risk(C, eta), dataset.relevant, costs, dataset.components, tolerance, on_progress=on_progress
    )
    return solution.certificate.seconds, solution.certificate.relative_gap


def optimised(dataset: Data, C: float, eta: float, tolerance: float, patience: float) -> tuple[float, float]:
    solution = cutting_plane(dataset.risk(C, eta), tolerance, on_progress=patient(patience))
    return solution.certificate.seconds, solution.certificate.relative_gap


def shown(seconds: float, gap: float, tolerance: float) -> str:
    return f"{seconds:.2f}" if gap <= tolerance else f"> {seconds:.0f} (gap {gap:.1%})"


def compared(dataset: Data, C: float, eta: float, patience: float) -> list[str]:
    ours = frank_wolfe(dataset, C, eta, 0.01, patience)
    baselines = optimised(dataset, C, eta, 0.01, patience), plain(dataset.risk(C, eta), 0.01, patience)
    ratios = [f"{'' if gap <= 0.01 else '> '}{seconds / ours[0]:.0f}" for seconds, gap in baselines]
    cells = [shown(*result, 0.01) for result in (ours, *baselines)]
    return [f"{C:g}", f"{eta:g}", cells[0], cells[1], ratios[0], cells[2], ratios[1]]


def peak(dataset: Data) -> float:
    """Return the peak memory of training in addition to the features, divided by their size."""
    tracemalloc.start()
    frank_wolfe(dataset, 0.1, 1.0, 1e-3, 60.0)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most / (dataset.features.nbytes + dataset.affinity.nbytes)


def hoap(dataset: Data, C: float, eta: float, start: str) -> list[str]:
    """Return a row: HOAP-SVM compared with AP-SVM at the same C."""
    graph = SimilarityGraph(dataset.components.edges, dataset.affinity)
    query = Query(dataset.features, dataset.relevant.astype(int), graph)
    alone = min(
        (make_method("AP-SVM", C=C).fit([query]).certificate for _ in range(3)), key=lambda c: c.seconds
    )
    rounds: list[int] = []
    method = make_method("HOAP-SVM", C=C, eta=eta, start=start)
    proof = method.fit([query], lambda event: rounds.append(event.round)).certificate
    mark = "" if proof.converged else " (not converged)"
    return [
        f"{C:g}",
        f"{eta:g}",
        start,
        f"{proof.seconds:.2f}{mark}",
        f"{rounds[-1]}",
        f"{proof.iterations}",
        f"{alone.seconds:.2f}",
        f"{alone.iterations}",
        f"{proof.seconds / alone.seconds:.1f}",
    ]


PHOTOGRAPHS = (("helmets/VOCdevkit", "head"), ("helmets/VOCdevkit", "helmet"), ("bccd", "WBC"))


def queries(data: Data, folder: Path) -> Iterator[tuple[str, Query]]:
    """Yield the synthetic data and the existing photographs, by name."""
    yield (
        "synthetic",
        Query(
            data.features, data.relevant.astype(int), SimilarityGraph(data.components.edges, data.affinity)
        ),
    )
    for path, name in PHOTOGRAPHS:
        if (folder / path).is_dir():
            yield name, open_image_set(folder / path).query(name)


def solvers(name: str, query: Query, C: float, eta: float) -> list[str]:
    """Return a row: processor seconds of auto, of the other two solvers if they end sooner, and the ratio."""

    def seconds(solver: str, most: float = math.inf) -> float | None:
        start = time.process_time()

        def on_progress(_: ProgressEvent) -> None:
            if time.process_time() - start > most:
                raise StopTraining

        method = make_method("HOB-SVM", C=C, eta=eta, unit="paper", solver=solver)
        proof = method.fit([query], on_progress).certificate
        return time.process_time() - start if proof.converged else None

    auto = seconds("auto")
    if auto is None:
        return [name, f"{C:g}", f"{eta:g}", "no proof", "", "", ""]
    baselines = [seconds(solver, auto) for solver in ("cutting plane", "Frank-Wolfe")]
    ended = [baseline for baseline in baselines if baseline is not None]
    cells = ["-" if baseline is None else f"{baseline:.2f}" for baseline in baselines]
    ratio = f"{auto / min(ended):.2f}" if ended else "< 1"
    return [name, f"{C:g}", f"{eta:g}", f"{auto:.2f}", *cells, ratio]


def main() -> None:
    options = options_of(
        __doc__, seed=(0, 0), patience=(20.0, 0.5), images=(2424, 100), features=(2916, 60), affinities=(2404, 40),
        photographs=(Path("../shared/data"), Path("none")),
    )  # fmt: skip
    dataset = data(options.seed, options.images, options.features, options.affinities)
    # compiles
    frank_wolfe(dataset, 0.1, 1.0, 0.5, 60.0)
    print(machine())
    print(f"{len(dataset.features)} samples, {len(dataset.components.edges)} pairs")
    header = ["C", "eta", "Frank-Wolfe, s", "one-slack, s", "ratio", "plain one-slack, s", "ratio"]
    print(table(header, [compared(dataset, 0.1, eta, options.patience) for eta in (0.01, 1.0)]))
    etas = (0.01, 1.0, 100.0)
    rows = [
        [f"{C:g}", *[shown(*frank_wolfe(dataset, C, eta, 1e-3, options.patience), 1e-3) for eta in etas]]
        for C in (1e-4, 1e-2, 1.0, 100.0)
    ]
    print(table(["to 0.1%: C", *[f"eta = {eta:g}" for eta in etas]], rows))
    header = ["HOB-SVM of", "C", "eta", "auto, s", "cutting plane, s", "Frank-Wolfe, s", "auto / better"]
    points = list(itertools.product((1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0, 100.0), (0.01, 1.0)))
    named = queries(dataset, options.photographs)
    solvers("compiles", next(queries(dataset, options.photographs))[1], 1e-4, 1.0)
    print(table(header, [solvers(name, query, *point) for name, query in named for point in points]))
    header = [
        "C",
        "eta",
        "begins with",
        "HOAP-SVM, s",
        "rounds",
        "iterations",
        "AP-SVM, s",
        "iterations",
        "ratio",
    ]
    choices = itertools.product((100.0, 1000.0), (0.01, 1.0), ("AP-SVM", "HOB-SVM"))
    print(table(header, [hoap(dataset, *choice) for choice in choices]))
    print(f"peak of memory beyond the features: {peak(dataset):.2f} times their size")


if __name__ == "__main__":
    main()
