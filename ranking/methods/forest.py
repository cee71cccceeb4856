"""Regression trees as arrays of nodes: what boosting learns, kept without the library that grew it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numba
import numpy as np
import numpy.typing as npt

from ranking.core import Floats, Ints
from ranking.core.errors import InputError

LEAF = -1  # the feature of a node without children


@numba.njit(cache=True, nogil=True)
def _add_values(features, feature, number, left, right, roots, outputs, totals):  # type: ignore[no-untyped-def]
    """Add to totals (n, k) the value of the leaf that each sample reaches in each tree."""
    for tree in range(len(roots)):
        for i in range(len(features)):
            node = roots[tree]
            while feature[node] >= 0:
                node = left[node] if features[i, feature[node]] <= number[node] else right[node]
            totals[i, outputs[tree]] += number[node]


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees whose leaves add up to outputs.

    feature (m,): what a node asks for, -1 at a leaf. number (m,): its threshold, or the leaf's value. left, right (m,):
    the node to go on with where the feature is <= the threshold, and where it is not; both come after their parent.
    roots (t,): the first node of each tree. outputs (t,): what it adds to.
    """

    feature: Ints
    number: Floats
    left: Ints
    right: Ints
    roots: Ints
    outputs: Ints

    def sums(self, features: Floats, outputs: int) -> Floats:
        """(n, outputs) for samples (n, d)."""
        totals = np.zeros((len(features), outputs))
        _add_values(
            np.ascontiguousarray(features),
            self.feature,
            self.number,
            self.left,
            self.right,
            self.roots,
            self.outputs,
            totals,
        )
        return totals

    def checked(self, columns: int) -> Self:
        """The forest itself, or a ValueError where it asks for other features, or a walk in it would not end."""
        nodes = np.arange(len(self.feature))
        inner = self.feature >= 0
        nodewise = {array.shape for array in (self.feature, self.number, self.left, self.right)}
        if nodewise != {nodes.shape} or self.roots.ndim != 1 or self.roots.shape != self.outputs.shape:
            raise InputError(
                "arrays of a forest", "four of one length for its nodes, and two of one length for its trees"
            )
        if (self.feature >= columns).any():
            raise InputError(
                "features of a forest", f"numbers below {columns}, the number of features", self.feature.max()
            )
        within = [self.left[inner], self.right[inner], self.roots]
        if any(((part < 0) | (part >= len(nodes))).any() for part in within):
            raise InputError("links of a forest", f"nodes from 0 to {len(nodes) - 1}", "other nodes")
        if (self.left[inner] <= nodes[inner]).any() or (self.right[inner] <= nodes[inner]).any():
            raise InputError("order of a forest", "every node before its children")
        if (self.outputs != np.arange(len(self.roots)) % (self.outputs.max(initial=0) + 1)).any():
            raise InputError("outputs of a forest", "trees that add to one output after another")
        if not np.isfinite(self.number).all():
            raise InputError("thresholds and values of a forest", "finite numbers")
        return self

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {f"forest_{name}": value for name, value in vars(self).items()}

    @classmethod
    def of_arrays(cls, arrays: dict[str, npt.NDArray[Any]]) -> Self:
        """What `arrays` gave; KeyError where something is missing."""
        names = ("feature", "left", "right", "roots", "outputs")
        feature, left, right, roots, outputs = (arrays[f"forest_{name}"].astype(np.int64) for name in names)
        return cls(feature, arrays["forest_number"].astype(np.float64), left, right, roots, outputs)

    @classmethod
    def of_trees(cls, trees: list[dict[str, Any]], outputs: int) -> Self:
        """LightGBM's trees as its `dump_model` tells them; tree t adds to output t modulo `outputs`."""
        nodes: list[list[float]] = []  # feature, number, left, right

        def add(told: dict[str, Any]) -> int:
            place = len(nodes)
            if "leaf_value" in told:
                nodes.append([LEAF, told["leaf_value"], place, place])
                return place
            nodes.append([told["split_feature"], told["threshold"], 0, 0])
            nodes[place][2] = add(told["left_child"])
            nodes[place][3] = add(told["right_child"])
            return place

        roots = [add(tree["tree_structure"]) for tree in trees]
        table = np.array(nodes, np.float64).reshape(-1, 4)
        feature, left, right = (table[:, column].astype(np.int64) for column in (0, 2, 3))
        numbers = np.arange(len(roots)) % outputs
        return cls(feature, table[:, 1].copy(), left, right, np.array(roots, np.int64), numbers)
