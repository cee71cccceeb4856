"""The time spent in training, without callbacks; progress reports; detection of stalled training."""

from __future__ import annotations

import time

from ranking.core import Floats, OnProgress, ProgressEvent


class Clock:
    """Counts the seconds of training, and reports progress outside of them."""

    def __init__(self, on_progress: OnProgress | None) -> None:
        self._on_progress = on_progress
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._start

    def report(
        self,
        iteration: int,
        primal: float,
        dual: float,
        passes: int,
        planes: int = 0,
        number: int = 0,
        weights: Floats | None = None,
    ) -> None:
        """Call the callback, if there is one; it may raise StopTraining."""
        # number: of the round.
        if self._on_progress is not None:
            before = time.perf_counter()
            try:
                seconds = before - self._start
                self._on_progress(
                    ProgressEvent(iteration, primal, dual, seconds, passes, planes, number, weights)
                )
            finally:
                self._start += time.perf_counter() - before


def stalled(gaps: list[float], iterations: int) -> bool:
    """Return whether the last `iterations` have not halved the gap."""
    # gaps: before the first iteration and after each.
    return len(gaps) > iterations and gaps[-1] > 0.5 * gaps[-1 - iterations]
