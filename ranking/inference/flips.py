"""Max-marginals as flips: the best labelling, and as bits which samples of a component flip together.

The best labelling has one of the two labels at each sample, so each sample needs only one more labelling: the best
one with its other label. Max-marginals are values of labellings in float64, whatever algorithm found these.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from ranking.core import Bools, Bounds, Floats, Ints, is_real
from ranking.core.errors import InputError
from ranking.inference.components import PairwiseModel
from ranking.inference.flip_words import WORD, gain_flips, settle_flips, sum_flips


class MaxMarginals(Protocol):
    """The best value for each label of each sample, and the labellings; n samples, m penalties.

    positive, negative: (n,) the best value of a labelling with y_i = 1, and with y_i = 0 (high-order, eqs. 9 and 10).
    difference: (n,) positive - negative, without the terms that both share (eq. 11). map: (n,) bool, the best
    labelling. excess: (n,) the most by which the part of positive or negative that belongs to the sample's component
    may exceed the best labelling's; 0: exact, attained by `map` and `labelling`. relaxed: (n,) whether that component
    was too large to enumerate and had to be bounded.
    """

    @property
    def positive(self) -> Floats: ...
    @property
    def negative(self) -> Floats: ...
    @property
    def difference(self) -> Floats: ...
    @property
    def map(self) -> Bools: ...
    @property
    def excess(self) -> Floats: ...
    @property
    def relaxed(self) -> Bools: ...

    def labelling(self, i: int, label: bool) -> Bools:
        """Return (n,) a best labelling with y_i = `label`; outside the component of i it is the map."""

    def sums(self, labels: npt.ArrayLike, weights: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Return weighted sums of a best labelling per sample, (n,) and (m,): `PairwiseMaxMarginals`."""

    def values(self, labels: npt.ArrayLike, unary: npt.ArrayLike, penalty: npt.ArrayLike) -> Floats:
        """Return (n,) the value of each best labelling in another model: see `PairwiseMaxMarginals`."""


def bounds_of(marginals: MaxMarginals) -> Bounds:
    """Return how exact max-marginals are."""
    excess, size = marginals.excess, float(np.abs(marginals.difference).max(initial=0.0))
    return Bounds(
        large=int(np.count_nonzero(marginals.relaxed)),
        samples=int(np.count_nonzero(excess)),
        of=len(excess),
        excess=float(excess.max(initial=0.0)),
        score=size,
    )


@dataclass(frozen=True, eq=False)
class PairwiseMaxMarginals:
    """The best value for each label of each sample, and the labellings that attain it."""

    # positive, negative: (n,) the best value of a labelling with y_i = 1, and with y_i = 0 (eqs. 9 and 10)
    positive: Floats
    negative: Floats
    # (n,) positive - negative, summed over what differs between the two labellings only (eq. 11)
    difference: Floats
    # (n,) bool, the best labelling
    map: Bools
    _model: PairwiseModel = field(repr=False)
    # the map, by position
    _labels: Bools = field(repr=False)
    # (n + 1,) where each position's flips begin
    _words: Ints = field(repr=False)
    # uint64: bit i of a position's words: whether it flips with the i-th sample
    _flips: Ints = field(repr=False)

    @classmethod
    def of(cls, model: PairwiseModel, labels: Bools, words: Ints, flips: Ints) -> Self:
        """Return the max-marginals for the best labelling (n,) by position."""
        # Flips gain more than 0 by rounding only.
        parts, gains = model.components, np.zeros(len(labels))
        gain_flips(
            model.unary, model.penalty, labels, words, flips,
            parts.starts, parts.edge_starts, parts.ends, gains,
        )  # fmt: skip
        best = value_of(model, labels)
        best_labels, gain = np.empty_like(labels), np.empty_like(gains)
        best_labels[parts.order], gain[parts.order] = labels, gains
        return cls(
            positive=best + np.where(best_labels, 0.0, gain),
            negative=best + np.where(best_labels, gain, 0.0),
            difference=np.where(best_labels, -gain, gain),
            map=best_labels,
            _model=model,
            _labels=labels,
            _words=words,
            _flips=flips,
        )

    @property
    def excess(self) -> Floats:
        """(n,) zeros: these are exact."""
        return np.zeros(len(self.map))

    @property
    def relaxed(self) -> Bools:
        """(n,) False: these are exact."""
        return np.zeros(len(self.map), bool)

    @property
    def best(self) -> float:
        """The value of the map."""
        return value_of(self._model, self._labels)

    def labelling(self, i: int, label: bool) -> Bools:
        """Return (n,) a best labelling with y_i = `label`; outside the component of i it is the map."""
        if not 0 <= i < len(self.map):
            raise InputError("sample", f"0 to {len(self.map) - 1}", i)
        labels = self.map.copy()
        if labels[i] == bool(label):
            return labels
        parts = self._model.components
        position = int(np.flatnonzero(parts.order == i)[0])
        number = int(np.searchsorted(parts.starts, position, side="right")) - 1
        start, end = parts.starts[number], parts.starts[number + 1]
        word, bit = divmod(position - int(start), WORD)
        flipped = (self._flips[self._words[start:end] + word] >> np.uint64(bit)) & np.uint64(1)
        labels[parts.order[start:end]] ^= flipped.astype(bool)
        return labels

    def labellings(self, number: int) -> Bools:
        """Return (s, s) by position: the map of one component after the flips of each sample, one per row."""
        parts, words = self._model.components, self._words
        start, end = parts.starts[number], parts.starts[number + 1]
        octets = self._flips[words[start] : words[end]].reshape(end - start, -1).view(np.uint8)
        flipped = np.unpackbits(octets, axis=1, count=end - start, bitorder="little").astype(bool)
        labellings: Bools = self._labels[start:end] ^ flipped.T
        return labellings

    def settled(self, members: Ints, starts: Ints, every: Ints) -> Self:
        """Return the same with labels of auxiliary samples set from their groups, of labellings that tie."""
        # Sample `every` gets label 1 exactly where all members of its group have it, the next sample where
        # any has. Groups (g + 1,) `starts` of `members`, each in one component; -1 in `every` (g,) means no
        # auxiliary samples.
        parts, labels, flips = self._model.components, self._labels.copy(), self._flips.copy()
        position_of = np.empty(parts.samples, np.int64)
        position_of[parts.order] = np.arange(parts.samples)
        pairs = np.where(every[:, None] < 0, -1, position_of[every[:, None] + np.arange(2)])
        settle_flips(position_of[members], starts, pairs, labels, self._words, flips)
        return type(self).of(self._model, labels, self._words, flips)

    def sums(self, labels: npt.ArrayLike, weights: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Return weighted sums of one best labelling per sample, each over the sample's own component."""
        # labels: (n,) bool, weights: (n,). With Y_i = labelling(i, labels[i]): for each sample k, sum_i
        # weights_i Y_i(k), and for each edge, sum_i weights_i [Y_i differs at its ends], over the i in the
        # component of the sample or edge. So sum_i weights_i Psi(X, Y_i) is linear in them, except for the
        # terms of other components, which cancel between two labellings.
        parts = self._model.components
        weight = finite("weights", weights, parts.samples)[parts.order]
        flipped = self._differs(labels)[parts.order]
        by_place, by_edge = np.empty(len(weight)), np.empty(len(parts.ends))
        sum_flips(
            weight, flipped, self._labels, self._words, self._flips,
            parts.starts, parts.edge_starts, parts.ends, by_place, by_edge,
        )  # fmt: skip
        samples, edges = np.empty_like(by_place), np.empty_like(by_edge)
        samples[parts.order], edges[parts.edge_order] = by_place, by_edge
        return samples, edges

    def values(self, labels: npt.ArrayLike, unary: npt.ArrayLike, penalty: npt.ArrayLike) -> Floats:
        """Return (n,) the value of each labelling(i, labels[i]) in the component of i, by another model."""
        # labels: (n,) bool. unary: (n,) and penalty: (m,) of that model. Weighted and summed up, these values
        # are the product of `sums` with (unary, penalty).
        parts = self._model.components
        scores = finite("unary", unary, parts.samples)[parts.order]
        costs = finite("penalty", penalty, len(parts.ends), "per edge")[parts.edge_order]
        differs = self._labels[parts.ends[:, 0]] != self._labels[parts.ends[:, 1]]
        numbers = np.arange(len(parts))
        of_position = np.repeat(numbers, parts.sizes)
        of_edge = np.repeat(numbers, np.diff(parts.edge_starts))
        best = np.bincount(of_position, np.where(self._labels, scores, 0.0), len(parts))
        best += np.bincount(of_edge, np.where(differs, costs, 0.0), len(parts))
        gains = np.zeros(parts.samples)
        gain_flips(
            scores, costs, self._labels, self._words, self._flips,
            parts.starts, parts.edge_starts, parts.ends, gains,
        )  # fmt: skip
        values = np.empty(parts.samples)
        values[parts.order] = best[of_position] + np.where(self._differs(labels)[parts.order], gains, 0.0)
        return values

    def _differs(self, labels: npt.ArrayLike) -> Bools:
        """Return (n,) where the requested label is not that of the map."""
        requested = finite("labels", labels, len(self.map))
        different: Bools = (requested != 0) != self.map
        return different


def finite(name: str, values: npt.ArrayLike, length: int, each: str = "per sample") -> Floats:
    """Return `values` as (length,) float64; InputError about `name` unless finite and real."""
    # each: "per sample".
    array = np.asarray(values)
    if array.shape != (length,):
        raise InputError(name, f"the shape ({length},), one {each}", array.shape)
    if not is_real(array):
        raise InputError(name, "real numbers", str(array.dtype))
    if not np.isfinite(array).all():
        raise InputError(name, "finite numbers", array[~np.isfinite(array)][0])
    return array.astype(np.float64)


def value_of(model: PairwiseModel, labels: Bools) -> float:
    """Return the value of a labelling by position."""
    differs = labels[model.components.ends[:, 0]] != labels[model.components.ends[:, 1]]
    return float(model.unary[labels].sum() + model.penalty[differs].sum())
