"""Each estimator trains the method of the app, to the last bit.

The checks of scikit-learn are in tests/slow.
"""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from typing import Any

import label_problems
import numpy as np
import order_problems
import problems
import pytest
import scipy.sparse
from refusals import refused
from scikit_learn_checks import SMALL, made
from sklearn.base import clone

from ranking import LabelSet, Query, make_method, method_names, rank
from ranking.core.settings import settings_of
from ranking.estimators import ESTIMATORS
from ranking.features.graph.similarity import same_image, similarity_graph
from ranking.metrics import average_precision, kendall_tau

# Those whose training needs only products with X, which may then be sparse.
SPARSE: set[str] = {
    name
    for name, cls in ESTIMATORS.items()
    if cls.method.ranks == "samples" and make_method(cls.method.name).sharded
}
NAMES = pytest.mark.parametrize("name", ESTIMATORS)


def samples(dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, relevance and images of samples."""
    query = problems.problem(dtype=dtype)
    return query.features, query.relevance, np.arange(len(query)) // 3


def sequences(dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, grades and sequences of samples."""
    pool = order_problems.sequences(count=12, dtype=dtype)
    return pool.features[pool.members], pool.grades[pool.members], np.repeat(np.arange(12), 6)


def data_of(name: str, dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """X, y and groups that the estimator learns from."""
    ranks = ESTIMATORS[name].method.ranks
    if ranks == "labels":
        images = label_problems.images(dtype=dtype)
        return images.features, images.labels.astype(int), None
    return samples(dtype) if ranks == "samples" else sequences(dtype)


def trained_method(name: str, dtype: Any) -> tuple[Any, np.ndarray]:
    """The method as the app trains it, and its scores of the training samples."""
    cls = ESTIMATORS[name].method
    method, (X, y, groups) = make_method(cls.name, **SMALL.get(name, {})), data_of(name, dtype)
    if cls.ranks == "labels":
        images = LabelSet(X, y, tuple("abcde"))
        return method.fit(images), method.scores(images)
    if cls.ranks == "sequences":
        queries = [Query(X[groups == number], y[groups == number]) for number in range(12)]
        return method.fit(queries), np.concatenate([method.score(query) for query in queries])
    graph = similarity_graph(X, same_image(groups)) if cls.uses_graph else None
    query = Query(X, y, graph)
    return method.fit([query]), method.score(query)


def test_every_method_has_an_estimator_with_its_settings():
    assert {cls.method.name for cls in ESTIMATORS.values()} == set(method_names()) - set(
        method_names(ranks="windows")
    )
    assert {"APSVM", "NDCGSVM", "LinearSVM", "HOBSVM", "HOAPSVM", "RankSVM"} <= ESTIMATORS.keys()
    for cls in ESTIMATORS.values():
        settings = {item.name: item.default for item in settings_of(cls.method)}
        assert cls().get_params() == settings
        assert not [name for name in settings if hasattr(cls.__mro__[1], name)], "a setting hides a member"
        assert all(f"{name} : " in inspect.getdoc(cls) for name in settings)


@NAMES
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_training_is_that_of_the_method_to_the_last_bit(name: str, dtype: Any):
    X, y, groups = data_of(name, dtype)
    estimator = made(name).fit(X, y, groups=groups)
    method, scores = trained_method(name, dtype)
    np.testing.assert_array_equal(estimator.decision_function(X, groups=groups), scores)
    assert np.ptp(scores) > 0
    if method.certificate is None:
        assert estimator.certificate_ is None
    else:
        assert replace(estimator.certificate_, seconds=0.0) == replace(method.certificate, seconds=0.0)


@NAMES
def test_clones_and_pickles(name: str):
    X, y, groups = data_of(name)
    estimator = made(name).fit(X, y, groups=groups)
    again = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(again.decision_function(X), estimator.decision_function(X))
    assert clone(estimator).get_params() == estimator.get_params()
    assert not hasattr(clone(estimator), "method_")


@NAMES
def test_rank_score_and_coefficients(name: str):
    X, y, groups = data_of(name)
    estimator = made(name).fit(X, y, groups=groups)
    scores = estimator.decision_function(X)
    linear = hasattr(estimator, "coef_")
    assert linear == (name not in ("McRank", "LambdaMART", "MidRank"))
    if scores.ndim == 2:
        np.testing.assert_array_equal(estimator.rank(X), [rank(row) for row in scores])
        known = [average_precision(*pair) for pair in zip(y, scores, strict=True) if pair[0].any()]
        assert estimator.score(X, y) == np.mean(known)
        unary = estimator.method_.prediction(LabelSet(X, y, estimator.method_.names)).unary
        np.testing.assert_allclose(unary - unary[0], (X - X[0]) @ estimator.coef_.T, atol=1e-9)
        return
    np.testing.assert_array_equal(estimator.rank(X), rank(scores))
    if estimator.method.ranks == "samples":
        assert estimator.score(X, y) == average_precision(y, scores)
        np.testing.assert_array_equal(estimator.predict(X), scores > 0)
        assert estimator.coef_.shape == (1, X.shape[1])
    else:
        scores = estimator.decision_function(X, groups=groups)
        parts = [groups == number for number in np.unique(groups)]
        known = [kendall_tau(y[part], scores[part]) for part in parts if len(np.unique(y[part])) > 1]
        assert estimator.score(X, y, groups) == np.mean(known)
    if linear:
        np.testing.assert_allclose(scores, X @ estimator.coef_.ravel(), rtol=1e-9, atol=1e-12)


def test_scores_that_are_not_linear_have_no_coefficients():
    X, y, groups = data_of("ListNet")
    assert not hasattr(ESTIMATORS["ListNet"](hidden=2, max_iterations=5).fit(X, y, groups=groups), "coef_")
    X, y, _ = data_of("CStarPrecisionAtK")
    assert not hasattr(ESTIMATORS["CStarPrecisionAtK"](unary="RBF kernel").fit(X, y), "coef_")


@pytest.mark.parametrize("name", ["HOBSVM", "HOAPSVM"])
def test_neighbours_come_from_groups_or_from_a_graph(name: str):
    X, y, images = samples()
    graph = similarity_graph(X, same_image(images))
    by_groups, by_graph = made(name).fit(X, y, groups=images), made(name).fit(X, y, graph=graph)
    scores = by_groups.decision_function(X, groups=images)
    np.testing.assert_array_equal(by_graph.decision_function(X, graph=graph), scores)
    alone = made(name).fit(X, y, groups=images).decision_function(X)
    for passed in ({"groups": images}, {"graph": graph}, {}):
        expected = scores if passed else alone
        assert by_graph.score(X, y, **passed) == average_precision(y, expected), passed
        np.testing.assert_array_equal(by_graph.rank(X, **passed), rank(expected))
        np.testing.assert_array_equal(by_graph.predict(X, **passed), expected > 0)
    assert (rank(scores) != rank(alone)).any(), "neighbours have an effect"
    for ask in (by_graph.decision_function, by_graph.predict, by_graph.rank):
        with refused("graph", "both"):
            ask(X, groups=images, graph=graph)
    with refused("graph", "both"):
        made(name).fit(X, y, groups=images, graph=graph)
    with refused("graph", "coo_array"):
        made(name).fit(X, y, graph=scipy.sparse.coo_array((len(X), len(X))))


def test_groups_are_sequences_in_any_order_and_qid_is_another_name():
    X, y, groups = sequences()
    mixed = np.random.default_rng(0).permutation(len(X))
    names = np.array([f"sequence {number}" for number in groups])[mixed]
    for name in ("RankSVM", "MidRank"):
        ranker, as_qid = made(name).fit(X, y, groups=groups), made(name).fit(X, y, qid=11 - groups)
        expected = ranker.decision_function(X, groups=groups)
        np.testing.assert_array_equal(as_qid.decision_function(X, groups=groups), expected)
        scores = ranker.decision_function(X[mixed], groups=names)
        assert ranker.score(X[mixed], y[mixed], names) == ranker.score(X, y, qid=groups)
        np.testing.assert_allclose(scores, expected[mixed], atol=1e-12)
        np.testing.assert_array_equal(ranker.decision_function(X, qid=groups), expected)
        each = [np.flatnonzero(names == first) for first in dict.fromkeys(names)]
        by_sequence = np.concatenate([rows[rank(scores[rows])] for rows in each])
        for passed in ({"groups": names}, {"qid": names}):
            np.testing.assert_array_equal(ranker.rank(X[mixed], **passed), by_sequence)
    tight = ESTIMATORS["RankSVM"](tolerance=1e-6)
    objectives = [
        clone(tight).fit(*data).certificate_.primal for data in ((X, y, groups), (X[mixed], y[mixed], names))
    ]
    assert objectives[0] == pytest.approx(objectives[1], rel=2e-6), "the same pairs"
    for ask in (made("RankSVM").fit, ranker.score):
        with refused("qid", "both"):
            ask(X, y, groups=groups, qid=groups)
    for ask in (ranker.decision_function, ranker.rank):
        with refused("qid", "both"):
            ask(X, groups=groups, qid=groups)
    with refused("groups", (3,)):
        made("RankSVM").fit(X, y, groups=[0, 1, 2])


@NAMES
def test_prediction_and_score_take_the_groups_of_training_and_no_sample_weights(name: str):
    X, y, groups = data_of(name)
    estimator = made(name).fit(X, y, groups=groups)
    passed = set(inspect.signature(estimator.fit).parameters) - {"y", "others"}
    for each in ("decision_function", "predict", "rank", "score"):
        if hasattr(estimator, each):
            parameters = set(inspect.signature(getattr(estimator, each)).parameters)
            assert parameters - {"y", "sample_weight"} == passed, each
    with refused("sample_weight"):
        estimator.score(X, y, sample_weight=np.ones(len(X)))


def test_any_two_classes_are_irrelevant_and_relevant():
    X, y, _ = samples()
    plain = made("APSVM").fit(X, y)
    named = made("APSVM").fit(X, np.where(y > 0, "yes", "no"))
    np.testing.assert_array_equal(named.decision_function(X), plain.decision_function(X))
    assert named.classes_.tolist() == ["no", "yes"]
    assert named.score(X, np.where(y > 0, "yes", "no")) == plain.score(X, y)
    with refused("y", "a multiclass target"):
        made("APSVM").fit(X, np.arange(len(X)) % 3)


def test_labels_have_a_column_each():
    X, y, _ = data_of("CStarPrecisionAtK")
    for wrong in (y[:, 0], scipy.sparse.csr_array(y)):
        with refused("y", f"shape {wrong.shape}"):
            made("CStarPrecisionAtK").fit(X, wrong)
    with refused("labels", "int64 with other values"):
        made("CStarPrecisionAtK").fit(X, 2 * y)


def test_settings_are_checked_when_training_and_may_be_of_numpy():
    X, y, _ = samples()
    with refused("C of AP-SVM", -1.0):
        ESTIMATORS["APSVM"](C=-1.0).fit(X, y)
    with pytest.raises(TypeError, match="'c'"):
        ESTIMATORS["APSVM"](c=1.0)
    numpy_made = ESTIMATORS["APSVM"](C=np.float64(5.0), max_iterations=np.int64(7))
    known = make_method("AP-SVM", C=5.0, max_iterations=7).fit([Query(X, y)])
    np.testing.assert_array_equal(numpy_made.fit(X, y).decision_function(X), known.score(Query(X)))


def peak(work: Any) -> int:
    """The most bytes that were allocated at a time."""
    work()
    tracemalloc.start()
    work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def test_float32_and_sparse_samples_are_not_copied():
    rng = np.random.default_rng(0)
    y = np.arange(4000) % 10 == 0
    X = (rng.standard_normal((4000, 1500)) + y[:, None]).astype(np.float32)
    for name in ("APSVM", "HOBSVM"):
        estimator = ESTIMATORS[name](max_iterations=3).fit(X, y)
        assert peak(lambda made=estimator: made.fit(X, y)) < X.nbytes
        assert peak(lambda made=estimator: made.decision_function(X)) < X.nbytes / 2
    thin = scipy.sparse.random_array((4000, 4000), density=1e-3, format="csr", rng=rng, dtype=np.float32)
    estimator = ESTIMATORS["APSVM"](max_iterations=3)
    dense = 4 * thin.shape[0] * thin.shape[1]
    assert peak(lambda: estimator.fit(thin, y).decision_function(thin)) < dense / 4


@pytest.mark.parametrize("name", sorted(SPARSE))
def test_sparse_samples_train_the_same_method(name: str):
    X, y, _ = samples()
    X = np.where(np.abs(X) < 0.3, 0.0, X)
    dense, sparse = made(name).fit(X, y), made(name).fit(scipy.sparse.csc_matrix(X), y)
    assert sparse.certificate_.converged
    lower = max(dense.certificate_.dual, sparse.certificate_.dual)
    upper = min(dense.certificate_.primal, sparse.certificate_.primal)
    assert lower <= upper * (1 + 1e-12), "the optimum of both is one"
    scores = sparse.decision_function(X)
    np.testing.assert_allclose(sparse.decision_function(scipy.sparse.csr_array(X)), scores, atol=1e-12)
    assert sparse.decision_function(scipy.sparse.csr_array(X)).dtype == np.float64


@pytest.mark.parametrize("name", sorted(ESTIMATORS.keys() - SPARSE))
def test_other_methods_say_that_samples_must_be_dense(name: str):
    X, y, _ = data_of(name)
    with pytest.raises(TypeError, match="dense data is required"):
        made(name).fit(scipy.sparse.csr_array(X), y)


def test_a_solver_that_reads_rows_says_so():
    X, y, _ = samples()
    with pytest.raises(TypeError, match="dense data is required"):
        ESTIMATORS["LinearSVM"](solver="coordinate descent").fit(scipy.sparse.csr_array(X), y)


def test_importing_the_estimators_loads_no_streamlit():
    code = "import sys, ranking.estimators; sys.exit('streamlit' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_missing_numbers_are_refused_with_the_step():
    with pytest.raises(ValueError, match="SimpleImputer"):
        made("APSVM").fit([[1.0], [np.nan]], [True, False])
