"""Progress of a method that trains several rankers in turn, reported as one training run."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from ranking.core import OnProgress, ProgressEvent, StopTraining


class RoundReports:
    """Passes on progress with the number of the ranker, 0 for the first; once stopped, all later calls stop too."""

    def __init__(self, on_progress: OnProgress | None) -> None:
        self.on_progress = on_progress
        self.number, self.stopped = 0, False
        self.iterations, self.seconds = 0, 0.0  # before this ranker began
        self.last = (0, 0.0)
        self.event: ProgressEvent | None = None  # the last

    def begin(self, number: int) -> None:
        """Start the ranker of that number."""
        self.number, self.iterations, self.seconds = number, self.last[0] + 1, self.last[1]

    def __call__(self, event: ProgressEvent) -> None:
        """Pass on an event, with iterations and seconds continued from those of the rankers before."""
        if self.stopped:
            raise StopTraining
        self.last = (self.iterations + event.iteration, self.seconds + event.seconds)
        self.event = replace(event, iteration=self.last[0], seconds=self.last[1], round=self.number)
        self._pass_on(self.event)

    def repeat(self, _: ProgressEvent) -> None:
        """Pass on the last event once more, for training runs that report no progress; this may stop them."""
        if self.stopped:
            raise StopTraining
        if self.event is not None:
            self._pass_on(self.event)

    def should_stop(self) -> bool:
        """Return whether training shall end, by passing on the last event once more."""
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
