"""Newton's method in the primal for a loss whose curvature is known (Chapelle 2007), steps by conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ranking.core import Certificate, Floats, OnProgress, StopTraining, relative_gap
from ranking.solvers.clock import Clock
from ranking.solvers.smooth import SmoothRisk, gap_of

Curvature = Callable[
    [Floats, Floats], Floats
]  # scores, values (n,): the loss's second derivative times values

EXACTNESS = 0.05  # of a step: the residual of its linear system, as a share of the gradient
ENOUGH = 1e-4  # of the decrease that the gradient promises: a step that reaches it is taken
SHORTEST = 2.0**-30  # a step below it is lost in rounding


def newton(
    risk: SmoothRisk,
    curvature: Curvature,
    tolerance: float,
    max_iterations: int,
    on_progress: OnProgress | None,
) -> tuple[Floats, Certificate]:
    """The weights (d,) that minimise `risk`, whose features are float64, and their certificate.

    They have not converged where the iterations ran out, a callback stopped them, or rounding hides the way on.
    """
    clock = Clock(on_progress)
    weights, scores = np.zeros(risk.features.shape[1]), np.zeros(len(risk.features))
    value, gradient = risk.at(weights, scores)
    iterations, passes = 0, 1
    try:
        while True:
            gap = gap_of(gradient)
            clock.report(iterations, value, value - gap, passes)
            # Weights 0 rank nothing: a step is tried before they are held good enough.
            near = iterations > 0 and relative_gap(value, value - gap) <= tolerance
            if near or iterations == max_iterations:
                break
            step, products = _step(risk, curvature, scores, gradient)
            change = risk.block.scores(step)
            length = _length(risk, weights, scores, step, change, value, float(gradient @ step))
            passes += 2 * products + 2
            if length < SHORTEST:
                break
            weights, scores = weights + length * step, scores + length * change
            value, gradient = risk.at(weights, scores)
            iterations += 1
    except StopTraining:
        return weights, risk.certified(weights, tolerance, iterations, clock.seconds)
    return weights, risk.certified(weights, tolerance, iterations, clock.seconds)


def _step(risk: SmoothRisk, curvature: Curvature, scores: Floats, gradient: Floats) -> tuple[Floats, int]:
    """The solution of Hessian . step = -gradient by conjugate gradients; how many products it took."""
    step, residual = np.zeros_like(gradient), -gradient
    direction, square = residual, float(residual @ residual)
    goal, products = EXACTNESS**2 * square, 0
    while square > goal and products < 2 * len(gradient):
        bent = direction + risk.C * risk.block.normal(curvature(scores, risk.block.scores(direction)))
        length = square / float(direction @ bent)
        step, residual = step + length * direction, residual - length * bent
        before, square = square, float(residual @ residual)
        direction = residual + (square / before) * direction
        products += 1
    return step, products


def _length(
    risk: SmoothRisk,
    weights: Floats,
    scores: Floats,
    step: Floats,
    change: Floats,
    value: float,
    slope: float,
) -> float:
    """How far along the step: all of it, or a half, a quarter ... until the objective has fallen enough."""
    length = 1.0
    while length >= SHORTEST:
        moved = weights + length * step
        reached = 0.5 * float(moved @ moved) + risk.C * risk.loss(scores + length * change)[0]
        if reached <= value + ENOUGH * length * slope:
            break
        length /= 2.0
    return length
