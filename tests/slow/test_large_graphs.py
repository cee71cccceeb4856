"""Inputs on which an exponential search would never end."""

from __future__ import annotations

import numpy as np

from ranking.inference.cliques import maximal_cliques


def test_the_cliques_of_a_group_of_a_thousand_are_found():
    edges = np.concatenate([np.stack(np.triu_indices(1000, 1), axis=1), [[1000, 1001], [1001, 1002]]])
    cliques = maximal_cliques(1003, edges)
    assert [clique.tolist() for clique in cliques] == [list(range(1000)), [1000, 1001], [1001, 1002]]
