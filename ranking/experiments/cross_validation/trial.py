"""The cells of an experiment: one training each, under a key that tells all that decides its numbers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ranking.core import Certificate
from ranking.core.run_settings import Settings

VERSION = (
    6  # goes up whenever the same cell gives other numbers, so that none of before is taken for one of now
)


@dataclass(frozen=True, eq=False)
class Cell:
    """One training: a query, a method at a point of its grid, and the samples that it learns from.

    settings: all of the method. fold: the one that is held out, None for "all of train, tested on test". samples: the
    content hash of the samples, their features, the graph and the split. previous: the cell along the path whose
    solution it starts from; beginning: the HOB-SVM with whose weights a HOAP-SVM begins; None where there is none.
    """

    query: str
    method: str
    settings: Settings
    fold: int | None
    samples: str
    previous: Cell | None = None
    beginning: Cell | None = None

    @property
    def causes(self) -> tuple[Cell, ...]:
        """The cells that it begins from."""
        return tuple(cell for cell in (self.previous, self.beginning) if cell is not None)

    @cached_property
    def step(self) -> int:
        """How many cells come before it along its path."""
        return 0 if self.previous is None else self.previous.step + 1

    @cached_property
    def key(self) -> str:
        """A hash of everything that decides the numbers of the cell, the cells included that it begins from."""
        content: dict[str, Any] = {
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
    """What came of a cell, but for the scores of its held-out samples, which are read one by one.

    measures: `ranking.metrics.evaluate` of the held-out samples, counts alone where none is relevant. seconds: in
    training, where it was computed. certificate: what training proved; `iterations` are in it.
    """

    measures: Mapping[str, float]
    seconds: float
    certificate: Certificate
