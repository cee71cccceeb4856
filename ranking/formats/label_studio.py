"""Label Studio: a JSON, JSON-MIN or CSV export, and the images that were labelled."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ranking.core import Problem
from ranking.datasets.registry import SOURCES
from ranking.files import FileTree, Limits
from ranking.files.tree import suffix
from ranking.formats.annotated_tree import AnnotatedTree, Listed
from ranking.formats.json_file import read_json
from ranking.formats.label_studio_csv import begins_so, read_table_of_tasks
from ranking.formats.label_studio_file import Tasks, read_tasks, without_drafts
from ranking.formats.tree_source import beginning, part_told

LAYOUT = "images and a JSON, JSON-MIN or CSV export of Label Studio"
BEGINS = re.compile(rb"\s*\[\s*\{")
KEYS = re.compile(
    rb'"(?:result|completions|rectanglelabels|polygonlabels|choices|annotation_id|annotator|file_upload|lead_time)"\s*:'
)
HEAD = 8192


@SOURCES.register("Label Studio")
@dataclass
class LabelStudio(AnnotatedTree):
    """Rectangles and outlines with labels, as upright boxes around them, and choices, which are of the whole image.

    Label Studio exports no images: bring the originals beside the file. They are looked up by the last part of what
    the task calls them, also without the eight letters that an upload puts before it, and never followed. Predictions
    and drafts are not read. Percentages are of the picture as browsers show it.
    """

    expected: ClassVar[str] = LAYOUT
    files: ClassVar[str] = "JSON or CSV files of tasks"
    alike: ClassVar[str] = "as tasks of Label Studio do"
    lists: ClassVar[str] = "task"
    upright: ClassVar[bool] = True

    @classmethod
    def annotation_files(cls, tree: FileTree) -> list[str]:
        told = beginning(tree, ".json", HEAD, lambda head: bool(BEGINS.match(head) and KEYS.search(head)))
        return told + [name for end in (".csv", ".tsv") for name in beginning(tree, end, HEAD, begins_so)]

    def _read(self, files: Sequence[str]) -> tuple[list[Listed], list[Problem]]:
        told = Tasks()

        def read(name: str, limits: Limits) -> None:
            if suffix(name) == ".json":
                read_tasks(name, read_json(self._tree, name, limits, without_drafts), told)
            else:
                read_table_of_tasks(self._tree, name, limits, told)

        self._each(files, told.problems, read)
        return [
            Listed(one.file, one.names, one.boxes, part_told(one.file), one.size, entry=one.shown)
            for one in told.tasks
        ], list(told.problems.rows())
