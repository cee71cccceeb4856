"""The programs in CVXPY: their optima are those of our solvers, and each fits on a blackboard."""

from __future__ import annotations

import inspect
import subprocess
import sys

import numpy as np
import pytest
from twins import TWINS, farthest

from ranking.explain import programs

# lines
BLACKBOARD = 25


@pytest.mark.parametrize("name", TWINS)
def test_optima_are_those_of_our_solvers(name: str) -> None:
    """50 problems each: tests/slow/test_more_programs.py."""
    assert farthest(name, range(5)) <= (1e-6, 5)


def test_each_function_fits_on_a_blackboard() -> None:
    every = dict(inspect.getmembers(programs, inspect.isfunction))
    own = [each for each in every.values() if each.__module__ == programs.__name__]
    lines = {each.__name__: len(inspect.getsource(each).splitlines()) for each in own}
    assert len(lines) > len(TWINS)
    assert max(lines.values()) <= BLACKBOARD, lines


def test_only_solving_imports_cvxpy() -> None:
    code = "import sys, ranking.explain.programs; sys.exit('cvxpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_components_are_enumerated() -> None:
    parts = list(programs.labellings(4, np.array([[2, 0], [2, 3]])))
    assert [samples.tolist() for samples, _, _ in parts] == [[0, 2, 3], [1]]
    for samples, labels, cut in parts:
        assert len(np.unique(labels, axis=0)) == 2 ** len(samples)
        assert cut.shape == (len(labels), 2)
    _, labels, cut = parts[0]
    np.testing.assert_array_equal(cut, labels[:, [1]] != labels[:, [0, 2]])
