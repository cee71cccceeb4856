"""PASCAL VOC in a folder or a ZIP file: detection boxes, or people and their actions (VOC 2011 and 2012)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from ranking.core import Problem, Source, SourceBox, SourceImage
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.core.text import counted, listed, readable
from ranking.datasets.common_settings import seed_of_test, share_of_test
from ranking.datasets.image_grouping import group_of, group_of_images
from ranking.datasets.registry import SOURCES
from ranking.files import FileInTree, FileTree, Recognised, Unusable, open_tree
from ranking.files.files import IMAGE_SUFFIXES
from ranking.files.tree import base
from ranking.formats.voc_annotation import Annotation, VocObject, read_annotation
from ranking.formats.voc_folder import LAYOUT, VocFolder, find_voc_folder, recognise_voc
from ranking.formats.voc_split import Labels, Split, action_lists, main_lists, split_by_lists
from ranking.formats.xml_file import MAX_XML_BYTES

ANNOTATION_LEFT_OUT = "annotation left out"


@SOURCES.register("PASCAL VOC")
@dataclass
class PascalVoc(Source):
    """Everingham et al., IJCV 2010. Samples are boxes; groups are images; classes are names or actions.

    An image is found by the name of its annotation, in JPEGImages or beside it; what XML says of files is never read.
    Boxes come 1-based with both ends included (0-based and half open in what FiftyOne, Label Studio and CVAT export)
    and leave 0-based and half open. Objects in the action form are those that the lists name; where there are no lists,
    all that have `<actions>`.
    """

    order: ClassVar[int] = 2  # last: where the form of an import begins

    folder: str = setting(
        "",
        label="Folder or ZIP file",
        help="A folder or ZIP file on the computer that runs this app: a VOCdevkit, a VOC2007 or VOC2012 in it, or "
        "any folder that holds Annotations and JPEGImages, or as LabelImg, Roboflow, Label Studio and FiftyOne export "
        "VOC. Nothing outside of it is read.",
    )
    year: str = setting(
        "",
        label="Year",
        help="Which year, where a VOCdevkit holds several. Empty: the newest.",
        advanced=True,
    )
    form: str = setting(
        "auto",
        label="Form",
        help="Detection: a class for each box. Action: what each person does. Auto: action where there are "
        "only action lists, else detection.",
        choices=("auto", "detection", "action"),
        advanced=True,
    )
    difficult: str = setting(
        "leave out",
        label="Difficult objects",
        help="What to do with detection boxes that the annotators marked as difficult to recognise. The VOC "
        "challenge leaves them out. Action lists name their own objects, difficult or not.",
        choices=("leave out", "keep"),
        advanced=True,
    )
    train_list: str = setting(
        "",
        label="Training list",
        help="Which list of ImageSets to train on. Empty: trainval, or train.",
        advanced=True,
    )
    test_list: str = setting(
        "", label="Test list", help="Which list of ImageSets to test on. Empty: test, or val.", advanced=True
    )
    group: str = group_of_images()
    test_share: float = share_of_test(
        0.4,
        "How many images are drawn for the test where the folder has no list of test images.",
        advanced=True,
    )
    seed: int = seed_of_test()

    def title(self) -> str:
        return self._voc.title + (" actions" if self._actions else "")

    def __len__(self) -> int:
        return len(self._split.test)

    def split_from(self) -> str:
        """Where the split comes from, in words."""
        return self._split.told

    @classmethod
    def recognise(cls, tree: FileTree) -> Recognised | None:
        """Whether `tree` holds PASCAL VOC."""
        return recognise_voc(tree)

    def records(self) -> Iterator[SourceImage | Problem]:
        yield from self._tree.problems
        others = list(self._voc.others)
        if others:
            done = "left out: bring each by itself; the setting Year chooses among years"
            yield Problem(counted(len(others), "folder"), "one folder of PASCAL VOC", listed(others), done)
        yield from self._annotations[1]
        yield from self._images[1]
        yield from self._split.problems
        difficult = 0
        for name, test in self._split.test.items():
            annotation, problems = self._annotation(name)
            yield from problems
            image = self._image(name) if annotation is not None else None
            if isinstance(image, Problem):
                yield image
            elif annotation is not None and image is not None:
                boxes, problems, marked = self._boxes(name, annotation)
                difficult += marked
                yield from problems
                grouped = tuple(replace(box, group=self._group_of(name)) for box in boxes)
                yield SourceImage(name, image, grouped, test, annotation.size)
        if difficult:
            done = "left out" if self.difficult == "leave out" else "kept"
            yield Problem(
                counted(difficult, "object"), "objects not marked as difficult", "difficult 1", done
            )
        yield from self._unused()

    @cached_property
    def _tree(self) -> FileTree:
        return open_tree(self.folder, LAYOUT)

    @cached_property
    def _voc(self) -> VocFolder:
        return find_voc_folder(self._tree, self.year)

    @cached_property
    def _annotations(self) -> tuple[dict[str, str], list[Problem]]:
        found = self._voc.annotations()
        if not found[0]:
            where = readable(str(self._voc.tree.place / self._voc.layout.annotations), 255)
            raise InputError(where, "one XML file per image", "none")
        return found

    @cached_property
    def _images(self) -> tuple[dict[str, str], list[Problem]]:
        return self._voc.images()

    @cached_property
    def _actions(self) -> bool:
        if self.form == "auto":
            return bool(self._voc.lists("Action")) and not self._voc.lists("Main")
        return self.form == "action"

    @cached_property
    def _split(self) -> Split:
        annotated = sorted(self._annotations[0])
        lists = action_lists(self._voc) if self._actions else main_lists(self._voc, annotated)
        return split_by_lists(
            lists, annotated, self.train_list, self.test_list, self.test_share, self.seed, self._group_of
        )

    def _group_of(self, name: str) -> str | None:
        """The group of the image of that name, None where its near copies are."""
        return group_of(f"{name}.jpg", self.group)

    def _annotation(self, name: str) -> tuple[Annotation | None, list[Problem]]:
        there = self._annotations[0].get(name)
        if there is None:
            expected, came = (
                "an annotation of every listed image",
                f"none in {self._voc.layout.annotations or 'its folder'}",
            )
            return None, [Problem(f"{name}.xml", expected, came, "image left out")]
        file = readable(base(there))
        try:
            data = self._voc.tree.read(there, MAX_XML_BYTES, "XML")
        except Unusable as error:
            return None, [Problem(file, error.expected, error.came, ANNOTATION_LEFT_OUT)]
        return read_annotation(data, file)

    def _image(self, name: str) -> FileInTree | Problem:
        there = self._images[0].get(name)
        if there is not None:
            return self._voc.tree.file(there, base(there))
        expected = (
            f"an image {name} ({', '.join(IMAGE_SUFFIXES)}) in {self._voc.layout.images or 'its folder'}"
        )
        return Problem(self._file(name), expected, "none", ANNOTATION_LEFT_OUT)

    def _file(self, name: str) -> str:
        """How reports call the annotation of that image."""
        return readable(base(self._annotations[0][name]))

    def _boxes(self, name: str, annotation: Annotation) -> tuple[tuple[SourceBox, ...], list[Problem], int]:
        """The boxes of one image, the rows of the report about them, and how many were marked difficult."""
        if self._actions:
            told = None if self._split.objects is None else self._split.objects.get(name, {})
            boxes, problems = action_boxes(annotation, told, self._file(name))
            return tuple(boxes), problems, 0
        marked = [item for item in annotation.objects if item.difficult]
        kept = [item for item in annotation.objects if self.difficult == "keep" or not item.difficult]
        off = 1 - self._voc.layout.first_pixel
        return tuple(_source_box(item, (item.name,), off) for item in kept), [], len(marked)

    def _unused(self) -> Iterator[Problem]:
        """One row, not thousands, for files of which no chosen list speaks: VOC 2012 has many by design."""
        spoken = self._split.test
        unlisted = [name for name in self._annotations[0] if name not in spoken]
        if unlisted:
            file, came = counted(len(unlisted), "annotation"), f"in none of them: {listed(sorted(unlisted))}"
            yield Problem(file, "annotations in the chosen lists", came, "left out")
        bare = [name for name in self._images[0] if name not in spoken and name not in self._annotations[0]]
        if bare:
            file, came = counted(len(bare), "image"), f"none for {listed(sorted(bare))}"
            yield Problem(file, "an annotation for every image", came, "left out")


def action_boxes(
    annotation: Annotation, told: Labels | None, file: str
) -> tuple[list[SourceBox], list[Problem]]:
    """The boxes of people with their actions, and what is wrong with them.

    `told` is what the lists say of this image's objects (None: there are no lists). The annotation's own
    `<actions>` come first; where lists say otherwise, that is reported.
    """
    problems: list[Problem] = []
    boxes = []
    objects = {item.number: item for item in annotation.objects}
    numbers = [item.number for item in annotation.objects if item.actions] if told is None else sorted(told)
    for number in numbers:
        if not 1 <= number <= annotation.count:
            came = f"object {number} of {annotation.count}"
            problems.append(Problem(file, "objects that the annotation has", came, "row of the list ignored"))
        elif number in objects:
            labels, problem = _action_labels(objects[number], told[number] if told else {}, file)
            problems += [] if problem is None else [problem]
            if labels:
                shown = tuple(action for action, is_shown in sorted(labels.items()) if is_shown)
                boxes.append(_source_box(objects[number], shown))
    return boxes, problems


def _action_labels(
    item: VocObject, told: dict[str, bool], file: str
) -> tuple[dict[str, bool], Problem | None]:
    own = item.actions or {}
    if not own and not told:
        came = f"object {item.number} has none"
        return {}, Problem(file, "actions for every listed object", came, "object left out")
    different = sorted(action for action in own.keys() & told.keys() if own[action] != told[action])
    if different:
        came = f"object {item.number}: {listed(different)} differ"
        return own, Problem(
            file, "the same actions in annotation and lists", came, "the annotation is followed"
        )
    return told | own, None


def _source_box(item: VocObject, classes: tuple[str, ...], off: int = 0) -> SourceBox:
    """off: pixels that the left and upper edge come too far left and up, where they were never counted from 1."""
    left, top, right, bottom = item.box
    return SourceBox((left + off, top + off, right, bottom), classes, number=item.number)
