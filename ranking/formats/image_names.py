"""Images by what a file of annotations calls them: a name is looked up among those of a tree and never followed."""

from __future__ import annotations

from collections.abc import Sequence

from ranking.files import FileTree, Unusable
from ranking.files.files import image_name
from ranking.files.tree import base, parent
from ranking.formats.tree_source import bare, is_image, part_of

NO_IMAGE = "an image of that name in the folder or ZIP file"


class ImageNames:
    """The images of a tree by the last part of their names, with its ending and without."""

    def __init__(self, tree: FileTree) -> None:
        self._by_base: dict[str, list[str]] = {}
        self._by_stem: dict[str, list[str]] = {}
        for name in filter(is_image, tree.names):
            self._by_base.setdefault(image_name(base(name)), []).append(name)
            self._by_stem.setdefault(image_name(base(bare(name))), []).append(name)
        self._alike: dict[tuple[str, bool], Alike] = {}

    def knows(self, text: str) -> bool:
        """Whether there is an image, or several, whose name ends as `text` does."""
        last = image_name(text.replace("\\", "/").rpartition("/")[2])
        return last in self._by_base or last in self._by_stem

    def find(self, text: str, beside: str, part: str | None) -> str:
        """The image that a file in folder `beside` calls `text`, which may be a path of another computer.

        It may lack its ending. Of several with that last part, the one whose folders agree the most; then
        one of the same `part` of the set, then one below `beside`. Unusable where there is none, or more than one is
        left.
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
            raise Unusable(NO_IMAGE, f"{text or 'no name'}: {f'{len(names)} of them' if names else 'none'}")
        return names[0]


class Alike:
    """Images with the same last part, as frames of many videos have it: by all ends of their names, so that one is
    found among any number of them at once. whole: with their endings."""

    def __init__(self, names: Sequence[str], whole: bool) -> None:
        self._by_end: dict[tuple[str, ...], list[str]] = {}
        for name in names:
            parts = [image_name(part) for part in (name if whole else bare(name)).split("/")]
            for start in range(len(parts)):
                self._by_end.setdefault(tuple(parts[start:]), []).append(name)
        self._matches: dict[tuple[tuple[str, ...], str, str | None], list[str]] = {}

    def nearest(self, parts: Sequence[str], beside: str, part: str | None) -> list[str]:
        """Those that fit best what `ImageNames.find` is asked for."""
        end = next(
            end for start in range(len(parts)) if (end := tuple(parts[start:])) in self._by_end
        )  # the last part is one
        if (end, beside, part) not in self._matches:
            fits = {name: _fit(name, beside, part) for name in self._by_end[end]}
            best = max(fits.values())
            self._matches[end, beside, part] = [name for name in fits if fits[name] == best]
        return self._matches[end, beside, part]


def _fit(name: str, beside: str, part: str | None) -> tuple[bool, bool]:
    inside = not beside or parent(name).startswith(beside + "/") or parent(name) == beside
    return part is not None and part_of(name) == part, inside
