"""Finding and reading the files of a PASCAL VOC folder in a tree, wherever in it that folder lies.

Where its annotations and images lie: see voc_layouts.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ranking.core import Problem
from ranking.core.errors import InputError
from ranking.core.text import counted, listed, readable
from ranking.files import FileTree, Recognised, Unusable
from ranking.files.files import IMAGE_SUFFIXES, image_name
from ranking.files.tree import base, parent, suffix
from ranking.formats.tree_source import bare
from ranking.formats.voc_layouts import VOC, Layout, voc_folders

MAX_LIST_BYTES = 16 * 2**20
YEAR = re.compile(r"VOC(\d{4})")
LAYOUT = (
    "a folder with Annotations and JPEGImages, or a VOCdevkit with VOC2007, VOC2012, ... of such folders, or "
    "images with an XML file of VOC beside each"
)


class UnusableList(InputError):
    """A list of images that cannot be read: the two middle columns of its row in the report."""

    def __init__(self, file: str, expected: str, came: str) -> None:
        super().__init__(file, expected, came)
        self.problem = Problem(file, expected, came, "list ignored")


@dataclass(frozen=True)
class VocFolder:
    """`tree` holds the folders of `layout` at its top. others: such folders beside it, of which nothing is read."""

    tree: FileTree
    layout: Layout
    title: str
    others: tuple[str, ...] = ()

    def annotations(self) -> tuple[dict[str, str], list[Problem]]:
        """Image name to name of the annotation, and a row for each that two files share."""
        return self._by_name([(at, how.annotations) for _, at, how in self._parts], (".xml",))

    def images(self) -> tuple[dict[str, str], list[Problem]]:
        """Image name to name of the file, in the order of IMAGE_SUFFIXES, and a row for each that two files share."""
        return self._by_name([(at, how.images) for _, at, how in self._parts], IMAGE_SUFFIXES)

    def lists(self, task: str) -> dict[str, str]:
        """The lists of ImageSets/`task` by name, without `.txt`; empty where there are none."""
        return self._by_name([("", f"ImageSets/{task}")], (".txt",))[0]

    def parts(self) -> dict[str, list[str]]:
        """The images with an annotation of each part ("train", "val", "test") that has folders of its own."""
        told = self._by_name
        return {
            part: list(told([(at, how.annotations)], (".xml",))[0]) for part, at, how in self.layout.parts
        }

    @property
    def _parts(self) -> Sequence[tuple[str, str, Layout]]:
        return self.layout.parts or [("", "", self.layout)]

    def _inside(self, part: str, directory: str) -> list[str]:
        """The files of a folder; of one that holds nothing else, as CVAT fills it, those of the folders in it too."""
        if not directory:
            return self.tree.children(part)
        return [name for name in self.tree.names if name.startswith(_joined(part, directory) + "/")]

    def lines(self, name: str) -> list[str]:
        """The lines of a list that are not empty; UnusableList for one that cannot be read or is too long."""
        try:
            data = self.tree.read(name, MAX_LIST_BYTES, "a list")
        except Unusable as error:
            raise UnusableList(readable(base(name)), error.expected, error.came) from error
        # As names of files are decoded, so that both still agree where they are no UTF-8.
        text = data.decode("utf-8-sig", errors="surrogateescape")
        return [line.strip() for line in text.splitlines() if line.strip()]

    def _by_name(
        self, directories: Sequence[tuple[str, str]], suffixes: tuple[str, ...]
    ) -> tuple[dict[str, str], list[Problem]]:
        """Names tell the folders of parts, and those inside of the `directories` of each, but not these."""
        for folder in (_joined(*place) for place in directories):
            for closed in (folder, parent(folder)):
                if closed in self.tree.closed:
                    raise InputError(*self.tree.closed[closed].args)
        told = {
            name: _joined(part, bare(name)[len(_joined(part, directory)) :].lstrip("/"))
            for part, directory in directories
            for name in self._inside(part, directory)
            if suffix(name) in suffixes
        }
        found: dict[str, str] = {}
        problems = []
        for name in sorted(told, key=lambda name: _preference(name, suffixes)):
            image, file = image_name(told[name]), readable(base(name))
            if image in found:
                done = f"{readable(base(found[image]))} is used"
                expected = f"one file for each name in {parent(name) or 'a folder'}"
                problems.append(Problem(file, expected, f"{file} again", done))
            else:
                found[image] = name
        return found, problems


def _joined(*folders: str) -> str:
    return "/".join(filter(None, folders))


def _preference(name: str, suffixes: tuple[str, ...]) -> tuple[int, bool, str]:
    lower = suffix(name)
    return suffixes.index(lower), not name.endswith(lower), name


def find_voc_folder(tree: FileTree, year: str = "") -> VocFolder:
    """The VOC folder in or at `tree`; `year` chooses among several, "" the newest.

    ValueError where it is not laid out as VOC, or a folder of it cannot be listed; it says what is there.
    """
    year = year.strip().upper().removeprefix("VOC")
    top, found = readable(str(tree.place), 255), voc_folders(tree)
    if "" in found:
        own = YEAR.fullmatch(tree.parts[-1]) if tree.parts else None
        if year and (own is None or own[1] != year):
            raise InputError("year", f"none, because {top} is itself a VOC folder", year, "clear the year")
        return _voc_folder(tree, "", found)
    years: dict[str, str] = {}
    for folder in sorted(found, key=_nearness):
        matched = YEAR.fullmatch(base(folder))
        if matched is not None:
            years.setdefault(matched[1], folder)
    if year and year not in years and found:
        raise InputError("year", f"a year of {top}: {', '.join(sorted(years)) or 'it has none'}", year)
    if years:
        chosen = years[year or max(years)]
        return _voc_folder(tree, chosen, found)
    depth = min((_nearness(folder)[0] for folder in found), default=0)
    nearest = [folder for folder in found if _nearness(folder)[0] == depth]
    if len(nearest) == 1:
        return _voc_folder(tree, nearest[0], found)
    if nearest:
        came = f"{len(nearest)} of them, {listed(nearest)}"
        raise InputError(top, "one folder of PASCAL VOC", came, "import one of them")
    for name, why in tree.closed.items():
        if YEAR.fullmatch(base(name)) is not None:
            raise InputError(*why.args)
    # What else it holds is not told: any folder of the server may be typed here.
    parts = [name for name in VOC[:2] if not tree.has_folder(name)]
    raise InputError(top, LAYOUT, _none_of([*parts, "VOC2007, VOC2012, ..."]))


def recognise_voc(tree: FileTree) -> Recognised | None:
    """Whether there is such a folder, and what is in it."""
    try:
        voc = find_voc_folder(tree)
        annotations, images = (len(voc.annotations()[0]), len(voc.images()[0]))
    except ValueError:  # several of them, or one that cannot be listed: not for sure
        return None
    if not annotations:
        return None
    both, inside = voc.layout, "/".join(voc.tree.parts[len(tree.parts) :])
    where = f" in {readable(inside)}" if inside else ""
    files, pictures = counted(annotations, "XML file"), counted(images, "image")
    why = f"{both.annotations}/ holds {files} and {both.images}/ {pictures}"
    if both.beside:
        folders = [readable(folder) for _, folder, _ in both.parts]
        apart = any(not layout.beside for _, _, layout in both.parts)
        lie = f"{files} of VOC and {pictures} lie" if apart else f"{files} of VOC lie beside {pictures}"
        why = lie + (f" in {listed(folders)}" if folders else "")
    return Recognised(0.95 if images else 0.5, why + where)


def _voc_folder(tree: FileTree, folder: str, found: dict[str, Layout]) -> VocFolder:
    inner, others = tree.below(folder), tuple(readable(other) for other in found if other != folder)
    return VocFolder(inner, found[folder], _title(inner.parts), others)


def _nearness(folder: str) -> tuple[int, str]:
    return folder.count("/"), folder


def _none_of(names: list[str]) -> str:
    """
    >>> _none_of(["a", "b", "c"])
    'no a, no b and no c'
    """
    told = [f"no {name}" for name in names]
    return " and ".join([", ".join(told[:-1]), told[-1]]) if told[:-1] else told[-1]


def _title(parts: tuple[str, ...]) -> str:
    """`bccd` for .../bccd, `helmets VOC2007` for .../helmets/VOCdevkit/VOC2007.

    >>> _title(("data", "helmets", "VOCdevkit", "VOC2007")), _title(("VOC2007", "VOC2007")), _title(("bccd",))
    ('helmets VOC2007', 'VOC2007', 'bccd')
    """
    if not parts or YEAR.fullmatch(parts[-1]) is None:
        return readable(parts[-1] if parts else "") or "PASCAL VOC"
    above = [part for part in parts[:-1] if part != "VOCdevkit" and YEAR.fullmatch(part) is None]
    return readable(" ".join([*above[-1:], parts[-1]]))
