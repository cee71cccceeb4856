"""Lists of images in text files, which state the split: train.txt, val.txt and test.txt in any folder."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ranking.core import Problem
from ranking.core.text import counted, listed, readable
from ranking.datasets.splits import PARTS
from ranking.files import FileTree, Unusable
from ranking.files.tree import base, parent, stem, suffix
from ranking.formats.file_names import TRAIN_AND_VAL, bare, part_in_name, shared_folder
from ranking.formats.image_names import NO_IMAGE, ImageNames

MAX_BYTES = 16 * 2**20
SUFFIXES = (".txt", ".lst", ".list")
# Of the lines of a list, those that name images of the tree; a long list may be that of a larger set.
LEAST_NAMED, MANY_NAMED = 0.5, 20
# The words of a line after the name, such as a class or 1 and -1, are ignored; a row of more words is no list.
MAX_WORDS = 4
WHICH = {"test": 2, "val": 1, "train": 0}
# files that state the part of every image by a value: words of their names, and suffixes of those that may name parts
SPLIT_WORDS = {"split", "splits", "partition", "partitions"}
MAY_SPLIT = (*SUFFIXES, ".csv", ".tsv", ".mat", ".npy", ".npz")
NUMBER, WORD = re.compile(r"\d+"), re.compile("[A-Za-z]+")
# a key and a value, and how it is said which part the value 1 means
PAIR = re.compile(r"(.+?)[\s,;]+([^\s,;]+)")
MEANS_ONE = re.compile(r"is_?(train|test)")
THREE_PARTS = {"0": "train", "1": "val", "2": "test"}
# lists of ids that are looked at for one list of parts
MAX_LISTS = 50


# the name of a list, its part, and its images
List = tuple[str, str, list[str]]


class SplitLists(NamedTuple):
    """files: the lists, by name in the tree. parts: the part of each image that they name. both: images in lists of
    several parts; they count for test before val before train. missing: the file of each line that names no image, and
    the line. how: what the values of the lists mean, and why. is_open: whether they may mean the opposite.

    sets: if sets of lists state different splits, their names, first that of the only set that was read.
    """

    files: tuple[str, ...]
    parts: dict[str, str]
    both: tuple[str, ...]
    missing: tuple[tuple[str, str], ...] = ()
    how: str = ""
    is_open: bool = False
    sets: tuple[str, ...] = ()

    def in_words(self) -> str:
        return listed([readable(name) for name in dict.fromkeys(self.files)]) + self.how

    def of(self, part: str) -> str:
        """Return which lists name the images of a part."""
        own = [name for name in self.files if part_in_name(name) == part]
        return listed([readable(name) for name in own]) or f"{part} in {self.in_words()}"

    def rows(self) -> Iterator[Problem]:
        if self.missing:
            yield missing_row(self.missing)
        if self.both:
            came = f"{counted(len(self.both), 'image')} in several lists: {listed(list(self.both))}"
            yield Problem(
                self.in_words(),
                "each image in one list",
                came,
                "test takes precedence over val, and val over train",
            )


def missing_row(missing: Sequence[tuple[str, str]]) -> Problem:
    """Return the report row about lines that name no image, each with its file: several lists may repeat them."""
    files, lines = (list(dict.fromkeys(map(readable, column))) for column in zip(*missing, strict=True))
    came = f"{counted(len(missing), 'line')} without such an image: {listed(lines)}"
    return Problem(listed(files), NO_IMAGE, came, "line ignored")


def split_lists(tree: FileTree, index: ImageNames, chosen: str = "") -> SplitLists:
    """Return the lists of the folder whose lists name most images, the uppermost of equals, and of folders whose lists
    name none of these images. Folders whose names differ in a number only are one. chosen: as in `joined`.

    A list is a text file whose name contains a word such as train, and whose lines begin with the names of images; or a
    file with the part of each image (`coded_list`).
    """
    folders: dict[str, list[List]] = {}
    missing: list[tuple[str, str]] = []
    found = []
    for name in tree.names:
        if suffix(name) not in SUFFIXES or not names_split(name):
            continue
        part = part_in_name(name)
        if (coded := coded_list(tree, name, index)) is not None:
            found.append(coded)
        elif part is not None and (rows := named_images(tree, name, index))[0]:
            folders.setdefault(NUMBER.sub("", parent(name)), []).append((name, part, rows[0]))
            missing.extend((name, line) for line in rows[1])
    merged: list[List] = []
    named: set[str] = set()
    for lists in sorted(folders.values(), key=lambda lists: (-len(_images(lists)), lists[0][0].count("/"))):
        if named.isdisjoint(_images(lists)):
            merged += lists
            named |= _images(lists)
    found += [joined(merged, chosen)] if merged else []
    best = min(found, key=lambda lists: (-len(lists.parts), lists.files[0].count("/")), default=joined([]))
    for name in best.files:
        tree.note_opened(name)
    return best._replace(missing=(*best.missing, *(row for row in missing if row[0] in best.files)))


def _images(lists: list[List]) -> set[str]:
    return {image for _, _, images in lists for image in images}


def names_split(name: str) -> bool:
    """Return whether the name of a file says that it states a split.

    >>> names_split("lists/train_list.mat"), names_split("eval_partition.txt"), names_split("split/names.txt")
    (True, True, False)
    """
    return part_in_name(name) is not None or not SPLIT_WORDS.isdisjoint(_words(name))


def _words(name: str) -> list[str]:
    return re.findall("[a-z]+", stem(name).lower())


def coded_list(tree: FileTree, name: str, index: ImageNames) -> SplitLists | None:
    """Return the part of each image by a file whose lines are an image, or its id in a list beside it, and a value: a
    word such as train, or a number; None for any other file, or if nothing tells what the numbers mean."""
    words = {PARTS.get(word, word) for word in _words(name)}
    is_of_all = {"train", "test"} <= words or not SPLIT_WORDS.isdisjoint(words)
    pairs = _pairs(tree, name) if is_of_all or MEANS_ONE.search(stem(name).lower()) else []
    if not pairs:
        return None
    values = Counter(value.lower() for _, value in pairs)
    # may say what the values mean
    beside = [other for other in _in_folder_of(tree, name) if "readme" in base(other).lower()]
    texts = [line for other in beside for line in lines_of(tree, other)]
    explained = " ".join([stem(name), *pairs[0], *texts]).lower()
    meaning, why, is_open = _meaning(values, explained, {"train", "test"} <= words)
    if len(set(meaning.values())) < 2:
        return None
    # a header
    pairs = pairs[MEANS_ONE.search(" ".join(pairs[0]).lower()) is not None :]
    by_id = _names_by_id(tree, name, index)
    lists: dict[str, list[str]] = {}
    missing, files = [], {name: None}
    for key, value in pairs:
        try:
            part, image = meaning[value.lower()], index.find(by_id.get(key, ("", key))[1], parent(name))
        except (KeyError, Unusable):
            missing.append((name, f"{key} {value}"))
            continue
        lists.setdefault(part, []).append(image)
        files |= {by_id[key][0]: None} if key in by_id else {}
    if sum(map(len, lists.values())) < min(LEAST_NAMED * len(pairs), MANY_NAMED):
        return None
    whole = joined([(name, part, images) for part, images in lists.items()])
    return whole._replace(files=tuple(files), missing=tuple(missing), how=why, is_open=is_open)


def _meaning(values: Counter[str], explained: str, is_of_both: bool) -> tuple[dict[str, str], str, bool]:
    """Return the part that each value stands for, why, and whether it may stand for the opposite; {} if nothing tells.
    explained: the text of the name, the header and the readme. is_of_both: whether the name has train and test."""
    if words := {word: PARTS[word] for word in values if word in PARTS}:
        return words, "", False
    numbers = {value for value in values if value.isdecimal()}
    means = {match[1] for match in MEANS_ONE.finditer(explained)}
    is_open = False
    if numbers == {"0", "1", "2"}:
        meaning, why = THREE_PARTS, "0 is train, 1 is val, 2 is test, as is usual"
    elif numbers == {"0", "1"} and len(means) == 1:
        [one] = means
        meaning = {"1": one, "0": "test" if one == "train" else "train"}
        why = f"1 is {one}, as “is {one}” says"
    elif numbers == {"0", "1"} and is_of_both:
        meaning, why = {"1": "train", "0": "test"}, "1 is train, as is usual in lists of train and test"
        is_open = values["1"] < values["0"]
    else:
        return {}, "", False
    counts = listed([f"{count:,} times {value}" for value, count in sorted(values.items())])
    return meaning, f" ({why}; {counts})", is_open


def _pairs(tree: FileTree, name: str) -> list[tuple[str, str]]:
    """Return the first words and the last word of each line of a text file; [] if a line has one word only."""
    matches = [PAIR.fullmatch(line) for line in lines_of(tree, name)]
    pairs = [(match[1].strip(" \"'"), match[2].strip("\"'")) for match in matches if match]
    return pairs if len(pairs) == len(matches) else []


def _names_by_id(tree: FileTree, beside: str, index: ImageNames) -> dict[str, tuple[str, str]]:
    """Return the names of images by the ids that a text file in the same folder gives them, and that file."""
    lists = [name for name in _in_folder_of(tree, beside) if suffix(name) in SUFFIXES and name != beside]
    for name in lists[:MAX_LISTS]:
        cells = [re.split(r"[\s,;]+", line, maxsplit=1) for line in lines_of(tree, name)]
        named = {row[0]: (name, row[1]) for row in cells if len(row) == 2 and index.knows(row[1])}
        if len(named) >= max(1, min(LEAST_NAMED * len(cells), MANY_NAMED)):
            return named
    return {}


def _in_folder_of(tree: FileTree, name: str) -> list[str]:
    """Return the names of the files in the folder of a file."""
    return [other for other in tree.names if parent(other) == parent(name)]


def named_images(tree: FileTree, name: str, index: ImageNames) -> tuple[list[str], list[str]]:
    """Return the images that the lines of a file name, and the lines that name none; no images if it is no list."""
    images, missing, lines = [], [], lines_of(tree, name)
    for line in lines:
        words = line.split()
        texts = [line, words[0], line.partition(",")[0]] if len(words) <= MAX_WORDS else [line]
        if text := next(filter(index.knows, texts), ""):
            # several images may have this name
            with contextlib.suppress(Unusable):
                images.append(index.find(text, parent(name)))
        else:
            missing.append(line)
    is_list = len(images) >= min(LEAST_NAMED * len(lines), MANY_NAMED)
    return (images, missing) if is_list else ([], [])


def lines_of(tree: FileTree, name: str) -> list[str]:
    """Return `text_lines`, or none of a file that cannot be read."""
    try:
        return text_lines(tree, name)
    except Unusable:
        return []


def text_lines(tree: FileTree, name: str) -> list[str]:
    """Return the lines of a text file that are not empty, decoded as names of files are; Unusable if it cannot be read.

    It is not noted as opened, because it may be something else.
    """
    text = tree.head(name, MAX_BYTES).decode("utf-8-sig", "surrogateescape")
    return list(filter(None, map(str.strip, text.splitlines())))


def joined(lists: list[List], chosen: str = "") -> SplitLists:
    """Return the part of each image by all lists, or, if sets of them state different splits, by the lists of one set,
    such as train_1.txt and test_1.txt, and of none. chosen: the name of that set; any other text chooses the first."""
    sets = _sets(lists)
    if len(sets) < 2:
        return _parts(lists)
    names = sorted(sets, key=lambda name: name != chosen)
    unread = [one for name in names[1:] for one in sets[name]]
    return _parts([one for one in lists if one not in unread])._replace(sets=tuple(names))


def _sets(lists: list[List]) -> dict[str, list[List]]:
    """Return the sets of lists by the words of their names that are no parts, if each set states a split, and their
    test images differ; {} otherwise."""
    tested = "test" if any(part == "test" for _, part, _ in lists) else "val"
    top = len(shared_folder([file for file, _, _ in lists]))
    # the lists of each set, its other images, and its test images
    sets: dict[str, tuple[list[List], set[str], set[str]]] = {}
    for file, part, images in lists:
        name = "/".join(filter(None, map(_without_parts, bare(file[top:]).split("/")))) or "unnumbered"
        own, rest, test = sets.setdefault(name, ([], set(), set()))
        own.append((file, part, images))
        if part == tested or not _repeats(file):
            (test if part == tested else rest).update(images)
    complete = {name: one for name, one in sets.items() if one[1] and one[2] and one[1].isdisjoint(one[2])}
    differ = any(one[1] & other[2] for one in complete.values() for other in complete.values())
    return {name: own for name, (own, _, _) in complete.items()} if differ else {}


def _repeats(name: str) -> bool:
    """Return whether a list is of train and val, whose images it repeats."""
    return TRAIN_AND_VAL.search(base(name).lower()) is not None


def _without_parts(text: str) -> str:
    """
    >>> _without_parts("annotations_0_train"), _without_parts("train1"), _without_parts("fold 2-trainval")
    ('annotations_0', '1', 'fold 2')
    """
    return WORD.sub(lambda word: "" if word[0].lower() in PARTS else word[0], text).strip(" _-.")


def _parts(lists: list[List]) -> SplitLists:
    """Return the part of each image by all lists."""
    parts: dict[str, str] = {}
    both: dict[str, None] = {}
    for name, part, images in sorted(lists, key=lambda one: _repeats(one[0])):
        for image in images:
            before = parts.setdefault(image, part)
            if before != part and (not _repeats(name) or before == "test"):
                both[image] = None
                parts[image] = max(before, part, key=WHICH.__getitem__)
    return SplitLists(tuple(dict.fromkeys(name for name, _, _ in lists)), parts, tuple(both))
