"""Files that are recognised by their first bytes, among them native formats of tools, which are not read."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Collection, Iterator

from ranking.core import Problem
from ranking.core.text import listed, readable
from ranking.files import FileTree, Unusable
from ranking.files.tree import suffix

EXPORTS = "Export it again, or convert it, as COCO, YOLO or VOC"
# bytes by which the native format of an annotation tool is recognised
TOOL_HEAD = 8192
# tool, suffix, and a pattern near the beginning of such files
TOOL_FORMATS = (
    (
        "Label Studio",
        ".json",
        re.compile(
            rb'\s*\[\s*\{.*?"(?:annotations|completions|annotation_id|annotator|file_upload)"\s*:', re.DOTALL
        ),
    ),
    ("detectors, without images and categories", ".json", re.compile(rb'\s*\[\s*\{[^{}]*"image_id"\s*:')),
    ("Labelbox", ".ndjson", re.compile(rb'\s*\{.*?"data_row"\s*:', re.DOTALL)),
    ("Labelbox", ".json", re.compile(rb'\s*\[\s*\{.*?"data_row"\s*:', re.DOTALL)),
    ("V7 Darwin", ".json", re.compile(rb'\s*\{.*?"slots"\s*:', re.DOTALL)),
    ("Label Studio", ".csv", re.compile(rb"(?=[^\r\n]*\bannotation_id\b)(?=[^\r\n]*\blead_time\b)")),
    ("CVAT", ".xml", re.compile(rb"(?s:.*?)<annotations[\s>]")),
)


def beginning(tree: FileTree, ending: str, size: int, known: Callable[[bytes], object]) -> list[str]:
    """Return the files of a tree with that suffix whose first `size` bytes, without a byte order mark, are `known`."""
    names = []
    for name in tree.names:
        if suffix(name) == ending:
            try:
                head = tree.head(name, size)
            except Unusable:
                # the import reports the reason; here it is only not recognised
                continue
            if known(head.removeprefix(codecs.BOM_UTF8)):
                names.append(name)
    return names


def tool_formats(tree: FileTree, names: Collection[str]) -> Iterator[Problem]:
    """Yield a report row for each annotation tool whose native format some of `names` have; these are not read."""
    for tool, ending, pattern in TOOL_FORMATS:
        begin = beginning(tree, ending, TOOL_HEAD, pattern.match)
        if own := [name for name in begin if name in names]:
            shown = listed([readable(name, 255) for name in own])
            yield Problem(shown, "COCO, YOLO or VOC", f"the native format of {tool}. {EXPORTS}", "ignored")
