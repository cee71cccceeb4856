"""RankSVM's objective, certificate and optimum against the definition with all pairs written down."""

from __future__ import annotations

import cvxpy
import numpy as np
import pytest
import reference
from order_problems import rows_of, sequences

from ranking import make_method


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_the_certificate_is_of_the_objective_with_all_pairs(C: float, dtype: type) -> None:
    made = sequences(1, dtype=dtype)
    method = make_method("RankSVM", C=C).fit(made)
    features = made.features.astype(np.float64)
    primal = reference.pair_svm_primal(method.weights, features, made.grades.tolist(), rows_of(made), C)
    assert method.certificate.primal == pytest.approx(primal, rel=1e-12)
    assert method.certificate.converged
    assert 0 <= method.certificate.relative_gap <= 1e-3


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_the_optimum_is_that_of_a_quadratic_program(C: float) -> None:
    made = sequences(2, pool=20, count=8)
    pairs = np.array(reference.graded_pairs(made.grades.tolist(), rows_of(made)))
    w = cvxpy.Variable(made.features.shape[1])
    differences = made.features[pairs[:, 0]] - made.features[pairs[:, 1]]
    losses = cvxpy.pos(1 - differences @ w)
    best = cvxpy.Problem(
        cvxpy.Minimize(cvxpy.sum_squares(w) / 2 + C * cvxpy.sum(losses) / len(pairs))
    ).solve()
    method = make_method("RankSVM", C=C, tolerance=1e-6).fit(made)
    assert method.certificate.primal == pytest.approx(best, rel=2e-6)
    assert method.certificate.dual <= best * (1 + 1e-7)
