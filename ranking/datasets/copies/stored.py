"""The near copies that an import found, and the setting that keeps them on one side of the split.

copies.npz in the folder of the image set has pairs (p, 2) of images, detail (p,) how well each pair matches, and test
(m,) the split of the source. It follows from the images and is not part of the key.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ranking.core import Bools, Floats, ImageSet, Ints, Problem
from ranking.core.text import counted
from ranking.datasets.copies.fingerprints import Fingerprint
from ranking.datasets.copies.matching import near_copies
from ranking.datasets.folder import load_image_set, set_split
from ranking.datasets.splits import joined, moved_words, on_one_side

FILE = "copies.npz"


class StoredCopies(NamedTuple):
    """The near copies in the folder of an image set.

    pairs: (p, 2) images. detail: (p,) how well the two match. test: (m,) the split of the source.
    """

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

    def test_together(self, images: ImageSet) -> Bools:
        """Return (m,) which images are test images if near copies are kept on one side."""
        links = np.concatenate([self.pairs, _whole_groups(images, self.test)])
        return on_one_side(self.test, joined(len(self.test), links))

    def report_row(self, images: ImageSet) -> Problem:
        """Return a report row: how many near copies there are, and on which side they are now."""
        came = f"{counted(len(self.pairs), 'pair')}, {len(self.across):,} across the split"
        done = "kept as the source has them"
        if are_together(images):
            done = moved_words(self.test, images.image_test != self.test)
        return Problem("near copies", "near copies on one side of the split", came, done)


def group_copies_together(
    images: ImageSet, fingerprints: Sequence[Sequence[Fingerprint]], on_step: Callable[[], None]
) -> ImageSet:
    """Search a new image set for near copies, and store them in its folder; return the set.

    They are kept on one side of the split unless the source groups samples by anything other than images.
    on_step: as of `near_copies`.
    """
    copies = near_copies(fingerprints, on_step)
    if len(copies.pairs):
        np.savez(images.folder / FILE, pairs=copies.pairs, detail=copies.detail, test=images.image_test)
    grouped = np.unique(np.stack([images.image_of, images.groups]), axis=1)
    own_groups = any(len(np.unique(column)) < grouped.shape[1] for column in grouped)
    return group_copies(images.folder, not own_groups)


def stored_copies(folder: Path) -> StoredCopies | None:
    """Return the near copies of the image set in `folder`; None if there is no file, or it cannot be read."""
    try:
        with np.load(folder / FILE, allow_pickle=False) as stored:
            return StoredCopies(stored["pairs"], stored["detail"], stored["test"])
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
        return None


def group_copies(folder: Path, together: bool) -> ImageSet:
    """Keep near copies on one side of every split, or restore the split of the source; return the set.

    The set in `folder`, which must not be in use yet, is changed. If the source groups samples, a group that
    is on one side stays there.
    """
    images, copies = load_image_set(folder), stored_copies(folder)
    if copies is None or together == are_together(images):
        return images
    if not together:
        return set_split(folder, copies.test, None)
    return set_split(folder, copies.test_together(images), joined(len(copies.test), copies.pairs))


def are_together(images: ImageSet) -> bool:
    """Return whether near copies are kept on one side."""
    return len(np.unique(images.image_groups)) < len(images.image_groups)


def _whole_groups(images: ImageSet, test: Bools) -> Ints:
    """Return (p, 2) pairs of images that share a group of samples which is on one side of the split."""
    order = np.argsort(images.groups, kind="stable")
    group, image = images.groups[order], images.image_of[order]
    next_of = np.flatnonzero(group[:-1] == group[1:])
    pairs, shared = np.stack([image[next_of], image[next_of + 1]], axis=1), group[next_of]
    mixed = np.unique(shared[test[pairs[:, 0]] != test[pairs[:, 1]]])
    return pairs[~np.isin(shared, mixed)]
