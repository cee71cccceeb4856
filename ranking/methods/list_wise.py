"""The base of ListNet and ListMLE: a smooth loss of each sequence's scores, by a small network."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ranking.core import Certificate, Floats, OnProgress, SequenceSet, relative_gap
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.methods.common_settings import closed_gap, most_iterations, penalty
from ranking.methods.order_method import Arrays, Grid, OrderMethod
from ranking.solvers.clock import Clock
from ranking.solvers.quasi_newton import Best, quasi_newton
from ranking.solvers.smooth import Loss, SmoothRisk, gap_of


@dataclass(frozen=True)
class ScoreNetwork:
    """Scores w.x where hidden is 0, else v.tanh(W x + b)."""

    # All parameters are in one row: W (hidden, d), then b, then v.

    columns: int
    hidden: int

    @property
    def size(self) -> int:
        """The number of parameters."""
        return self.columns if self.hidden == 0 else self.hidden * (self.columns + 2)

    def start(self, seed: int) -> Floats:
        """Return (size,) zeros for linear scores; else random W and v."""
        # They are such that scores are about as large as features.
        if self.hidden == 0:
            return np.zeros(self.size)
        generator = np.random.default_rng(seed)
        first = generator.standard_normal(self.hidden * self.columns)
        last = generator.standard_normal(self.hidden) / np.sqrt(self.hidden)
        return np.concatenate([first, np.zeros(self.hidden), last])

    def scores(self, parameters: Floats, features: Floats) -> Floats:
        """Return (n,) the scores of features (n, d)."""
        if self.hidden == 0:
            scores: Floats = features @ parameters
            return scores
        first, bias, last = self._parts(parameters)
        scores = np.tanh(features @ first.T + bias) @ last
        return scores

    def gradient(self, parameters: Floats, features: Floats, slope: Floats) -> Floats:
        """Return (size,) the gradient of a loss whose slope in the scores is (n,)."""
        if self.hidden == 0:
            gradient: Floats = slope @ features
            return gradient
        first, bias, last = self._parts(parameters)
        units = np.tanh(features @ first.T + bias)
        back = slope[:, None] * last * (1.0 - units**2)
        return np.concatenate([(back.T @ features).ravel(), back.sum(axis=0), slope @ units])

    def _parts(self, parameters: Floats) -> tuple[Floats, Floats, Floats]:
        edge = self.hidden * self.columns
        first = parameters[:edge].reshape(self.hidden, self.columns)
        return first, parameters[edge : edge + self.hidden], parameters[edge + self.hidden :]


@dataclass(kw_only=True, eq=False)
class ListWise(OrderMethod):
    """min 1/2 ||theta||^2 + C mean over the sequences of their loss at the scores of a `ScoreNetwork`.

    Linear scores make this convex, and then half the squared gradient is the duality gap (solvers/smooth.py), which
    the certificate states. With hidden units nothing is proven; training ends where the same figure is small.
    """

    grid: ClassVar[Grid] = Grid("C", (1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6))

    C: float = penalty(1000.0, "badly ordered sequence")
    hidden: int = setting(
        0,
        label="Hidden units",
        help="0: scores are linear in the features, and training finds the global optimum. More: a layer of tanh "
        "units, whose training ends in a local optimum.",
        formula=r"v^\top\tanh(Wx + b)",
        minimum=0,
        maximum=10_000,
        usual=(0, 64),
    )
    seed: int = setting(
        0, label="Seed", help="Seed for the initial weights of the hidden units.", minimum=0, advanced=True
    )
    # ListNet's loss is at least the entropy of the grades, which hides a gap.
    tolerance: float = closed_gap(1e-4)
    max_iterations: int = most_iterations(5000)
    parameters: Floats = field(default_factory=lambda: np.zeros(0), init=False, repr=False)

    @abstractmethod
    def loss(self, sequences: SequenceSet) -> Loss:
        """Return the mean loss of the sequences as a function of the scores of the pool."""

    def network(self, columns: int) -> ScoreNetwork:
        return ScoreNetwork(columns, self.hidden)

    def learn(self, sequences: SequenceSet, on_progress: OnProgress | None) -> Certificate | None:
        clock, loss = Clock(on_progress), self.loss(sequences)
        features = sequences.features.astype(np.float64, copy=False)
        network = self.network(features.shape[1])

        def objective(parameters: Floats) -> tuple[float, Floats]:
            value, slope = loss(network.scores(parameters, features))
            gradient = parameters + self.C * network.gradient(parameters, features, slope)
            return 0.5 * float(parameters @ parameters) + self.C * value, gradient

        def enough(best: Best) -> bool:
            return relative_gap(best.value, best.value - gap_of(best.gradient)) <= self.tolerance

        def bound(best: Best) -> float:
            return -np.inf if self.hidden else best.value - gap_of(best.gradient)

        start = network.start(self.seed)
        best = quasi_newton(objective, start, enough, bound, self.max_iterations, clock)
        self.parameters = best.point
        if self.hidden:
            return None
        risk = SmoothRisk(sequences.features, self.C, loss)
        return risk.certified(best.point, self.tolerance, best.iterations, clock.seconds)

    @property
    def weights(self) -> Floats | None:
        """(d,) w where scores are linear, None where there are hidden units."""
        return None if self.hidden else self.parameters

    def scores_of(self, features: Floats) -> Floats:
        return self.network(self.columns).scores(self.parameters, features)

    def arrays(self) -> Arrays:
        return {"parameters": self.parameters}

    def restore(self, arrays: Arrays) -> None:
        parameters, size = np.asarray(arrays["parameters"], np.float64), self.network(self.columns).size
        if parameters.shape != (size,):
            raise InputError("parameters", f"shape ({size},)", parameters.shape)
        self.parameters = parameters
