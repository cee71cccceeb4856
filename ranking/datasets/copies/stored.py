"""The near copies that an import found, and the setting that keeps them on one side of the split.

copies.npz in the folder of the image set has pairs (p, 2) of images, detail (p,) how well each pair matches, and test
(m,) the split of the source. It follows from the images and is not part of the key.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ranking.core import Bools, Floats, ImageSet, Ints, Problem
from ranking.core.text import counted
from ranking.datasets.copies import Copies
from ranking.datasets.folder import load_image_set, set_split
from ranking.datasets.splits import joined, moved_words, on_one_side

FILE = "copies.npz"


class StoredCopies(NamedTuple):
    """pairs: (p, 2) images. detail: (p,) how well the two match. test: (m,) the split of the source."""

    pairs: Ints
    detail: Floats
    test: Bools

    @property
    def across(self) -> Ints:
        """(q,) the pairs with one image on each side of the source's split, best match first."""
        first, second = self.test[self.pairs].T
        rows = np.flatnonzero(first != second)
        return rows[np.argsort(-self.detail[rows], kind="stable")]

    @property
    def test_images(self) -> int:
        """How many test images of the source's split have a near copy among the training images."""
        across = self.pairs[self.across]
        return len(np.unique(across[self.test[across]]))


def save_copies(folder: Path, copies: Copies, images: ImageSet) -> None:
    """Write the near copies of a new image set into its folder; do nothing if there are none."""
    if len(copies.pairs):
        np.savez(folder / FILE, pairs=copies.pairs, detail=copies.detail, test=images.image_test)


def stored_copies(folder: Path) -> StoredCopies | None:
    """Return what `save_copies` wrote; None if there is no file, or it cannot be read."""
    try:
        with np.load(folder / FILE, allow_pickle=False) as stored:
            return StoredCopies(stored["pairs"], stored["detail"], stored["test"])
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
        return None


def keep_together(folder: Path, together: bool) -> ImageSet:
    """Change the set in `folder`, which must not be in use yet: keep near copies on one side of every split, or restore
    the split of the source. Return the set.

    If the source groups samples, a group that is on one side stays there.
    """
    images, copies = load_image_set(folder), stored_copies(folder)
    if copies is None or together == are_together(images):
        return images
    if not together:
        return set_split(folder, copies.test, None)
    return set_split(folder, split_together(images, copies), joined(len(copies.test), copies.pairs))


def split_together(images: ImageSet, copies: StoredCopies) -> Bools:
    """Return (m,) which images are test images if near copies are kept on one side."""
    links = np.concatenate([copies.pairs, _whole_groups(images, copies.test)])
    return on_one_side(copies.test, joined(len(copies.test), links))


def are_together(images: ImageSet) -> bool:
    """Return whether near copies are kept on one side."""
    return len(np.unique(images.image_groups)) < len(images.image_groups)


def has_own_groups(images: ImageSet) -> bool:
    """Return whether the source of a set groups its samples by anything other than images."""
    pairs = np.unique(np.stack([images.image_of, images.groups]), axis=1)
    return any(len(np.unique(column)) < pairs.shape[1] for column in pairs)


def what_was_done(images: ImageSet, copies: StoredCopies) -> Problem:
    """Return a report row: how many near copies there are, and on which side they are now."""
    across, moved = len(copies.across), images.image_test != copies.test
    came = f"{counted(len(copies.pairs), 'pair')}, {across:,} across the split"
    if not are_together(images):
        return Problem(
            "near copies", "near copies on one side of the split", came, "kept as the source has them"
        )
    return Problem(
        "near copies", "near copies on one side of the split", came, moved_words(copies.test, moved)
    )


def _whole_groups(images: ImageSet, test: Bools) -> Ints:
    """Return (p, 2) pairs of images that share a group of samples which is on one side of the split."""
    order = np.argsort(images.groups, kind="stable")
    group, image = images.groups[order], images.image_of[order]
    next_of = np.flatnonzero(group[:-1] == group[1:])
    pairs, shared = np.stack([image[next_of], image[next_of + 1]], axis=1), group[next_of]
    mixed = np.unique(shared[test[pairs[:, 0]] != test[pairs[:, 1]]])
    return pairs[~np.isin(shared, mixed)]
