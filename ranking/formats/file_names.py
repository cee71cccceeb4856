"""Names of files in a tree: which are images, their display names, and the parts of a data set that names state."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ranking.datasets.splits import PART, PARTS
from ranking.files.files import IMAGE_SUFFIXES, image_name
from ranking.files.tree import base, parent, stem, suffix

# words of folders that say which kind of files they hold: an image and its annotation differ in these only
KINDS = re.compile(
    r"images?|imgs?|jpegimages|jpe?g|png|pictures|pics|data|labels?|labeltxt|annotations?|annots|anns?|xmls?|txts?|"
    r"yolo|voc|bbox(?:es)?|boxes"
)
# and of folders whose images annotate other images
MASKS = re.compile(
    r"masks?|trimaps?|segmentations?|segmentation(?:class|object)|gt|groundtruth|labels?|annotations?"
)

TRAIN_AND_VAL = re.compile(r"train[-_ ]?val(?![a-z])")


def is_image(name: str) -> bool:
    """Return whether a file name has the suffix of an image format that can be decoded."""
    return suffix(name) in IMAGE_SUFFIXES


@lru_cache(4096)
def without_kind(folder: str) -> str:
    """Return the words of a folder that do not say which kind of files it holds.

    >>> without_kind("train_images"), without_kind("Labels")
    ('train', '')
    """
    return " ".join(word for word in re.split(r"[\W_]+", folder.casefold()) if not KINDS.fullmatch(word))


def mask_words(name: str) -> list[str]:
    """Return the words of an image's folders that say that the images in them annotate others.

    >>> mask_words("annotations/1.png"), mask_words("train_masks/1.png"), mask_words("masked faces/1.png")
    (['annotations'], ['masks'], [])
    """
    return list(filter(MASKS.fullmatch, re.split(r"[\W_]+", parent(name).casefold())))


def place_of(name: str) -> tuple[str, ...]:
    """Return what is equal for an image and its annotation: the other words of its folders, and its stem.

    >>> place_of("images/train/1.jpg") == place_of("train/Labels/1.txt"), place_of("annotations/masks/1.png")
    (True, ('masks', '1'))
    """
    return (*filter(None, map(without_kind, parent(name).split("/"))), base(bare(name)))


def display_names(names: Sequence[str]) -> dict[str, str]:
    """Return the display names of images, from their names in a tree: without common folders, and without suffix where
    names stay different.

    >>> display_names(["data/a.jpg", "data/b.png"]), display_names(["x/a.jpg", "y/a.jpg", "y/a.png"])
    ({'data/a.jpg': 'a', 'data/b.png': 'b'}, {'x/a.jpg': 'x/a', 'y/a.jpg': 'y/a.jpg', 'y/a.png': 'y/a.png'})
    """
    start = len(shared_folder(names))
    counts = Counter(map(bare, names))
    return {
        name: image_name((bare(name) if counts[bare(name)] == 1 else name)[start:].lstrip("/"))
        for name in names
    }


def bare(name: str) -> str:
    """
    >>> bare("a.b/c.jpg")
    'a.b/c'
    """
    return name[: len(name) - len(suffix(name))]


def shared_folder(names: Sequence[str]) -> str:
    """Return the innermost folder that contains all of those names.

    >>> shared_folder(["a/b/c.jpg", "a/b/d/e.jpg"]), shared_folder(["a", "ab"])
    ('a/b', '')
    """
    return posixpath.commonpath(list(map(parent, names))) if names else ""


def part_of(name: str) -> str | None:
    """Return the part of a data set that the folders of a file name: "train", "val", "test", or None.

    >>> part_of("images/val2017/1.jpg"), part_of("obj_train_data/1.jpg"), part_of("test.jpg")
    ('val', 'train', None)
    """
    for folder in reversed(parent(name).split("/")):
        matched = PART.fullmatch(folder.lower())
        if matched is not None and matched[1] in PARTS:
            return PARTS[matched[1]]
    return None


def part_in_name(name: str) -> str | None:
    """Return the part that the name of a file contains, without its folders.

    >>> part_in_name("ImageSets/train_1.txt"), part_in_name("train_val_list.txt"), part_in_name("test/list.txt")
    ('train', 'train', None)
    >>> part_in_name("trainingset.txt"), part_in_name("testlist01.txt"), part_in_name("dataset.txt")
    ('train', 'test', None)
    """
    text = TRAIN_AND_VAL.sub("trainval", stem(name).lower())
    words = [PARTS[word] for word in re.findall("[a-z]+", text) if word in PARTS]
    return words[-1] if words else None


def part_of_annotations(name: str) -> str | None:
    """Return the part of the images in an annotation file, by its own name or else by its folders.

    >>> [part_of_annotations(name) for name in ("labels/instances_train2017.json", "valid/coco.json", "a.json")]
    ['train', 'val', None]
    """
    return part_in_name(name) or part_of(name)


def part_folders(names: Iterable[str]) -> dict[str, str]:
    """Return the part of each folder of a tree that names one: by its whole name, such as val2017, or by one word of it
    if a folder beside it differs from it in that word, and in single letters and numbers, only.

    >>> part_folders(["1. train set/x/1.jpg", "2. test set/x/1.jpg", "train_station/1.jpg"])
    {'1. train set': 'train', '2. test set': 'test'}
    """
    folders = {parent(name) for name in names}
    for name in list(folders):
        while name := parent(name):
            folders.add(name)
    found: dict[str, str] = {}
    beside: dict[tuple[str, ...], dict[str, str]] = {}
    for folder in sorted(folders):
        last = base(folder).lower()
        words = re.findall("[a-z]{2,}", last)
        named = [word for word in words if word in PARTS]
        if (matched := PART.fullmatch(last)) is not None and matched[1] in PARTS:
            found[folder] = PARTS[matched[1]]
        elif len(named) == 1:
            key = parent(folder), *("*" if word in PARTS else word for word in words)
            beside.setdefault(key, {})[folder] = PARTS[named[0]]
    for parts in beside.values():
        if len(set(parts.values())) > 1:
            found |= parts
    return found
