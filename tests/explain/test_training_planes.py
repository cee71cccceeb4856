"""The planes that training finds: their program, in CVXPY and by the solver, and those that are active."""

from __future__ import annotations

import numpy as np
import pytest
from problems import problem

from ranking import make_method
from ranking.explain.training_planes import training_planes


@pytest.mark.parametrize("name", ["AP-SVM", "NDCG-SVM"])
def test_the_planes_end_at_the_bounds_of_training(name: str) -> None:
    query, method = problem(3), make_method(name, C=50.0)
    planes = training_planes(method, query)
    certificate = method.fit([query]).certificate
    assert len(planes.dual) == len(planes.primal) == len(planes.multipliers) == certificate.iterations + 1
    assert (np.diff(planes.dual) >= 0).all()
    assert (np.diff(planes.primal) <= 0).all()
    assert planes.primal[-1] == pytest.approx(certificate.primal, rel=1e-6)
    assert planes.dual[-1] == pytest.approx(certificate.dual, rel=1e-6)
    assert planes.cvxpy == pytest.approx(planes.dual[-1], rel=1e-6)
    assert 0 < planes.active < len(planes.dual)
    assert planes.multipliers.min() >= 0
    assert planes.multipliers.sum() <= 50.0 * (1 + 1e-9)


def test_every_plane_has_its_bounds_if_training_ends_early() -> None:
    planes = training_planes(make_method("AP-SVM", C=50.0, max_iterations=3), problem(3))
    assert len(planes.dual) == len(planes.multipliers) == 4
    assert planes.cvxpy == pytest.approx(planes.dual[-1], rel=1e-6)
