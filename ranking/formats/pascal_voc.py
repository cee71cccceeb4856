"""PASCAL VOC in a folder or an archive: detection boxes, or people and their actions (VOC 2011 and 2012)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar
from xml.etree.ElementTree import Element

from ranking.core import Decision, Problem, SourceBox, SourceImage
from ranking.core.errors import InputError
from ranking.core.settings import setting
from ranking.core.text import counted, listed, readable, unique_name
from ranking.datasets.registry import SOURCES
from ranking.files import FileTree, Unusable, open_tree
from ranking.files.tree import base, parent, stem, suffix
from ranking.formats.file_beginnings import beginning, with_suffix
from ranking.formats.file_names import display_names, is_image, part_in_name, without_kind
from ranking.formats.listed_images import HEAD, LEFT_OUT, Entry, ListedImages, changed
from ranking.formats.split_lists import SplitLists, joined, text_lines
from ranking.formats.tree_source import FOUND
from ranking.formats.voc_annotation import VocBox, read_objects, size_in
from ranking.formats.xml_file import child, text_of, xml_root

YEAR = re.compile(r"VOC(\d{4})")
# of an annotation file for one image
MAX_XML_BYTES = 4 * 2**20
BEGINS = re.compile(rb"<(?:[\w.-]+:)?annotation[\s>/]", re.IGNORECASE)
# a tool, by the owner element of its exports; and a file in exports of CVAT, and how it begins
LABEL_STUDIO, LABELMAP, OF_CVAT = "Label Studio", "labelmap.txt", b"# label"
# how boxes count, by the first pixel
FIRST_PIXELS = ("pixels from 0, without the end", "pixels from 1, with both ends")
ACTION_ROW = re.compile(r"(.+?)\s+(\d{1,6})(?:\s+([-+]?[01]))?", re.ASCII)
# object number to its actions in the lists
Actions = dict[int, dict[str, bool]]


@SOURCES.register("PASCAL VOC")
@dataclass
class PascalVoc(ListedImages):
    """Everingham et al., IJCV 2010. Samples are boxes; groups are images; classes are names or actions.

    The name of an annotation identifies its image, or else its `<filename>` does, which is never used as a path. Boxes
    are 1-based and include both ends (0-based and half open in the exports of FiftyOne, Label Studio and CVAT); they
    become 0-based and half open. In the action form, samples are the objects in the lists or, without lists, all
    objects with `<actions>`.
    """

    # the last format, which the import form selects first
    order: ClassVar[int] = 2
    layout: ClassVar[str] = (
        "images, and an XML file of PASCAL VOC with the same name for each, in any folders"
    )
    kind: ClassVar[str] = "annotations of VOC"
    sure: ClassVar[float] = 0.95
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
        help="Detection: the classes of the boxes. Action: what each person does. Auto: action if all lists "
        "are lists of actions, otherwise detection.",
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
        choices={FOUND: FOUND, **{str(first): words for first, words in enumerate(FIRST_PIXELS)}},
        advanced=True,
    )
    encoding: str = setting(
        "",
        label="Encoding of the XML files",
        help="Such as gb2312, if the XML files are not in the encoding that they declare. Empty: as declared.",
        advanced=True,
    )

    @classmethod
    def files(cls, tree: FileTree) -> list[str]:
        """Return the XML files of the folders in which one of them begins like an annotation."""
        files = with_suffix(tree.names, ".xml")
        begin = beginning(tree, files, HEAD, lambda head: BEGINS.search(head.replace(b"\0", b"")))
        folders = set(map(parent, begin))
        return [name for name in files if parent(name) in folders]

    def title(self) -> str:
        only = next(iter(self._years.values())) if len(self._years) == 1 else ""
        parts = [*self._tree.parts, *filter(None, only.split("/"))]
        return _title(parts) + (" actions" if self._is_action else "")

    def _records(self) -> Iterator[SourceImage | Problem]:
        if self._tree is not self._whole:
            yield from self._whole.problems
            folder = "/".join(self._tree.parts[len(self._whole.parts) :])
            outside = [name for name in self._whole.names if not name.startswith(f"{folder}/")]
            came = listed(sorted({readable(parent(name) or name) for name in outside}))
            done = "ignored; the setting Year chooses another"
            yield Problem(counted(len(outside), "file"), f"files in {readable(folder)}", came, done)
        yield from super()._records()

    # ---------------------------------------------------------------------------------------------- Files

    @cached_property
    def _whole(self) -> FileTree:
        tree = open_tree(self.folder, self.layout, self.name_encoding)
        for name, why in tree.closed.items():
            # a name with a suffix is that of a file
            if not suffix(name):
                raise InputError(*why.args)
        return tree

    @cached_property
    def _years(self) -> dict[str, str]:
        """The folders of years that contain annotations, by year; "" for the whole tree."""
        folders: dict[str, str] = {}
        own = self._whole.parts[-1:]
        for file in self.files(self._whole):
            parts = [*own, *parent(file).split("/")]
            for place, part in enumerate(parts):
                if matched := YEAR.fullmatch(part):
                    folders.setdefault(matched[1], "/".join(parts[len(own) : place + 1]))
        return folders

    @cached_property
    def _tree(self) -> FileTree:
        """The folder of one year if there are several, otherwise all files."""
        year, years = self.year.strip().upper().removeprefix("VOC"), self._years
        if year and year not in years:
            raise InputError("year", listed(sorted(years)) or "no year in any name", year, "clear the year")
        if len(years) < 2:
            return self._whole
        chosen = year or max(years)
        evidence = "as set" if year else f"the newest of {counted(len(years), 'year')}"
        others = tuple(sorted(years.keys() - {chosen}))
        self._decide(Decision("year", chosen, evidence, "year", chosen, others))
        return self._whole.below(years[chosen])

    def _content(self, file: str) -> Element:
        return xml_root(self._tree.read(file, MAX_XML_BYTES, "XML"), "annotation", self.encoding)

    def _entries(self, root: Element, file: str) -> Iterator[Entry]:
        owner = child(root, "owner")
        if owner is not None and text_of(owner, "name") == LABEL_STUDIO:
            self._owners.add(LABEL_STUDIO)
        boxes = read_objects(root, lambda expected, came, done: self._report(file, expected, came, done))
        yield Entry(file, text_of(root, "filename"), boxes, size_in(root))

    @cached_property
    def _owners(self) -> set[str]:
        return set()

    def _image_of(self, entry: Entry) -> str:
        try:
            return self._index.of_annotation(entry.file)
        except Unusable as error:
            try:
                image = super()._image_of(entry)
            except Unusable:
                raise error from None
            self._renamed.append(image)
            of_all = f"of {counted(len(self._files), 'annotation')}"
            evidence = f"{len(self._renamed):,} {of_all} are not named like their image"
            self._decide(Decision("images of annotations", "also by <filename>", evidence))
            return image

    @cached_property
    def _renamed(self) -> list[str]:
        return []

    def _shown(self, names: list[str]) -> dict[str, str]:
        """Return the display names of images, without folders such as JPEGImages where names stay different."""
        without = {
            name: "/".join([*filter(without_kind, parent(name).split("/")), base(name)]) for name in names
        }
        if len(set(without.values())) < len(names):
            return display_names(names)
        shown = display_names(list(without.values()))
        return {name: shown[without[name]] for name in names}

    # ---------------------------------------------------------------------------------------------- Boxes

    def _interpreted(self, entries: list[Entry]) -> list[Entry]:
        for entry in entries:
            for shape in (box.outline for box in entry.boxes if isinstance(box, VocBox) and box.outline):
                came, done = f"{entry.file}: {shape}", "the box around it is used"
                self._problems.add("objects", "a bndbox for every object", came, done)
        if self._is_action:
            return entries
        shift, keep = 1 - self._first_pixel_of(entries), self.difficult == "keep"
        entries = changed(entries, lambda box: _moved(box, shift))
        return self._by_mark(entries, "difficult", _is_difficult, "difficult", keep)

    def _first_pixel_of(self, entries: list[Entry]) -> int:
        """Return whether boxes count from 0 or from 1: VOC from 1, FiftyOne, Label Studio and CVAT from 0."""
        at_zero = sum(any(-1 in box.box[:2] for box in entry.boxes if box.box) for entry in entries)
        of_all = f"of {counted(len(entries), 'annotation')}"
        folders = [
            {base(parent(name)) for name in names}
            for names in (filter(is_image, self._tree.names), self._files)
        ]
        labelmaps = [name for name in self._tree.names if base(name) == LABELMAP]
        labelmaps = beginning(self._tree, labelmaps, HEAD, lambda head: head.startswith(OF_CVAT))
        for name in labelmaps:
            self._tree.note_opened(name)
        signs = {
            f"{LABELMAP} begins as in exports of CVAT": labelmaps,
            f"the <owner> is {LABEL_STUDIO}": self._owners,
            "folders data and labels, as in exports of FiftyOne": folders == [{"data"}, {"labels"}],
            f"{at_zero:,} {of_all} have a box that begins at 0": at_zero,
        }
        evidence = next((sign for sign, is_seen in signs.items() if is_seen), "")
        first = (0 if evidence else 1) if self.first_pixel == FOUND else int(self.first_pixel)
        evidence = evidence or f"no box {of_all} begins at 0"
        self._decide(
            Decision("boxes", FIRST_PIXELS[first], evidence, "first_pixel", str(first), (str(1 - first),))
        )
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
    def _images(self) -> dict[str, Entry]:
        images = super()._images
        if not self._is_action:
            return images
        people = self._people[0]
        if self._action_lists and (unlisted := sorted(images.keys() - people.keys())):
            came = f"in no list: {listed([readable(base(name)) for name in unlisted])}"
            shown = counted(len(unlisted), "annotation")
            self._problems.add(shown, "images in the action lists", came, LEFT_OUT)
            for image in unlisted:
                self._tree.note_opened(image)
            images = {image: entry for image, entry in images.items() if image in people}
        return {
            image: entry._replace(boxes=tuple(self._boxes_of_people(entry, people.get(image))))
            for image, entry in images.items()
        }

    @cached_property
    def _lists(self) -> SplitLists:
        return self._people[1] if self._is_action else super()._lists

    @cached_property
    def _people(self) -> tuple[dict[str, Actions], SplitLists]:
        """The actions of the objects of each image by rows `image object [label]` in the lists `<part>.txt` and
        `<action>_<part>.txt`; and the parts of these lists."""
        people: dict[str, Actions] = {}
        lists = []
        for file in self._action_lists:
            action, part, named = unique_name(stem(file).rpartition("_")[0]), part_in_name(file), []
            self._tree.note_opened(file)
            try:
                lines = text_lines(self._tree, file)
            except Unusable as error:
                self._problems.add(readable(file), error.expected, error.came, "list ignored")
                continue
            for line in lines:
                try:
                    row = ACTION_ROW.fullmatch(line)
                    if row is None:
                        raise Unusable("rows of image, object number and, optionally, a label", line)
                    image = self._index.find(row[1])
                except Unusable as error:
                    self._problems.add(readable(file), error.expected, error.came, "row ignored")
                    continue
                named.append(image)
                actions = people.setdefault(image, {}).setdefault(int(row[2]), {})
                # 0: difficult, neither relevant nor irrelevant
                if action and row[3] is not None and int(row[3]) != 0:
                    actions[action] = int(row[3]) == 1
            lists += [] if part is None else [(file, part, named)]
        return people, joined(lists, self.lists)

    def _boxes_of_people(self, entry: Entry, by_lists: Actions | None) -> Iterator[SourceBox]:
        """Yield the objects in the lists, or all with actions if there are no lists, with their actions as classes.

        The `<actions>` of the annotation have priority; a difference from the lists is reported.
        """
        objects = {box.number or 0: box for box in entry.boxes if isinstance(box, VocBox)}
        if by_lists is None:
            by_lists = {number: {} for number, box in objects.items() if box.actions}
        for number, listed_actions in sorted(by_lists.items()):
            own = objects[number].actions if number in objects else {}
            actions = {**listed_actions, **own}
            if number not in objects or not actions:
                expected = "an object with actions for every row of the lists"
                came = f"object {number}: {'no actions' if number in objects else 'no such object'}"
                self._report(entry.file, expected, came, "row ignored")
                continue
            if differ := sorted(
                action for action in listed_actions if listed_actions[action] != actions[action]
            ):
                expected, came = (
                    "the same actions in annotation and lists",
                    f"object {number}: {listed(differ)} differ",
                )
                self._report(entry.file, expected, came, "the annotation is used")
            shown = tuple(action for action, is_shown in sorted(actions.items()) if is_shown)
            yield replace(objects[number], classes=shown)


def _title(parts: Sequence[str]) -> str:
    """Return the title: `bccd` for .../bccd, `helmets VOC2007` for .../helmets/VOCdevkit/VOC2007.

    >>> _title(("data", "helmets", "VOCdevkit", "VOC2007")), _title(("VOC2007", "VOC2007")), _title(("bccd",))
    ('helmets VOC2007', 'VOC2007', 'bccd')
    """
    if not parts or YEAR.fullmatch(parts[-1]) is None:
        return readable(parts[-1] if parts else "") or "PASCAL VOC"
    above = [part for part in parts[:-1] if part != "VOCdevkit" and YEAR.fullmatch(part) is None]
    return readable(" ".join([*above[-1:], parts[-1]]))


def _is_difficult(box: SourceBox) -> bool:
    return isinstance(box, VocBox) and box.difficult


def _moved(box: SourceBox, shift: int) -> SourceBox:
    """Return a box with `shift` pixels more at the left and the upper edge."""
    left, top, right, bottom = box.box or (0, 0, 0, 0)
    return replace(box, box=(left + shift, top + shift, right, bottom))


def _lists_in(tree: FileTree, folder: str) -> list[str]:
    """Return the text files in folders of that name, in any case."""
    return [name for name in with_suffix(tree.names, ".txt") if base(parent(name)).lower() == folder]
