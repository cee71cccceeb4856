"""Max-marginals of pairwise binary models, and their best labellings (high-order, eqs. 6, 9 to 11).

The best labelling has one of the two labels at each sample, so each sample needs one more labelling: the best one
with its other label. What is kept of that is which samples of its component flip, as bits; the max-marginals are
then values of labellings, in float64, whatever found them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numba as nb
import numpy as np
import numpy.typing as npt

from ranking.inference.components import Components, Model, checked_model
from ranking.inference.cuts import best_cut, cold_flips, network_of
from ranking.inference.dynamic_cuts import dynamic_flips
from ranking.inference.enumeration import LARGEST_ENUMERATED, enumerate_best, enumerate_labellings
from ranking.types import Bools, Floats, Ints, is_real

MAX_MARGINAL_ALGORITHMS = ("auto", "enumerate", "dynamic-cut", "cold-cut")
WORD = 64


@dataclass(frozen=True, eq=False)
class MaxMarginals:
    """The best value for each label of each sample, and the labellings that attain it.

    positive, negative: (n,) the best value of a labelling with y_i = 1, and with y_i = 0 (eqs. 9 and 10).
    difference: (n,) positive - negative, summed over what differs between the two labellings alone (eq. 11).
    map: (n,) bool, the best labelling of all.
    """

    positive: Floats
    negative: Floats
    difference: Floats
    map: Bools
    _model: Model = field(repr=False)
    _labels: Bools = field(repr=False)  # the map, by place
    _words: Ints = field(repr=False)  # (n + 1,) where each place's flips begin
    _flips: Ints = field(
        repr=False
    )  # uint64: bit i of a place's words, whether it flips with the i-th sample

    def labelling(self, i: int, label: bool) -> Bools:
        """(n,) a best labelling with y_i = `label`; outside the component of i it is the map."""
        if not 0 <= i < len(self.map):
            raise ValueError(f"sample must be one of 0 to {len(self.map) - 1}, got {i}")
        labels = self.map.copy()
        if labels[i] == bool(label):
            return labels
        parts = self._model.components
        place = int(np.flatnonzero(parts.order == i)[0])
        number = int(np.searchsorted(parts.starts, place, side="right")) - 1
        start, end = parts.starts[number], parts.starts[number + 1]
        word, bit = divmod(place - int(start), WORD)
        flipped = (self._flips[self._words[start:end] + word] >> np.uint64(bit)) & np.uint64(1)
        labels[parts.order[start:end]] ^= flipped.astype(bool)
        return labels

    def sums(self, labels: npt.ArrayLike, weights: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Weighted sums of one best labelling for each sample, each restricted to the sample's own component.

        labels: (n,) bool, weights: (n,). With Y_i = labelling(i, labels[i]): returned are, for each sample k,
        sum_i weights_i Y_i(k), and for each edge, sum_i weights_i [Y_i differs at its ends], over the i in the
        component of the sample or edge. So sum_i weights_i Psi(X, Y_i) is linear in them, but for what the other
        components add, which cancels between two labellings.
        """
        parts = self._model.components
        weight = _finite("weights", weights, parts.samples)[parts.order]
        other = self._other(labels)[parts.order]
        by_place, by_edge = np.empty(len(weight)), np.empty(len(parts.ends))
        _sum(
            weight, other, self._labels, self._words, self._flips,
            parts.starts, parts.edge_starts, parts.ends, by_place, by_edge,
        )  # fmt: skip
        samples, edges = np.empty_like(by_place), np.empty_like(by_edge)
        samples[parts.order], edges[parts.edge_order] = by_place, by_edge
        return samples, edges

    def values(self, labels: npt.ArrayLike, unary: npt.ArrayLike, penalty: npt.ArrayLike) -> Floats:
        """(n,) what Y_i = labelling(i, labels[i]) is worth to another model of the same graph, in the component of i.

        labels: (n,) bool. unary: (n,) and penalty: (m,) of that model. Weighted and summed up,
        these values are the product of `sums` with (unary, penalty).
        """
        parts = self._model.components
        scores = _finite("unary", unary, parts.samples)[parts.order]
        costs = _finite("penalty", penalty, len(parts.ends), "an edge")[parts.edge_order]
        differs = self._labels[parts.ends[:, 0]] != self._labels[parts.ends[:, 1]]
        numbers = np.arange(len(parts))
        of_place = np.repeat(numbers, parts.sizes)
        of_edge = np.repeat(numbers, np.diff(parts.edge_starts))
        best = np.bincount(of_place, np.where(self._labels, scores, 0.0), len(parts))
        best += np.bincount(of_edge, np.where(differs, costs, 0.0), len(parts))
        gains = np.zeros(parts.samples)
        _gain(
            scores, costs, self._labels, self._words, self._flips,
            parts.starts, parts.edge_starts, parts.ends, gains,
        )  # fmt: skip
        found = np.empty(parts.samples)
        found[parts.order] = best[of_place] + np.where(self._other(labels)[parts.order], gains, 0.0)
        return found

    def _other(self, labels: npt.ArrayLike) -> Bools:
        """(n,) where a sample's wanted label is not that of the map."""
        wanted = _finite("labels", labels, len(self.map))
        different: Bools = (wanted != 0) != self.map
        return different


def _finite(name: str, values: npt.ArrayLike, length: int, of: str = "a sample") -> Floats:
    given = np.asarray(values)
    if given.shape != (length,):
        raise ValueError(f"{name} must be ({length},), one {of}, got shape {given.shape}")
    if not is_real(given):
        raise ValueError(f"{name} must be real numbers, got {given.dtype}")
    if not np.isfinite(given).all():
        raise ValueError(f"{name} must be finite, got {given[~np.isfinite(given)][0]}")
    return given.astype(np.float64)


def max_marginals(
    unary: npt.ArrayLike,
    edges: npt.ArrayLike,
    penalty: npt.ArrayLike,
    algorithm: str = "auto",
    components: Components | None = None,
) -> MaxMarginals:
    """Max-marginals of value(Y) = sum_i y_i unary_i + sum_e penalty_e [y_i != y_j], Y in {0, 1}^n.

    unary: (n,) finite, score of label 1 minus score of label 0. edges: (m, 2) int, each unordered pair once.
    penalty: (m,) <= 0. components: of those edges, where many models share them. algorithm: "enumerate" tries all
    labellings of a component (ValueError above 12 samples), "dynamic-cut" starts every cut of a component from one
    flow (Kohli and Torr 2005), "cold-cut" cuts anew for each sample and label; "auto" enumerates small components
    and cuts large ones. Samples without edges cost nothing. All attain the same values; where several labellings
    do, two algorithms may pick different ones, but the map is the one with the most ones where values tie exactly.
    Cuts are optimal up to 2^-49 of the most that the penalties of one sample sum to, for each term of the value.

    >>> found = max_marginals([1.0, -0.5], [[0, 1]], [-2.0])
    >>> found.positive, found.negative, found.difference
    (array([0.5, 0.5]), array([0., 0.]), array([0.5, 0.5]))
    >>> found.labelling(0, False)
    array([False, False])
    """
    if algorithm not in MAX_MARGINAL_ALGORITHMS:
        known = ", ".join(MAX_MARGINAL_ALGORITHMS)
        raise ValueError(f"no algorithm is called {algorithm!r}; choose one of: {known}")
    model = checked_model(unary, edges, penalty, components)
    parts = model.components
    words = np.append(0, np.cumsum(np.repeat((parts.sizes + WORD - 1) // WORD, parts.sizes)))
    labels, flips = model.unary >= 0, np.ones(words[-1], np.uint64)  # right for components of one sample
    connected = parts.larger_than(1)
    cut = {"auto": parts.larger_than(LARGEST_ENUMERATED), "enumerate": 0}.get(algorithm, connected)
    enumerate_labellings(model, cut, connected, labels, words, flips)
    if cut:
        network = network_of(model, cut)
        if algorithm == "cold-cut":
            labels[: parts.starts[cut]] = best_cut(network)
            _pack(cold_flips(network, parts.edge_starts), words, flips)
        else:
            flips[: words[parts.starts[cut]]] = 0
            dynamic_flips(network, labels[: parts.starts[cut]], words, flips)
    gains = np.zeros(len(labels))
    _gain(
        model.unary, model.penalty, labels, words, flips, parts.starts, parts.edge_starts, parts.ends, gains
    )
    return _assembled(model, labels, words, flips, gains)


def best_labelling(
    unary: npt.ArrayLike, edges: npt.ArrayLike, penalty: npt.ArrayLike, components: Components | None = None
) -> tuple[Bools, float]:
    """The best labelling (n,) bool and its value, of the same model as `max_marginals` (high-order, eq. 6).

    >>> best_labelling([1.0, -0.5], [[0, 1]], [-2.0])
    (array([ True,  True]), 0.5)
    """
    model = checked_model(unary, edges, penalty, components)
    parts = model.components
    labels = model.unary >= 0
    cut = parts.larger_than(LARGEST_ENUMERATED)
    enumerate_best(model, cut, parts.larger_than(1), labels)
    if cut:
        labels[: parts.starts[cut]] = best_cut(network_of(model, cut))
    found = np.empty_like(labels)
    found[parts.order] = labels
    return found, _value(model, labels)


def _value(model: Model, labels: Bools) -> float:
    differs = labels[model.components.ends[:, 0]] != labels[model.components.ends[:, 1]]
    return float(model.unary[labels].sum() + model.penalty[differs].sum())


def _assembled(model: Model, labels: Bools, words: Ints, flips: Ints, gains: Floats) -> MaxMarginals:
    """gains: (n,) by place, what the other label adds to the best value; none is above 0 but by rounding."""
    best = _value(model, labels)
    order = model.components.order
    found, gain = np.empty_like(labels), np.empty_like(gains)
    found[order], gain[order] = labels, gains
    return MaxMarginals(
        positive=best + np.where(found, 0.0, gain),
        negative=best + np.where(found, gain, 0.0),
        difference=np.where(found, -gain, gain),
        map=found,
        _model=model,
        _labels=labels,
        _words=words,
        _flips=flips,
    )


def _pack(rounds: Iterable[Bools], words: Ints, flips: Ints) -> None:
    """Write the i-th round as bit i of each place's words; a round holds the places of components that have one."""
    block: list[Bools] = []
    number = 0
    for row in rounds:
        block.append(row)
        if len(block) == WORD:
            _write_words(block, words[: len(block[0])] + number, flips)
            block, number = [], number + 1
    if block:
        _write_words(block, words[: len(block[0])] + number, flips)


def _write_words(block: list[Bools], words: Ints, flips: Ints) -> None:
    bits = np.zeros((WORD, len(words)), bool)
    for i, row in enumerate(block):
        bits[i, : len(row)] = row
    octets = np.packbits(bits, axis=0, bitorder="little")
    flips[words] = np.ascontiguousarray(octets.T).view("<u8")[:, 0]


@nb.njit(cache=True, nogil=True)
def _gain(
    unary: Floats,
    penalty: Floats,
    labels: Bools,
    words: Ints,
    flips: Ints,
    starts: Ints,
    edge_starts: Ints,
    ends: Ints,
    gains: Floats,
) -> None:
    """Add to `gains` what the flips of each place add to the value of `labels`."""
    for c in range(len(starts) - 1):
        first, size = starts[c], starts[c + 1] - starts[c]
        own = gains[first : first + size]
        for place in range(first, first + size):
            change = -unary[place] if labels[place] else unary[place]
            for word in range(words[place + 1] - words[place]):
                _add(change, flips[words[place] + word], own[WORD * word :])
        for edge in range(edge_starts[c], edge_starts[c + 1]):
            a, b = ends[edge, 0], ends[edge, 1]
            change = -penalty[edge] if labels[a] != labels[b] else penalty[edge]
            for word in range(words[a + 1] - words[a]):
                _add(change, flips[words[a] + word] ^ flips[words[b] + word], own[WORD * word :])


@nb.njit(cache=True, nogil=True)
def _add(change: float, bits: np.uint64, sums: Floats) -> None:
    """Add `change` where `bits` has ones."""
    i = 0
    while bits:
        if bits & np.uint64(0xFF):
            if bits & np.uint64(1):
                sums[i] += change
            bits >>= np.uint64(1)
            i += 1
        else:
            bits >>= np.uint64(8)
            i += 8


@nb.njit(cache=True, nogil=True)
def _sum(
    weights: Floats,
    other: Bools,
    labels: Bools,
    words: Ints,
    flips: Ints,
    starts: Ints,
    edge_starts: Ints,
    ends: Ints,
    samples: Floats,
    edges: Floats,
) -> None:
    """Write the weighted sums of `MaxMarginals.sums`, all by place and `edge_order`."""
    for c in range(len(starts) - 1):
        first, size = starts[c], starts[c + 1] - starts[c]
        weight = weights[first : first + size]
        total = weight.sum()
        mask = np.zeros(words[first + 1] - words[first], np.uint64)
        for i in range(size):
            mask[i // WORD] |= np.uint64(other[first + i]) << np.uint64(i % WORD)
        for place in range(first, first + size):
            moved = 0.0
            for word in range(len(mask)):
                moved += _picked(weight[WORD * word :], flips[words[place] + word] & mask[word])
            samples[place] = total - moved if labels[place] else moved
        for edge in range(edge_starts[c], edge_starts[c + 1]):
            a, b = ends[edge, 0], ends[edge, 1]
            moved = 0.0
            for word in range(len(mask)):
                bits = (flips[words[a] + word] ^ flips[words[b] + word]) & mask[word]
                moved += _picked(weight[WORD * word :], bits)
            edges[edge] = total - moved if labels[a] != labels[b] else moved


@nb.njit(cache=True, nogil=True)
def _picked(weights: Floats, bits: np.uint64) -> float:
    """The sum of the weights where `bits` has ones."""
    total, i = 0.0, 0
    while bits:
        if bits & np.uint64(0xFF):
            if bits & np.uint64(1):
                total += weights[i]
            bits >>= np.uint64(1)
            i += 1
        else:
            bits >>= np.uint64(8)
            i += 8
    return total
