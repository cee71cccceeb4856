"""Find the images that an annotation file names: names are compared with those of a tree and never used as paths."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from urllib.parse import unquote

from ranking.core import Decision
from ranking.core.text import counted, listed
from ranking.files import FileTree, Unusable
from ranking.files.files import IMAGE_SUFFIXES, image_name
from ranking.files.tree import base, parent, suffix
from ranking.formats.file_names import bare, is_image, mask_words, part_folders, part_of, place_of

NO_IMAGE = "an image for each name, in the folder or archive"
ONE_IMAGE = "one image for each name; add its folder to the name"


# How annotation files write a name otherwise than the file system: in words, and what leads to the name. Tried in this
# order, with the suffix and without it; the last one ignores capitals.
WRITINGS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("as the files", lambda text: text),
    ("percent-encoded", unquote),
    ("as URLs", lambda text: unquote(text.partition("?")[0])),
    ("with another suffix", lambda text: bare(text) if is_image(text) else ""),
    ("in other capitals", str.casefold),
    ("in other capitals, with another suffix", lambda text: bare(text.casefold()) if is_image(text) else ""),
)


class ImageNames:
    """The images of a tree by the last part of their names, with and without suffix."""

    def __init__(self, tree: FileTree) -> None:
        # with suffix, without, and both again without regard to capitals
        self._indices: list[dict[str, list[str]]] = [{}, {}, {}, {}]
        self._by_place: dict[tuple[str, ...], list[str]] = {}
        self._tree, self.count = tree, sum(map(is_image, tree.names))
        for name in filter(is_image, tree.names):
            self._by_place.setdefault(place_of(name), []).append(name)
            for place, last in enumerate((image_name(base(name)), image_name(base(bare(name))))):
                self._indices[place].setdefault(last, []).append(name)
                self._indices[place + 2].setdefault(last.casefold(), []).append(name)
        # whether numbers in a table have lost their leading zeros
        self.fills_zeros = False
        # by the identity of the list of names, which an index holds
        self._alike: dict[int, Alike] = {}
        self._written: Counter[str] = Counter()
        # lists repeat names
        self._written_as = cache(self._search)

    def knows(self, text: str) -> bool:
        """Return whether there are images whose names have the same last part as `text`."""
        return bool(self._written_as(text, self.fills_zeros)[2])

    def find(self, text: str, beside: str = "", part: str | None = None) -> str:
        """Return the image that an annotation file in folder `beside` names `text`, which may be a path or an address
        of another computer, be percent-encoded, or lack its suffix.

        Among several images with that last part, prefer the image with the most matching folders, then an image of the
        same `part` of the set, then an image outside of folders of masks, then an image below `beside`. Unusable if
        there is no image, or more than one remains.
        """
        names = self.nearest(text, beside, part)
        if not names:
            raise Unusable(NO_IMAGE, f"{text or 'no name'}: none")
        if len(names) > 1:
            raise Unusable(ONE_IMAGE, f"{text}: {len(names)} images, {listed(names)}")
        self._written[self._written_as(text, self.fills_zeros)[0]] += 1
        return names[0]

    def nearest(self, text: str, beside: str = "", part: str | None = None) -> list[str]:
        """Return the images that `find` cannot tell apart."""
        _, path, names = self._written_as(text, self.fills_zeros)
        if len(names) > 1:
            if id(names) not in self._alike:
                self._alike[id(names)] = Alike(names, self.part_of)
            names = self._alike[id(names)].nearest(path, beside, part)
        return names

    def of_annotation(self, file: str) -> str:
        """Return the image of an annotation file with the same stem: in the folder that differs only in words such as
        images and labels, of the most common format; or else as `find` does."""
        same = self._by_place.get(place_of(file), [])
        if len(set(map(bare, same))) == 1:
            return min(same, key=lambda name: (IMAGE_SUFFIXES.index(suffix(name)), name))
        return self.find(bare(file), parent(file), part_of(file))

    def part_of(self, name: str) -> str | None:
        """Return the part of the data set that the folders of a file name."""
        while name := parent(name):
            if name in self._part_folders:
                return self._part_folders[name]
        return None

    @cached_property
    def _part_folders(self) -> dict[str, str]:
        return part_folders(self._tree.names)

    def beginning(self, text: str) -> list[str]:
        """Return the images whose names are `text` and one more word, such as a colour."""
        return self._by_beginning.get(text, [])

    def decisions(self) -> Iterator[Decision]:
        """Yield how names were matched that are not written as those of the files."""
        for writing, count in self._written.items():
            if writing != WRITINGS[0][0]:
                yield Decision(
                    "image names", writing, f"{counted(count, 'name')} match an image only in this form"
                )

    def _search(self, text: str, fills_zeros: bool) -> tuple[str, list[str], list[str]]:
        """Return how `text` is written, the parts of the path that it names, and the images with the same last part."""
        for writing, form in WRITINGS:
            path = [image_name(part) for part in _path(form(text))]
            indices = self._indices[2:] if "capitals" in writing else self._indices[:2]
            for index in indices if path else ():
                if path[-1] in index:
                    return writing, path, index[path[-1]]
        plain = text.strip().removesuffix(".0").lstrip("0")
        if fills_zeros and plain.isdecimal():
            return "without leading zeros", [plain], self._by_number.get(plain, [])
        return "", [], []

    @cached_property
    def _by_beginning(self) -> dict[str, list[str]]:
        """The images by their names without the last word."""
        by_beginning: dict[str, list[str]] = {}
        for last, names in self._indices[1].items():
            if found := re.fullmatch(r"(.+)[\W_][^\W_]+", last):
                by_beginning.setdefault(found[1], []).extend(names)
        return by_beginning

    @cached_property
    def _by_number(self) -> dict[str, list[str]]:
        """The images whose names without suffix are numbers, by these without leading zeros."""
        by_number: dict[str, list[str]] = {}
        for last, names in self._indices[1].items():
            if last.isdecimal():
                by_number.setdefault(last.lstrip("0"), []).extend(names)
        return by_number


def _path(text: str) -> list[str]:
    return [part for part in text.replace("\\", "/").split("/") if part not in ("", ".", "..")]


class Alike:
    """Images with the same last part, such as frames of many videos, indexed by all trailing parts of their names, so
    that the time of a search does not depend on their number. part_of: returns the part of an image."""

    def __init__(self, names: Sequence[str], part_of: Callable[[str], str | None]) -> None:
        self._part_of = part_of
        self._by_end: dict[tuple[str, ...], list[str]] = {}
        for name in names:
            folders = [image_name(part).casefold() for part in name.split("/")[:-1]]
            for start in range(len(folders) + 1):
                self._by_end.setdefault(tuple(folders[start:]), []).append(name)
        self._matches: dict[tuple[tuple[str, ...], str, str | None], list[str]] = {}

    def nearest(self, parts: Sequence[str], beside: str, part: str | None) -> list[str]:
        """Return the best matches for the arguments of `ImageNames.find`."""
        # The last part is the same.
        folders = [part.casefold() for part in parts[:-1]]
        ends = (tuple(folders[start:]) for start in range(len(folders) + 1))
        end = next(end for end in ends if end in self._by_end)
        if (end, beside, part) not in self._matches:
            fits = {name: self._fit(name, beside, part) for name in self._by_end[end]}
            best = max(fits.values())
            self._matches[end, beside, part] = [name for name in fits if fits[name] == best]
        return self._matches[end, beside, part]

    def _fit(self, name: str, beside: str, part: str | None) -> tuple[bool, bool, bool]:
        inside = not beside or parent(name).startswith(beside + "/") or parent(name) == beside
        return part is not None and self._part_of(name) == part, not mask_words(name), inside
