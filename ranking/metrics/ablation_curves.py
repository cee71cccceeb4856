"""Curves of an ablation: a measure by setting, with its uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ranking.core import Floats
from ranking.core.errors import InputError
from ranking.core.settings import GivenJson, Json

At = int | str


class Measured(NamedTuple):
    """A measure along a curve, with its error."""

    # of the measure at each point
    mean: list[float]
    # half of the interval around the mean, see `AblationResult`
    error: list[float]


@dataclass(frozen=True)
class Curve:
    """One line of a figure."""

    line: str
    # the setting at each point
    at: list[At]
    # name of a measure to its values
    measures: dict[str, Measured]

    @classmethod
    def of(cls, line: str, at: Sequence[At], values: Sequence[Mapping[str, Measured]]) -> Curve:
        """Return the curve of `values`, one mapping of measures per point, each with a single number."""
        together = {
            name: Measured(
                [row[name].mean[0] for row in values],
                [row[name].error[0] for row in values],
            )
            for name in values[0]
        }
        return cls(line, list(at), together)


@dataclass(frozen=True)
class AblationResult:
    """The result of an ablation."""

    # The error of a mean over sequences is half of its 95% confidence interval by the normal distribution; it
    # covers the sampling of sequences only, which share their images. That of a time is half of the
    # interquartile range over rounds.

    curves: list[Curve]
    # whether all training runs closed their duality gap to the tolerance
    proven: bool

    def to_json(self) -> Json:
        curves = [
            {
                "line": curve.line,
                "at": curve.at,
                "measures": {name: measured._asdict() for name, measured in curve.measures.items()},
            }
            for curve in self.curves
        ]
        return {"curves": curves, "proven": self.proven}

    @classmethod
    def from_json(cls, record: GivenJson) -> AblationResult:
        """Return the result that `to_json` wrote; ValueError for anything else."""
        try:
            curves = [
                Curve(
                    str(row["line"]),
                    list(row["at"]),
                    {name: Measured(**numbers) for name, numbers in row["measures"].items()},
                )
                for row in record["curves"]
            ]
            return cls(curves, bool(record["proven"]))
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError("outcome of the study", "curves", repr(error), "measure it again") from error


def over_sequences(values: Floats) -> Measured:
    """Return the mean of values (m,), m >= 2, with half of its 95% confidence interval (normal)."""
    half = 1.96 * float(values.std(ddof=1)) / float(np.sqrt(len(values)))
    return Measured([float(values.mean())], [half])
