"""A plot of vectors before they are kept: how they spread, and whether neighbours are of one class.

Rows in another order than the samples have the right shape, and finite numbers; what gives them away is that the
nearest neighbour of a sample is of its class no more often than any sample is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from ranking.core import Features, Floats, ImageSet, Ints

MAX_SHOWN = 1000  # samples that are plotted
LEAST_ABOVE = 3.0  # standard deviations above chance that agreement has where vectors tell of classes


@dataclass(frozen=True)
class VectorPlot:
    """samples: (m,) those that are shown, evenly sampled. points: (m, 2) them in the first two principal components.
    explained: the share of their variance that each of these has.

    agreeing: the share of them whose nearest neighbour among them shows exactly the same classes; by_chance: that
    share where neighbours are any others. None where the set has no classes, or all show the same.
    """

    samples: list[int]
    points: list[list[float]]
    explained: list[float]
    agreeing: float | None = None
    by_chance: float | None = None

    @property
    def tells_nothing(self) -> bool:
        """Whether neighbours agree no more often than by chance."""
        if self.agreeing is None or self.by_chance is None:
            return False
        spread = (self.by_chance * (1 - self.by_chance) / len(self.samples)) ** 0.5
        return bool(self.agreeing < self.by_chance + LEAST_ABOVE * spread)


def vector_plot(matrix: Features, images: ImageSet, of: Ints | None = None) -> VectorPlot:
    """The plot of vectors (n, d) of the samples of a set; of: (n,) which samples, None where it is all."""
    few = min(MAX_SHOWN, len(matrix))
    places = np.unique(np.linspace(0, len(matrix) - 1, few).round().astype(np.int64))
    rows, samples = np.asarray(matrix[places], np.float64), places if of is None else of[places]
    points, explained = principal_components(rows)
    classes: dict[str, Any] = {}
    if images.classes:
        agreeing, by_chance = agreement(rows, _patterns(images, samples))
        classes = {"agreeing": agreeing, "by_chance": by_chance}
    return VectorPlot(samples.tolist(), points.round(6).tolist(), explained, **classes)


def principal_components(rows: Floats) -> tuple[Floats, list[float]]:
    """(m, 2) rows (m, d) in their first two principal components, and the share of the variance of each.

    By way of the inner products, of which there are few: the rows may be long. Where rows lie on a line or a point,
    what is missing is 0. The sign of each is that its largest point is positive.
    """
    centred = rows - rows.mean(axis=0)
    products = centred @ centred.T
    whole, few = float(np.trace(products)), min(2, len(rows))
    values, vectors = scipy.linalg.eigh(products, driver="evd")  # which misses none that are repeated
    points, explained = np.zeros((len(rows), 2)), [0.0, 0.0]
    for place in range(few):
        value, vector = float(values[-1 - place]), vectors[:, -1 - place]
        if value > 1e-12 * whole:
            points[:, place] = vector * np.sign(vector[np.abs(vector).argmax()]) * np.sqrt(value)
            explained[place] = value / whole
    return points, explained


def _patterns(images: ImageSet, samples: Ints) -> Ints:
    """(m,) a number for each different row of labels."""
    _, patterns = np.unique(images.labels[samples], axis=0, return_inverse=True)
    return np.asarray(patterns).reshape(-1)


def agreement(rows: Floats, patterns: Ints) -> tuple[float | None, float | None]:
    """The share of rows (m, d) of length 1 whose nearest other row has the same pattern, and that of any other row."""
    counts = np.bincount(patterns)
    if len(rows) < 3 or (counts > 0).sum() < 2:
        return None, None
    likeness = rows @ rows.T
    np.fill_diagonal(likeness, -np.inf)
    nearest = likeness.argmax(axis=1)
    by_chance = (counts * (counts - 1)).sum() / (len(rows) * (len(rows) - 1))
    return float((patterns == patterns[nearest]).mean()), float(by_chance)
