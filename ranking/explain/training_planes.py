"""The cutting planes of a training run, one after the other, and which of them are active at the end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranking.core import Floats, Query
from ranking.explain.programs import planes_primal
from ranking.methods.structured_rank_svm import StructuredRankSVM
from ranking.methods.training_set import TrainingSet
from ranking.solvers.cutting_plane import IDLE_ITERATIONS, SAFETY, PlaneSearch
from ranking.solvers.line import Point

# of C: interior points leave such multipliers to planes that are not active
NEGLIGIBLE = 1e-9


@dataclass(frozen=True, eq=False)
class TrainingPlanes:
    """The m planes of a training run, in the order in which they were found."""

    # (m,) at the optimum of the program over all m planes, 0 where a plane is not active
    multipliers: Floats
    # (m,) the least objective met by then
    primal: Floats
    # (m,) the bound by the first k planes
    dual: Floats
    # the optimum of the program over all m planes, in CVXPY
    cvxpy: float

    @property
    def active(self) -> int:
        """The number of planes that are active."""
        return int(np.count_nonzero(self.multipliers))


def training_planes(method: StructuredRankSVM, query: Query) -> TrainingPlanes:
    """Train on a query again, by `method`'s settings and at most until the solver would drop planes."""
    risk, bounds = method.risk(TrainingSet.of([query])), list[tuple[float, float]]()
    search = PlaneSearch(risk, Point.at_start(risk, None), None, passes=1)

    def report(
        iteration: int, primal: float, dual: float, passes: int, planes: int, *, weights: Floats
    ) -> None:
        bounds.append((primal, dual))

    def enough() -> bool:
        return search.iterations > 0 and search.relative_gap <= SAFETY * method.tolerance

    search.run(enough, min(method.max_iterations, IDLE_ITERATIONS), report)
    planes, multipliers = search.planes
    multipliers = np.where(multipliers > NEGLIGIBLE * risk.C, multipliers, 0.0)
    # the last iteration was the last allowed one
    if len(bounds) < len(planes):
        bounds.append((search.best.objective, search.bound))
    primal, dual = np.transpose(bounds)
    optimum = planes_primal([(planes.normals, planes.losses)], risk.C)
    return TrainingPlanes(multipliers, primal, dual, float(optimum.value))
