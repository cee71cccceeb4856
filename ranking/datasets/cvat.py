"""CVAT 1.1: an XML file of images or of a video, and the images or frames."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from ranking.datasets.cvat_file import Drawings, Key, read_cvat, read_xml
from ranking.datasets.image_names import ImageNames
from ranking.datasets.registry import SOURCES
from ranking.datasets.tree_source import (
    PARTS,
    Grouped,
    TreeSource,
    beginning,
    called,
    is_image,
    part_of,
    part_told,
)
from ranking.intake import FileTree, Limits, Recognised, Unusable
from ranking.intake.tree import parent
from ranking.text import counted, listed, readable
from ranking.types import Problem, SourceImage

LAYOUT = "images and an annotations.xml of CVAT, for images or for video"
BEGINS = re.compile(rb"<annotations[\s>]")
HEAD = 4096
MOST_FILES = 50  # of annotations in one set


@SOURCES.register("CVAT")
@dataclass
class Cvat(TreeSource):
    """CVAT for images 1.1 and CVAT for video 1.1, of a job, a task or a project.

    Boxes are taken as they are, of turned ones, outlines and ellipses the boxes around them; tags are of the whole
    image. Attributes are not read. Images are looked up by name and never followed, frames of a video as CVAT exports
    them (frame_000000). What was drawn on video keeps its track as group, or its task. CVAT shows pictures upright.
    """

    expected: ClassVar[str] = LAYOUT

    @classmethod
    def recognise(cls, tree: FileTree) -> Recognised | None:
        """An XML file with `<annotations>`, and images."""
        files, images = annotation_files(tree), sum(map(is_image, tree.names))
        if not files or not images:
            return None
        shown, begins = listed([readable(name) for name in files]), "begins" if len(files) == 1 else "begin"
        return Recognised(0.9, f"{shown} {begins} as CVAT does, and there are {counted(images, 'image')}")

    def __len__(self) -> int:
        return len(self._drawings.images)

    def records(self) -> Iterator[SourceImage | Problem]:
        images = self._drawings.images
        yield from self._tree.problems
        yield from self._drawings.problems.rows()
        found, missing = self._found
        yield from missing.rows()
        parts = [
            PARTS.get(key.subset.lower()) or part_told(key.file) or part_of(name)
            for name, key in found.items()
        ]
        groups = [
            sorted({box.group for box in images[key].all_boxes() if box.group}) for key in found.values()
        ]
        tested, rows = self._which_test(parts, groups)
        yield from rows
        names = called(list(found))
        for (name, key), test in zip(found.items(), tested, strict=True):
            told = images[key]
            yield SourceImage(
                names[name], self._tree.file(name), told.all_boxes(), test, told.size, upright=True
            )

    @cached_property
    def _drawings(self) -> Drawings:
        files = annotation_files(self._tree)
        if not files:
            raise ValueError(f"expected {LAYOUT}; {readable(str(self._tree.place), 255)} has no such file")
        if len(files) > MOST_FILES:
            raise ValueError(
                f"expected at most {MOST_FILES} XML files of CVAT, got {len(files):,}; bring one part"
            )
        told, limits = Drawings(), Limits.from_environment()
        for name in files:
            try:
                read_cvat(name, read_xml(self._tree, name, limits), told)
            except Unusable as error:
                told.problems.add(readable(name, 255), error.expected, error.came, "file left out")
        if not told.images:
            reasons = "; ".join(
                f"{row.file}: expected {row.expected}, got {row.came}" for row in told.problems.rows()
            )
            raise ValueError(f"expected {LAYOUT}; no image is listed. {reasons}")
        return told

    @cached_property
    def _found(self) -> tuple[dict[str, Key], Grouped]:
        """What tells of each image that is in the tree, and rows about those that are not there, or come again."""
        index, missing = ImageNames(self._tree), Grouped()
        found: dict[str, Key] = {}
        for key in self._drawings.images:
            told = f"{key.subset}/{key.name}" if key.subset else key.name
            part = PARTS.get(key.subset.lower()) or part_told(key.file)
            try:
                name = index.find(told, parent(key.file), part)
                if name in found:
                    raise Unusable("every image once", f"{name} again")
                found[name] = key
            except Unusable as error:
                missing.add(readable(key.file, 255), error.expected, error.came, "image left out")
        return found, missing


def annotation_files(tree: FileTree) -> list[str]:
    """The XML files that begin as CVAT does."""
    return beginning(tree, ".xml", HEAD, lambda head: BEGINS.search(head) is not None)
