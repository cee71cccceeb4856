"""Starting from another run: the same optimum, sooner."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest
from contract_cases import CONVEX, EVERY_SOLVER, RanksSamples
from problems import Heard, primal_of

from ranking import Query, make_method
from ranking.losses import RankingLoss
from ranking.methods.structured_rank_svm import StructuredRankSVM
from ranking.methods.training_set import TrainingSet
from ranking.solvers.block import Block


def same_optimum(
    case: RanksSamples, before: Sequence[Query], after: Sequence[Query], C: tuple[float, float] = (1.0, 1.0)
) -> None:
    """What begins with a run on `before` ends at the optimum on `after`, as what begins with nothing does."""
    first = case.make(C=C[0], tolerance=1e-5).fit(before)
    warm = case.make(C=C[1], tolerance=1e-5).fit(after, warm_start=first)
    cold = case.make(C=C[1], tolerance=1e-5).fit(after)
    assert warm.certificate.converged
    if len(after) == 1:
        assert warm.certificate.primal == pytest.approx(case.primal(warm, after[0]), rel=1e-12)
    if case.one_optimum:
        assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=2e-5)
        assert warm.certificate.dual <= cold.certificate.primal * (1 + 1e-12)


@EVERY_SOLVER
def test_a_run_with_another_C_leads_to_the_same_optimum(case: RanksSamples) -> None:
    query = case.query(0)
    for penalties in ((0.2, 2.0), (2.0, 0.2)):
        same_optimum(case, [query], [query], penalties)


@EVERY_SOLVER
def test_cuts_of_the_same_samples_in_other_queries_or_with_other_labels_prove_nothing(
    case: RanksSamples,
) -> None:
    """The samples of two queries under each other are not one query: its outputs are others."""
    parts = [case.query(seed, n=20, positives=positives) for seed, positives in ((6, 3), (7, 12))]
    features = np.concatenate([part.features for part in parts])
    relevance = np.concatenate([part.relevance for part in parts])
    whole = Query(features, relevance, TrainingSet.of(parts).graph)
    same_optimum(case, [whole], parts)
    same_optimum(case, parts, [whole])
    same_optimum(case, [whole], [dataclasses.replace(whole, relevance=1 - relevance)])


def test_solvers_of_the_svm_start_from_each_other() -> None:
    query, solvers = RanksSamples("SVM").query(5), ("coordinate descent", "cutting plane")
    for before, after in (solvers, solvers[::-1]):
        first = make_method("SVM", C=1.0, unit="paper", tolerance=1e-5, solver=before).fit([query])
        second = make_method("SVM", C=1.0, unit="paper", tolerance=1e-5, solver=after).fit(
            [query], warm_start=first
        )
        assert second.certificate.converged
        assert second.certificate.primal == pytest.approx(first.certificate.primal, rel=2e-5)


@EVERY_SOLVER
def test_continuing_a_finished_run_takes_next_to_nothing(case: RanksSamples) -> None:
    query = case.query(1)
    first = case.make(tolerance=1e-4, C=1.0).fit([query])
    again = case.make(tolerance=1e-4, C=1.0).fit([query], warm_start=first)
    assert again.certificate.converged
    assert again.certificate.primal <= first.certificate.primal * (1 + 1e-12)
    assert again.certificate.iterations < first.certificate.iterations
    # Frank-Wolfe and coordinate descent keep no working set.
    assert again.certificate.iterations <= 1 or first.solution.working_set is None


@CONVEX
def test_continuing_a_stopped_run_keeps_its_dual_bound(case: RanksSamples) -> None:
    query, events = case.query(2), Heard()
    stop = Heard(lambda heard: heard[-1].iteration == 3)
    stopped = case.make(C=1.0, tolerance=1e-5).fit([query], stop)
    case.make(C=1.0, tolerance=1e-5).fit([query], events, warm_start=stopped)
    assert events[0].dual >= stopped.certificate.dual * (1 - 1e-6)
    assert events[-1].relative_gap <= 1e-5


@EVERY_SOLVER
def test_weights_of_other_samples_are_a_start(case: RanksSamples) -> None:
    query, earlier_query = case.query(4), case.query(3)
    same_optimum(case, [earlier_query], [query])
    first, events = case.make(C=10.0).fit([earlier_query]), Heard()
    case.make(C=10.0).fit([query], events, warm_start=first)
    # Coordinate descent starts from a dual, which other samples do not have: from nothing.
    from_dual = case.name == "SVM" and case.solver != "cutting plane"
    known = np.inf if from_dual else primal_of(case.name, first.weights, query, 10.0)
    # that of weights 0
    assert events[0].primal <= min(known, 10.0) * (1 + 1e-9)


def test_cuts_of_a_matrix_prove_nothing_about_the_samples_of_an_earlier_run() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        relevant = np.arange(20) % 4 == 0
        features = rng.normal(size=(20, 4)) + 0.6 * relevant[:, None] * [1, 0, 0, 0]
        shifted = np.roll(relevant, 1)
        query, C = Query(features, relevant), 10 ** rng.uniform(-1, 2)
        before = make_method("AP-SVM", C=C).fit([query])
        before.fit_matrix(Block(features), shifted)
        warm = make_method("AP-SVM", C=C).fit([query], warm_start=before).certificate
        cold = make_method("AP-SVM", C=C, tolerance=1e-7).fit([query]).certificate
        assert warm.primal <= cold.primal * 1.0011
        assert warm.dual <= cold.primal * (1 + 1e-9)


@dataclasses.dataclass(frozen=True)
class PowerLoss(RankingLoss):
    """A discount that falls with a power of the position."""

    name, measure = "power", "the power measure"
    power: float = 1.0

    def gains(self, positives: int) -> np.ndarray:
        return np.full(positives, 1 / positives)

    def discount(self, positions: np.ndarray) -> np.ndarray:
        return positions**-self.power


@dataclasses.dataclass(kw_only=True, eq=False)
class PowerSVM(StructuredRankSVM):
    """A method whose loss has a setting."""

    name = "Power SVM"
    power: float = 1.0

    @property
    def loss(self) -> PowerLoss:
        return PowerLoss(self.power)


def test_cuts_of_another_setting_of_the_loss_prove_nothing() -> None:
    query = RanksSamples("AP-SVM").query(0)
    first = PowerSVM(C=5.0, tolerance=1e-5, power=2.0).fit([query])
    # the smaller the power, the smaller the losses: cuts of the run before would prove too much
    for power in (0.1, 0.5):
        warm = PowerSVM(C=5.0, tolerance=1e-5, power=power).fit([query], warm_start=first).certificate
        cold = PowerSVM(C=5.0, tolerance=1e-7, power=power).fit([query]).certificate
        assert warm.converged
        assert warm.dual <= cold.primal * (1 + 1e-9)
    again = PowerSVM(C=5.0, tolerance=1e-5, power=2.0).fit([query], warm_start=first).certificate
    assert again.iterations <= 1
