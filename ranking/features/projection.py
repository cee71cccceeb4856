"""PCA and whitening: reduce the columns of features, fitted on the training samples alone.

Both depend on the features of the training samples, never on their labels. The result is not scaled to length 1 again,
because scores would no longer be linear in the features, and weights could not be plotted. scikit-learn's PCA computes
in the type of the features and needs all of them in memory; here float32 features, also of a mapped file, are summed in
float64 by blocks.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar, Self

import numpy as np

from ranking.core import Features, Floats, OnStep, blocks_of_rows, check_features
from ranking.core.arrays import AnyArray
from ranking.core.errors import InputError
from ranking.core.settings import (
    GivenSettings,
    Json,
    Settings,
    check_settings,
    setting,
    settings_dict,
    settings_of,
)

# numbers that are processed at a time, in double precision
BLOCK = 1 << 22
# Times the mean squared length of the rows: a smaller variance along a direction is rounding in single precision.
LEAST_VARIANCE = 1e-13
UNREADABLE = (ValueError, KeyError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error)
SAVED, AGAIN = "saved projection", "train again"
# of a file
ARRAYS = ("mean", "directions", "variances", "total", "whiten")


@dataclass(frozen=True)
class PCA:
    """Principal component analysis (Jolliffe, 2002, chapter 1): the directions of largest variance."""

    # z = V (x - m), where m is the mean of the training samples and the rows of V are the unit eigenvectors
    # of their covariance S = sum_i (x_i - m)(x_i - m)' / n with the largest eigenvalues. Distances and angles
    # around the mean change only by the dropped directions, so that C keeps its meaning. With whitening, each
    # z_j is multiplied by s / sigma_j, where s^2 is the mean of the kept variances sigma^2: all directions
    # then have the same variance, with the same total, and C again keeps its meaning.
    # SVM and the methods that use the similarity graph have no constant term; without PCA, the mean of the
    # features acts as one. Methods that learn from score differences, such as AP-SVM, do not need it.
    # If the samples vary in fewer directions than requested, all of these are kept; no direction has variance
    # 0.

    name: ClassVar[str] = "PCA"

    components: int = setting(
        64,
        label="Components",
        help="The number of directions that are kept: those with the largest variance of the training samples. If they "
        "vary in fewer directions, all of these are kept.",
        minimum=1,
        maximum=100_000,
    )
    whiten: bool = setting(
        False,
        label="Whitened",
        help="Scale all directions to the same variance, so that weak differences have the same weight as strong ones.",
    )

    def __post_init__(self) -> None:
        check_settings(self)

    def fitted(self, features: Features, rows: AnyArray | None = None) -> Projection:
        """Return the projection fitted on `rows` of the features (n, d)."""
        # rows: numbers of rows, (n,) bool, or None for all. Exact, in double precision, and deterministic:
        # the largest entry of each direction is positive. ValueError if these rows are all equal, or there
        # are none.

        # which pages that show a projection do without
        from scipy import linalg

        given = np.arange(len(features)) if rows is None else np.asarray(rows)
        chosen = np.flatnonzero(given) if given.dtype == np.bool_ else given
        if not len(chosen):
            raise InputError("PCA", "training samples", "none", "choose an image set that has some")
        mean, length = _mean_and_length(features, chosen)
        moments, span = _moments(features, chosen, mean)
        # Compute all eigenvectors, by divide and conquer: LAPACK's search for a few misses repeated ones, or fails.
        variances, axes = linalg.eigh(moments, driver="evd", check_finite=False)
        variances, axes = variances[-self.components :], axes[:, -self.components :]
        kept = variances > LEAST_VARIANCE * length
        if not kept.any():
            came = f"{len(chosen):,} with equal features"
            raise InputError(
                "PCA", "training samples that differ", came, "choose other features, or no projection"
            )
        axes = axes[:, kept][:, ::-1]
        directions = (axes if span is None else span @ axes).T
        largest = np.abs(directions).argmax(axis=1)
        directions = directions * np.sign(directions[np.arange(len(directions)), largest])[:, None]
        return Projection(
            mean, directions, variances[kept][::-1].copy(), float(np.trace(moments)), self.whiten
        )


@dataclass(frozen=True, eq=False)
class Projection:
    """A fitted `PCA`."""

    # (d,) of the training samples
    mean: Floats
    # (k, d) orthonormal
    directions: Floats
    # (k,) > 0 along them, falling
    variances: Floats
    # the variance along all directions
    total: float
    whiten: bool

    @property
    def columns(self) -> int:
        """d, the number of columns before the projection."""
        return len(self.mean)

    @property
    def kept(self) -> int:
        """k, the number of columns after the projection."""
        return len(self.variances)

    @property
    def share(self) -> float:
        """The share of the training samples' variance along the kept directions, at most 1."""
        return min(1.0, float(self.variances.sum()) / self.total)

    @property
    def axes(self) -> Floats:
        """Return (k, d) the directions, with the factors of whitening: z = axes (x - mean)."""
        if not self.whiten:
            return self.directions
        scaled: Floats = self.directions * np.sqrt(self.variances.mean() / self.variances)[:, None]
        return scaled

    def __call__(self, features: Features) -> Features:
        """Return (n, k) float32, the projection of features (n, d)."""
        if features.ndim != 2 or features.shape[1] != self.columns:
            expected = f"the {self.columns:,} columns that the projection was fitted on"
            raise InputError("features", expected, f"shape {features.shape}")
        projected = np.empty((len(features), self.kept), np.float32)
        axes = self.axes.T
        for place in blocks_of_rows((len(features), self.columns), BLOCK):
            projected[place] = (features[place] - self.mean) @ axes
        return projected

    def before(self, weights: Floats) -> Floats:
        """Return (d,) weights of the features with the scores of `weights` (k,), up to a constant."""
        # `weights` are those of projections: w.z = (axes' w).x - (axes' w).m.
        return np.asarray(self.axes.T @ weights, np.float64)

    def save(self, path: Path | str) -> None:
        """Write an .npz file of plain arrays, which `load` reads."""
        with open(path, "wb") as file:
            arrays: Json = {name: np.asarray(getattr(self, name)) for name in ARRAYS}
            np.savez(file, **arrays)

    @classmethod
    def load(cls, path: Path | str | IO[bytes]) -> Self:
        """Return the projection that `save` wrote; ValueError for any other file."""
        try:
            with np.load(path, allow_pickle=False) as file:
                mean, directions, variances, total, whiten = (file[name] for name in ARRAYS)
        except UNREADABLE as error:
            raise InputError(SAVED, f"an .npz of {', '.join(ARRAYS)}", str(error)[:80], AGAIN) from error
        numbers = (mean, directions, variances, total)
        shapes = mean.ndim == variances.ndim == 1 and directions.shape == (len(variances), len(mean))
        if not shapes or total.shape != () or whiten.shape != () or whiten.dtype != np.bool_:
            raise InputError(SAVED, "k directions of d numbers each", "other shapes or types", AGAIN)
        if not all(array.dtype == np.float64 and np.isfinite(array).all() for array in numbers):
            raise InputError(SAVED, "finite float64 numbers", "other numbers", AGAIN)
        if not len(variances) or variances.min() <= 0 or not 0 < float(variances.sum()) <= total * (1 + 1e-9):
            raise InputError(SAVED, "variances above 0 and within their total", "other variances", AGAIN)
        if not np.allclose(np.linalg.norm(directions, axis=1), 1.0, rtol=0, atol=1e-6):
            raise InputError(SAVED, "directions of length 1", "other lengths", AGAIN)
        return cls(mean, directions, variances, float(total), bool(whiten))


def _mean_and_length(features: Features, rows: AnyArray) -> tuple[Floats, float]:
    """Return (d,) the mean of some rows, and the mean of their squared lengths."""
    total, length = np.zeros(features.shape[1]), 0.0
    for place in blocks_of_rows((len(rows), features.shape[1]), BLOCK):
        block = check_features(features[rows[place]]).astype(np.float64, copy=False)
        total += block.sum(axis=0)
        length += float(np.einsum("ij,ij->", block, block))
    return total / len(rows), length / len(rows)


def _moments(features: Features, rows: AnyArray, mean: Floats) -> tuple[Floats, Floats | None]:
    """Return the covariance S (d, d) of some rows and None, or for far fewer rows than columns Q'SQ and Q."""
    # Q'SQ is (n, n) for n rows; the orthonormal columns of Q (d, n) span the rows.

    # as above
    from scipy import linalg

    n, d = len(rows), features.shape[1]
    # this case is faster
    if 2 * n <= d:
        span, triangle = linalg.qr((features[rows] - mean).T, mode="economic", overwrite_a=True)
        return triangle @ triangle.T / n, span
    moments = np.zeros((d, d))
    for place in blocks_of_rows((n, d), BLOCK):
        block = features[rows[place]] - mean
        moments += block.T @ block
    return moments / n, None


# ---------------------------------------------------------------------------------------------------------
# From settings
# ---------------------------------------------------------------------------------------------------------


def make_projection(settings: GivenSettings | None) -> PCA | None:
    """Return the PCA that settings describe; None for no projection.

    >>> make_projection({"kind": "PCA", "components": 8})
    PCA(components=8, whiten=False)
    """
    if settings is None:
        return None
    values = {name: value for name, value in settings.items() if name != "kind"}
    if settings.get("kind") != PCA.name:
        raise InputError("kind of a projection", repr(PCA.name), f"{settings.get('kind')!r:.40}")
    known = [item.name for item in settings_of(PCA)]
    unknown = [name for name in values if name not in known]
    if unknown:
        raise InputError(f"settings of {PCA.name}", ", ".join(known), f"{unknown[0]!r:.40}")
    return PCA(**values)


def fit_projection(
    settings: GivenSettings | None,
    features: Features,
    rows: AnyArray | None = None,
    on_step: OnStep | None = None,
) -> Projection | None:
    """Return the projection that settings describe, fitted on `rows` of the features (n, d), or None."""
    # None for no projection. on_step is called before fitting, which may take seconds.
    made = make_projection(settings)
    if made is None:
        return None
    if on_step is not None:
        on_step(f"Fitting {made.name}", 0, 1)
    return made.fitted(features, rows)


def projected(projection: Projection | None, features: Features) -> Features:
    """Return the features (n, d) after a projection, or unchanged for None."""
    return features if projection is None else projection(features)


def whole_projection(settings: GivenSettings | None) -> Settings | None:
    """Return the settings of a projection completed with defaults; None for no projection.

    >>> whole_projection({"kind": "PCA", "components": 8})
    {'kind': 'PCA', 'components': 8, 'whiten': False}
    """
    made = make_projection(settings)
    return None if made is None else {"kind": made.name, **settings_dict(made)}


def features_words(parts: Sequence[tuple[str, object]], projection: GivenSettings | None) -> str:
    """Return a short description of features: their names, and the projection.

    >>> features_words([("HOG", {}), ("Colour", {})], {"kind": "PCA", "components": 64, "whiten": True})
    'HOG + Colour, PCA to 64, whitened'
    """
    names = " + ".join(str(name) for name, _ in parts)
    return names if projection is None else f"{names}, {projection_words(projection)}"


def projection_words(projection: GivenSettings | None) -> str:
    """Return a short description of a projection from the settings of a run, even if these are not valid.

    >>> projection_words({"kind": "PCA", "components": 64}), projection_words(None)
    ('PCA to 64', 'none')
    """
    if projection is None:
        return "none"
    settings = {**{item.name: item.default for item in settings_of(PCA)}, **projection}
    return f"{settings.get('kind')} to {settings['components']}{', whitened' if settings['whiten'] is True else ''}"
