"""Files that are recognised by their first bytes, among them native formats of tools, which are not read."""

from __future__ import annotations

import codecs
import contextlib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from PIL import Image

from ranking.core import Problem
from ranking.core.text import listed, readable
from ranking.files import FileTree, Unusable
from ranking.files.tree import suffix

EXPORTS = "Export it again, or convert it, as COCO, YOLO or VOC"
# bytes by which the native format of an annotation tool is recognised
TOOL_HEAD = 8192
# first bytes of an image, which contain its size
IMAGE_HEAD = 2**17
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
    ("VIA 3", ".json", re.compile(rb'\s*\{\s*"project"\s*:\s*\{\s*"pid"\s*:')),
    ("CVAT", ".xml", re.compile(rb"(?s:.*?)<annotations[\s>]")),
)

# files that hold arrays, images or labels, and how their suffixes begin
CONTAINERS = {
    "MATLAB": (".mat",),
    "TFRecord": (".tfrecord", ".record"),
    "HDF5": (".h5", ".hdf"),
    "LMDB": (".mdb",),
}
UNPACK = "write the images as files, and their labels as a table (CSV)"


def beginning(tree: FileTree, names: Iterable[str], size: int, known: Callable[[bytes], object]) -> list[str]:
    """Return those of some files whose first `size` bytes, without a byte order mark, are `known`."""
    begin = []
    for name in names:
        # of others, the import reports why they cannot be read
        with contextlib.suppress(Unusable):
            if known(tree.head(name, size).removeprefix(codecs.BOM_UTF8)):
                begin.append(name)
    return begin


def beginning_of_image(tree: FileTree, name: str) -> tuple[tuple[int, int], str]:
    """Return the size and the mode of an image by its first bytes; Unusable if they do not contain these."""
    try:
        with Image.open(io.BytesIO(tree.head(name, IMAGE_HEAD))) as image:
            return image.size, image.mode
    except (OSError, ValueError, SyntaxError) as error:
        raise Unusable("an image", type(error).__name__) from error


def with_suffix(names: Iterable[str], ending: str) -> list[str]:
    """Return the names with a suffix."""
    return [name for name in names if suffix(name) == ending]


def tool_formats(tree: FileTree, names: Sequence[str]) -> Iterator[Problem]:
    """Yield a report row for each annotation tool or kind of container whose native format some of `names` have; these
    are not read."""
    for kind, endings in CONTAINERS.items():
        if own := [name for name in names if suffix(name).startswith(endings)]:
            for name in own:
                tree.note_opened(name)
            shown = listed([readable(name, 255) for name in own])
            yield Problem(shown, "images and labels as files", f"{kind}; {UNPACK}", "ignored")
    for tool, ending, pattern in TOOL_FORMATS:
        if own := beginning(tree, with_suffix(names, ending), TOOL_HEAD, pattern.match):
            for name in own:
                tree.note_opened(name)
            shown = listed([readable(name, 255) for name in own])
            yield Problem(shown, "COCO, YOLO or VOC", f"the native format of {tool}. {EXPORTS}", "ignored")
