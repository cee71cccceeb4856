"""A training needs an image set, settings and a folder for features: no store, no run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from labelled_pictures import patches
from refusals import refused

from ranking import Query, method_class, method_names
from ranking.datasets import build_image_set, make_source
from ranking.edge_files import edges_name
from ranking.features import load_features, make_feature, matrix_files
from ranking.image_graph import image_graph
from ranking.inference import PairsOfEitherSign, doubling
from ranking.metrics import evaluate
from ranking.run_settings import TrainSettings
from ranking.settings import settings_dict
from ranking.training import graph_in_use, query_of, train, what_is_learnt
from ranking.types import ImageSet, ProgressEvent

SETTINGS = TrainSettings("key", (("Colour", {"bins": 4}),), "3", "AP-SVM", {"C": 10.0, "tolerance": 0.05})


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> ImageSet:
    return build_image_set(make_source("Digits"), tmp_path_factory.mktemp("digits") / "set")[0]


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> ImageSet:
    """48 images of many labels, one of which is looked for."""
    return patches(tmp_path_factory.mktemp("patches") / "set")


def test_a_training_without_a_store(digits: ImageSet, tmp_path: Path) -> None:
    steps: list[str] = []
    iterations: list[ProgressEvent] = []
    asked: list[np.ndarray] = []
    trained = train(
        digits,
        SETTINGS,
        tmp_path,
        on_step=lambda what, done, total: steps.append(what),
        on_iteration=iterations.append,
        on_fitted=lambda: steps.append("fitted"),
        on_asked=asked.append,
    )
    assert list(dict.fromkeys(steps)) == ["Colour", "Training", "fitted"]
    assert iterations
    assert trained.certificate is not None
    assert trained.certificate.relative_gap <= 0.05
    assert trained.scores.shape == (1797,)
    relevance = digits.relevance("3")
    for part, rows in (("train", ~digits.test), ("test", digits.test)):
        assert trained.metrics[part] == evaluate(relevance[rows], trained.scores[rows])
    assert len(asked) == len(iterations), "the scores that it asked with, at every iteration"
    assert {scores.shape for scores in asked} == {(np.count_nonzero(~digits.test),)}
    assert not asked[0].any(), "training begins with weights 0"
    relevant = relevance[~digits.test] > 0
    assert asked[-1][relevant].mean() > asked[-1][~relevant].mean()
    assert trained.method.asked is not None
    again = train(digits, SETTINGS, tmp_path, warm_start=trained.method)
    assert again.certificate is not None
    assert again.certificate.iterations < trained.certificate.iterations
    assert np.isfinite(again.scores).all()


def test_every_method_trains_and_scores_as_it_is_saved(few: ImageSet, tmp_path: Path) -> None:
    features = load_features(few, SETTINGS.features, tmp_path)
    for name in method_names(ranks="samples"):
        given = {"C": 0.1, "tolerance": 0.05}
        settings = replace(SETTINGS, query="red", method=name, method_settings=given, graph="none")
        asked: list[np.ndarray] = []
        trained = train(few, settings, tmp_path, on_asked=asked.append)
        assert trained.certificate is not None, name
        assert trained.certificate.relative_gap <= 0.05, name
        assert (asked == []) == (not hasattr(trained.method, "asked")), name
        trained.method.save(tmp_path / "model.npz")
        query = query_of(few, settings, features)
        again = method_class(name).load(tmp_path / "model.npz").score(query)
        np.testing.assert_array_equal(trained.scores, again, err_msg=name)


def test_a_class_without_training_sample_is_refused_and_one_without_test_sample_is_counted(
    few: ImageSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = ImageSet.relevance
    settings = replace(SETTINGS, query="red")
    monkeypatch.setattr(ImageSet, "relevance", lambda self, query: plain(self, query) * self.test)
    with refused("query", "red") as caught:
        train(few, settings, tmp_path)
    assert str((~few.test).sum()) in caught.value.expected
    monkeypatch.setattr(ImageSet, "relevance", lambda self, query: plain(self, query) * ~self.test)
    metrics = train(few, settings, tmp_path).metrics
    assert metrics["test"] == {"positives": 0.0, "samples": float(few.test.sum())}
    assert metrics["train"]["AP"] > 0


def test_mapped_features_change_no_bit_of_a_training(
    few: ImageSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = (("Colour", {"bins": 4}), ("Colour of the image", {"bins": 2}))
    settings = replace(SETTINGS, features=parts, query="red")
    usual = train(few, settings, tmp_path / "usual")
    monkeypatch.setattr(matrix_files, "LARGE", 0)
    steps: list[str] = []
    mapped = train(few, settings, tmp_path / "mapped", on_step=lambda what, *_: steps.append(what))
    assert "Features side by side" in steps
    assert mapped.scores.tobytes() == usual.scores.tobytes()
    assert mapped.metrics == usual.metrics


def test_settings_that_make_no_training_are_refused(few: ImageSet, tmp_path: Path) -> None:
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
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            train(few, replace(settings, **changes), tmp_path)
        assert name in str(caught.value), changes


# ---------------------------------------------------------------------------------------------------------
# Similar samples
# ---------------------------------------------------------------------------------------------------------


def with_graph(method: str, graph: str | None, **settings: Any) -> TrainSettings:
    return TrainSettings("key", (("Colour", {"bins": 2}),), "3", method, settings, graph=graph)


def test_a_method_without_neighbours_leans_on_no_graph(digits: ImageSet) -> None:
    assert graph_in_use(with_graph("AP-SVM", "nearest")) is None
    assert graph_in_use(with_graph("HOB-SVM", "nearest")) == "nearest"
    assert graph_in_use(with_graph("HOAP-SVM", None)) == "same image"
    vectors = np.ones((len(digits), 8), np.float32)
    assert query_of(digits, with_graph("AP-SVM", "nearest"), vectors).graph is None


def test_a_query_has_the_graph_of_its_own_samples(digits: ImageSet) -> None:
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
    whole = query_of(digits, settings, vectors)
    assert (len(whole), whole.relevance) == (1797, None)
    assert len(whole.graph.edges) > len(query.graph.edges)


@pytest.mark.parametrize("name", ["HOB-SVM", "HOAP-SVM"])
def test_training_and_scores_lean_on_neighbours(name: str, digits: ImageSet, tmp_path: Path) -> None:
    parts, few = (("HOG", {"side": 32}),), {"max_iterations": 3, "C": 10.0}
    trained = train(digits, replace(with_graph(name, "nearest", **few), features=parts), tmp_path)
    weights = trained.method.weights
    assert weights.pairwise.min() < 0
    features = load_features(digits, parts, tmp_path)
    graph = image_graph(digits, "nearest", parts, features)
    expected = trained.method.score(Query(features, graph=graph))
    np.testing.assert_array_equal(trained.scores, expected)
    assert np.abs(trained.method.score(Query(features)) - expected).max() > 0
    alone = train(digits, replace(with_graph(name, "none", **few), features=parts), tmp_path)
    assert not alone.method.weights.pairwise.any()
    np.testing.assert_array_equal(alone.scores, alone.method.score(Query(features)))


def test_what_is_learnt_names_every_setting_of_the_features_and_the_neighbours() -> None:
    assert SETTINGS.method in what_is_learnt(SETTINGS)
    assert str(settings_dict(make_feature("Colour", bins=4))) in what_is_learnt(SETTINGS)
    assert "same image" in what_is_learnt(with_graph("HOB-SVM", None))
    assert "none" in what_is_learnt(with_graph("HOAP-SVM", "none"))
    assert what_is_learnt(with_graph("SVM", "nearest")) == what_is_learnt(with_graph("SVM", None))


def test_what_could_not_be_scored_is_not_trained(
    digits: ImageSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The graph of the test samples alone is too large, which is said before the first iteration."""
    monkeypatch.setattr(doubling, "LARGEST_DOUBLED", 20)
    learn, test = np.flatnonzero(~digits.test), np.flatnonzero(digits.test)
    edges = np.sort(np.concatenate([[learn[:2]], np.stack([test[:20], test[1:21]], axis=1)]), axis=1)
    settings = with_graph("HOB-SVM", edges_name(edges), potentials=PairsOfEitherSign.name, max_iterations=1)
    iterations: list[ProgressEvent] = []
    with pytest.raises(ValueError, match=r"\b21\b"):  # samples in one component
        train(digits, settings, tmp_path, on_iteration=iterations.append, edges=edges)
    assert not iterations
    assert len(train(digits, settings, tmp_path, edges=edges[:-1]).scores) == len(digits)
