"""PCA and whitening: from the columns of features to fewer, fitted on training samples alone.

Both go by what the training samples are, never by what they show. Afterwards rows are not brought to length 1 again:
then scores would not be linear in the features any more, and weights had no picture.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from ranking.core import Features, Floats, OnStep, blocks_of_rows, check_features
from ranking.core.errors import InputError
from ranking.core.settings import check_settings, setting, settings_dict, settings_of

BLOCK = 1 << 22  # numbers that are worked on at once, in double precision
# Of the mean squared length of the rows: below lies what rounding to single precision leaves along a direction.
LEAST_VARIANCE = 1e-13
UNREADABLE = (ValueError, KeyError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error)
SAVED, AGAIN = "saved projection", "train again"
ARRAYS = ("mean", "directions", "variances", "total", "whiten")  # of a file


@dataclass(frozen=True)
class PCA:
    """Principal component analysis (Jolliffe, 2002, chapter 1): along which directions samples vary most.

    z = V (x - m), m the mean of the training samples and the rows of V those unit eigenvectors of their covariance
    S = sum_i (x_i - m)(x_i - m)' / n that have the largest eigenvalues. Distances and angles around the mean stay as
    they are but for what is dropped, so that C means what it meant. Whitened, each z_j is multiplied by s / sigma_j,
    where s^2 is the mean of the kept variances sigma^2: each direction varies alike, all of them together as much as
    before, and C keeps its meaning here too.

    Methods without a constant term, SVM and those that lean on neighbours, had the mean of the features for one; what
    learns from differences of scores, as AP-SVM, does not miss it.

    Where samples vary in fewer directions than were asked for, all of these are kept and no more: none has variance 0.
    """

    name: ClassVar[str] = "PCA"

    components: int = setting(
        64,
        label="Components",
        help="How many directions are kept, those along which the training samples vary most; where they vary in "
        "fewer, all of those.",
        minimum=1,
        maximum=100_000,
    )
    whiten: bool = setting(
        False,
        label="Whitened",
        help="Each direction varies alike, so that faint differences count as much as strong ones.",
    )

    def __post_init__(self) -> None:
        check_settings(self)

    def fitted(self, features: Features, rows: npt.NDArray[Any] | None = None) -> Projection:
        """Fitted on `rows` of the features (n, d), all where it is None: numbers of rows, or (n,) bool.

        Exact, in double precision, and the same each time: of the two signs of a direction the one whose largest entry
        is positive. ValueError where these rows are all equal, or there are none.
        """
        from scipy import linalg  # which pages that show a projection do without

        given = np.arange(len(features)) if rows is None else np.asarray(rows)
        chosen = np.flatnonzero(given) if given.dtype == np.bool_ else given
        if not len(chosen):
            raise InputError("PCA", "training samples", "none", "choose an image set that has some")
        mean, length = _mean_and_length(features, chosen)
        moments, span = _moments(features, chosen, mean)
        # All of them, by divide and conquer: LAPACK's search for some misses those that are repeated, or fails.
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
    """A fitted `PCA`.

    mean: (d,) of the training samples. directions: (k, d), of length 1 and at right angles. variances: (k,) > 0 along
    them, falling. total: the variance along all directions.
    """

    mean: Floats
    directions: Floats
    variances: Floats
    total: float
    whiten: bool

    @property
    def columns(self) -> int:
        """d: how many columns it takes."""
        return len(self.mean)

    @property
    def kept(self) -> int:
        """k: how many it makes of them."""
        return len(self.variances)

    @property
    def share(self) -> float:
        """How much of the variance of the training samples lies along the directions that were kept, up to 1."""
        return min(1.0, float(self.variances.sum()) / self.total)

    @property
    def axes(self) -> Floats:
        """(k, d) the directions, with the factors of whitening: z = axes (x - mean)."""
        if not self.whiten:
            return self.directions
        scaled: Floats = self.directions * np.sqrt(self.variances.mean() / self.variances)[:, None]
        return scaled

    def __call__(self, features: Features) -> Features:
        """(n, k) float32 of features (n, d)."""
        if features.ndim != 2 or features.shape[1] != self.columns:
            expected = f"the {self.columns:,} columns that the projection was fitted on"
            raise InputError("features", expected, f"shape {features.shape}")
        projected = np.empty((len(features), self.kept), np.float32)
        axes = self.axes.T
        for place in blocks_of_rows((len(features), self.columns), BLOCK):
            projected[place] = (features[place] - self.mean) @ axes
        return projected

    def before(self, weights: Floats) -> Floats:
        """(d,) the weights of features that score as `weights` (k,) do after the projection, but for a constant.

        w.z = (axes' w).x - (axes' w).m.
        """
        return np.asarray(self.axes.T @ weights, np.float64)

    def check_made_by(self, settings: PCA | None, columns: int) -> None:
        """InputError unless it may have been fitted with these settings, to so many columns."""
        if settings is None or self.kept > settings.components or self.whiten != settings.whiten:
            came = f"{self.kept} directions{', whitened' if self.whiten else ''}"
            raise InputError("projection", f"{settings or 'none'}, as in the settings", came)
        if self.columns != columns:
            raise InputError("projection", f"one of {columns:,} columns, as many as features", self.columns)

    def save(self, path: Path | str) -> None:
        """Write what `load` reads: an .npz of plain arrays."""
        with open(path, "wb") as file:
            arrays: dict[str, Any] = {name: np.asarray(getattr(self, name)) for name in ARRAYS}
            np.savez(file, **arrays)

    @classmethod
    def load(cls, path: Path | str | IO[bytes]) -> Self:
        """What `save` wrote; a ValueError says what else it is."""
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
            raise InputError(SAVED, "finite float64 numbers", "others", AGAIN)
        if not len(variances) or variances.min() <= 0 or not 0 < float(variances.sum()) <= total * (1 + 1e-9):
            raise InputError(SAVED, "variances above 0 and within their total", "others", AGAIN)
        if not np.allclose(np.linalg.norm(directions, axis=1), 1.0, rtol=0, atol=1e-6):
            raise InputError(SAVED, "directions of length 1", "others", AGAIN)
        return cls(mean, directions, variances, float(total), bool(whiten))


def _mean_and_length(features: Features, rows: npt.NDArray[Any]) -> tuple[Floats, float]:
    """(d,) the mean of some rows, and the mean of their squared lengths."""
    total, length = np.zeros(features.shape[1]), 0.0
    for place in blocks_of_rows((len(rows), features.shape[1]), BLOCK):
        block = check_features(features[rows[place]]).astype(np.float64, copy=False)
        total += block.sum(axis=0)
        length += float(np.einsum("ij,ij->", block, block))
    return total / len(rows), length / len(rows)


def _moments(features: Features, rows: npt.NDArray[Any], mean: Floats) -> tuple[Floats, Floats | None]:
    """The covariance S (d, d) of some rows; of far fewer rows than columns, n of them, Q'SQ (n, n) and Q (d, n), whose
    columns are of length 1, at right angles, and span the rows."""
    from scipy import linalg  # as above

    n, d = len(rows), features.shape[1]
    if 2 * n <= d:  # where it is faster
        span, triangle = linalg.qr((features[rows] - mean).T, mode="economic", overwrite_a=True)
        return triangle @ triangle.T / n, span
    moments = np.zeros((d, d))
    for place in blocks_of_rows((n, d), BLOCK):
        block = features[rows[place]] - mean
        moments += block.T @ block
    return moments / n, None


# ---------------------------------------------------------------------------------------------------------
# As settings tell it
# ---------------------------------------------------------------------------------------------------------


def make_projection(settings: Mapping[str, Any] | None) -> PCA | None:
    """What settings tell of a projection; None where they tell of none. ValueError for what there is not.

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
    settings: Mapping[str, Any] | None,
    features: Features,
    rows: npt.NDArray[Any] | None = None,
    on_step: OnStep | None = None,
) -> Projection | None:
    """What settings tell of, fitted on `rows` of the features (n, d); None where they tell of none.

    on_step hears of it before: it may take seconds.
    """
    made = make_projection(settings)
    if made is None:
        return None
    if on_step is not None:
        on_step(f"Fitting {made.name}", 0, 1)
    return made.fitted(features, rows)


def projected(projection: Projection | None, features: Features) -> Features:
    """The features (n, d) through a projection, and as they are where there is none."""
    return features if projection is None else projection(features)


def whole_projection(settings: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The same with all settings, those at their defaults too.

    >>> whole_projection({"kind": "PCA", "components": 8})
    {'kind': 'PCA', 'components': 8, 'whiten': False}
    """
    made = make_projection(settings)
    return None if made is None else {"kind": made.name, **settings_dict(made)}


def features_words(parts: Sequence[Sequence[Any]], projection: Mapping[str, Any] | None) -> str:
    """What methods saw, in a few words: the names of the features, and what was made of them.

    >>> features_words([("HOG", {}), ("Colour", {})], {"kind": "PCA", "components": 64, "whiten": True})
    'HOG + Colour, PCA to 64, whitened'
    """
    names = " + ".join(str(name) for name, _ in parts)
    return names if projection is None else f"{names}, {projection_words(projection)}"


def projection_words(projection: Mapping[str, Any] | None) -> str:
    """A projection in a few words, also one that there is not: what a run was asked for is shown as it is.

    >>> projection_words({"kind": "PCA", "components": 64}), projection_words(None)
    ('PCA to 64', 'none')
    """
    if projection is None:
        return "none"
    settings = {**{item.name: item.default for item in settings_of(PCA)}, **projection}
    return f"{settings.get('kind')} to {settings['components']}{', whitened' if settings['whiten'] is True else ''}"
