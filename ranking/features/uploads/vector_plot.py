"""A plot of vectors before they are stored.

It shows how they spread, and whether nearest neighbours have the same class.

Rows in another order than the samples have the correct shape and finite numbers. They can be recognised because the
nearest neighbour of a sample has its class no more often than a random sample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ranking.core import Features, Floats, ImageSet, Ints
from ranking.core.settings import Json
from ranking.datasets.sequences import unit_rows
from ranking.features.scaling import per_column

# samples that are plotted
MAX_SHOWN = 1000
# standard deviations above chance from which vectors are related to classes
LEAST_ABOVE = 3.0


@dataclass(frozen=True)
class VectorPlot:
    """The plot of some vectors of an image set."""

    # (m,) the plotted samples, evenly spaced
    samples: list[int]
    # (m, 2) their first two principal components
    points: list[list[float]]
    # the share of variance of each component
    explained: list[float]
    # the share of these samples whose nearest neighbour among them has exactly the same classes; None if the
    # set has no classes, or all samples have the same
    agreeing: float | None = None
    # the share for random neighbours; None as `agreeing`
    by_chance: float | None = None

    @property
    def tells_nothing(self) -> bool:
        """Return whether neighbours agree no more often than by chance."""
        if self.agreeing is None or self.by_chance is None:
            return False
        spread = (self.by_chance * (1 - self.by_chance) / len(self.samples)) ** 0.5
        return bool(self.agreeing < self.by_chance + LEAST_ABOVE * spread)


def vector_plot(matrix: Features, images: ImageSet, of: Ints | None = None) -> VectorPlot:
    """Return the plot of vectors (n, d) of samples of a set."""
    # of: (n,) which samples, None for all.
    few = min(MAX_SHOWN, len(matrix))
    places = np.unique(np.linspace(0, len(matrix) - 1, few).round().astype(np.int64))
    samples = places if of is None else of[places]
    raw = np.asarray(matrix[places], np.float64)
    # otherwise a column of large numbers would hide all others
    rows = np.asarray(per_column(raw, np.ones(len(raw), np.bool_))(raw), np.float64)
    points, explained = principal_components(rows)
    classes: Json = {}
    if images.classes:
        agreeing, by_chance = agreement(np.asarray(unit_rows(rows), np.float64), _patterns(images, samples))
        classes = {"agreeing": agreeing, "by_chance": by_chance}
    return VectorPlot(samples.tolist(), points.round(6).tolist(), explained, **classes)


def principal_components(rows: Floats) -> tuple[Floats, list[float]]:
    """Return (m, 2) the first two principal components of rows (m, d), and the share of variance of each."""
    # Computed from the inner products, which are few, because the rows may be long. If rows lie on a line or
    # a point, the missing components are 0. The largest value of each component is positive.
    centred = rows - rows.mean(axis=0)
    products = centred @ centred.T
    whole, few = float(np.trace(products)), min(2, len(rows))
    # which finds repeated eigenvalues too
    values, vectors = scipy.linalg.eigh(products, driver="evd")
    points, explained = np.zeros((len(rows), 2)), [0.0, 0.0]
    for place in range(few):
        value, vector = float(values[-1 - place]), vectors[:, -1 - place]
        if value > 1e-12 * whole:
            points[:, place] = vector * np.sign(vector[np.abs(vector).argmax()]) * np.sqrt(value)
            explained[place] = value / whole
    return points, explained


def _patterns(images: ImageSet, samples: Ints) -> Ints:
    """Return (m,) a number for each different row of labels."""
    _, patterns = np.unique(images.labels[samples], axis=0, return_inverse=True)
    return np.asarray(patterns).reshape(-1)


def agreement(rows: Floats, patterns: Ints) -> tuple[float | None, float | None]:
    """Return the share of rows whose nearest row has the same pattern, and that of a random row."""
    # rows: (m, d) of length 1.
    counts = np.bincount(patterns)
    if len(rows) < 3 or (counts > 0).sum() < 2:
        return None, None
    likeness = rows @ rows.T
    np.fill_diagonal(likeness, -np.inf)
    nearest = likeness.argmax(axis=1)
    by_chance = (counts * (counts - 1)).sum() / (len(rows) * (len(rows) - 1))
    return float((patterns == patterns[nearest]).mean()), float(by_chance)
