"""Lists of images in text files, which state the split: train.txt, val.txt and test.txt in any folder."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

from ranking.core import Problem
from ranking.core.text import counted, listed, readable
from ranking.files import FileTree, Unusable
from ranking.files.tree import base, parent, suffix
from ranking.formats.file_names import TRAIN_AND_VAL, part_in_name
from ranking.formats.image_names import ImageNames

MAX_BYTES = 16 * 2**20
SUFFIXES = (".txt", ".lst", ".list")
# Of the lines of a list, those that name images of the tree; a long list may be that of a larger set.
LEAST_NAMED, MANY_NAMED = 0.5, 20
# The words of a line after the name, such as a class or 1 and -1, are ignored; a row of more words is no list.
MAX_WORDS = 4
WHICH = {"test": 2, "val": 1, "train": 0}


class SplitLists(NamedTuple):
    """files: the lists, by name in the tree. parts: the part of each image that they name. both: images in lists of
    several parts; they count for test before val before train."""

    files: tuple[str, ...]
    parts: dict[str, str]
    both: tuple[str, ...]

    def in_words(self) -> str:
        return listed([readable(name) for name in dict.fromkeys(self.files)])

    def rows(self) -> Iterator[Problem]:
        if self.both:
            came = f"{counted(len(self.both), 'image')} in several lists: {listed(list(self.both))}"
            yield Problem(self.in_words(), "an image in one list", came, "test goes before val before train")


def split_lists(tree: FileTree, index: ImageNames) -> SplitLists:
    """Return the lists of the folder whose lists name most images, the uppermost of equals.

    A list is a text file whose name contains a word such as train, and whose lines begin with the names of images.
    """
    folders: dict[str, list[tuple[str, str, list[str]]]] = {}
    for name in tree.names:
        part = part_in_name(name)
        if part is not None and suffix(name) in SUFFIXES and (images := named_images(tree, name, index)):
            folders.setdefault(parent(name), []).append((name, part, images))
    found = [joined(lists) for _, lists in sorted(folders.items(), key=lambda item: item[0].count("/"))]
    best = max(found, key=lambda lists: len(lists.parts), default=joined([]))
    for name in best.files:
        tree.note_opened(name)
    return best


def named_images(tree: FileTree, name: str, index: ImageNames) -> list[str]:
    """Return the images that the lines of a file name; [] if it is no list."""
    try:
        lines = text_lines(tree, name)
    except Unusable:
        return []
    images = []
    for line in lines:
        words = line.split()
        texts = [line, words[0], line.partition(",")[0]] if len(words) <= MAX_WORDS else [line]
        if text := next(filter(index.knows, texts), ""):
            # several images may have this name
            with contextlib.suppress(Unusable):
                images.append(index.find(text, parent(name)))
    return images if len(images) >= min(LEAST_NAMED * len(lines), MANY_NAMED) else []


def text_lines(tree: FileTree, name: str) -> list[str]:
    """Return the lines of a text file that are not empty, decoded as names of files are; Unusable if it cannot be read.

    It is not noted as opened, because it may be something else.
    """
    text = tree.head(name, MAX_BYTES).decode("utf-8-sig", "surrogateescape")
    return list(filter(None, map(str.strip, text.splitlines())))


def joined(lists: list[tuple[str, str, list[str]]]) -> SplitLists:
    """Return the part of each image. lists: the name of each list, its part, and its images."""
    parts: dict[str, str] = {}
    both: dict[str, None] = {}
    # trainval repeats the images of train and val
    for name, part, images in sorted(lists, key=lambda one: bool(TRAIN_AND_VAL.search(base(one[0]).lower()))):
        for image in images:
            before = parts.setdefault(image, part)
            if before != part and (not TRAIN_AND_VAL.search(base(name).lower()) or before == "test"):
                both[image] = None
                parts[image] = max(before, part, key=WHICH.__getitem__)
    return SplitLists(tuple(dict.fromkeys(name for name, _, _ in lists)), parts, tuple(both))
