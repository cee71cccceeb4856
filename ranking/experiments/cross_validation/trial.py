"""Trials of an experiment: one training run each, whose key is a hash of all that determines its results."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ranking.core import Certificate
from ranking.core.settings import Json, Settings

# Raise it whenever the same trial gives different results, so that finished trials of earlier versions are not reused.
VERSION = 7


@dataclass(frozen=True, eq=False)
class Trial:
    """One training run: a query, a method at a grid point, and the training samples."""

    query: str
    method: str
    # all settings of the method
    settings: Settings
    # the held-out fold, None for the test split
    fold: int | None
    # the hash of the samples, their features, the graph and the split
    samples: str
    # the trial with the next smaller C, from whose solution this one starts
    previous: Trial | None = None
    # the HOB-SVM from whose weights a HOAP-SVM starts
    beginning: Trial | None = None

    @property
    def causes(self) -> tuple[Trial, ...]:
        """The warm starts of this trial."""
        return tuple(trial for trial in (self.previous, self.beginning) if trial is not None)

    @cached_property
    def step(self) -> int:
        """Number of trials before this one along its path."""
        return 0 if self.previous is None else self.previous.step + 1

    @cached_property
    def key(self) -> str:
        """A hash of everything that determines the results of the trial, including its warm starts."""
        content: Json = {
            "version": VERSION,
            "query": self.query,
            "method": self.method,
            "settings": self.settings,
            "fold": self.fold,
            "samples": self.samples,
            "previous": None if self.previous is None else self.previous.key,
            "beginning": None if self.beginning is None else self.beginning.key,
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of a trial without the scores of held-out samples, which are read one trial at a time."""

    # `ranking.metrics.evaluate` of the held-out samples, only counts if none is relevant
    measures: Mapping[str, float]
    # of training, on the machine that trained
    seconds: float
    # the bounds proven by training; it has the `iterations`
    certificate: Certificate
