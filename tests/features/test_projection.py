"""PCA and whitening against their definition, and what they do with samples that they must not learn from."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference import pca_of
from sklearn.decomposition import PCA as OtherPCA

from ranking import Query, make_method
from ranking.features import projection as module
from ranking.features.projection import (
    PCA,
    Projection,
    features_told,
    fit_projection,
    make_projection,
    projected,
    projection_told,
)
from ranking.types import Features


def samples(n: int, d: int, rank: int | None = None, seed: int = 0) -> Features:
    """Rows of length 1 that vary in `rank` directions, along each less than along the one before."""
    generator = np.random.default_rng(seed)
    rank = d if rank is None else rank
    rows = generator.standard_normal((n, rank)) * 0.7 ** np.arange(rank)
    mixed = 1.0 + rows @ np.linalg.qr(generator.standard_normal((d, rank)))[0].T
    return (mixed / np.linalg.norm(mixed, axis=1).max()).astype(np.float32)


def same_but_for_signs(one: Features, other: Features, atol: float) -> None:
    assert one.shape == other.shape
    signs = np.sign((one * other).sum(axis=0))
    np.testing.assert_allclose(one * signs, other, rtol=0, atol=atol)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize(("n", "d", "components"), [(30, 6, 3), (30, 6, 6), (5, 9, 2), (5, 9, 50), (2, 3, 8)])
def test_it_is_what_its_definition_says(n: int, d: int, components: int, whiten: bool) -> None:
    for seed in range(3):
        rows = samples(n + 4, d, seed=seed)
        fitted = PCA(components, whiten).fitted(rows, np.arange(n))
        expected = pca_of(rows[:n].tolist(), rows.tolist(), components, whiten)
        assert fitted.kept == min(components, d, n - 1)
        same_but_for_signs(fitted(rows), expected, atol=2e-6)


@pytest.mark.parametrize(("n", "d"), [(40, 12), (12, 40)])
def test_it_is_what_scikit_learn_finds(n: int, d: int) -> None:
    rows = samples(n, d, seed=5).astype(np.float64)
    ours, theirs = PCA(8).fitted(rows), OtherPCA(8, svd_solver="full").fit(rows)
    same_but_for_signs(ours.directions.T, theirs.components_.T, atol=1e-10)
    np.testing.assert_allclose(ours.variances * n / (n - 1), theirs.explained_variance_, rtol=1e-9)
    assert ours.share == pytest.approx(theirs.explained_variance_ratio_.sum(), rel=1e-12)


@pytest.mark.parametrize(("n", "d"), [(50, 8), (8, 50)])
def test_it_is_fitted_on_the_named_rows_alone(n: int, d: int) -> None:
    """Whatever stands in the other rows, not one bit differs; one other number in the named rows, and it does."""
    rows, learn = samples(2 * n, d), np.arange(2 * n) % 2 == 0
    fitted = PCA(4).fitted(rows, learn)
    for other in (samples(2 * n, d, seed=9), np.full((2 * n, d), np.nan, np.float32)):
        mixed = np.where(learn[:, None], rows, other)
        again = PCA(4).fitted(mixed, learn)
        for name in ("mean", "directions", "variances", "total"):
            np.testing.assert_array_equal(getattr(again, name), getattr(fitted, name))
    by_number = PCA(4).fitted(rows, np.flatnonzero(learn))
    np.testing.assert_array_equal(by_number.directions, fitted.directions)
    changed = rows.copy()
    changed[0, 0] += 0.1
    assert (PCA(4).fitted(changed, learn).directions != fitted.directions).any()
    assert (PCA(4).fitted(rows).directions != fitted.directions).any()


@pytest.mark.parametrize(("n", "d"), [(8, 8), (15, 16), (18, 15), (30, 46), (24, 8)])
@pytest.mark.parametrize("components", [1, 3, 10, 64])
def test_variances_that_come_again_are_all_found(n: int, d: int, components: int) -> None:
    """As those of marks do, of which each row has one."""
    features = np.eye(d, dtype=np.float32)[np.arange(n) % d]
    centred = features - features.mean(axis=0, dtype=np.float64)
    variances = np.linalg.svd(centred, compute_uv=False) ** 2 / n
    found = PCA(components).fitted(features)
    expected = variances[variances > 1e-9][:components]
    assert found.variances == pytest.approx(expected, abs=1e-12)
    assert found.directions @ (centred.T @ centred) / n == pytest.approx(
        found.variances[:, None] * found.directions, abs=1e-12
    )


def test_directions_are_at_right_angles_and_their_largest_entry_is_positive() -> None:
    for n, d in ((60, 20), (20, 60)):
        fitted = PCA(15).fitted(samples(n, d))
        np.testing.assert_allclose(fitted.directions @ fitted.directions.T, np.eye(15), atol=1e-12)
        largest = np.abs(fitted.directions).argmax(axis=1)
        assert (fitted.directions[np.arange(15), largest] > 0).all()
        assert (np.diff(fitted.variances) < 0).all()


def test_all_directions_keep_every_distance() -> None:
    rows = samples(30, 7)
    seen = PCA(7).fitted(rows)(rows).astype(np.float64)
    apart = np.linalg.norm(rows[:, None].astype(np.float64) - rows[None], axis=2)
    np.testing.assert_allclose(np.linalg.norm(seen[:, None] - seen[None], axis=2), apart, atol=1e-6)


def test_whitened_directions_vary_alike_and_as_much_as_before_in_all() -> None:
    rows, learn = samples(200, 10), np.arange(200) < 150
    plain, white = (PCA(6, whiten).fitted(rows, learn)(rows)[learn] for whiten in (False, True))
    np.testing.assert_allclose(white.mean(axis=0), 0, atol=1e-6)
    covariance = np.cov(white.T, bias=True)
    np.testing.assert_allclose(covariance, covariance[0, 0] * np.eye(6), atol=1e-6)
    assert (white**2).sum() == pytest.approx((plain**2).sum(), rel=1e-5), "so that C means what it meant"


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("n", [6, 300])
def test_where_samples_vary_in_fewer_directions_all_of_these_are_kept(whiten: bool, n: int) -> None:
    """Rounding to single precision is no direction: rows of rank 3 have three, in any number of columns."""
    rows = samples(n, 40, rank=3)
    fitted = PCA(20, whiten).fitted(rows)
    assert fitted.kept == 3
    assert fitted.share == pytest.approx(1.0, abs=1e-9)
    assert fitted(rows).shape == (n, 3)
    assert np.isfinite(fitted(rows)).all()


def test_samples_that_do_not_differ_have_no_directions() -> None:
    for rows in (np.ones((5, 4), np.float32), samples(1, 4), np.zeros((3, 2), np.float32)):
        with pytest.raises(
            ValueError, match=r"fitted on training samples that differ, got .* with equal feat"
        ):
            PCA().fitted(rows)
    with pytest.raises(ValueError, match="PCA is fitted on training samples, got none"):
        PCA().fitted(samples(5, 4), np.zeros(5, bool))


def test_blocks_change_nothing_but_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = samples(70, 9)
    whole = PCA(5).fitted(rows)
    monkeypatch.setattr(module, "BLOCK", 20)  # two rows at a time
    parts = PCA(5).fitted(rows)
    np.testing.assert_allclose(parts.directions, whole.directions, atol=1e-12)
    np.testing.assert_allclose(parts(rows), whole(rows), atol=1e-6)


def test_ap_svm_scores_by_all_directions_as_by_centred_features() -> None:
    """Turning the axes changes no score: AP-SVM at the same optimum, on samples that it has not seen too."""
    rows, relevance = samples(60, 6).astype(np.float64), (np.arange(60) % 4 == 0).astype(np.int64)
    rows[relevance > 0, 2] += 0.2
    learn = np.arange(60) < 40
    seen = PCA(6).fitted(rows, learn)(rows)
    centred = rows - rows[learn].mean(axis=0)
    found = []
    for features in (seen, centred):
        method = make_method("AP-SVM", C=10.0, tolerance=1e-6)
        method.fit([Query(features[learn], relevance[learn])])
        found.append(method.score(Query(features)))
    assert np.ptp(found[1]) > 0.2
    np.testing.assert_allclose(found[0], found[1], atol=2e-3)


@pytest.mark.parametrize("whiten", [False, True])
def test_weights_go_back_to_the_features_before(whiten: bool) -> None:
    rows = samples(40, 9)
    fitted = PCA(4, whiten).fitted(rows)
    weights = np.array([1.0, -2.0, 0.5, 3.0])
    away = fitted(rows) @ weights - rows @ fitted.before(weights)
    assert fitted.before(weights).shape == (9,)
    np.testing.assert_allclose(away, away[0], atol=1e-5)


def test_it_takes_the_columns_that_it_was_fitted_on() -> None:
    with pytest.raises(ValueError, match=r"was fitted on 6 columns, got features of shape .*3, 5"):
        PCA(2).fitted(samples(9, 6))(samples(3, 5))


# ---------------------------------------------------------------------------------------------------------
# Files
# ---------------------------------------------------------------------------------------------------------


def test_what_is_saved_is_read_again(tmp_path: Path) -> None:
    rows = samples(30, 8)
    fitted = PCA(3, whiten=True).fitted(rows)
    fitted.save(tmp_path / "projection.npz")
    again = Projection.load(tmp_path / "projection.npz")
    np.testing.assert_array_equal(again(rows), fitted(rows))
    assert (again.kept, again.columns, again.share, again.whiten) == (3, 8, fitted.share, True)


SOUND: dict[str, Any] = {
    "mean": np.zeros(3),
    "directions": np.eye(3)[:2],
    "variances": np.array([2.0, 1.0]),
    "total": np.array(4.0),
    "whiten": np.array(False),
}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"mean": None}, "no saved projection"),
        ({"mean": np.array([{}])}, "no saved projection"),
        ({"directions": np.eye(3)}, "k directions of d numbers"),
        ({"mean": np.zeros(2)}, "k directions of d numbers"),
        ({"whiten": np.array(1)}, "k directions of d numbers"),
        ({"total": np.ones(1)}, "k directions of d numbers"),
        ({"mean": np.array([0, np.nan, 0])}, "finite float64"),
        ({"directions": np.eye(3, dtype=np.float32)[:2]}, "finite float64"),
        ({"directions": 2 * np.eye(3)[:2]}, "must have length 1"),
        ({"variances": np.array([2.0, 0.0])}, "above 0 and within"),
        ({"variances": np.array([2.0, 3.0])}, "above 0 and within"),
        ({"variances": np.empty(0), "directions": np.empty((0, 3))}, "above 0 and within"),
    ],
)
def test_what_is_no_projection_is_not_read(changes: dict[str, Any], why: str) -> None:
    stream = io.BytesIO()
    np.savez(stream, **{name: value for name, value in {**SOUND, **changes}.items() if value is not None})
    with pytest.raises(ValueError, match=why):
        Projection.load(io.BytesIO(stream.getvalue()))


def test_what_is_sound_is_read() -> None:
    stream = io.BytesIO()
    np.savez(stream, **SOUND)
    assert Projection.load(io.BytesIO(stream.getvalue())).share == 0.75
    with pytest.raises(ValueError, match="no saved projection"):
        Projection.load(io.BytesIO(stream.getvalue()[:-30]))


def test_a_projection_is_checked_against_what_was_asked_for_and_its_samples() -> None:
    rows, learn = samples(60, 8), np.arange(60) < 40
    fitted = PCA(3).fitted(rows, learn)
    fitted.check_asked(PCA(3), 8)
    fitted.check_asked(PCA(5), 8)
    for asked, columns in ((PCA(2), 8), (PCA(3, True), 8), (None, 8), (PCA(3), 9)):
        with pytest.raises(
            ValueError, match=r"the projection (has 3 directions, the settings|takes 8 columns)"
        ):
            fitted.check_asked(asked, columns)
    fitted.check_fitted(rows, learn)
    everything = PCA(3).fitted(rows)
    twice = Projection(fitted.mean, fitted.directions[[0, 0, 0]], fitted.variances[[0, 0, 0]], 9.0, False)
    shifted = Projection(fitted.mean + 0.01, fitted.directions, fitted.variances, fitted.total, False)
    boast = Projection(fitted.mean, fitted.directions, fitted.variances, fitted.total / 1.01, False)
    for wrong in (everything, twice, shifted, boast):
        with pytest.raises(ValueError, match=r"not fitted on the training samples|at right angles"):
            wrong.check_fitted(rows, learn)


# ---------------------------------------------------------------------------------------------------------
# As settings tell it
# ---------------------------------------------------------------------------------------------------------


def test_settings_tell_of_one_or_of_none() -> None:
    assert make_projection(None) is None
    assert make_projection({"kind": "PCA"}) == PCA(64, False)
    assert make_projection(json.loads('{"kind": "PCA", "components": 7, "whiten": true}')) == PCA(7, True)
    rows = samples(9, 4)
    assert fit_projection(None, rows) is None
    assert projected(None, rows) is rows
    said: list[str] = []
    fitted = fit_projection({"kind": "PCA"}, rows, on_step=lambda what, done, total: said.append(what))
    assert said == ["Fitting PCA"]
    assert projected(fitted, rows).shape == (9, 4)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({}, "the kind of a projection must be 'PCA', got None"),
        ({"kind": "LDA"}, "must be 'PCA', got 'LDA'"),
        (
            {"kind": "PCA", "component": 3},
            "PCA has no setting 'component'; its settings are: components, whiten",
        ),
        ({"kind": "PCA", "components": 0}, "PCA: components must be between 1 and 100000, got 0"),
        ({"kind": "PCA", "components": 2.5}, "PCA: components must be int, got 2.5"),
        ({"kind": "PCA", "whiten": 1}, "PCA: whiten must be bool, got 1"),
    ],
)
def test_what_there_is_not_says_what_there_is(told: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        make_projection(told)


def test_words_do_not_fail_where_settings_are_none_of_ours() -> None:
    assert projection_told({"kind": "LDA", "components": "many"}) == "LDA to many"
    assert features_told([["HOG", {}]], None) == "HOG"
