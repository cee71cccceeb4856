"""CVAT 1.1: an XML file of images or of a video, and the images or frames."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ranking.core import Problem
from ranking.datasets.registry import SOURCES
from ranking.datasets.splits import PARTS
from ranking.files import FileTree, Limits
from ranking.formats.annotated_tree import AnnotatedTree, Listed
from ranking.formats.cvat_file import Drawings, Drawn, Key, read_cvat
from ranking.formats.tree_source import beginning, part_told
from ranking.formats.xml_file import read_xml

LAYOUT = "images and an annotations.xml of CVAT, for images or for video"
BEGINS = re.compile(rb"<annotations[\s>]")
HEAD = 4096


@SOURCES.register("CVAT")
@dataclass
class Cvat(AnnotatedTree):
    """CVAT for images 1.1 and CVAT for video 1.1, of a job, a task or a project.

    Boxes are taken as they are, of turned ones, outlines and ellipses the boxes around them; tags are of the whole
    image. Attributes are not read. Images are looked up by name and never followed, frames of a video as CVAT exports
    them (frame_000000). What was drawn on video keeps its track as group, or its task. CVAT shows pictures upright.
    """

    expected: ClassVar[str] = LAYOUT
    files: ClassVar[str] = "XML files of CVAT"
    alike: ClassVar[str] = "as CVAT does"
    upright: ClassVar[bool] = True

    @classmethod
    def annotation_files(cls, tree: FileTree) -> list[str]:
        return beginning(tree, ".xml", HEAD, lambda head: BEGINS.search(head) is not None)

    def _read(self, files: Sequence[str]) -> tuple[list[Listed], list[Problem]]:
        told = Drawings()

        def read(name: str, limits: Limits) -> None:
            read_cvat(name, read_xml(self._tree, name, limits, "annotations"), told)

        self._each(files, told.problems, read)
        return [_listed(key, drawn) for key, drawn in told.images.items()], list(told.problems.rows())


def _listed(key: Key, drawn: Drawn) -> Listed:
    name = f"{key.subset}/{key.name}" if key.subset else key.name
    part, boxes = PARTS.get(key.subset.lower()) or part_told(key.file), drawn.all_boxes()
    groups = sorted({box.group for box in boxes if box.group})
    return Listed(key.file, (name,), boxes, part, drawn.size, groups)
