"""COCO: one JSON file of images, categories and boxes, or one for each part of a set."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from ranking.datasets.coco_file import IMAGE_LEFT_OUT, Instances, Key, read_coco, without_outline
from ranking.datasets.image_names import ImageNames
from ranking.datasets.json_file import read_json
from ranking.datasets.registry import SOURCES
from ranking.datasets.tree_source import Grouped, TreeSource, beginning, called, is_image, part_told
from ranking.intake import FileTree, Limits, Recognised, Unusable
from ranking.intake.tree import parent
from ranking.settings import setting
from ranking.text import counted, listed, readable
from ranking.types import Problem, SourceImage

LAYOUT = "images and a JSON file of COCO instances with images, categories and annotations"
BEGINS = re.compile(rb'\s*\{\s*"(?:info|licenses|images|annotations|categories|type)"\s*:')
HEAD = 4096
MOST_FILES = 50  # of annotations in one set


@SOURCES.register("COCO")
@dataclass
class Coco(TreeSource):
    """Lin et al., ECCV 2014, and what Roboflow, CVAT and FiftyOne export in that form.

    Boxes are x, y, width and height from 0. An image is looked up by its `file_name`, which is never a path; outlines
    and supercategories are not read; categories of one name are one class. The part that a JSON file or its folder
    names (train, val, test) is that of its images.
    """

    expected: ClassVar[str] = LAYOUT

    crowd: str = setting(
        "leave out",
        label="Crowds",
        help="What to do with boxes around a crowd of objects that nobody told apart (iscrowd 1). They show no single "
        "object of their class.",
        choices=("leave out", "keep"),
        advanced=True,
    )

    @classmethod
    def recognise(cls, tree: FileTree) -> Recognised | None:
        """A JSON file that begins as COCO does, and images."""
        files, images = _annotation_files(tree), sum(map(is_image, tree.names))
        if not files or not images:
            return None
        shown = listed([readable(name) for name in files])
        begins = "begins" if len(files) == 1 else "begin"
        return Recognised(0.9, f"{shown} {begins} as COCO does, and there are {counted(images, 'image')}")

    def __len__(self) -> int:
        return len(self._instances.images)

    def records(self) -> Iterator[SourceImage | Problem]:
        told = self._instances
        yield from self._tree.problems
        yield from told.problems.rows()
        if told.crowds:
            done = "left out" if self.crowd == "leave out" else "kept"
            yield Problem(counted(told.crowds, "box"), "boxes of single objects", "iscrowd 1", done)
        found, missing = self._found
        yield from missing.rows()
        tested, rows = self._which_test([part_told(told.images[key].file) for key in found])
        yield from rows
        names = called(list(found.values()))
        for (key, name), test in zip(found.items(), tested, strict=True):
            boxes = tuple(told.boxes.get(key, ()))
            yield SourceImage(names[name], self._tree.file(name), boxes, test, told.images[key].size)

    @cached_property
    def _instances(self) -> Instances:
        files = _annotation_files(self._tree)
        if not files:
            raise ValueError(f"expected {LAYOUT}; {readable(str(self._tree.place), 255)} has no such file")
        if len(files) > MOST_FILES:
            raise ValueError(
                f"expected at most {MOST_FILES} JSON files of COCO, got {len(files):,}; bring one part"
            )
        told, limits = Instances(), Limits.from_environment()
        for name in files:
            try:
                root = read_json(self._tree, name, limits, without_outline)
                read_coco(name, root, self.crowd == "keep", told)
            except Unusable as error:
                told.problems.add(readable(name), error.expected, error.came, "file left out")
        if not told.images:
            reasons = "; ".join(
                f"{row.file}: expected {row.expected}, got {row.came}" for row in told.problems.rows()
            )
            raise ValueError(f"expected {LAYOUT}; no image is listed. {reasons}")
        return told

    @cached_property
    def _found(self) -> tuple[dict[Key, str], Grouped]:
        """The name in the tree of each listed image, and rows about those that are not there, or there twice."""
        index, missing = ImageNames(self._tree), Grouped()
        found: dict[Key, str] = {}
        for key, image in self._instances.images.items():
            try:
                found[key] = index.find(image.told, parent(image.file), part_told(image.file))
            except Unusable as error:
                missing.add(readable(image.file), error.expected, error.came, IMAGE_LEFT_OUT)
        return found, missing


def _annotation_files(tree: FileTree) -> list[str]:
    """The JSON files that begin as COCO does; of those of instances and of others, such as captions, the first."""
    found = beginning(tree, ".json", HEAD, lambda head: BEGINS.match(head) is not None)
    return [name for name in found if "instances" in name] or found
