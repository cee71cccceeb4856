"""How fast is training at the size in the papers: 3,347 samples, 227 relevant, 2,404 features?

    python benchmarks/training.py

Needs the extra [benchmarks] (dlib-bin, liblinear-official). Two synthetic sets of that shape, float32 and
L2-normalised: "scattered" (sparse, non-negative, like activations) and "correlated" (dense, forty factors).
All times are medians over seeds, the competitors taking turns.

- AP-SVM at C = 1000 to a 0.1% gap: against the same oracle and the same float32 products in dlib's structural
  solver, stopped at the same gap; against `greedy`; and the share of its time inside the two products, with all
  threads of the linear algebra and with one.
- SVM to a 0.1% gap: against LIBLINEAR's dual solver on the same objective (samples divided by their margin,
  class weights), at the loosest of its tolerances that reaches our objective; ">" where it had not reached
  it after three times our time, or at its limit of 1,000 passes.
- NDCG-SVM at C = 1000.
"""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import dlib
import numpy as np
import scipy.sparse
from liblinear.liblinearutil import parameter, problem, train
from synthetic import SHAPE, Shape, correlated, scattered
from threadpoolctl import threadpool_limits
from timing import machine, milliseconds, options_of, table

from ranking import Query, make_method
from ranking.core import Certificate
from ranking.losses.weighted_zero_one import misclassification_costs
from ranking.methods.linear import Start, UnaryMethod
from ranking.methods.training_set import TrainingSet
from ranking.solvers import LinearRisk

C = 1000.0
TOLERANCE = 1e-3


class DlibProblem:
    """The same risk for dlib: one sample, our oracle, our two products."""

    def __init__(self, risk: LinearRisk, gap: float) -> None:
        self.risk = risk
        # dlib measures the gap of the hinge alone
        self.C, self.epsilon = risk.C, gap / risk.C
        self.num_samples, self.num_dimensions = 1, risk.features.shape[1]
        self.calls = 0

    def get_truth_joint_feature_vector(self, _: int) -> Any:
        return dlib.vector(np.zeros(self.num_dimensions))

    def separation_oracle(self, _: int, solution: Any) -> tuple[float, Any]:
        self.calls += 1
        cut = self.risk.oracle(self.risk.scores(np.asarray(solution, dtype=np.float64).ravel()))
        return cut.loss, dlib.vector(self.risk.normal(cut.coefficients))


class TimedRisk(LinearRisk):
    """Counts the seconds inside the two products."""

    seconds = 0.0

    def scores(self, weights: np.ndarray) -> np.ndarray:
        return self._timed(super().scores, weights)

    def normal(self, coefficients: np.ndarray) -> np.ndarray:
        return self._timed(super().normal, coefficients)

    def _timed(self, product: Callable[[np.ndarray], np.ndarray], argument: np.ndarray) -> np.ndarray:
        start = time.perf_counter()
        result = product(argument)
        object.__setattr__(self, "seconds", self.seconds + time.perf_counter() - start)
        return result


def clocked(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def products_share(method: UnaryMethod, samples: TrainingSet) -> tuple[float, Certificate]:
    """The share of the training time that is spent inside the two products, and the certificate."""
    method = copy.copy(method)
    risk = TimedRisk(**vars(method.risk(samples)))
    method.risk = lambda _: risk
    certificate = method.solve(samples, None, Start()).certificate
    assert certificate.converged
    return risk.seconds / certificate.seconds, certificate


def ap_svm(query: Query) -> dict[str, float]:
    """Seconds of our solver, of dlib and of ours with greedy; our share of time in the products."""
    method = make_method("AP-SVM", C=C, tolerance=TOLERANCE)
    samples = TrainingSet.of([query])
    plain = method.risk(samples)
    share, certificate = products_share(method, samples)
    # as the app's worker trains on two cores
    with threadpool_limits(1):
        share_alone, alone = products_share(method, samples)
    theirs = DlibProblem(plain, TOLERANCE * certificate.primal)
    dlib_seconds, dlib_weights = clocked(lambda: dlib.solve_structural_svm_problem(theirs))
    weights = np.asarray(dlib_weights).ravel()
    scores = plain.exact_scores(weights)
    reached = plain.objective(weights, scores, plain.oracle(scores))
    assert reached <= certificate.dual * (1 + 2 * TOLERANCE), "dlib stopped too early to be compared"
    greedy = make_method("AP-SVM", C=C, tolerance=TOLERANCE, algorithm="greedy").fit([query])
    return {
        "ours": certificate.seconds,
        "dlib": dlib_seconds,
        "greedy": greedy.certificate.seconds,
        "share": share,
        "alone": alone.seconds,
        "share alone": share_alone,
        "iterations": certificate.iterations,
        "dlib iterations": theirs.calls,
    }


def liblinear(query: Query, penalty: float, epsilon: float) -> tuple[float, float]:
    """Seconds and objective of LIBLINEAR's L1-loss dual solver."""
    # The objective is 1/4 ||u||^2 + C sum_i max(0, c_i - y_i u.x_i).
    relevant = query.relevance > 0
    costs, labels = misclassification_costs(relevant), np.where(relevant, 1.0, -1.0)
    samples = problem(labels, scipy.sparse.csr_matrix(query.features.astype(float) / costs[:, None]))
    positive, negative = costs[relevant][0], costs[~relevant][0]
    options = f"-s 3 -c {2 * penalty} -w1 {positive} -w-1 {negative} -e {epsilon} -B -1 -q"
    seconds, model = clocked(lambda: train(samples, parameter(options)))
    weights = np.array([model.w[k] for k in range(query.features.shape[1])]) * model.label[0]
    hinge = np.maximum(0.0, costs - labels * (query.features.astype(float) @ weights)).sum()
    return seconds, float(0.25 * weights @ weights + penalty * hinge)


def svm(query: Query, penalty: float) -> dict[str, float]:
    """Seconds of ours to a 0.1% gap and of LIBLINEAR to the same objective."""
    certificate = make_method("SVM", C=penalty, unit="paper", tolerance=TOLERANCE).fit([query]).certificate
    assert certificate.converged
    slowest, reached = 0.0, False
    for epsilon in 10.0 ** -np.arange(0.0, 6.0, 0.5):
        seconds, objective = liblinear(query, penalty, epsilon)
        slowest, reached = max(slowest, seconds), objective <= certificate.primal
        # a tighter tolerance would take longer still
        if reached or slowest > 3 * certificate.seconds:
            break
    return {
        "ours": certificate.seconds,
        "liblinear": seconds if reached else slowest,
        "reached": float(reached),
        "iterations": certificate.iterations,
    }


def ndcg_svm(query: Query) -> dict[str, float]:
    certificate = make_method("NDCG-SVM", C=C, tolerance=TOLERANCE).fit([query]).certificate
    assert certificate.converged
    return {"ours": certificate.seconds, "iterations": certificate.iterations}


def median_of(runs: list[dict[str, float]]) -> dict[str, float]:
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


def rows_of(name: str, queries: list[Query]) -> Iterator[list[str]]:
    """The lines of the table about the features of that name, one set a seed."""
    # compiles
    ap_svm(queries[0])
    svm(queries[0], 0.01)
    yield from ap_svm_rows(name, median_of([ap_svm(query) for query in queries]))
    for penalty in (0.001, 0.01, 0.1):
        yield svm_row(name, penalty, median_of([svm(query, penalty) for query in queries]))
    medians = median_of([ndcg_svm(query) for query in queries])
    yield [name, f"NDCG-SVM, C = {C:g}", *ours(medians), "", ""]


def ours(medians: dict[str, float], seconds: str = "ours") -> list[str]:
    return [milliseconds(medians[seconds]), f"{medians['iterations']:g}"]


def ap_svm_rows(name: str, medians: dict[str, float]) -> Iterator[list[str]]:
    theirs = f"dlib: {milliseconds(medians['dlib'])} ms, {medians['dlib iterations']:g} iterations"
    yield [name, f"AP-SVM, C = {C:g}", *ours(medians), theirs, f"{medians['ours'] / medians['dlib']:.2f}"]
    greedy = f"greedy: {milliseconds(medians['greedy'])} ms"
    yield [name, "", "", "", greedy, f"{medians['ours'] / medians['greedy']:.2f}"]
    share = "share of time in the products"
    yield [name, "", "", "", share, f"{medians['share']:.0%}"]
    yield [name, "with one thread", *ours(medians, "alone"), share, f"{medians['share alone']:.0%}"]


def svm_row(name: str, penalty: float, medians: dict[str, float]) -> list[str]:
    more, less = ("", "") if medians["reached"] else ("> ", "< ")
    theirs = f"LIBLINEAR: {more}{milliseconds(medians['liblinear'])} ms"
    ratio = f"{less}{medians['ours'] / medians['liblinear']:.2f}"
    return [name, f"SVM, C = {penalty:g}", *ours(medians), theirs, ratio]


def main() -> None:
    options = options_of(__doc__, seeds=(5, 1), shape=(SHAPE, (300, 30, 100)))
    rows: list[list[str]] = []
    for make in (scattered, correlated):
        queries = [Query(*make(seed, Shape(*options.shape))) for seed in range(options.seeds)]
        rows += rows_of(make.__name__, queries)
    print(machine())
    print(table(["features", "training", "ours, ms", "iterations", "against", "ours / theirs"], rows))


if __name__ == "__main__":
    main()
