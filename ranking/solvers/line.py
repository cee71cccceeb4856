"""The objective of a risk along a line of weights.

Scores are linear there, so that a step costs only oracle calls.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ranking.core import Floats
from ranking.solvers.risk import UNKNOWN, Cut, LinearRisk


@dataclass(frozen=True, eq=False)
class Point:
    """Weights, the scores and the maximising cut there, and the objective; coefficients (n,) as in `Solution`."""

    weights: Floats
    scores: Floats
    cut: Cut
    objective: float
    coefficients: Floats = field(default_factory=lambda: UNKNOWN)

    @classmethod
    def at_start(cls, risk: LinearRisk, start: Floats | None, coefficients: Floats = UNKNOWN) -> Point:
        """Return the point at `start`, or at weights 0."""
        samples, size = risk.shape
        if start is None:
            return cls.of(risk, np.zeros(size), np.zeros(samples), np.zeros(risk.samples))
        weights = np.asarray(start, dtype=np.float64)
        return cls.of(risk, weights, risk.scores(weights), coefficients)

    @classmethod
    def of(cls, risk: LinearRisk, weights: Floats, scores: Floats, coefficients: Floats = UNKNOWN) -> Point:
        """Return the point at `weights`, whose scores are known."""
        cut = risk.oracle(scores)
        return cls(weights, scores, cut, risk.objective(weights, scores, cut), coefficients)


class Line:
    """The objective between a point (0) and the weights `end` (1), by cuts in one dimension."""

    def __init__(
        self, risk: LinearRisk, origin: Point, end: Floats, scores: Floats, coefficients: Floats = UNKNOWN
    ) -> None:
        self.risk, self.origin, self.coefficients = risk, origin, coefficients
        self.weights = end - origin.weights
        self.scores = scores - origin.scores
        self.parabola = (
            0.5 * float(origin.weights @ origin.weights),
            float(origin.weights @ self.weights),
            0.5 * float(self.weights @ self.weights),
        )
        # of the hinge at 0 and its slopes: it is never negative
        self.heights: list[float] = [0.0]
        self.slopes: list[float] = [0.0]
        self._remember(origin.cut)

    def search(self, first: float, close: float, trials: int) -> tuple[float, Point]:
        """Return the best step found in `trials`, and the point there; 0 is the origin."""
        # `first` is tried first; the search ends at a step within `close` of the least objective.
        best_step, best_cut, best_value = 0.0, self.origin.cut, self.origin.objective
        step = first
        for _ in range(trials):
            cut = self.cut_at(step)
            value = self._quadratic(step) + self.risk.C * max(self._remember(cut, step), 0.0)
            if value < best_value:
                best_step, best_cut, best_value = step, cut, value
            step, lowest = self._least()
            if lowest > best_value - close:
                break
        if best_step == 0.0:
            return 0.0, self.origin
        weights = self.origin.weights + best_step * self.weights
        coefficients = (1.0 - best_step) * self.origin.coefficients + best_step * self.coefficients
        return best_step, Point(weights, self._scores(best_step), best_cut, best_value, coefficients)

    def cut_at(self, step: float) -> Cut:
        """Return the maximising cut at a step."""
        return self.risk.oracle(self._scores(step))

    def _scores(self, step: float) -> Floats:
        return self.origin.scores + step * self.scores

    def _quadratic(self, step: float) -> float:
        """Return 1/2 ||w||^2 at a step."""
        constant, linear, square = self.parabola
        return constant + linear * step + square * step * step

    def _remember(self, cut: Cut, step: float = 0.0) -> float:
        """Add a cut's line to the model of the hinge; return the hinge at `step`."""
        height = cut.loss + float(self.origin.scores @ cut.coefficients)
        slope = float(self.scores @ cut.coefficients)
        self.heights.append(height)
        self.slopes.append(slope)
        return height + slope * step

    def _least(self) -> tuple[float, float]:
        """Return the step with the least model objective, a vertex or a parabola's bottom, and its value."""
        constant, linear, square = self.parabola
        C, lines = self.risk.C, list(zip(self.heights, self.slopes, strict=True))
        steps = [0.0, 1.0]
        for k, (height, slope) in enumerate(lines):
            if square > 0.0:
                steps.append(-(linear + C * slope) / (2.0 * square))
            steps += [(height - h) / (g - slope) for h, g in lines[:k] if g != slope]
        steps = [min(max(step, 0.0), 1.0) for step in steps]
        values = [
            constant + linear * step + square * step * step + C * max(h + g * step for h, g in lines)
            for step in steps
        ]
        least = min(range(len(steps)), key=values.__getitem__)
        return steps[least], values[least]
