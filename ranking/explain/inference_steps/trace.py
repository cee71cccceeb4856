"""The steps of an algorithm, and the ranks that stay possible after each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ranking.core import Ints

What = Literal["sample", "median", "edge", "bin"]


class Bound(NamedTuple):
    """The irrelevant samples start ... end - 1, from 0 in the order of their scores, have ranks on low ... high."""

    start: int
    end: int
    low: int
    high: int


class Step(NamedTuple):
    """One look of an algorithm.

    what: at an irrelevant sample, at the median of a run, at the edge between two bins, or at the samples of one bin.
    run: the samples that it is about, with the ranks that were possible before. position: of what is looked at, from 0,
    in the order of scores (of an edge: the first sample below it). score: of it. probes: the ranks i at which the
    sign of f(i + 1) - f(i), or a sum of them, was taken, in turn. rank: what was found. comparisons: of scores.
    bounds: what is known after it. parent: the number of the step that this one follows from; -1: of none.
    """

    what: What
    run: Bound
    position: int
    score: float
    probes: tuple[int, ...]
    rank: int
    comparisons: int
    bounds: tuple[Bound, ...]
    parent: int


@dataclass(frozen=True, eq=False)
class Trace:
    """All steps of one algorithm, and where they led.

    before: comparisons of scores before the first step, and `counted`: scores that were put into bins. ranks: (|N|,)
    by the order of scores, highest first.
    """

    algorithm: str
    steps: tuple[Step, ...]
    ranks: Ints
    before: int = 0
    counted: int = 0

    @property
    def comparisons(self) -> int:
        """How many times two scores of irrelevant samples were compared."""
        return self.before + sum(step.comparisons for step in self.steps)

    @property
    def derivatives(self) -> int:
        """How many values f(i + 1) - f(i) were computed."""
        return sum(len(step.probes) for step in self.steps)

    @property
    def looked_at(self) -> int:
        """How many irrelevant samples were looked at one by one; the others were settled by their neighbours."""
        evaluated = {step.position for step in self.steps if step.what in ("sample", "median")}
        for step in self.steps:
            if step.what == "bin":
                evaluated.update(range(step.run.start, step.run.end))
        return len(evaluated)

    def bounds_after(self, count: int, highest: int) -> tuple[Ints, Ints]:
        """(|N|,) the lowest and the highest rank that each sample may have after the first `count` steps."""
        low, high = np.ones(len(self.ranks), np.int64), np.full(len(self.ranks), highest, np.int64)
        for step in self.steps[:count]:
            for bound in step.bounds:
                low[bound.start : bound.end] = bound.low
                high[bound.start : bound.end] = bound.high
        return low, high

    def depths(self) -> list[int]:
        """Of each step, how many steps it follows from."""
        depths: list[int] = []
        for step in self.steps:
            depths.append(0 if step.parent < 0 else depths[step.parent] + 1)
        return depths
