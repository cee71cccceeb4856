"""Label Studio: a JSON or JSON-MIN export, and the images that were labelled."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from ranking.datasets.image_names import ImageNames
from ranking.datasets.json_file import read_json
from ranking.datasets.label_studio_file import TASK_LEFT_OUT, Task, Tasks, read_tasks, without_drafts
from ranking.datasets.registry import SOURCES
from ranking.datasets.tree_source import Grouped, TreeSource, beginning, called, is_image, part_of, part_told
from ranking.intake import FileTree, Limits, Recognised, Unusable
from ranking.intake.tree import parent
from ranking.text import counted, listed, readable
from ranking.types import Problem, SourceImage

LAYOUT = "images and a JSON or JSON-MIN export of Label Studio"
BEGINS = re.compile(rb"\s*\[\s*\{")
KEYS = re.compile(
    rb'"(?:result|completions|rectanglelabels|polygonlabels|choices|annotation_id|annotator|file_upload|lead_time)"\s*:'
)
HEAD = 8192
MOST_FILES = 50  # of tasks in one set


@SOURCES.register("Label Studio")
@dataclass
class LabelStudio(TreeSource):
    """Rectangles and outlines with labels, as upright boxes around them, and choices, which are of the whole image.

    Label Studio exports no images: bring the originals beside the file. They are looked up by the last part of what
    the task calls them, also without the eight letters that an upload puts before it, and never followed. Predictions
    and drafts are not read. Percentages are of the picture as browsers show it.
    """

    expected: ClassVar[str] = LAYOUT

    @classmethod
    def recognise(cls, tree: FileTree) -> Recognised | None:
        """A JSON file that begins as Label Studio's does, and images."""
        files, images = task_files(tree), sum(map(is_image, tree.names))
        if not files or not images:
            return None
        begins = "begins" if len(files) == 1 else "begin"
        shown = listed([readable(name) for name in files])
        return Recognised(
            0.9, f"{shown} {begins} as tasks of Label Studio do, and there are {counted(images, 'image')}"
        )

    def __len__(self) -> int:
        return len(self._tasks.tasks)

    def records(self) -> Iterator[SourceImage | Problem]:
        yield from self._tree.problems
        yield from self._tasks.problems.rows()
        found, missing = self._found
        yield from missing.rows()
        tested, rows = self._which_test([part_told(task.file) or part_of(name) for name, task in found])
        yield from rows
        names = called([name for name, _ in found])
        for (name, task), test in zip(found, tested, strict=True):
            yield SourceImage(names[name], self._tree.file(name), task.boxes, test, task.size, upright=True)

    @cached_property
    def _tasks(self) -> Tasks:
        files = task_files(self._tree)
        if not files:
            raise ValueError(f"expected {LAYOUT}; {readable(str(self._tree.place), 255)} has no such file")
        if len(files) > MOST_FILES:
            raise ValueError(
                f"expected at most {MOST_FILES} JSON files of tasks, got {len(files):,}; bring one part"
            )
        told, limits = Tasks(), Limits.from_environment()
        for name in files:
            try:
                read_tasks(name, read_json(self._tree, name, limits, without_drafts), told)
            except Unusable as error:
                told.problems.add(readable(name, 255), error.expected, error.came, "file left out")
        if not told.tasks:
            reasons = "; ".join(
                f"{row.file}: expected {row.expected}, got {row.came}" for row in told.problems.rows()
            )
            raise ValueError(f"expected {LAYOUT}; no task names an image. {reasons}")
        return told

    @cached_property
    def _found(self) -> tuple[list[tuple[str, Task]], Grouped]:
        """The name in the tree of the image of each task, and rows about those that are not there, or come again."""
        index, missing = ImageNames(self._tree), Grouped()
        found: dict[str, Task] = {}
        for task in self._tasks.tasks:
            try:
                name = _find(index, task)
                if name in found:
                    raise Unusable("one task for every image", f"{name} again")
                found[name] = task
            except Unusable as error:
                came = f"{task.shown}: {error.came}"
                missing.add(readable(task.file, 255), error.expected, came, TASK_LEFT_OUT)
        return list(found.items()), missing


def task_files(tree: FileTree) -> list[str]:
    """The JSON files that begin as a list of tasks does."""
    return beginning(tree, ".json", HEAD, lambda head: bool(BEGINS.match(head) and KEYS.search(head)))


def _find(index: ImageNames, task: Task) -> str:
    """The image of a task, by the first of its names that any image has."""
    known = next(filter(index.knows, task.names), task.names[0])
    return index.find(known, parent(task.file), part_told(task.file))
