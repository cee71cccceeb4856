"""A training needs an image set, settings and a folder for features: no store, no run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from refusals import refusal, refused
from training_runs import Listener

from ranking import Query, method_names
from ranking.core import ImageSet, ProgressEvent
from ranking.datasets import build_image_set, make_source
from ranking.experiments.sample_task import query_of, training_signature
from ranking.experiments.tasks import train
from ranking.features import load_features, matrix_files
from ranking.features.graph.image_graph import image_graph
from ranking.features.graph.uploaded_pairs import edges_name
from ranking.features.projection import PCA
from ranking.inference import PairsOfEitherSign, doubling
from ranking.metrics import evaluate
from ranking.storage.run_settings import TrainSettings

SETTINGS = TrainSettings("key", (("Colour", {"bins": 4}),), "3", "AP-SVM", {"C": 10.0, "tolerance": 0.05})


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    return build_image_set(make_source("Digits"), tmp_path_factory.mktemp("digits") / "set")[0]


def test_training_needs_no_store(digits, tmp_path):
    heard, scores_used = Listener(), list[np.ndarray]()
    trained = train(digits, SETTINGS, tmp_path, on_scores=scores_used.append, **heard.listeners())
    assert heard.steps == ["Colour", "Training", "fitted"]
    assert trained.certificate.relative_gap <= 0.05
    assert trained.scores.shape == (1797,)
    relevance = digits.relevance("3")
    for part, rows in (("train", ~digits.test), ("test", digits.test)):
        assert trained.metrics[part] == evaluate(relevance[rows], trained.scores[rows])
    assert len(scores_used) == len(heard.iterations) > 0, "the scores that it asked with, at every iteration"
    assert {scores.shape for scores in scores_used} == {(np.count_nonzero(~digits.test),)}
    assert not scores_used[0].any(), "training begins with weights 0"
    relevant = relevance[~digits.test] > 0
    assert scores_used[-1][relevant].mean() > scores_used[-1][~relevant].mean()
    again = train(digits, SETTINGS, tmp_path, warm_start=trained.method)
    assert again.certificate.iterations < trained.certificate.iterations


def test_only_methods_with_most_violated_rankings_report_their_scores(labelled, tmp_path):
    for name in method_names(ranks="samples"):
        few, scores_used = {"C": 0.1, "tolerance": 0.05}, list[np.ndarray]()
        settings = replace(SETTINGS, query="red", method=name, method_settings=few, graph="none")
        method = train(labelled, settings, tmp_path, on_scores=scores_used.append).method
        assert (scores_used == []) == (method.loss is None), name


def test_a_class_without_training_sample_is_refused_and_one_without_test_sample_is_counted(
    labelled, tmp_path, monkeypatch
):
    plain = ImageSet.relevance
    settings = replace(SETTINGS, query="red")
    monkeypatch.setattr(ImageSet, "relevance", lambda self, query, _=(): plain(self, query) * self.test)
    with refused("query", "red") as caught:
        train(labelled, settings, tmp_path)
    assert str((~labelled.test).sum()) in caught.value.expected
    monkeypatch.setattr(ImageSet, "relevance", lambda self, query, _=(): plain(self, query) * ~self.test)
    metrics = train(labelled, settings, tmp_path).metrics
    assert metrics["test"] == {"positives": 0.0, "samples": float(labelled.test.sum())}
    assert metrics["train"]["AP"] > 0


def test_a_training_with_corrections_is_one_on_a_set_that_has_these_labels(labelled, tmp_path):
    rows = [*np.flatnonzero(labelled.test)[:3], *np.flatnonzero(~labelled.test)[:3]]
    settings = replace(SETTINGS, query="red", corrections=tuple(labelled.ids[rows].tolist()))
    labels = labelled.labels.copy()
    labels[rows, labelled.classes.index("red")] ^= True
    corrected = train(labelled, settings, tmp_path)
    same = train(replace(labelled, labels=labels), replace(settings, corrections=()), tmp_path)
    assert (corrected.scores.tobytes(), corrected.metrics) == (same.scores.tobytes(), same.metrics)
    original = train(labelled, replace(settings, corrections=()), tmp_path)
    assert corrected.metrics["train"] != original.metrics["train"]
    assert corrected.metrics["test"] != original.metrics["test"]
    with refused("corrected label", "of 'nobody'"):
        train(labelled, replace(settings, corrections=("nobody",)), tmp_path)


def test_mapped_features_change_no_bit_of_a_training(labelled, tmp_path, monkeypatch):
    parts = (("Colour", {"bins": 4}), ("Colour of the image", {"bins": 2}))
    settings = replace(SETTINGS, features=parts, query="red")
    usual = train(labelled, settings, tmp_path / "usual")
    monkeypatch.setattr(matrix_files, "LARGE", 0)
    steps: list[str] = []
    mapped = train(labelled, settings, tmp_path / "mapped", on_step=lambda what, *_: steps.append(what))
    assert "Features side by side" in steps
    assert mapped.scores.tobytes() == usual.scores.tobytes()
    assert mapped.metrics == usual.metrics


def test_settings_that_make_no_training_are_refused(labelled, tmp_path):
    settings = replace(SETTINGS, query="red")
    for changes, name in (
        ({"method": "C-star p@k"}, "C-star p@k"),
        ({"method": "RankSVM"}, "RankSVM"),
        ({"method": "Star"}, "Star"),
        ({"method_settings": {"C": -1.0}}, "C"),
        ({"features": ()}, "feature"),
        ({"query": "purple"}, "purple"),
        ({"graph": "kin"}, "kin"),
        ({"graph": "kin", "method": "HOB-SVM"}, "kin"),
        ({"projection": {"kind": "LDA"}}, "LDA"),
    ):
        assert name in str(refusal(train, labelled, replace(settings, **changes), tmp_path)), changes


def with_graph(method: str, graph: str | None, **settings: Any) -> TrainSettings:
    return TrainSettings("key", (("Colour", {"bins": 2}),), "3", method, settings, graph=graph)


def test_a_query_has_the_graph_of_its_samples_by_unprojected_features(digits):
    settings = with_graph("HOB-SVM", "nearest")
    vectors = np.random.default_rng(0).uniform(size=(len(digits), 8)).astype(np.float32)
    relevance, learn = digits.relevance("3"), ~digits.test
    query = query_of(digits, settings, vectors, relevance, learn)
    expected = image_graph(digits, "nearest", settings.features, vectors, learn)
    np.testing.assert_array_equal(query.graph.edges, expected.edges)
    np.testing.assert_array_equal(query.graph.affinity, expected.affinity)
    np.testing.assert_array_equal(query.features, vectors[learn])
    np.testing.assert_array_equal(query.relevance, relevance[learn])
    assert query.ids.tolist() == digits.ids[learn].tolist()
    fitted = PCA(4).fitted(vectors, learn)
    through = query_of(digits, settings, vectors, rows=learn, projection=fitted)
    np.testing.assert_array_equal(through.features, fitted(vectors[learn]))
    np.testing.assert_array_equal(through.graph.affinity, expected.affinity)
    whole = query_of(digits, settings, vectors)
    assert (len(whole), whole.relevance) == (1797, None)
    assert len(whole.graph.edges) > len(query.graph.edges)
    assert query_of(digits, with_graph("AP-SVM", "nearest"), vectors).graph is None


def test_training_and_scores_use_the_similarity_graph(digits, tmp_path):
    parts, few = (("HOG", {"side": 32}),), {"max_iterations": 3, "C": 10.0}
    trained = train(digits, replace(with_graph("HOB-SVM", "nearest", **few), features=parts), tmp_path)
    assert trained.method.weights.pairwise.min() < 0
    features = load_features(digits, parts, tmp_path)
    graph = image_graph(digits, "nearest", parts, features)
    expected = trained.method.score(Query(features, graph=graph))
    np.testing.assert_array_equal(trained.scores, expected)
    assert np.abs(trained.method.score(Query(features)) - expected).max() > 0
    alone = train(digits, replace(with_graph("HOB-SVM", "none", **few), features=parts), tmp_path)
    assert not alone.method.weights.pairwise.any()
    np.testing.assert_array_equal(alone.scores, alone.method.score(Query(features)))


def test_training_signatures_differ_where_weights_have_another_meaning():
    four: dict[str, Any] = {"kind": "PCA", "components": 4}
    projected = replace(SETTINGS, projection=four)
    variants = [
        SETTINGS,
        replace(SETTINGS, method="SVM"),
        replace(SETTINGS, features=(("Colour", {"bins": 5}),)),
        with_graph("HOB-SVM", None),
        with_graph("HOB-SVM", "none"),
        projected,
        replace(projected, set="other"),
        replace(projected, projection={**four, "whiten": True}),
        replace(projected, projection={"kind": "PCA"}),
    ]
    assert len(set(map(training_signature, variants))) == len(variants)
    for one, same in (
        (SETTINGS, replace(SETTINGS, set="other")),
        (projected, replace(projected, projection={**four, "whiten": False})),
        (with_graph("HOB-SVM", None), with_graph("HOB-SVM", "same image")),
        (with_graph("SVM", "nearest"), with_graph("SVM", None)),
    ):
        assert training_signature(one) == training_signature(same)


def test_a_graph_too_large_to_score_is_refused_before_training(digits, tmp_path, monkeypatch):
    """The graph of the test samples alone is too large, which is said before the first iteration."""
    monkeypatch.setattr(doubling, "LARGEST_DOUBLED", 20)
    learn, test = np.flatnonzero(~digits.test), np.flatnonzero(digits.test)
    edges = np.sort(np.concatenate([[learn[:2]], np.stack([test[:20], test[1:21]], axis=1)]), axis=1)
    settings = with_graph("HOB-SVM", edges_name(edges), potentials=PairsOfEitherSign.name, max_iterations=1)
    iterations: list[ProgressEvent] = []
    # samples in one component
    with pytest.raises(ValueError, match=r"\b21\b"):
        train(digits, settings, tmp_path, on_iteration=iterations.append, edges=edges)
    assert not iterations
    assert len(train(digits, settings, tmp_path, edges=edges[:-1]).scores) == len(digits)
