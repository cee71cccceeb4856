"""How far an experiment is and how long it may still take, from the trials that are finished."""

from __future__ import annotations

import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ranking.experiments.cross_validation.trial import Outcome, Trial


@dataclass(frozen=True)
class Progress:
    """The finished trials of those that are planned, what was done last, and the estimated seconds of the rest.

    seconds_left: None before there is anything to estimate it from.
    """

    what: str
    done: int
    total: int
    seconds_left: float | None


class Pace:
    """Trials are expected to take as long as those of their method did, at the rate at which this run trains."""

    def __init__(self) -> None:
        self.later = 0  # trials that are expected and cannot be planned yet
        self._done, self._planned = 0, set[str]()  # by key: what is planned again counts once
        self._seconds: dict[str, list[float]] = defaultdict(list)  # by method
        self._left: Counter[str] = Counter()
        self._trained, self._start = 0.0, time.monotonic()

    def plan(self, trials: Iterable[Trial], known: Mapping[str, Outcome]) -> None:
        """Count trials that are needed, of which some outcomes are `known` by key."""
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
        fold = "all of train" if trial.fold is None else f"fold {trial.fold + 1}"
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
    """An estimated time in words.

    >>> time_in_words(31), time_in_words(200), time_in_words(9000)
    ('about 31 s', 'about 3 min', 'about 2.5 h')
    """
    if seconds < 100:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 6000 else f"about {seconds / 3600:.1f} h"
