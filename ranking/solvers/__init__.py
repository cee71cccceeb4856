"""Optimisers that know nothing of images or rankings: a convex risk in, weights and a duality gap out."""

from ranking.optimise.block_frank_wolfe import block_frank_wolfe
from ranking.optimise.cccp import UpperBound, cccp
from ranking.optimise.component_planes import component_planes
from ranking.optimise.coordinate_descent import coordinate_descent
from ranking.optimise.cutting_plane import cutting_plane
from ranking.optimise.line import Point
from ranking.optimise.risk import Cut, LinearRisk, Solution, WorkingSet

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
