"""Products of windows in a mapped file, which joblib's workers share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bag_problems import bag_set
from joblib import parallel_config

from ranking import BagSet, make_method
from ranking.solvers import mapped_product
from ranking.solvers.block import exact_product


def test_training_on_a_mapped_file_is_that_on_its_array(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where workers compute the products, which open the file themselves; an array in memory is not sent."""
    bags = bag_set(3, n=90, most=20, dtype=np.float16)
    np.save(tmp_path / "windows.npy", bags.windows)
    windows = np.load(tmp_path / "windows.npy", mmap_mode="r")
    mapped = BagSet(windows, bags.starts, bags.boxes, bags.relevance)
    assert np.shares_memory(mapped.windows, windows)
    expected = make_method("Latent AP-SVM").fit([bags]).weights
    parts, of_rows = list[slice](), mapped_product._of_rows

    def counted(
        path: str, offset: int, dtype: np.dtype, shape: tuple[int, int], rows: slice, *rest: np.ndarray
    ):
        parts.append(rows)
        return of_rows(path, offset, dtype, shape, rows, *rest)

    monkeypatch.setattr(mapped_product, "_of_rows", counted)
    for given, spread in ((mapped, False), (mapped, True), (bags, True)):
        parts.clear()
        with parallel_config(backend="threading", n_jobs=2 if spread else 1):
            method = make_method("Latent AP-SVM").fit([given])
        np.testing.assert_array_equal(method.weights, expected)
        assert bool(parts) == (spread and given is mapped)
    assert len(bags.windows) > 512


def test_a_part_of_a_mapped_file_is_multiplied_here(tmp_path: Path) -> None:
    """Workers map whole files, so that they would read other rows."""
    rng = np.random.default_rng(0)
    whole, weights = rng.standard_normal((700, 7)).astype(np.float32), rng.standard_normal(7)
    np.save(tmp_path / "rows.npy", whole)
    np.save(tmp_path / "columns.npy", np.asfortranarray(whole))
    rows, columns = (np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("rows", "columns"))
    for part in (rows, rows[3:], rows[::-1], columns):
        given = np.asarray(part)
        with parallel_config(backend="threading", n_jobs=2):
            product = mapped_product.mapped_product(given, weights)
        np.testing.assert_array_equal(product, exact_product(given.copy(order="C"), weights))
