"""Max-marginals of pairwise binary models, and their best labellings (high-order, eqs. 6, 9 to 11)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ranking.core import Bools, Ints
from ranking.core.errors import InputError
from ranking.inference.components import Components, checked_model
from ranking.inference.cuts import best_cut, cold_flips, network_of
from ranking.inference.dynamic_cuts import dynamic_flips
from ranking.inference.enumeration import LARGEST_ENUMERATED, enumerate_best, enumerate_labellings
from ranking.inference.flip_words import WORD, pack, words_of
from ranking.inference.flips import PairwiseMaxMarginals, value_of

MAX_MARGINAL_ALGORITHMS = ("auto", "enumerate", "dynamic-cut", "cold-cut")


def max_marginals(
    unary: npt.ArrayLike,
    edges: npt.ArrayLike,
    penalty: npt.ArrayLike,
    algorithm: str = "auto",
    components: Components | None = None,
) -> PairwiseMaxMarginals:
    """Compute the max-marginals of a pairwise model (high-order, eqs. 9 and 10).

    value(Y) = sum_i y_i unary_i + sum_e penalty_e [y_i != y_j], Y in {0, 1}^n.

    unary: (n,) finite, score of label 1 minus score of label 0. edges: (m, 2) int, each unordered pair once. penalty:
    (m,) <= 0. components: of those edges, where many models share them. algorithm: "enumerate" tries all labellings
    of a component (ValueError above 12 samples), "dynamic-cut" starts every cut of a component from one flow (Kohli
    and Torr 2005), "cold-cut" makes a new cut for each sample and label; "auto" enumerates small components and cuts
    large ones.

    All attain the same values. If several labellings attain them, algorithms may return different ones, but if values
    tie exactly, the map is the labelling with the most ones. Cuts are optimal up to 2^-49 of the largest sum of
    penalties at a sample, for each term of the value.

    >>> maxima = max_marginals([1.0, -0.5], [[0, 1]], [-2.0])
    >>> maxima.positive, maxima.negative, maxima.difference
    (array([0.5, 0.5]), array([0., 0.]), array([0.5, 0.5]))
    >>> maxima.labelling(0, False)
    array([False, False])
    """
    if algorithm not in MAX_MARGINAL_ALGORITHMS:
        raise InputError("algorithm", f"one of: {', '.join(MAX_MARGINAL_ALGORITHMS)}", algorithm)
    model = checked_model(unary, edges, penalty, components)
    parts = model.components
    words = words_of(parts)
    # right for components of one sample
    labels, flips = model.unary >= 0, np.ones(words[-1], np.uint64)
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
    return PairwiseMaxMarginals.of(model, labels, words, flips)


def best_labelling(
    unary: npt.ArrayLike, edges: npt.ArrayLike, penalty: npt.ArrayLike, components: Components | None = None
) -> tuple[Bools, float]:
    """Return the best labelling (n,) bool and its value in the model of `max_marginals` (high-order, eq. 6).

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
    best = np.empty_like(labels)
    best[parts.order] = labels
    return best, value_of(model, labels)


def _pack(rounds: Iterable[Bools], words: Ints, flips: Ints) -> None:
    """Write the i-th round as bit i of each position's words."""
    # A round covers components that have an i-th sample.
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
    rows = np.zeros((len(block), len(words)), bool)
    for i, row in enumerate(block):
        rows[i, : len(row)] = row
    flips[words] = pack(rows)
