"""An image of one's own: a worker describes it as imports are described, and nothing of it stays."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image
from working import wait

from ranking.features import load_features
from ranking.storage.run import LOCK, RECORD
from ranking.storage.store import Store
from ranking.storage.uploaded_image import described

PARTS = [("Colour", {})]


def jpeg(size: tuple[int, int], orientation: int = 1) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    picture = Image.linear_gradient("L").resize(size).convert("RGB")
    stream = io.BytesIO()
    picture.save(stream, "JPEG", exif=exif)
    return stream.getvalue()


def kept(store: Store) -> set[str]:
    """The names of the files in the folders of runs."""
    return {file.name for file in (store.home / "runs").rglob("*") if file.is_file()}


def test_an_uploaded_image_is_described_upright_and_not_kept(tmp_path):
    store = Store(tmp_path / "home")
    with described(store, jpeg((60, 40), orientation=6), PARTS) as (images, features):
        assert images.image_sizes.tolist() == [[40, 60]], "a telephone held upright stores its picture lying"
        np.testing.assert_array_equal(features, load_features(images, PARTS, tmp_path))
    assert kept(store) <= {RECORD, LOCK}


def test_invalid_uploaded_images_are_refused(tmp_path, monkeypatch):
    store = Store(tmp_path / "home")
    for data, part in (
        (b"%PDF-1.4", "this file: expected .*JPEG, PNG, WEBP"),
        (jpeg((60, 40)), "RANKING_IMPORT_PIXELS"),
    ):
        with pytest.raises(ValueError, match=part), described(store, data, PARTS):
            pass
        monkeypatch.setenv("RANKING_IMPORT_PIXELS", "100")
    wait(lambda: kept(store) <= {RECORD, LOCK})


def test_only_the_requested_model_is_copied_beside_an_uploaded_image(tmp_path):
    """Where the folder is of another disk it is a copy, and all of them may be gigabytes."""
    store, folder = Store(tmp_path / "home"), tmp_path / "here"
    folder.mkdir()
    names = [f"onnx-{letter * 32}" for letter in "ab"]
    for name in names:
        (store.home / "models" / f"{name}.onnx").write_bytes(b"model")
    (store.home / "vectors" / "key").mkdir()
    (store.home / "vectors" / "key" / "own-1.npy").write_bytes(b"vectors")
    for name in (names[0], "onnx-" + "c" * 32, "../models"):
        store.features.place_model(name, folder)
    assert [file.name for file in folder.iterdir()] == [f"{names[0]}.onnx"]
