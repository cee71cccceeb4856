"""Record a training run while it is running: all of its first iterations, and fewer and fewer of the later ones."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ranking.core import Certificate, Floats, ProgressEvent
from ranking.explain.playback import Playback, Scored, most_iterations, spread_geometrically

# least interval between two writes of the recording
SECONDS = 0.5
# largest share of the training time for scoring
SHARE = 0.04


@dataclass(eq=False)
class Kept:
    """A reported iteration. Its event has weights until its scores are computed."""

    event: ProgressEvent
    scored: Scored | None = None


class Recorder:
    """Keeps the weights of some iterations, scores them together, and passes the recording on to `write`."""

    # This happens during training at intervals, as far as the time allows, and once at the end. The first
    # half of the kept iterations are the first ones of the run. When the rest is full, every second one of
    # the rest is dropped, and from then on twice as many iterations are skipped. few: score this number of
    # iterations only, at the end, spread geometrically.
    def __init__(self, write: Callable[[Playback], None], few: int | None = None) -> None:
        self._write, self._few = write, few
        self._kept: list[Kept] = []
        self._last: ProgressEvent | None = None
        self._seen, self._stride = 0, 1
        self._samples = self._most = self._first = 0
        # the primal so far, if only falls are recorded
        self._lowest: float | None = None
        self._next = time.monotonic() + SECONDS
        # spent on recording
        self.seconds = 0.0

    def begin(
        self,
        samples: int,
        score: Callable[[Sequence[Floats], Sequence[int]], Scored],
        boxes: bool = False,
        falls: bool = False,
    ) -> None:
        """Start a recording of `samples` scores per iteration."""
        # `score` maps the weights and the rounds of t iterations to scores (t, samples), and boxes if these
        # are recorded. With `falls` only iterations are recorded at which the primal is lower than before:
        # the first ones of rounds that lowered it, for methods whose weights change with the round.
        self._score, self._samples = score, samples
        self._most, self._lowest = most_iterations(samples, boxes), math.inf if falls else None
        self._first = self._most // 2

    def record(self, event: ProgressEvent) -> None:
        """Record an iteration if its turn has come and its weights are known."""
        if event.weights is None or self._most < 2:
            return
        began = time.monotonic()
        self._last = event
        if self._lowest is None or event.primal < self._lowest:
            self._record(event, event.weights)
        if self._lowest is not None:
            self._lowest = min(self._lowest, event.primal)
        if self._few is None and began >= self._next and self._kept:
            self._pass_on()
            took = time.monotonic() - began
            self._next = time.monotonic() + max(SECONDS, took / SHARE)
        self.seconds += time.monotonic() - began

    def end(self, certificate: Certificate | None, scored: Scored) -> None:
        """Record the end: the first `samples` scores of the trained method, and its certificate."""
        # A certificate with fewer iterations than were reported combines several problems, as for MidRank;
        # then the last reported bounds are kept.
        last = self._last
        if not self._kept or last is None or certificate is None:
            return
        began = time.monotonic()
        if certificate.iterations >= last.iteration:
            last = replace(
                last, iteration=certificate.iterations, primal=certificate.primal, dual=certificate.dual
            )
        before = [kept for kept in self._kept if kept.event.iteration < last.iteration]
        self._kept = [
            *before,
            Kept(replace(last, weights=None), scored._replace(scores=scored.scores[: self._samples])),
        ]
        if self._few is not None:
            self._kept = spread_geometrically(self._kept, self._few)
        self._pass_on()
        self.seconds += time.monotonic() - began

    def _record(self, event: ProgressEvent, weights: Floats) -> None:
        kept, first = self._kept, self._first
        # A solver begins where one has ended.
        again = bool(kept) and kept[-1].event.iteration == event.iteration
        if not again:
            number, self._seen = self._seen, self._seen + 1
            if number >= first and (number - first) % self._stride:
                return
        entry = Kept(replace(event, weights=weights.copy()))
        if again:
            kept[-1] = entry
            return
        # the last place is reserved for the end
        if len(kept) == self._most - 1:
            kept[first:] = kept[first::2]
            self._stride *= 2
            if (number - first) % self._stride:
                return
        kept.append(entry)

    def _pass_on(self) -> None:
        waiting = [kept for kept in self._kept if kept.scored is None]
        weights = [kept.event.weights for kept in waiting if kept.event.weights is not None]
        if waiting:
            new = self._score(weights, [kept.event.round for kept in waiting])
            for number, kept in enumerate(waiting):
                kept.event = replace(kept.event, weights=None)
                kept.scored = Scored(
                    new.scores[number].astype(np.float32), None if new.boxes is None else new.boxes[number]
                )
        events = [kept.event for kept in self._kept]
        scored = [kept.scored for kept in self._kept if kept.scored is not None]
        boxes = [each.boxes for each in scored if each.boxes is not None]
        self._write(
            Playback(
                np.array([event.iteration for event in events]),
                np.array([event.round for event in events]),
                np.array([event.primal for event in events], np.float64),
                np.array([event.dual for event in events], np.float64),
                np.stack([np.asarray(each.scores, np.float32) for each in scored]),
                np.stack(boxes).astype(np.int32) if boxes else None,
            )
        )
