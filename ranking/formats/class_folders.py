"""One folder of images per class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

from ranking.core import Problem, SourceBox, SourceImage
from ranking.core.errors import InputError
from ranking.core.text import counted, listed, readable, unique_name
from ranking.datasets.registry import SOURCES
from ranking.datasets.splits import PART, PARTS
from ranking.files import FileTree
from ranking.files.tree import parent
from ranking.formats.file_names import display_names, is_image, shared_folder
from ranking.formats.tree_source import Grouped, Recognised, TreeSource

LAYOUT = "one folder of images per class, optionally inside folders train, val and test"


class ClassImage(NamedTuple):
    """An image: its name in the tree, its class, its folder within the folder of the class, and its part, or None."""

    name: str
    label: str
    inner: str
    part: str | None

    @property
    def group(self) -> str | None:
        """The group of images in one folder within the folder of their class, such as the frames of a video."""
        return f"{self.label}/{self.inner}" if self.inner else None


@SOURCES.register("Class folders")
@dataclass
class ClassFolders(TreeSource):
    """The layout of torchvision's ImageFolder and FiftyOne's classification trees. Each whole image is a sample.

    Folders train, val or test may contain the folders of the classes. Images in a folder within the folder of their
    class, such as the frames of a video, are a group. Other files are ignored.
    """

    layout: ClassVar[str] = LAYOUT

    @classmethod
    def recognise(cls, tree: FileTree) -> Recognised | None:
        """Recognise at least two folders with images; with a low score, because other formats have such folders too."""
        images, _ = _sorted(tree)
        classes = sorted({readable(image.label) for image in images})
        if len(classes) < 2:
            return None
        return Recognised(
            0.4, f"{counted(len(classes), 'folder')} contain images: {listed(classes)}. Each becomes a class"
        )

    def __len__(self) -> int:
        return len(self._images[0])

    _needs: ClassVar[str] = "a folder of its class for every image"

    def _records(self) -> Iterator[SourceImage | Problem]:
        images, outside = self._images
        yield from outside.rows()
        groups = [[image.group] if image.group else [] for image in images]
        tested, rows = self._which_test([image.name for image in images], groups=groups)
        yield from rows
        names = display_names([image.name for image in images])
        for image, test in zip(images, tested, strict=True):
            box = SourceBox(None, (unique_name(image.label),), group=image.group)
            yield SourceImage(names[image.name], self._tree.file(image.name), (box,), test)

    @cached_property
    def _images(self) -> tuple[list[ClassImage], Grouped]:
        images, outside = _sorted(self._tree)
        if not images:
            raise InputError(self._shown_place(), LAYOUT, "no folder with images")
        return images, outside


def _sorted(tree: FileTree) -> tuple[list[ClassImage], Grouped]:
    """Return the images of a tree in folders of classes, and a report row about all other images."""
    names = [name for name in tree.names if is_image(name)]
    top = _top(names)
    images, outside = [], Grouped()
    for name in names:
        folders = parent(name[len(top) + 1 if top else 0 :]).split("/")
        part = _part(folders[0])
        if part is not None:
            folders = folders[1:]
        if folders and folders[0]:
            images.append(ClassImage(name, folders[0], "/".join(folders[1:]), part))
        else:
            outside.add("images", "images inside a folder of their class", name, "image ignored")
    return images, outside


def _top(names: list[str]) -> str:
    """Return the folder that contains the folders of the classes or of the parts: the innermost folder with all images,
    or its parent if that folder is the only class, or a part."""
    top = shared_folder(names)
    if top and all(parent(name) == top for name in names):
        top = parent(top)
    folders = top.split("/")
    parts = [place for place, folder in enumerate(folders) if _part(folder) is not None]
    return "/".join(folders[: parts[0]]) if parts else top


def _part(folder: str) -> str | None:
    matched = PART.fullmatch(folder.lower())
    return None if matched is None else PARTS.get(matched[1])
