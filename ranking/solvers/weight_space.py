"""One-slack cutting planes on a risk of few weights, however it depends on samples.

Solvers that move one dual variable at a time are slow where C is large and the samples cannot be separated. With few
weights, cutting planes finish their work: they need only the subgradient of the hinge, a vector with one entry per
weight.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ranking.core import Floats, OnProgress
from ranking.solvers.block import Block
from ranking.solvers.cutting_plane import cutting_plane
from ranking.solvers.risk import Cut, LinearRisk, Solution

# the planes then hold an identity matrix of this size
FEW_WEIGHTS = 1000
# iterations that must halve the gap; where C is large, steps are small and cutting planes are faster
SLOW = 30


def planes_of_weights(
    hinge: Callable[[Floats], Cut],
    start: Floats,
    C: float,
    tolerance: float,
    max_iterations: int,
    on_progress: OnProgress | None = None,
) -> Solution:
    """Minimise 1/2 ||w||^2 + C max_R [ loss(R) + w.g(R) ] from weights `start` (D,)."""
    # hinge: weights (D,) to the maximising g(R), (D,), and its loss.
    risk = LinearRisk(Block(np.eye(len(start))), C, hinge)
    return cutting_plane(risk, tolerance, max_iterations, on_progress, start)
