"""Which images of a VOC folder are for training, which for the test, and which objects the lists speak of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ranking.core import Problem
from ranking.core.errors import InputError
from ranking.core.text import counted, listed, readable, told_apart
from ranking.datasets.splits import PARTS, drawn_with_report, moved_whole
from ranking.files.files import image_name
from ranking.files.tree import base
from ranking.formats.voc_folder import UnusableList, VocFolder

LABEL = re.compile(r"\s+[-+]?[01]$")
ACTION_ROW = re.compile(r"(.+?)\s+(\d{1,6})(?:\s+([-+]?[01]))?", re.ASCII)
Labels = dict[int, dict[str, bool]]  # object number to what the lists say of its actions


@dataclass
class Split:
    """test: image name to whether it is for the test. told: where that comes from, in words. objects: those that action
    lists name, None for all."""

    test: dict[str, bool]
    told: str
    objects: dict[str, Labels] | None = None
    problems: list[Problem] = field(default_factory=list)


@dataclass
class Lists:
    """The image names of each list, what each action list says of their objects, and which cannot be read."""

    images: dict[str, list[str]]
    objects: dict[str, dict[str, Labels]] | None
    problems: list[Problem] = field(default_factory=list)
    unusable: dict[str, UnusableList] = field(default_factory=dict)

    def refuse(self, name: str, error: UnusableList) -> None:
        """Note that list `name` cannot be read: a row of the report, and an error only if it is needed."""
        self.unusable.setdefault(name, error)
        self.problems.append(error.problem)

    def names(self, name: str) -> list[str]:
        """The images of list `name`, none where there is no such list; ValueError where it cannot be read."""
        if name in self.unusable:
            list_error = self.unusable[name]
            remedy = "mend it, or name another training or test list"
            raise InputError(list_error.subject, list_error.expected, list_error.came, remedy)
        return self.images.get(name, [])


def main_lists(folder: VocFolder, annotated: Iterable[str]) -> Lists:
    """ImageSets/Main: an image name a row; the 1 or -1 of per-class lists may follow and is not needed.

    Where parts have folders of their own, each is a list, and trainval what is not of the test.
    """
    if parts := folder.parts():
        return Lists({**parts, "trainval": parts.get("train", []) + parts.get("val", [])}, None)
    known = set(annotated)

    def name(line: str) -> str:
        whole = image_name(line)
        return whole if whole in known else LABEL.sub("", whole)

    lists = Lists({}, None)
    for key, file in folder.lists("Main").items():
        try:
            lists.images[key] = [name(line) for line in folder.lines(file)]
        except UnusableList as error:
            lists.refuse(key, error)
    return lists


def action_lists(folder: VocFolder) -> Lists:
    """ImageSets/Action: rows `image object [label]` in `<split>.txt` and `<action>_<split>.txt`."""
    objects: dict[str, dict[str, Labels]] = {}
    lists = Lists({}, objects)
    for stem, file in folder.lists("Action").items():
        action, _, split = stem.rpartition("_")
        try:
            lines = folder.lines(file)
        except UnusableList as error:
            lists.refuse(split, error)
            continue
        for line in lines:
            row = ACTION_ROW.fullmatch(line)
            if row is None:
                expected = "rows of image, object number and perhaps a label"
                lists.problems.append(Problem(readable(base(file)), expected, readable(line), "row ignored"))
                continue
            image = objects.setdefault(split, {}).setdefault(image_name(row[1]), {})
            labels = image.setdefault(int(row[2]), {})
            if action and row[3] is not None and int(row[3]) != 0:  # 0: difficult, neither shown nor not
                labels[told_apart(action)] = int(row[3]) == 1
    lists.images = {split: list(images) for split, images in objects.items()}
    return lists


GroupOf = Callable[[str], str | None]  # the group of an image of that name, None for none


def split_by_lists(
    lists: Lists,
    annotated: list[str],
    train: str,
    test: str,
    share: float,
    seed: int,
    group_of: GroupOf = lambda _: None,
) -> Split:
    """The split that the lists make; `train` and `test` name two of them, "" the customary ones.

    A group of images is on one side, whatever the lists say.

    Without a test list `share` of the images is drawn with `seed`; without a training list the images of no
    other list train. Each is reported. ValueError for a list that is named and not there, or is needed and
    cannot be read.
    """
    for name in (train, test):
        if name and name not in lists.images and name not in lists.unusable:
            there = ", ".join(sorted(lists.images)) or "there are none"
            raise InputError("image list", f"one of the lists: {there}", f"{name!r}")
    problems = list(lists.problems)
    test = test or _first_annotated(lists, ["test", "val"], annotated)
    train = train or _first_annotated(lists, ["train"] if _meant(test) == "val" else [], annotated)
    train = train or _first_annotated(lists, ["trainval", "train"], annotated)
    if not test:
        names = lists.names(train) if train else annotated
        problems.append(
            Problem(
                "ImageSets", "a list of test images", f"none ({listed(sorted(lists.images)) or 'no lists'})",
                f"{share:.0%} of {counted(len(set(names)), 'image')} drawn for the test, seed {seed}",
            )
        )  # fmt: skip
        named = sorted(set(names))
        drawn, rows = drawn_with_report(_groups(named, group_of), share, seed)
        test_of = dict(zip(named, drawn, strict=True))
        told = f"{share:.0%} drawn for the test, seed {seed}, for no list or folder names any"
        return Split(test_of, told, _objects(lists, [train]), problems + rows)
    tested = set(lists.names(test))
    trained = set(lists.names(train)) if train else set(annotated) - tested
    if not train:
        came = f"none (lists: {listed(sorted(lists.images))})"
        problems.append(Problem("ImageSets", "a list of training images", came, "all other images train"))
    both = sorted(tested & trained)
    if both:
        came, done = f"{counted(len(both), 'image')} in both: {listed(both)}", "kept for the test only"
        problems.append(Problem("ImageSets", f"no image both in {train} and {test}", came, done))
    names = sorted(tested | trained)
    moved, rows = moved_whole([name in tested for name in names], _groups(names, group_of))
    test_of = dict(zip(names, moved, strict=True))
    told = f"{test} is for the test, {train or 'all others'} to train on, of its lists or folders"
    return Split(test_of, told, _objects(lists, [train, test]), problems + rows)


def _groups(names: list[str], group_of: GroupOf) -> list[list[str]]:
    """The groups of each image."""
    return [[] if group is None else [group] for group in map(group_of, names)]


def _first_annotated(lists: Lists, candidates: list[str], annotated: list[str]) -> str:
    """The first of `candidates` that names an annotated image (VOC 2012 ships test lists without any)."""
    known = set(annotated)
    there = [(_meant(name), name) for name in sorted({*lists.images, *lists.unusable})]
    meant = (name for candidate in candidates for what, name in there if what == candidate)
    return next((name for name in meant if known & set(lists.names(name))), "")


def _meant(name: str) -> str | None:
    """Which of VOC's lists that is; CVAT calls them Train, Validation and Test.

    >>> _meant("trainval"), _meant("Validation"), _meant("cat_train")
    ('trainval', 'val', None)
    """
    lower = name.lower()
    return lower if lower == "trainval" else PARTS.get(lower)


def _objects(lists: Lists, chosen: list[str]) -> dict[str, Labels] | None:
    """What the chosen action lists say, merged; None where they say nothing."""
    if lists.objects is None or not any(chosen):
        return None
    merged: dict[str, Labels] = {}
    for split in chosen:
        for image, labels in lists.objects.get(split, {}).items():
            for number, actions in labels.items():
                merged.setdefault(image, {}).setdefault(number, {}).update(actions)
    return merged
