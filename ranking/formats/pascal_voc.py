"""PASCAL VOC in a folder or a ZIP file: detection boxes, or people and their actions (VOC 2011 and 2012)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from ranking.core import Problem, SourceBox, SourceImage
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.core.text import counted, listed, readable, unique_name
from ranking.datasets.registry import SOURCES
from ranking.datasets.source_settings import group_of, group_of_images
from ranking.datasets.splits import PARTS
from ranking.files import FileInTree, FileTree, Unusable
from ranking.files.files import IMAGE_SUFFIXES, image_name
from ranking.files.tree import base
from ranking.formats.tree_source import Recognised, TreeSource
from ranking.formats.voc_files import (
    EXPECTED,
    Annotation,
    VocFolder,
    VocObject,
    find_voc_folder,
    read_annotation,
)
from ranking.formats.xml_file import MAX_XML_BYTES

MAX_LIST_BYTES = 16 * 2**20
LABEL = re.compile(r"\s+[-+]?[01]$")
ACTION_ROW = re.compile(r"(.+?)\s+(\d{1,6})(?:\s+([-+]?[01]))?", re.ASCII)
ANNOTATION_LEFT_OUT = "annotation ignored"
# object number to its actions in the lists
Actions = dict[int, dict[str, bool]]


@dataclass
class Lists:
    """The lists of a VOC folder by name. images: the image names of each list. actions: the rows of each action list,
    by image. unusable: why a list cannot be read; the error is raised only if the list is needed."""

    images: dict[str, list[str]] = field(default_factory=dict)
    actions: dict[str, dict[str, Actions]] = field(default_factory=dict)
    unusable: dict[str, InputError] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def of(self, name: str) -> list[str]:
        """Return the images of list `name`, [] if there is no such list; InputError if it cannot be read."""
        if name in self.unusable:
            raise self.unusable[name]
        return self.images.get(name, [])

    def read(self, name: str, tree: FileTree, file: str) -> list[str]:
        """Return the lines of the file of list `name`; [] and a report row if it cannot be read."""
        shown = readable(base(file))
        try:
            data = tree.read(file, MAX_LIST_BYTES, "a list")
        except Unusable as error:
            remedy = "repair it, or choose other lists"
            self.unusable.setdefault(name, InputError(shown, error.expected, error.came, remedy))
            self.problems.append(Problem(shown, error.expected, error.came, "list ignored"))
            return []
        # Decoded in the same way as file names, so that both agree even if they are not UTF-8.
        lines = data.decode("utf-8-sig", errors="surrogateescape").splitlines()
        return [line.strip() for line in lines if line.strip()]

    def first(self, candidates: list[str], annotated: dict[str, str]) -> str:
        """Return the first of `candidates` with an annotated image (test lists of VOC 2012 have none), or ""."""
        names = sorted({*self.images, *self.unusable})
        named = (name for candidate in candidates for name in names if _usual_name(name) == candidate)
        return next((name for name in named if annotated.keys() & set(self.of(name))), "")


@SOURCES.register("PASCAL VOC")
@dataclass
class PascalVoc(TreeSource):
    """Everingham et al., IJCV 2010. Samples are boxes; groups are images; classes are names or actions.

    The name of an annotation identifies its image, in JPEGImages or in the same folder; file names in the XML are
    never read. Boxes are 1-based and include both ends (0-based and half open in the exports of FiftyOne, Label Studio
    and CVAT); they become 0-based and half open. In the action form, samples are the objects in the lists or, without
    lists, all objects with `<actions>`.
    """

    # the last format, which the import form selects first
    order: ClassVar[int] = 2
    layout: ClassVar[str] = EXPECTED
    _moves_groups: ClassVar[bool] = True

    year: str = setting(
        "",
        label="Year",
        help="Which year, if a VOCdevkit contains several. Empty: the newest.",
        advanced=True,
    )
    form: str = setting(
        "auto",
        label="Form",
        help="Detection: a class for each box. Action: what each person does. Auto: action if there are only action "
        "lists, otherwise detection.",
        choices=("auto", "detection", "action"),
        advanced=True,
    )
    difficult: str = setting(
        "leave out",
        label="Difficult objects",
        help="How to handle detection boxes that are marked as difficult to recognise. The VOC challenge ignores them. "
        "Action lists name their objects, difficult or not.",
        choices={"leave out": "ignore", "keep": "keep"},
        advanced=True,
    )
    train_list: str = setting(
        "",
        label="Training list",
        help="The list in ImageSets that names the training images. Empty: trainval, or train.",
        advanced=True,
    )
    test_list: str = setting(
        "",
        label="Test list",
        help="The list in ImageSets that names the test images. Empty: test, or val.",
        advanced=True,
    )
    group: str = group_of_images()

    @classmethod
    def recognise(cls, tree: FileTree) -> Recognised | None:
        """Recognise a VOC folder with annotations; None also if there are several, or a folder cannot be listed."""
        try:
            voc = find_voc_folder(tree)
            annotations, images = len(voc.annotations()[0]), len(voc.images()[0])
        except ValueError:
            return None
        if not annotations:
            return None
        folders = [name for name in voc.layout[:2] if name] or [part.folder for part in voc.parts]
        shown = " and ".join(map(readable, filter(None, folders))) or "one folder"
        inside = readable("/".join(voc.tree.parts[len(tree.parts) :]))
        why = f"{counted(annotations, 'XML file')} of VOC and {counted(images, 'image')} in {shown}"
        return Recognised(0.95 if images else 0.5, f"{why} of {inside}" if inside else why)

    def title(self) -> str:
        return self._voc.title + (" actions" if self._is_action else "")

    def __len__(self) -> int:
        return len(self._listed_part)

    _needs: ClassVar[str] = "an annotation for every image"

    def _records(self) -> Iterator[SourceImage | Problem]:
        if unread := list(self._voc.unread):
            done = "ignored: import each folder separately, or choose a year with the setting Year"
            yield Problem(counted(len(unread), "folder"), "one folder of PASCAL VOC", listed(unread), done)
        yield from self._annotations[1]
        yield from self._images[1]
        yield from self._lists.problems
        names = list(self._listed_part)
        yield from self._list_problems()
        groups = [group_of(f"{name}.jpg", self.group) for name in names]
        units = [[] if group is None else [group] for group in groups]
        tested, rows = self._which_test(
            [self._name_in_tree(name) for name in names],
            list(self._listed_part.values()),
            self._stated_by(),
            units,
        )
        yield from rows
        difficult = 0
        for name, group, test in zip(names, groups, tested, strict=True):
            annotation, problems = self._annotation(name)
            yield from problems
            image = self._image(name) if annotation is not None else None
            if isinstance(image, Problem):
                yield image
            elif annotation is not None and image is not None:
                boxes, problems = self._boxes(name, annotation, group)
                difficult += sum(item.difficult for item in annotation.objects)
                yield from problems
                yield SourceImage(name, image, tuple(boxes), test, annotation.size)
        if difficult and not self._is_action:
            done = "ignored" if self.difficult == "leave out" else "kept"
            expected = "objects not marked as difficult"
            yield Problem(counted(difficult, "object"), expected, "difficult 1", done)
        yield from self._unlisted()

    # ---------------------------------------------------------------------------------------------- Files

    @cached_property
    def _voc(self) -> VocFolder:
        return find_voc_folder(self._tree, self.year)

    @cached_property
    def _annotations(self) -> tuple[dict[str, str], list[Problem]]:
        annotations = self._voc.annotations()
        if not annotations[0]:
            where = readable(str(self._voc.tree.place / self._voc.layout.annotations), 255)
            raise InputError(where, "one XML file per image", "none")
        return annotations

    @cached_property
    def _images(self) -> tuple[dict[str, str], list[Problem]]:
        return self._voc.images()

    @cached_property
    def _is_action(self) -> bool:
        if self.form == "auto":
            return bool(self._voc.lists("Action")) and not self._voc.lists("Main")
        return self.form == "action"

    def _annotation(self, name: str) -> tuple[Annotation | None, list[Problem]]:
        file = self._annotations[0].get(name)
        if file is None:
            came = f"none in {self._voc.layout.annotations or 'its folder'}"
            expected = "an annotation of every listed image"
            return None, [Problem(f"{name}.xml", expected, came, "image ignored")]
        shown = readable(base(file))
        try:
            data = self._voc.tree.read(file, MAX_XML_BYTES, "XML")
        except Unusable as error:
            return None, [Problem(shown, error.expected, error.came, ANNOTATION_LEFT_OUT)]
        return read_annotation(data, shown)

    def _image(self, name: str) -> FileInTree | Problem:
        file = self._images[0].get(name)
        if file is not None:
            return self._voc.tree.file(file, base(file))
        folder = self._voc.layout.images or "its folder"
        expected = f"an image {name} ({', '.join(IMAGE_SUFFIXES)}) in {folder}"
        return Problem(readable(base(self._annotations[0][name])), expected, "none", ANNOTATION_LEFT_OUT)

    def _boxes(
        self, name: str, annotation: Annotation, group: str | None
    ) -> tuple[list[SourceBox], list[Problem]]:
        """Return the boxes of one image, and report rows about them."""
        if self._is_action:
            return action_boxes(
                annotation, self._listed_actions(name), readable(base(self._annotations[0][name])), group
            )
        kept = [item for item in annotation.objects if self.difficult == "keep" or not item.difficult]
        shift = 1 - self._voc.first_pixel
        return [_source_box(item, (item.name,), group, shift) for item in kept], []

    def _unlisted(self) -> Iterator[Problem]:
        """Yield one row, not thousands, for files that no chosen list names: VOC 2012 has many by design."""
        annotations, listed_images = self._annotations[0], self._listed_part
        if unlisted := sorted(annotations.keys() - listed_images.keys()):
            came = f"in no chosen list: {listed(unlisted)}"
            yield Problem(
                counted(len(unlisted), "annotation"), "annotations in the chosen lists", came, "ignored"
            )
        if bare := sorted(self._images[0].keys() - listed_images.keys() - annotations.keys()):
            came = f"none for {listed(bare)}"
            yield Problem(counted(len(bare), "image"), "an annotation for every image", came, "ignored")

    # ---------------------------------------------------------------------------------------------- Lists

    @cached_property
    def _lists(self) -> Lists:
        return _action_lists(self._voc) if self._is_action else _main_lists(self._voc, self._annotations[0])

    @cached_property
    def _chosen(self) -> tuple[str, str]:
        """The names of the training list and of the test list, "" if there is none."""
        lists, annotated = self._lists, self._annotations[0]
        for name in (self.train_list, self.test_list):
            if name and name not in lists.images and name not in lists.unusable:
                names = ", ".join(sorted(lists.images)) or "there are none"
                raise InputError("image list", f"one of the lists: {names}", f"{name!r}")
        test = self.test_list or lists.first(["test", "val"], annotated)
        usual = ["train", "trainval"] if _usual_name(test) == "val" else ["trainval", "train"]
        return self.train_list or lists.first(usual, annotated), test

    @cached_property
    def _listed_part(self) -> dict[str, str | None]:
        """The part of each image that is read, sorted by name; None if no list names an image."""
        train, test = self._chosen
        tested = set(self._lists.of(test))
        trained = set(self._lists.of(train)) if train else self._annotations[0].keys() - tested
        part = "train" if train or test else None
        return {name: "test" if name in tested else part for name in sorted(tested | trained)}

    def _stated_by(self) -> str:
        lists = " and ".join(filter(None, self._chosen))
        return "the folders" if len(self._voc.parts) > 1 else f"the lists {lists}"

    def _name_in_tree(self, name: str) -> str:
        """Return the name of an image in the whole tree."""
        outer = self._voc.tree.parts[len(self._tree.parts) :]
        return "/".join([*outer, self._images[0].get(name, name)])

    def _list_problems(self) -> Iterator[Problem]:
        train, test = self._chosen
        if test and not train:
            came = f"none (lists: {listed(sorted(self._lists.images))})"
            yield Problem(
                "ImageSets", "a list of training images", came, "all other images are training images"
            )
        if both := sorted(set(self._lists.of(test)) & set(self._lists.of(train))):
            came, done = f"{counted(len(both), 'image')} in both: {listed(both)}", "kept as test images only"
            yield Problem("ImageSets", f"no image both in {train} and {test}", came, done)

    def _listed_actions(self, name: str) -> Actions | None:
        """Return the actions of the objects of one image in the chosen lists; None if there is no list."""
        chosen = [part for part in self._chosen if part]
        if not chosen:
            return None
        merged: Actions = {}
        for part in chosen:
            for number, actions in self._lists.actions.get(part, {}).get(name, {}).items():
                merged.setdefault(number, {}).update(actions)
        return merged


def _main_lists(voc: VocFolder, annotated: dict[str, str]) -> Lists:
    """Return the lists of ImageSets/Main: one image name per row; the 1 or -1 in the lists of one class is ignored.

    If each part has its own folder, each is a list, and trainval contains all images that are not test images.
    """
    lists = Lists()
    if len(voc.parts) > 1:
        lists.images = {part.name: voc.images_of(part) for part in voc.parts}
        lists.images["trainval"] = [*lists.images.get("train", []), *lists.images.get("val", [])]
        return lists
    for name, file in voc.lists("Main").items():
        lines = lists.read(name, voc.tree, file)
        whole = map(image_name, lines)
        if name not in lists.unusable:
            lists.images[name] = [line if line in annotated else LABEL.sub("", line) for line in whole]
    return lists


def _action_lists(voc: VocFolder) -> Lists:
    """Return the lists of ImageSets/Action: rows `image object [label]` in `<split>.txt`, `<action>_<split>.txt`."""
    lists = Lists()
    for stem, file in voc.lists("Action").items():
        action, _, split = stem.rpartition("_")
        for line in lists.read(split, voc.tree, file):
            row = ACTION_ROW.fullmatch(line)
            if row is None:
                expected = "rows of image, object number and, optionally, a label"
                lists.problems.append(Problem(readable(base(file)), expected, readable(line), "row ignored"))
                continue
            objects = lists.actions.setdefault(split, {}).setdefault(image_name(row[1]), {})
            labels = objects.setdefault(int(row[2]), {})
            # 0: difficult, neither relevant nor irrelevant.
            if action and row[3] is not None and int(row[3]) != 0:
                labels[unique_name(action)] = int(row[3]) == 1
    lists.images = {split: list(images) for split, images in lists.actions.items()}
    return lists


def _usual_name(name: str) -> str | None:
    """Return which of VOC's lists that is; CVAT calls them Train, Validation and Test.

    >>> _usual_name("trainval"), _usual_name("Validation"), _usual_name("cat_train")
    ('trainval', 'val', None)
    """
    lower = name.lower()
    return lower if lower == "trainval" else PARTS.get(lower)


# -------------------------------------------------------------------------------------------------- Boxes


def action_boxes(
    annotation: Annotation, by_lists: Actions | None, file: str, group: str | None
) -> tuple[list[SourceBox], list[Problem]]:
    """Return the boxes of people with their actions, and report rows.

    by_lists: the actions of this image's objects in the lists (None: there are no lists). The `<actions>` of the
    annotation have priority; a difference from the lists is reported.
    """
    problems: list[Problem] = []
    boxes = []
    objects = {item.number: item for item in annotation.objects}
    if by_lists is None:
        by_lists = {item.number: {} for item in annotation.objects if item.actions}
    for number in sorted(by_lists):
        if not 1 <= number <= annotation.count:
            came = f"object {number} of {annotation.count}"
            problems.append(Problem(file, "objects that the annotation has", came, "row of the list ignored"))
        elif number in objects:
            labels, problem = _action_labels(objects[number], by_lists[number], file)
            problems += [] if problem is None else [problem]
            if labels:
                shown = tuple(action for action, is_shown in sorted(labels.items()) if is_shown)
                boxes.append(_source_box(objects[number], shown, group))
    return boxes, problems


def _action_labels(
    item: VocObject, by_lists: dict[str, bool], file: str
) -> tuple[dict[str, bool], Problem | None]:
    own = item.actions or {}
    if not own and not by_lists:
        came = f"object {item.number} has none"
        return {}, Problem(file, "actions for every listed object", came, "object ignored")
    different = sorted(action for action in own.keys() & by_lists.keys() if own[action] != by_lists[action])
    if different:
        expected = "the same actions in annotation and lists"
        came = f"object {item.number}: {listed(different)} differ"
        return own, Problem(file, expected, came, "the annotation is used")
    return by_lists | own, None


def _source_box(item: VocObject, classes: tuple[str, ...], group: str | None, shift: int = 0) -> SourceBox:
    """Return an object as a box. shift: pixels to add to the left and upper edge, if they are counted from 0."""
    left, top, right, bottom = item.box
    edges = (left + shift, top + shift, right, bottom)
    return SourceBox(edges, classes, group, item.number)
