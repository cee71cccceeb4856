"""One folder of images per class."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import ClassVar, NamedTuple

from ranking.core import Decision, Problem, SourceBox, SourceImage
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.core.text import counted, listed, readable, unique_name
from ranking.datasets.registry import SOURCES
from ranking.files import FileTree, Unusable
from ranking.files.tree import base, parent, stem, suffix
from ranking.formats.file_beginnings import beginning_of_image
from ranking.formats.file_names import display_names, is_image, mask_words, part_folders, without_kind
from ranking.formats.tree_source import FOUND, Recognised, TreeSource

LAYOUT = "one folder of images per class, optionally inside folders train, val and test"
PATH = "all"
# classes by the words before the numbers in file names, each with some images
WORDS, LEAST_IMAGES, MAX_WORDS = "file names", 3, 200
WORD = re.compile(r"([^\W\d_]+(?:[-_ ][^\W\d_]+)*)[-_. ]*\(?\d+\)?")
MASK_SUFFIXES = (".png", ".gif", ".bmp", ".tif", ".tiff")
# the modes of images of few colours, as of masks
FEW = ("1", "L", "P", "I;16")
# names of folders that are shown of each level
NAMES = 5


class ClassPaths(NamedTuple):
    """paths: the folders of each image that can be classes, without images that have none. masks: beside images.

    letters: whether folders of initials were left out.
    """

    paths: dict[str, tuple[str, ...]]
    masks: list[str]
    letters: bool


@SOURCES.register("Class folders")
@dataclass
class ClassFolders(TreeSource):
    """The layout of torchvision's ImageFolder and FiftyOne's classification trees. Each whole image is a sample.

    Folders of parts, such as train, doubled folders, and folders such as images within a class are no classes; masks
    beside the images are no samples. Images in a folder within the folder of their class, such as the frames of a
    video, are a group.
    """

    layout: ClassVar[str] = LAYOUT
    _needs: ClassVar[str] = "a class folder for every image"

    level: str = setting(
        FOUND,
        label="Level of classes",
        help="The level of the folders that name the classes, counted from the top without folders such as train; "
        "or all levels together; or the word before the number in each file name.",
        choices=(FOUND, "1", "2", "3", PATH, WORDS),
        advanced=True,
    )

    @classmethod
    def recognise(cls, tree: FileTree) -> Recognised | None:
        """Recognise at least two folders with images; with a low score, because other formats have such folders too."""
        found = class_paths(tree)
        level, _, _ = level_of(found)
        classes = sorted({readable(class_at(path, level)) for path in found.paths.values()})
        if len(classes) < 2 and (words := sorted(set(words_in_names(tree).values()))):
            return Recognised(0.2, f"file names begin with {listed(words)} and a number")
        if len(classes) < 2:
            return None
        return Recognised(
            0.4, f"{counted(len(classes), 'folder')} contain images: {listed(classes)}. Each becomes a class"
        )

    def __len__(self) -> int:
        return len(self._found.paths)

    def _records(self) -> Iterator[SourceImage | Problem]:
        paths, level = self._found.paths, self._level
        labels = {name: class_at(path, level) for name, path in paths.items()}
        groups = {
            name: None if level == WORDS else _group(path, level, labels[name])
            for name, path in paths.items()
        }
        units = [[group] if group else [] for group in groups.values()]
        tested, rows = self._which_test(list(paths), groups=units)
        yield from rows
        names = display_names(list(paths))
        for name, test in zip(paths, tested, strict=True):
            box = SourceBox(None, (unique_name(labels[name]),), group=groups[name])
            yield SourceImage(names[name], self._tree.file(name), (box,), test)

    @cached_property
    def _found(self) -> ClassPaths:
        found = self._folders
        if self._by_words:
            found = found._replace(paths={name: (word,) for name, word in self._words.items()})
        if not found.paths:
            remedy = "put the images of each class into a folder with the name of the class"
            raise InputError(self._shown_place(), LAYOUT, "no folder with images", remedy)
        if found.masks:
            shown = listed([readable(name) for name in found.masks])
            evidence = f"{counted(len(found.masks), 'image')}, named like others, in folders of masks or of few colours"
            evidence += f": {shown}"
            self._decide(Decision("masks", "no samples", evidence))
        return found

    @cached_property
    def _by_words(self) -> bool:
        """Whether the names of files state the classes: by choice, or because folders do not."""
        if self.level == FOUND:
            level, _, _ = level_of(self._folders)
            return _classes(self._folders.paths.values(), level) < 2 and bool(self._words)
        return self.level == WORDS

    @cached_property
    def _folders(self) -> ClassPaths:
        return class_paths(self._tree)

    @cached_property
    def _words(self) -> dict[str, str]:
        return words_in_names(self._tree)

    @cached_property
    def _level(self) -> str:
        if self._by_words:
            counts = Counter(word for (word,) in self._found.paths.values())
            chosen = f"words in file names: {listed([readable(word) for word in sorted(counts)])}"
            shown = listed([f"{counts[word]:,} with “{readable(word)}”" for word in sorted(counts)], 8)
            evidence = "no folder or table states the labels, but file names begin with a word and a number: "
            evidence += f"{shown}. If these words are not the classes, make a folder for each class"
            self._decide(Decision("classes", chosen, evidence, "level", WORDS, (), self.level == FOUND))
            return WORDS
        value, evidence, is_open = level_of(self._found)
        if self.level != FOUND:
            value, is_open = self.level, False
        paths = self._found.paths.values()
        several = [level for level in levels_of(paths) if _classes(paths, level) > 1]
        others = tuple(other for other in several if other != value)
        samples = set(filter(is_image, self._tree.names)).difference(self._found.masks)
        outside = samples.difference(self._found.paths)
        of_part = Counter(map(self._index.part_of, outside))
        is_train = of_part["train"] > 0 and not any(map(self._index.part_of, self._found.paths))
        if is_train or 2 * of_part[None] > len(samples):
            count = f"{len(outside):,} of {counted(len(samples), 'image')}"
            evidence += f"; {count} lie in no such folder: {self._listed(sorted(outside))}"
            is_open = self.level == FOUND
        labels = sorted({readable(class_at(path, value)) for path in paths})
        if len(labels) == len(paths) and 2 * _numbered(labels) > len(labels):
            evidence += "; every one has a number and one image, as an identifier has"
            is_open = self.level == FOUND
        where = "all folders" if value == PATH else f"folders at level {value}"
        self._decide(
            Decision("classes", f"{where}: {listed(labels)}", evidence, "level", value, others, is_open)
        )
        return value


def class_at(path: Sequence[str], level: str) -> str:
    """
    >>> class_at(["a", "b"], "1"), class_at(["a", "b"], "3"), class_at(["a", "b"], "all")
    ('a', 'b', 'a/b')
    """
    return "/".join(path) if level in (PATH, WORDS) else path[min(int(level), len(path)) - 1]


def words_in_names(tree: FileTree) -> dict[str, str]:
    """Return the word before the number in the name of each image, such as cat.0.jpg; {} unless there are several words
    with some images each, in at least half of all images."""
    images = list(filter(is_image, tree.names))
    matches = {name: WORD.fullmatch(stem(name)) for name in images}
    words = {name: match[1].casefold() for name, match in matches.items() if match is not None}
    counts = Counter(words.values())
    kept = {name: word for name, word in words.items() if counts[word] >= LEAST_IMAGES}
    is_likely = 1 < len(set(kept.values())) <= MAX_WORDS and 2 * len(kept) >= len(images)
    return kept if is_likely else {}


def _group(path: Sequence[str], level: str, label: str) -> str | None:
    """Return the group of images in one folder within the folder of their class, such as the frames of a video."""
    inner = path[len(path) if level == PATH else int(level) :]
    return "/".join([label, *inner]) if inner else None


def levels_of(paths: Collection[Sequence[str]]) -> list[str]:
    """Return the values of the setting that differ for these folders."""
    depth = max(map(len, paths), default=0)
    return ["1", "2", "3"][:depth] + [PATH] * (depth > 1)


def _classes(paths: Collection[Sequence[str]], level: str) -> int:
    return len({class_at(path, level) for path in paths})


def level_of(found: ClassPaths) -> tuple[str, str, bool]:
    """Return the level of the folders that are classes, the evidence, and whether another level fits as well."""
    paths = list(found.paths.values())
    depth = max(map(len, paths), default=0)
    inside: dict[str, set[str]] = {}
    for path in paths:
        inside.setdefault(path[0], set()).update(path[1:2])
    inner = set[str]().union(*inside.values())
    # without the name of the folder around them
    roles = {name.replace(outer, "") for outer, names in inside.items() for name in names}
    numbered = _numbered(inner)
    evidence = f"{counted(len(paths), 'image')} below {counted(depth, 'level')} of folders"
    if found.letters:
        return PATH, f"{evidence}; the top folders are initial letters", False
    if depth < 2:
        return "1", evidence, False
    for level in range(1, min(depth, 3) + 1):
        shown = sorted({readable(class_at(path, str(level)), 30) for path in paths if len(path) >= level})
        evidence += f"; level {level}: {listed(shown, NAMES)}"
    # such as patients, each with the same folders
    of_ids = 2 * _numbered(inside) > len(inside) and 2 * len(roles) <= sum(map(len, inside.values()))
    if 2 * numbered > len(inner) and not of_ids:
        of_all = f"{numbered:,} of {counted(len(inner), 'folder')} at level 2"
        return "1", f"{evidence}; {of_all} are numbered, as videos are", False
    if {path[0] for path in paths if len(path) > 1} <= {path[0] for path in paths if len(path) == 1}:
        return "1", f"{evidence}; all folders at level 1 contain images as well", False
    if all(len(names) <= 1 for names in inside.values()):
        return "1", f"{evidence}; each folder at level 1 contains at most one folder", False
    return "1", f"{evidence}; their names do not show which level names the classes", True


def _numbered(names: Collection[str]) -> int:
    return sum(any(map(str.isdigit, name)) for name in names)


def class_paths(tree: FileTree) -> ClassPaths:
    """Return the folders of each image that can be classes."""
    images = list(filter(is_image, tree.names))
    masks = _masks(tree, images)
    names = [name for name in images if name not in masks]
    parts = part_folders(names)
    folders: dict[str, set[str]] = {}
    for name in names:
        while name := parent(name):
            folders.setdefault(parent(name), set()).add(name)
    # names of folders in folders of parts, by the folder around the parts
    in_parts: dict[str, set[str]] = {}
    of_parts: dict[str, set[str]] = {}
    for folder, part in parts.items():
        of_parts.setdefault(parent(folder), set()).add(part)
    # of the folders of parts around each folder, the folder around them and the last name, so that no path is followed
    # twice
    outside: dict[str, tuple[tuple[str, str], ...]] = {"": ()}
    for folder in sorted(set[str]().union(*folders.values()), key=len):
        around, last = parent(folder), base(folder)
        outside[folder] = outside[around] + (((parent(around), base(around)),) if around in parts else ())
        for top, name in outside[folder] if without_kind(last) else ():
            if last != name:
                in_parts.setdefault(top, set()).add(last)

    @cache
    def is_class(folder: str) -> bool:
        last, around = base(folder), parent(folder)
        beside = [base(other) for other in folders[around] if other not in parts]
        is_kind = not any(map(without_kind, beside))
        # beside several parts, or parts that contain folders, what has no name of these is a part as well
        is_divided = around in in_parts or len(of_parts.get(around, ())) > 1
        is_part = folder in parts or (is_divided and last not in in_parts.get(around, ()))
        return not (is_part or is_kind or last.casefold() == base(around).casefold())

    paths = {}
    for name in names:
        above = name.split("/")[:-1]
        classes = (inner for place, inner in enumerate(above, 1) if is_class("/".join(above[:place])))
        if path := tuple(classes):
            paths[name] = path
    while len({path[0] for path in paths.values()}) == 1 and max(map(len, paths.values())) > 1:
        paths = {name: path[1:] for name, path in paths.items() if path[1:]}
    letters = bool(paths) and all(map(_begins_with_initial, paths.values()))
    return ClassPaths({name: path[letters:] for name, path in paths.items()}, sorted(masks), letters)


def _begins_with_initial(path: Sequence[str]) -> bool:
    """Return whether the first folder is the initial of the second one, which is not numbered as a video is."""
    if len(path) < 2 or len(path[0]) != 1 or any(map(str.isdigit, path[1])):
        return False
    return path[1].casefold().startswith(path[0].casefold())


def _masks(tree: FileTree, names: Sequence[str]) -> set[str]:
    """Return the images that annotate others: their names are those of others, with more words or in folders of masks.

    These are all in folders of masks or with such a word; of words in the singular, which may be a class, those of few
    colours. Without such a word, these are the images of one bit per pixel that annotate images of more.
    """
    likely = [name for name in names if suffix(name) in MASK_SUFFIXES]
    in_folders = set(filter(mask_words, likely))
    others = {stem(name): name for name in names if name not in in_folders}

    def is_mask(name: str) -> bool:
        last = stem(name)
        ends = [mark.start() for mark in re.finditer(r"[-_ ]", last)] + [len(last)] * (name in in_folders)
        end = next((end for end in ends if last[:end] in others), None)
        words = mask_words(f"{parent(name)}/{last[end:]}/")
        if end is None or not words:
            return end is not None and _mode(tree, name) == "1" != _mode(tree, others[last[:end]])
        return any(word.endswith("s") for word in words) or _mode(tree, name) in FEW

    return set(filter(is_mask, likely))


def _mode(tree: FileTree, name: str) -> str:
    try:
        return beginning_of_image(tree, name)[1]
    except Unusable:
        return ""
