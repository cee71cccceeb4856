"""One folder of images per class."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

from ranking.core import Decision, Problem, SourceBox, SourceImage
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.core.text import counted, listed, readable, unique_name
from ranking.datasets.registry import SOURCES
from ranking.files import FileTree, Unusable
from ranking.files.tree import base, parent, stem, suffix
from ranking.formats.file_names import display_names, is_image, mask_words, part_folders, without_kind
from ranking.formats.tree_source import FOUND, Recognised, TreeSource

LAYOUT = "one folder of images per class, optionally inside folders train, val and test"
PATH = "all"
MASK_SUFFIXES = (".png", ".gif", ".bmp", ".tif", ".tiff")
MASK_STEM = re.compile(r"[-_ ](?:mask|seg|gt|labels?)$", re.IGNORECASE)
# the bytes of a PNG file up to its kind of colours; grey and palette, as of masks
COLOURS, FEW = 26, (0, 3)
# lists that are looked for beside images without a class, and their lines
MAX_LISTS, MAX_HEAD = 50, 4096


class Level(NamedTuple):
    """value: of the setting. others: further levels with several folders. is_open: whether one of them fits as well."""

    value: str
    evidence: str
    others: tuple[str, ...] = ()
    is_open: bool = False


@SOURCES.register("Class folders")
@dataclass
class ClassFolders(TreeSource):
    """The layout of torchvision's ImageFolder and FiftyOne's classification trees. Each whole image is a sample.

    Folders of parts, such as train, doubled folders, and folders such as images within a class are no classes; masks
    beside the images are no samples. Images in a folder within the folder of their class, such as the frames of a
    video, are a group.
    """

    layout: ClassVar[str] = LAYOUT
    _needs: ClassVar[str] = "a folder of its class for every image"

    level: str = setting(
        FOUND,
        label="Level of classes",
        help="Which folders are the classes, counted from the top without those of parts, or the names of all levels.",
        choices=(FOUND, "1", "2", "3", PATH),
        advanced=True,
    )

    @classmethod
    def recognise(cls, tree: FileTree) -> Recognised | None:
        """Recognise at least two folders with images; with a low score, because other formats have such folders too."""
        paths, _, letters = class_paths(tree)
        level = level_of(list(paths.values()), letters).value
        classes = sorted({readable(class_at(path, level)) for path in paths.values()})
        if len(classes) < 2:
            return None
        return Recognised(
            0.4, f"{counted(len(classes), 'folder')} contain images: {listed(classes)}. Each becomes a class"
        )

    def __len__(self) -> int:
        return len(self._paths)

    def _records(self) -> Iterator[SourceImage | Problem]:
        paths, level = self._paths, self._level
        labels = {name: class_at(path, level) for name, path in paths.items()}
        groups = {name: _group(path, level, labels[name]) for name, path in paths.items()}
        units = [[group] if group else [] for group in groups.values()]
        tested, rows = self._which_test(list(paths), groups=units)
        yield from [*rows, *self._lists_of_classes()]
        names = display_names(list(paths))
        for name, test in zip(paths, tested, strict=True):
            box = SourceBox(None, (unique_name(labels[name]),), group=groups[name])
            yield SourceImage(names[name], self._tree.file(name), (box,), test)

    @cached_property
    def _paths(self) -> dict[str, tuple[str, ...]]:
        paths, masks, _ = class_paths(self._tree)
        if not paths:
            remedy = "put the images of each class into a folder with the name of the class"
            raise InputError(self._shown_place(), LAYOUT, "no folder with images", remedy)
        if masks:
            shown = listed([readable(name) for name in masks])
            evidence = (
                f"{counted(len(masks), 'image')} with the names of others, in folders of masks: {shown}"
            )
            self._decide(Decision("masks", "no samples", evidence))
        return paths

    @cached_property
    def _level(self) -> str:
        _, _, letters = class_paths(self._tree)
        found = level_of(list(self._paths.values()), letters)
        value = found.value if self.level == FOUND else self.level
        others = tuple(other for other in (found.value, *found.others) if other != value)
        labels = sorted({readable(class_at(path, value)) for path in self._paths.values()})
        where = "all folders" if value == PATH else f"folders at level {value}"
        self._decide(
            Decision(
                "classes",
                f"{where}: {listed(labels)}",
                found.evidence,
                "level",
                value,
                others,
                found.is_open and self.level == FOUND,
            )
        )
        return value

    def _lists_of_classes(self) -> Iterator[Problem]:
        """Yield a report row for each list that names images outside of folders of classes: it is not read."""
        outside = {base(name) for name in self._tree.names if is_image(name) and name not in self._paths}
        lists = (
            [name for name in self._tree.names if suffix(name) in (".txt", ".csv", ".tsv")] if outside else []
        )
        for name in lists[:MAX_LISTS]:
            try:
                lines = self._tree.head(name, MAX_HEAD).decode("utf-8", "replace").splitlines()
            except Unusable:
                continue
            named = {re.split(r"[\s,;]", line, maxsplit=1)[0] for line in lines} & outside
            if named:
                came = f"rows about {listed(sorted(map(readable, named)))}, in no folder of a class"
                done = "not read; with a header of image and label it can be imported as a table"
                yield Problem(readable(name), self._needs, came, done)


def class_at(path: Sequence[str], level: str) -> str:
    """
    >>> class_at(["a", "b"], "1"), class_at(["a", "b"], "3"), class_at(["a", "b"], "all")
    ('a', 'b', 'a/b')
    """
    return "/".join(path) if level == PATH else path[min(int(level), len(path)) - 1]


def _group(path: Sequence[str], level: str, label: str) -> str | None:
    """Return the group of images in one folder within the folder of their class, such as the frames of a video."""
    inner = path[len(path) if level == PATH else int(level) :]
    return "/".join([label, *inner]) if inner else None


def level_of(paths: Sequence[Sequence[str]], letters: bool) -> Level:
    """Return the level of the folders that are classes. letters: whether folders of initials were left out above."""
    depth = max(map(len, paths), default=0)
    several = [
        str(level)
        for level in range(1, min(depth, 3) + 1)
        if len({class_at(path, str(level)) for path in paths}) > 1
    ]
    evidence = f"{counted(len(paths), 'image')} in folders of {counted(depth, 'level')}"
    if depth < 2:
        return Level("1", evidence)
    inside: dict[str, set[str]] = {}
    for path in paths:
        inside.setdefault(path[0], set()).update(path[1:2])
    nested, direct = (
        {path[0] for path in paths if len(path) > 1},
        {path[0] for path in paths if len(path) == 1},
    )
    inner = {name for names in inside.values() for name in names}
    numbered = sum(any(map(str.isdigit, name)) for name in inner)
    if letters:
        return Level(PATH, f"{evidence}, below folders of their initials", tuple(several))
    if 2 * numbered > len(inner):
        evidence += (
            f"; {numbered:,} of {counted(len(inner), 'folder')} at level 2 are numbered, as videos are"
        )
        return Level("1", evidence, tuple(several[1:]))
    if nested <= direct:
        return Level("1", f"{evidence}; all folders at level 1 have images too", tuple(several[1:]))
    if all(len(names) <= 1 for names in inside.values()):
        return Level("1", f"{evidence}; each folder at level 1 has one inside at most", (*several[1:], PATH))
    return Level("1", f"{evidence}; names do not tell which are classes", (*several[1:], PATH), is_open=True)


def class_paths(tree: FileTree) -> tuple[dict[str, tuple[str, ...]], list[str], bool]:
    """Return the folders of each image that can be classes, without images that have none; the masks beside images; and
    whether folders of initials were left out."""
    names = [name for name in tree.names if is_image(name)]
    masks = _masks(tree, names)
    names = [name for name in names if name not in masks]
    parts = part_folders(names)
    folders: dict[str, set[str]] = {}
    for name in names:
        while name := parent(name):
            folders.setdefault(parent(name), set()).add(name)
    # names of folders in folders of parts, by the folder around the parts
    in_parts: dict[str, set[str]] = {}
    for inner in folders.values():
        for folder in inner:
            above, last = parent(folder), base(folder)
            while above:
                if above in parts and last != base(above) and without_kind(last):
                    in_parts.setdefault(parent(above), set()).add(last)
                above = parent(above)

    def is_class(folder: str) -> bool:
        last, around = base(folder), parent(folder)
        beside = [base(other) for other in folders[around] if other not in parts]
        is_kind = not any(map(without_kind, beside))
        # beside parts that contain folders, what has no name of these is a part as well
        is_part = folder in parts or (bool(in_parts.get(around)) and last not in in_parts[around])
        return not (is_part or is_kind or last.casefold() == base(around).casefold())

    kept = {folder: is_class(folder) for inner in folders.values() for folder in inner}
    paths = {}
    for name in names:
        outer = name.split("/")[:-1]
        places = [place for place in range(len(outer)) if kept["/".join(outer[: place + 1])]]
        paths[name] = tuple(outer[place] for place in places)
    while len({path[:1] for path in paths.values() if path}) == 1 and any(
        len(path) > 1 for path in paths.values()
    ):
        paths = {name: path[1:] for name, path in paths.items()}
    letters = [path for path in paths.values() if path]
    is_index = len(letters) > 0 and all(
        len(path) > 1
        and len(path[0]) == 1
        and path[1].casefold().startswith(path[0].casefold())
        and not any(map(str.isdigit, path[1]))
        for path in letters
    )
    return {name: path[is_index:] for name, path in paths.items() if path}, sorted(masks), is_index


def _masks(tree: FileTree, names: Sequence[str]) -> set[str]:
    """Return the images in folders of masks with the names of other images: all, or of folders named in the singular,
    which may be a class, those of few colours."""
    likely = [name for name in names if suffix(name) in MASK_SUFFIXES and mask_words(name)]
    stems = {stem(name) for name in set(names).difference(likely)} if likely else set()
    masks = {name for name in likely if MASK_STEM.sub("", stem(name)) in stems}
    return {
        name
        for name in masks
        if any(word.endswith("s") for word in mask_words(name)) or _has_few_colours(tree, name)
    }


def _has_few_colours(tree: FileTree, name: str) -> bool:
    try:
        head = tree.head(name, COLOURS)
    except Unusable:
        return False
    return suffix(name) != ".png" or (len(head) == COLOURS and head[-1] in FEW)
