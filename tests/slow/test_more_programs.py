"""Fifty random problems of each program in CVXPY."""

from __future__ import annotations

import pytest
from twins import TWINS, farthest


@pytest.mark.parametrize("name", TWINS)
def test_optima_are_those_of_our_solvers(name: str) -> None:
    assert farthest(name, range(50)) <= (1e-6, 50)
