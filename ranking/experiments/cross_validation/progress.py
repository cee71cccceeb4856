"""Progress of an experiment and its estimated remaining time, from finished trials."""

from __future__ import annotations

import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ranking.experiments.cross_validation.trial import Outcome, Trial


@dataclass(frozen=True)
class Progress:
    """The number of finished and planned trials, the last step, and the estimated seconds of the rest."""

    what: str
    done: int
    total: int
    # None before the first trial is finished
    seconds_left: float | None


class TimeEstimate:
    """Estimates the remaining time: each trial takes the mean time of its method, at the pace of this run."""

    def __init__(self) -> None:
        # expected trials that cannot be planned yet
        self.later = 0
        # by key, so that trials planned twice count once
        self._done, self._planned = 0, set[str]()
        # by method
        self._seconds: dict[str, list[float]] = defaultdict(list)
        self._left: Counter[str] = Counter()
        self._trained, self._start = 0.0, time.monotonic()

    def plan(self, trials: Iterable[Trial], known: Mapping[str, Outcome]) -> None:
        """Count planned trials, some with `known` outcomes by key."""
        for trial in trials:
            if trial.key in self._planned:
                continue
            self._planned.add(trial.key)
            if trial.key in known:
                self._add(trial, known[trial.key])
            else:
                self._left[trial.method] += 1

    def trained(self, trial: Trial, outcome: Outcome) -> Progress:
        """Count a trial that has been trained."""
        self._left[trial.method] -= 1
        self._trained += outcome.seconds
        self._add(trial, outcome)
        fold = "all training samples" if trial.fold is None else f"fold {trial.fold + 1}"
        return self.now(f"{trial.query}, {trial.method}, {fold}")

    def now(self, what: str) -> Progress:
        return Progress(what, self._done, len(self._planned) + self.later, self._seconds_left())

    def _add(self, trial: Trial, outcome: Outcome) -> None:
        self._done += 1
        self._seconds[trial.method].append(outcome.seconds)

    def _seconds_left(self) -> float | None:
        elapsed = time.monotonic() - self._start
        if not self._trained or not elapsed:
            return None
        every = statistics.fmean(second for seconds in self._seconds.values() for second in seconds)
        left = sum(
            count * statistics.fmean(self._seconds.get(method) or [every])
            for method, count in self._left.items()
        )
        return left * elapsed / self._trained


def time_in_words(seconds: float) -> str:
    """Format an estimated time.

    >>> time_in_words(31), time_in_words(200), time_in_words(9000)
    ('about 31 s', 'about 3 min', 'about 2.5 h')
    """
    if seconds < 100:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 6000 else f"about {seconds / 3600:.1f} h"
