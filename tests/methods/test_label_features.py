"""Features of label scores: kernels exact, SVM scores from SVMs that did not see the image; and the core."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from label_problems import images
from refusals import refused
from sklearn.metrics.pairwise import chi2_kernel, rbf_kernel

from ranking import LabelSet
from ranking.methods.core_labels import core_labels
from ranking.methods.label_features import FOLDS, MAPS, OneVsAllMap


@pytest.mark.parametrize("columns", [3, 30])
@pytest.mark.parametrize("kind", ["linear kernel", "RBF kernel", "chi-square kernel"])
def test_features_of_a_kernel_have_its_values_as_products(kind: str, columns: int) -> None:
    """Of training images, doubled ones among them, and of others with these."""
    label_set, unseen = images(0, count=20, columns=columns), images(1, columns=columns)
    doubled = label_set.part([*range(20), 3, 3])
    gamma = 0.7
    made, label_features = MAPS[kind].fitted(doubled, gamma)
    x, y = doubled.features, unseen.features
    if kind == "linear kernel":
        among, across = x @ x.T, y @ x.T
    elif kind == "RBF kernel":
        width = gamma / np.mean([[np.sum((a - b) ** 2) for a in x] for b in x])
        among, across = rbf_kernel(x, gamma=width), rbf_kernel(y, x, gamma=width)
    else:
        width = gamma / -np.log(chi2_kernel(x, gamma=1.0)).mean()
        among, across = chi2_kernel(x, gamma=width), chi2_kernel(y, x, gamma=width)
    trained, mapped = label_features.shared[:, 1:], made(y).shared[:, 1:]
    np.testing.assert_allclose(trained @ trained.T, among, atol=1e-7)
    np.testing.assert_allclose(mapped @ trained.T, across, atol=1e-7)
    assert trained.shape[1] == (columns if kind == "linear kernel" and columns == 3 else 20)
    assert (label_features.shared[:, 0] == 1).all()
    assert not label_features.own.any()


def test_chi_square_is_of_histograms() -> None:
    histograms = images(0).part([0, 1])
    made, _ = MAPS["chi-square kernel"].fitted(histograms, 1.0)
    below = histograms.features - 2.0
    for refuse in (
        lambda: made(below),
        lambda: MAPS["chi-square kernel"].fitted(LabelSet(below, histograms.labels, histograms.names), 1.0),
    ):
        with refused("features", "numbers below 0"):
            refuse()
    empty = LabelSet(np.zeros((2, 3)), histograms.labels, histograms.names)
    _, label_features = MAPS["chi-square kernel"].fitted(empty, 1.0)
    np.testing.assert_allclose(label_features.shared[:, 1:] @ label_features.shared[:, 1:].T, np.ones((2, 2)))


def test_scores_of_training_images_are_of_svms_that_did_not_see_them(monkeypatch: pytest.MonkeyPatch) -> None:
    label_set = images(2, count=23)
    seen: list[tuple[np.ndarray, OneVsAllMap]] = []
    whole = OneVsAllMap._trained.__func__  # type: ignore[attr-defined]

    def trained(cls: type[OneVsAllMap], features: np.ndarray, labels: np.ndarray) -> OneVsAllMap:
        seen.append((features, whole(cls, features, labels)))
        return seen[-1][1]

    monkeypatch.setattr(OneVsAllMap, "_trained", classmethod(trained))
    made, label_features = OneVsAllMap.fitted(label_set, 1.0)
    assert len(seen) == 1 + FOLDS
    times = np.zeros(23)
    for features, svms in seen[1:]:
        held_out = ~(label_set.features[:, None] == features).all(axis=2).any(axis=1)
        np.testing.assert_allclose(label_features.own[held_out], svms.scores(label_set.features[held_out]))
        times += held_out
    assert (times == 1).all()
    np.testing.assert_array_equal(seen[0][0], label_set.features)
    np.testing.assert_array_equal(made(label_set.features).own, made.scores(label_set.features))
    assert label_features.shared.tolist() == [[1.0]] * 23


def test_labels_without_two_kinds_of_images_have_constant_scores() -> None:
    label_set = images(3)
    marks = label_set.labels.copy()
    marks[:, 0], marks[:, 1] = False, True
    made, label_features = OneVsAllMap.fitted(LabelSet(label_set.features, marks, label_set.names), 1.0)
    assert label_features.own[:, :2].tolist() == [[-1.0, 1.0]] * 14
    assert made(label_set.features).own[:, :2].tolist() == [[-1.0, 1.0]] * 14
    single, score = OneVsAllMap.fitted(label_set.part([2]), 1.0)
    np.testing.assert_array_equal(score.own, np.where(label_set.labels[2], 1.0, -1.0)[None])
    assert not single.normals.any()


def test_the_core_is_chosen_greedily_by_joint_mutual_information() -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        labels = rng.random((30, 6)) < rng.uniform(0.2, 0.8, 6)
        labels[:, 3] ^= labels[:, 1] & (rng.random(30) < 0.8)
        core = core_labels(labels, 4)
        for step in range(4):
            before = core[:step]
            information = {
                label: reference.joint_information_of(labels, [*before, label])
                for label in set(range(6)) - set(before)
            }
            assert information[core[step]] == pytest.approx(max(information.values()), abs=1e-12), seed
        assert core_labels(labels, 2) == core[:2]
        assert sorted(core_labels(labels, 6)) == list(range(6))
        assert core_labels(labels, 0) == []
    with refused("size of the core", 7):
        core_labels(labels, 7)
