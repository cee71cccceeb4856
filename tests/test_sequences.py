"""Sequences that are sampled from an image set: which samples they hold, and which sets have none."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from image_sets import image_set
from refusals import refused

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


def dated(numbers, groups=None, test=None, boxes=1):
    """A set of images with `boxes` samples each; every other image is for test unless `test` says otherwise."""
    n = len(numbers)
    return image_set(
        np.repeat(np.arange(n // boxes), boxes),
        np.arange(n // boxes) % 2 == 1 if test is None else test,
        title="Dated",
        groups=np.arange(n, dtype=np.int32) if groups is None else np.array(groups, np.int32),
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
    first, again, second = (
        [part.sequences.members for part in drawn(images, seed=seed)] for seed in (1, 1, 2)
    )
    for part in (0, 1):
        assert (first[part] == again[part]).all()
        assert (first[part] != second[part]).any()
    more = drawn(images, seed=1, test=100)
    assert (more[0].sequences.members == first[0]).all(), "the splits are sampled independently"


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


def test_drawings_that_are_tested_on_the_same_have_the_same_test_sequences():
    images = dated(YEARS, groups=np.arange(80) // 4)
    given = {"length": 4, "train": 10, "test": 10}

    def test_sequences(settings):
        sequences, samples = drawn(images, **settings)[1]
        return samples[sequences.members].tolist(), sequences.starts.tolist(), sequences.grades.tolist()

    for changes, same in (
        ({"train": 3, "scale": AS_THEY_ARE}, True),
        ({"first": LOWEST}, False),
        ({"of": ONE_EACH}, False),
        ({"length": 5}, False),
        ({"test": 9}, False),
        ({"seed": 1}, False),
    ):
        assert (test_sequences(given) == test_sequences({**given, **changes})) is same, changes
        assert (Drawing(**given).tested_on == Drawing(**{**given, **changes}).tested_on) is same, changes


TRAIN, TEST = "the train split of Dated", "the test split of Dated"
REFUSED = [
    ({}, {"length": 41}, TRAIN, "40"),
    ({"groups": np.arange(80) // 2 % 8}, {"of": ONE_EACH, "length": 9}, TRAIN, "8"),
    ({"numbers": np.full(80, 7.0)}, {}, TRAIN, "40"),
    ({"numbers": np.full(80, np.nan)}, {}, TRAIN, "0"),
    ({"test": [False] * 80}, {}, TEST, "0"),
    ({}, {"of": GROUPS}, TRAIN, "none"),
    ({"numbers": np.arange(80) // 76}, {"length": 2, "train": 100}, TRAIN, "3 times"),
    ({}, {"length": 500, "train": 100_000}, "sequences", "100,000 times 500"),
    ({}, {"length": 1}, "length of Sequences", "1"),
    ({}, {"of": "some"}, "of of Sequences", "'some'"),
    ({}, {"of": GROUPS, "pairs": 3}, "pairs", "3"),
    ({"numbers": [1960.0] * 2 + [1950.0] * 198}, {"pairs": 1}, TRAIN, "1"),
]


@pytest.mark.parametrize(("columns", "settings", "subject", "came"), REFUSED)
def test_what_cannot_be_sampled_is_refused(monkeypatch, columns, settings, subject, came):
    monkeypatch.setattr("ranking.sequences.ROUNDS", 3)
    with refused(subject) as caught:
        drawn(dated(**({"numbers": YEARS} | columns)), **settings)
    assert came in str(caught.value.came)


def test_features_and_criterion_must_be_of_the_set():
    images = dated(YEARS)
    with refused("features", (79, 4)):
        draw_sequences(images, vectors(images)[1:], "year")
    with refused("criterion of Dated", "'price'"):
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
