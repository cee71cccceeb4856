from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from tiny_actions import images

from ranking.experiments.cross_validation.splits import assign_folds, check_queries, splits_of


def test_no_image_and_no_group_is_on_two_sides():
    for grouped in (False, True):
        image_set = images(90, grouped=grouped)
        splits = splits_of(image_set, 4, seed=3)
        assert sorted(splits.all, key=str) == [0, 1, 2, 3, None]
        for split in splits.all.values():
            assert not set(image_set.image_of[split.learn]) & set(image_set.image_of[split.held])
            if split.fold is not None:
                assert not set(image_set.groups[split.learn]) & set(image_set.groups[split.held])
                assert sorted([*split.learn, *split.held]) == np.flatnonzero(~image_set.test).tolist()
                assert len(split.held)
        assert splits.all[None].held.tolist() == np.flatnonzero(image_set.test).tolist()


@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_relevant_samples_are_spread_as_evenly_as_blocks_of_one_allow(seed, folds, classes):
    generator = np.random.default_rng(seed)
    labels = generator.random((120, 1)) < generator.uniform(0.05, 0.5)
    fold = assign_folds(np.arange(120), labels, folds, seed)
    for counts in (np.bincount(fold, minlength=folds), np.bincount(fold, labels[:, 0], folds)):
        assert np.ptp(counts) <= 1
    several = generator.random((120, classes)) < 0.2
    fold = assign_folds(np.arange(120), several, folds, seed)
    for column in several.T:
        random_counts = np.bincount(generator.integers(folds, size=120), column, folds)
        assert np.ptp(np.bincount(fold, column, folds)) <= max(4, np.ptp(random_counts))


def test_the_largest_blocks_and_rarest_classes_are_assigned_first():
    for seed in range(6):
        # One block of six samples with a relevant one, and five relevant samples alone: by size they would go apart.
        blocks, labels = np.array([0] * 6 + [1, 2, 3, 4, 5]), np.array([1] + [0] * 5 + [1] * 5, bool)
        assert np.bincount(assign_folds(blocks, labels[:, None], 2, seed), labels, 2).tolist() == [3, 3], seed

        # Four samples show a rare class beside a common one, which alone would spread them as luck has it.
        common = np.random.default_rng(seed).random(40) < 0.5
        rare = np.isin(np.arange(40), np.flatnonzero(common)[:4])
        fold = assign_folds(np.arange(40), np.stack([common, rare], axis=1), 4, seed)
        assert np.bincount(fold, rare, 4).tolist() == [1, 1, 1, 1], seed

        # Of folds that lack a class alike the emptier one has it: two blocks of five and of one sample, with one
        # relevant each, then three samples of another class.
        blocks = np.array([0] * 5 + [1, 2, 3, 4])
        first, second = np.isin(np.arange(9), [0, 5]), blocks > 1
        fold = assign_folds(blocks, np.stack([first, second], axis=1), 2, seed)
        assert sorted(np.bincount(fold)) == [3, 6], seed

        # What shows nothing evens the folds out, the largest blocks first.
        blocks = np.array([0, 1, 2, 3, 4, 5, *[6] * 6])
        assert np.bincount(assign_folds(blocks, np.zeros((12, 1), bool), 2, seed)).tolist() == [6, 6], seed


def test_the_seed_decides_which_blocks_are_together_and_which_fold_has_one_more():
    first, again, second = (splits_of(images(90), 5, seed).fold_of for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != second).any()
    assignments = [assign_folds(np.arange(9), np.zeros((9, 1), bool), 2, seed) for seed in range(20)]
    assert len({(fold == fold[0]).tobytes() for fold in assignments}) > 10
    assert {int(np.bincount(fold).argmax()) for fold in assignments} == {0, 1}


def test_queries_need_irrelevant_samples_to_learn_from_and_no_relevant_ones_to_test_on():
    image_set = images(30)
    splits = splits_of(image_set, 3, seed=0)
    labels = np.ones((len(image_set), 2), bool)
    # the only one: who holds it out learns without
    labels[splits.all[1].held[0], 0] = False
    labels[image_set.test, 1] = False
    labels[[split.learn[0] for split in splits.all.values()], 1] = False
    shown = replace(image_set, classes=("almost all", "no test"), labels=labels)
    check_queries(shown, splits, ["no test"])
    with refused("query almost all", 1):
        check_queries(shown, splits, ["almost all"])


def test_folds_that_cannot_be_assigned_or_measured_are_refused():
    image_set = images(9)
    with refused("folds", 7):
        splits_of(image_set, 7, seed=0)
    splits = splits_of(image_set, 6, seed=0)
    query = image_set.classes[0]
    with refused(f"query {query}", image_set.relevance(query)[~image_set.test].sum()):
        check_queries(image_set, splits, image_set.classes)
