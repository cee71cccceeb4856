"""The problem of a training run on few of its samples, solved by its method and by a program in CVXPY.

The result has the larger of two sizes to compare the optima, and both to extrapolate the seconds of CVXPY.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ranking.core import Bools, ImageSet, Ints, Query
from ranking.core.errors import InputError
from ranking.core.settings import GivenSettings
from ranking.experiments.sample_task import query_of
from ranking.experiments.study import Context, Result, Study
from ranking.explain import programs
from ranking.features import load_features
from ranking.features.projection import fit_projection
from ranking.inference import AttractivePairs
from ranking.inference.enumeration import LARGEST_ENUMERATED
from ranking.methods import check_ranks, loss_of, make_method_as
from ranking.methods.high_order import HighOrderMethod
from ranking.methods.linear import LinearMethod
from ranking.solvers import WorkingSet
from ranking.storage.run_settings import CvxpySettings, TrainSettings

# samples
MAX_SAMPLES = 200

Program = Callable[..., programs.Optimum]
PROGRAMS: dict[str, Program] = {
    "SVM": programs.svm,
    "HOB-SVM": programs.hob_svm,
    "HOAP-SVM": programs.hoap_round,
}


class Solved(NamedTuple):
    """Both solutions at one size.

    samples, relevant: their numbers. primal, dual, seconds: of the method's certificate. optimum, cvxpy_seconds: of
    the program. apart: ||w - w'|| / ||w'|| of the method's weights w and the program's w'.
    """

    samples: int
    relevant: int
    primal: float
    dual: float
    seconds: float
    optimum: float
    cvxpy_seconds: float
    apart: float


class CvxpyComparison(Study[CvxpySettings]):
    """Solves the problem on half the samples and on all, at most MOST. The result is the two `Solved`."""

    settings = CvxpySettings

    def run(self, settings: CvxpySettings, context: Context) -> Result:
        check_ranks(settings.method, TrainSettings.task)
        program, images = program_of(settings.method, settings.method_settings), context.images
        # the settings name a set
        assert images is not None
        if program is None:
            expected = f"{', '.join(PROGRAMS)} with {AttractivePairs.name}, or a method with a ranking loss"
            got = f"{settings.method} with other settings" if settings.method in PROGRAMS else settings.method
            raise InputError("method", expected, got, "train a method that has a program in CVXPY")
        features = load_features(images, settings.features, context.features, context.on_step)
        projection = fit_projection(settings.projection, features, ~images.test, context.on_step)
        relevance = images.relevance(settings.query, settings.corrections)
        context.on_step("Loading CVXPY", 0, 1)
        import cvxpy  # noqa: F401  # now, so that loading it is no part of the seconds

        most, solved = min(MAX_SAMPLES, int(np.count_nonzero(~images.test))), []
        for number, samples in enumerate((most // 2, most)):
            context.check()
            context.on_step(f"{samples:,} samples", number, 2)
            rows = some_rows(images, relevance, samples)
            query = query_of(images, settings, features, relevance, rows, context.edges, projection)
            method = make_method_as(LinearMethod, settings.method, **settings.method_settings)
            solved.append(_solve(program, method, query))
        return {"solved": [each._asdict() for each in solved]}


def program_of(method: str, settings: GivenSettings) -> Program | None:
    """Return the program of a method that ranks samples; None where there is none."""
    if settings.get("potentials", AttractivePairs.name) != AttractivePairs.name:
        return None
    return programs.planes_primal if loss_of(method, settings) else PROGRAMS.get(method)


def some_rows(images: ImageSet, relevance: Ints, samples: int) -> Bools:
    """Return (n,) a mask of this many training samples: of whole images in random order, so that neighbours stay
    together, except for one relevant and one irrelevant sample."""
    place = np.random.default_rng(0).permutation(len(images.image_names))[images.image_of]
    rows = np.flatnonzero(~images.test)
    rows = rows[np.argsort(place[rows], kind="stable")]
    relevant = relevance[rows] > 0
    needed = np.concatenate([rows[relevant][:1], rows[~relevant][:1], rows])
    mask = np.zeros(len(images), bool)
    mask[list(dict.fromkeys(needed.tolist()))[:samples]] = True
    return mask


def _solve(program: Program, method: LinearMethod, query: Query) -> Solved:
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
    """Extrapolate the seconds of CVXPY to more samples by a power law through two sizes, its exponent at least 2.

    At few samples most of the time is spent on building the problem, which grows more slowly than solving it. Solving
    takes at least a product of all pairs of samples.

    >>> small = Solved(100, 10, 1.0, 1.0, 0.1, 1.0, 0.5, 0.0)
    >>> round(seconds_for(2000, small, small._replace(samples=200, cvxpy_seconds=2.0)))
    200
    """
    growth = math.log(large.cvxpy_seconds / small.cvxpy_seconds) / math.log(large.samples / small.samples)
    return float(large.cvxpy_seconds * (samples / large.samples) ** max(growth, 2.0))
