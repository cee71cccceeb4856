"""PASCAL VOC in a folder or an archive: detection boxes, or people and their actions (VOC 2011 and 2012)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from ranking.core import Decision, Problem, SourceBox, SourceImage
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.core.text import counted, listed, readable, unique_name
from ranking.datasets.registry import SOURCES
from ranking.datasets.source_settings import group_of, group_of_images
from ranking.files import FileTree, Unusable, open_tree
from ranking.files.tree import base, parent, stem, suffix
from ranking.formats.file_names import display_names, is_image, part_in_name, part_of, without_kind
from ranking.formats.split_lists import WHICH
from ranking.formats.tree_source import FOUND, Grouped, Recognised, TreeSource
from ranking.formats.voc_annotation import Annotation, VocObject, read_annotation
from ranking.formats.xml_file import MAX_XML_BYTES, text_of, xml_root

LAYOUT = "images, and an XML file of PASCAL VOC with the same name for each, in any folders"
YEAR = re.compile(r"VOC(\d{4})")
# files that are read to decide whether the XML files of a folder are annotations, and to see how they count pixels
MAX_INSPECTED, MAX_COUNTED = 5, 500
HEAD = 4096
BEGINS = re.compile(rb"<(?:[\w.-]+:)?annotation[\s>/]", re.IGNORECASE)
# the owner element of its exports
LABEL_STUDIO = b"<name>Label Studio</name>"
AT_ZERO = re.compile(rb"<[xy]min>\s*0(?:\.0*)?\s*<")
# a file in exports of CVAT, and how it begins
LABELMAP, OF_CVAT = "labelmap.txt", b"# label"
MAX_LIST_BYTES = 16 * 2**20
ACTION_ROW = re.compile(r"(.+?)\s+(\d{1,6})(?:\s+([-+]?[01]))?", re.ASCII)
LEFT_OUT, IMAGE_LEFT_OUT = "annotation ignored", "image ignored"
# object number to its actions in the lists
Actions = dict[int, dict[str, bool]]


@SOURCES.register("PASCAL VOC")
@dataclass
class PascalVoc(TreeSource):
    """Everingham et al., IJCV 2010. Samples are boxes; groups are images; classes are names or actions.

    The name of an annotation identifies its image, or else its `<filename>` does, which is never used as a path. Boxes
    are 1-based and include both ends (0-based and half open in the exports of FiftyOne, Label Studio and CVAT); they
    become 0-based and half open. In the action form, samples are the objects in the lists or, without lists, all
    objects with `<actions>`.
    """

    # the last format, which the import form selects first
    order: ClassVar[int] = 2
    layout: ClassVar[str] = LAYOUT
    _moves_groups: ClassVar[bool] = True
    _needs: ClassVar[str] = "an annotation for every image"

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
    first_pixel: str = setting(
        FOUND,
        label="First pixel",
        help="Whether boxes count pixels from 1 and include both ends, as in VOC, or from 0 without the end.",
        choices=(FOUND, "0", "1"),
        advanced=True,
    )
    encoding: str = setting(
        "",
        label="Encoding of the XML files",
        help="Such as gb2312, if the XML files are not in the encoding that they declare. Empty: as declared.",
        advanced=True,
    )
    group: str = group_of_images()

    @classmethod
    def recognise(cls, tree: FileTree) -> Recognised | None:
        """Recognise XML files that begin like annotations."""
        files, images = annotation_files(tree), list(filter(is_image, tree.names))
        if not files:
            return None
        why = f"{counted(len(files), 'XML file')} of VOC in {_folders(files)}"
        return Recognised(
            0.95 if images else 0.5, f"{why}, {counted(len(images), 'image')} in {_folders(images)}"
        )

    def title(self) -> str:
        only = "/".join(self._years.values()) if len(self._years) == 1 else ""
        parts = [*self._tree.parts, *filter(None, only.split("/"))]
        return _title(parts) + (" actions" if self._is_action else "")

    def __len__(self) -> int:
        return len(self._images[0])

    def _records(self) -> Iterator[SourceImage | Problem]:
        yield from self._other_years()
        files, problems = self._images
        listed_actions, rows = self._listed_actions
        yield from [*problems.rows(), *rows.rows()]
        if listed_actions is not None and (unlisted := sorted(files.keys() - listed_actions.keys())):
            came = f"in no list: {listed([readable(base(name)) for name in unlisted])}"
            yield Problem(counted(len(unlisted), "annotation"), "images in the action lists", came, LEFT_OUT)
            files = {name: file for name, file in files.items() if name in listed_actions}
        names = _shown(list(files))
        groups = {image: group_of(f"{name}.jpg", self.group) for image, name in names.items()}
        units = [[] if group is None else [group] for group in groups.values()]
        parts = [self._action_parts.get(image) for image in files]
        tested, split_rows = self._which_test(list(files), parts, "the action lists", units)
        yield from split_rows
        difficult, outlines = 0, Grouped()
        for image, test in zip(files, tested, strict=True):
            annotation, rows_of_file = self._annotation(files[image])
            yield from rows_of_file
            if annotation is None:
                # a row says why
                self._tree.note_opened(image)
                continue
            for item in annotation.objects:
                difficult += item.difficult
                if item.outline:
                    came = f"{files[image]}: {item.outline}"
                    outlines.add("objects", "a bndbox for every object", came, "the box around it is used")
            if self._is_action:
                boxes, rows_of_file = action_boxes(
                    annotation,
                    None if listed_actions is None else listed_actions[image],
                    readable(base(files[image])),
                    groups[image],
                )
                yield from rows_of_file
            else:
                boxes = self._boxes(annotation, groups[image])
            yield SourceImage(
                names[image], self._tree.file(image, base(image)), tuple(boxes), test, annotation.size
            )
        yield from outlines.rows()
        if difficult and not self._is_action:
            done = "ignored" if self.difficult == "leave out" else "kept"
            expected = "objects not marked as difficult"
            yield Problem(counted(difficult, "object"), expected, "difficult 1", done)

    # ---------------------------------------------------------------------------------------------- Files

    @cached_property
    def _whole(self) -> FileTree:
        tree = open_tree(self.folder, self.layout)
        for name, why in tree.closed.items():
            # a name with a suffix is that of a file
            if not suffix(name):
                raise InputError(*why.args)
        return tree

    @cached_property
    def _years(self) -> dict[str, str]:
        """The folders of years that contain annotations, by year."""
        folders: dict[str, str] = {}
        for file in annotation_files(self._whole):
            parts = file.split("/")[:-1]
            for place, part in enumerate(parts):
                if matched := YEAR.fullmatch(part):
                    folders.setdefault(matched[1], "/".join(parts[: place + 1]))
        return folders

    @cached_property
    def _tree(self) -> FileTree:
        """The folder of one year if there are several, otherwise all files."""
        place, years = readable(str(self._whole.place), 255), self._years
        year = self.year.strip().upper().removeprefix("VOC")
        own = YEAR.fullmatch(self._whole.parts[-1]) if self._whole.parts else None
        if year and year not in years and (own is None or own[1] != year):
            expected = f"a year of {place}: {', '.join(sorted(years)) or 'there are none'}"
            raise InputError("year", expected, year, "clear the year")
        chosen = year if year in years else max(years, default="")
        if len(years) < 2:
            return self._whole
        others = tuple(sorted(years.keys() - {chosen}))
        evidence = "as set" if year else f"the newest of {counted(len(years), 'year')}"
        self._decide(Decision("year", chosen, evidence, "year", chosen, others))
        return self._whole.below(years[chosen])

    def _other_years(self) -> Iterator[Problem]:
        if self._tree is self._whole:
            return
        yield from self._whole.problems
        folder = "/".join(self._tree.parts[len(self._whole.parts) :])
        outside = [name for name in self._whole.names if not name.startswith(f"{folder}/")]
        came = listed(sorted({readable(parent(name)) or readable(name) for name in outside}))
        done = "ignored; the setting Year chooses another"
        yield Problem(counted(len(outside), "file"), f"files in {readable(folder)}", came, done)

    @cached_property
    def _images(self) -> tuple[dict[str, str], Grouped]:
        """The annotation file of each image, and report rows about annotations without an image."""
        files, problems, by_content = annotation_files(self._tree), Grouped(), 0
        if not files:
            raise InputError(self._shown_place(), LAYOUT, "no XML file that begins with <annotation>")
        found: dict[str, str] = {}
        # of two spellings of a suffix, the usual one first
        for file in sorted(files, key=lambda name: (not name.endswith(".xml"), name)):
            self._tree.note_opened(file)
            try:
                image, by_name = self._image_of(file)
                if image in found:
                    raise Unusable("one annotation for every image", f"one of {image} again")
                found[image] = file
                by_content += not by_name
            except Unusable as error:
                problems.add("annotations", error.expected, f"{file}: {error.came}", LEFT_OUT)
        if by_content:
            evidence = (
                f"{by_content:,} of {counted(len(found), 'annotation')} have another name than their image"
            )
            self._decide(Decision("images of annotations", "by <filename> too", evidence))
        return dict(sorted(found.items())), problems

    def _image_of(self, file: str) -> tuple[str, bool]:
        """Return the image of an annotation, and whether the annotation has its name; Unusable if there is none."""
        try:
            return self._index.of_annotation(file), True
        except Unusable as error:
            try:
                root = xml_root(self._tree.read(file, MAX_XML_BYTES, "XML"), "annotation", self.encoding)
                return self._index.find(text_of(root, "filename"), parent(file), part_of(file)), False
            except Unusable:
                raise error from None

    def _annotation(self, file: str) -> tuple[Annotation | None, list[Problem]]:
        shown = readable(base(file))
        try:
            data = self._tree.read(file, MAX_XML_BYTES, "XML")
        except Unusable as error:
            return None, [Problem(shown, error.expected, error.came, IMAGE_LEFT_OUT)]
        return read_annotation(data, shown, self.encoding)

    # ---------------------------------------------------------------------------------------------- Boxes

    def _boxes(self, annotation: Annotation, group: str | None) -> list[SourceBox]:
        kept = [item for item in annotation.objects if self.difficult == "keep" or not item.difficult]
        return [_source_box(item, (item.name,), group, 1 - self._first_pixel) for item in kept]

    @cached_property
    def _first_pixel(self) -> int:
        """Whether boxes count from 0 or from 1: VOC from 1, FiftyOne, Label Studio and CVAT from 0."""
        tree, files = self._tree, self._images[0]
        heads = [_head(tree, file) for file in list(files.values())[:MAX_COUNTED]]
        at_zero = sum(AT_ZERO.search(head) is not None for head in heads)
        of_fiftyone = {(base(parent(image)), base(parent(file))) for image, file in files.items()} == {
            ("data", "labels")
        }
        evidence = ""
        maps = [
            name for name in tree.names if base(name) == LABELMAP and _head(tree, name).startswith(OF_CVAT)
        ]
        if maps:
            tree.note_opened(maps[0])
            evidence = f"{LABELMAP} begins as in exports of CVAT"
        elif any(LABEL_STUDIO in head for head in heads):
            evidence = "the owner is Label Studio"
        elif of_fiftyone:
            evidence = "folders data and labels, as in exports of FiftyOne"
        elif at_zero:
            evidence = f"{at_zero:,} of {counted(len(heads), 'annotation')} have a box that begins at 0"
        first = (0 if evidence else 1) if self.first_pixel == FOUND else int(self.first_pixel)
        evidence = evidence or f"no box begins at 0 in {counted(len(heads), 'annotation')}"
        words = ("pixels from 0, without the end", "pixels from 1, with both ends")[first]
        self._decide(Decision("boxes", words, evidence, "first_pixel", str(first), (str(1 - first),)))
        return first

    # ---------------------------------------------------------------------------------------------- Actions

    @cached_property
    def _action_lists(self) -> list[str]:
        return _lists_in(self._tree, "action")

    @cached_property
    def _is_action(self) -> bool:
        actions, main = len(self._action_lists), len(_lists_in(self._tree, "main"))
        is_action = actions > 0 and not main if self.form == "auto" else self.form == "action"
        if actions:
            form, other = ("action", "detection") if is_action else ("detection", "action")
            evidence = f"{counted(actions, 'list')} of actions, {main:,} of classes"
            self._decide(Decision("form", form, evidence, "form", form, (other,)))
        return is_action

    @cached_property
    def _action_parts(self) -> dict[str, str]:
        """The part of each image by the action lists."""
        return {}

    @cached_property
    def _listed_actions(self) -> tuple[dict[str, Actions] | None, Grouped]:
        """The actions of the objects of each image by the lists, rows `image object [label]` in `<part>.txt` and
        `<action>_<part>.txt`; None without lists. And report rows."""
        problems = Grouped()
        if not self._is_action or not self._action_lists:
            return None, problems
        images: dict[str, Actions] = {}
        for file in self._action_lists:
            shown, action, part = readable(base(file)), stem(file).rpartition("_")[0], part_in_name(file)
            try:
                # decoded in the same way as file names, so that both agree even if they are not UTF-8
                text = self._tree.read(file, MAX_LIST_BYTES, "a list").decode("utf-8-sig", "surrogateescape")
            except Unusable as error:
                problems.add(shown, error.expected, error.came, "list ignored")
                continue
            for line in filter(None, map(str.strip, text.splitlines())):
                row = ACTION_ROW.fullmatch(line)
                if row is None:
                    expected = "rows of image, object number and, optionally, a label"
                    problems.add(shown, expected, line, "row ignored")
                    continue
                try:
                    image = self._index.of_annotation(f"{parent(self._first_file)}/{row[1]}.xml".lstrip("/"))
                except Unusable as error:
                    problems.add(shown, error.expected, error.came, "row ignored")
                    continue
                labels = images.setdefault(image, {}).setdefault(int(row[2]), {})
                # 0: difficult, neither relevant nor irrelevant
                if action and row[3] is not None and int(row[3]) != 0:
                    labels[unique_name(action)] = int(row[3]) == 1
                if part is not None and part != self._action_parts.get(image):
                    known = self._action_parts.get(image, part)
                    self._action_parts[image] = max(part, known, key=WHICH.__getitem__)
        return images, problems

    @cached_property
    def _first_file(self) -> str:
        return next(iter(self._images[0].values()), "")


def _title(parts: Sequence[str]) -> str:
    """Return the title: `bccd` for .../bccd, `helmets VOC2007` for .../helmets/VOCdevkit/VOC2007.

    >>> _title(("data", "helmets", "VOCdevkit", "VOC2007")), _title(("VOC2007", "VOC2007")), _title(("bccd",))
    ('helmets VOC2007', 'VOC2007', 'bccd')
    """
    if not parts or YEAR.fullmatch(parts[-1]) is None:
        return readable(parts[-1] if parts else "") or "PASCAL VOC"
    above = [part for part in parts[:-1] if part != "VOCdevkit" and YEAR.fullmatch(part) is None]
    return readable(" ".join([*above[-1:], parts[-1]]))


def _shown(names: list[str]) -> dict[str, str]:
    """Return the display names of images, without folders such as JPEGImages where names stay different.

    >>> _shown(["train/JPEGImages/a.jpg", "test/images/a.jpg"]).values()
    dict_values(['train/a', 'test/a'])
    """
    without = {name: "/".join([*filter(without_kind, parent(name).split("/")), base(name)]) for name in names}
    if len(set(without.values())) < len(names):
        return display_names(names)
    shown = display_names(list(without.values()))
    return {name: shown[without[name]] for name in names}


def _folders(names: list[str]) -> str:
    return listed(sorted({readable(parent(name)) or "one folder" for name in names})) or "no folder"


def annotation_files(tree: FileTree) -> list[str]:
    """Return the XML files of the folders in which one of the first XML files begins like an annotation."""
    folders: dict[str, list[str]] = {}
    for name in tree.names:
        if suffix(name) == ".xml":
            folders.setdefault(parent(name), []).append(name)
    found = []
    for names in folders.values():
        if any(BEGINS.search(_head(tree, name).replace(b"\0", b"")) for name in names[:MAX_INSPECTED]):
            found += names
    return found


def _head(tree: FileTree, name: str) -> bytes:
    try:
        return tree.head(name, HEAD)
    except Unusable:
        # the import reports the reason; here it is only not recognised
        return b""


def _lists_in(tree: FileTree, folder: str) -> list[str]:
    """Return the text files in folders of that name, in any case."""
    return [name for name in tree.names if suffix(name) == ".txt" and base(parent(name)).lower() == folder]


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
    return SourceBox((left + shift, top + shift, right, bottom), classes, group, item.number)
