"""COCO: one JSON file of images, categories and boxes, or one for each part of a set."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ranking.core import Problem
from ranking.core.settings import setting
from ranking.core.text import counted
from ranking.datasets.registry import SOURCES
from ranking.files import FileTree, Limits, Unusable
from ranking.formats.annotated_tree import AnnotatedTree, Listed
from ranking.formats.coco_file import Instances, read_coco, without_outline
from ranking.formats.json_file import read_json
from ranking.formats.tree_source import beginning, part_told

LAYOUT = "images and a JSON file of COCO instances with images, categories and annotations"
BEGINS = re.compile(rb'\s*\{\s*"(?:info|licenses|images|annotations|categories|type)"\s*:')
HEAD = 4096
SMALL = 2**20  # bytes of a file that is looked through for what it lists
LISTS = re.compile(rb'"(?:images|annotations)"\s*:')


@SOURCES.register("COCO")
@dataclass
class Coco(AnnotatedTree):
    """Lin et al., ECCV 2014, and what Roboflow, CVAT, Label Studio and FiftyOne export in that form.

    Boxes are x, y, width and height from 0. An image is looked up by its `file_name`, which is never a path; outlines
    and supercategories are not read; categories of one name are one class. The part that a JSON file or its folder
    names (train, val, test) is that of its images; where neither does, the one that an image's own folder names. Images
    of one `video_id` are a group, as sets of frames tell it.
    """

    expected: ClassVar[str] = LAYOUT
    files: ClassVar[str] = "JSON files of COCO"
    alike: ClassVar[str] = "as COCO does"

    crowd: str = setting(
        "leave out",
        label="Crowds",
        help="What to do with boxes around a crowd of objects that nobody told apart (iscrowd 1). They show no single "
        "object of their class.",
        choices=("leave out", "keep"),
        advanced=True,
    )

    @classmethod
    def annotation_files(cls, tree: FileTree) -> list[str]:
        """Of those of instances and of others, such as captions, the first."""
        begin = beginning(tree, ".json", HEAD, lambda head: BEGINS.match(head) is not None)
        found = [name for name in begin if _may_list(tree, name)]
        return [name for name in found if "instances" in name] or found

    def _read(self, files: Sequence[str]) -> tuple[list[Listed], list[Problem]]:
        told = Instances()

        def read(name: str, limits: Limits) -> None:
            read_coco(name, read_json(self._tree, name, limits, without_outline), self.crowd == "keep", told)

        self._each(files, told.problems, read)
        rows = list(told.problems.rows())
        if told.crowds:
            done = "left out" if self.crowd == "leave out" else "kept"
            rows.append(Problem(counted(told.crowds, "box"), "boxes of single objects", "iscrowd 1", done))
        return [
            Listed(one.file, one.told, boxes, part_told(one.file), one.size, [one.video] if one.video else [])
            for key, one in told.images.items()
            for boxes in [tuple(told.boxes.get(key, ()))]
        ], rows


def _may_list(tree: FileTree, name: str) -> bool:
    """Whether a file that begins as COCO does may list anything: beside its export for YOLO Label Studio puts one of
    categories alone."""
    try:
        head = tree.head(name, SMALL)
    except Unusable:  # reading it in earnest tells why
        return True
    return len(head) == SMALL or LISTS.search(head) is not None
