"""Progress of a method that trains several rankers after each other, as one training."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from ranking.core import OnProgress, ProgressEvent, StopTraining


class RoundReports:
    """Passes progress on with the number of the ranker, 0 for the first; once told to stop, every later one stops."""

    def __init__(self, on_progress: OnProgress | None) -> None:
        self.on_progress = on_progress
        self.number, self.stopped = 0, False
        self.iterations, self.seconds = 0, 0.0  # before this ranker began
        self.last = (0, 0.0)
        self.event: ProgressEvent | None = None  # the last

    def begin(self, number: int) -> None:
        """The ranker of that number begins."""
        self.number, self.iterations, self.seconds = number, self.last[0] + 1, self.last[1]

    def __call__(self, event: ProgressEvent) -> None:
        """Iterations and seconds go on from those of the rankers before."""
        if self.stopped:
            raise StopTraining
        self.last = (self.iterations + event.iteration, self.seconds + event.seconds)
        self.event = replace(event, iteration=self.last[0], seconds=self.last[1], round=self.number)
        self._pass_on(self.event)

    def repeat(self, _: ProgressEvent) -> None:
        """For trainings that tell nothing of their own: passes the last event on once more, which may stop them."""
        if self.stopped:
            raise StopTraining
        if self.event is not None:
            self._pass_on(self.event)

    def should_stop(self) -> bool:
        """Whether training shall end, where nothing is told for long: the last event, once more, may stop it."""
        if not self.stopped and self.event is not None:
            with suppress(StopTraining):
                self._pass_on(self.event)
        return self.stopped

    def _pass_on(self, event: ProgressEvent) -> None:
        if self.on_progress is None:
            return
        try:
            self.on_progress(event)
        except StopTraining:
            self.stopped = True
            raise
