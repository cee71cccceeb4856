"""How fast is training at the papers' size: 3,347 samples, 227 relevant, 2,404 features?

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
from collections.abc import Callable
from typing import Any

import dlib
import numpy as np
import scipy.sparse
from liblinear.liblinearutil import parameter, problem, train
from synthetic import SHAPE, Shape, correlated, scattered
from threadpoolctl import threadpool_limits
from timing import machine, milliseconds, options_of, parser, table

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
        self.C, self.epsilon = risk.C, gap / risk.C  # dlib measures the gap of the hinge alone
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
    """The share of a training's time that is spent inside the two products, and its certificate."""
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
    with threadpool_limits(1):  # as the app's worker trains on two cores
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
    """Seconds and objective of LIBLINEAR's L1-loss dual solver on 1/4 ||u||^2 + C sum_i max(0, c_i - y_i u.x_i)."""
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
        if reached or slowest > 3 * certificate.seconds:  # a tighter tolerance would take longer still
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


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--seeds", type=int, default=5)
    arguments.add_argument(
        "--shape", nargs=3, type=int, default=SHAPE, help="samples, relevant ones, features"
    )
    options = options_of(arguments, seeds=1, shape=(300, 30, 100))
    seeds, shape = range(options.seeds), Shape(*options.shape)
    rows = []
    for make in (scattered, correlated):
        queries = [Query(*make(seed, shape)) for seed in seeds]
        ap_svm(queries[0])  # compiles
        svm(queries[0], 0.01)
        medians = median_of([ap_svm(query) for query in queries])
        name = make.__name__
        rows.append(
            [
                name,
                f"AP-SVM, C = {C:g}",
                milliseconds(medians["ours"]),
                f"{medians['iterations']:g}",
                f"dlib: {milliseconds(medians['dlib'])} ms, {medians['dlib iterations']:g} iterations",
                f"{medians['ours'] / medians['dlib']:.2f}",
            ]
        )
        rows.append(
            [
                name,
                "",
                "",
                "",
                f"greedy: {milliseconds(medians['greedy'])} ms",
                f"{medians['ours'] / medians['greedy']:.2f}",
            ]
        )
        rows.append([name, "", "", "", "share of time in the products", f"{medians['share']:.0%}"])
        rows.append(
            [
                name,
                "with one thread",
                milliseconds(medians["alone"]),
                f"{medians['iterations']:g}",
                "share of time in the products",
                f"{medians['share alone']:.0%}",
            ]
        )
        for penalty in (0.001, 0.01, 0.1):
            medians = median_of([svm(query, penalty) for query in queries])
            rows.append(
                [
                    name,
                    f"SVM, C = {penalty:g}",
                    milliseconds(medians["ours"]),
                    f"{medians['iterations']:g}",
                    f"LIBLINEAR: {'' if medians['reached'] else '> '}{milliseconds(medians['liblinear'])} ms",
                    f"{'' if medians['reached'] else '< '}{medians['ours'] / medians['liblinear']:.2f}",
                ]
            )
        medians = median_of([ndcg_svm(query) for query in queries])
        rows.append(
            [
                name,
                f"NDCG-SVM, C = {C:g}",
                milliseconds(medians["ours"]),
                f"{medians['iterations']:g}",
                "",
                "",
            ]
        )
    print(machine())
    print(table(["features", "training", "ours, ms", "iterations", "against", "ours / theirs"], rows))


if __name__ == "__main__":
    main()
