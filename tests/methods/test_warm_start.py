"""Starting from another run: the same optimum, sooner."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest
from contract_cases import CONVEX, EVERY_SOLVER, RanksSamples
from problems import primal_of

from ranking import ProgressEvent, Query, StopTraining, make_method
from ranking.methods.training_set import TrainingSet


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
        assert warm.certificate.dual <= cold.certificate.primal


@CONVEX
def test_cuts_of_another_C_lead_to_the_same_optimum(case: RanksSamples) -> None:
    query = case.query(0)
    for penalties in ((0.1, 1.0), (1.0, 0.1)):
        same_optimum(case, [query], [query], penalties)


@CONVEX
def test_cuts_of_the_same_samples_in_other_queries_prove_nothing(case: RanksSamples) -> None:
    """The samples of two queries under each other are not one query: its outputs are others."""
    parts = [case.query(seed, n=20, positives=positives) for seed, positives in ((6, 3), (7, 12))]
    features = np.concatenate([part.features for part in parts])
    relevance = np.concatenate([part.relevance for part in parts])
    whole = Query(features, relevance, TrainingSet.of(parts).graph)
    same_optimum(case, [whole], parts)
    same_optimum(case, parts, [whole])


@EVERY_SOLVER
def test_other_labels_on_the_same_features_are_other_samples(case: RanksSamples) -> None:
    query = case.query(8)
    same_optimum(case, [query], [dataclasses.replace(query, relevance=1 - query.relevance)])


def test_solvers_of_the_svm_start_from_each_other() -> None:
    query, solvers = RanksSamples("SVM").query(5), ("coordinate descent", "cutting plane")
    for before, after in (solvers, solvers[::-1]):
        first = make_method("SVM", C=1.0, tolerance=1e-5, solver=before).fit([query])
        second = make_method("SVM", C=1.0, tolerance=1e-5, solver=after).fit([query], warm_start=first)
        assert second.certificate.converged
        assert second.certificate.primal == pytest.approx(first.certificate.primal, rel=2e-5)


@EVERY_SOLVER
def test_continuing_a_finished_run_takes_next_to_nothing(case: RanksSamples) -> None:
    query = case.query(1)
    first = case.make(C=1.0, tolerance=1e-4).fit([query])
    again = case.make(C=1.0, tolerance=1e-4).fit([query], warm_start=first)
    assert again.certificate.converged
    assert again.certificate.primal <= first.certificate.primal * (1 + 1e-12)
    if first.solution.working_set is None:  # Frank-Wolfe and coordinate descent keep none
        assert again.certificate.iterations < first.certificate.iterations
    else:
        assert again.certificate.iterations <= 1 < first.certificate.iterations


@CONVEX
def test_continuing_a_stopped_run_keeps_what_it_had(case: RanksSamples) -> None:
    def stop(event: ProgressEvent) -> None:
        if event.iteration == 3:
            raise StopTraining

    query, events = case.query(2), list[ProgressEvent]()
    stopped = case.make(C=1.0, tolerance=1e-5).fit([query], stop)
    case.make(C=1.0, tolerance=1e-5).fit([query], events.append, warm_start=stopped)
    assert events[0].dual >= stopped.certificate.dual * (1 - 1e-6)
    assert events[-1].relative_gap <= 1e-5


@EVERY_SOLVER
def test_weights_of_other_samples_are_a_start(case: RanksSamples) -> None:
    query, events = case.query(4), list[ProgressEvent]()
    first = case.make(C=10.0).fit([case.query(3)])
    if case.name == "SVM" and case.solver != "cutting plane":
        # Its start is its dual, which other samples do not have: it trains as from nothing.
        warm, cold = case.make().fit([query], warm_start=first), case.make().fit([query])
        np.testing.assert_array_equal(warm.weights, cold.weights)
        return
    warm = case.make(C=10.0, tolerance=1e-5).fit([query], events.append, warm_start=first)
    cold = case.make(C=10.0, tolerance=1e-5).fit([query])
    at_first = min(primal_of(case.name, first.weights, query, 10.0), 10.0)  # that of weights 0
    assert events[0].primal <= at_first * (1 + 1e-9)
    assert warm.certificate.converged
    if case.one_optimum:
        assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=2e-5)
