"""Pairs of either sign: best labellings and max-marginals, exact in small components, bounded in large ones.

A positive penalty is gained where labels differ (high-order, remark after eq. 6). Components of at most 12 samples
are enumerated; larger ones are bounded by roof duality (`doubling`). The error of a bound is known: the bound is
compared with the best labelling found by rounding half labels and then changing one label at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from ranking.core import Bools, Floats, Ints
from ranking.core.errors import InputError
from ranking.inference.components import PairwiseModel, checked_model
from ranking.inference.doubling import Doubling, forced_labellings
from ranking.inference.enumeration import enumerate_best, enumerate_labellings
from ranking.inference.flip_words import pack, words_of
from ranking.inference.flips import PairwiseMaxMarginals, finite, value_of

# times the total of a component: a bound this close to a labelling's value is attained
ROUNDING = 2.0**-44


class HalfLabelling(NamedTuple):
    """A relaxed labelling."""

    # (n,) in {0, 1/2, 1}, with halves in large components only
    labels: Floats
    # (m,) in {0, 1/2, 1}, whether the ends of an edge do
    differs: Floats
    # of both, linear in scores and penalties, and at least that of any labelling
    value: float


def bounded_labelling(
    unary: npt.ArrayLike, edges: npt.ArrayLike, penalty: npt.ArrayLike, doubling: Doubling | None = None
) -> HalfLabelling:
    """Return the best relaxed labelling of sum_i y_i unary_i + sum_e penalty_e [y_i != y_j], of either sign.

    Samples of label 0 or 1 have that label in some best labelling too (persistency). doubling: of the components of
    these edges, where many models share them.

    >>> bounded_labelling([1.0, 0.5], [[0, 1]], [2.0])
    HalfLabelling(labels=array([1., 0.]), differs=array([1.]), value=3.0)
    """
    original, doubling = _checked(unary, edges, penalty, doubling)
    model = doubling.model(original)
    parts = model.components
    labels = model.unary >= 0
    enumerate_best(model, doubling.large, parts.larger_than(1), labels)
    if doubling.large:
        labels[: parts.starts[doubling.large]] = doubling.best(doubling.network(model))
    differs = labels[parts.ends[:, 0]] != labels[parts.ends[:, 1]]
    samples, pairs = np.empty(len(labels)), np.empty(len(differs))
    samples[parts.order], pairs[parts.edge_order] = labels, differs
    return HalfLabelling(*doubling.collapsed(samples, pairs), value_of(model, labels))


def bounded_max_marginals(
    unary: npt.ArrayLike, edges: npt.ArrayLike, penalty: npt.ArrayLike, doubling: Doubling | None = None
) -> BoundedMaxMarginals:
    """Return max-marginals of the same model; in large components upper bounds on them.

    >>> bounded = bounded_max_marginals([1.0, 0.5], [[0, 1]], [2.0])
    >>> bounded.positive, bounded.negative, bounded.excess
    (array([3. , 2.5]), array([2.5, 3. ]), array([0., 0.]))
    """
    original, doubling = _checked(unary, edges, penalty, doubling)
    model = doubling.model(original)
    parts, words = model.components, words_of(model.components)
    # right for components of one sample
    labels, flips = model.unary >= 0, np.ones(words[-1], np.uint64)
    enumerate_labellings(model, doubling.large, parts.larger_than(1), labels, words, flips)
    if doubling.large:
        network = doubling.network(model)
        labels[: parts.starts[doubling.large]] = doubling.best(network)
        for number in range(doubling.large):
            positions = slice(parts.starts[number], parts.starts[number + 1])
            own, best = slice(words[positions.start], words[positions.stop]), labels[positions]
            labellings = forced_labellings(network.part(number, parts.edge_starts), best)
            flips[own] = pack(np.array(list(labellings)) ^ best)
    return BoundedMaxMarginals(original, doubling, PairwiseMaxMarginals.of(model, labels, words, flips))


def _checked(
    unary: npt.ArrayLike, edges: npt.ArrayLike, penalty: npt.ArrayLike, doubling: Doubling | None
) -> tuple[PairwiseModel, Doubling]:
    components = None if doubling is None else doubling.original
    model = checked_model(unary, edges, penalty, components, highest=np.inf)
    return model, Doubling.of(model.components) if doubling is None else doubling


@dataclass(frozen=True, eq=False)
class BoundedMaxMarginals:
    """`MaxMarginals` whose values are upper bounds in large components, too large by at most `excess`."""

    # There `map` and `labelling` are the best known labellings, while `sums` and `values` are those of the
    # relaxed labellings that attain the bounds. `_doubled` are max-marginals of the doubled model; in its
    # large components the flips of the first copy of a sample lead to the labelling with y_i = 1, those of
    # the second to that with y_i = 0.

    _original: PairwiseModel
    _doubling: Doubling
    _doubled: PairwiseMaxMarginals

    @cached_property
    def positive(self) -> Floats:
        """(n,) upper bound on the value of labellings with y_i = 1."""
        return self._doubled.best + self._gains(np.ones(self._original.components.samples, bool))

    @cached_property
    def negative(self) -> Floats:
        """(n,) upper bound on the value of labellings with y_i = 0."""
        return self._doubled.best + self._gains(np.zeros(self._original.components.samples, bool))

    @cached_property
    def difference(self) -> Floats:
        """(n,) positive - negative, of what differs between the two labellings only."""
        ones = np.ones(self._original.components.samples, bool)
        return self._gains(ones) - self._gains(~ones)

    @property
    def map(self) -> Bools:
        """(n,) the best known labelling."""
        return self._rounded.map

    @property
    def excess(self) -> Floats:
        """(n,) by how much positive or negative may exceed the exact value: bound minus labelling."""
        return self._rounded.excess

    @property
    def relaxed(self) -> Bools:
        """(n,) whether a sample's component is too large to enumerate."""
        relaxed: Bools = self._doubling.second != np.arange(self._original.components.samples)
        return relaxed

    def labelling(self, i: int, label: bool) -> Bools:
        """Return (n,) the best known labelling with y_i = `label`; the map outside the component of i."""
        if not 0 <= i < len(self.map):
            raise InputError("sample", f"0 to {len(self.map) - 1}", i)
        labels, parts = self.map.copy(), self._original.components
        number = int(parts.component_of[i])
        members = parts.order[parts.starts[number] : parts.starts[number + 1]]
        if number < self._doubling.large:
            labels[members] = self._rounded.parts[number].best[int(label)][members == i][0]
        else:
            labels[members] = self._doubled.labelling(i, label)[members]
        return labels

    def sums(self, labels: npt.ArrayLike, weights: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Return sums as `PairwiseMaxMarginals` does; a half label counts half, also in edges."""
        copy_of, doubled_labels = self._chosen(labels)
        weight = np.zeros(self._doubling.components.samples)
        weight[copy_of] = finite("weights", weights, len(copy_of))
        return self._doubling.collapsed(*self._doubled.sums(doubled_labels, weight))

    def values(self, labels: npt.ArrayLike, unary: npt.ArrayLike, penalty: npt.ArrayLike) -> Floats:
        """Return values as `PairwiseMaxMarginals` does; a half label counts half, also in edges."""
        copy_of, doubled_labels = self._chosen(labels)
        scores = finite("unary", unary, len(copy_of))
        costs = finite("penalty", penalty, len(self._original.penalty), "per edge")
        return self._doubled.values(doubled_labels, *self._doubling.expanded(scores, costs))[copy_of]

    def _chosen(self, labels: npt.ArrayLike) -> tuple[Ints, Bools]:
        """Return (n,) which copy of each sample flips to the requested labelling, and such labels (N,)."""
        requested = finite("labels", labels, self._original.components.samples) != 0
        second, own = self._doubling.second, np.arange(len(requested))
        copy_of = np.where(requested, own, second)
        doubled_labels = self._doubled.map.copy()
        doubled_labels[copy_of] = np.where(second != own, ~doubled_labels[copy_of], requested)
        return copy_of, doubled_labels

    def _gains(self, labels: Bools) -> Floats:
        """Return (n,) the value of the relaxed labelling with each label minus the best: 0 or less."""
        copy_of, doubled_labels = self._chosen(labels)
        gains = np.where(doubled_labels != self._doubled.map, -np.abs(self._doubled.difference), 0.0)
        return gains[copy_of]

    @cached_property
    def _rounded(self) -> _Rounded:
        return _Rounded.of(self._original, self._doubling, self._doubled, self)


class _Candidates(NamedTuple):
    """For one component of s samples: the best known labelling, and the best per label of each sample."""

    map: Bools
    # (2, s, s)
    best: Bools
    # (2, s) the values of `best`
    worth: Floats


class _Rounded(NamedTuple):
    """The labellings that the relaxed ones are rounded to."""

    # (n,)
    map: Bools
    # (n,)
    excess: Floats
    # one per large component
    parts: list[_Candidates]

    @classmethod
    def of(
        cls,
        original: PairwiseModel,
        doubling: Doubling,
        doubled: PairwiseMaxMarginals,
        bounds: BoundedMaxMarginals,
    ) -> _Rounded:
        components = original.components
        n = components.samples
        labels, excess, parts = doubled.map[:n].copy(), np.zeros(n), []
        own, original = (np.empty(n), np.empty(len(original.penalty))), _outvotable(original)
        own[0][components.order], own[1][components.edge_order] = original.unary, original.penalty
        upper = np.stack([bounds.values(np.full(n, label), *own) for label in (False, True)])
        for number in range(doubling.large):
            candidates = _candidates(original, number, doubled.labellings(number))
            members = components.order[components.starts[number] : components.starts[number + 1]]
            labels[members] = candidates.map
            above = (upper[:, members] - candidates.worth).max(axis=0)
            pairs = slice(components.edge_starts[number], components.edge_starts[number + 1])
            scale = np.abs(own[0][members]).sum() + np.abs(original.penalty[pairs]).sum()
            excess[members] = np.where(above <= ROUNDING * scale, 0.0, above)
            parts.append(candidates)
        return cls(labels, excess, parts)


def _outvotable(model: PairwiseModel) -> PairwiseModel:
    """Return the model with each score cut to little more than decides its sample against all penalties."""
    # What differs between two best labellings stays, and is not lost in the rounding of a score far above it.
    touching = np.bincount(
        model.components.ends.ravel(), np.repeat(np.abs(model.penalty), 2), model.components.samples
    )
    limit = 2.0 * touching + (touching.max(initial=0.0) or 1.0)
    return model._replace(unary=np.clip(model.unary, -limit, limit))


def _candidates(model: PairwiseModel, number: int, relaxed: Bools) -> _Candidates:
    """Round a component's relaxed labellings (2s, 2s) to p and to q, improve each, keep the best of all."""
    parts = model.components
    positions = slice(parts.starts[number], parts.starts[number + 1])
    pairs = slice(parts.edge_starts[number], parts.edge_starts[number + 1])
    size = positions.stop - positions.start
    labellings = np.concatenate([relaxed[:, :size], relaxed[:, size:]])
    held = np.tile(np.arange(size), len(labellings) // size)
    values = np.empty(len(labellings))
    _climb(
        labellings,
        held,
        model.unary[positions],
        model.penalty[pairs],
        parts.ends[pairs] - positions.start,
        values,
    )
    order = np.argsort(-values, kind="stable")
    first = np.stack([labellings[order].argmin(axis=0), labellings[order].argmax(axis=0)])
    return _Candidates(labellings[order[0]], labellings[order[first]], values[order[first]])


@nb.njit(cache=True, nogil=True)
def _climb(labels: Bools, held: Ints, unary: Floats, penalty: Floats, ends: Ints, values: Floats) -> None:
    """Improve each row of labels by changing the label that gains most, not the one held; write its value."""
    size, gains = len(unary), np.empty(len(unary))
    first, heads, edge_of = _arcs(size, ends)
    least = ROUNDING * (np.abs(unary).sum() + np.abs(penalty).sum())
    for row in range(len(labels)):
        own = labels[row]
        for i in range(size):
            gains[i] = -unary[i] if own[i] else unary[i]
            for arc in range(first[i], first[i + 1]):
                cost = penalty[edge_of[arc]]
                gains[i] += -cost if own[heads[arc]] != own[i] else cost
        while True:
            best = -1
            for i in range(size):
                if i != held[row] and gains[i] > least and (best < 0 or gains[i] > gains[best]):
                    best = i
            if best < 0:
                break
            own[best], gains[best] = not own[best], -gains[best]
            for arc in range(first[best], first[best + 1]):
                cost, head = 2 * penalty[edge_of[arc]], heads[arc]
                gains[head] += -cost if own[head] != own[best] else cost
        values[row] = 0.0
        for i in range(size):
            values[row] += unary[i] if own[i] else 0.0
        for e in range(len(ends)):
            values[row] += penalty[e] if own[ends[e, 0]] != own[ends[e, 1]] else 0.0


@nb.njit(cache=True, nogil=True)
def _arcs(size: int, ends: Ints) -> tuple[Ints, Ints, Ints]:
    """Return (size + 1,) where each sample's arcs begin, and for each arc (2m,) its head and its edge."""
    first = np.zeros(size + 1, np.int64)
    for end in ends.ravel():
        first[end + 1] += 1
    first = np.cumsum(first)
    next_slot, heads, edge_of = (
        first.copy(),
        np.empty(2 * len(ends), np.int64),
        np.empty(2 * len(ends), np.int64),
    )
    for e in range(len(ends)):
        for side in range(2):
            tail = ends[e, side]
            heads[next_slot[tail]], edge_of[next_slot[tail]] = ends[e, 1 - side], e
            next_slot[tail] += 1
    return first, heads, edge_of
