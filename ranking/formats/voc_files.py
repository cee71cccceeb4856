"""The files of PASCAL VOC in a tree: the folders of annotations and images, and the content of one annotation.

Elements of an annotation that could name other files (`filename`, `path`, `folder`) are never read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple
from xml.etree.ElementTree import Element

from ranking.core import Problem
from ranking.core.errors import InputError
from ranking.core.text import listed, readable, unique_name
from ranking.files import FileTree, Unusable
from ranking.files.files import IMAGE_SUFFIXES, image_name
from ranking.files.tree import base, parent, suffix
from ranking.formats.file_names import bare, part_of
from ranking.formats.xml_file import NUMBER, xml_root

EXPECTED = (
    "a folder with Annotations and JPEGImages, or a VOCdevkit with such folders VOC2007, VOC2012, ..., or images with "
    "a VOC XML file beside each"
)
YEAR = re.compile(r"VOC(\d{4})")
# annotations that are read to decide whether folders with common names contain VOC
MAX_INSPECTED = 5
HEAD = 4096
BEGINS = re.compile(rb"<annotation[\s>]")
# the owner element of its exports
LABEL_STUDIO = b"<name>Label Studio</name>"
# a file in exports of CVAT, and how it begins
LABELMAP, OF_CVAT = "labelmap.txt", b"# label"
EDGES = ("xmin", "ymin", "xmax", "ymax")
Box = tuple[float, float, float, float]


class Layout(NamedTuple):
    """The folders of annotations and of images, both "" if the files are in the same folder.

    first_pixel: VOC counts pixels from 1 and includes both ends; FiftyOne, Label Studio and CVAT count from 0 and
    exclude the end.
    """

    annotations: str
    images: str
    first_pixel: int = 1


VOC, BESIDE = Layout("Annotations", "JPEGImages"), Layout("", "")
# The layouts of VOC, FiftyOne and Label Studio, and those of LabelImg with a folder for annotations.
LAYOUTS = (
    VOC,
    Layout("labels", "data", first_pixel=0),
    *(Layout(name, "images") for name in ("Annotations", "annotations", "labels", "xml", "xmls")),
)


class Part(NamedTuple):
    """A folder with annotations and images. name: "train", "val" or "test" if each part has its own folder, otherwise
    ""."""

    name: str
    folder: str
    layout: Layout


@dataclass(frozen=True)
class VocFolder:
    """A folder of PASCAL VOC, the top of `tree`. unread: further VOC folders of the tree, by name."""

    tree: FileTree
    parts: tuple[Part, ...]
    title: str
    unread: tuple[str, ...] = ()

    @property
    def layout(self) -> Layout:
        """The layout of the only part; with several parts, the layout of files in one folder per part."""
        return self.parts[0].layout if len(self.parts) == 1 else BESIDE

    @property
    def first_pixel(self) -> int:
        return self.parts[0].layout.first_pixel

    def annotations(self) -> tuple[dict[str, str], list[Problem]]:
        """Return image name to annotation file, and a report row for each further file of the same image."""
        return self._by_name([(part.folder, part.layout.annotations) for part in self.parts], (".xml",))

    def images(self) -> tuple[dict[str, str], list[Problem]]:
        """Return image name to image file, by the order of IMAGE_SUFFIXES, and a report row for each further file."""
        return self._by_name([(part.folder, part.layout.images) for part in self.parts], IMAGE_SUFFIXES)

    def lists(self, task: str) -> dict[str, str]:
        """Return the lists of ImageSets/`task` by name, without `.txt`."""
        return self._by_name([("", f"ImageSets/{task}")], (".txt",))[0]

    def images_of(self, part: Part) -> list[str]:
        """Return the names of the annotated images of one part."""
        return list(self._by_name([(part.folder, part.layout.annotations)], (".xml",))[0])

    def _by_name(
        self, directories: list[tuple[str, str]], suffixes: tuple[str, ...]
    ) -> tuple[dict[str, str], list[Problem]]:
        """Return the files of each (part, directory) by image name, which includes the folder of the part."""
        names: dict[str, str] = {}
        for part, directory in directories:
            folder = _joined(part, directory)
            for closed in (folder, parent(folder)):
                if closed in self.tree.closed:
                    raise InputError(*self.tree.closed[closed].args)
            # A directory may have subfolders, as in exports of CVAT; without directories, only the folder itself
            # counts.
            inside = [name for name in self.tree.names if name.startswith(folder + "/")]
            for name in inside if directory else self.tree.children(part):
                if suffix(name) in suffixes:
                    names[name] = image_name(_joined(part, bare(name)[len(folder) :].lstrip("/")))
        files: dict[str, str] = {}
        problems = []
        for name in sorted(names, key=lambda name: _preference(name, suffixes)):
            image, file = names[name], readable(base(name))
            if image in files:
                used = f"{readable(base(files[image]))} is used"
                expected = f"one file for each name in {parent(name) or 'a folder'}"
                problems.append(Problem(file, expected, f"{file} again", used))
            else:
                files[image] = name
        return files, problems


def _joined(*folders: str) -> str:
    return "/".join(filter(None, folders))


def _preference(name: str, suffixes: tuple[str, ...]) -> tuple[int, bool, str]:
    ending = suffix(name)
    return suffixes.index(ending), not name.endswith(ending), name


# ------------------------------------------------------------------------------------------- Finding the folder


def find_voc_folder(tree: FileTree, year: str = "") -> VocFolder:
    """Return the VOC folder in or at `tree`. year: chooses among several folders; "": the newest.

    InputError if the layout is not that of VOC, or a folder cannot be listed.
    """
    year = year.strip().upper().removeprefix("VOC")
    top, folders = readable(str(tree.place), 255), voc_folders(tree)
    if "" in folders:
        own = YEAR.fullmatch(tree.parts[-1]) if tree.parts else None
        if year and (own is None or own[1] != year):
            raise InputError("year", f"none, because {top} is itself a VOC folder", year, "clear the year")
        return _voc_folder(tree, "", folders)
    nearest_first = sorted(folders, key=lambda folder: (folder.count("/"), folder))
    years: dict[str, str] = {}
    for folder in nearest_first:
        if matched := YEAR.fullmatch(base(folder)):
            years.setdefault(matched[1], folder)
    if year and year not in years and folders:
        raise InputError("year", f"a year of {top}: {', '.join(sorted(years)) or 'there are none'}", year)
    if years:
        return _voc_folder(tree, years[year or max(years)], folders)
    depth = nearest_first[0].count("/") if nearest_first else 0
    nearest = [folder for folder in nearest_first if folder.count("/") == depth]
    if len(nearest) == 1:
        return _voc_folder(tree, nearest[0], folders)
    if nearest:
        came = f"{len(nearest)} folders, {listed(nearest)}"
        raise InputError(top, "one folder of PASCAL VOC", came, "import one of them")
    for name, why in tree.closed.items():
        if YEAR.fullmatch(base(name)) is not None:
            raise InputError(*why.args)
    # Only missing folders are named, because the user may type any folder of the server.
    missing = [f"no {name}" for name in VOC[:2] if not tree.has_folder(name)]
    raise InputError(top, EXPECTED, " and ".join([*missing, "no VOC2007, VOC2012, ..."]))


def _voc_folder(tree: FileTree, folder: str, folders: dict[str, tuple[Part, ...]]) -> VocFolder:
    inner = tree.below(folder)
    unread = tuple(readable(name) for name in folders if name != folder)
    return VocFolder(inner, folders[folder], _title(inner.parts), unread)


def _title(parts: tuple[str, ...]) -> str:
    """Return the title: `bccd` for .../bccd, `helmets VOC2007` for .../helmets/VOCdevkit/VOC2007.

    >>> _title(("data", "helmets", "VOCdevkit", "VOC2007")), _title(("VOC2007", "VOC2007")), _title(("bccd",))
    ('helmets VOC2007', 'VOC2007', 'bccd')
    """
    if not parts or YEAR.fullmatch(parts[-1]) is None:
        return readable(parts[-1] if parts else "") or "PASCAL VOC"
    above = [part for part in parts[:-1] if part != "VOCdevkit" and YEAR.fullmatch(part) is None]
    return readable(" ".join([*above[-1:], parts[-1]]))


def voc_folders(tree: FileTree) -> dict[str, tuple[Part, ...]]:
    """Return all folders of the tree with a layout of VOC, with their parts.

    Annotations beside their images, as LabelImg writes them, count only if there are no folders for annotations, or the
    folders are parts. Sibling folders of parts, as in exports of Roboflow, are one VOC folder.
    """
    above = sorted({"", *map(parent, [*tree.folders, *tree.closed])})
    layouts = {folder: layout for folder in above for layout in _layouts(tree, folder)}
    if not layouts or all(map(_part_name, layouts)):
        inner = tuple(folder + "/" for folder in layouts)
        free = [folder for folder in sorted({"", *tree.folders}) if not folder.startswith(inner)]
        likely = [folder for folder in free if folder not in layouts and (not layouts or _part_name(folder))]
        mixed = {folder: BESIDE for folder in likely if _lie_beside(tree, folder)}
        if united := _united(layouts | mixed):
            return united
        layouts = layouts or mixed
    return {folder: (Part("", "", layout),) for folder, layout in layouts.items()}


def _part_name(folder: str) -> str | None:
    """Return which part of a data set the name of a folder stands for, or None."""
    return part_of(base(folder) + "/")


def _united(layouts: dict[str, Layout]) -> dict[str, tuple[Part, ...]]:
    """Return the folder that contains several folders of parts; {} if they are no parts, or count pixels
    differently."""
    parts = tuple(Part(_part_name(folder) or "", base(folder), layout) for folder, layout in layouts.items())
    above, names = set(map(parent, layouts)), {part.name for part in parts}
    if len(parts) < 2 or "" in names or len(names) < len(parts) or len(above) > 1:
        return {}
    return {above.pop(): parts} if len({part.layout.first_pixel for part in parts}) == 1 else {}


def _layouts(tree: FileTree, folder: str) -> Iterator[Layout]:
    """Yield the first layout that a folder has, if any."""
    for layout in LAYOUTS:
        annotations, images = _joined(folder, layout.annotations), _joined(folder, layout.images)
        if tree.has_folder(annotations) and tree.has_folder(images):
            heads = _heads(tree, tree.children(annotations))
            if layout is VOC or any(map(BEGINS.search, heads)):
                labelmap = _joined(folder, LABELMAP)
                of_cvat = tree.has(labelmap) and _head(tree, labelmap).startswith(OF_CVAT)
                from_0 = of_cvat or any(LABEL_STUDIO in head for head in heads)
                yield layout._replace(first_pixel=0) if from_0 else layout
                return


def _lie_beside(tree: FileTree, folder: str) -> bool:
    files = tree.children(folder)
    heads = _heads(tree, [name for name in files if suffix(name) == ".xml"])
    return any(map(BEGINS.search, heads)) and any(suffix(name) in IMAGE_SUFFIXES for name in files)


def _heads(tree: FileTree, names: list[str]) -> list[bytes]:
    """Return the beginnings of the first annotations; [] if they are not XML, such as the text files of YOLO."""
    first = names[:MAX_INSPECTED]
    return [_head(tree, name) for name in first] if all(suffix(name) == ".xml" for name in first) else []


def _head(tree: FileTree, name: str) -> bytes:
    try:
        return tree.head(name, HEAD)
    except Unusable:
        # the import reports the reason; here it is only not recognised
        return b""


# ---------------------------------------------------------------------------------------------- One annotation


@dataclass(frozen=True)
class VocObject:
    """One `<object>`: its position among the objects (from 1), its box in 0-based half-open pixels, and the values of
    its `<actions>`, or None."""

    number: int
    name: str
    box: Box
    difficult: bool
    actions: dict[str, bool] | None


@dataclass(frozen=True)
class Annotation:
    """The usable objects of one annotation, the number of all its objects, and the image size that it claims."""

    objects: tuple[VocObject, ...]
    count: int
    size: tuple[int, int] | None


def read_annotation(data: bytes, file: str) -> tuple[Annotation | None, list[Problem]]:
    """Return the annotation in `data`, None if it cannot be read; and report rows about `file`."""
    try:
        root = xml_root(data, "annotation")
    except Unusable as error:
        return None, [Problem(file, error.expected, readable(error.came), "annotation ignored")]
    problems: list[Problem] = []
    elements = root.findall("object")
    objects = [_object(element, number, file, problems) for number, element in enumerate(elements, 1)]
    usable = tuple(item for item in objects if item is not None)
    return Annotation(usable, len(elements), _size(root, file, problems)), problems


def _object(element: Element, number: int, file: str, problems: list[Problem]) -> VocObject | None:
    def report(expected: str, came: str, done: str) -> None:
        problems.append(Problem(file, expected, readable(f"object {number}{came}"), done))

    name, difficult = unique_name(_text(element, "name")), _text(element, "difficult")
    if not name:
        report("a name for every object", " has none", "object ignored")
        return None
    box, came = _box(element)
    if box is None:
        expected = "a box of four numbers, xmin <= xmax and ymin <= ymax"
        report(expected, f": {came}", "object ignored")
        return None
    if difficult not in ("", "0", "1"):
        report("difficult 0 or 1", f": {difficult}", "read as 0")
    marks = element.find("actions")
    actions: dict[str, bool] = {}
    for mark in () if marks is None else marks:
        value = (mark.text or "").strip()
        if value in ("0", "1"):
            actions[unique_name(mark.tag)] = value == "1"
        else:
            report("actions marked 0 or 1", f": {mark.tag} {value or 'empty'}", "action ignored")
    return VocObject(number, name, box, difficult == "1", None if marks is None else actions)


def _box(element: Element) -> tuple[Box | None, str]:
    """Return the box in 0-based half-open pixels, or None and a description of the value.

    VOC counts pixels from 1 and includes both ends: xmin = xmax = 1 is the leftmost column, here (0, 1).
    """
    bounds = element.find("bndbox")
    if bounds is None:
        return None, "no bndbox"
    texts = [_text(bounds, edge) for edge in EDGES]
    came = ", ".join(f"{edge} {text or 'missing'}" for edge, text in zip(EDGES, texts, strict=True))
    if not all(map(NUMBER.fullmatch, texts)):
        return None, came
    left, top, right, bottom = map(float, texts)
    return (None, came) if right < left or bottom < top else ((left - 1, top - 1, right, bottom), came)


def _size(root: Element, file: str, problems: list[Problem]) -> tuple[int, int] | None:
    size = root.find("size")
    if size is None:
        return None
    width, height = _text(size, "width"), _text(size, "height")
    if all(re.fullmatch(r"0*[1-9]\d{0,8}", text, re.ASCII) for text in (width, height)):
        return int(width), int(height)
    came, done = f"{width or 'missing'} x {height or 'missing'}", "kept; the image's own size is used"
    problems.append(Problem(file, "the image's width and height in pixels", readable(came), done))
    return None


def _text(element: Element, tag: str) -> str:
    return (element.findtext(tag) or "").strip()
