"""What would take long if an algorithm grew faster than its input."""

from __future__ import annotations

import time

import numpy as np

from ranking.inference.cliques import maximal_cliques


def test_a_group_of_a_thousand_takes_no_longer_than_its_pairs():
    edges = np.concatenate([np.stack(np.triu_indices(1000, 1), axis=1), [[1000, 1001], [1001, 1002]]])
    started = time.process_time()
    cliques = maximal_cliques(1003, edges)
    assert time.process_time() - started < 5.0
    assert [clique.tolist() for clique in cliques] == [list(range(1000)), [1000, 1001], [1001, 1002]]
