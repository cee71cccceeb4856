"""Where annotations of PASCAL VOC and their images lie: as VOC has it, and as tools export it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ranking.files import FileTree, Unusable
from ranking.files.files import IMAGE_SUFFIXES
from ranking.files.tree import base, parent, suffix
from ranking.formats.tree_source import part_of

LOOKED_AT = 5  # annotations that say whether folders of common names hold VOC
HEAD = 4096
BEGINS = re.compile(rb"<annotation[\s>]")
LABEL_STUDIO = b"<name>Label Studio</name>"  # the owner that its exports tell
LABELMAP, OF_CVAT = "labelmap.txt", b"# label"  # what CVAT puts beside the folders, and how that begins


class Layout(NamedTuple):
    """Which folders hold annotations and images, both "" where these lie beside each other; and how boxes count pixels:
    VOC from 1 with both ends included, FiftyOne, Label Studio and CVAT from 0 without the last.

    parts: the parts of the set, where each holds both: what it is ("train", "val", "test"), its folder, and how that is
    laid out.
    """

    annotations: str
    images: str
    first_pixel: int = 1
    parts: tuple[tuple[str, str, Layout], ...] = ()

    @property
    def beside(self) -> bool:
        return not self.annotations


VOC, FIFTYONE, BESIDE = Layout("Annotations", "JPEGImages"), Layout("labels", "data", 0), Layout("", "")
# That of FiftyOne; of Label Studio; of sets that people share, who have LabelImg save into a folder of its own.
COMMON = (
    FIFTYONE,
    *(Layout(name, "images") for name in ("Annotations", "annotations", "labels", "xml", "xmls")),
)


def voc_folders(tree: FileTree) -> dict[str, Layout]:
    """Every folder of the tree that is laid out as VOC, and how. Images and annotations are looked for beside each
    other, as LabelImg leaves them, only where there are no folders for them, or these are of parts; parts that lie
    beside each other, as Roboflow exports them, are one."""
    above = sorted({"", *map(parent, [*tree.folders, *tree.closed])})
    found = {folder: layout for folder in above for layout in _layouts(tree, folder)}
    if found and None in map(_part, found):
        return found
    inner = tuple(folder + "/" for folder in found)
    free = [folder for folder in sorted({"", *tree.folders}) if not folder.startswith(inner)]
    likely = [folder for folder in free if folder not in found and (not found or _part(folder))]
    mixed = {folder: BESIDE for folder in likely if _are_beside(tree, folder)}
    return _as_one(found | mixed) or found or mixed


def _part(folder: str) -> str | None:
    """Which part of a set a folder says by its own name that it holds."""
    return part_of(base(folder) + "/")


def _as_one(found: dict[str, Layout]) -> dict[str, Layout]:
    """The folder above several that are a part each; nothing where they are not, or count pixels differently."""
    told = tuple((str(_part(folder)), base(folder), layout) for folder, layout in found.items())
    tops, parts = set(map(parent, found)), {_part(folder) for folder in found}
    first_pixels = {layout.first_pixel for layout in found.values()}
    if None in parts or not len(parts) == len(found) > 1 or len(tops) > 1 or len(first_pixels) > 1:
        return {}
    return {tops.pop(): Layout("", "", first_pixels.pop(), told)}


def _layouts(tree: FileTree, folder: str) -> Iterator[Layout]:
    """The first layout that a folder has, if any."""
    inner = folder + "/" if folder else ""
    for layout in (VOC, *COMMON):
        if tree.has_folder(inner + layout.annotations) and tree.has_folder(inner + layout.images):
            heads = _heads(tree, tree.children(inner + layout.annotations))
            if layout is VOC or any(map(BEGINS.search, heads)):
                from_0 = any(LABEL_STUDIO in head for head in heads) or _is_of_cvat(tree, inner)
                yield layout._replace(first_pixel=0) if from_0 else layout
                return


def _is_of_cvat(tree: FileTree, inner: str) -> bool:
    """Whether CVAT has written the folder, whose name and slash are `inner`."""
    return tree.has(inner + LABELMAP) and _head(tree, inner + LABELMAP).startswith(OF_CVAT)


def _are_beside(tree: FileTree, folder: str) -> bool:
    files = tree.children(folder)
    heads = _heads(tree, [name for name in files if suffix(name) == ".xml"])
    return any(map(BEGINS.search, heads)) and any(suffix(name) in IMAGE_SUFFIXES for name in files)


def _heads(tree: FileTree, names: list[str]) -> list[bytes]:
    """How the first annotations begin; none where these are no XML: YOLO has labels/ too, of text."""
    first = names[:LOOKED_AT]
    return [_head(tree, name) for name in first] if all(suffix(name) == ".xml" for name in first) else []


def _head(tree: FileTree, name: str) -> bytes:
    try:
        return tree.head(name, HEAD)
    except Unusable:  # reading it in earnest tells why; here it is only not recognised
        return b""
