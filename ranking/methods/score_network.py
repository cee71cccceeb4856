"""Scores of samples from their features: linear, or with one hidden layer of tanh units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranking.core import Floats


@dataclass(frozen=True)
class ScoreNetwork:
    """Scores w.x where hidden is 0, else v.tanh(W x + b); all parameters in one row: W (hidden, d), then b, then v."""

    columns: int
    hidden: int

    @property
    def size(self) -> int:
        """The number of parameters."""
        return self.columns if self.hidden == 0 else self.hidden * (self.columns + 2)

    def start(self, seed: int) -> Floats:
        """Return (size,) zeros for linear scores; else random W and v, for scores about as large as features."""
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
