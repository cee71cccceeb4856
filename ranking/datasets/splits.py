"""Random and grouped splits into training images and test images."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from ranking.core import Bools, ImageSet, Ints, Problem
from ranking.core.text import counted, listed

# Words in names of folders and files that name a part of a data set, and the pattern of such a folder name.
PARTS = {"train": "train", "training": "train", "trainval": "train", "test": "test", "testing": "test"}
PARTS |= dict.fromkeys(("val", "vali", "valid", "validation", "dev"), "val")
PARTS |= {
    word + of: part for word, part in PARTS.items() for of in ("set", "list", "data", "split", "images")
}
PART = re.compile(r"(?:obj_)?([a-z]+)(?:_(?:data|images|set))?[-_ ]?\d*")


def part_word(text: str) -> str | None:
    """Return the part of a data set that a text names, as a word or as one of its words; None if it names none.

    >>> part_word("VALIDATION"), part_word("PublicTest"), part_word("train_2"), part_word("trainer")
    ('val', 'test', 'train', None)
    """
    words = [text, *re.findall("[A-Z]?[a-z]+|[A-Z]+", text)]
    parts = {PARTS[word.lower()] for word in words if word.lower() in PARTS}
    return parts.pop() if len(parts) == 1 else None


# the largest share of test images that become training images because they share a group with some
MAX_LEFT = 0.1


def random_part(count: int, share: float, seed: int) -> Bools:
    """Return (count,) True for `share` of them, rounded, sampled with `seed`.

    >>> int(random_part(10, 0.4, seed=0).sum())
    4
    """
    test = np.zeros(count, np.bool_)
    test[np.random.default_rng(seed).permutation(count)[: round(share * count)]] = True
    return test


def random_group_split(groups: Sequence[Sequence[str]], share: float, seed: int) -> Bools:
    """Return the same for images with `groups`: images connected by shared groups stay together.

    >>> random_group_split([["a"], ["a", "b"], ["b"], []], 0.5, seed=0).tolist()
    [True, True, True, False]
    """
    # Connected images are a unit, and so is an image without a group. `share` is the share of units.
    units = units_of(groups)
    chosen: Bools = random_part(int(units.max(initial=-1)) + 1, share, seed)[units]
    return chosen


def split_with_report(
    groups: Sequence[Sequence[str]], share: float, seed: int
) -> tuple[list[bool], list[Problem]]:
    """Return the same; if there are too few groups, return `random_part` and a report row."""
    tested = random_group_split(groups, share, seed)
    if len(set(tested.tolist())) == 2:
        return tested.tolist(), []
    alone = random_part(len(groups), share, seed).tolist()
    done = "images of one group may be on both sides of the split"
    few = Problem("groups", "enough groups to hold out some of them", "too few", done)
    return alone, [few] if any(groups) else []


def moved_whole(tested: Sequence[bool], groups: Sequence[Sequence[str]]) -> tuple[list[bool], list[Problem]]:
    """Return `on_one_side` of images with a given split, and a report row if that changes it."""
    before = np.array(tested, np.bool_)
    after = on_one_side(before, units_of(groups))
    moved = after != before
    if not moved.any():
        return list(tested), []
    expected = "each group on one side of the split"
    if len(set(after.tolist())) < 2:
        return list(tested), [Problem("groups", expected, "too few groups", "kept as stated")]
    shared = {group for of_image, changed in zip(groups, moved, strict=True) if changed for group in of_image}
    came = f"{counted(len(shared), 'group')} on both sides: {listed(sorted(shared))}"
    return after.tolist(), [Problem("groups", expected, came, moved_words(before, moved))]


def units_of(groups: Sequence[Sequence[str]]) -> Ints:
    """Return (n,) the number of each image's unit.

    >>> units_of([["a"], ["a", "b"], ["b"], []]).tolist()
    [0, 0, 0, 1]
    """
    # Images that share a group, also by a chain of images, are a unit.
    first: dict[str, int] = {}
    pairs = [
        (image, first.setdefault(group, image)) for image, of_image in enumerate(groups) for group in of_image
    ]
    return joined(len(groups), np.array(pairs, np.int64).reshape(-1, 2))


def joined(count: int, pairs: Ints) -> Ints:
    """Return (count,) the connected component of each of `count` items under the pairs (p, 2).

    >>> joined(4, np.array([[1, 3]])).tolist()
    [0, 1, 2, 1]
    """
    # Components are numbered in order of appearance.

    # when an image set is read, not when a page loads
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = coo_array((np.ones(len(pairs), np.int8), pairs.T), shape=(count, count))
    components = connected_components(links, directed=False)[1]
    _, first, number = np.unique(components, return_index=True, return_inverse=True)
    units: Ints = np.argsort(np.argsort(first))[number]
    return units


def on_one_side(test: Bools, units: Ints) -> Bools:
    """Return (n,) which images are test images, so that no unit is on both sides.

    >>> on_one_side(np.array([True, False, True, True, True]), np.array([0, 1, 2, 1, 3])).tolist()
    [True, False, True, False, True]
    """
    # test: (n,) the given split. units: (n,) the unit of each image. Units on both sides move to training,
    # unless the test split would lose more than MAX_LEFT of its images. In that case each unit, the largest
    # first, moves to the side that lacks most images compared with its given size; a side that would be empty
    # gets the smallest unit.
    sizes, tested = np.bincount(units), np.bincount(units, weights=test)
    mixed = (tested > 0) & (tested < sizes)
    if tested[mixed].sum() <= MAX_LEFT * test.sum():
        kept: Bools = test & ~mixed[units]
        return kept
    to_test = tested == sizes
    lack = {
        side: int((test == side).sum() - sizes[~mixed & (to_test == side)].sum()) for side in (False, True)
    }
    for unit in sorted(np.flatnonzero(mixed), key=lambda unit: -sizes[unit]):
        side = lack[True] > lack[False]
        to_test[unit] = side
        lack[side] -= int(sizes[unit])
    for side in (False, True):
        if np.count_nonzero(sizes) > 1 and not (to_test[sizes > 0] == side).any():
            to_test[min(np.flatnonzero(mixed), key=lambda unit: sizes[unit])] = side
    chosen: Bools = to_test[units]
    return chosen


def moved_words(test: Bools, moved: Bools) -> str:
    """Return as text how many images changed sides.

    >>> moved_words(np.array([True, True, False]), np.array([True, False, False]))
    'kept on one side: 1 test image moved to training'
    """
    # test: (m,) the split before. moved: (m,) which images changed.
    parts = [
        f"{counted(int((moved & side).sum()), name)} moved to {to}"
        for side, name, to in ((test, "test image", "training"), (~test, "training image", "test"))
        if (moved & side).any()
    ]
    return "kept on one side" + (f": {' and '.join(parts)}" if parts else "")


def blocks_of(image_set: ImageSet, rows: Ints) -> Ints:
    """Return (r,) the block of each sample in `rows`, which stays together in every split and resample."""
    # Samples connected by an image, a group of samples or a group of images are one block: it stays on one
    # side of every split and is resampled as a unit.
    columns = (image_set.image_of, image_set.groups, image_set.image_groups[image_set.image_of])
    numbers = [np.unique(column[rows], return_inverse=True)[1] for column in columns]
    starts = np.cumsum([len(rows), *(int(number.max(initial=-1)) + 1 for number in numbers)])
    samples = np.arange(len(rows))
    pairs = [
        np.stack([samples, start + number], axis=1) for start, number in zip(starts, numbers, strict=False)
    ]
    return joined(int(starts[-1]), np.concatenate(pairs))[: len(rows)]


def evenly(number: int, share: float, start: float) -> bool:
    """Return whether the image of that number is a test image: a `share` of any run of images, evenly spaced.

    >>> [evenly(number, 0.5, start=0.0) for number in range(4)]
    [False, True, False, True]
    """
    # Unlike `random_part`, it does not depend on the number of images.
    return math.floor((number + 1) * share + start) > math.floor(number * share + start)
