"""The direction of a method's scores is the one that its scores follow."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from problems import ALL, NAMES

from ranking import Query, make_method
from ranking.methods import score_direction


@pytest.mark.parametrize(("name", "settings", "problem"), ALL, ids=NAMES)
def test_scores_are_products_with_the_direction(name, settings, problem):
    query = problem()
    method = make_method(name, C=0.5, **settings).fit([query])
    direction = score_direction(method)
    assert direction is not None
    alone = Query(features=query.features)  # without neighbours, where a method leans on them
    assert query.features @ direction == pytest.approx(method.score(alone), abs=1e-9)


def test_two_rows_score_by_their_difference_and_a_pairwise_part_is_left_out():
    rows = np.array([[1.0, 2.0], [0.5, -1.0]])
    assert score_direction(SimpleNamespace(weights=rows)).tolist() == [0.5, 3.0]
    both = SimpleNamespace(weights=SimpleNamespace(unary=rows, pairwise=np.zeros(3)))
    assert score_direction(both).tolist() == [0.5, 3.0]


def test_no_weights_no_direction():
    assert score_direction(object()) is None


def test_weights_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"must have shape \(d,\) or \(2, d\), got \(3, 4\)"):
        score_direction(SimpleNamespace(weights=np.zeros((3, 4))))
