"""Sequences drawn from an image set: whose they are, what they hold, and which sets have none."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from ranking.sequences import (
    ANY,
    AS_THEY_ARE,
    GROUPS,
    LOWEST,
    ONE_EACH,
    Drawing,
    dense_ranks,
    draw_sequences,
    unit_rows,
)
from ranking.types import ImageSet


def dated(numbers, groups=None, test=None, boxes=1):
    """A set of images with `boxes` samples each; every other image is for test unless `test` says otherwise."""
    n = len(numbers)
    m = n // boxes
    return ImageSet(
        key="key",
        title="Dated",
        folder=Path("nowhere"),
        classes=(),
        image_names=np.array([f"{row:03d}" for row in range(m)]),
        image_files=np.array([""] * m),
        image_sizes=np.full((m, 2), 9, np.int32),
        image_test=np.arange(m) % 2 == 1 if test is None else np.array(test),
        boxes=np.zeros((n, 4), np.int32),
        image_of=np.repeat(np.arange(m), boxes).astype(np.int32),
        groups=np.arange(n, dtype=np.int32) if groups is None else np.array(groups, np.int32),
        labels=np.zeros((n, 0), bool),
        ids=np.array([f"{row}#1" for row in range(n)]),
        criteria=("year",),
        numbers=np.array(numbers, np.float32)[:, None],
    )


def vectors(images):
    return np.random.default_rng(3).random((len(images), 4)).astype(np.float32)


def drawn(images, **settings):
    settings = {"train": 40, "test": 60, "length": 5} | settings
    return draw_sequences(images, vectors(images), "year", Drawing(**settings))


YEARS = np.random.default_rng(1).integers(1920, 1940, 80).astype(float)


@pytest.mark.parametrize("of", [ANY, ONE_EACH, GROUPS])
def test_what_every_sequence_keeps_to(of):
    numbers = YEARS.copy()
    numbers[::7] = np.nan
    images = dated(numbers, groups=np.arange(80) // 4 % 8, boxes=2)
    for part, is_test, count in zip(drawn(images, of=of), (False, True), (40, 60), strict=True):
        sequences, samples = part
        assert (images.test[samples] == is_test).all(), "no image of the test is in training"
        assert not np.isnan(images.numbers[samples]).any()
        assert len(sequences) == (count if of != GROUPS else 8)
        assert sequences.features == pytest.approx(unit_rows(vectors(images))[samples])
        for number in range(len(sequences)):
            rows = sequences.sequence(number)
            assert len(set(rows.tolist())) == len(rows)
            assert len(set(sequences.grades[rows].tolist())) > 1
            groups = images.groups[samples[rows]]
            if of == ANY:
                assert len(rows) == 5
            if of == ONE_EACH:
                assert len(set(groups.tolist())) == len(rows) == 5
            if of == GROUPS:
                whole = np.flatnonzero(images.groups[samples] == groups[0])
                assert sorted(rows.tolist()) == whole.tolist()


def test_grades_are_dense_ranks_that_mean_the_same_in_both_splits():
    images = dated([1990, 1920, 1957, 1957, np.nan, 1999, 1920, 1990])
    train, test = drawn(images, length=2)
    assert train.samples.tolist() == [0, 2, 6]
    assert train.sequences.grades.tolist() == [2, 1, 0]
    assert test.samples.tolist() == [1, 3, 5, 7]
    assert test.sequences.grades.tolist() == [0, 1, 3, 2]
    train, test = drawn(images, length=2, first=LOWEST)
    assert train.sequences.grades.tolist() == [1, 2, 3]
    assert test.sequences.grades.tolist() == [3, 2, 0, 1]
    assert dense_ranks([]).tolist() == []


def test_a_seed_draws_the_same_and_another_others():
    images = dated(YEARS)
    first, again, other = drawn(images, seed=1), drawn(images, seed=1), drawn(images, seed=2)
    for part in (0, 1):
        assert (first[part].sequences.members == again[part].sequences.members).all()
        assert (first[part].sequences.members != other[part].sequences.members).any()
    more = drawn(images, seed=1, test=100)
    assert (more[0].sequences.members == first[0].sequences.members).all(), "the splits are drawn apart"


def test_every_sample_can_be_drawn_and_none_is_preferred():
    images = dated(np.arange(40.0), groups=np.repeat(np.arange(4), 10))
    for of, length in ((ANY, 5), (ONE_EACH, 4)):
        train, _ = drawn(images, of=of, length=length, train=4000)
        counts = np.bincount(train.sequences.members, minlength=20)
        assert counts.sum() == 4000 * length
        expected = 4000 * length / 20
        assert counts == pytest.approx(np.full(20, expected), rel=0.15)


def test_sequences_without_order_are_drawn_again():
    years = np.full(80, 1950.0)
    years[:4] = 1960  # two of forty in each split
    train, _ = drawn(dated(years), length=2, train=200)
    for number in range(200):
        assert sorted(train.sequences.grades[train.sequences.sequence(number)].tolist()) == [0, 1]


def test_whole_groups_are_at_most_so_many_and_have_an_order():
    groups = np.repeat(np.arange(10), 8)
    years = YEARS.copy()
    years[groups == 3] = 1930
    images = dated(years, groups=groups)
    train, test = drawn(images, of=GROUPS, train=100, test=5)
    assert (len(train.sequences), len(test.sequences)) == (9, 5)
    assert 3 not in images.groups[train.samples[train.sequences.members]]


def test_features_may_stay_as_they_are():
    images = dated(YEARS)
    features = vectors(images)
    features[0] = 0
    [left, _], [scaled, _] = (
        draw_sequences(images, features, "year", Drawing(scale=scale))
        for scale in ("as they are", "length 1")
    )
    assert (left.sequences.features == features[left.samples]).all()
    lengths = np.linalg.norm(scaled.sequences.features, axis=1)
    assert lengths == pytest.approx(np.where(scaled.samples == 0, 0, 1))


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"train": 3, "scale": AS_THEY_ARE}, True),
        ({"first": LOWEST}, False),
        ({"of": ONE_EACH}, False),
        ({"length": 5}, False),
        ({"test": 9}, False),
        ({"seed": 1}, False),
    ],
)
def test_drawings_that_are_tested_on_the_same_have_the_same_test_sequences(changes, same):
    images = dated(YEARS, groups=np.arange(80) // 4)
    given = {"length": 4, "train": 10, "test": 10}
    one, other = (drawn(images, **settings)[1] for settings in (given, {**given, **changes}))
    equal = all(
        np.array_equal(left, right)
        for left, right in (
            (one.samples[one.sequences.members], other.samples[other.sequences.members]),
            (one.sequences.starts, other.sequences.starts),
            (one.sequences.grades, other.sequences.grades),
        )
    )
    assert equal is same
    assert (Drawing(**given).tested_on == Drawing(**{**given, **changes}).tested_on) is same


REFUSED = [
    ({}, {"length": 41}, "a sequence of 41 needs as many samples, the train split of Dated has 40 whose number is"),
    ({"groups": np.arange(80) // 2 % 8}, {"of": ONE_EACH, "length": 9}, "9 needs as many groups, .* has 8; shorten"),
    ({"numbers": np.full(80, 7.0)}, {}, "two different numbers of 'year' at least, it has 1 of them in 40 samples"),
    ({"numbers": np.full(80, np.nan)}, {}, "the train split of Dated must have two .* 0 of them in 0 samples; import"),
    ({"test": [False] * 80}, {}, "the test split of Dated must have two .* 0 of them in 0 samples"),
    ({}, {"of": GROUPS}, "no group of the train split of Dated has two different numbers"),
    ({"numbers": np.arange(80) // 76}, {"length": 2, "train": 100_000}, "100 times in a row the samples drawn of the"),
    ({}, {"length": 500, "train": 100_000}, "sequences times their length may be 10,000,000, got 100,000 times 500"),
    ({}, {"length": 1}, "Sequences: length must be between 2 and 500, got 1"),
    ({}, {"of": "some"}, "Sequences: of must be one of 'any samples', 'one of each group', 'whole groups', got 'some'"),
]  # fmt: skip


@pytest.mark.parametrize(("told", "settings", "message"), REFUSED)
def test_what_cannot_be_drawn_is_refused(monkeypatch, told, settings, message):
    monkeypatch.setattr("ranking.sequences.ROUNDS", 100 if "100 times" not in message else 1)
    message = message.replace("100 times in a row", "1 times in a row")
    with pytest.raises(ValueError, match=message):
        drawn(dated(**({"numbers": YEARS} | told)), **settings)


def test_features_and_criterion_must_be_of_the_set():
    images = dated(YEARS)
    with pytest.raises(
        ValueError, match=r"features must be \(80, d\), one row a sample, got shape \(79, 4\)"
    ):
        draw_sequences(images, vectors(images)[1:], "year")
    with pytest.raises(ValueError, match="no criterion 'price' in Dated; its criteria are year"):
        draw_sequences(images, vectors(images), "price")


def test_known_pairs_alone_make_chains_to_learn_from():
    images = dated(YEARS)
    (train, samples), tested = drawn(images, pairs=60)
    years = YEARS[samples]
    assert len(train) == 40
    for number in range(len(train)):
        rows = train.sequence(number)
        assert (np.diff(years[rows]) < 0).all(), "every chain is in the true order"
        assert (np.diff(train.grades[rows]) < 0).all()
    steps = {
        tuple(step) for rows in map(train.sequence, range(len(train))) for step in pairwise(rows.tolist())
    }
    assert len(steps) <= 60, "each step of a chain is one of the pairs"
    whole = drawn(images)[1]
    np.testing.assert_array_equal(tested.sequences.members, whole.sequences.members)
    assert Drawing(pairs=60).tested_on == Drawing().tested_on


def test_pairs_without_an_order_are_refused():
    numbers = np.full(200, 1950.0)
    numbers[:2] = 1960.0
    with pytest.raises(ValueError, match="none of 1 pairs of the train split of Dated has an order"):
        drawn(dated(numbers), pairs=1)
