"""PCA and whitening against their definition, and what they do with samples that they must not learn from."""

from __future__ import annotations

import io
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from archives import npz
from reference import pca_of
from refusals import refused

from ranking.core import Features
from ranking.features import projection as module
from ranking.features.projection import (
    PCA,
    Projection,
    fit_projection,
    make_projection,
    projected,
    projection_words,
    whole_projection,
)


def samples(n: int, d: int, rank: int | None = None, seed: int = 0) -> Features:
    """Rows of length 1 that vary in `rank` directions, along each less than along the one before."""
    generator = np.random.default_rng(seed)
    rank = d if rank is None else rank
    rows = generator.standard_normal((n, rank)) * 0.7 ** np.arange(rank)
    mixed = 1.0 + rows @ np.linalg.qr(generator.standard_normal((d, rank)))[0].T
    return (mixed / np.linalg.norm(mixed, axis=1).max()).astype(np.float32)


def same_but_for_signs(first: Features, second: Features, atol: float) -> None:
    assert first.shape == second.shape
    signs = np.sign((first * second).sum(axis=0))
    np.testing.assert_allclose(first * signs, second, rtol=0, atol=atol)


def test_a_projection_follows_its_definition() -> None:
    for n, d, components in ((30, 6, 3), (30, 6, 6), (5, 9, 2), (5, 9, 50), (2, 3, 8)):
        for whiten, seed in itertools.product((False, True), range(3)):
            rows = samples(n + 4, d, seed=seed)
            fitted = PCA(components, whiten).fitted(rows, np.arange(n))
            expected = pca_of(rows[:n].tolist(), rows.tolist(), components, whiten)
            assert fitted.kept == min(components, d, n - 1), (n, d, components, whiten, seed)
            same_but_for_signs(fitted(rows), expected, atol=2e-6)
            largest = np.abs(fitted.directions).argmax(axis=1)
            assert (fitted.directions[np.arange(fitted.kept), largest] > 0).all()
            given = rows[:n].astype(np.float64)
            along, whole = (np.var(one, axis=0).sum() for one in (given @ fitted.directions.T, given))
            assert fitted.share == pytest.approx(along / whole)


def test_a_projection_is_fitted_on_the_given_rows_only() -> None:
    """Other rows change no bit, a given row does."""
    for n, d in ((50, 8), (8, 50)):
        rows, learn = samples(2 * n, d), np.arange(2 * n) % 2 == 0
        fitted = PCA(4).fitted(rows, learn)
        for remaining in (samples(2 * n, d, seed=9), np.full((2 * n, d), np.nan, np.float32)):
            again = PCA(4).fitted(np.where(learn[:, None], rows, remaining), learn)
            for name in ("mean", "directions", "variances", "total"):
                np.testing.assert_array_equal(getattr(again, name), getattr(fitted, name))
        by_number = PCA(4).fitted(rows, np.flatnonzero(learn))
        np.testing.assert_array_equal(by_number.directions, fitted.directions)
        changed = rows.copy()
        changed[0, 0] += 0.1
        assert (PCA(4).fitted(changed, learn).directions != fitted.directions).any()
        assert (PCA(4).fitted(rows).directions != fitted.directions).any()


def test_repeated_variances_are_all_kept() -> None:
    """As those of one-hot rows are."""
    for n, d in ((8, 8), (15, 16), (18, 15), (30, 46), (24, 8)):
        features = np.eye(d, dtype=np.float32)[np.arange(n) % d]
        centred = features - features.mean(axis=0, dtype=np.float64)
        covariance = centred.T @ centred / n
        variances = np.linalg.svd(centred, compute_uv=False) ** 2 / n
        for components in (1, 3, 10, 64):
            fitted = PCA(components).fitted(features)
            assert fitted.variances == pytest.approx(variances[variances > 1e-9][:components], abs=1e-12)
            scaled = fitted.variances[:, None] * fitted.directions
            assert fitted.directions @ covariance == pytest.approx(scaled, abs=1e-12), (n, d)


def test_where_samples_vary_in_fewer_directions_all_of_these_are_kept() -> None:
    """Rounding to single precision is no direction: rows of rank 3 have three, in any number of columns."""
    for n, whiten in itertools.product((6, 300), (False, True)):
        rows = samples(n, 40, rank=3)
        fitted = PCA(20, whiten).fitted(rows)
        assert fitted.kept == 3
        assert fitted.share == pytest.approx(1.0, abs=1e-9)
        assert fitted(rows).shape == (n, 3)
        assert np.isfinite(fitted(rows)).all()


def test_samples_that_do_not_differ_have_no_directions() -> None:
    for rows in (np.ones((5, 4), np.float32), samples(1, 4), np.zeros((3, 2), np.float32)):
        with refused("PCA"):
            PCA().fitted(rows)
    with refused("PCA", "none"):
        PCA().fitted(samples(5, 4), np.zeros(5, bool))


def test_blocks_change_nothing_but_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = samples(70, 9)
    whole = PCA(5).fitted(rows)
    # two rows at a time
    monkeypatch.setattr(module, "BLOCK", 20)
    parts = PCA(5).fitted(rows)
    np.testing.assert_allclose(parts.directions, whole.directions, atol=1e-12)
    np.testing.assert_allclose(parts(rows), whole(rows), atol=1e-6)


def test_weights_go_back_to_the_features_before() -> None:
    rows = samples(40, 9)
    for whiten in (False, True):
        fitted = PCA(4, whiten).fitted(rows)
        weights = np.array([1.0, -2.0, 0.5, 3.0])
        away = fitted(rows) @ weights - rows @ fitted.before(weights)
        assert fitted.before(weights).shape == (9,)
        np.testing.assert_allclose(away, away[0], atol=1e-5)
    with refused("features", "shape (3, 5)"):
        fitted(samples(3, 5))


# ----------------------------------------------------------------------------------------------- Files


def test_a_saved_projection_is_read_unchanged(tmp_path: Path) -> None:
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


def written(**changes: Any) -> bytes:
    return npz(**{name: value for name, value in {**SOUND, **changes}.items() if value is not None})


def test_only_sound_projections_are_read() -> None:
    assert Projection.load(io.BytesIO(written())).share == 0.75
    for content in (
        written()[:-30],
        written(mean=None),
        written(mean=np.array([{}])),
        written(directions=np.eye(3)),
        written(mean=np.zeros(2)),
        written(whiten=np.array(1)),
        written(total=np.ones(1)),
        written(mean=np.array([0, np.nan, 0])),
        written(directions=np.eye(3, dtype=np.float32)[:2]),
        written(directions=2 * np.eye(3)[:2]),
        written(variances=np.array([2.0, 0.0])),
        written(variances=np.array([2.0, 3.0])),
        written(variances=np.empty(0), directions=np.empty((0, 3))),
    ):
        with refused("saved projection"):
            Projection.load(io.BytesIO(content))


# ----------------------------------------------------------------------------------------- In settings


def test_settings_contain_at_most_one_projection() -> None:
    rows = samples(9, 4)
    assert make_projection(None) is whole_projection(None) is fit_projection(None, rows) is None
    assert projected(None, rows) is rows
    assert make_projection(json.loads('{"kind": "PCA", "components": 7, "whiten": true}')) == PCA(7, True)
    steps: list[tuple[int, int]] = []
    fitted = fit_projection(
        {"kind": "PCA"}, rows, on_step=lambda what, done, total: steps.append((done, total))
    )
    assert steps == [(0, 1)]
    assert projected(fitted, rows).shape == (9, 4)


def test_settings_of_no_projection_are_refused() -> None:
    for settings, subject, came in (
        ({"kind": "LDA"}, "kind of a projection", "'LDA'"),
        ({"kind": "PCA", "component": 3}, "settings of PCA", "'component'"),
        ({"kind": "PCA", "components": 0}, "components of PCA", 0),
    ):
        with refused(subject, came):
            make_projection(settings)


def test_settings_of_an_unknown_projection_are_still_shown() -> None:
    assert projection_words({"kind": "LDA", "components": "many"}) == "LDA to many"
