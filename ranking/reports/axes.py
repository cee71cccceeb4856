"""The axes of a chart: from values to places in the drawing, and which values are told."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ranking.core import Floats

MOST_TICKS = 14


@dataclass(frozen=True)
class Axis:
    """Values from `low` to `high`, of a logarithmic axis their logarithms, stand from `start` to `end`; `names` are
    those of an axis that has no numbers."""

    low: float
    high: float
    start: float
    end: float
    log: bool
    names: tuple[str, ...]
    told: Mapping[str, Any]  # of the axis, as `figures` has it

    def numbers(self, values: Sequence[Any] | Floats) -> Floats:
        """(n,) where values stand between `low` and `high`; NaN of those that are None."""
        return numbers(values, self.names, self.log)

    def at(self, values: Sequence[Any] | Floats) -> Floats:
        """(n,) where values stand in the drawing."""
        share = (self.numbers(values) - self.low) / (self.high - self.low)
        found: Floats = self.start + share * (self.end - self.start)
        return found

    def ticks(self) -> list[tuple[float, str]]:
        """The values that are told, in words, and where they stand."""
        if self.told.get("tickvals") is not None:
            values = list(self.told["tickvals"])
            texts = list(self.told.get("ticktext", map(spoken, values)))
        elif self.names:
            values, texts = list(self.names), list(self.names)
        else:
            values = self._decades() if self.log else self._steps()
            texts = list(map(spoken, values))
        places = self.at(values)
        low, high = sorted((self.start, self.end))
        return [
            (float(at), str(text))
            for at, text in zip(places, texts, strict=True)
            if low - 0.5 <= at <= high + 0.5
        ]

    def _decades(self) -> list[float]:
        low, high = sorted((self.low, self.high))
        return [10.0**power for power in range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)]

    def _steps(self) -> list[float]:
        low, high = sorted((self.low, self.high))
        step = float(self.told.get("dtick") or _round((high - low) / 5))
        while (high - low) / step > MOST_TICKS:
            step *= 2
        first = math.ceil(low / step - 1e-9)
        return [round(step * i, 12) for i in range(first, math.floor(high / step + 1e-9) + 1)]


def numbers(values: Sequence[Any] | Floats, names: Sequence[str], log: bool) -> Floats:
    """(n,) values as numbers: of names their places, of a logarithmic axis the logarithms."""
    if names:
        return np.array([names.index(str(value)) for value in values], float)
    found = np.array([math.nan if value is None else float(value) for value in values])
    if log:
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.log10(found)
    return found


def axis_of(
    told: Mapping[str, Any], values: Sequence[Sequence[Any]], start: float, end: float, zero: bool
) -> Axis:
    """The axis for what is drawn along it. zero: whether 0 is in it, as below bars."""
    every = [value for part in values for value in part]
    names = tuple(dict.fromkeys(value for value in every if isinstance(value, str)))
    log = told.get("type") == "log"
    if told.get("range") is not None:
        low, high = map(float, told["range"])
        return Axis(low, high, start, end, log, names, told)
    found = numbers(every, names, log)
    found = found[np.isfinite(found)]
    low, high = (float(found.min()), float(found.max())) if len(found) else (0.0, 1.0)
    if (zero or told.get("rangemode") == "tozero") and not log:
        low, high = min(0.0, low), max(0.0, high)
    room = 0.5 if names else 0.06 * (high - low) or 0.5
    low, high = low - (0.0 if zero and low == 0 else room), high + room
    if told.get("autorange") == "reversed":
        low, high = high, low
    return Axis(low, high, start, end, log, names, told)


def spoken(value: Any) -> str:
    """A value as an axis tells it.

    >>> spoken(-0.5), spoken(1000.0), spoken(1e6)
    ('−0.5', '1,000', '1,000,000')
    """
    if isinstance(value, str):
        return value
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6g}"
    return text.replace("-", "−")


def _round(step: float) -> float:
    """The next of 1, 2 and 5 times a power of ten.

    >>> _round(0.13), _round(3.0)
    (0.2, 5.0)
    """
    power = 10.0 ** math.floor(math.log10(step))
    return next(round(factor * power, 12) for factor in (1, 2, 5, 10) if factor * power >= step * (1 - 1e-9))
