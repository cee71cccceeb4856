"""Optimisers that are independent of images and rankings: a convex risk to weights with a duality gap."""

from ranking.solvers.block_frank_wolfe import block_frank_wolfe
from ranking.solvers.cccp import UpperBound, cccp
from ranking.solvers.component_planes import component_planes
from ranking.solvers.coordinate_descent import coordinate_descent
from ranking.solvers.cutting_plane import cutting_plane
from ranking.solvers.line import Point
from ranking.solvers.risk import Cut, LinearRisk, Solution, WorkingSet

__all__ = [
    "Cut",
    "LinearRisk",
    "Point",
    "Solution",
    "UpperBound",
    "WorkingSet",
    "block_frank_wolfe",
    "cccp",
    "component_planes",
    "coordinate_descent",
    "cutting_plane",
]
