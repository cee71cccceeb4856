"""HOB-SVM and HOAP-SVM: scores by max-marginals, their graph, eta, files, and what they are without similar samples."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
from problems import flat, pairs_of, problem, similar_problem
from refusals import refused

from ranking import Query, SimilarityGraph, make_method, method_class
from ranking.inference import POTENTIALS
from ranking.methods.high_order import HighOrderWeights

BOTH = pytest.mark.parametrize("name", ["HOB-SVM", "HOAP-SVM"])
NO_EDGES = np.empty((0, 2), int)


def fitted(name: str, query: Query, **settings: Any) -> Any:
    return make_method(name, **{"C": 10.0, **settings}).fit([query])


def expected_scores(method: Any, query: Query) -> np.ndarray:
    """s_i = m_i^+ - m_i^-, the maxima over all labellings of w.Psi(X, Y), Psi as it is written (high-order, eq. 11)."""
    row, pairs = flat(method.weights), pairs_of(query)
    best = np.full((2, len(query)), -np.inf)
    for number in range(2 ** len(query)):
        labels = (number >> np.arange(len(query)) & 1).astype(bool)
        value = row @ reference.labelling_features(labels, query.features.astype(float), pairs, method.eta)
        best[0, labels] = np.maximum(best[0, labels], value)
        best[1, ~labels] = np.maximum(best[1, ~labels], value)
    return best[0] - best[1]


@BOTH
def test_scores_are_differences_of_max_marginals(name: str) -> None:
    for dtype in (np.float32, np.float64):
        method = fitted(name, similar_problem(0, dtype=dtype), eta=2.0)
        assert method.weights.pairwise.min() < 0
        for seed in (1, 2):
            query = similar_problem(seed, n=9, dtype=dtype)
            expected = expected_scores(method, query)
            np.testing.assert_allclose(method.score(query), expected, rtol=1e-9, atol=1e-12)
        alone = method.score(dataclasses.replace(query, graph=None))
        assert np.abs(method.score(query) - alone).max() > 1e-3


@BOTH
def test_the_model_of_a_query_is_what_max_marginals_are_given(name: str) -> None:
    """The weights are two opposite rows, and pairwise ones below zero."""
    method, query = fitted(name, similar_problem(2), eta=0.5), similar_problem(3)
    weights = method.weights
    assert isinstance(weights, HighOrderWeights)
    np.testing.assert_array_equal(weights.unary[0], -weights.unary[1])
    assert weights.pairwise.min() < 0
    assert weights.pairwise.max() <= 0
    unary, penalty = method.model_of(query)
    np.testing.assert_allclose(unary, query.features @ (weights.unary[0] - weights.unary[1]), rtol=1e-12)
    np.testing.assert_allclose(penalty, 0.5 * query.graph.affinity @ weights.pairwise, rtol=1e-12)
    assert penalty.max() <= 0
    assert [part.shape for part in method.model_of(dataclasses.replace(query, graph=None))] == [(40,), (0,)]


@BOTH
def test_eta_scales_the_affinities(name: str) -> None:
    """eta and affinities count by their product alone."""
    query = similar_problem(4)
    eighth = SimilarityGraph(query.graph.edges, query.graph.affinity / 8)
    scaled = dataclasses.replace(query, graph=eighth)
    small, large = fitted(name, query, eta=0.25), fitted(name, scaled, eta=2.0)
    np.testing.assert_allclose(flat(small.weights), flat(large.weights), rtol=1e-9)
    np.testing.assert_allclose(small.score(query), large.score(scaled), rtol=1e-9)
    different = fitted(name, query, eta=2.0)
    assert np.abs(different.weights.pairwise - small.weights.pairwise).max() > 1e-3


@pytest.mark.parametrize("potentials", POTENTIALS)
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_without_similar_samples_they_are_the_svm_and_the_ap_svm(C: float, potentials: str) -> None:
    alone = problem(6)
    given = {"C": C, "potentials": potentials, "tolerance": 1e-6}
    svm = make_method("SVM", C=C, solver="cutting plane", tolerance=1e-6).fit([alone])
    ap = make_method("AP-SVM", C=2 * C, tolerance=1e-6).fit([alone])
    for empty in (None, SimilarityGraph(NO_EDGES, np.empty((0, 3)))):
        query = dataclasses.replace(alone, graph=empty)
        binary, ranks = fitted("HOB-SVM", query, **given), fitted("HOAP-SVM", query, **given)
        assert binary.certificate.primal == pytest.approx(svm.certificate.primal, rel=2e-6)
        np.testing.assert_allclose(binary.weights.unary, svm.weights, atol=1e-2 * np.abs(svm.weights).max())
        assert ranks.certificate.primal == pytest.approx(ap.certificate.primal / 2, rel=2e-6)
        row = ranks.weights.unary[0] - ranks.weights.unary[1]
        np.testing.assert_allclose(row, ap.weights, atol=1e-2 * np.abs(ap.weights).max())
        for method in (binary, ranks):
            assert method.certificate.converged
            assert method.weights.pairwise.tolist() == [0.0] * (0 if empty is None else 3)
            assert method.score(query).shape == (40,)


@BOTH
def test_a_graph_of_one_query_alone_is_enough(name: str) -> None:
    queries = [problem(7), similar_problem(8), problem(9)]
    method = make_method(name, C=5.0).fit(queries)
    assert method.certificate.converged
    assert method.weights.pairwise.shape == (7,)
    moved = make_method(name, C=5.0).fit([queries[1], queries[0], queries[2]])
    assert moved.certificate.primal == pytest.approx(method.certificate.primal, rel=0.05)


@BOTH
def test_affinities_of_another_size_are_refused(name: str) -> None:
    query = similar_problem(10)
    wider = SimilarityGraph(query.graph.edges, np.ones((len(query.graph.edges), 3)))
    other, no_graph = (dataclasses.replace(query, graph=graph) for graph in (wider, None))
    method, alone = fitted(name, query), fitted(name, no_graph)
    for trained, samples, known, came in ((method, other, 7, 3), (alone, query, 0, 7)):
        with refused("affinities of the query", came) as caught:
            trained.score(samples)
        assert str(known) in caught.value.expected
        with refused("warm_start", known) as caught:
            make_method(name).fit([samples], warm_start=trained)
        assert str(came) in caught.value.expected
    with refused("graphs of the queries", [3, 7]):
        make_method(name).fit([query, other])


@BOTH
def test_cuts_of_another_eta_prove_nothing(name: str) -> None:
    query = similar_problem(11)
    first = fitted(name, query, eta=1.0, tolerance=1e-5)
    cold = fitted(name, query, eta=0.1, tolerance=1e-5)
    warm = make_method(name, C=10.0, eta=0.1, tolerance=1e-5).fit([query], warm_start=first)
    assert first.fingerprint != warm.fingerprint == cold.fingerprint
    assert warm.certificate.converged
    if name == "HOB-SVM":
        assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=2e-5)


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
    queries = [dataclasses.replace(query, graph=graph) for graph in graphs]
    fingerprints = [fitted("HOB-SVM", each, C=0.1).fingerprint for each in queries]
    assert len(set(fingerprints)) == len(graphs)
    assert fitted("HOB-SVM", query, C=1.0).fingerprint == fingerprints[0]


def test_files_that_do_not_say_how_many_columns_they_have_are_read(tmp_path: Path) -> None:
    method = make_method("SVM").fit([problem(14)])
    method.save(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as file:
        arrays = dict(file)
    header = json.loads(str(arrays["header"]))
    del header["pairs"]
    np.savez(tmp_path / "old.npz", **{**arrays, "header": np.array(json.dumps(header))})
    old = method_class("SVM").load(tmp_path / "old.npz")
    np.testing.assert_array_equal(old.score(problem(14)), method.score(problem(14)))
    with refused("features of the query", 2):
        old.score(Query(features=np.eye(2)))


@BOTH
def test_components_too_large_to_enumerate_are_cut(name: str) -> None:
    """A chain of all samples: one component, beyond what is enumerated."""
    query = problem(15, n=30)
    order = np.argsort(query.relevance, kind="stable")
    chain = np.stack([order[:-1], order[1:]], axis=1)
    graph = SimilarityGraph(chain, np.random.default_rng(15).uniform(size=(29, 4)))
    method = fitted(name, dataclasses.replace(query, graph=graph), C=1.0)
    assert method.certificate.converged
    assert method.weights.pairwise.min() < 0
