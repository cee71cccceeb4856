"""HOB-SVM and HOAP-SVM beyond the paper: pairs of either sign, and P^n Potts cliques."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest
import reference
from problems import flat, pairs_of, primal_of, problem, similar_problem, value_of
from refusals import refused

from ranking import Query, SimilarityGraph, make_method
from ranking.inference import POTENTIALS, AttractivePairs, PairsOfEitherSign, PottsCliques
from ranking.methods.hoap_svm import Surrogate
from ranking.methods.oracles import by_query, ranking_cut
from ranking.methods.training_set import TrainingSet

EITHER, CLIQUES = PairsOfEitherSign.name, PottsCliques.name
BOTH = pytest.mark.parametrize("name", ["HOB-SVM", "HOAP-SVM"])
BEYOND = pytest.mark.parametrize("potentials", [EITHER, CLIQUES])


def fitted(name: str, query: Query, potentials: str, **settings: Any) -> Any:
    return make_method(name, **{"C": 10.0, "potentials": potentials, **settings}).fit([query])


def unlike_problem(seed: int, n: int = 12) -> Query:
    """Neighbours mostly of different labels, so that it pays to let pairs repel."""
    query = problem(seed, n=n, d=3, positives=n // 2)
    relevant, irrelevant = np.flatnonzero(query.relevance), np.flatnonzero(query.relevance == 0)
    edges = np.stack([relevant, irrelevant], axis=1)
    edges = np.concatenate([edges, np.stack([relevant[:-1], irrelevant[1:]], axis=1)[::3]])
    affinity = np.random.default_rng([seed, 2]).uniform(size=(len(edges), 4))
    return dataclasses.replace(query, graph=SimilarityGraph(edges, affinity))


def knotted_problem(seed: int, n: int = 16, m: int = 45) -> Query:
    """One component too large to enumerate, whose pairs tell whether labels are alike, a third of them wrongly."""
    query, rng = problem(seed, n=n, d=3, positives=n // 2), np.random.default_rng([seed, 3])
    pairs = np.stack(np.triu_indices(n, 1), axis=1)
    edges = pairs[rng.permutation(len(pairs))[:m]]
    affinity = rng.uniform(size=(m, 2))
    alike = (query.relevance[edges[:, 0]] == query.relevance[edges[:, 1]]) ^ (rng.random(m) < 0.3)
    affinity[np.arange(m), alike.astype(int)] *= 0.1
    return dataclasses.replace(query, graph=SimilarityGraph(edges, affinity))


def test_attractive_pairs_are_the_default() -> None:
    for name in ("HOB-SVM", "HOAP-SVM"):
        method = make_method(name)
        assert method.potentials == AttractivePairs.name == next(iter(POTENTIALS))
        assert method.bounds(similar_problem(0)) is None


def reaches(method: Any, outputs: list[reference.Output], optimum: float) -> None:
    """The method's certificate is of the optimum over all outputs, and its weights have it."""
    assert method.certificate.converged
    assert method.certificate.primal == pytest.approx(optimum, rel=2e-6)
    primal = reference.one_slack_primal(flat(method.weights), [outputs], method.C)
    assert primal == pytest.approx(optimum, rel=2e-6)


@pytest.mark.parametrize("C", [0.3, 30.0])
def test_pairs_of_either_sign_reach_the_optimum(C: float) -> None:
    for seed in range(3):
        query = unlike_problem(seed, n=8)
        outputs = reference.labelling_outputs(query.features, query.relevance > 0, pairs_of(query), 0.7)
        optimum = reference.one_slack_optimum([outputs], C)
        method = fitted("HOB-SVM", query, EITHER, C=C, eta=0.7, tolerance=1e-6)
        reaches(method, outputs, optimum)
        assert optimum < 0.999 * reference.one_slack_optimum([outputs], C, bound=4), seed
        assert method.weights.pairwise.max() > 0
        assert method.bounds(query).samples == 0


@pytest.mark.parametrize("C", [0.3, 30.0])
def test_cliques_reach_the_optimum(C: float) -> None:
    for seed in range(3):
        query = similar_problem(seed, n=8, d=3, positives=3)
        outputs = reference.clique_outputs(query.features, query.relevance > 0, pairs_of(query), 0.7)
        method = fitted("HOB-SVM", query, CLIQUES, C=C, eta=0.7, tolerance=1e-6)
        reaches(method, outputs, reference.one_slack_optimum([outputs], C, bound=4))
        assert method.weights.pairwise.max() <= 0
        assert max(len(clique) for clique in reference.cliques_of(8, query.graph.edges)) > 2


@BOTH
def test_scores_are_differences_of_max_marginals_of_all_labellings(name: str) -> None:
    query = similar_problem(0, n=9, d=3, positives=4)
    method = fitted(name, query, CLIQUES, eta=2.0)
    cliques = reference.cliques_of(9, query.graph.edges)
    row = {tuple(sorted(edge)): number for number, edge in enumerate(query.graph.edges.tolist())}
    means = [
        query.graph.affinity[[row[i, j] for i in clique for j in clique if i < j]].mean(axis=0)
        for clique in cliques
    ]
    penalty = 2.0 * np.array(means) @ method.weights.pairwise
    unary = query.features @ (method.weights.unary[0] - method.weights.unary[1])
    np.testing.assert_allclose(method.model_of(query)[1], penalty, rtol=1e-9)
    one, zero = reference.max_marginals_with_cliques(unary, cliques, penalty)
    np.testing.assert_allclose(method.score(query), one - zero, rtol=1e-9, atol=1e-12)
    assert penalty.min() < 0
    query = unlike_problem(1, n=8)
    method = fitted(name, query, EITHER, eta=2.0)
    model = reference.pairwise_model(method.weights, query.features, pairs_of(query), 2.0)
    one, zero = reference.max_marginals_of(*model)
    np.testing.assert_allclose(method.score(query), one - zero, rtol=1e-9, atol=1e-12)
    assert model[2].max() > 0


@BEYOND
def test_the_hoap_svm_descends_from_where_the_hob_svm_is(potentials: str) -> None:
    """Its objective is that of eq. 14 with these max-marginals, and never rises."""
    query = unlike_problem(3) if potentials == EITHER else similar_problem(3, n=20, d=4, positives=6)
    heights: list[float] = []
    method = make_method("HOAP-SVM", C=10.0, potentials=potentials)
    method.fit([query], on_progress=lambda event: heights.append(event.primal) if event.round else None)
    assert method.certificate.converged
    assert all(later <= earlier for earlier, later in itertools.pairwise(heights))
    scores = method.score(query)
    square = float(flat(method.weights) @ flat(method.weights))
    value = square / 2 + 10.0 * reference.ranking_slack(scores, query.relevance > 0, "ap")
    assert method.certificate.primal == pytest.approx(value, rel=1e-9)
    if potentials == EITHER:
        assert value == pytest.approx(primal_of("HOAP-SVM", method.weights, query, 10.0), rel=1e-9)
        assert method.weights.pairwise.max() > 0


def test_bounds_take_part_in_training_and_are_reported() -> None:
    """The hinge of the HOB-SVM is then above that of all labellings; what it proves, it proves of the higher one."""
    found = []
    for seed in range(4):
        query = knotted_problem(seed)
        method = fitted("HOB-SVM", query, EITHER, C=100.0, eta=1.0)
        assert method.certificate.converged
        relevant = query.relevance > 0
        unary, penalty = method.model_of(query)
        model = unary, query.graph.edges, penalty
        costs = np.where(relevant, 0.5 / relevant.sum(), 0.5 / (~relevant).sum())
        augmented = unary + np.where(relevant, -costs, costs), *model[1:]
        truth = reference.value_of_labelling(relevant, *augmented)
        slack = reference.relaxed_max_marginal(*augmented) - truth
        square = float(flat(method.weights) @ flat(method.weights))
        assert method.certificate.primal == pytest.approx(square / 2 + 100.0 * slack, rel=1e-4)
        found.append(method.bounds(query))
        expected = [reference.relaxed_max_marginal(*model, 0, label) for label in (True, False)]
        assert method.score(query)[0] == pytest.approx(expected[0] - expected[1], abs=1e-5)
        assert found[-1].score == pytest.approx(np.abs(method.score(query)).max())
        assert found[-1].excess == method.max_marginals(query).excess.max()
    assert any(bounds.samples > 0 and bounds.excess > 0 for bounds in found)
    assert {(bounds.large, bounds.of) for bounds in found} == {(16, 16)}


def test_bounds_of_the_hoap_svm_are_touched_and_never_crossed() -> None:
    """The surrogate of CCCP equals the objective where it was made, and lies above it elsewhere, with bounds too."""
    samples = TrainingSet.of([knotted_problem(5)])
    method = make_method("HOAP-SVM", potentials=EITHER, C=10.0)
    ranking = by_query(lambda scores, relevant: ranking_cut(scores, relevant, "ap"), samples)
    neighbours = method.neighbours(samples)
    risk = method.risk_of(samples, ranking, neighbours)
    upper = Surrogate(risk, neighbours, ranking)
    generator = np.random.default_rng(5)
    points = [generator.standard_normal(risk.shape[1]) for _ in range(4)]
    halves = 0
    for here in points:
        bound = upper.touching(here)
        value = bound.point.objective
        assert value == value_of(bound.risk, here)
        found = neighbours.max_marginals(risk.exact_scores(here))
        scores = found.difference
        hinge = ranking(scores).loss + scores @ ranking(scores).coefficients
        assert value == pytest.approx(0.5 * here @ here + 10.0 * hinge, rel=1e-9)
        halves += np.count_nonzero(found.excess)
        for there in points:
            assert value_of(upper.touching(there).risk, here) >= value - 1e-9 * abs(value)
    assert halves


def test_where_no_three_samples_are_similar_cliques_are_pairs() -> None:
    query = problem(8, n=30)
    order = np.argsort(query.relevance, kind="stable")
    chain = np.stack([order[:-1], order[1:]], axis=1)[::2]
    query = dataclasses.replace(
        query, graph=SimilarityGraph(chain, np.random.default_rng(8).uniform(size=(15, 4)))
    )
    cliques, pairs = (
        fitted("HOB-SVM", query, name, tolerance=1e-6) for name in (CLIQUES, AttractivePairs.name)
    )
    assert cliques.certificate.primal == pytest.approx(pairs.certificate.primal, rel=2e-6)
    np.testing.assert_allclose(cliques.score(query), pairs.score(query), rtol=1e-2, atol=1e-4)


@BEYOND
def test_cuts_of_other_potentials_prove_nothing(potentials: str) -> None:
    query = similar_problem(11, n=16)
    first = fitted("HOB-SVM", query, AttractivePairs.name, tolerance=1e-5)
    cold = fitted("HOB-SVM", query, potentials, tolerance=1e-5)
    warm, again = (
        make_method("HOB-SVM", C=10.0, potentials=potentials, tolerance=1e-5).fit([query], warm_start=start)
        for start in (first, cold)
    )
    assert first.fingerprint != warm.fingerprint == cold.fingerprint
    for method in (warm, again):
        assert method.certificate.converged
        assert method.certificate.primal == pytest.approx(cold.certificate.primal, rel=2e-5)


@BOTH
def test_weights_of_either_sign_start_others_below_zero(name: str) -> None:
    query = unlike_problem(4)
    first = fitted(name, query, EITHER)
    assert first.weights.pairwise.max() > 0
    for potentials in (AttractivePairs.name, CLIQUES):
        method = make_method(name, C=10.0, potentials=potentials).fit([query], warm_start=first)
        assert method.certificate.converged
        assert method.weights.pairwise.max() <= 0


@BEYOND
def test_frank_wolfe_is_for_attractive_pairs_only(potentials: str) -> None:
    with refused("HOB-SVM: potentials", potentials):
        make_method("HOB-SVM", solver="Frank-Wolfe", potentials=potentials)
    make_method("HOB-SVM", solver="Frank-Wolfe")
