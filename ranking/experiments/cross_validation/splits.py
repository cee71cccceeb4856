"""Folds of the training samples: no image and no group on two sides, the relevant samples of each class spread evenly.

One assignment serves all queries and all methods, so that methods are compared on equal samples, and so that the folds
do not depend on the queries of an experiment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ranking.core import Bools, ImageSet, Ints
from ranking.core.errors import InputError
from ranking.core.text import readable
from ranking.datasets.splits import blocks_of


@dataclass(frozen=True, eq=False)
class Split:
    """The training and held-out rows of the set, ascending."""

    # the held-out fold, None for the test split
    fold: int | None
    learn: Ints
    held: Ints


@dataclass(frozen=True, eq=False)
class Splits:
    """fold_of: (n,) the fold of every training sample of a set, -1 for test samples. folds: their number."""

    fold_of: Ints
    folds: int

    @cached_property
    def all(self) -> dict[int | None, Split]:
        """The split of each fold, and under None the split into training and test samples."""
        train = self.fold_of >= 0
        splits: dict[int | None, Split] = {
            fold: Split(
                fold, np.flatnonzero(train & (self.fold_of != fold)), np.flatnonzero(self.fold_of == fold)
            )
            for fold in range(self.folds)
        }
        return splits | {None: Split(None, np.flatnonzero(train), np.flatnonzero(~train))}


def splits_of(image_set: ImageSet, folds: int, seed: int) -> Splits:
    """Assign the training samples of a set to `folds` by image and group; ValueError if these are fewer."""
    # Equal sets, folds and seeds give equal splits.
    train = np.flatnonzero(~image_set.test)
    fold_of = np.full(len(image_set), -1)
    fold_of[train] = assign_folds(blocks_of(image_set, train), image_set.labels[train], folds, seed)
    return Splits(fold_of, folds)


def assign_folds(blocks: Ints, labels: Bools, folds: int, seed: int) -> Ints:
    """Return (n,) the fold of each sample: whole blocks (n,), each class of labels (n, c) spread evenly.

    >>> fold = assign_folds(np.array([0, 0, 1, 2, 3]), np.array([[1], [1], [0], [1], [1]], bool), 2, seed=0)
    >>> sorted(np.bincount(fold).tolist()), fold[0] == fold[1], sorted(np.bincount(fold, [1, 1, 0, 1, 1]).tolist())
    ([2, 3], np.True_, [2.0, 2.0])
    """
    # The class with the fewest unassigned samples comes first, and its blocks with most samples of it first:
    # each goes to the fold that lacks most of the class, then most samples, ties by `seed` (iterative
    # stratification, Sechidis, Tsoumakas and Vlahavas 2011, over blocks instead of samples).
    count = int(blocks.max(initial=-1)) + 1
    if count < folds:
        most = f"at most {count}, the number of training images or groups"
        raise InputError("folds", most, folds, "choose fewer folds")
    sizes = np.bincount(blocks, minlength=count)
    relevant = np.zeros((count, labels.shape[1]), np.int64)
    np.add.at(relevant, blocks, labels)
    generator = np.random.default_rng(seed)
    order, turn = generator.permutation(count), generator.permutation(folds)
    need, spare = np.tile(relevant.sum(axis=0) / folds, (folds, 1)), np.full(folds, len(blocks) / folds)
    fold_of = np.full(count, -1)
    left = relevant.sum(axis=0)
    while (left > 0).any():
        scarce = int(np.argmin(np.where(left > 0, left, np.inf)))
        open_ones = order[(fold_of[order] < 0) & (relevant[order, scarce] > 0)]
        for block in open_ones[np.argsort(-relevant[open_ones, scarce], kind="stable")]:
            _place(
                block, np.lexsort((turn, -spare, -need[:, scarce]))[0], fold_of, need, spare, relevant, sizes
            )
        left = relevant[fold_of < 0].sum(axis=0)
    rest = order[fold_of[order] < 0]
    for block in rest[np.argsort(-sizes[rest], kind="stable")]:
        _place(block, np.lexsort((turn, -spare))[0], fold_of, need, spare, relevant, sizes)
    return fold_of[blocks]


def _place(
    block: int,
    fold: np.intp,
    fold_of: Ints,
    need: np.ndarray,
    spare: np.ndarray,
    relevant: Ints,
    sizes: Ints,
) -> None:
    fold_of[block] = fold
    need[fold] -= relevant[block]
    spare[fold] -= sizes[block]


def check_queries(image_set: ImageSet, splits: Splits, queries: Sequence[str]) -> None:
    """Raise ValueError unless each query can be trained and evaluated on each fold, and trained on all."""
    for query in queries:
        relevance = image_set.relevance(query)
        for split in splits.all.values():
            learn, held = relevance[split.learn], relevance[split.held]
            if learn.all():
                raise InputError(
                    f"query {readable(query)}",
                    f"irrelevant training samples outside each of {splits.folds} folds",
                    int((relevance[~image_set.test] == 0).sum()),
                    "import images with more of them, or remove this query",
                )
            # Each fold trains on the relevant samples of others.
            if split.fold is not None and not held.any():
                raise InputError(
                    f"query {readable(query)}",
                    f"relevant training samples in enough images for each of {splits.folds} folds",
                    int(relevance[~image_set.test].sum()),
                    "use fewer folds, or remove this query",
                )
