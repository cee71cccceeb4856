"""The pairs of labels that a c-star joins: their learned interaction, and how often images have both."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ranking.core import Bools, Floats, Ints
from ranking.core.errors import InputError

COLUMNS = ("first", "second", "weight", "together", "expected")


@dataclass(frozen=True, eq=False)
class LabelPairs:
    """p pairs of labels, each once, with a core label first."""

    # As t'Ft runs over ordered pairs, two labels in one top k add 2 F_ij to its value (c-star, eq. 6).

    # L labels
    names: tuple[str, ...]
    # (c,) the labels that interact with all others
    core: Ints
    # first, second: (p,) numbers of labels
    first: Ints
    second: Ints
    # (p,) the interaction F_ij, above 0 where the labels attract each other
    weight: Floats
    # (p,) how many of `images` images have both labels
    together: Ints
    # (p,) that number if the two labels were independent with the same frequencies
    expected: Floats
    images: int

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def lift(self) -> Floats:
        """(p,) `together` over `expected`; NaN where expected is 0, as for a label that no image has."""
        unknown = np.full(len(self), np.nan)
        return np.asarray(np.divide(self.together, self.expected, out=unknown, where=self.expected > 0))

    @property
    def log_lift(self) -> Floats:
        """(p,) log2 of `together` over `expected`, with half an image added to both, so that it is finite."""
        # 0: as often as by chance. 1: twice as often. -1: half as often.
        return np.asarray(np.log2((self.together + 0.5) / (self.expected + 0.5)))

    @property
    def against(self) -> Floats:
        """(p,) -F times `log_lift`: above 0 where the learned interaction contradicts the frequencies."""
        return -self.weight * self.log_lift

    @property
    def correlation(self) -> float:
        """The Pearson correlation of F and `log_lift`; NaN where one of them is constant."""
        if len(self) < 2 or not np.ptp(self.weight) or not np.ptp(self.log_lift):
            return float("nan")
        return float(np.corrcoef(self.weight, self.log_lift)[0, 1])

    def part(self, indices: npt.ArrayLike) -> LabelPairs:
        """Return the pairs at `indices`, in that order."""
        chosen = np.asarray(indices)
        if not chosen.size and chosen.dtype != np.bool_:
            chosen = chosen.astype(np.int64)
        return replace(self, **{column: getattr(self, column)[chosen] for column in COLUMNS})

    def of(self, label: int) -> LabelPairs:
        """Return the pairs of one core label, with that label first in each; ValueError for another label."""
        if label not in self.core:
            core = ", ".join(self.names[i] for i in self.core)
            raise InputError("core label", f"one of {core}", repr(self.names[label]))
        pairs = self.part((self.first == label) | (self.second == label))
        partners = np.where(pairs.first == label, pairs.second, pairs.first)
        return replace(pairs, first=np.full_like(partners, label), second=partners)

    def strongest(self, sign: int, count: int) -> Ints:
        """Return the indices of at most `count` pairs whose F has the sign 1 or -1, strongest first."""
        order = np.argsort(-sign * self.weight, kind="stable")
        return np.asarray(order[sign * self.weight[order] > 0][:count])


def label_pairs(names: tuple[str, ...], core: Ints, interactions: Floats, labels: Bools) -> LabelPairs:
    """Return all pairs of a star.

    >>> labels = np.array([[1, 1], [1, 1], [0, 0], [0, 0]], bool)
    >>> pairs = label_pairs(("sea", "sand"), np.array([0]), np.array([[0.0, 0.4]]), labels)
    >>> pairs.together.tolist(), pairs.expected.tolist(), pairs.lift.tolist()
    ([2], [1.0], [2.0])
    """
    # core: (c,). interactions: (c, L) = F[core]. labels: (M, L) of the images that are counted.
    size = len(names)
    if interactions.shape != (len(core), size) or labels.ndim != 2 or labels.shape[1] != size:
        expected = (
            f"shapes {(len(core), size)} and (images, {size}) for {size} labels, {len(core)} in the core"
        )
        got = f"{interactions.shape} and {labels.shape}"
        raise InputError("interactions and labels", expected, got)
    rank = np.full(size, len(core))
    # a pair within the core belongs to the earlier label
    rank[core] = np.arange(len(core))
    row, second = np.nonzero(rank[None, :] > np.arange(len(core))[:, None])
    first = np.asarray(core, np.int64)[row]
    # float64, so that BLAS computes the product, exactly
    marks = labels.astype(np.float64)
    together = (marks[:, core].T @ marks)[row, second].round().astype(np.int64)
    counts = labels.sum(axis=0)
    expected = counts[first] * counts[second] / max(1, len(labels))
    weight = np.asarray(interactions, np.float64)[row, second]
    return LabelPairs(tuple(names), np.asarray(core), first, second, weight, together, expected, len(labels))
