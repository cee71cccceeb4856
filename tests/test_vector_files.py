"""Vectors that a person brought, on disk: named by what is in them, found again, lent, removed."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from refusals import refused

from ranking.datasets import ready_made_folder
from ranking.features import cached_features, load_features
from ranking.home import HomeError
from ranking.jobs import take_lock
from ranking.room_quotas import bytes_of
from ranking.rooms import Rooms
from ranking.run_settings import FeaturesSettings
from ranking.store import Store
from ranking.vector_files import (
    KeptVectors,
    is_vectors_name,
    keep_vectors,
    kept_vectors,
    remove_vectors,
    vectors_file,
    vectors_name,
)

KEY = "0123456789abcdef"


def drawn(count=6, columns=4, seed=0):
    rows = np.random.default_rng(seed).normal(size=(count, columns))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def kept(folder, matrix, title="mine", when=1.0, key=KEY):
    draft = folder / "draft.npy"
    np.save(draft, matrix)
    told = KeptVectors(vectors_name(matrix), title, 9, "by order", when)
    keep_vectors(folder, key, draft, told)
    assert not draft.exists()
    return told


def looked(store, key, matrix, called="mine.npy"):
    """A look at features that has ended well."""
    run = store.create_run("features", FeaturesSettings(key, brought=called).to_json())
    run.brought_file.write_bytes(b"x" * 1000)
    np.save(run.draft_vectors, matrix)
    result = {"name": vectors_name(matrix), "columns": 9, "matched": "by order"}
    store.end_run(run.id, "finished", result=result)
    return store.run(run.id)


@pytest.fixture
def filled(tmp_path):
    """A store with the figures, and vectors for them."""
    store = Store(tmp_path / "home")
    key = store.adopt(ready_made_folder(), "ready-made")
    return store, key, drawn(len(store.image_set(key)))


# ------------------------------------------------------------------------------------------------- files


def test_equal_matrices_have_equal_names():
    one = drawn()
    assert vectors_name(one) == vectors_name(np.asfortranarray(one)) == vectors_name(one.copy())
    assert is_vectors_name(vectors_name(one))
    assert vectors_name(one) != vectors_name(one[::-1])
    assert vectors_name(drawn(6, 4).reshape(6, 4)) != vectors_name(drawn(6, 4).reshape(4, 6))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "own-",
        "own-../../x-3",
        f"own-{'0' * 32}-0",
        f"own-{'0' * 32}-65537",
        f"own-{'0' * 32}-5\n",
        "csv-" + "0" * 32,
    ],
)
def test_no_other_text_becomes_part_of_a_path(text, tmp_path):
    assert not is_vectors_name(text)
    with pytest.raises(ValueError, match="vectors"):
        remove_vectors(tmp_path, KEY, text)
    with pytest.raises(ValueError, match="expected the name of vectors"):
        keep_vectors(tmp_path, KEY, tmp_path / "draft", KeptVectors(text, "", 1, "", 0.0))


def test_they_are_listed_with_what_is_told_of_them_those_kept_last_first(tmp_path):
    first, second = kept(tmp_path, drawn(), when=1.0), kept(tmp_path, drawn(seed=1), "later", when=2.0)
    assert kept_vectors(tmp_path, KEY) == [second, first]
    assert kept_vectors(tmp_path, "another-set") == []
    assert (np.load(vectors_file(tmp_path, KEY, first.name)) == drawn()).all()
    again = kept(tmp_path, drawn(), "another title", when=3.0)
    assert [told.title for told in kept_vectors(tmp_path, KEY)] == ["another title", "later"]
    remove_vectors(tmp_path, KEY, again.name)
    remove_vectors(tmp_path, KEY, again.name)
    assert kept_vectors(tmp_path, KEY) == [second]
    assert len(os.listdir(tmp_path / KEY)) == 2


@pytest.mark.parametrize("text", ["", "[]", '{"title": 3}', "[" * 10_000])
def test_where_what_is_told_was_damaged_the_vectors_are_still_listed(tmp_path, text):
    told = kept(tmp_path, drawn())
    vectors_file(tmp_path, KEY, told.name).with_suffix(".json").write_text(text)
    [found] = kept_vectors(tmp_path, KEY)
    assert (found.name, found.size) == (told.name, 4)
    assert found.title.startswith("own ")


# ------------------------------------------------------------------------------------------------- the store


def test_what_a_look_left_is_kept_once_and_nothing_else_stays(filled):
    store, key, matrix = filled
    run = looked(store, key, matrix)
    name = store.keep_vectors(run.id, "résumé")
    assert store.keep_vectors(run.id) == name == vectors_name(matrix)
    [told] = store.vectors_of(key)
    assert (told.title, told.columns, told.matched, told.lent) == ("résumé", 9, "by order", False)
    assert not run.folder.exists()
    assert {file.name for file in (store.home / "vectors" / key).iterdir()} == {f"{name}.npy", f"{name}.json"}
    with refused(f"decision about look at features {run.id}", "kept"):
        store.discard(run.id)


def test_what_is_discarded_or_swept_leaves_nothing(filled):
    store, key, matrix = filled
    run = looked(store, key, matrix)
    store.sweep()
    assert run.draft_vectors.exists(), "the person has not decided yet"
    store.discard(run.id)
    store.sweep()
    assert not run.folder.exists()
    assert store.vectors_of(key) == []
    with refused(f"decision about look at features {run.id}", "discarded"):
        store.keep_vectors(run.id)


def test_only_a_look_at_features_is_kept_as_features(filled):
    store, key, matrix = filled
    run = looked(store, key, matrix)
    with refused(f"run {run.id}", "a finished look at features"):
        store.keep(run.id)
    training = store.create_run("train", {"set": key})
    with refused(f"run {training.id}", "a queued training"):
        store.keep_vectors(training.id)
    run.draft_vectors.unlink()
    with refused(f"look at features {run.id}"):
        store.keep_vectors(run.id)


def test_features_are_read_from_them_and_computed_of_no_picture(filled):
    store, key, matrix = filled
    name, images = store.keep_vectors(looked(store, key, matrix).id), store.image_set(key)
    parts = [("Own vectors", {"vectors": name})]
    assert load_features(images, parts, store.features) == pytest.approx(matrix, abs=1e-6)
    store.drop_features()
    assert cached_features(images, parts, store.features) is not None, "they are no part of the cache"
    both = load_features(images, [("Colour", {"bins": 2}), *parts], store.features)
    assert both.shape == (len(images), 8 + 4)
    assert (both[:, 8:] == pytest.approx(matrix / np.sqrt(2), abs=1e-6)) or not both[:, :8].any()
    store.delete_vectors(key, name)
    assert cached_features(images, parts, store.features) is None
    with pytest.raises(
        ValueError, match=r"no vectors of own [0-9a-f]{8} here: .* equal vectors have the same name"
    ):
        load_features(images, parts, store.features)


def test_vectors_of_a_training_that_goes_on_are_not_deleted(filled):
    store, key, matrix = filled
    name, locks = store.keep_vectors(looked(store, key, matrix).id), []
    features = [["Own vectors", {"vectors": name}]]
    run = store.create_run(
        "train", {"set": key, "features": features}, lambda folder: locks.append(take_lock(folder))
    )
    with refused("vectors"):
        store.delete_vectors(key, name)
    os.close(locks[0])
    store.end_run(run.id, "failed", "x")
    store.delete_vectors(key, name)
    assert store.vectors_of(key) == []


def test_they_go_with_their_image_set(filled):
    store, key, matrix = filled
    store.keep_vectors(looked(store, key, matrix).id)
    store.delete_set(key)
    store.empty_deleted_sets()
    assert not (store.home / "vectors" / key).exists()


# ------------------------------------------------------------------------------------------------- rooms


@pytest.fixture
def class_room(tmp_path, monkeypatch):
    """The stores of a class room with vectors and of a visitor's room, the key of the set, and the vectors' name."""
    monkeypatch.setenv("RANKING_CLASS_ROOM", "class-room")
    rooms = Rooms(tmp_path / "server")
    lender, visitor = Store(rooms.find("class-room")), Store(rooms.make("visitor-1"))
    key = lender.adopt(ready_made_folder(), "ready-made")
    matrix = drawn(len(lender.image_set(key)))
    return lender, visitor, key, lender.keep_vectors(looked(lender, key, matrix).id)


def test_what_a_class_room_has_is_lent_to_be_read(class_room):
    lender, visitor, key, name = class_room
    [told] = visitor.vectors_of(key)
    assert (told.name, told.lent) == (name, True)
    images = visitor.image_set(key)
    before = bytes_of(visitor.home)
    found = load_features(images, [("Own vectors", {"vectors": name})], visitor.features)
    assert (found == load_features(images, [("Own vectors", {"vectors": name})], lender.features)).all()
    assert bytes_of(visitor.home) == before, "what is lent takes nothing of a room"
    visitor.delete_vectors(key, name)
    assert lender.vectors_of(key), "a visitor deletes nothing of the class room"
    with pytest.raises(HomeError, match="can only be looked at"):
        visitor._lenders[0].delete_vectors(key, name)


def test_a_room_that_is_full_keeps_what_it_had_space_for_and_counts_it_once(class_room, monkeypatch):
    _, visitor, key, _ = class_room
    matrix = drawn(len(visitor.image_set(key)), 64, seed=3)
    run, before = looked(visitor, key, matrix), bytes_of(visitor.home)
    monkeypatch.setenv("RANKING_ROOM_DISK", "1000")
    name = visitor.keep_vectors(run.id)
    assert name in [told.name for told in visitor.vectors_of(key)]
    assert visitor.features, "which links them into the cache"
    assert matrix.nbytes <= bytes_of(visitor.home) < before + 1000, "two names of one file are one file"


def test_what_is_told_of_them_is_json(filled):
    store, key, matrix = filled
    name = store.keep_vectors(looked(store, key, matrix).id, "mine")
    told = json.loads((store.home / "vectors" / key / f"{name}.json").read_text())
    assert set(told) == {"title", "columns", "matched", "kept"}
