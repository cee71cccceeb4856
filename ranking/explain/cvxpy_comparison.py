"""A training problem solved twice: by its method and by its program in CVXPY, with both optima and times."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ranking.core import Bools, Query
from ranking.core.errors import InputError
from ranking.core.settings import GivenSettings
from ranking.explain import programs
from ranking.inference import AttractivePairs
from ranking.inference.enumeration import LARGEST_ENUMERATED
from ranking.methods import loss_of
from ranking.methods.high_order import HighOrderMethod
from ranking.methods.linear import LinearMethod
from ranking.solvers import WorkingSet

Program = Callable[..., programs.Optimum]
PROGRAMS: dict[str, Program] = {
    "SVM": programs.svm,
    "HOB-SVM": programs.hob_svm,
    "HOAP-SVM": programs.hoap_round,
}


class Solved(NamedTuple):
    """Both solutions at one size."""

    # their numbers
    samples: int
    relevant: int
    # of the method's certificate
    primal: float
    dual: float
    seconds: float
    # of the program
    optimum: float
    cvxpy_seconds: float
    # ||w - w'|| / ||w'|| of the method's weights w and the program's w'
    apart: float


def program_of(method: str, settings: GivenSettings) -> Program | None:
    """Return the program of a method that ranks samples; None where there is none."""
    if settings.get("potentials", AttractivePairs.name) != AttractivePairs.name:
        return None
    return programs.planes_primal if loss_of(method, settings) else PROGRAMS.get(method)


def solve_both(program: Program, method: LinearMethod, query: Query) -> Solved:
    """Train the method on the query, and solve the same problem by its program."""
    # takes a second to load
    from cvxpy import SolverError

    solution = method.fit([query]).solution
    assert query.relevance is not None
    assert solution is not None
    certificate, relevant = solution.certificate, query.relevance > 0
    arguments = _arguments(program, method, solution.working_set, query, relevant)
    start = time.perf_counter()
    try:
        optimum = program(*arguments)
    except SolverError as error:
        remedy = "choose a smaller C, or features of similar lengths"
        raise InputError("program in CVXPY", "a solution", f"{error!s:.100}", remedy) from error
    seconds = time.perf_counter() - start
    parts = method.weights if isinstance(method.weights, tuple) else (method.weights,)
    weights = np.concatenate([np.asarray(part).ravel() for part in parts])
    length = max(float(np.linalg.norm(optimum.variables)), np.finfo(float).tiny)
    apart = float(np.linalg.norm(weights - optimum.variables)) / length
    ours = certificate.primal, certificate.dual, certificate.seconds
    return Solved(len(relevant), int(relevant.sum()), *ours, float(optimum.value), seconds, apart)


def _arguments(
    program: Program, method: LinearMethod, planes: WorkingSet | None, query: Query, relevant: Bools
) -> tuple[object, ...]:
    """Return the arguments of the program for a method that was trained on the query."""
    features, C = query.features.astype(np.float64), method.cost([relevant])
    if program is programs.planes_primal:
        assert planes is not None
        return [(planes.normals, planes.losses)], C
    if program is programs.svm:
        return features, relevant, C
    if query.graph is None or not len(query.graph.edges):
        remedy = "train SVM or AP-SVM, which have the same problem without neighbours"
        raise InputError("similarity graph", "at least one pair of neighbours", "none", remedy)
    assert isinstance(method, HighOrderMethod)
    edges, affinity = query.graph.edges, query.graph.affinity.astype(np.float64)
    largest = int(method.potentials_of(query).components.sizes[0])
    if largest > LARGEST_ENUMERATED:
        expected = f"at most {LARGEST_ENUMERATED} to enumerate their labellings"
        raise InputError("samples in one component", expected, largest, "choose another similarity graph")
    graph = features, relevant, edges, affinity, C, method.eta
    if program is programs.hob_svm:
        return graph
    assert planes is not None
    # the last coefficients of a plane are those of its ranking; the first row is R* itself
    n = len(relevant)
    rankings = np.vstack([np.zeros(n), planes.coefficients[:, -n:]])
    return *graph, rankings, np.append(0.0, planes.losses), method.weights


def seconds_for(samples: int, small: Solved, large: Solved) -> float:
    """Extrapolate the seconds of CVXPY by a power law through two sizes, its exponent at least 2.

    >>> small = Solved(100, 10, 1.0, 1.0, 0.1, 1.0, 0.5, 0.0)
    >>> round(seconds_for(2000, small, small._replace(samples=200, cvxpy_seconds=2.0)))
    200
    """
    # At few samples most of the time is spent on building the problem, which grows more slowly than solving
    # it. Solving takes at least a product of all pairs of samples.
    growth = math.log(large.cvxpy_seconds / small.cvxpy_seconds) / math.log(large.samples / small.samples)
    return float(large.cvxpy_seconds * (samples / large.samples) ** max(growth, 2.0))
