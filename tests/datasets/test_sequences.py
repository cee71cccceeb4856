"""Sequences that are sampled from an image set: which samples they hold, and which sets have none."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from image_sets import image_set
from refusals import refused

from ranking.datasets.sequences import (
    ANY,
    GROUPS,
    LENGTH_1,
    LOWEST,
    ONE_EACH,
    Drawing,
    draw_sequences,
    unit_rows,
    usual_drawing,
)


def dated(numbers, groups=None, test=None, boxes=1):
    """A set of images with `boxes` samples each; every other image is for testing unless `test` is given."""
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


def sampled(images, **settings):
    settings = {"train": 40, "test": 60, "length": 5} | settings
    return draw_sequences(images, vectors(images), "year", Drawing(**settings))


YEARS = np.random.default_rng(1).integers(1920, 1940, 80).astype(float)


@pytest.mark.parametrize("of", [ANY, ONE_EACH, GROUPS])
def test_sequences_stay_in_their_split_and_have_known_values(of):
    numbers = YEARS.copy()
    numbers[::7] = np.nan
    images = dated(numbers, groups=np.arange(80) // 4 % 8, boxes=2)
    for part, is_test, count in zip(sampled(images, of=of), (False, True), (40, 60), strict=True):
        sequences, samples = part
        assert (images.test[samples] == is_test).all(), "no image of the test is in training"
        assert not np.isnan(images.numbers[samples]).any()
        assert len(sequences) == (count if of != GROUPS else 8)
        assert (sequences.features == vectors(images)[samples]).all()
        for number in range(len(sequences)):
            rows = sequences.sequence(number)
            assert len(set(rows.tolist())) == len(rows)
            assert len(set(sequences.grades[rows].tolist())) > 1
            groups = images.groups[samples[rows]]
            if of == GROUPS:
                whole = np.flatnonzero(images.groups[samples] == groups[0])
                assert sorted(rows.tolist()) == whole.tolist()
            else:
                assert len(rows) == 5
                assert of == ANY or len(set(groups.tolist())) == 5


def test_grades_are_dense_ranks_that_mean_the_same_in_both_splits():
    images = dated([1990, 1920, 1957, 1957, np.nan, 1999, 1920, 1990])
    for settings, of_train, of_test in (
        ({}, [2, 1, 0], [0, 1, 3, 2]),
        ({"first": LOWEST}, [1, 2, 3], [3, 2, 0, 1]),
    ):
        train, test = sampled(images, length=2, **settings)
        assert (train.samples.tolist(), test.samples.tolist()) == ([0, 2, 6], [1, 3, 5, 7])
        assert (train.sequences.grades.tolist(), test.sequences.grades.tolist()) == (of_train, of_test)


def test_the_splits_are_sampled_independently_by_the_seed():
    settings = ({"seed": 1}, {"seed": 1, "test": 100}, {"seed": 2})
    first, again, second = (sampled(dated(YEARS), **given)[0].sequences.members for given in settings)
    assert (first == again).all()
    assert (first != second).any()


def test_every_sample_is_equally_likely():
    images = dated(np.arange(40.0), groups=np.repeat(np.arange(4), 10))
    for of, length in ((ANY, 5), (ONE_EACH, 4)):
        train, _ = sampled(images, of=of, length=length, train=4000)
        counts = np.bincount(train.sequences.members, minlength=20)
        assert counts == pytest.approx(np.full(20, 4000 * length / 20), rel=0.15)


def test_sequences_without_order_are_resampled():
    years = np.full(80, 1950.0)
    # two of forty in each split
    years[:4] = 1960
    train, _ = sampled(dated(years), length=2, train=200)
    for number in range(200):
        assert sorted(train.sequences.grades[train.sequences.sequence(number)].tolist()) == [0, 1]


def test_whole_groups_are_at_most_so_many_and_have_an_order():
    groups = np.repeat(np.arange(10), 8)
    years = YEARS.copy()
    years[groups == 3] = 1930
    images = dated(years, groups=groups)
    train, test = sampled(images, of=GROUPS, train=100, test=5)
    assert (len(train.sequences), len(test.sequences)) == (9, 5)
    assert 3 not in images.groups[train.samples[train.sequences.members]]


def test_rows_of_features_are_divided_by_their_lengths_only_on_request():
    left, _ = sampled(dated(YEARS), scale=LENGTH_1)
    assert (left.sequences.features == unit_rows(vectors(dated(YEARS)))[left.samples]).all()
    assert unit_rows(np.array([[0.0, 0.0], [3.0, 4.0]])).tolist() == [[0.0, 0.0], [0.6, 0.8]]


def test_queries_are_the_sequences_where_samples_are_graded_for_them():
    graded = replace(dated(YEARS, groups=np.arange(80) // 4), criteria=("grade",))
    assert usual_drawing(graded, "grade") == {"of": GROUPS}
    assert usual_drawing(replace(graded, groups=np.arange(80)), "grade") == {}
    assert usual_drawing(dated(YEARS, groups=np.arange(80) // 4), "year") == {}


def test_settings_of_training_do_not_change_the_test_sequences():
    images = dated(YEARS, groups=np.arange(80) // 4)
    given = {"length": 4, "train": 10, "test": 10}

    def tested(settings):
        sequences, samples = sampled(images, **settings)[1]
        return samples[sequences.members].tolist(), sequences.starts.tolist(), sequences.grades.tolist()

    for changes, same in (
        ({"train": 3, "scale": LENGTH_1}, True),
        ({"pairs": 60}, True),
        ({"first": LOWEST}, False),
        ({"of": ONE_EACH}, False),
        ({"length": 5}, False),
        ({"test": 9}, False),
        ({"seed": 1}, False),
    ):
        assert (tested(given) == tested({**given, **changes})) is same, changes
        assert (Drawing(**given).tested_on == Drawing(**{**given, **changes}).tested_on) is same, changes


TRAIN, TEST = "the train split of Dated", "the test split of Dated"


@pytest.mark.parametrize(
    ("columns", "settings", "subject", "came"),
    [
        ({}, {"length": 41}, TRAIN, "40"),
        ({"groups": np.arange(80) // 2 % 8}, {"of": ONE_EACH, "length": 9}, TRAIN, "8"),
        ({"numbers": np.full(80, 7.0)}, {}, TRAIN, "40"),
        ({"numbers": np.full(80, np.nan)}, {}, TRAIN, "0"),
        ({"test": [False] * 80}, {}, TEST, "0"),
        ({}, {"of": GROUPS}, TRAIN, "none"),
        ({"numbers": np.arange(80) // 76}, {"length": 2, "train": 100}, TRAIN, "3 times"),
        ({}, {"length": 500, "train": 100_000}, "sequences", "100,000 times 500"),
        ({}, {"length": 1}, "length of Sequences", "1"),
        ({}, {"of": GROUPS, "pairs": 3}, "pairs", "3"),
        ({"numbers": [1960.0] * 2 + [1950.0] * 198}, {"pairs": 1}, TRAIN, "1"),
    ],
)
def test_sequences_that_cannot_be_sampled_are_refused(monkeypatch, columns, settings, subject, came):
    monkeypatch.setattr("ranking.datasets.sequences.ROUNDS", 3)
    with refused(subject) as caught:
        sampled(dated(**({"numbers": YEARS} | columns)), **settings)
    assert came in str(caught.value.came)


def test_features_must_be_of_the_set():
    with refused("features", (79, 4)):
        draw_sequences(dated(YEARS), vectors(dated(YEARS))[1:], "year")


def test_known_pairs_alone_make_chains_to_learn_from():
    (train, samples), _ = sampled(dated(YEARS), pairs=60)
    years, chains = YEARS[samples], [train.sequence(number) for number in range(len(train))]
    assert len(chains) == 40
    for rows in chains:
        assert (np.diff(years[rows]) < 0).all(), "every chain is in the true order"
        assert (np.diff(train.grades[rows]) < 0).all()
    steps = {tuple(step) for rows in chains for step in pairwise(rows.tolist())}
    assert len(steps) <= 60, "each step of a chain is one of the pairs"
