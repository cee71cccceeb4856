"""Files from strangers with some bytes changed: read or refused in words, and nothing else."""

from __future__ import annotations

import contextlib
import io

import numpy as np
import pyarrow as pa
import pytest
from numbered_set import vectors_of
from pyarrow import parquet
from test_hostile_vectors import images, look, npy, npz
from tiny_models import mean_colour

from ranking.datasets.table_file import parquet_table
from ranking.intake import Limits, Unusable
from ranking.networks.model_file import read_model
from ranking.vectors.network_looking import proposed

__all__ = ["images", "look"]  # fixtures


def as_parquet(columns) -> bytes:
    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream)
    return stream.getvalue()


def mutated(data: bytes, generator: np.random.Generator) -> bytes:
    """Some bytes changed, cut, doubled or swapped; more often where headers lie."""
    changed = bytearray(data)
    for _ in range(int(generator.integers(1, 6))):
        most = len(changed) if generator.random() < 0.5 else min(200, len(changed))
        at = int(generator.integers(0, max(1, most)))
        if generator.random() < 0.5:
            at = len(changed) - 1 - at
        kind = generator.integers(0, 4)
        if kind == 0:
            changed[at : at + 1] = bytes([int(generator.integers(0, 256))])
        elif kind == 1:
            changed[at : at + int(generator.integers(1, 40))] = b""
        elif kind == 2:
            changed[at:at] = changed[at : at + int(generator.integers(1, 40))]
        else:
            changed[at : at + 4] = generator.bytes(4)
        changed = changed or bytearray(b"\0")
    return bytes(changed)


@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_mutated_arrays_are_read_or_refused_in_words(look, images, kind):
    rows = vectors_of(images)
    data = npy(rows) if kind == "npy" else npz(x=rows.astype(np.float32), id=images.ids)
    generator = np.random.default_rng(7)
    outcomes = [look(mutated(data, generator)) for _ in range(400)]
    assert any(outcomes)
    assert not all(outcomes), "some changes leave numbers that are as good as others"


def test_mutated_tables_are_read_or_refused_in_words(look, images):
    """A few: each starts a program. Arrow aborts on some; `benchmarks` or longer runs try more."""
    data = as_parquet({"id": images.ids.tolist(), "x": list(vectors_of(images))})
    assert look(data) == ""
    generator = np.random.default_rng(3)
    outcomes = [look(mutated(data, generator)) for _ in range(4)]
    assert any(outcomes)


def test_mutated_tables_of_images():
    good = as_parquet({"image": ["a.jpg", "b.jpg"] * 20, "year": list(range(40))})
    random, read = np.random.default_rng(0), 0
    for _ in range(4):
        data = bytearray(good)
        for place in random.integers(len(data), size=random.integers(1, 4)):
            data[place] = random.integers(256)
        with contextlib.suppress(Unusable):
            read += len(parquet_table(bytes(data), Limits()).first(100)) == 40
    assert read < 4


def test_mutated_models_are_read_or_refused():
    data, generator = mean_colour(told={"mean": "0.5"}), np.random.default_rng(0)
    outcomes = set()
    for _ in range(3000):
        changed = bytearray(data)
        for _ in range(int(generator.integers(1, 4))):
            changed[int(generator.integers(0, len(changed)))] = int(generator.integers(0, 256))
        cut = int(generator.integers(0, 2)) * int(generator.integers(0, len(changed)))
        try:
            proposed(read_model(bytes(changed[cut:])))
            outcomes.add("read")
        except ValueError:
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}
