"""The features in which scores of labels are linear: some shared by all labels, and one per label.

A map turns features (M, d) into `shared` (M, p) and `own` (M, L). The first column of `shared` is 1, for the v_i.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np
from scipy.linalg import lapack, solve_triangular

from ranking.core import Bools, Features, Floats, LabelSet
from ranking.core.errors import InputError

# for scores of one-vs-all SVMs on training images
FOLDS = 5
# times the greatest kernel value: an image that adds less is not in the basis
RANK = 1e-10


class LabelFeatures(NamedTuple):
    """Features of M images: shared (M, p) by all labels, and own (M, L), one per label."""

    shared: Floats
    own: Floats


@dataclass(frozen=True, eq=False)
class LinearMap:
    """s_i = v_i + w_i'x."""

    kind: ClassVar[str] = "linear"
    columns: int
    labels: int

    @classmethod
    def fitted(cls, label_set: LabelSet, gamma: float) -> tuple[Self, LabelFeatures]:
        label_map = cls(label_set.features.shape[1], len(label_set.names))
        return label_map, label_map(label_set.features)

    def __call__(self, features: Features) -> LabelFeatures:
        return _with_constant(features.astype(np.float64), self.labels)


@dataclass(frozen=True, eq=False)
class KernelMap:
    """s_i = v_i + sum_m alpha_im k(x_m, x) (c-star, eq. 10), as scores linear in as many features."""

    # Pivoted Cholesky of the kernel matrix of the training images, K = R R', is exact up to `RANK`: rows of R
    # are features whose inner products are the kernel, and the l2 regulariser of w_i on them is alpha_i' K
    # alpha_i.

    # (r, d) the pivots, images that span all others
    basis: Floats
    # (r, r) lower triangle of R at them
    root: Floats
    width: float
    labels: int

    @classmethod
    def fitted(cls, label_set: LabelSet, gamma: float) -> tuple[Self, LabelFeatures]:
        features = np.ascontiguousarray(label_set.features, np.float64)
        width = cls.width_of(features, gamma)
        kernel = cls.kernel(features, features, width)
        root, pivots, rank, _ = lapack.dpstrf(kernel, tol=RANK * float(kernel.diagonal().max()), lower=1)
        chosen = pivots[:rank] - 1
        label_map = cls(features[chosen], np.tril(root[:rank, :rank]), width, len(label_set.names))
        return label_map, label_map(features)

    def __call__(self, features: Features) -> LabelFeatures:
        kernel = self.kernel(features.astype(np.float64), self.basis, self.width)
        rooted = solve_triangular(self.root, kernel.T, lower=True).T
        return _with_constant(rooted, self.labels)

    @staticmethod
    def width_of(features: Floats, gamma: float) -> float:
        """Return the factor of distances; not used by a kernel without a width."""
        return gamma

    @staticmethod
    def kernel(left: Floats, right: Floats, width: float) -> Floats:
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class LinearKernelMap(KernelMap):
    """k(x, y) = x'y: the same scores as linear ones."""

    kind: ClassVar[str] = "linear kernel"

    @staticmethod
    def kernel(left: Floats, right: Floats, width: float) -> Floats:
        return left @ right.T


@dataclass(frozen=True, eq=False)
class RBFMap(KernelMap):
    """k(x, y) = exp(-gamma ||x - y||^2 / the mean of that over pairs of training images)."""

    kind: ClassVar[str] = "RBF kernel"

    @staticmethod
    def width_of(features: Floats, gamma: float) -> float:
        return _relative(gamma, 2.0 * float(features.var(axis=0).sum()))

    @staticmethod
    def kernel(left: Floats, right: Floats, width: float) -> Floats:
        # loaded here, because listing the methods does not need it
        from scipy.spatial.distance import cdist

        return np.asarray(np.exp(-width * cdist(left, right, "sqeuclidean")))


@dataclass(frozen=True, eq=False)
class ChiSquareMap(KernelMap):
    """k(x, y) = exp(-gamma d(x, y) / mean d), d = sum_j (x_j - y_j)^2 / (x_j + y_j), of features >= 0."""

    kind: ClassVar[str] = "chi-square kernel"

    @staticmethod
    def width_of(features: Floats, gamma: float) -> float:
        # which takes a second to load
        from sklearn.metrics.pairwise import additive_chi2_kernel

        _check_histograms(features)
        return _relative(gamma, -float(additive_chi2_kernel(features).mean()))

    @staticmethod
    def kernel(left: Floats, right: Floats, width: float) -> Floats:
        # as above
        from sklearn.metrics.pairwise import chi2_kernel

        _check_histograms(left)
        return np.asarray(chi2_kernel(left, right, gamma=width))


@dataclass(frozen=True, eq=False)
class OneVsAllMap:
    """s_i = v_i + a_i y_i, y_i the score of a linear SVM for label i alone (scikit-learn's LinearSVC)."""

    # The scores of the training images come from SVMs that did not see them, in `FOLDS` folds; those of other
    # images from SVMs on all training images. Labels that all or none of the images have score 1 or -1.

    kind: ClassVar[str] = "one-vs-all SVMs"
    # (d, L)
    normals: Floats
    # (L,)
    offsets: Floats

    @classmethod
    def fitted(cls, label_set: LabelSet, gamma: float) -> tuple[Self, LabelFeatures]:
        features = np.ascontiguousarray(label_set.features, np.float64)
        label_map = cls._trained(features, label_set.labels)
        scores = np.empty(label_set.labels.shape)
        _, unit = np.unique(label_set.groups, return_inverse=True)
        fold = (np.random.default_rng(0).permutation(int(unit.max(initial=-1)) + 1) % FOLDS)[unit]
        for number in range(FOLDS):
            out = fold == number
            if out.any() and not out.all():
                scores[out] = cls._trained(features[~out], label_set.labels[~out]).scores(features[out])
            elif out.all():
                scores[out] = label_map.scores(features)
        return label_map, LabelFeatures(np.ones((len(features), 1)), scores)

    @classmethod
    def _trained(cls, features: Floats, labels: Bools) -> Self:
        # which takes a second to load
        from sklearn.svm import LinearSVC

        normals, offsets = np.zeros((features.shape[1], labels.shape[1])), np.empty(labels.shape[1])
        for i in range(labels.shape[1]):
            if labels[:, i].all() or not labels[:, i].any():
                offsets[i] = 1.0 if len(labels) and labels[0, i] else -1.0
                continue
            svm = LinearSVC(C=1.0, random_state=0).fit(features, labels[:, i])
            normals[:, i], offsets[i] = svm.coef_[0], svm.intercept_[0]
        return cls(normals, offsets)

    def scores(self, features: Features) -> Floats:
        """Return (M, L) the scores of the SVMs."""
        return np.asarray(features.astype(np.float64) @ self.normals + self.offsets)

    def __call__(self, features: Features) -> LabelFeatures:
        return LabelFeatures(np.ones((len(features), 1)), self.scores(features))


LabelMap = LinearMap | KernelMap | OneVsAllMap

MAPS: dict[str, type[LabelMap]] = {
    kind.kind: kind for kind in (LinearMap, LinearKernelMap, RBFMap, ChiSquareMap, OneVsAllMap)
}


def _check_histograms(features: Floats) -> None:
    """Raise InputError for features below 0."""
    if features.min(initial=0.0) < 0:
        expected = "numbers of at least 0 for the chi-square kernel"
        raise InputError("features", expected, "numbers below 0", "choose histograms or another kernel")


def _relative(gamma: float, mean: float) -> float:
    """Return gamma / mean; gamma itself where all training images are alike."""
    return gamma / mean if mean > 0 else gamma


def _with_constant(features: Floats, labels: int) -> LabelFeatures:
    """Return shared features with the constant before them, and zeros as own features."""
    constant = np.ones((len(features), 1))
    return LabelFeatures(np.hstack([constant, features]), np.zeros((len(features), labels)))
