"""The best set of k labels where a few core labels interact with all others (c-star, section 4).

    value(t) = t's + t'Ft,   t in {0, 1}^L with k ones,

F symmetric with a zero diagonal, and zero outside the rows and columns of the core; t'Ft runs over ordered pairs, so
a pair in the top k counts twice. For each of the 2^C configurations of the core the other labels are independent,
with scores s_i + 2 sum_c t_c F_ci, and the best of them are selected: O(2^C (L + k log k)) in the paper, here O(2^C
L), since nothing needs an order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ranking.core import Bools, Floats, Ints
from ranking.core.errors import InputError
from ranking.inference import threads
from ranking.inference.top_k_kernels import fill_best, fill_max_marginals

# core labels: each doubles the time
MAX_CORE = 20
# labels times configurations: fewer are not worth another thread
MIN_PART = 500_000


@dataclass(frozen=True, eq=False)
class BestTopK:
    """The best top k labels of one image.

    members: (k,) the labels, ascending. value: t's + t'Ft.
    """

    members: Ints
    value: float


class BestTopKs(NamedTuple):
    """For M images: members (M, L) bool, whether a label is in the best top k; values (M,)."""

    members: Bools
    values: Floats


class TopKMaxMarginals(NamedTuple):
    """The best value with each label inside the top k, and with it outside: (M, L) each.

    -inf where no such set exists, as for a label that is forced to the other side.
    """

    inside: Floats
    outside: Floats

    @property
    def difference(self) -> Floats:
        """(M, L) inside - outside: labels of the best top k have >= 0, all others <= 0."""
        return self.inside - self.outside


def best_top_k(
    unary: npt.ArrayLike,
    core: npt.ArrayLike,
    interactions: npt.ArrayLike,
    k: int,
    inside: Iterable[int] = (),
    outside: Iterable[int] = (),
) -> BestTopK:
    """Find the k labels with the greatest t's + t'Ft, exactly; of several best sets always the same one.

    unary: (L,) scores s. core: (c,) the core labels. interactions: (c, L) = F[core]. inside, outside: labels forced
    into and out of the top k. For loss-augmented inference pass s + (1 - z) / k. ValueError for an invalid model, and
    if no set of k labels is compatible with the forced labels.

    >>> best = best_top_k([3.0, 2.0, 1.0], core=[2], interactions=[[0.0, 2.0, 0.0]], k=2)
    >>> best.members.tolist(), best.value
    ([1, 2], 7.0)
    """
    scores = np.asarray(unary, np.float64)
    if scores.ndim != 1:
        raise InputError("unary", "the shape (L,), one score per label", scores.shape)
    forced = np.zeros(scores.shape, np.int8)
    for labels, mark in ((inside, 1), (outside, -1)):
        chosen = _labels(list(labels), len(scores), "inside" if mark > 0 else "outside")
        if (forced[chosen] == -mark).any():
            label = int(chosen[forced[chosen] == -mark][0])
            raise InputError("inside and outside", "different labels", label, "remove it from one of them")
        forced[chosen] = mark
    best = best_top_ks(scores[None], core, interactions, k, forced[None])
    return BestTopK(np.flatnonzero(best.members[0]), float(best.values[0]))


def best_top_ks(
    unary: npt.ArrayLike,
    core: npt.ArrayLike,
    interactions: npt.ArrayLike,
    k: npt.ArrayLike,
    forced: npt.ArrayLike | None = None,
) -> BestTopKs:
    """Run `best_top_k` on many images, in a few threads.

    unary: (M, L). k: a number, or (M,) per image. forced: (M, L) of 1 inside, -1 outside, 0 free.
    """
    model = _Model.of(unary, core, interactions, k, forced)
    members, values = np.zeros(model.unary.shape, np.bool_), np.empty(len(model.unary))

    def work(rows: slice) -> None:
        fill_best(*model.part(rows), members[rows], values[rows])

    threads.each(work, model.parts())
    return BestTopKs(members, values)


def top_k_max_marginals(
    unary: npt.ArrayLike,
    core: npt.ArrayLike,
    interactions: npt.ArrayLike,
    k: npt.ArrayLike,
    forced: npt.ArrayLike | None = None,
) -> TopKMaxMarginals:
    """Return the best values with each label forced inside and outside, at the cost of one label.

    See section 5 of c-star.

    Given a configuration of the core, a label that is forced inside replaces the last one selected, and one forced
    outside is replaced by the first one not selected. Arguments as for `best_top_ks`.

    >>> maxima = top_k_max_marginals([[3.0, 2.0, 1.0]], [], np.empty((0, 3)), 1)
    >>> maxima.inside.tolist(), maxima.outside.tolist()
    ([[3.0, 2.0, 1.0]], [[2.0, 3.0, 3.0]])
    """
    model = _Model.of(unary, core, interactions, k, forced)
    inside, outside = (np.full(model.unary.shape, -np.inf) for _ in range(2))

    def work(rows: slice) -> None:
        fill_max_marginals(*model.part(rows), inside[rows], outside[rows])

    threads.each(work, model.parts())
    return TopKMaxMarginals(inside, outside)


@dataclass(frozen=True, eq=False)
class _Model:
    """The checked model: unary (M, L), core (c,), interactions (c, L), k (M,), forced (M, L)."""

    unary: Floats
    core: Ints
    interactions: Floats
    k: Ints
    forced: npt.NDArray[np.int8]

    @classmethod
    def of(
        cls,
        unary: npt.ArrayLike,
        core: npt.ArrayLike,
        interactions: npt.ArrayLike,
        k: npt.ArrayLike,
        forced: npt.ArrayLike | None,
    ) -> _Model:
        scores = np.ascontiguousarray(unary, np.float64)
        if scores.ndim != 2:
            raise InputError("unary", "the shape (M, L), one score per image and label", scores.shape)
        if not np.isfinite(scores).all():
            raise InputError("unary", "finite scores", remedy="to force labels use inside and outside")
        labels = _labels(core, scores.shape[1], "core")
        marks = np.zeros(scores.shape, np.int8) if forced is None else np.ascontiguousarray(forced, np.int8)
        if marks.shape != scores.shape:
            raise InputError("forced", f"the shape {scores.shape} of unary", marks.shape)
        weights = check_interactions(interactions, labels, scores.shape[1])
        _check_reach(scores, weights)
        return cls(scores, labels, weights, _places(k, marks), marks)

    def part(self, rows: slice) -> tuple[Floats, Ints, Floats, Ints, npt.NDArray[np.int8]]:
        """Return the arguments of a kernel for some images."""
        return self.unary[rows], self.core, self.interactions, self.k[rows], self.forced[rows]

    def parts(self) -> list[slice]:
        """Return the images in as many parts as are worth a thread."""
        images, labels = self.unary.shape
        return threads.rows(images, 1 + MIN_PART // max(1, labels << len(self.core)))


def check_interactions(interactions: npt.ArrayLike, core: Ints, count: int) -> Floats:
    """Return `interactions` as F[core] (c, L); InputError unless F can be symmetric with a zero diagonal."""
    weights = np.ascontiguousarray(interactions, np.float64)
    if weights.shape != (len(core), count):
        raise InputError("interactions", f"F[core] of shape ({len(core)}, {count})", weights.shape)
    if not np.isfinite(weights).all():
        raise InputError("interactions", "finite numbers")
    among = weights[:, core]
    if (among != among.T).any() or np.diagonal(among).any():
        raise InputError(
            "interactions among core labels",
            "a symmetric matrix with a zero diagonal, because t'Ft counts each pair twice, half in either order",
            remedy="give (F + F') / 2 and add the diagonal to unary",
        )
    return weights


def _check_reach(unary: Floats, interactions: Floats) -> None:
    """Raise ValueError where sums could overflow: infinity minus infinity compares with nothing."""
    greatest, strongest = (float(np.abs(part).max(initial=0.0)) for part in (unary, interactions))
    if unary.shape[1] * (greatest + 2.0 * len(interactions) * strongest) == np.inf:
        raise InputError(
            "unary and interactions",
            f"finite sums of {unary.shape[1]} labels",
            f"numbers up to {greatest:g} and {strongest:g}",
            "divide both by one number",
        )


def _labels(labels: npt.ArrayLike, count: int, name: str) -> npt.NDArray[np.int64]:
    """Return `labels` as different numbers below `count`, or raise an InputError."""
    array = np.asarray(labels)
    if array.ndim != 1 or (array.size and not np.issubdtype(array.dtype, np.integer)):
        raise InputError(name, "whole numbers of labels", f"{array.dtype} of shape {array.shape}")
    chosen = array.astype(np.int64)
    if chosen.size and not 0 <= chosen.min() <= chosen.max() < count:
        raise InputError(name, f"labels 0 to {count - 1}", chosen.tolist())
    if len(np.unique(chosen)) != len(chosen):
        raise InputError(name, "different labels", chosen.tolist())
    if name == "core" and len(chosen) > MAX_CORE:
        raise InputError(
            "labels of the core",
            f"at most {MAX_CORE}, because all 2^c configurations are tried",
            len(chosen),
        )
    return chosen


def _places(k: npt.ArrayLike, forced: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
    """Return (M,) the size of each top k; InputError if no such set is compatible with the forced labels."""
    sizes, (images, labels) = np.asarray(k), forced.shape
    if sizes.shape not in ((), (images,)) or not np.issubdtype(sizes.dtype, np.integer):
        raise InputError(
            "k", f"a whole number, or ({images},) whole numbers", f"{sizes.dtype} of shape {sizes.shape}"
        )
    checked = np.broadcast_to(sizes.astype(np.int64), (images,)).copy()
    lowest, highest = (forced > 0).sum(axis=1), labels - (forced < 0).sum(axis=1)
    wrong = np.flatnonzero((checked < lowest) | (checked > highest))
    if len(wrong):
        row = wrong[0]
        raise InputError(
            "k",
            f"{lowest[row]}, the labels forced inside, to {highest[row]}, those not forced outside (image {row})",
            int(checked[row]),
        )
    return checked
