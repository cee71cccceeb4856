"""The steps of an inference algorithm, and the ranks that remain possible after each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ranking.core import Ints

What = Literal["sample", "median", "edge", "bin"]


class Bound(NamedTuple):
    """The interleaving ranks of the irrelevant samples `start` to `end` - 1 are from `low` to `high`."""

    # Samples are numbered from 0 by decreasing score.

    start: int
    end: int
    low: int
    high: int


class Step(NamedTuple):
    """One evaluation of an algorithm.

    what: the object that was evaluated: one irrelevant sample, the median of a block of samples, a bin edge, or all
    samples of a bin. block: the samples concerned, with the ranks that were possible before. position: of the
    evaluated sample in order of score, from 0 (of an edge: the first sample below it). score: its score.
    probes: the ranks i at which the sign of f(i + 1) - f(i), or of a sum of them, was computed, in turn. rank: the
    result. comparisons: of scores. bounds: known after the step. parent: the step that this one follows from, -1 for
    none.
    """

    what: What
    block: Bound
    position: int
    score: float
    probes: tuple[int, ...]
    rank: int
    comparisons: int
    bounds: tuple[Bound, ...]
    parent: int


@dataclass(frozen=True, eq=False)
class Trace:
    """All steps of one algorithm, and the resulting ranks.

    before: comparisons of scores before the first step. counted: scores that were put into bins. ranks: (|N|,) in
    order of score, highest first.
    """

    algorithm: str
    steps: tuple[Step, ...]
    ranks: Ints
    before: int = 0
    counted: int = 0

    @property
    def comparisons(self) -> int:
        """How often two scores of irrelevant samples were compared."""
        return self.before + sum(step.comparisons for step in self.steps)

    @property
    def derivatives(self) -> int:
        """How many values f(i + 1) - f(i) were computed."""
        return sum(len(step.probes) for step in self.steps)

    @property
    def evaluated(self) -> int:
        """How many irrelevant samples were evaluated one by one; all others follow from bounds."""
        places = {step.position for step in self.steps if step.what in ("sample", "median")}
        for step in self.steps:
            if step.what == "bin":
                places.update(range(step.block.start, step.block.end))
        return len(places)

    def bounds_after(self, count: int, highest: int) -> tuple[Ints, Ints]:
        """Return (|N|,) the lowest and highest possible rank of each sample after `count` steps."""
        low, high = np.ones(len(self.ranks), np.int64), np.full(len(self.ranks), highest, np.int64)
        for step in self.steps[:count]:
            for bound in step.bounds:
                low[bound.start : bound.end] = bound.low
                high[bound.start : bound.end] = bound.high
        return low, high

    def depths(self) -> list[int]:
        """Return for each step the number of steps that it follows from."""
        depths: list[int] = []
        for step in self.steps:
            depths.append(0 if step.parent < 0 else depths[step.parent] + 1)
        return depths
