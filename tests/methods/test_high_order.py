"""HOB-SVM and HOAP-SVM: scores by max-marginals, pairwise terms, and the case without similar samples."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest
import reference
from problems import flat, knotted_problem, pairs_of, primal_of, problem, similar_problem
from refusals import refused

from ranking import Query, SimilarityGraph, make_method
from ranking.inference import POTENTIALS, AttractivePairs, PairsOfEitherSign, PottsCliques
from ranking.methods.training_set import TrainingSet

ATTRACTIVE, EITHER, CLIQUES = AttractivePairs.name, PairsOfEitherSign.name, PottsCliques.name
BOTH = pytest.mark.parametrize("name", ["HOB-SVM", "HOAP-SVM"])
BEYOND = pytest.mark.parametrize("potentials", [EITHER, CLIQUES])


def fitted(name: str, *queries: Query, **settings: Any) -> Any:
    paper = {"unit": "paper"} if name == "HOB-SVM" else {"unit": "paper", "start_C": 0.01}
    return make_method(name, **{"C": 10.0, **paper, **settings}).fit([*queries])


def unlike_problem(seed: int, n: int = 12) -> Query:
    """Neighbours mostly of different labels, so that it pays to let pairs repel."""
    query = problem(seed, n=n, d=3, positives=n // 2)
    relevant, irrelevant = np.flatnonzero(query.relevance), np.flatnonzero(query.relevance == 0)
    edges = np.stack([relevant, irrelevant], axis=1)
    edges = np.concatenate([edges, np.stack([relevant[:-1], irrelevant[1:]], axis=1)[::3]])
    affinity = np.random.default_rng([seed, 2]).uniform(size=(len(edges), 4))
    return dataclasses.replace(query, graph=SimilarityGraph(edges, affinity))


@BOTH
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_are_differences_of_max_marginals(name: str, dtype: Any) -> None:
    """s_i = m_i^+ - m_i^- (high-order, eq. 11)."""
    # The maxima are over all labellings of w.Psi(X, Y), with Psi as it is written.
    method = fitted(name, similar_problem(0, dtype=dtype), eta=2.0)
    assert method.weights.pairwise.min() < 0
    for seed in (1, 2):
        query = similar_problem(seed, n=9, dtype=dtype)
        row, features, pairs = flat(method.weights), query.features.astype(float), pairs_of(query)
        positive, negative = reference.best_by_label(
            lambda y: float(row @ reference.labelling_features(y, features, pairs, 2.0)),  # noqa: B023
            9,
        )
        np.testing.assert_allclose(method.score(query), positive - negative, rtol=1e-9, atol=1e-12)
    alone = method.score(dataclasses.replace(query, graph=None))
    assert np.abs(method.score(query) - alone).max() > 1e-3


@BOTH
def test_scores_are_differences_of_max_marginals_of_other_potentials_too(name: str) -> None:
    query = similar_problem(0, n=9, d=3, positives=4)
    method = fitted(name, query, potentials=CLIQUES, eta=2.0)
    cliques = reference.cliques_of(9, query.graph.edges)
    row = {frozenset(edge): number for number, edge in enumerate(query.graph.edges.tolist())}
    pairs_of_clique = [map(frozenset, itertools.combinations(clique, 2)) for clique in cliques]
    means = [query.graph.affinity[[row[pair] for pair in pairs]].mean(axis=0) for pairs in pairs_of_clique]
    penalty = 2.0 * np.array(means) @ method.weights.pairwise
    unary = query.features @ (method.weights.unary[0] - method.weights.unary[1])
    positive, negative = reference.max_marginals_with_cliques(unary, cliques, penalty)
    np.testing.assert_allclose(method.score(query), positive - negative, rtol=1e-9, atol=1e-12)
    assert penalty.min() < 0
    query = unlike_problem(1, n=8)
    method = fitted(name, query, potentials=EITHER, eta=2.0)
    model = reference.pairwise_model(method.weights, query.features, pairs_of(query), 2.0)
    positive, negative = reference.max_marginals_of(*model)
    np.testing.assert_allclose(method.score(query), positive - negative, rtol=1e-9, atol=1e-12)
    assert model[2].max() > 0


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
        method = fitted("HOB-SVM", query, potentials=EITHER, C=C, eta=0.7, tolerance=1e-6)
        reaches(method, outputs, optimum)
        assert optimum < 0.999 * reference.one_slack_optimum([outputs], C, bound=4), seed
        assert method.weights.pairwise.max() > 0
        assert method.bounds(query).samples == 0


@pytest.mark.parametrize("C", [0.3, 30.0])
def test_cliques_reach_the_optimum(C: float) -> None:
    for seed in range(3):
        query = similar_problem(seed, n=8, d=3, positives=3)
        outputs = reference.clique_outputs(query.features, query.relevance > 0, pairs_of(query), 0.7)
        method = fitted("HOB-SVM", query, potentials=CLIQUES, C=C, eta=0.7, tolerance=1e-6)
        reaches(method, outputs, reference.one_slack_optimum([outputs], C, bound=4))
        assert method.weights.pairwise.max() <= 0
        assert max(len(clique) for clique in reference.cliques_of(8, query.graph.edges)) > 2


@pytest.mark.parametrize("potentials", POTENTIALS)
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_without_similar_samples_they_are_the_svm_and_the_ap_svm(C: float, potentials: str) -> None:
    alone = problem(6)
    settings = {"C": C, "potentials": potentials, "tolerance": 1e-6}
    svm = make_method("SVM", C=C, unit="paper", solver="cutting plane", tolerance=1e-6).fit([alone])
    ap = make_method("AP-SVM", C=2 * C, tolerance=1e-6).fit([alone])
    for empty in (None, SimilarityGraph(np.empty((0, 2), int), np.empty((0, 3)))):
        query = dataclasses.replace(alone, graph=empty)
        binary, ranks = fitted("HOB-SVM", query, **settings), fitted("HOAP-SVM", query, **settings)
        assert binary.certificate.primal == pytest.approx(svm.certificate.primal, rel=2e-6)
        np.testing.assert_allclose(binary.weights.unary, svm.weights, atol=1e-2 * np.abs(svm.weights).max())
        assert ranks.certificate.primal == pytest.approx(ap.certificate.primal / 2, rel=2e-6)
        row = ranks.weights.unary[0] - ranks.weights.unary[1]
        np.testing.assert_allclose(row, ap.weights, atol=1e-2 * np.abs(ap.weights).max())
        for method in (binary, ranks):
            assert method.certificate.converged
            assert method.weights.pairwise.tolist() == [0.0] * (0 if empty is None else 3)
            assert method.score(query).shape == (40,)


def test_where_no_three_samples_are_similar_cliques_are_pairs() -> None:
    """A chain of all samples: one component, beyond what is enumerated."""
    query = problem(8, n=30)
    order = np.argsort(query.relevance, kind="stable")
    chain = np.stack([order[:-1], order[1:]], axis=1)
    graph = SimilarityGraph(chain, np.random.default_rng(8).uniform(size=(29, 4)))
    query = dataclasses.replace(query, graph=graph)
    cliques, pairs = (
        fitted("HOB-SVM", query, potentials=name, tolerance=1e-6) for name in (CLIQUES, ATTRACTIVE)
    )
    assert pairs.weights.pairwise.min() < 0
    assert pairs.bounds(query) is None
    assert cliques.certificate.primal == pytest.approx(pairs.certificate.primal, rel=2e-6)
    np.testing.assert_allclose(cliques.score(query), pairs.score(query), rtol=1e-2, atol=1e-4)


@BEYOND
def test_the_hoap_svm_descends_from_where_the_hob_svm_is(potentials: str) -> None:
    """Its objective is that of eq. 14 with these max-marginals, and never rises."""
    query = unlike_problem(3) if potentials == EITHER else similar_problem(3, n=20, d=4, positives=6)
    heights: list[float] = []
    method = make_method("HOAP-SVM", C=10.0, unit="paper", potentials=potentials)
    method.fit([query], on_progress=lambda event: heights.append(event.primal) if event.round else None)
    assert method.certificate.converged
    assert (np.diff(heights) <= 0).all()
    square = float(flat(method.weights) @ flat(method.weights))
    slack = reference.ranking_slack(method.score(query), query.relevance > 0, "ap")
    assert method.certificate.primal == pytest.approx(square / 2 + 10.0 * slack, rel=1e-9)
    if potentials == EITHER:
        expected = primal_of("HOAP-SVM", method.weights, query, 10.0)
        assert method.certificate.primal == pytest.approx(expected, rel=1e-9)
        assert method.weights.pairwise.max() > 0


def test_bounds_take_part_in_training_and_are_reported() -> None:
    """The hinge of HOB-SVM then exceeds that of all labellings."""
    # The certificate is about the higher hinge.
    scores_and_bounds = []
    for seed in range(4):
        query = knotted_problem(seed)
        method = fitted("HOB-SVM", query, potentials=EITHER, C=100.0)
        assert method.certificate.converged
        relevant, (unary, penalty) = query.relevance > 0, method.model_of(query)
        costs = np.where(relevant, -0.5 / relevant.sum(), 0.5 / (~relevant).sum())
        model, augmented = ((scores, query.graph.edges, penalty) for scores in (unary, unary + costs))
        truth = reference.value_of_labelling(relevant, *augmented)
        slack = reference.relaxed_max_marginal(*augmented) - truth
        square = float(flat(method.weights) @ flat(method.weights))
        assert method.certificate.primal == pytest.approx(square / 2 + 100.0 * slack, rel=1e-4)
        scores, bounds = method.score(query), method.bounds(query)
        positive, negative = (reference.relaxed_max_marginal(*model, 0, label) for label in (True, False))
        assert scores[0] == pytest.approx(positive - negative, abs=1e-5)
        assert bounds.score == pytest.approx(np.abs(scores).max())
        assert bounds.excess == method.max_marginals(query).excess.max()
        assert (bounds.large, bounds.of) == (16, 16)
        scores_and_bounds.append(bounds.samples > 0 and bounds.excess > 0)
    assert any(scores_and_bounds)


@BOTH
def test_a_graph_of_one_query_alone_is_enough(name: str) -> None:
    queries = [problem(7), similar_problem(8), problem(9)]
    method = fitted(name, *queries, C=5.0)
    assert method.certificate.converged
    assert method.weights.pairwise.shape == (7,)
    moved = fitted(name, queries[1], queries[0], queries[2], C=5.0)
    assert moved.certificate.primal == pytest.approx(method.certificate.primal, rel=0.05)


@BOTH
def test_affinities_of_another_size_are_refused(name: str) -> None:
    query = similar_problem(10)
    wider = SimilarityGraph(query.graph.edges, np.ones((len(query.graph.edges), 3)))
    wider_query, no_graph = (dataclasses.replace(query, graph=graph) for graph in (wider, None))
    method, alone = fitted(name, query), fitted(name, no_graph)
    for trained, samples, known, came in ((method, wider_query, 7, 3), (alone, query, 0, 7)):
        with refused("affinities of the query", came) as caught:
            trained.score(samples)
        assert str(known) in caught.value.expected
        with refused("warm_start", known) as caught:
            make_method(name, unit="paper").fit([samples], warm_start=trained)
        assert str(came) in caught.value.expected
    with refused("graphs of the queries", [3, 7]):
        make_method(name).fit([query, wider_query])


@BOTH
@pytest.mark.parametrize("change", [{"eta": 0.1}, {"potentials": EITHER}, {"potentials": CLIQUES}], ids=str)
def test_cuts_of_another_eta_or_other_potentials_prove_nothing(name: str, change: dict[str, Any]) -> None:
    query = similar_problem(11, n=16)
    first, cold = (fitted(name, query, tolerance=1e-5, **settings) for settings in ({}, change))
    warm, again = (
        make_method(name, C=10.0, unit="paper", tolerance=1e-5, **change).fit([query], warm_start=start)
        for start in (first, cold)
    )
    assert first.fingerprint != warm.fingerprint == cold.fingerprint
    for method in (warm, again):
        assert method.certificate.converged
        if name == "HOB-SVM":
            assert method.certificate.primal == pytest.approx(cold.certificate.primal, rel=2e-5)


@BOTH
def test_weights_of_either_sign_start_others_below_zero(name: str) -> None:
    query = unlike_problem(4)
    first = fitted(name, query, potentials=EITHER)
    assert first.weights.pairwise.max() > 0
    for potentials in (ATTRACTIVE, CLIQUES):
        method = make_method(name, C=10.0, unit="paper", potentials=potentials).fit([query], warm_start=first)
        assert method.certificate.converged
        assert method.weights.pairwise.max() <= 0


def test_other_edges_or_affinities_make_other_samples() -> None:
    query = similar_problem(12)
    edges, affinity = query.graph.edges, query.graph.affinity
    graphs = [
        query.graph,
        None,
        SimilarityGraph(edges[:0], affinity[:0]),
        SimilarityGraph(edges, np.sqrt(affinity)),
        SimilarityGraph(edges[:, ::-1], affinity),
        SimilarityGraph(edges[::-1], affinity),
    ]
    samples = [TrainingSet.of([dataclasses.replace(query, graph=graph)]) for graph in graphs]
    assert len({each.fingerprint for each in samples}) == len(graphs)


@BEYOND
def test_frank_wolfe_is_for_attractive_pairs_only(potentials: str) -> None:
    with refused("HOB-SVM: potentials", potentials):
        make_method("HOB-SVM", solver="Frank-Wolfe", potentials=potentials)
    make_method("HOB-SVM", solver="Frank-Wolfe")
