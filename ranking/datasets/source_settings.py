"""Settings that sources share: the split into training and test images, and groups by names."""

from __future__ import annotations

import re

from ranking.core.settings import setting
from ranking.datasets.splits import PART, PARTS
from ranking.files.tree import base, parent, stem

COPIES, FOLDER, NUMBER = GROUPS = "near copies", "folder", "name up to a number"
NUMBERED = re.compile(r"(.*?)\d+\D*", re.DOTALL)


def share_of_test(default: float, help: str, *, of: str = "images", advanced: bool = False) -> float:
    """Return the setting test_share. of: the things that are held out."""
    label = f"Share of test {of}"
    return setting(default, label=label, help=help, minimum=0.1, maximum=0.9, advanced=advanced)


def seed_of_test(things: str = "images") -> int:
    """Return the setting seed of a source that may have to hold out a random share of `things`."""
    help = f"Seed for choosing the held-out {things}, if the split is random."
    return setting(0, label="Seed", help=help, minimum=0, advanced=True)


def group_of_images() -> str:
    """Return the setting `group` of a source."""
    return setting(
        COPIES,
        label="Group images by",
        help="Images of one group stay on one side of the split. Near copies: images that look almost the same. "
        "Folder: images in one folder. Name up to a number: images such as lab_01 and lab_02, often frames of one "
        "video.",
        choices=GROUPS,
        advanced=True,
    )


def group_of(name: str, by: str) -> str | None:
    """Return the group of an image by its name in a tree, or None.

    >>> group_of("train/lab/cam_012.jpg", "folder"), group_of("train/lab/cam_012.jpg", "name up to a number")
    ('lab', 'lab/cam_')
    >>> group_of("images/val/1.jpg", "folder"), group_of("1.jpg", "near copies")
    (None, None)
    """
    # Folders of parts, such as train, do not count.
    if by == COPIES:
        return None
    folders = [
        folder for folder in parent(name).split("/") if folder not in ("", "images") and not _is_part(folder)
    ]
    if by == FOLDER:
        return "/".join(folders) or None
    numbered = NUMBERED.fullmatch(stem(base(name)))
    return "/".join([*folders, numbered[1] if numbered else stem(base(name))])


def _is_part(folder: str) -> bool:
    matched = PART.fullmatch(folder.lower())
    return matched is not None and matched[1] in PARTS
