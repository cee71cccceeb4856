"""What the sources share whose images are told of by files of annotations, one or one for each part of a set."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

from ranking.core import Problem, SourceBox, SourceImage
from ranking.core.errors import InputError
from ranking.core.text import counted, listed, readable
from ranking.files import FileTree, Limits, Recognised, Unusable
from ranking.files.tree import parent
from ranking.formats.image_names import ImageNames
from ranking.formats.tree_source import Grouped, TreeSource, called, is_image, part_of

MOST_FILES = 50  # of annotations in one set


class Listed(NamedTuple):
    """An image as a file of annotations tells of it.

    file: that of annotations. name: what it is called there. part: "train", "val" or "test", as annotations say, or
    None. size: as claimed, or None.
    """

    file: str
    name: str
    boxes: tuple[SourceBox, ...]
    part: str | None
    size: tuple[int, int] | None
    groups: Sequence[str] = ()


@dataclass
class AnnotatedTree(TreeSource):
    """files, alike: such files in words, as "JSON files of COCO", and as what they begin."""

    files: ClassVar[str]
    alike: ClassVar[str]

    @classmethod
    @abstractmethod
    def annotation_files(cls, tree: FileTree) -> list[str]:
        """The files of a tree that begin as those of this source do."""

    @abstractmethod
    def _read(self, files: Sequence[str]) -> tuple[list[Listed], list[Problem]]:
        """The images that the files list, and rows about what is wrong with the rest."""

    @classmethod
    def recognise(cls, tree: FileTree) -> Recognised | None:
        """Files of annotations, and images."""
        files, images = cls.annotation_files(tree), sum(map(is_image, tree.names))
        if not files or not images:
            return None
        begin = "begins" if len(files) == 1 else "begin"
        shown = listed([readable(name) for name in files])
        return Recognised(0.9, f"{shown} {begin} {cls.alike}, and there are {counted(images, 'image')}")

    def __len__(self) -> int:
        return len(self._told[0])

    def records(self) -> Iterator[SourceImage | Problem]:
        yield from self._tree.problems
        yield from self._told[1]
        found, missing = self._found
        yield from missing.rows()
        parts = [one.part or part_of(name) for name, one in found.items()]
        tested, rows = self._which_test(parts, [one.groups for one in found.values()])
        yield from rows
        names = called(list(found))
        for (name, one), test in zip(found.items(), tested, strict=True):
            file = self._tree.file(name)
            yield SourceImage(names[name], file, one.boxes, test, one.size)

    @cached_property
    def _told(self) -> tuple[list[Listed], list[Problem]]:
        files, place = self.annotation_files(self._tree), readable(str(self._tree.place), 255)
        if not files:
            raise InputError(place, self.expected, "no such file")
        if len(files) > MOST_FILES:
            raise InputError(place, f"at most {MOST_FILES} {self.files}", len(files), "import one part")
        told, rows = self._read(files)
        if not told:
            reasons = "; ".join(f"{row.file}: expected {row.expected}, got {row.came}" for row in rows)
            raise InputError(
                place, f"{self.expected}, of which at least one lists an image", reasons or "none"
            )
        return told, rows

    def _each(self, files: Sequence[str], problems: Grouped, read: Callable[[str, Limits], None]) -> None:
        """Read one file after the other; what none can be read of is a row."""
        limits = Limits.from_environment()
        for name in files:
            try:
                read(name, limits)
            except Unusable as error:
                problems.add(readable(name, 255), error.expected, error.came, "file left out")

    @cached_property
    def _found(self) -> tuple[dict[str, Listed], Grouped]:
        """What tells of each image that is in the tree, and rows about those that are not there, or come again."""
        index, missing = ImageNames(self._tree), Grouped()
        found: dict[str, Listed] = {}
        for one in self._told[0]:
            try:
                name = index.find(one.name, parent(one.file), one.part)
                if name in found:
                    raise Unusable("every image once", f"{name} again")
                found[name] = one
            except Unusable as error:
                missing.add(readable(one.file, 255), error.expected, error.came, "image left out")
        return found, missing
