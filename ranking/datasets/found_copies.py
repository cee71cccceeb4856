"""The near copies that an import has found, beside its image set, and the one switch that keeps them on one side.

copies.npz has pairs (p, 2) of images, detail (p,) how well each pair matches, and test (m,) the split as the source
says it. It follows from the images and stays out of the key.
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


class FoundCopies(NamedTuple):
    """pairs: (p, 2) images. detail: (p,) how well the two match. test: (m,) the split as the source says it."""

    pairs: Ints
    detail: Floats
    test: Bools

    @property
    def across(self) -> Ints:
        """(q,) the pairs that lie across the split as the source says it, the best match first."""
        first, second = self.test[self.pairs].T
        rows = np.flatnonzero(first != second)
        return rows[np.argsort(-self.detail[rows], kind="stable")]

    @property
    def test_images(self) -> int:
        """How many test images, as the source says it, have a near copy among training images."""
        across = self.pairs[self.across]
        return len(np.unique(across[self.test[across]]))


def save_copies(folder: Path, copies: Copies, images: ImageSet) -> None:
    """Write the near copies of a set that was just built into its folder; nothing where there are none."""
    if len(copies.pairs):
        np.savez(folder / FILE, pairs=copies.pairs, detail=copies.detail, test=images.image_test)


def stored_copies(folder: Path) -> FoundCopies | None:
    """What `save_copies` wrote; None where there is nothing, or nothing that can be read."""
    try:
        with np.load(folder / FILE, allow_pickle=False) as stored:
            return FoundCopies(stored["pairs"], stored["detail"], stored["test"])
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
        return None


def keep_together(folder: Path, together: bool) -> ImageSet:
    """The set in `folder`, which nobody uses yet, with near copies on one side of every split, or as the source says.

    Where its source groups samples, groups that are on one side stay there.
    """
    images, copies = load_image_set(folder), stored_copies(folder)
    if copies is None or together == are_together(images):
        return images
    if not together:
        return set_split(folder, copies.test, None)
    return set_split(folder, split_together(images, copies), joined(len(copies.test), copies.pairs))


def split_together(images: ImageSet, copies: FoundCopies) -> Bools:
    """(m,) which images test where near copies are on one side."""
    links = np.concatenate([copies.pairs, _whole_groups(images, copies.test)])
    return on_one_side(copies.test, joined(len(copies.test), links))


def are_together(images: ImageSet) -> bool:
    """Whether near copies are kept on one side."""
    return len(np.unique(images.image_groups)) < len(images.image_groups)


def has_own_groups(images: ImageSet) -> bool:
    """Whether the source of a set groups its samples otherwise than by images."""
    pairs = np.unique(np.stack([images.image_of, images.groups]), axis=1)
    return any(len(np.unique(column)) < pairs.shape[1] for column in pairs)


def what_was_done(images: ImageSet, copies: FoundCopies) -> Problem:
    """A row of the report: how many near copies there are, and where they are now."""
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
    """(p, 2) pairs of images that share a group of samples which is on one side of the split."""
    order = np.argsort(images.groups, kind="stable")
    group, image = images.groups[order], images.image_of[order]
    next_of = np.flatnonzero(group[:-1] == group[1:])
    pairs, shared = np.stack([image[next_of], image[next_of + 1]], axis=1), group[next_of]
    mixed = np.unique(shared[test[pairs[:, 0]] != test[pairs[:, 1]]])
    return pairs[~np.isin(shared, mixed)]
