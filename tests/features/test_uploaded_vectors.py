"""Vectors that a person uploaded, on disk: named by their content, listed, lent, removed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from refusals import refused
from working import Held

from ranking.features import cached_features, load_features
from ranking.features.uploaded_vectors import is_vectors_name, short_name, vectors_name
from ranking.storage import workspaces
from ranking.storage.examples import folder_of
from ranking.storage.home import SHARED
from ranking.storage.space import bytes_of
from ranking.storage.store import Store
from ranking.storage.uploads import KeptVectors, add_vectors, kept_vectors, remove_vectors, vectors_in

KEY, NOUGHTS = "0123456789abcdef", "0" * 32


def random_vectors(count=6, columns=4, seed=0):
    rows = np.random.default_rng(seed).normal(size=(count, columns))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def kept(folder, matrix, title="mine", when=1.0, key=KEY):
    draft = folder / "draft.npy"
    np.save(draft, matrix)
    record = KeptVectors(vectors_name(matrix), title, 9, "by order", when)
    add_vectors(folder, key, draft, record)
    assert not draft.exists()
    return record


def added(store, key, matrix, title="mine"):
    """The name of vectors that an import has added to a store."""
    draft, record = store.home / "draft.npy", KeptVectors(vectors_name(matrix), title, 9, "by order", 1.0)
    np.save(draft, matrix)
    store.features.add_vectors(key, draft, record)
    assert not draft.exists()
    return record.name


@pytest.fixture
def filled(tmp_path):
    """A store with the figures, and vectors for them."""
    store = Store(tmp_path / "home")
    key = store.sets.add(folder_of("Action figures"), "ready-made")
    return store, key, random_vectors(len(store.sets.get(key)))


def test_equal_matrices_have_equal_names():
    one = random_vectors()
    assert vectors_name(one) == vectors_name(np.asfortranarray(one)) == vectors_name(one.copy())
    assert is_vectors_name(vectors_name(one))
    assert len({vectors_name(one), vectors_name(one[::-1]), vectors_name(one.reshape(4, 6))}) == 3


def test_no_other_text_becomes_part_of_a_path(tmp_path):
    for text in ("", "own-../../x-3", f"own-{NOUGHTS}-0", f"own-{NOUGHTS}-65537", f"own-{NOUGHTS}-5\n"):
        assert not is_vectors_name(text)
        for act, *given in (
            (remove_vectors, text),
            (add_vectors, Path(), KeptVectors(text, "", 1, "", 0.0)),
        ):
            with refused("name", repr(text)):
                act(tmp_path, KEY, *given)


def test_uploaded_vectors_are_listed_with_their_titles_newest_first(tmp_path):
    first, second = (
        kept(tmp_path, random_vectors(), when=1.0),
        kept(tmp_path, random_vectors(seed=1), "later", when=2.0),
    )
    assert kept_vectors(tmp_path, KEY) == [second, first]
    assert kept_vectors(tmp_path, "another-set") == []
    assert (np.load(vectors_in(tmp_path, KEY).path(first.name)) == random_vectors()).all()
    again = kept(tmp_path, random_vectors(), "another title", when=3.0)
    assert [vectors.title for vectors in kept_vectors(tmp_path, KEY)] == ["another title", "later"]
    remove_vectors(tmp_path, KEY, again.name)
    remove_vectors(tmp_path, KEY, again.name)
    assert kept_vectors(tmp_path, KEY) == [second]
    assert len(os.listdir(tmp_path / KEY)) == 2


def test_added_vectors_are_a_file_and_its_record(filled):
    store, key, matrix = filled
    name = added(store, key, matrix, "résumé")
    assert added(store, key, matrix, "résumé") == name == vectors_name(matrix)
    [record] = store.features.vectors_of(key)
    assert (record.title, record.columns, record.matched, record.shared) == ("résumé", 9, "by order", False)
    written = json.loads((store.home / "vectors" / key / f"{name}.json").read_text())
    assert set(written) == {"title", "columns", "matched", "kept"}
    assert {file.name for file in (store.home / "vectors" / key).iterdir()} == {f"{name}.npy", f"{name}.json"}
    with refused("image set", "'gone'"):
        store.features.add_vectors("gone", store.home / "draft.npy", record)


def test_uploaded_vectors_are_read_and_never_computed_from_images(filled):
    store, key, matrix = filled
    name, images = added(store, key, matrix), store.sets.get(key)
    parts = [("Own vectors", {"vectors": name, "scaling": "length 1"})]
    assert load_features(images, parts, store.features.cache) == pytest.approx(matrix, abs=1e-6)
    store.features.drop()
    assert cached_features(images, parts, store.features.cache) is not None, "they are no part of the cache"
    store.features.delete_vectors(key, name)
    assert cached_features(images, parts, store.features.cache) is None
    with refused(f"vectors of {short_name(name)}", "none"):
        load_features(images, parts, store.features.cache)


def test_vectors_of_a_running_training_run_are_not_deleted(filled):
    store, key, matrix = filled
    name, held = added(store, key, matrix), Held()
    run = held(store, "train", {"set": key, "features": [["Own vectors", {"vectors": name}]]})
    with refused("vectors"):
        store.features.delete_vectors(key, name)
    assert store.features.vectors_of(key)
    held.let_die()
    store.runs.end(run.id, "failed", "x")
    store.features.delete_vectors(key, name)
    assert store.features.vectors_of(key) == []
    added(store, key, matrix)
    store.runs.delete(run.id)
    store.runs.empty_trash()
    store.sets.delete(key)
    store.sets.empty_trash()
    assert not (store.home / "vectors" / key).exists(), "they go with their image set"


@pytest.fixture
def shared_vectors(tmp_path):
    """The stores of the shared data folder with vectors and of a visitor, and the keys of set and vectors."""
    server = tmp_path / "server"
    shared_home = Store(server / SHARED)
    visitor = Store(server / "workspaces" / workspaces.create(server))
    key = shared_home.sets.add(folder_of("Action figures"), "ready-made")
    matrix = random_vectors(len(shared_home.sets.get(key)))
    return shared_home, visitor, key, added(shared_home, key, matrix)


def test_vectors_of_the_shared_data_folder_are_readable(shared_vectors):
    shared_home, visitor, key, name = shared_vectors
    [record] = visitor.features.vectors_of(key)
    assert (record.name, record.shared) == (name, True)
    images = visitor.sets.get(key)
    before = bytes_of(visitor.home)
    matrix = load_features(images, [("Own vectors", {"vectors": name})], visitor.features.cache)
    assert (
        matrix == load_features(images, [("Own vectors", {"vectors": name})], shared_home.features.cache)
    ).all()
    assert bytes_of(visitor.home) == before, "shared vectors take no space of a workspace"
    visitor.features.delete_vectors(key, name)
    assert shared_home.features.vectors_of(key), "a visitor deletes nothing that is shared"
