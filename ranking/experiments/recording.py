"""Record a training run while it is running: all of its first iterations, and ever fewer of the later ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ranking.core import Certificate, Floats, ProgressEvent
from ranking.explain.playback import Playback, most_iterations

SECONDS = 0.5  # least interval between two writes of the recording
SHARE = 0.04  # largest share of the training time for scoring


@dataclass(eq=False)
class Kept:
    """An iteration. weights: until it is scored, scores: then."""

    iteration: int
    primal: float
    dual: float
    weights: Floats | None
    scores: Floats | None = None


class Recorder:
    """Keeps the weights of some iterations, scores them together, and passes the recording on.

    This happens during training at intervals, as far as the time allows, and once at the end. The first half of the
    kept iterations are the first ones of the run. When the rest is full, every second one of the rest is dropped, and
    from then on twice as many iterations are skipped. write: receives the recording so far.
    """

    def __init__(self, write: Callable[[Playback], None]) -> None:
        self._write = write
        self._kept: list[Kept] = []
        self._seen, self._stride = 0, 1
        self._most = self._first = 0
        self._next = time.monotonic() + SECONDS
        self.seconds = 0.0  # spent on recording

    def begin(self, samples: int, score: Callable[[Floats], Floats]) -> None:
        """Record scores of so many samples. score: weights (t, size) to scores (t, samples)."""
        self._score = score
        self._most = most_iterations(samples)
        self._first = self._most // 2

    def keep(self, event: ProgressEvent) -> None:
        """Record an iteration, or not; not where its weights are unknown."""
        if event.weights is None or self._most < 2:
            return
        began = time.monotonic()
        self._keep(event, event.weights)
        if began >= self._next and self._kept:
            self._pass_on()
            took = time.monotonic() - began
            self._next = time.monotonic() + max(SECONDS, took / SHARE)
        self.seconds += time.monotonic() - began

    def end(self, certificate: Certificate | None, scores: Floats) -> None:
        """Record the end: the bounds that are proven, and the scores (samples,) of the method."""
        if not self._kept or certificate is None:
            return
        began = time.monotonic()
        before = [kept for kept in self._kept if kept.iteration < certificate.iterations]
        last = Kept(certificate.iterations, certificate.primal, certificate.dual, None, scores)
        self._kept = [*before, last]
        self._pass_on()
        self.seconds += time.monotonic() - began

    def _keep(self, event: ProgressEvent, weights: Floats) -> None:
        kept, first = self._kept, self._first
        again = bool(kept) and kept[-1].iteration == event.iteration  # a solver begins where one has ended
        if not again:
            number, self._seen = self._seen, self._seen + 1
            if number >= first and (number - first) % self._stride:
                return
        entry = Kept(event.iteration, event.primal, event.dual, weights.copy())
        if again:
            kept[-1] = entry
            return
        if len(kept) == self._most - 1:  # the end needs a place
            kept[first:] = kept[first::2]
            self._stride *= 2
            if (number - first) % self._stride:
                return
        kept.append(entry)

    def _pass_on(self) -> None:
        waiting = [kept for kept in self._kept if kept.scores is None]
        weights = [kept.weights for kept in waiting if kept.weights is not None]
        if weights:
            for kept, scores in zip(waiting, self._score(np.stack(weights)), strict=True):
                kept.scores, kept.weights = scores.astype(np.float32), None
        self._write(
            Playback(
                np.array([kept.iteration for kept in self._kept]),
                np.array([kept.primal for kept in self._kept], np.float64),
                np.array([kept.dual for kept in self._kept], np.float64),
                np.stack([np.asarray(kept.scores, np.float32) for kept in self._kept]),
            )
        )
