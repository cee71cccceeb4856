"""Find the images that an annotation file names: names are compared with those of a tree and never used as paths."""

from __future__ import annotations

from collections.abc import Sequence

from ranking.files import FileTree, Unusable
from ranking.files.files import image_name
from ranking.files.tree import base, parent
from ranking.formats.tree_source import bare, is_image, part_of

NO_IMAGE = "an image of that name in the folder or ZIP file"


class ImageNames:
    """The images of a tree by the last part of their names, with and without suffix."""

    def __init__(self, tree: FileTree) -> None:
        self._by_base: dict[str, list[str]] = {}
        self._by_stem: dict[str, list[str]] = {}
        for name in filter(is_image, tree.names):
            self._by_base.setdefault(image_name(base(name)), []).append(name)
            self._by_stem.setdefault(image_name(base(bare(name))), []).append(name)
        self._alike: dict[tuple[str, bool], Alike] = {}

    def knows(self, text: str) -> bool:
        """Return whether there are images whose names have the same last part as `text`."""
        last = image_name(base(text.replace("\\", "/")))
        return last in self._by_base or last in self._by_stem

    def find(self, text: str, beside: str, part: str | None) -> str:
        """Return the image that an annotation file in folder `beside` names `text`, which may be a path of another
        computer, or lack its suffix.

        Among several images with that last part, prefer the image with the most matching folders, then an image of the
        same `part` of the set, then an image below `beside`. Unusable if there is no image, or more than one remains.
        """
        folders = text.replace("\\", "/").split("/")
        parts = [image_name(name) for name in folders if name not in ("", ".", "..")]
        last = parts[-1] if parts else ""
        whole = last in self._by_base
        names = self._by_base[last] if whole else self._by_stem.get(last, [])
        if len(names) > 1:
            if (last, whole) not in self._alike:
                self._alike[last, whole] = Alike(names, whole)
            names = self._alike[last, whole].nearest(parts, beside, part)
        if len(names) != 1:
            raise Unusable(NO_IMAGE, f"{text or 'no name'}: {f'{len(names)} images' if names else 'none'}")
        return names[0]


class Alike:
    """Images with the same last part, such as frames of many videos, indexed by all trailing parts of their names, so
    that the time of a search does not depend on their number. whole: with their suffixes."""

    def __init__(self, names: Sequence[str], whole: bool) -> None:
        self._by_end: dict[tuple[str, ...], list[str]] = {}
        for name in names:
            parts = [image_name(part) for part in (name if whole else bare(name)).split("/")]
            for start in range(len(parts)):
                self._by_end.setdefault(tuple(parts[start:]), []).append(name)
        self._matches: dict[tuple[tuple[str, ...], str, str | None], list[str]] = {}

    def nearest(self, parts: Sequence[str], beside: str, part: str | None) -> list[str]:
        """Return the best matches for the arguments of `ImageNames.find`."""
        # The last part is the same.
        end = next(end for start in range(len(parts)) if (end := tuple(parts[start:])) in self._by_end)
        if (end, beside, part) not in self._matches:
            fits = {name: _fit(name, beside, part) for name in self._by_end[end]}
            best = max(fits.values())
            self._matches[end, beside, part] = [name for name in fits if fits[name] == best]
        return self._matches[end, beside, part]


def _fit(name: str, beside: str, part: str | None) -> tuple[bool, bool]:
    inside = not beside or parent(name).startswith(beside + "/") or parent(name) == beside
    return part is not None and part_of(name) == part, inside
