"""Label rankers end at the optimum of the paper's objective, by either solver, whatever the scores."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import reference
from label_problems import flat, images, outputs_of, tightest_objective

from ranking import LabelSet, make_method
from ranking.core import ProgressEvent
from ranking.methods.label_features import MAPS
from ranking.methods.label_ranker import SOLVERS

EACH = pytest.mark.parametrize(
    ("name", "settings"), [("Independent p@k", {}), ("C-star p@k", {"core_size": 2})]
)
EXACT = {"tolerance": 1e-5, "max_iterations": 3000}


@EACH
def test_training_ends_at_the_optimum(name: str, settings: dict[str, Any]) -> None:
    label_set = images(1, count=9)
    for unary, C in itertools.product(MAPS, (0.3, 30.0)):
        method = make_method(name, C=C, unary=unary, **settings, **EXACT).fit(label_set)
        outputs, certificate = outputs_of(method, label_set), method.certificate
        recomputed = reference.one_slack_primal(flat(method), outputs, C)
        optimum = reference.one_slack_optimum(outputs, C)
        assert certificate.converged, (unary, C)
        assert certificate.primal == pytest.approx(recomputed, rel=1e-9), (unary, C)
        assert certificate.dual <= optimum * (1 + 1e-7), (unary, C)
        assert optimum * (1 - 1e-7) <= certificate.primal <= optimum * (1 + 2e-5), (unary, C)


@EACH
@pytest.mark.parametrize("unary", ["linear", "one-vs-all SVMs"])
def test_both_solvers_reach_one_optimum(name: str, settings: dict[str, Any], unary: str) -> None:
    settings_of_all = {"C": 2.0, "unary": unary, "tolerance": 2e-3, "max_iterations": 3000, **settings}
    planes, descent = (
        make_method(name, solver=solver, **settings_of_all).fit(images(2)) for solver in SOLVERS
    )
    proven = planes.certificate, descent.certificate
    assert all(certificate.converged for certificate in proven)
    least = min(certificate.primal for certificate in proven)
    assert max(certificate.dual for certificate in proven) <= least * (1 + 1e-9)
    # Both objectives are within 2e-3, and the objective is strongly convex: 1/2 ||w - w*||^2 is no more than that.
    allowed = 2.0 * np.sqrt(2.0 * 2e-3 * planes.certificate.primal)
    assert np.linalg.norm(flat(planes) - flat(descent)) <= allowed


def test_a_core_of_no_labels_is_the_independent_model() -> None:
    label_set = images(3)
    star = make_method("C-star p@k", core_size=0, C=5.0).fit(label_set)
    independent = make_method("Independent p@k", C=5.0).fit(label_set)
    np.testing.assert_array_equal(flat(star), flat(independent))
    np.testing.assert_array_equal(star.scores(label_set), independent.scores(label_set))
    assert star.certificate.primal == independent.certificate.primal
    with_core = make_method("C-star p@k", core_size=1, C=5.0).fit(label_set)
    # the interactions are not idle
    assert with_core.certificate.primal < independent.certificate.primal


@EACH
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_fixed_k_has_the_tightest_bound(name: str, settings: dict[str, Any], solver: str) -> None:
    label_set = images(6)
    settings_of_all = {"C": 3.0, "tolerance": 1e-2, "max_iterations": 3000, **settings}
    for k in (1, 3):
        method = make_method(name, k=k, solver=solver, **settings_of_all).fit(label_set)
        assert method.certificate.primal == pytest.approx(tightest_objective(method, label_set), rel=1e-9)
        assert method.certificate.dual <= method.certificate.primal
        assert method.prediction(label_set).best.members.sum(axis=1).tolist() == [k] * len(label_set)


def test_rounds_of_a_fixed_k_never_raise_the_objective() -> None:
    label_set = images(7)
    events: list[ProgressEvent] = []
    settings = {"k": 2, "core_size": 2, "C": 30.0, "tolerance": 1e-4, "max_iterations": 3000}
    method = make_method("C-star p@k", **settings).fit(label_set, on_progress=events.append)
    ends = {event.round: event.primal for event in events}
    later = [value for number, value in sorted(ends.items()) if number > 0]
    assert len(later) > 1
    assert (np.diff(later) <= 1e-9 * later[0]).all()
    assert method.certificate.converged
    assert method.certificate.primal <= later[0]
    # A warm start from the end must not end higher.
    again = make_method("C-star p@k", **settings).fit(label_set, warm_start=method)
    assert again.certificate.primal <= method.certificate.primal * (1 + 1e-9)


def test_labels_that_are_hard_to_predict_are_learned_all_the_same() -> None:
    """A relative gap of 1% would hide them."""
    # The optimum lies 0.2% below the objective at weights 0.
    generator = np.random.default_rng(0)
    labels = np.zeros((200, 60), np.bool_)
    for row in labels:
        row[generator.choice(60, 2, replace=False, p=np.arange(1, 61) / 1830)] = True
    features = labels @ generator.standard_normal((60, 20)) / 4 + generator.standard_normal((200, 20))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    method = make_method("Independent p@k", C=10.0)
    method.fit(LabelSet(features, labels, tuple(map(str, range(60)))))
    assert method.certificate.converged
    # at weights 0 every image has the loss 1
    least = 10.0 - method.certificate.dual
    assert least < 0.05
    assert method.certificate.gap <= method.tolerance * least
